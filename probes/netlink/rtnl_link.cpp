#include "probes/netlink/rtnl_link.h"

#include <fmt/format.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

namespace linkhealth {
namespace {

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
  std::string text;
  for (const std::byte byte : bytes)
    text += fmt::format("{}{:02x}", text.empty() ? "" : ":", std::to_integer<unsigned>(byte));
  return text;
}

Result<NetlinkMessage> parse_link(ByteView bytes) {
  auto message = parse_netlink_message(bytes, sizeof(ifinfomsg));
  if (!message) return message.error();
  if (message->type != RTM_NEWLINK && message->type != RTM_DELLINK)
    return bad_message("not a link message");
  return message;
}

/// At most kMaxCarrierEvents; 0 when a count is missing or went backwards.
std::uint64_t increase(std::optional<std::uint64_t> before, std::optional<std::uint64_t> after) {
  return before && after && *after > *before ? std::min(*after - *before, kMaxCarrierEvents) : 0;
}

}  // namespace

Result<std::unique_ptr<HostEvents>> listen_to_links(Host& host) {
  constexpr std::array<std::uint32_t, 1> kGroups = {RTNLGRP_LINK};
  return host.listen(NETLINK_ROUTE, kGroups);
}

Result<std::optional<LinkEvent>> parse_link_event(ByteView bytes) {
  const auto message = parse_link(bytes);
  if (!message) return message.error();
  const auto info = message->fixed<ifinfomsg>();
  if (info.ifi_family != AF_UNSPEC || info.ifi_index <= 0) return std::optional<LinkEvent>();
  LinkEvent event{LinkEventKind::kChanged, static_cast<std::uint32_t>(info.ifi_index)};
  if (message->type == RTM_DELLINK) {
    event.kind = LinkEventKind::kRemoved;
    event.moved = message->attributes.contains(IFLA_NEW_NETNSID);
  } else if (info.ifi_change == ~0U) {
    event.kind = LinkEventKind::kAdded;  // register_netdevice() announces with all bits set
  }
  return std::optional(event);
}

Result<NetdevIdentity> parse_netdev_identity(ByteView bytes) {
  const auto message = parse_link(bytes);
  if (!message) return message.error();
  NetdevIdentity netdev{std::string(message->attributes[IFLA_IFNAME].text()),
                        hardware_address(message->attributes[IFLA_ADDRESS].payload)};
  if (netdev.name.empty()) return bad_message("a link without a name");
  return netdev;
}

Result<NetdevIdentity> read_netdev_identity(Host& host, std::uint32_t ifindex) {
  ifinfomsg info{};
  info.ifi_index = static_cast<int>(ifindex);
  const auto answer = request_one(host, NETLINK_ROUTE,
                                  NetlinkBuilder(RTM_GETLINK, NLM_F_ACK)
                                      .header(info)
                                      .put_u32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS)
                                      .bytes());
  if (!answer) return answer.error();
  return parse_netdev_identity(*answer);
}

Result<NetdevStats> parse_netdev_stats(ByteView bytes) {
  const auto message = parse_netlink_message(bytes, sizeof(if_stats_msg));
  if (!message) return message.error();
  const ByteView values = message->attributes[IFLA_STATS_LINK_64].payload;
  if (message->type != RTM_NEWSTATS || values.empty())
    return bad_message("not a statistics message");
  NetdevStats stats{message->fixed<if_stats_msg>().ifindex, {}};
  const std::size_t count = std::min(kStatNames.size(), values.size() / sizeof(std::uint64_t));
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t value = 0;
    std::memcpy(&value, values.data() + i * sizeof(value), sizeof(value));
    stats.counters.set(kStatNames[i], value);
  }
  return stats;
}

Result<std::map<std::uint32_t, Counters>> read_netdev_stats(Host& host) {
  if_stats_msg request{};
  request.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
  const auto answers =
      host.netlink(NETLINK_ROUTE, NetlinkBuilder(RTM_GETSTATS, NLM_F_DUMP).header(request).bytes());
  if (!answers) return answers.error();
  std::map<std::uint32_t, Counters> all;
  for (const Bytes& answer : *answers)
    if (auto stats = parse_netdev_stats(answer)) all[stats->ifindex] = std::move(stats->counters);
  return all;
}

std::vector<PortEvent> link_changes(const PortKey& port, std::string_view driver,
                                    const LinkSample& before, const LinkSample& after,
                                    SteadyTime at) {
  std::vector<PortEvent> events;
  const bool was_up = before.admin_up.value_or(false);
  const bool is_up = after.admin_up.value_or(false);
  if (was_up != is_up)
    events.push_back({at, port, is_up ? PortEventKind::kAdminUp : PortEventKind::kAdminDown, ""});
  std::uint64_t downs = increase(before.carrier_down_count, after.carrier_down_count);
  std::uint64_t ups = increase(before.carrier_up_count, after.carrier_up_count);
  bool carrier = before.carrier.value_or(false);
  if (!carrier && !after.carrier.value_or(false) && is_no_change(driver, ups, downs)) return events;
  // Losses and gains alternate; where the counts do not allow it, the kernel's counts win.
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
