// Whether a netdev has a carrier, from what the kernel tells without a lock.
//
// Since 6.8 a read of /sys/class/net/DEV/carrier waits for the RTNL lock (carrier_show in linux:
// net/core/net-sysfs.c, "net: core: synchronize link-watch when carrier is queried"): it spins
// until a slow module read of any port is over. carrier_up_count and carrier_down_count are counted
// where the carrier changes, and need no lock; operstate needs none either, but follows the carrier
// by up to a second (net/core/link_watch.c). So the state is taken from operstate once it has stood
// still, and followed by the counts from there.
#pragma once

#include <cstdint>
#include <optional>

namespace linkhealth {

class CarrierFollower {
 public:
  /// With each look at the counts. The carrier as the counts have it; nullopt: nothing is known
  /// yet.
  std::optional<bool> follow(std::uint64_t ups, std::uint64_t downs);
  /// Whether operstate is worth a read now: nothing is known yet, the counts have just stood still
  /// for long enough that it has followed, or `now_and_then`, where it should say the same.
  [[nodiscard]] bool wants_operstate(bool now_and_then) const;
  /// What operstate said after that look. The carrier.
  bool learn(bool carrier);

 private:
  std::optional<bool> carrier_;
  std::uint64_t ups_ = 0, downs_ = 0;  ///< at the last look
  unsigned still_ = 0;                 ///< looks in a row that found the same counts
};

}  // namespace linkhealth
