// A netdev's link and statistics from /sys/class/net/DEV (linux: net/core/net-sysfs.c).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/snapshot.h"
#include "probes/host.h"
#include "probes/sysfs/carrier.h"
#include "probes/sysfs/inventory.h"
#include "probes/sysfs/sysfs_attributes.h"

namespace linkhealth {

class NetdevReader {
 public:
  /// An Error when the netdev's directory is not there. REQUIRES: `host` outlives the reader.
  static Result<NetdevReader> open(Host& host, const InventoryPort& port);

  /// Fills admin_up, carrier, mtu_bytes and the carrier counts of `link`, which is made for them; a
  /// gap (probe "link") when some can't be read. Waits for no lock (probes/sysfs/carrier.h), but
  /// for a driver without an operstate, whose carrier file is read once. While the port is set down
  /// the carrier is false.
  ReadStatus read_link(std::optional<LinkSample>& link, std::vector<Gap>& gaps);
  /// nullopt while the link has none. The kernel answers under its RTNL lock (speed_show), which a
  /// slow module read holds for seconds.
  std::optional<std::uint32_t> read_speed_mbps();
  /// Adds statistics/* as netdev_*; a gap (probe "netdev_stats") when some can't be read. On a live
  /// node netlink gives the same for all ports at once.
  ReadStatus read_statistics(PortSample& sample, std::vector<Gap>& gaps);

 private:
  enum File : std::uint8_t {
    kFlags,
    kCarrier,
    kMtu,
    kCarrierUpCount,
    kCarrierDownCount,
    kOperState
  };

  NetdevReader(Host& host, std::unique_ptr<HostDir> dir, const InventoryPort& port);
  std::optional<std::uint64_t> read_number(File file, int absent_errnum = 0);
  std::optional<bool> read_carrier(std::optional<std::uint64_t> ups,
                                   std::optional<std::uint64_t> downs, bool set_down);
  bool is_gone();
  void find_statistics();

  Host* host_;
  std::unique_ptr<HostDir> dir_;
  PortKey key_;
  std::string path_;
  std::vector<SysfsAttribute> files_;  ///< by File
  SysfsAttribute speed_;
  CarrierFollower follower_;
  bool statistics_found_ = false;
  std::string no_statistics_;  ///< why the directory can't be listed; "": it can
  SysfsCounters statistics_;
};

}  // namespace linkhealth
