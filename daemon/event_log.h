// The failure events as JSON lines in the state directory: what happened survives the daemon, and
// any log shipper can read it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace linkhealth {

class EventLog {
 public:
  /// Appends to `path`; at `max_bytes` the file becomes `path`.1 and a new one begins, so two files
  /// at most.
  /// "": nothing is written.
  explicit EventLog(std::string path, std::size_t max_bytes = std::size_t{16} << 20U);

  /// One line, without its newline. Written at once in a single write, so a kill never leaves half
  /// of one behind others.
  Result<void> append(std::string_view line);

 private:
  std::string path_;
  std::size_t max_bytes_;
};

}  // namespace linkhealth
