// All reads of one port that may block: verbs files, firmware counters, and netlink requests that
// the kernel answers under its RTNL lock, which a slow module read of any process holds for
// seconds. Runs on a thread of BlockingReadPool. Each reader has its own Host, so that a read that
// hangs delays no other port.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/snapshot.h"
#include "probes/host.h"
#include "probes/netlink/ethtool.h"
#include "probes/netlink/ethtool_driver_stats.h"
#include "probes/sysfs/ib_sysfs.h"
#include "probes/sysfs/inventory.h"
#include "probes/sysfs/netdev_sysfs.h"
#include "probes/sysfs/pcie.h"

namespace linkhealth {

/// The reads of a port that are made together.
enum class ReadGroup : std::uint8_t {
  kDevice,  ///< verbs counters, PCIe: files and MADs
  /// Verbs state, speed, lanes, FEC, down reason, ethtool statistics, the driver's own statistics:
  /// under the RTNL lock if the port has a netdev.
  kKernel,
};
/// The source that represents the group: in timings, and if one of its reads hangs.
SourceId source_of(ReadGroup group);

struct Reading {
  PortSample sample;      ///< only the group's part of `link`
  SourceReports sources;  ///< all of this reader's, for both groups
  bool gone = false;      ///< the device no longer exists: start a discovery
};

void merge_counters(PortSample& sample, const Counters& counters);
/// Why a read failed, as the reason of its source.
std::string reason_of(const Error& error);

class PortReader {
 public:
  PortReader(std::unique_ptr<Host> host, InventoryPort port);

  /// REQUIRES: one call at a time.
  Reading read(ReadGroup group, SteadyTime now);

 private:
  /// A source that fails is read less and less often.
  struct Retry {
    SteadyTime at;
    int failures = 0;
  };

  /// Reads the source, unless it failed recently, and stores its state.
  template <typename Read>
  void read_source(SourceId source, Read read);
  /// Stores the state of the sources that are read from files.
  void note_files(std::initializer_list<SourceId> sources, const std::vector<Gap>& gaps,
                  const PortSample& sample);
  IbPortReader* verbs();
  const EthtoolFamily* ethtool();
  void read_counters(Reading& reading);
  void read_kernel(Reading& reading);
  void read_interface(Reading& reading);
  void read_link_settings(const EthtoolFamily& family, Reading& reading);
  void read_statistics(const EthtoolFamily& family, Reading& reading);
  void read_driver(Reading& reading);
  void read_link_files(Reading& reading);
  [[nodiscard]] std::uint32_t ifindex() const { return static_cast<std::uint32_t>(port_.ifindex); }

  std::unique_ptr<Host> host_;
  InventoryPort port_;
  SteadyTime now_;
  SourceReports sources_;
  std::map<SourceId, Retry> retries_;
  std::optional<IbPortReader> verbs_;
  std::optional<NetdevReader> netdev_files_;  ///< used without ethtool netlink
  std::optional<EthtoolFamily> family_;
  bool no_ethtool_ = false;      ///< a copy of /sys has no kernel
  bool link_statistics_ = true;  ///< until the kernel refuses them
  EthtoolStatNames statistic_names_;
  DriverStatisticsReader driver_statistics_;
  std::optional<std::uint32_t> lanes_;  ///< of the link, as last read
  bool driver_lanes_ = false;           ///< fec_lanes come from the driver's own statistics
  bool kernel_fec_lanes_ = false;       ///< the kernel itself counts the lanes' corrected bits
};

}  // namespace linkhealth
