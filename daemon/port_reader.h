// Everything of one port that a read may block on: verbs files, firmware counters, and what the
// kernel answers only under its RTNL lock, which a slow module read of anybody holds for seconds.
// So none of this runs on the deciding thread: the read worker calls it. Each reader has a Host of
// its own, so that a read that hangs hinders no other port.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/snapshot.h"
#include "probes/devlink_health.h"
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

/// What is read together.
enum class ReadGroup : std::uint8_t {
  kCounters,  ///< verbs port counters and hw_counters
  kKernel,    ///< verbs state, speed, lanes, FEC, down reason, ethtool statistics: under RTNL where
              ///< it is a netdev's
  kPcie,      ///< PCIe link and errors
  kDriver,    ///< the driver's own statistics (ethtool -S): under RTNL, and dear
  kHealth,  ///< devlink health reporters of all devices in one request (of the node, not of a port)
  kStatistics,  ///< netdev statistics of all ports in one request (of the node, not of a port)
  kInventory,   ///< which ports there are (of the node): one of its files waits for RTNL
};

/// What a read of the node gave.
struct NodeReading {
  std::map<std::uint32_t, Counters> statistics;  ///< of kStatistics, by ifindex
  std::optional<Inventory> inventory;            ///< of kInventory
  std::vector<HealthReporter> health;            ///< of kHealth
};

/// What a read gave. A group that could not be read is absent and has a gap.
struct Reading {
  PortKey port;
  ReadGroup group = ReadGroup::kCounters;
  std::uint64_t reader = 0;         ///< PortReader::number() of who read it
  PortSample sample;                ///< `link` holds only what this group knows of it
  std::optional<NodeReading> node;  ///< none: of a port
  std::vector<Gap> gaps;
  std::vector<Gap> gaps_ended;  ///< see Snapshot
  bool gone = false;            ///< the device is not there any more: search anew
  double duration_s = 0;
  std::uint64_t firmware_reads = 0;  ///< of this read: see ProbeTiming
};

class PortReader {
 public:
  /// `firmware_reads`: at most so many files of counters/ with each read of kCounters after the
  /// first; 0: all due. `mads`: how an InfiniBand port's counters are asked of it all at once;
  /// empty, or while it fails: its files. `number`: of all readers there were; another device under
  /// this name has another one.
  PortReader(std::unique_ptr<Host> host, InventoryPort port, std::size_t firmware_reads = 0,
             MadOpener mads = {}, std::uint64_t number = 0);

  [[nodiscard]] const InventoryPort& port() const { return port_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// Where no interface is seen, nothing of kKernel waits for RTNL: a read of kCounters gives it
  /// too.
  [[nodiscard]] bool reads_all_at_once() const { return port_.ifindex == 0; }
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
    kRdmaDevices,
    kRdmaCounters,
    kRdmaState,
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
  /// The same of a source whose values files have, too: those say when they can't be read either.
  template <typename Read>
  bool ask_before_files(Source source, Read read);
  /// Why it failed.
  template <typename Read>
  std::optional<Error> attempt(Retry& retry, Read read);
  IbPortReader* verbs(std::vector<Gap>& gaps);
  const EthtoolFamily* ethtool(std::vector<Gap>& gaps);
  /// `state`: see IbPortReader::read_due(); left as it is where netlink gives the state.
  void read_counters(Reading& reading, StateReads& state);
  bool read_own_counters(Reading& reading);
  void end_gap_of_what_is_not_offered(std::string_view probe, bool offered, bool& told);
  std::optional<std::uint32_t> rdma_index();
  void read_hw_counters(IbPortReader& verbs, Reading& reading);
  static void read_device_counters(IbPortReader& verbs, Reading& reading);
  void read_kernel(Reading& reading, const StateReads& state);
  void read_interface(Reading& reading);
  void read_verbs_state(IbPortReader& verbs, Reading& reading, const StateReads& state);
  void read_link_settings(const EthtoolFamily& family, Reading& reading);
  void read_statistics(const EthtoolFamily& family, Reading& reading);
  void read_driver(Reading& reading);
  void read_link_files(Reading& reading);
  [[nodiscard]] std::uint32_t ifindex() const { return static_cast<std::uint32_t>(port_.ifindex); }

  // What each read looks at, side by side: after a second every cache line has to be fetched anew.
  std::unique_ptr<Host> host_;
  std::uint64_t number_;
  PortKey key_;
  std::size_t firmware_reads_ = 0;
  SteadyTime now_;
  std::vector<Gap> gaps_ended_;
  std::optional<std::uint32_t> rdma_index_;
  bool rdma_index_known_ = false;
  bool link_statistics_ = true;  // until the kernel refuses them
  bool no_ethtool_ = false;      // a copy of /sys has no kernel behind it
  bool no_counters_told_ = false, no_hw_counters_told_ = false;
  OwnCounters own_counters_;
  std::array<Retry, kSourceCount> retries_{};
  std::optional<IbPortReader> verbs_;
  InventoryPort port_;
  std::optional<NetdevReader> netdev_files_;  // where there is no netlink: a copied /sys tree
  std::optional<EthtoolFamily> family_;
  EthtoolStatNames statistic_names_;
  PcieReader pcie_;
  DriverStatisticsReader driver_statistics_;
  std::optional<std::uint32_t> lanes_;  // of the link, as last read
  bool driver_lanes_ = false;           // fec_lanes come from the driver's own statistics
  bool kernel_fec_lanes_ = false;       // the kernel itself counts the lanes' corrected bits
};

/// devlink's health reporters of all devices.
Reading read_health(Host& host, HealthReporters& reporters);

/// RTM_GETSTATS of all devices.
Reading read_statistics(Host& host);

}  // namespace linkhealth
