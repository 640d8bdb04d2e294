// The Host of a running node, or of a copied /sys tree (`--sysroot DIR`).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "probes/batched_reads.h"
#include "probes/host.h"
#include "probes/kernel_socket.h"
#include "probes/sysroot.h"

namespace linkhealth {

/// Of the descriptors that this process may have, so many are not used to keep files open: they are
/// for those who ask, and for the files of faults and events. More than all connections that the
/// daemon holds together (daemon/http/http_server.h).
constexpr std::size_t kReservedDescriptors = 256;

/// Raises this process's limit of open files to what it may have: a node with 64 ports keeps some
/// 5,000 open, and the usual soft limit is 1,024.
void allow_many_open_files();

class LiveHost final : public Host {
 public:
  /// "": this machine. Otherwise a directory that stands for /sys (or holds a "sys" that does):
  /// every /sys path is read below it, /proc is absent (ENOENT), and netlink answers EOPNOTSUPP.
  /// `batches`: shared by the Hosts of a process; without them each file is read by a call of its
  /// own.
  explicit LiveHost(const std::string& sysroot = "",
                    std::shared_ptr<BatchedReads> batches = nullptr);

  /// Regular files only, never blocks on a FIFO: EISDIR, EINVAL. EFBIG above 64 KiB.
  [[nodiscard]] bool has_kernel() const override { return !sysroot_; }
  Result<std::string> read_file(const std::string& path) override;
  Result<std::unique_ptr<HostFile>> open_file(const std::string& path) override;
  void read_together(std::span<FileRead> reads) override;
  void read_descriptors(std::span<DescriptorRead> reads) override;
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
  std::shared_ptr<BatchedReads> batches_;
  std::map<int, std::unique_ptr<KernelSocket>> sockets_;  // by protocol, kept open
  OwnedFd ioctl_socket_;
};

}  // namespace linkhealth
