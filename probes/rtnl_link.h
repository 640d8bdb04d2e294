// rtnetlink: state and statistics of all network devices in one request each, and link events.
//
// A dump costs two system calls whatever the number of ports. The kernel merges fast carrier
// changes into one event (net/core/link_watch.c), so an event is only the prompt to look: the
// carrier counts are the truth.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/counters.h"
#include "model/snapshot.h"
#include "probes/host.h"
#include "probes/netlink_message.h"

namespace linkhealth {

/// A network device as RTM_NEWLINK tells it (net/core/rtnetlink.c, rtnl_fill_ifinfo).
struct NetdevLink {
  std::uint32_t ifindex = 0;
  std::string name;
  std::string address;    ///< IFLA_ADDRESS as sysfs prints it: "b8:3f:d2:00:00:01"
  bool admin_up = false;  ///< IFF_UP
  bool carrier = false;   ///< IFF_LOWER_UP
  std::string operstate;  ///< RFC 2863, as sysfs prints it: "up", "down", "lowerlayerdown"
  std::optional<std::uint32_t> mtu_bytes;  ///< IFLA_MTU
  std::optional<std::uint64_t>
      carrier_up_count;  ///< IFLA_CARRIER_UP_COUNT; since registration, wraps at 2^32
  std::optional<std::uint64_t> carrier_down_count;  ///< IFLA_CARRIER_DOWN_COUNT
};

enum class LinkEventKind : std::uint8_t {
  kAdded,    ///< registered, or moved into our network namespace
  kChanged,  ///< something of it changed: flags, carrier, name, mtu
  kRemoved,
};

struct LinkEvent {
  LinkEventKind kind = LinkEventKind::kChanged;
  NetdevLink link;
  bool moved =
      false;  ///< removed from here only: it is in another network namespace (IFLA_NEW_NETNSID)
};

/// The multicast group of link events, for Host::listen(NETLINK_ROUTE, …).
std::vector<std::uint32_t> link_event_groups();

/// Listens to that group. Each message is one for parse_link_event(); ENOBUFS from receive(): some
/// were lost, read all.
Result<std::unique_ptr<HostEvents>> listen_to_links(Host& host);

/// RTM_GETLINK for all devices, without their statistics (those come by RTM_GETSTATS, ten times
/// cheaper).
Bytes build_link_dump();
/// RTM_GETLINK for one device. ENODEV when it is gone.
Bytes build_link_get(std::uint32_t ifindex);
/// Error EBADMSG: not a link message, or damaged.
Result<NetdevLink> parse_link(ByteView message);
/// nullopt for messages of the group that say nothing of a device itself (a bridge's view of its
/// ports, whose RTM_DELLINK means that the port left the bridge, not that it is gone).
Result<std::optional<LinkEvent>> parse_link_event(ByteView message);

/// RTM_GETSTATS of all devices, rtnl_link_stats64 only.
Bytes build_netdev_stats_dump();
struct NetdevStats {
  std::uint32_t ifindex = 0;
  Counters
      counters;  ///< `netdev_rx_packets` and so on, sysfs's names (linux: struct rtnl_link_stats64)
};
/// Statistics that an older kernel does not have are absent.
Result<NetdevStats> parse_netdev_stats(ByteView message);

/// All devices by ifindex. A message that cannot be parsed is left out: it hides no other device.
Result<std::map<std::uint32_t, NetdevLink>> read_links(Host& host);
Result<NetdevLink> read_link(Host& host, std::uint32_t ifindex);
Result<std::map<std::uint32_t, Counters>> read_netdev_stats(Host& host);

/// What happened to a device between two readings: one carrier event for each change that the
/// kernel counted, however short, and admin_down/admin_up. At most kMaxCarrierEvents of each kind
/// (the counts in the sample hold the rest); none when the counts went backwards (the device was
/// registered anew), or say nothing with this driver (is_no_change()).
inline constexpr std::uint64_t kMaxCarrierEvents = 64;
std::vector<PortEvent> link_changes(const PortKey& port, std::string_view driver,
                                    const NetdevLink& before, const NetdevLink& after,
                                    SteadyTime at);

}  // namespace linkhealth
