// Small helpers to read one-line sysfs attributes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "probes/host.h"

namespace linkhealth {

/// The attribute without surrounding white space; "" if it cannot be read.
std::string read_attribute(Host& host, const std::string& path);
/// A whole decimal number, possibly negative ("-1"). nullopt for anything else.
std::optional<std::int64_t> parse_i64(std::string_view text);
/// The part of a path after its last '/'.
std::string base_name(std::string_view path);
/// An Error that quotes unexpected text: "text \"N/A (no PMA)\"", "empty".
Error unexpected_text(std::string_view text);
/// The name of an errno, "EBUSY": the reason of a gap, without the path. "errno 999" if it has
/// none; "not readable" for 0.
std::string errno_name(int errnum);

}  // namespace linkhealth
