// rtnetlink: the netdev behind an ifindex, and the statistics of all netdevs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/counters.h"
#include "model/snapshot.h"
#include "probes/host.h"

namespace linkhealth {

struct NetdevIdentity {
  std::string name;
  std::string address;  ///< IFLA_ADDRESS as sysfs prints it: "b8:3f:d2:00:00:01"
};
/// RTM_GETLINK for one device. ENODEV: it is gone.
Result<NetdevIdentity> read_netdev_identity(Host& host, std::uint32_t ifindex);

/// RTM_GETSTATS of all devices, by ifindex: `netdev_rx_packets`, …, with sysfs's names (linux:
/// struct rtnl_link_stats64). Statistics that an older kernel lacks are absent. A damaged message
/// is skipped, so that it hides no other device.
Result<std::map<std::uint32_t, Counters>> read_netdev_stats(Host& host);

/// The events of a port between two readings: one carrier event for each change that the kernel
/// counted, however short, and admin_down/admin_up. At most kMaxCarrierEvents of each kind (the
/// counts in the sample include the rest). None if the counts decreased (the device was registered
/// again) or do not indicate changes with this driver (is_no_change()).
inline constexpr std::uint64_t kMaxCarrierEvents = 64;
std::vector<PortEvent> link_changes(const PortKey& port, std::string_view driver,
                                    const LinkSample& before, const LinkSample& after,
                                    SteadyTime at);

}  // namespace linkhealth
