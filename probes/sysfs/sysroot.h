// A copied /sys tree: finds the real file behind a "/sys/…" path without ever leaving the tree. A
// copy from a customer has symlinks (class/net/eth0 -> ../../devices/…) and may hold links that
// point anywhere.
#pragma once

#include <string>

#include "base/owned_fd.h"
#include "base/result.h"

namespace linkhealth {

class Sysroot {
 public:
  /// `directory` stands for /sys; its subdirectory "sys" is taken when that one has a "class".
  explicit Sysroot(const std::string& directory);

  /// The canonical "/sys/…" path behind `path`, all symlinks followed inside the tree: an absolute
  /// link starts at the tree's top ("/sys" in front is the top itself) and ".." stops there. ENOENT
  /// for what is not below /sys (no copy has a /proc), ELOOP after 40 links.
  [[nodiscard]] Result<std::string> resolve(const std::string& path) const;
  /// Opens what resolve() finds, with open(2)'s `flags`. Access times of the copy do not change
  /// where the user may prevent it (O_NOATIME): it may be evidence.
  [[nodiscard]] Result<OwnedFd> open(const std::string& path, int flags) const;
  /// Where the file of a canonical "/sys/…" path lies on this machine.
  [[nodiscard]] std::string on_disk(const std::string& canonical) const {
    return root_ + canonical.substr(4);
  }

 private:
  std::string root_;
};

}  // namespace linkhealth
