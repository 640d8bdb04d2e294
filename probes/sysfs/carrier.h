// Whether a netdev has a carrier, from what the kernel answers without a lock.
//
// Since 6.8 a read of /sys/class/net/DEV/carrier waits for the RTNL lock (carrier_show in linux:
// net/core/net-sysfs.c, "net: core: synchronize link-watch when carrier is queried"): it spins
// until a slow module read of any port is over. carrier_up_count and carrier_down_count are counted
// where the carrier changes, and need no lock; operstate needs none either, but follows the carrier
// by up to a second (net/core/link_watch.c). So the carrier is taken from operstate once the counts
// have stood still, and followed by the counts from there.
#pragma once

#include <cstdint>
#include <optional>

namespace linkhealth {

class CarrierFollower {
 public:
  /// With each read of the counts, once a second. `operstate`: whether it says that there is a
  /// carrier; nullopt: not known. The carrier; nullopt: not known yet.
  std::optional<bool> update(std::uint64_t ups, std::uint64_t downs, std::optional<bool> operstate);

 private:
  std::optional<bool> carrier_;
  std::uint64_t ups_ = 0, downs_ = 0;  ///< at the last read
  unsigned still_ = 0;                 ///< reads in a row that found the same counts
};

}  // namespace linkhealth
