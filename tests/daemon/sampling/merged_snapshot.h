// What several snapshots say together, as a report does it.
#pragma once

#include <utility>
#include <vector>

#include "model/snapshot.h"

namespace linkhealth::testing {

/// The latest of each group of each port and of the sources, and all events.
inline void merge_snapshot(const Snapshot& snapshot, Snapshot& all) {
  for (const auto& [key, sample] : snapshot.ports) {
    PortSample& port = all.ports[key];
    port.id = sample.id;
    if (sample.link) port.link = sample.link;
    if (sample.pcie) port.pcie = sample.pcie;
    if (sample.sources) port.sources = sample.sources;
    if (!sample.counters) continue;
    if (!port.counters) port.counters.emplace();
    port.counters->merge(*sample.counters);
  }
  all.events.insert(all.events.end(), snapshot.events.begin(), snapshot.events.end());
  if (snapshot.sources) all.sources = snapshot.sources;
}

/// What sources give a reason for, of the node and of all ports.
inline std::vector<Gap> all_gaps(const Snapshot& snapshot) {
  std::vector<Gap> all;
  const auto add = [&all](const PortKey& port, const std::optional<SourceMap>& sources) {
    for (Gap& gap : gaps_of(port, sources.value_or(SourceMap()))) all.push_back(std::move(gap));
  };
  add("", snapshot.sources);
  for (const auto& [key, port] : snapshot.ports) add(key, port.sources);
  return all;
}

}  // namespace linkhealth::testing
