// Everything of one port that a read may block on: verbs files, firmware counters, and what the
// kernel answers only under its RTNL lock, which a slow module read of anybody holds for seconds.
// So none of this runs on the deciding thread: the read worker calls it. Each reader has a Host of
// its own, so that a read that hangs hinders no other port.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/snapshot.h"
#include "probes/ethtool_driver_stats.h"
#include "probes/ethtool_family.h"
#include "probes/ethtool_stats.h"
#include "probes/host.h"
#include "probes/ib_sysfs.h"
#include "probes/inventory.h"
#include "probes/netdev_sysfs.h"
#include "probes/own_counters.h"
#include "probes/pcie.h"

namespace linkhealth {

/// What is read together of a port.
enum class ReadGroup : std::uint8_t {
  kDevice,  ///< verbs counters, PCIe: files and MADs
  kKernel,  ///< verbs state, speed, lanes, FEC, down reason, ethtool statistics, the driver's own
            ///< statistics: under the RTNL lock where the port has a netdev
};
/// The word of a group in timings, and in the gap of a read of it that hangs.
std::string_view to_string(ReadGroup group);

/// What a read of a port gave. A group that could not be read is absent and has a gap.
struct Reading {
  PortSample sample;  ///< `link` holds only what this group knows of it
  std::vector<Gap> gaps;
  std::vector<Gap> gaps_ended;  ///< see Snapshot
  bool gone = false;            ///< the device is not there any more: search again
};

void merge_counters(PortSample& sample, const Counters& counters);
/// Of a failed read, as the reason of its gap.
std::string reason_of(const Error& error);

class PortReader {
 public:
  /// `mads`: how an InfiniBand port's counters are requested all at once; empty, or while it fails:
  /// its files are read.
  PortReader(std::unique_ptr<Host> host, InventoryPort port, MadOpener mads = {});

  [[nodiscard]] const InventoryPort& port() const { return port_; }
  /// REQUIRES: one call at a time.
  Reading read(ReadGroup group, SteadyTime now);

 private:
  /// The sources that are asked less and less often while they fail.
  enum Source : std::uint8_t {
    kEthtool,
    kLinkModes,
    kLinkState,
    kFec,
    kStandardStatistics,
    kPause,
    kOwnCounters,
    kDriverStatistics,
    kSourceCount
  };
  struct Retry {
    SteadyTime at;
    int failures = 0;
    /// Said by this reader, or for all it knows by the one before it, of the device before a reset.
    bool gap_may_stand = true;
  };

  /// Asks `source` unless it failed lately; a failure is a gap of `probe`, which the next success
  /// ends. True when `read` succeeded.
  template <typename Read>
  bool ask(Source source, std::string_view probe, std::vector<Gap>& gaps, Read read);
  /// Why it failed.
  template <typename Read>
  std::optional<Error> attempt(Retry& retry, Read read);
  IbPortReader* verbs(std::vector<Gap>& gaps);
  const EthtoolFamily* ethtool(std::vector<Gap>& gaps);
  void read_counters(Reading& reading);
  bool read_own_counters(Reading& reading);
  void end_gap_of_what_is_not_offered(std::string_view probe, bool offered, bool& told);
  void read_kernel(Reading& reading);
  void read_interface(Reading& reading);
  void read_link_settings(const EthtoolFamily& family, Reading& reading);
  void read_statistics(const EthtoolFamily& family, Reading& reading);
  void read_driver(Reading& reading);
  void read_link_files(Reading& reading);
  [[nodiscard]] std::uint32_t ifindex() const { return static_cast<std::uint32_t>(port_.ifindex); }

  std::unique_ptr<Host> host_;
  InventoryPort port_;
  PortKey key_;
  SteadyTime now_;
  std::array<Retry, kSourceCount> retries_{};
  std::vector<Gap> gaps_ended_;
  bool no_counters_told_ = false, no_hw_counters_told_ = false;
  OwnCounters own_counters_;
  std::optional<IbPortReader> verbs_;
  std::optional<NetdevReader> netdev_files_;  ///< where there is no ethtool netlink
  PcieReader pcie_;
  std::optional<EthtoolFamily> family_;
  bool no_ethtool_ = false;      ///< a copy of /sys has no kernel behind it
  bool link_statistics_ = true;  ///< until the kernel refuses them
  EthtoolStatNames statistic_names_;
  DriverStatisticsReader driver_statistics_;
  std::optional<std::uint32_t> lanes_;  ///< of the link, as last read
  bool driver_lanes_ = false;           ///< fec_lanes come from the driver's own statistics
  bool kernel_fec_lanes_ = false;       ///< the kernel itself counts the lanes' corrected bits
};

}  // namespace linkhealth
