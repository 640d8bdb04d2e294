#include "probes/netlink/rtnl_link.h"

#include <fmt/format.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "probes/netlink/netlink_message.h"

namespace linkhealth {
namespace {

/// struct rtnl_link_stats64 in order: all 64 bits; newer kernels append.
constexpr std::string_view kStatNames[] = {
    "rx_packets",          "tx_packets",        "rx_bytes",         "tx_bytes",
    "rx_errors",           "tx_errors",         "rx_dropped",       "tx_dropped",
    "multicast",           "collisions",        "rx_length_errors", "rx_over_errors",
    "rx_crc_errors",       "rx_frame_errors",   "rx_fifo_errors",   "rx_missed_errors",
    "tx_aborted_errors",   "tx_carrier_errors", "tx_fifo_errors",   "tx_heartbeat_errors",
    "tx_window_errors",    "rx_compressed",     "tx_compressed",    "rx_nohandler",
    "rx_otherhost_dropped"};

std::string hardware_address(ByteView bytes) {
  std::string text;
  for (const std::byte byte : bytes)
    text += fmt::format("{}{:02x}", text.empty() ? "" : ":", std::to_integer<unsigned>(byte));
  return text;
}

/// At most kMaxCarrierEvents; 0 if a count is missing or decreased.
std::uint64_t increase(std::optional<std::uint64_t> before, std::optional<std::uint64_t> after) {
  return before && after && *after > *before ? std::min(*after - *before, kMaxCarrierEvents) : 0;
}

}  // namespace

Result<NetdevIdentity> read_netdev_identity(Host& host, std::uint32_t ifindex) {
  ifinfomsg info{};
  info.ifi_index = static_cast<int>(ifindex);
  const auto answer = request_one(host, NETLINK_ROUTE,
                                  NetlinkBuilder(RTM_GETLINK, NLM_F_ACK)
                                      .header(info)
                                      .put_u32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS));
  if (!answer) return answer.error();
  const auto message = parse_netlink_message(*answer, sizeof(ifinfomsg));
  if (!message) return message.error();
  NetdevIdentity netdev{std::string(message->attributes[IFLA_IFNAME].text()),
                        hardware_address(message->attributes[IFLA_ADDRESS].payload)};
  if (message->type != RTM_NEWLINK || netdev.name.empty())
    return bad_message("not a link with a name");
  return netdev;
}

Result<std::map<std::uint32_t, Counters>> read_netdev_stats(Host& host) {
  if_stats_msg request{};
  request.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
  const auto answers =
      host.netlink(NETLINK_ROUTE, NetlinkBuilder(RTM_GETSTATS, NLM_F_DUMP).header(request).bytes());
  if (!answers) return answers.error();
  std::map<std::uint32_t, Counters> all;
  for (const Bytes& answer : *answers) {
    const auto message = parse_netlink_message(answer, sizeof(if_stats_msg));
    if (!message || message->type != RTM_NEWSTATS) continue;
    const ByteView values = message->attributes[IFLA_STATS_LINK_64].payload;
    if (values.empty()) continue;
    Counters& counters = all[message->fixed<if_stats_msg>().ifindex];
    for (std::size_t i = 0; i < std::min(std::size(kStatNames), values.size() / 8); ++i) {
      std::uint64_t value = 0;
      std::memcpy(&value, values.data() + i * sizeof(value), sizeof(value));
      counters.set(fmt::format("netdev_{}", kStatNames[i]), value);
    }
  }
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
  // Losses and gains alternate; if the counts do not allow that, the kernel's counts are kept.
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
