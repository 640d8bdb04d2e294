// A small file as text, for settings and certificates. What measures the node is read by Host, not
// by this.
#pragma once

#include <string>

#include "base/result.h"

namespace linkhealth {

/// All of it, at most kMaxConfigBytes + 1 (a reader that minds sees that it is too large). Errors
/// are "PATH: why".
Result<std::string> read_file_text(const std::string& path);

}  // namespace linkhealth
