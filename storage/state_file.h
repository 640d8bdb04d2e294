// A small file that must survive: the daemon's memory over a restart. It is replaced as a whole or
// not at all, so a kill or a power cut leaves the old one or the new one, never half of one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace linkhealth {

class StateFile {
 public:
  /// Bytes of a state file, at most.
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

  explicit StateFile(std::string path) : path_(std::move(path)) {}

  /// The whole file; nullopt when there is none. An error when it is there and cannot be read.
  [[nodiscard]] Result<std::optional<std::string>> read() const;
  /// Writes PATH.tmp, syncs it, renames it to PATH and syncs the directory.
  [[nodiscard]] Result<void> replace(std::string_view bytes) const;
  /// Renames a damaged file to PATH.damaged, for a person to look at; the sentence to log: "PATH:
  /// WHY; kept as …".
  [[nodiscard]] std::string set_aside(std::string_view why) const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace linkhealth
