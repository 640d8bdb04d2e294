#include "probes/netlink/ethtool.h"

#include <linux/ethtool_netlink.h>
#include <linux/netlink.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "base/text.h"
#include "probes/netlink/netlink_message.h"

namespace linkhealth {

namespace {

/// Opens a request of `command` for one device with its header nest (`header` is the command's
/// *_HEADER attribute).
NetlinkBuilder device_request(EthtoolFamily family, std::uint8_t command, std::uint16_t header,
                              std::uint32_t ifindex, std::uint32_t flags = 0) {
  auto request = NetlinkBuilder::generic(family.id, NLM_F_ACK, command, ETHTOOL_GENL_VERSION);
  request.open_nest(header).put_u32(ETHTOOL_A_HEADER_DEV_INDEX, ifindex);
  if (flags != 0) request.put_u32(ETHTOOL_A_HEADER_FLAGS, flags);
  request.close_nest();
  return request;
}

}  // namespace

Result<EthtoolFamily> resolve_ethtool_family(Host& host) {
  const auto id = resolve_family(host, ETHTOOL_GENL_NAME);
  if (!id) return id.error();
  return EthtoolFamily{*id};
}

// --- link state and link modes

namespace {

/// ETHTOOL_A_LINKSTATE_EXT_DOWN_CNT; newer than Debian 12's headers.
constexpr std::uint16_t kExtDownCount = 7;

constexpr std::string_view kAutoneg[] = {
    "No partner detected",          "Ack not received",
    "Next page exchange failed",    "No partner detected during force mode",
    "FEC mismatch during override", "No HCD"};
constexpr std::string_view kTraining[] = {"KR frame lock not acquired", "KR link inhibit timeout",
                                          "KR Link partner did not set receiver ready",
                                          "Remote side is not ready yet"};
constexpr std::string_view kLogical[] = {
    "PCS did not acquire block lock", "PCS did not acquire AM lock", "PCS did not get align_status",
    "FC FEC is not locked", "RS FEC is not locked"};
constexpr std::string_view kSignal[] = {
    "Large number of physical errors",
    "The system attempted to operate the cable at a rate that is not formally supported",
    "Serdes reference clock lost", "Serdes ALOS"};
constexpr std::string_view kCable[] = {"Unsupported cable", "Cable test failure"};
constexpr std::string_view kModule[] = {"CMIS module is not in ModuleReady state"};

struct DownReasonText {
  std::string_view state;
  std::span<const std::string_view> substates;  ///< for substate 1, 2, …
};

/// In the order of enum ethtool_link_ext_state.
constexpr DownReasonText kReasons[] = {
    {"Autoneg", kAutoneg},
    {"Link training failure", kTraining},
    {"Logical mismatch", kLogical},
    {"Bad signal integrity", kSignal},
    {kNoCable, {}},
    {"Cable issue", kCable},
    {"EEPROM issue", {}},
    {"Calibration failure", {}},
    {"Power budget exceeded", {}},
    {"Overheat", {}},
    {"Module", kModule},
    // Both since Linux 7.0 (include/uapi/linux/ethtool.h).
    {"OTP speed violation", {}},
    {"BMC request", {}},
};
static_assert(std::size(kReasons) == ETHTOOL_LINK_EXT_STATE_MODULE + 3);
static_assert(std::size(kAutoneg) == ETHTOOL_LINK_EXT_SUBSTATE_AN_NO_HCD);
static_assert(std::size(kTraining) == ETHTOOL_LINK_EXT_SUBSTATE_LT_REMOTE_FAULT);
static_assert(std::size(kLogical) == ETHTOOL_LINK_EXT_SUBSTATE_LLM_RS_FEC_IS_NOT_LOCKED);
static_assert(std::size(kSignal) == ETHTOOL_LINK_EXT_SUBSTATE_BSI_SERDES_ALOS);
static_assert(std::size(kCable) == ETHTOOL_LINK_EXT_SUBSTATE_CI_CABLE_TEST_FAILURE);
static_assert(std::size(kModule) == ETHTOOL_LINK_EXT_SUBSTATE_MODULE_CMIS_NOT_READY);

}  // namespace

DownReason down_reason(std::uint8_t state, std::uint8_t substate) {
  const bool known = state < std::size(kReasons);
  DownReason reason{known ? std::string(kReasons[state].state) : "state " + std::to_string(state),
                    ""};
  if (substate == 0) return reason;
  if (known && substate <= kReasons[state].substates.size()) {
    reason.substate = kReasons[state].substates[substate - 1];
  } else {
    reason.substate = "substate " + std::to_string(substate);
  }
  return reason;
}

Result<EthtoolLinkState> read_linkstate(Host& host, EthtoolFamily family, std::uint32_t ifindex,
                                        bool& statistics) {
  const auto request = [&](std::uint32_t flags) {
    return request_genl(host,
                        device_request(family, ETHTOOL_MSG_LINKSTATE_GET,
                                       ETHTOOL_A_LINKSTATE_HEADER, ifindex, flags),
                        ETHTOOL_MSG_LINKSTATE_GET_REPLY);
  };
  auto answer = request(statistics ? ETHTOOL_FLAG_STATS : 0);
  if (statistics && !answer && answer.error().errnum == EINVAL) {
    answer = request(0);
    statistics = !answer;
  }
  if (!answer) return answer.error();
  const NetlinkAttributes& attributes = answer->attributes;
  EthtoolLinkState state;
  if (const auto link = attributes[ETHTOOL_A_LINKSTATE_LINK].u8()) state.link = *link != 0;
  state.sqi = attributes[ETHTOOL_A_LINKSTATE_SQI].u32();
  state.sqi_max = attributes[ETHTOOL_A_LINKSTATE_SQI_MAX].u32();
  state.link_down_count = attributes[kExtDownCount].u32();
  const auto reason = attributes[ETHTOOL_A_LINKSTATE_EXT_STATE].u8();
  if (reason && state.link != true)
    state.down_reason =
        down_reason(*reason, attributes[ETHTOOL_A_LINKSTATE_EXT_SUBSTATE].u8().value_or(0));
  return state;
}

Result<EthtoolLinkModes> read_linkmodes(Host& host, EthtoolFamily family, std::uint32_t ifindex) {
  // Request compact bit sets, without names: we do not use them.
  const auto answer =
      request_genl(host,
                   device_request(family, ETHTOOL_MSG_LINKMODES_GET, ETHTOOL_A_LINKMODES_HEADER,
                                  ifindex, ETHTOOL_FLAG_COMPACT_BITSETS),
                   ETHTOOL_MSG_LINKMODES_GET_REPLY);
  if (!answer) return answer.error();
  EthtoolLinkModes modes;
  const auto speed = answer->attributes[ETHTOOL_A_LINKMODES_SPEED].u32();
  if (speed && *speed != 0 && *speed != static_cast<std::uint32_t>(SPEED_UNKNOWN))
    modes.speed_mbps = speed;
  const auto lanes = answer->attributes[ETHTOOL_A_LINKMODES_LANES].u32();
  if (lanes && *lanes != 0) modes.lanes = lanes;
  if (const auto autoneg = answer->attributes[ETHTOOL_A_LINKMODES_AUTONEG].u8())
    modes.autoneg = *autoneg == AUTONEG_ENABLE;
  return modes;
}

// --- FEC

namespace {

/// Between 25.8 GBd NRZ and the slowest PAM4 lane.
constexpr std::uint32_t kFastestNrzLaneMbps = 30000;
/// ETHTOOL_MAX_LANES in the kernel; more is damage.
constexpr std::size_t kMaxLanes = 64;

std::string reed_solomon_name(const FecLink& link) {
  if (!link.speed_mbps || !link.lanes || *link.lanes == 0) return "RS";
  return *link.speed_mbps / *link.lanes <= kFastestNrzLaneMbps ? "RS528" : "RS544";
}

/// One total, then one value per lane (fec_stats_recalc); nothing if absent or damaged.
void read_fec_values(const NetlinkAttributes& stats, std::uint16_t type, std::string_view counter,
                     std::optional<std::uint64_t> FecLane::*field, EthtoolFec& fec) {
  const ByteView array = stats[type].payload;
  std::vector<std::uint64_t> values(array.size() / sizeof(std::uint64_t));
  if (values.empty() || values.size() > 1 + kMaxLanes || array.size() % sizeof(std::uint64_t) != 0)
    return;
  std::memcpy(values.data(), array.data(), array.size());
  fec.counters.set(counter, values.front());
  const std::size_t lanes = values.size() - 1;
  if (fec.lanes.size() < lanes) fec.lanes.resize(lanes);
  for (std::size_t lane = 0; lane < lanes; ++lane) fec.lanes[lane].*field = values[lane + 1];
}

// The histogram of codewords by their number of symbol errors (IEEE 802.3ck-2022, 802.3df-2024),
// newer than Debian 12's headers: linux include/uapi/linux/ethtool_netlink_generated.h,
// net/ethtool/fec.c (fec_put_hist).
constexpr std::uint16_t kStatHistogram = 5;  // ETHTOOL_A_FEC_STAT_HIST, once for each bin
constexpr std::uint16_t kBinLow = 2;         // ETHTOOL_A_FEC_HIST_BIN_LOW; 1 is padding
constexpr std::uint16_t kBinHigh = 3;
constexpr std::uint16_t kBinValue = 4;
constexpr std::uint32_t kMaxSymbols = 1024;  // a codeword has 544; more is damage

void read_histogram(Counters& counters, const NetlinkAttributes& stats) {
  for (const NetlinkAttribute& attribute : stats) {
    if (attribute.type != kStatHistogram) continue;
    const NetlinkAttributes bin(attribute.payload);
    const auto low = bin[kBinLow].u32();
    const auto high = bin[kBinHigh].u32();
    std::optional<std::uint64_t> value = bin[kBinValue].u64();
    // nla_put_uint() writes 32 bits if they suffice.
    if (!value) value = bin[kBinValue].u32();
    if (!low || !high || !value || *low > *high || *high > kMaxSymbols) continue;
    counters.set("fec_hist_" + std::to_string(*low) + "to" + std::to_string(*high), *value);
  }
}

}  // namespace

std::string fec_mode_name(std::uint32_t link_mode_bit, const FecLink& link) {
  switch (link_mode_bit) {
    case ETHTOOL_LINK_MODE_FEC_NONE_BIT:
      return "Off";
    case ETHTOOL_LINK_MODE_FEC_RS_BIT:
      return reed_solomon_name(link);
    case ETHTOOL_LINK_MODE_FEC_BASER_BIT:
      return "BaseR";
    case ETHTOOL_LINK_MODE_FEC_LLRS_BIT:
      return "LLRS";
    default:
      return "";
  }
}

Result<EthtoolFec> read_fec(Host& host, EthtoolFamily family, std::uint32_t ifindex,
                            const FecLink& link) {
  const auto answer =
      request_genl(host,
                   device_request(family, ETHTOOL_MSG_FEC_GET, ETHTOOL_A_FEC_HEADER, ifindex,
                                  ETHTOOL_FLAG_STATS | ETHTOOL_FLAG_COMPACT_BITSETS),
                   ETHTOOL_MSG_FEC_GET_REPLY);
  if (!answer) return answer.error();
  EthtoolFec fec;
  if (const auto active = answer->attributes[ETHTOOL_A_FEC_ACTIVE].u32())
    fec.mode = fec_mode_name(*active, link);
  const NetlinkAttributes stats = answer->attributes.nested(ETHTOOL_A_FEC_STATS);
  read_fec_values(stats, ETHTOOL_A_FEC_STAT_CORRECTED, "fec_corrected_blocks",
                  &FecLane::corrected_blocks, fec);
  read_fec_values(stats, ETHTOOL_A_FEC_STAT_UNCORR, "fec_uncorrectable_blocks",
                  &FecLane::uncorrectable_blocks, fec);
  read_fec_values(stats, ETHTOOL_A_FEC_STAT_CORR_BITS, "fec_corrected_bits",
                  &FecLane::corrected_bits, fec);
  read_histogram(fec.counters, stats);
  return fec;
}

// --- statistics and pause frames

namespace {

/// A group of STATS_GET: its number, the string set with its names, our prefix.
struct StatGroup {
  std::uint32_t id;
  std::uint32_t string_set;
  std::string_view prefix;
};
// Not the group "phydev" (6.14, for a copper PHY behind phylib, which no RDMA NIC has): an older
// kernel refuses the whole request if it contains an unknown group.
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

/// A bucket of a packet size histogram, named as in ethtool; a driver's highest bucket may be
/// open-ended.
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

Result<EthtoolStatNames> read_stat_names(Host& host, EthtoolFamily family) {
  // String sets without a device are requested with an empty header, and not as a dump.
  auto request =
      NetlinkBuilder::generic(family.id, NLM_F_ACK, ETHTOOL_MSG_STRSET_GET, ETHTOOL_GENL_VERSION);
  request.open_nest(ETHTOOL_A_STRSET_HEADER).close_nest().open_nest(ETHTOOL_A_STRSET_STRINGSETS);
  for (const StatGroup& group : kGroups)
    request.open_nest(ETHTOOL_A_STRINGSETS_STRINGSET)
        .put_u32(ETHTOOL_A_STRINGSET_ID, group.string_set)
        .close_nest();
  const auto answer = request_genl(host, request.close_nest(), ETHTOOL_MSG_STRSET_GET_REPLY);
  if (!answer) return answer.error();
  EthtoolStatNames names;
  for (const NetlinkAttribute& one : answer->attributes.nested(ETHTOOL_A_STRSET_STRINGSETS)) {
    const NetlinkAttributes set(one.payload);
    if (const auto id = set[ETHTOOL_A_STRINGSET_ID].u32()) names[*id] = strings_of(set);
  }
  return names;
}

Result<Counters> read_stats(Host& host, EthtoolFamily family, std::uint32_t ifindex,
                            const EthtoolStatNames& names) {
  constexpr std::uint32_t kAllGroups = (1U << kGroups.size()) - 1;
  auto request = device_request(family, ETHTOOL_MSG_STATS_GET, ETHTOOL_A_STATS_HEADER, ifindex);
  request.open_nest(ETHTOOL_A_STATS_GROUPS)
      .put_flag(ETHTOOL_A_BITSET_NOMASK)
      .put_u32(ETHTOOL_A_BITSET_SIZE, static_cast<std::uint32_t>(kGroups.size()))
      .put_u32(ETHTOOL_A_BITSET_VALUE, kAllGroups)
      .close_nest();
  const auto answer = request_genl(host, request, ETHTOOL_MSG_STATS_GET_REPLY);
  if (!answer) return answer.error();
  Counters counters;
  for (const NetlinkAttribute& attribute : answer->attributes)
    if (attribute.type == ETHTOOL_A_STATS_GRP) add_group(counters, names, attribute.payload);
  return counters;
}

Result<Counters> read_pause(Host& host, EthtoolFamily family, std::uint32_t ifindex) {
  const auto answer =
      request_genl(host,
                   device_request(family, ETHTOOL_MSG_PAUSE_GET, ETHTOOL_A_PAUSE_HEADER, ifindex,
                                  ETHTOOL_FLAG_STATS),
                   ETHTOOL_MSG_PAUSE_GET_REPLY);
  if (!answer) return answer.error();
  const NetlinkAttributes stats = answer->attributes.nested(ETHTOOL_A_PAUSE_STATS);
  Counters counters;
  for (const PauseCounter& row : kPauseCounters)
    if (const auto value = stats[row.attribute].u64()) counters.set(row.counter, *value);
  return counters;
}

// --- module memory

namespace {

/// Drivers' messages for an empty cage if the errno does not show it (linux: bnxt_ethtool.c
/// bnxt_get_module_status(), mlxsw/core_env.c, and mlx5 en_ethtool.c since 6.19 with the status of
/// the register MCIA: 3, not connected).
bool means_empty_cage(std::string_view words) {
  return words.ends_with("module not inserted") ||
         words.ends_with("No module present indication") ||
         (words.find("Query module eeprom") != std::string_view::npos &&
          words.ends_with(", status 3"));
}

}  // namespace

Result<std::vector<std::uint8_t>> read_module(Host& host, EthtoolFamily family,
                                              std::uint32_t ifindex,
                                              const ModulePageRequest& page) {
  constexpr std::size_t kHalfPageBytes = 128;
  auto request = device_request(family, ETHTOOL_MSG_MODULE_EEPROM_GET,
                                ETHTOOL_A_MODULE_EEPROM_HEADER, ifindex);
  request.put_u32(ETHTOOL_A_MODULE_EEPROM_OFFSET, page.offset)
      .put_u32(ETHTOOL_A_MODULE_EEPROM_LENGTH, page.length)
      .put_u8(ETHTOOL_A_MODULE_EEPROM_PAGE, page.page)
      .put_u8(ETHTOOL_A_MODULE_EEPROM_BANK, page.bank)
      .put_u8(ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS, page.i2c_address);
  const auto answer = request_genl(host, request, ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY);
  if (answer) {
    // Without data: the driver read nothing and reported success.
    const ByteView data = answer->attributes[ETHTOOL_A_MODULE_EEPROM_DATA].payload;
    if (data.size() > kHalfPageBytes) return bad_message("more module bytes than a half page");
    const auto* first = reinterpret_cast<const std::uint8_t*>(data.data());
    return std::vector<std::uint8_t>(first, first + data.size());
  }
  Error error = answer.error();
  // No module; or no device: ethtool itself refuses a device that its driver has detached, as
  // during error recovery (linux: net/ethtool/netlink.c ethnl_ops_begin()).
  bool statistics = false;
  if (error.errnum == ENODEV)
    if (const auto state = read_linkstate(host, family, ifindex, statistics);
        !state && state.error().errnum == ENODEV)
      return Error{"the driver has detached its network device", ESHUTDOWN};
  if (means_empty_cage(trim(error.kernel_words))) error.errnum = ENODEV;
  return error;
}

}  // namespace linkhealth
