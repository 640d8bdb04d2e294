// A node of one port, as the doctor's tests have it.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "daemon/selfcheck/doctor.h"

namespace linkhealth::testing {

inline Report one_port() {
  Report report;
  report.node = "node";
  PortReport port;
  port.port = "mlx5_0/1";
  PortId& id = port.latest.id;
  id.device = "mlx5_0";
  id.netdev = "ens1np0";
  id.pci = "0000:1b:00.0";
  id.driver = "mlx5_core";
  id.link_layer = "Ethernet";
  port.latest.link.emplace().carrier = true;
  port.latest.counters.emplace().set("symbol_error", 1);
  port.latest.pcie.emplace().width = 16;
  report.ports.push_back(port);
  return report;
}

/// The source of the port (of the node without one) has this reason.
inline void set_reason(SourceMap& sources, std::string_view source, const std::string& reason,
                       bool some_read = false) {
  const SourceId id = *find_source(source);
  const SourceReport report = problem_of(id, reason, some_read);
  sources[id] = {report.state, report.reason, {}, {}};
}
inline void set_reason(PortReport& port, std::string_view source, const std::string& reason) {
  if (!port.latest.sources) port.latest.sources.emplace();
  set_reason(*port.latest.sources, source, reason);
}
/// A read of it hangs, and what else its reader reads is stopped.
inline void hang(SourceMap& sources, std::string_view source, const std::string& reason) {
  SourceTracker tracker;
  tracker.update({{*find_source(source), {SourceState::kHung, reason}}}, {});
  sources = tracker.sources();
}

inline const SourceSight& source(const DoctorReport& doctor, std::string_view probe) {
  for (const auto* list : {&doctor.node_sources, &doctor.ports.at(0).sources})
    for (const SourceSight& each : *list)
      if (each.probe == probe) return each;
  ADD_FAILURE() << "no source " << probe;
  return doctor.node_sources.at(0);
}

}  // namespace linkhealth::testing
