// What several snapshots say together, as a report does it.
#pragma once

#include "model/snapshot.h"

namespace linkhealth::testing {

/// The latest of each group of each port, and all events and gaps.
inline void merge_snapshot(const Snapshot& snapshot, Snapshot& all) {
  for (const auto& [key, sample] : snapshot.ports) {
    PortSample& port = all.ports[key];
    port.id = sample.id;
    if (sample.link) port.link = sample.link;
    if (sample.pcie) port.pcie = sample.pcie;
    if (!sample.counters) continue;
    if (!port.counters) port.counters.emplace();
    port.counters->merge(*sample.counters);
  }
  all.events.insert(all.events.end(), snapshot.events.begin(), snapshot.events.end());
  all.gaps.insert(all.gaps.end(), snapshot.gaps.begin(), snapshot.gaps.end());
}

}  // namespace linkhealth::testing
