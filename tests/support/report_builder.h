// Reports for the tests of exporters: the node in the documentation, with a healthy, a degraded, a
// down and an exempt port.
#pragma once

#include "model/report.h"

namespace linkhealth::test {

/// 2026-11-20T12:00:00Z, and the steady time of the same instant.
WallTime example_now();
SteadyTime example_t();

/// A port with its identity, up at 400 Gb/s, with good light on four lanes and no fault.
PortReport healthy_port(const std::string& device, const std::string& netdev,
                        const std::string& pci);
/// mlx5_3/1: a dirty connector on lane 2, with evidence for, against, and missing.
PortReport dirty_port();
/// mlx5_7/1: the far port is down; no light.
PortReport down_port();
/// mlx5_8/1: not cabled according to the plan.
PortReport exempt_port();
/// mlx5_9/1: no source is readable, with the reasons.
PortReport blind_port();
/// A port with rare measurements: a coherent module's VDM, FEC by lane, a PHY's signal quality, the
/// slot.
PortReport measured_port();

/// gpu-0417 with all of the above.
Report example_report();
FaultEvent example_event(FaultEventKind kind);

}  // namespace linkhealth::test
