// ethtool netlink: the standard statistics groups (IEEE 802.3 clause 30, RMON) and pause frames, by
// the kernel's names.
//
// A driver's own statistics (`ethtool -S` without groups) are in ethtool_driver_stats.h: the kernel
// offers their values only by ioctl.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/counters.h"
#include "probes/netlink/ethtool_family.h"

namespace linkhealth {

/// Names of the statistics by string set (ETH_SS_STATS_*) and index. The same for all devices: read
/// them once.
using EthtoolStatNames = std::map<std::uint32_t, std::vector<std::string>>;

Result<EthtoolStatNames> parse_stat_names(ByteView message);
Result<EthtoolStatNames> read_stat_names(Host& host, EthtoolFamily family);

/// ETHTOOL_MSG_STATS_GET of eth-phy, eth-mac, eth-ctrl and rmon (net/ethtool/stats.c). Counters
/// `phy_ mac_ ctrl_ rmon_` with the kernel's names; the RMON histograms as
/// `rmon_rx_etherStatsPkts65to127Octets`. What the driver does not count is absent; a statistic
/// newer than `names` is left out.
Result<Counters> parse_stats(ByteView message, const EthtoolStatNames& names);
/// EOPNOTSUPP: the driver offers no group.
Result<Counters> read_stats(Host& host, EthtoolFamily family, std::uint32_t ifindex,
                            const EthtoolStatNames& names);

/// ETHTOOL_MSG_PAUSE_GET with statistics: pause_tx_pause_frames, pause_rx_pause_frames
/// (802.3 30.3.4.2 and 30.3.4.3) and, from kernels that have it, pause_tx_pause_storm_events
/// (linux: Documentation/netlink/specs/ethtool.yaml).
Result<Counters> parse_pause(ByteView message);
Result<Counters> read_pause(Host& host, EthtoolFamily family, std::uint32_t ifindex);

}  // namespace linkhealth
