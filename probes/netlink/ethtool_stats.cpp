#include "probes/netlink/ethtool_stats.h"

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <algorithm>
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

struct PauseCounter {
  std::uint16_t attribute;
  std::string_view counter;
};
constexpr PauseCounter kPauseCounters[] = {
    {ETHTOOL_A_PAUSE_STAT_TX_FRAMES, "pause_tx_pause_frames"},
    {ETHTOOL_A_PAUSE_STAT_RX_FRAMES, "pause_rx_pause_frames"},
    // ETHTOOL_A_PAUSE_STAT_TX_PAUSE_STORM_EVENTS, newer than our headers
    {4, "pause_tx_pause_storm_events"}};

std::vector<std::string> strings_of(const NetlinkAttributes& set) {
  std::vector<std::string> strings;
  for (const NetlinkAttribute& one : set.nested(ETHTOOL_A_STRINGSET_STRINGS)) {
    const NetlinkAttributes string(one.payload);
    const auto index = string[ETHTOOL_A_STRING_INDEX].u32();
    if (!index || *index >= kMaxStrings) continue;
    if (strings.size() <= *index) strings.resize(*index + 1);
    strings[*index] = string[ETHTOOL_A_STRING_VALUE].text();
  }
  return strings;
}

/// ETHTOOL_A_STATS_GRP_STAT: a nest with one u64 whose attribute type is the statistic's index.
void add_statistic(Counters& counters, const StatGroup& group, const EthtoolStatNames& names,
                   ByteView nest) {
  const auto set = names.find(group.string_set);
  if (set == names.end()) return;
  for (const NetlinkAttribute& statistic : NetlinkAttributes(nest)) {
    const auto value = statistic.u64();
    if (!value || statistic.type >= set->second.size() || set->second[statistic.type].empty())
      continue;
    counters.set(std::string(group.prefix) + set->second[statistic.type], *value);
  }
}

/// A bucket of a packet size histogram, named as ethtool names it; the highest bucket of a driver
/// may have no end.
void add_bucket(Counters& counters, const std::string& direction, ByteView nest) {
  const NetlinkAttributes bucket(nest);
  const auto low = bucket[ETHTOOL_A_STATS_GRP_HIST_BKT_LOW].u32();
  const auto high = bucket[ETHTOOL_A_STATS_GRP_HIST_BKT_HI].u32();
  const auto value = bucket[ETHTOOL_A_STATS_GRP_HIST_VAL].u64();
  if (!low || !high || !value) return;
  const std::string end = *high != 0 ? std::to_string(*high) : "Max";
  counters.set(
      "rmon_" + direction + "_etherStatsPkts" + std::to_string(*low) + "to" + end + "Octets",
      *value);
}

void add_group(Counters& counters, const EthtoolStatNames& names, ByteView nest) {
  const NetlinkAttributes content(nest);
  const auto id = content[ETHTOOL_A_STATS_GRP_ID].u32();
  const auto* const group = std::ranges::find(kGroups, id, &StatGroup::id);
  if (group == kGroups.end()) return;
  for (const NetlinkAttribute& attribute : content) {
    if (attribute.type == ETHTOOL_A_STATS_GRP_STAT)
      add_statistic(counters, *group, names, attribute.payload);
    if (group->id != ETHTOOL_STATS_RMON) continue;
    if (attribute.type == ETHTOOL_A_STATS_GRP_HIST_RX)
      add_bucket(counters, "rx", attribute.payload);
    if (attribute.type == ETHTOOL_A_STATS_GRP_HIST_TX)
      add_bucket(counters, "tx", attribute.payload);
  }
}

}  // namespace

Result<EthtoolStatNames> parse_stat_names(ByteView message) {
  const auto answer = parse_genl_message(message, ETHTOOL_MSG_STRSET_GET_REPLY);
  if (!answer) return answer.error();
  EthtoolStatNames names;
  for (const NetlinkAttribute& one : answer->nested(ETHTOOL_A_STRSET_STRINGSETS)) {
    const NetlinkAttributes set(one.payload);
    if (const auto id = set[ETHTOOL_A_STRINGSET_ID].u32()) names[*id] = strings_of(set);
  }
  return names;
}

Result<EthtoolStatNames> read_stat_names(Host& host, EthtoolFamily family) {
  // String sets without a device are requested with an empty header, and not as a dump.
  auto request =
      NetlinkBuilder::generic(family.id, NLM_F_ACK, ETHTOOL_MSG_STRSET_GET, ETHTOOL_GENL_VERSION);
  request.open_nest(ETHTOOL_A_STRSET_HEADER).close_nest().open_nest(ETHTOOL_A_STRSET_STRINGSETS);
  for (const StatGroup& group : kGroups)
    request.open_nest(ETHTOOL_A_STRINGSETS_STRINGSET)
        .put_u32(ETHTOOL_A_STRINGSET_ID, group.string_set)
        .close_nest();
  return request_ethtool(host, request.close_nest(), &parse_stat_names);
}

Result<Counters> parse_stats(ByteView message, const EthtoolStatNames& names) {
  const auto answer = parse_genl_message(message, ETHTOOL_MSG_STATS_GET_REPLY);
  if (!answer) return answer.error();
  Counters counters;
  for (const NetlinkAttribute& attribute : *answer)
    if (attribute.type == ETHTOOL_A_STATS_GRP) add_group(counters, names, attribute.payload);
  return counters;
}

Result<Counters> read_stats(Host& host, EthtoolFamily family, std::uint32_t ifindex,
                            const EthtoolStatNames& names) {
  constexpr std::uint32_t kAllGroups = (1U << kGroups.size()) - 1;
  auto request = ethtool_request(family, ETHTOOL_MSG_STATS_GET, ETHTOOL_A_STATS_HEADER, ifindex);
  request.open_nest(ETHTOOL_A_STATS_GROUPS)
      .put_flag(ETHTOOL_A_BITSET_NOMASK)
      .put_u32(ETHTOOL_A_BITSET_SIZE, static_cast<std::uint32_t>(kGroups.size()))
      .put_u32(ETHTOOL_A_BITSET_VALUE, kAllGroups)
      .close_nest();
  return request_ethtool(host, request,
                         [&](ByteView message) { return parse_stats(message, names); });
}

Result<Counters> parse_pause(ByteView message) {
  const auto answer = parse_genl_message(message, ETHTOOL_MSG_PAUSE_GET_REPLY);
  if (!answer) return answer.error();
  const NetlinkAttributes stats = answer->nested(ETHTOOL_A_PAUSE_STATS);
  Counters counters;
  for (const PauseCounter& row : kPauseCounters)
    if (const auto value = stats[row.attribute].u64()) counters.set(row.counter, *value);
  return counters;
}

Result<Counters> read_pause(Host& host, EthtoolFamily family, std::uint32_t ifindex) {
  return request_ethtool(host,
                         ethtool_request(family, ETHTOOL_MSG_PAUSE_GET, ETHTOOL_A_PAUSE_HEADER,
                                         ifindex, ETHTOOL_FLAG_STATS),
                         &parse_pause);
}

}  // namespace linkhealth
