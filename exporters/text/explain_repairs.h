// Repairs, acknowledgements and maintenance in words, for explain, history and ticket.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/report.h"

namespace linkhealth {

/// Label and text: "Tried", "Verifying", "Earlier". Empty if there were none.
std::vector<std::pair<std::string, std::string>> repair_rows(const FaultReport& fault,
                                                             WallTime now);
/// "fibre reseated: Rx lane 2 -9.1 to -1.3 dBm; held"
std::string format_repair(const RepairRecord& repair);
/// "by ann 12 min ago, until 2026-11-20 14:00:00Z: spare ordered"
std::string format_acknowledged(const Acknowledgement& acknowledged, WallTime now);
/// "started by ann, until 2026-11-20 14:00:00Z: new jumper"
std::string format_maintenance_begun(const Maintenance& maintenance);
/// "by ann since 12 min, until 2026-11-20 14:00:00Z: new jumper. No fault is raised meanwhile."
std::string format_maintenance(const Maintenance& maintenance, WallTime now);

}  // namespace linkhealth
