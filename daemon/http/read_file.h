// A small file as text: settings and certificates. What measures the node is read through Host
// (probes/host.h) instead.
#pragma once

#include <string>

#include "base/result.h"

namespace linkhealth {

/// At most kMaxConfigBytes + 1 bytes, so that the caller sees when a file is too large. Errors are
/// "PATH: reason".
Result<std::string> read_small_file(const std::string& path);

}  // namespace linkhealth
