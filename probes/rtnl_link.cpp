#include "probes/rtnl_link.h"

#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

namespace linkhealth {
namespace {

/// RFC 2863 states in the kernel's order (net/core/net-sysfs.c, operstates).
constexpr std::array<std::string_view, 7> kOperstates = {
    "unknown", "notpresent", "down", "lowerlayerdown", "testing", "dormant", "up"};

/// struct rtnl_link_stats64 in its order: all 64 bit, newer kernels append.
constexpr std::array<std::string_view, 25> kStatNames = {"netdev_rx_packets",
                                                         "netdev_tx_packets",
                                                         "netdev_rx_bytes",
                                                         "netdev_tx_bytes",
                                                         "netdev_rx_errors",
                                                         "netdev_tx_errors",
                                                         "netdev_rx_dropped",
                                                         "netdev_tx_dropped",
                                                         "netdev_multicast",
                                                         "netdev_collisions",
                                                         "netdev_rx_length_errors",
                                                         "netdev_rx_over_errors",
                                                         "netdev_rx_crc_errors",
                                                         "netdev_rx_frame_errors",
                                                         "netdev_rx_fifo_errors",
                                                         "netdev_rx_missed_errors",
                                                         "netdev_tx_aborted_errors",
                                                         "netdev_tx_carrier_errors",
                                                         "netdev_tx_fifo_errors",
                                                         "netdev_tx_heartbeat_errors",
                                                         "netdev_tx_window_errors",
                                                         "netdev_rx_compressed",
                                                         "netdev_tx_compressed",
                                                         "netdev_rx_nohandler",
                                                         "netdev_rx_otherhost_dropped"};

std::string hardware_address(ByteView bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    const auto value = std::to_integer<unsigned>(byte);
    if (!text.empty()) text += ':';
    text += {kDigits[value >> 4U], kDigits[value & 0xfU]};
  }
  return text;
}

NetdevLink link_of(const NetlinkMessage& message) {
  const auto info = message.fixed<ifinfomsg>();
  const NetlinkAttributes& attributes = message.attributes;
  NetdevLink link;
  link.ifindex = static_cast<std::uint32_t>(info.ifi_index);
  link.name = attributes.text(IFLA_IFNAME);
  if (const auto address = attributes.find(IFLA_ADDRESS))
    link.address = hardware_address(address->payload);
  link.admin_up = (info.ifi_flags & IFF_UP) != 0;
  link.carrier = (info.ifi_flags & IFF_LOWER_UP) != 0;
  if (const auto state = attributes.u8(IFLA_OPERSTATE); state && *state < kOperstates.size())
    link.operstate = kOperstates[*state];
  link.mtu_bytes = attributes.u32(IFLA_MTU);
  link.carrier_up_count = attributes.u32(IFLA_CARRIER_UP_COUNT);
  link.carrier_down_count = attributes.u32(IFLA_CARRIER_DOWN_COUNT);
  return link;
}

Result<NetlinkMessage> open_link(ByteView bytes) {
  auto message = open_netlink_message(bytes, sizeof(ifinfomsg));
  if (!message) return message.error();
  if (message->type != RTM_NEWLINK && message->type != RTM_DELLINK)
    return bad_message("not a link message");
  return message;
}

/// What was added to a count, at most kMaxCarrierEvents; 0 when it is missing or went backwards.
std::uint64_t increase(std::optional<std::uint64_t> before, std::optional<std::uint64_t> after) {
  return before && after && *after > *before ? std::min(*after - *before, kMaxCarrierEvents) : 0;
}

}  // namespace

std::vector<std::uint32_t> link_event_groups() { return {RTNLGRP_LINK}; }

Result<std::unique_ptr<HostEvents>> listen_to_links(Host& host) {
  return host.listen(NETLINK_ROUTE, link_event_groups());
}

Bytes build_link_dump() {
  return NetlinkBuilder(RTM_GETLINK, NLM_F_DUMP)
      .header(ifinfomsg{})
      .put_u32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS)
      .take();
}

Bytes build_link_get(std::uint32_t ifindex) {
  ifinfomsg info{};
  info.ifi_index = static_cast<int>(ifindex);
  return NetlinkBuilder(RTM_GETLINK, NLM_F_ACK)
      .header(info)
      .put_u32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS)
      .take();
}

