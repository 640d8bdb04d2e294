// A copied /sys tree: finds the real file of a "/sys/…" path without ever leaving the tree. A
// customer's copy contains symlinks (class/net/eth0 -> ../../devices/…), which may point anywhere.
#pragma once

#include <string>

#include "base/owned_fd.h"
#include "base/result.h"

namespace linkhealth {

class Sysroot {
 public:
  /// `directory` replaces /sys; its subdirectory "sys" is used if that contains "class".
  explicit Sysroot(const std::string& directory);

  /// The canonical form of a "/sys/…" path. All symlinks are followed inside the tree: an absolute
  /// link starts at the tree's top ("/sys" in front is the top itself) and ".." stops there. ENOENT
  /// outside /sys (copies have no /proc), ELOOP after 40 links.
  [[nodiscard]] Result<std::string> resolve(const std::string& path) const;
  /// Opens the result of resolve() with open(2)'s `flags`. If permitted, access times of the copy
  /// are preserved (O_NOATIME): it may be evidence.
  [[nodiscard]] Result<OwnedFd> open(const std::string& path, int flags) const;
  /// The location of a canonical "/sys/…" path on this machine.
  [[nodiscard]] std::string on_disk(const std::string& canonical) const {
    return root_ + canonical.substr(4);
  }

 private:
  std::string root_;
};

}  // namespace linkhealth
