// What the daemon says at its start: which ports it watches, which it leaves out and why, and what
// it can't see.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "daemon/sampling/port_search.h"
#include "model/history/reference_state.h"
#include "model/report.h"
#include "model/snapshot.h"
#include "probes/sysfs/inventory.h"

namespace linkhealth {

/// Lines for a person.
std::vector<std::string> introduce_node(const std::vector<InventoryPort>& ports,
                                        const SourceMap& node_sources);
std::vector<std::string> introduce_recording(const std::string& file, double speed,
                                             const Report& report);

/// Ports of an earlier run that can be missed: those that had a link, of a card that would be known
/// at another address. A clock that was set back since makes them no older.
std::vector<RememberedPort> ports_to_miss(const ReferenceState& known, WallTime now);
/// The serials of the modules that an earlier run read, by the stable key of the port.
std::map<std::string, std::string> modules_before(const ReferenceState& known);

/// What a snapshot has besides the groups. Small: one is kept of each step.
struct SnapshotFrame {
  SteadyTime taken_at;
  WallTime wall_time;
  std::optional<double> uptime_s;
  std::vector<std::pair<PortKey, PortId>> ports;  ///< that exist
};
SnapshotFrame frame_of(const Snapshot& snapshot);
/// The last known value of every group and the state of every source: the first line of a recording
/// that begins while the daemon runs.
Snapshot with_all_groups(const SnapshotFrame& frame, const Report& report);

}  // namespace linkhealth
