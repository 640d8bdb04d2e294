#include "probes/ethtool_stats.h"

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <array>
#include <string_view>

namespace linkhealth {
namespace {

/// A group of STATS_GET: its number, the string set with its names, our prefix.
struct StatGroup {
  std::uint32_t id;
  std::uint32_t string_set;
  std::string_view prefix;
};
// Not the group "phydev" (6.14, of a copper PHY behind phylib, which no RDMA NIC has): an older
// kernel refuses the whole request for a group that it does not know.
constexpr std::array<StatGroup, 4> kGroups = {{
    {ETHTOOL_STATS_ETH_PHY, ETH_SS_STATS_ETH_PHY, "phy_"},
    {ETHTOOL_STATS_ETH_MAC, ETH_SS_STATS_ETH_MAC, "mac_"},
    {ETHTOOL_STATS_ETH_CTRL, ETH_SS_STATS_ETH_CTRL, "ctrl_"},
    {ETHTOOL_STATS_RMON, ETH_SS_STATS_RMON, "rmon_"},
}};

/// The kernel numbers statistics and strings from 0 and has some dozens; more is damage.
constexpr std::uint32_t kMaxStrings = 4096;
constexpr std::uint16_t kPauseStormEvents =
    4;  // ETHTOOL_A_PAUSE_STAT_TX_PAUSE_STORM_EVENTS, newer than our headers

const StatGroup* find_group(std::optional<std::uint32_t> id) {
  for (const StatGroup& group : kGroups)
    if (id == group.id) return &group;
  return nullptr;
}

std::vector<std::string> strings_of(const NetlinkAttributes& set) {
  std::vector<std::string> strings;
  for (const NetlinkAttribute one : set.nested(ETHTOOL_A_STRINGSET_STRINGS)) {
    const NetlinkAttributes string(one.payload);
    const auto index = string.u32(ETHTOOL_A_STRING_INDEX);
    if (!index || *index >= kMaxStrings) continue;
    if (strings.size() <= *index) strings.resize(*index + 1);
    strings[*index] = string.text(ETHTOOL_A_STRING_VALUE);
  }
  return strings;
}

/// ETHTOOL_A_STATS_GRP_STAT: a nest with one u64 whose attribute type is the statistic's index.
void take_stat(Counters& counters, const StatGroup& group, const EthtoolStatNames& names,
               ByteView nest) {
  const auto set = names.find(group.string_set);
  if (set == names.end()) return;
  for (const NetlinkAttribute stat : NetlinkAttributes(nest)) {
    const auto value = stat.u64();
    if (!value || stat.type >= set->second.size() || set->second[stat.type].empty()) continue;
    counters.set(std::string(group.prefix) + set->second[stat.type], *value);
  }
}

/// A bucket of a packet size histogram, named as ethtool names it; the highest bucket of a driver
/// may have no end.
void take_bucket(Counters& counters, std::string_view direction, ByteView nest) {
  const NetlinkAttributes bucket(nest);
  const auto low = bucket.u32(ETHTOOL_A_STATS_GRP_HIST_BKT_LOW);
  const auto high = bucket.u32(ETHTOOL_A_STATS_GRP_HIST_BKT_HI);
  const auto value = bucket.u64(ETHTOOL_A_STATS_GRP_HIST_VAL);
  if (!low || !high || !value) return;
  const std::string end = *high != 0 ? std::to_string(*high) : "Max";
  counters.set("rmon_" + std::string(direction) + "_etherStatsPkts" + std::to_string(*low) + "to" +
                   end + "Octets",
               *value);
}

void take_group(Counters& counters, const EthtoolStatNames& names, ByteView nest) {
  const NetlinkAttributes content(nest);
  const StatGroup* group = find_group(content.u32(ETHTOOL_A_STATS_GRP_ID));
  if (group == nullptr) return;
  for (const NetlinkAttribute attribute : content) {
    if (attribute.type == ETHTOOL_A_STATS_GRP_STAT)
      take_stat(counters, *group, names, attribute.payload);
    if (group->id != ETHTOOL_STATS_RMON) continue;
    if (attribute.type == ETHTOOL_A_STATS_GRP_HIST_RX)
      take_bucket(counters, "rx", attribute.payload);
    if (attribute.type == ETHTOOL_A_STATS_GRP_HIST_TX)
      take_bucket(counters, "tx", attribute.payload);
  }
}

}  // namespace

Bytes build_stat_names_get(EthtoolFamily family) {
  // String sets without a device are asked for with an empty header, and not as a dump.
  genlmsghdr head{};
  head.cmd = ETHTOOL_MSG_STRSET_GET;
  head.version = ETHTOOL_GENL_VERSION;
  NetlinkBuilder request(family.id, NLM_F_ACK);
  request.header(head)
      .open_nest(ETHTOOL_A_STRSET_HEADER)
      .close_nest()
      .open_nest(ETHTOOL_A_STRSET_STRINGSETS);
  for (const StatGroup& group : kGroups)
    request.open_nest(ETHTOOL_A_STRINGSETS_STRINGSET)
        .put_u32(ETHTOOL_A_STRINGSET_ID, group.string_set)
        .close_nest();
  return request.close_nest().take();
}

Result<EthtoolStatNames> parse_stat_names(ByteView message) {
  const auto answer = open_genl_message(message, ETHTOOL_MSG_STRSET_GET_REPLY);
  if (!answer) return answer.error();
  EthtoolStatNames names;
  for (const NetlinkAttribute one : answer->nested(ETHTOOL_A_STRSET_STRINGSETS)) {
    const NetlinkAttributes set(one.payload);
    if (const auto id = set.u32(ETHTOOL_A_STRINGSET_ID)) names[*id] = strings_of(set);
  }
  return names;
}

Result<EthtoolStatNames> read_stat_names(Host& host, EthtoolFamily family) {
  const auto answer = ask_ethtool(host, build_stat_names_get(family));
  if (!answer) return answer.error();
  return parse_stat_names(*answer);
}

Bytes build_stats_get(EthtoolFamily family, std::uint32_t ifindex) {
  constexpr std::uint32_t kAllGroups = (1U << kGroups.size()) - 1;
  NetlinkBuilder request =
      ethtool_request(family, ETHTOOL_MSG_STATS_GET, ETHTOOL_A_STATS_HEADER, ifindex);
  request.open_nest(ETHTOOL_A_STATS_GROUPS)
      .put_flag(ETHTOOL_A_BITSET_NOMASK)
      .put_u32(ETHTOOL_A_BITSET_SIZE, static_cast<std::uint32_t>(kGroups.size()))
      .put_u32(ETHTOOL_A_BITSET_VALUE, kAllGroups)
      .close_nest();
  return request.take();
}

Result<Counters> parse_stats(ByteView message, const EthtoolStatNames& names) {
  const auto answer = open_genl_message(message, ETHTOOL_MSG_STATS_GET_REPLY);
  if (!answer) return answer.error();
  Counters counters;
  for (const NetlinkAttribute attribute : *answer)
    if (attribute.type == ETHTOOL_A_STATS_GRP) take_group(counters, names, attribute.payload);
  return counters;
}

Result<Counters> read_stats(Host& host, EthtoolFamily family, std::uint32_t ifindex,
                            const EthtoolStatNames& names) {
  const auto answer = ask_ethtool(host, build_stats_get(family, ifindex));
  if (!answer) return answer.error();
  return parse_stats(*answer, names);
}

Bytes build_pause_get(EthtoolFamily family, std::uint32_t ifindex) {
  return ethtool_request(family, ETHTOOL_MSG_PAUSE_GET, ETHTOOL_A_PAUSE_HEADER, ifindex,
                         ETHTOOL_FLAG_STATS)
      .take();
}

Result<Counters> parse_pause(ByteView message) {
  const auto answer = open_genl_message(message, ETHTOOL_MSG_PAUSE_GET_REPLY);
  if (!answer) return answer.error();
  const NetlinkAttributes stats = answer->nested(ETHTOOL_A_PAUSE_STATS);
  Counters counters;
  if (const auto sent = stats.u64(ETHTOOL_A_PAUSE_STAT_TX_FRAMES))
    counters.set("pause_tx_pause_frames", *sent);
  if (const auto received = stats.u64(ETHTOOL_A_PAUSE_STAT_RX_FRAMES))
    counters.set("pause_rx_pause_frames", *received);
  if (const auto storms = stats.u64(kPauseStormEvents))
    counters.set("pause_tx_pause_storm_events", *storms);
  return counters;
}

Result<Counters> read_pause(Host& host, EthtoolFamily family, std::uint32_t ifindex) {
  const auto answer = ask_ethtool(host, build_pause_get(family, ifindex));
  if (!answer) return answer.error();
  return parse_pause(*answer);
}

}  // namespace linkhealth
