// A node of one port, as the doctor's tests have it.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "daemon/doctor.h"

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

inline const SourceSight& source(const DoctorReport& doctor, std::string_view probe) {
  for (const auto* list : {&doctor.node_sources, &doctor.ports.at(0).sources})
    for (const SourceSight& each : *list)
      if (each.probe == probe) return each;
  ADD_FAILURE() << "no source " << probe;
  return doctor.node_sources.at(0);
}

}  // namespace linkhealth::testing
