// Small helpers to read one-line sysfs attributes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "probes/host.h"

namespace linkhealth {

/// The attribute without white space around it; "" when it can't be read.
std::string read_attribute(Host& host, const std::string& path);
/// A whole decimal number, also negative ("-1"). nullopt for anything else.
std::optional<std::int64_t> parse_i64(std::string_view text);
/// The part of a path after its last '/'.
std::string base_name(std::string_view path);
/// "No such device", "text that is no number", …: the reason of a gap, without the path.
std::string errno_word(int errnum);

}  // namespace linkhealth
