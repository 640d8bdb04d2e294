// The Host of a running node, or of a copied /sys tree (`--sysroot DIR`).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "probes/host.h"
#include "probes/netlink/kernel_socket.h"
#include "probes/sysfs/sysroot.h"

namespace linkhealth {

/// Raises this process's soft limit of open files to the hard limit: with many virtual functions,
/// more directories are kept open than the usual soft limit of 1,024 allows.
void allow_many_open_files();

class LiveHost final : public Host {
 public:
  /// "": this machine. Otherwise a directory that replaces /sys (or contains a "sys" that does):
  /// every /sys path is read below it, /proc is absent (ENOENT), and netlink returns EOPNOTSUPP.
  explicit LiveHost(const std::string& sysroot = "");

  /// read_file(): regular files only, never blocks on a FIFO: EISDIR, EINVAL. EFBIG above 64 KiB.
  [[nodiscard]] bool has_kernel() const override { return !sysroot_; }
  Result<std::string> read_file(const std::string& path) override;
  Result<std::unique_ptr<HostDir>> open_dir(const std::string& path) override;
  Result<std::vector<std::string>> list_dir(const std::string& path) override;
  Result<std::string> resolve(const std::string& path) override;
  Result<std::vector<Bytes>> netlink(int protocol, std::span<const std::byte> request) override;
  Result<bool> ethtool(const std::string& netdev, std::span<std::byte> command) override;
  Result<std::unique_ptr<HostEvents>> listen(int protocol,
                                             std::span<const std::uint32_t> groups) override;
  Result<std::unique_ptr<HostEvents>> open_records(const std::string& path) override;

 private:
  [[nodiscard]] Result<OwnedFd> open_for_reading(const std::string& path, int more_flags = 0) const;

  std::optional<Sysroot> sysroot_;
  std::map<int, std::unique_ptr<KernelSocket>> sockets_;  // by protocol; kept open
  OwnedFd ioctl_socket_;
};

}  // namespace linkhealth