Result<NetdevLink> parse_link(ByteView bytes) {
  const auto message = open_link(bytes);
  if (!message) return message.error();
  NetdevLink link = link_of(*message);
  if (link.name.empty()) return bad_message("a link without a name");
  return link;
}

Result<std::optional<LinkEvent>> parse_link_event(ByteView bytes) {
  const auto message = open_link(bytes);
  if (!message) return message.error();
  const auto info = message->fixed<ifinfomsg>();
  if (info.ifi_family != AF_UNSPEC || info.ifi_index <= 0) return std::optional<LinkEvent>();
  LinkEvent event{LinkEventKind::kChanged, link_of(*message)};
  if (message->type == RTM_DELLINK) {
    event.kind = LinkEventKind::kRemoved;
    event.moved = message->attributes.find(IFLA_NEW_NETNSID).has_value();
  } else if (info.ifi_change == ~0U) {
    event.kind = LinkEventKind::kAdded;  // register_netdevice() announces with all bits set
  }
  return std::optional<LinkEvent>(std::move(event));
}

Bytes build_netdev_stats_dump() {
  if_stats_msg request{};
  request.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
  return NetlinkBuilder(RTM_GETSTATS, NLM_F_DUMP).header(request).take();
}

Result<NetdevStats> parse_netdev_stats(ByteView bytes) {
  const auto message = open_netlink_message(bytes, sizeof(if_stats_msg));
  if (!message) return message.error();
  const auto values = message->attributes.find(IFLA_STATS_LINK_64);
  if (message->type != RTM_NEWSTATS || !values) return bad_message("not a statistics message");
  NetdevStats stats;
  stats.ifindex = message->fixed<if_stats_msg>().ifindex;
  const std::size_t count =
      std::min(kStatNames.size(), values->payload.size() / sizeof(std::uint64_t));
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t value = 0;
    std::memcpy(&value, values->payload.data() + i * sizeof(value), sizeof(value));
    stats.counters.set(kStatNames[i], value);
  }
  return stats;
}

Result<std::map<std::uint32_t, NetdevLink>> read_links(Host& host) {
  const auto answers = host.netlink(NETLINK_ROUTE, build_link_dump());
  if (!answers) return answers.error();
  std::map<std::uint32_t, NetdevLink> links;
  for (const Bytes& answer : *answers)
    if (auto link = parse_link(answer)) links[link->ifindex] = std::move(*link);
  return links;
}

Result<NetdevLink> read_link(Host& host, std::uint32_t ifindex) {
  const auto answers = host.netlink(NETLINK_ROUTE, build_link_get(ifindex));
  if (!answers) return answers.error();
  if (answers->empty()) return bad_message("no answer");
  return parse_link(answers->front());
}

Result<std::map<std::uint32_t, Counters>> read_netdev_stats(Host& host) {
  const auto answers = host.netlink(NETLINK_ROUTE, build_netdev_stats_dump());
  if (!answers) return answers.error();
  std::map<std::uint32_t, Counters> all;
  for (const Bytes& answer : *answers)
    if (auto stats = parse_netdev_stats(answer)) all[stats->ifindex] = std::move(stats->counters);
  return all;
}

std::vector<PortEvent> link_changes(const PortKey& port, std::string_view driver,
                                    const NetdevLink& before, const NetdevLink& after,
                                    SteadyTime at) {
  std::vector<PortEvent> events;
  if (before.admin_up && !after.admin_up)
    events.push_back({at, port, PortEventKind::kAdminDown, ""});
  if (!before.admin_up && after.admin_up) events.push_back({at, port, PortEventKind::kAdminUp, ""});
  std::uint64_t downs = increase(before.carrier_down_count, after.carrier_down_count);
  std::uint64_t ups = increase(before.carrier_up_count, after.carrier_up_count);
  if (!before.carrier && !after.carrier && is_no_change(driver, ups, downs)) return events;
  // Losses and gains alternate; where the counts do not allow it, the kernel's counts win.
  bool carrier = before.carrier;
  while (downs + ups > 0) {
    const bool loss = downs > 0 && (carrier || ups == 0);
    events.push_back(
        {at, port, loss ? PortEventKind::kCarrierDown : PortEventKind::kCarrierUp, ""});
    --(loss ? downs : ups);
    carrier = !loss;
  }
  return events;
}

}  // namespace linkhealth
