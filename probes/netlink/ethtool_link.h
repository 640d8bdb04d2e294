// ethtool netlink: link state with the kernel's reason for a link that is down, speed, lanes,
// autonegotiation.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/snapshot.h"
#include "probes/netlink/ethtool_family.h"

namespace linkhealth {

/// ETHTOOL_MSG_LINKSTATE_GET (net/ethtool/linkstate.c).
struct EthtoolLinkState {
  std::optional<bool> link;  ///< as the driver sees it
  std::optional<std::uint32_t> sqi,
      sqi_max;  ///< signal quality index, where a PHY has one (copper T1 and BASE-T)
  std::optional<DownReason> down_reason;  ///< only while the link is down and the driver knows
  std::optional<std::uint32_t>
      link_down_count;  ///< the PHY's own count of link losses (kernel 6.2 and later)
};

Result<EthtoolLinkState> parse_linkstate(ByteView message);
/// `statistics`: request the count of losses too (ETHTOOL_FLAG_STATS, linkstate_prepare_data()).
/// Becomes false where the kernel refuses that (EINVAL before 6.2) and answers without: keep it for
/// the next request.
Result<EthtoolLinkState> read_linkstate(Host& host, EthtoolFamily family, std::uint32_t ifindex,
                                        bool& statistics);

/// The state of a DownReason: ETHTOOL_LINK_EXT_STATE_NO_CABLE.
inline constexpr std::string_view kNoCable = "No cable";

/// ethtool's words for ETHTOOL_LINK_EXT_STATE_* and ETHTOOL_LINK_EXT_SUBSTATE_* (substate 0: none
/// given). Codes that are newer than this program are "state 11" and "substate 7".
DownReason down_reason(std::uint8_t state, std::uint8_t substate);

/// ETHTOOL_MSG_LINKMODES_GET (net/ethtool/linkmodes.c). Most drivers know no speed while the link
/// is down.
struct EthtoolLinkModes {
  std::optional<std::uint32_t> speed_mbps;
  std::optional<std::uint32_t> lanes;  ///< only from drivers with cap_link_lanes_supported
  std::optional<bool> autoneg;         ///< switched on, not necessarily done
};

Result<EthtoolLinkModes> parse_linkmodes(ByteView message);
/// EOPNOTSUPP: the driver has no link settings.
Result<EthtoolLinkModes> read_linkmodes(Host& host, EthtoolFamily family, std::uint32_t ifindex);

}  // namespace linkhealth
