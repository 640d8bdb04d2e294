// The one seam to the outside: a handful of byte-level calls. A probe reads the machine only
// through a Host; tests put a map of bytes behind it and inject failures here. A Host is used by
// one thread: each thread that reads has its own.
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

/// A directory kept open, whose files are opened for each read. It follows a rename of its device.
/// Once the device is gone every read answers ENOENT, or ENODEV where it was open already, also
/// when a new device of the same name has come (linux: fs/kernfs/dir.c).
class HostDir {
 public:
  virtual ~HostDir() = default;
  /// As Host::read_file(). `name` may have subdirectories: "counters/symbol_error".
  virtual Result<std::string> read_file(const std::string& name) = 0;
};

/// Messages that the kernel sends by itself: link events, device events, lines of the kernel log.
class HostEvents {
 public:
  virtual ~HostEvents() = default;
  /// Becomes readable when there is something to receive.
  [[nodiscard]] virtual int fd() const = 0;
  /// The messages or records since the last call, oldest first; never blocks. After kAtOnce the
  /// rest waits, and the descriptor stays readable. ENOBUFS (netlink) and EPIPE (records): some
  /// were lost.
  static constexpr std::size_t kAtOnce = 1024;
  virtual Result<std::vector<Bytes>> receive() = 0;
};

class Host {
 public:
  virtual ~Host() = default;

  /// False: a copied /sys tree. Its files are all there is, and no read of one waits for a lock.
  [[nodiscard]] virtual bool has_kernel() const { return true; }
  /// The whole file, at most 64 KiB. Paths are absolute: "/sys/class/…", "/proc/…".
  virtual Result<std::string> read_file(const std::string& path) = 0;
  /// The Host must outlive it.
  virtual Result<std::unique_ptr<HostDir>> open_dir(const std::string& path) = 0;
  /// The names in a directory, without "." and "..", sorted.
  virtual Result<std::vector<std::string>> list_dir(const std::string& path) = 0;
  /// The canonical path behind `path`, all symlinks followed.
  virtual Result<std::string> resolve(const std::string& path) = 0;
  /// Sends one netlink request (a complete nlmsghdr with payload; sequence and port id are filled
  /// in) and returns the answers, each a complete message, without the closing NLMSG_DONE or ACK. A
  /// NLMSGERR answer is an Error with its errno and, where the kernel gave one, its extended ack
  /// text. `protocol` is NETLINK_ROUTE, NETLINK_GENERIC or NETLINK_RDMA. EOPNOTSUPP where the Host
  /// has no kernel behind it (a copied /sys tree).
  virtual Result<std::vector<Bytes>> netlink(int protocol, std::span<const std::byte> request) = 0;
  /// The ETHTOOL ioctl (SIOCETHTOOL) of a netdev: the kernel reads `command` (it begins with an
  /// ETHTOOL_G… number) and writes the answer over it. A driver that would write beyond its end
  /// gets EFAULT; nothing outside is overwritten. For the drivers' own statistics, which have no
  /// netlink message. EOPNOTSUPP where there is no kernel behind.
  virtual Result<bool> ethtool(const std::string& netdev, std::span<std::byte> command) {
    static_cast<void>(command);
    return Error{netdev + ": no ioctl here", EOPNOTSUPP};
  }
  /// Listens to multicast groups of a netlink protocol. Of NETLINK_KOBJECT_UEVENT each message is
  /// one whole datagram, which has no netlink header. Only what the kernel itself sends is given.
  virtual Result<std::unique_ptr<HostEvents>> listen(int protocol,
                                                     std::span<const std::uint32_t> groups) = 0;
  /// Opens a device that gives one record with each read, from the oldest that it still has:
  /// "/dev/kmsg". EPERM: not without rights. EOPNOTSUPP where the Host has no kernel behind it.
  virtual Result<std::unique_ptr<HostEvents>> open_records(const std::string& path) = 0;
};

}  // namespace linkhealth
