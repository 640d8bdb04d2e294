// ethtool netlink: link state with the kernel's reason for a link that is down, speed, FEC, the
// standard statistics, and reads of a module's memory. Layout:
// include/uapi/linux/ethtool_netlink.h, Documentation/networking/ethtool-netlink.rst.
//
// Every request is about one device. A dump over all devices ends at the first driver that fails,
// so one bad port would hide the others.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/counters.h"
#include "model/snapshot.h"
#include "probes/host.h"
#include "probes/module/image.h"

namespace linkhealth {

/// The message type of the generic netlink family "ethtool". Fixed while the kernel runs.
struct EthtoolFamily {
  std::uint16_t id = 0;
};
/// ENOENT: the kernel has no ethtool netlink (before 5.6, or built without it).
Result<EthtoolFamily> resolve_ethtool_family(Host& host);

/// ETHTOOL_MSG_LINKSTATE_GET (net/ethtool/linkstate.c).
struct EthtoolLinkState {
  std::optional<bool> link;  ///< according to the driver
  /// Signal quality index, if the PHY has one (copper T1 and BASE-T).
  std::optional<std::uint32_t> sqi, sqi_max;
  std::optional<DownReason> down_reason;  ///< only while the link is down and the driver knows
  std::optional<std::uint32_t> link_down_count;  ///< the PHY's own count (kernel 6.2 and later)
};
/// `statistics`: also request the link-down count (ETHTOOL_FLAG_STATS, linkstate_prepare_data()).
/// Set to false if the kernel refuses that (EINVAL before 6.2) but answers without it: keep it for
/// the next request.
Result<EthtoolLinkState> read_linkstate(Host& host, EthtoolFamily family, std::uint32_t ifindex,
                                        bool& statistics);

/// The state of a DownReason: ETHTOOL_LINK_EXT_STATE_NO_CABLE.
inline constexpr std::string_view kNoCable = "No cable";
/// ethtool's texts for ETHTOOL_LINK_EXT_STATE_* and ETHTOOL_LINK_EXT_SUBSTATE_* (substate 0: none
/// given). Codes that are newer than this program become "state 11" and "substate 7".
DownReason down_reason(std::uint8_t state, std::uint8_t substate);

/// ETHTOOL_MSG_LINKMODES_GET (net/ethtool/linkmodes.c). Most drivers report no speed while the link
/// is down.
struct EthtoolLinkModes {
  std::optional<std::uint32_t> speed_mbps;
  std::optional<std::uint32_t> lanes;  ///< only from drivers with cap_link_lanes_supported
  std::optional<bool> autoneg;         ///< enabled, not necessarily completed
};
/// EOPNOTSUPP: the driver has no link settings.
Result<EthtoolLinkModes> read_linkmodes(Host& host, EthtoolFamily family, std::uint32_t ifindex);

/// ETHTOOL_MSG_FEC_GET with ETHTOOL_FLAG_STATS (net/ethtool/fec.c).
struct EthtoolFec {
  std::string mode;  ///< in use, see fec_mode_name(); "" unknown, also while the link is down
  /// fec_corrected_blocks, fec_uncorrectable_blocks, fec_corrected_bits; absent: not offered. From
  /// newer kernels also fec_hist_LOWtoHIGH: codewords with that many symbol errors.
  Counters counters;
  std::vector<FecLane> lanes;  ///< empty if the driver only counts for the port as a whole
};
/// A link's speed and width, which determine the FEC code.
struct FecLink {
  std::optional<std::uint32_t> speed_mbps;
  std::optional<std::uint32_t> lanes;
};
/// "Off", "BaseR", "LLRS" and Reed-Solomon for the kernel's ETHTOOL_LINK_MODE_FEC_*_BIT. The kernel
/// knows only "RS": 25G lanes (NRZ) use RS(528,514) = "RS528", lanes of 50G and more (PAM4)
/// RS(544,514) = "RS544" (IEEE 802.3 clauses 91 and 134); "RS" if speed or lanes are unknown. ""
/// for bits of newer kernels.
std::string fec_mode_name(std::uint32_t link_mode_bit, const FecLink& link);
/// EOPNOTSUPP: the driver has no FEC interface.
Result<EthtoolFec> read_fec(Host& host, EthtoolFamily family, std::uint32_t ifindex,
                            const FecLink& link);

/// Names of the statistics by string set (ETH_SS_STATS_*) and index. The same for all devices: read
/// them once.
using EthtoolStatNames = std::map<std::uint32_t, std::vector<std::string>>;
Result<EthtoolStatNames> read_stat_names(Host& host, EthtoolFamily family);
/// ETHTOOL_MSG_STATS_GET for eth-phy, eth-mac, eth-ctrl and rmon (net/ethtool/stats.c; IEEE 802.3
/// clause 30). Counters `phy_ mac_ ctrl_ rmon_` with the kernel's names; the RMON histograms as
/// `rmon_rx_etherStatsPkts65to127Octets`. What the driver does not count is absent; a statistic
/// newer than `names` is skipped. EOPNOTSUPP: the driver offers no group.
Result<Counters> read_stats(Host& host, EthtoolFamily family, std::uint32_t ifindex,
                            const EthtoolStatNames& names);
/// ETHTOOL_MSG_PAUSE_GET with statistics: pause_tx_pause_frames, pause_rx_pause_frames
/// (802.3 30.3.4.2 and 30.3.4.3) and, from kernels that have it, pause_tx_pause_storm_events
/// (linux: Documentation/netlink/specs/ethtool.yaml).
Result<Counters> read_pause(Host& host, EthtoolFamily family, std::uint32_t ifindex);

/// ETHTOOL_MSG_MODULE_EEPROM_GET (net/ethtool/eeprom.c): often returns fewer bytes than requested,
/// even none. The read can take seconds and holds the kernel's RTNL lock: only the module reader's
/// own thread calls it. REQUIRES: is_valid(page). Errors by errnum: ENODEV or ENXIO no module,
/// ESHUTDOWN the device is detached or gone, EOPNOTSUPP no module interface, EINVAL no such page,
/// EIO, EBUSY, ETIMEDOUT bus trouble, EPERM without CAP_NET_ADMIN.
Result<std::vector<std::uint8_t>> read_module(Host& host, EthtoolFamily family,
                                              std::uint32_t ifindex, const ModulePageRequest& page);

}  // namespace linkhealth
