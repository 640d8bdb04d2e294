// rtnetlink: link events, the netdev behind an ifindex, and the statistics of all netdevs.
//
// The kernel merges fast carrier changes into one event (net/core/link_watch.c), so an event only
// prompts a read: the carrier counts are the truth.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/counters.h"
#include "model/snapshot.h"
#include "probes/host.h"
#include "probes/netlink/netlink_message.h"

namespace linkhealth {

enum class LinkEventKind : std::uint8_t {
  kAdded,    ///< registered, or moved into our network namespace
  kChanged,  ///< flags, carrier, name, mtu
  kRemoved,
};

struct LinkEvent {
  LinkEventKind kind = LinkEventKind::kChanged;
  std::uint32_t ifindex = 0;
  bool moved = false;  ///< removed, because it went to another network namespace (IFLA_NEW_NETNSID)
};

/// Subscribes to link events. Each message is one for parse_link_event(); ENOBUFS from receive():
/// some were lost, read all.
Result<std::unique_ptr<HostEvents>> listen_to_links(Host& host);
/// nullopt for messages of the group that are not about a device itself (a bridge's view of its
/// ports, whose RTM_DELLINK means that the port left the bridge, not that it is gone).
Result<std::optional<LinkEvent>> parse_link_event(ByteView message);

struct NetdevIdentity {
  std::string name;
  std::string address;  ///< IFLA_ADDRESS as sysfs prints it: "b8:3f:d2:00:00:01"
};
/// Error EBADMSG: not a link message, or damaged.
Result<NetdevIdentity> parse_netdev_identity(ByteView message);
/// RTM_GETLINK for one device. ENODEV when it is gone.
Result<NetdevIdentity> read_netdev_identity(Host& host, std::uint32_t ifindex);

struct NetdevStats {
  std::uint32_t ifindex = 0;
  Counters counters;  ///< `netdev_rx_packets`, …: sysfs's names (linux: struct rtnl_link_stats64)
};
/// Statistics that an older kernel does not have are absent.
Result<NetdevStats> parse_netdev_stats(ByteView message);
/// RTM_GETSTATS of all devices, by ifindex. A message that cannot be parsed is left out: it hides
/// no other device.
Result<std::map<std::uint32_t, Counters>> read_netdev_stats(Host& host);

/// The events of a port between two readings: one carrier event for each change that the kernel
/// counted, however short, and admin_down/admin_up. At most kMaxCarrierEvents of each kind (the
/// counts in the sample hold the rest); none when the counts went backwards (the device was
/// registered again) or do not show changes with this driver (is_no_change()).
inline constexpr std::uint64_t kMaxCarrierEvents = 64;
std::vector<PortEvent> link_changes(const PortKey& port, std::string_view driver,
                                    const LinkSample& before, const LinkSample& after,
                                    SteadyTime at);

}  // namespace linkhealth
