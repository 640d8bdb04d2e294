// A driver's own statistics (`ethtool -S`): those in the counter table, which are physical
// evidence.
//
// Netlink offers the names but not the values, so this uses the SIOCETHTOOL ioctl (linux:
// net/ethtool/ioctl.c, ethtool_get_sset_info, ethtool_get_strings, ethtool_get_stats). It runs
// under the kernel's RTNL lock, and the driver collects all its statistics for it, some by firmware
// commands: read it rarely.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/counters.h"
#include "probes/host.h"

namespace linkhealth {

struct DriverStatistics {
  Counters counters;  ///< under the driver's own names; only rows of source kEthtoolDriver
  /// Bits that FEC corrected, lane 1 first (mlx5 `rx_err_lane_N_phy`, which is
  /// phy_corrected_bits_laneN of PPCNT; linux: drivers/net/ethernet/mellanox/mlx5/core/en_stats.c).
  /// Empty if the driver does not report it.
  std::vector<std::uint64_t> lane_corrected_bits;
};

/// Reads one netdev's statistics. Names are read once, and again when their number changes. A
/// driver that is reloaded registers a new netdev, which gets a new reader.
class DriverStatisticsReader {
 public:
  /// EOPNOTSUPP: the driver has none. EAGAIN: their number changed during the read, try again
  /// later.
  Result<DriverStatistics> read(Host& host, const std::string& netdev);

 private:
  Result<void> read_names(Host& host, const std::string& netdev, std::uint32_t count);

  std::uint32_t count_ = 0;  ///< number of names known; 0: none yet
  /// Index among the driver's statistics, and the counter.
  std::vector<std::pair<std::uint32_t, CounterId>> wanted_;
};

}  // namespace linkhealth
