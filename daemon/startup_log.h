// What the daemon logs at its start: which ports it watches, and which it exempts and why. Also
// what earlier runs knew about the node's ports.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "daemon/sampling/port_inventory_diff.h"
#include "model/history/reference_state.h"
#include "model/report.h"
#include "model/snapshot.h"
#include "probes/sysfs/inventory.h"

namespace linkhealth {

/// Lines for people.
std::vector<std::string> introduce_node(const std::vector<InventoryPort>& ports,
                                        const SourceMap& node_sources);
std::vector<std::string> introduce_recording(const std::string& file, double speed,
                                             const Report& report);

/// Ports of an earlier run that count as lost if they are not found: those that had a link, on a
/// card that would be recognised at another address. `now` may be earlier than when they were seen.
std::vector<RememberedPort> ports_to_miss(const ReferenceState& known, WallTime now);
/// The serials of the modules that an earlier run read, by the stable key of the port.
std::map<std::string, std::string> modules_before(const ReferenceState& known);

/// `step` with the last known value of every group and the state of every source: the first
/// snapshot of a recording that begins while the daemon runs.
Snapshot with_all_groups(const Snapshot& step, const Report& report);

}  // namespace linkhealth
