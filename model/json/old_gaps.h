// Old recordings report failed reads as events, `gaps` and `gaps_ended`. This converts them to
// states of sources.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/snapshot.h"

namespace linkhealth {

/// Of one snapshot.
struct OldGaps {
  std::vector<Gap> gaps;   ///< reads that failed in this snapshot
  std::vector<Gap> ended;  ///< sources that work again; no reason
};

class OldGapConverter {
 public:
  /// Fills in the sources of the snapshot and its ports wherever they change. REQUIRES: called for
  /// each snapshot of the recording, in order.
  void convert(const OldGaps& old, Snapshot& snapshot);

 private:
  struct Standing {
    std::string reason;
    bool part = false;     ///< the rest of what the source reads arrived
    bool of_node = false;  ///< from a read for all ports at once
    SteadyTime since, last;
  };
  struct Port {
    std::map<SourceId, Standing> gaps;
    SourceTracker tracker;
  };
  static void end_by_values(Port& port, const OldGaps& old, const PortKey& key,
                            const PortSample& sample);
  static void add(Port& port, SourceId source, const Gap& gap, const PortSample& sample,
                  SteadyTime now);
  [[nodiscard]] static SourceReports reports(const Port& port);

  bool any_ = false;  ///< a gap was seen: this is an old recording
  std::map<PortKey, Port> ports_;
  SourceTracker node_;
};

}  // namespace linkhealth
