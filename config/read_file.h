// A small file as text: settings, plans and certificates. Measurements are read through Host
// (probes/host.h) instead.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace linkhealth {

/// At most `max_bytes` + 1 bytes, so that the caller can detect a file that is too large. Errors
/// are "PATH: reason".
Result<std::string> read_small_file(const std::string& path, std::size_t max_bytes);

/// A warning if every user can read a file with a secret; "" if only its owner and group can, or if
/// there is no file.
std::string exposed_secret(const std::string& path);

}  // namespace linkhealth
