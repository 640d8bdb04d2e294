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
#include "probes/sysfs/inventory.h"
#include "probes/sysfs/sysfs_attributes.h"

namespace linkhealth {

/// Whether a netdev has a carrier, from files that the kernel answers without a lock.
///
/// Since 6.8 a read of /sys/class/net/DEV/carrier waits for the RTNL lock (carrier_show in linux:
/// net/core/net-sysfs.c, "net: core: synchronize link-watch when carrier is queried") until a slow
/// module read of any port is over. carrier_up_count and carrier_down_count change with the carrier
/// and need no lock. operstate needs none either, but follows the carrier by up to a second
/// (net/core/link_watch.c). So operstate gives the initial carrier once the counts are stable, and
/// from then on the counts are followed.
class CarrierFollower {
 public:
  /// Call with each read of the counts, once a second. `operstate`: the carrier according to
  /// operstate; nullopt: unknown. Returns the carrier; nullopt: not known yet.
  std::optional<bool> update(std::uint64_t ups, std::uint64_t downs, std::optional<bool> operstate);

 private:
  std::optional<bool> carrier_;
  std::uint64_t ups_ = 0, downs_ = 0;  ///< at the last read
  unsigned still_ = 0;                 ///< consecutive reads with the same counts
};

class NetdevReader {
 public:
  /// An Error if the netdev's directory does not exist. REQUIRES: `host` outlives the reader.
  static Result<NetdevReader> open(Host& host, const InventoryPort& port);

  /// Fills admin_up, carrier, mtu_bytes and the carrier counts of `link`, which is created for
  /// them; adds a gap (probe "link") if some cannot be read. Waits for no lock: the carrier file is
  /// read only once, and only if the driver has no operstate. While the port is administratively
  /// down the carrier is false.
  ReadStatus read_link(std::optional<LinkSample>& link, std::vector<Gap>& gaps);
  /// nullopt while the link has none. The kernel takes its RTNL lock (speed_show), which a slow
  /// module read holds for seconds.
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
                                   std::optional<std::uint64_t> downs, bool admin_down);
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
  std::string no_statistics_;  ///< why the directory cannot be listed; "": it can
  SysfsCounters statistics_;
};

}  // namespace linkhealth
