// Takes away from a recording what another driver, another cadence or an operator without a plan
// would not have given. The diagnosis must stay right or fall back honestly: to a name that cannot
// be told from the truth, or to nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/snapshot.h"

namespace linkhealth::sim {

enum class Degrade : std::uint8_t {
  kNothing,
  kNoExpected,      ///< nobody wrote a plan
  kThin,            ///< every third snapshot
  kNoPeer,          ///< nothing of the far end
  kNoLanes,         ///< no errors per lane
  kNoBits,          ///< corrected blocks only
  kNoDownReason,    ///< the driver gives no reason
  kNoModule,        ///< no module readings at all
  kSlowModule,      ///< the module is read every five minutes
  kNoThresholds,    ///< the module gives no limits
  kNoEvents,        ///< no events: everything must come from levels and counts
  kNoLog,           ///< no kernel log
  kNoUptime,        ///< the kernel's uptime is not known
  kNoCarrierCount,  ///< no carrier counts
  kNoPcie,          ///< no PCIe
  kNoTransport,     ///< no hw_counters
  kLateStart,       ///< the monitor starts half an hour before the fault, at most in the middle
  kHoles,           ///< every group fails now and then
  kSplitGroups,     ///< link, counters and module come in snapshots of their own
  kNoSerial,        ///< module identity is not readable
  kOwnPeriods,      ///< each counter at the shipped period of its source
};

struct DegradeInfo {
  Degrade kind;
  std::string_view name;
  std::string_view meaning;
};
std::span<const DegradeInfo> degrade_table();
std::optional<Degrade> parse_degrade(std::string_view name);

class Degrader {
 public:
  /// `keep_from_s`: where kLateStart begins.
  Degrader(Degrade kind, double keep_from_s) : kind_(kind), keep_from_s_(keep_from_s) {}
  void header(RecordingHeader& header) const;
  /// nullopt: this snapshot is left out; its events come with the next one.
  std::optional<Snapshot> apply(Snapshot snapshot);

 private:
  bool thin(Snapshot& snapshot);
  void strip(PortSample& port, const PortKey& key, SteadyTime now);
  void keep_due(PortSample& port, const PortKey& key, SteadyTime now);

  Degrade kind_;
  double keep_from_s_;
  std::uint64_t count_ = 0;
  Snapshot held_;  ///< what the next snapshot of a thinned recording brings along
  std::optional<SteadyTime> module_at_;
  std::map<std::pair<PortKey, std::string>, SteadyTime> counted_at_;
  bool module_due_ = false;
  std::map<PortKey, SourceMap> sources_, shown_sources_;
};

}  // namespace linkhealth::sim
