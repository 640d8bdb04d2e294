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
  std::vector<Gap> gaps;   ///< reads that failed now
  std::vector<Gap> ended;  ///< sources that answer again; no reason
};

class OldGapConverter {
 public:
  /// Fills in the sources of the snapshot and of its ports, where they change. REQUIRES: each
  /// snapshot of the recording, in its order.
  void convert(const OldGaps& old, Snapshot& snapshot);

 private:
  struct Standing {
    std::string reason;
    bool part = false;     ///< the rest of what the source reads came
    bool of_node = false;  ///< of what is read for all ports at once
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

  bool any_ = false;  ///< a gap was seen: it is an old recording
  std::map<PortKey, Port> ports_;
  SourceTracker node_;
};

}  // namespace linkhealth
