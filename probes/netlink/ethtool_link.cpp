#include "probes/netlink/ethtool_link.h"

#include <linux/ethtool_netlink.h>
#include <linux/netlink.h>

#include <cerrno>
#include <span>
#include <string>
#include <string_view>

namespace linkhealth {
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

struct ReasonWords {
  std::string_view state;
  std::span<const std::string_view> substates;  ///< of substate 1, 2, …
};

/// In the order of enum ethtool_link_ext_state.
constexpr ReasonWords kReasons[] = {
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
    {"OTP speed violation",
     {}},  // this and the next one since Linux 7.0 (include/uapi/linux/ethtool.h)
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

Result<EthtoolLinkState> parse_linkstate(ByteView message) {
  const auto answer = parse_genl_message(message, ETHTOOL_MSG_LINKSTATE_GET_REPLY);
  if (!answer) return answer.error();
  const NetlinkAttributes& attributes = *answer;
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

Result<EthtoolLinkState> read_linkstate(Host& host, EthtoolFamily family, std::uint32_t ifindex,
                                        bool& statistics) {
  const auto request = [&](std::uint32_t flags) {
    return request_ethtool(host,
                           ethtool_request(family, ETHTOOL_MSG_LINKSTATE_GET,
                                           ETHTOOL_A_LINKSTATE_HEADER, ifindex, flags),
                           &parse_linkstate);
  };
  if (!statistics) return request(0);
  auto state = request(ETHTOOL_FLAG_STATS);
  if (state || state.error().errnum != EINVAL) return state;
  state = request(0);
  statistics = !state;
  return state;
}

Result<EthtoolLinkModes> parse_linkmodes(ByteView message) {
  const auto answer = parse_genl_message(message, ETHTOOL_MSG_LINKMODES_GET_REPLY);
  if (!answer) return answer.error();
  EthtoolLinkModes modes;
  const auto speed = (*answer)[ETHTOOL_A_LINKMODES_SPEED].u32();
  if (speed && *speed != 0 && *speed != static_cast<std::uint32_t>(SPEED_UNKNOWN))
    modes.speed_mbps = speed;
  const auto lanes = (*answer)[ETHTOOL_A_LINKMODES_LANES].u32();
  if (lanes && *lanes != 0) modes.lanes = lanes;
  if (const auto autoneg = (*answer)[ETHTOOL_A_LINKMODES_AUTONEG].u8())
    modes.autoneg = *autoneg == AUTONEG_ENABLE;
  return modes;
}

Result<EthtoolLinkModes> read_linkmodes(Host& host, EthtoolFamily family, std::uint32_t ifindex) {
  // Bit sets as words instead of names: we do not read them.
  return request_ethtool(
      host,
      ethtool_request(family, ETHTOOL_MSG_LINKMODES_GET, ETHTOOL_A_LINKMODES_HEADER, ifindex,
                      ETHTOOL_FLAG_COMPACT_BITSETS),
      &parse_linkmodes);
}

}  // namespace linkhealth
