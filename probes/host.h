// The only interface to the outside: a handful of byte-level calls. Probes read the machine only
// through a Host; tests replace it by a map of bytes and inject failures. A Host is used by one
// thread only: each reader thread has its own.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace linkhealth {

using Bytes = std::vector<std::byte>;

/// A directory that is kept open; its files are opened for each read. It follows a rename of its
/// device. Once the device is gone, every read returns ENOENT (or ENODEV if the file was already
/// open), even if a new device of the same name has appeared (linux: fs/kernfs/dir.c).
class HostDir {
 public:
  virtual ~HostDir() = default;
  /// As Host::read_file(). `name` may have subdirectories: "counters/symbol_error".
  virtual Result<std::string> read_file(const std::string& name) = 0;
};

/// Messages that the kernel sends unrequested: link events, device events, lines of the kernel log.
class HostEvents {
 public:
  virtual ~HostEvents() = default;
  /// Becomes readable when there is something to receive.
  [[nodiscard]] virtual int fd() const = 0;
  /// The messages or records since the last call, oldest first; never blocks. Returns at most
  /// kAtOnce; if there are more, the descriptor stays readable. ENOBUFS (netlink) and EPIPE
  /// (records): some were lost.
  static constexpr std::size_t kAtOnce = 1024;
  virtual Result<std::vector<Bytes>> receive() = 0;
};

class Host {
 public:
  virtual ~Host() = default;

  /// False for a copied /sys tree: it has only files, and no read waits for a lock.
  [[nodiscard]] virtual bool has_kernel() const { return true; }
  /// The whole file, at most 64 KiB. Paths are absolute: "/sys/class/…", "/proc/…".
  virtual Result<std::string> read_file(const std::string& path) = 0;
  /// The Host must outlive the directory.
  virtual Result<std::unique_ptr<HostDir>> open_dir(const std::string& path) = 0;
  /// The names in a directory, without "." and "..", sorted.
  virtual Result<std::vector<std::string>> list_dir(const std::string& path) = 0;
  /// The canonical path of `path`, with all symlinks resolved.
  virtual Result<std::string> resolve(const std::string& path) = 0;
  /// Sends one netlink request (a complete nlmsghdr with payload; sequence and port id are filled
  /// in). Returns the answers, each a complete message, without the closing NLMSG_DONE or ACK.
  /// NLMSG_ERROR becomes an Error with its errno and, if the kernel gave one, its extended ack
  /// text. `protocol` is NETLINK_ROUTE, NETLINK_GENERIC or NETLINK_RDMA. EOPNOTSUPP if the Host has
  /// no kernel (a copied /sys tree).
  virtual Result<std::vector<Bytes>> netlink(int protocol, std::span<const std::byte> request) = 0;
  /// The ETHTOOL ioctl (SIOCETHTOOL) of a netdev: the kernel reads `command` (it begins with an
  /// ETHTOOL_G… number) and overwrites it with the answer. If a driver would write beyond its end,
  /// the call fails with EFAULT and nothing outside is overwritten. For the drivers' own
  /// statistics, which have no netlink message. EOPNOTSUPP without a kernel.
  virtual Result<bool> ethtool(const std::string& netdev, std::span<std::byte> command) {
    static_cast<void>(command);
    return Error{netdev + ": no ioctl here", EOPNOTSUPP};
  }
  /// Joins multicast groups of a netlink protocol. With NETLINK_KOBJECT_UEVENT each message is one
  /// whole datagram without a netlink header. Messages that the kernel did not send are dropped.
  virtual Result<std::unique_ptr<HostEvents>> listen(int protocol,
                                                     std::span<const std::uint32_t> groups) = 0;
  /// Opens a device that returns one record per read, starting with its oldest: "/dev/kmsg". EPERM:
  /// insufficient permissions. EOPNOTSUPP without a kernel.
  virtual Result<std::unique_ptr<HostEvents>> open_records(const std::string& path) = 0;
};

}  // namespace linkhealth
