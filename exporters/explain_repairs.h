// What was tried on a fault, how far the repair has proved itself, and how often it was like this
// before, in words.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/report.h"

namespace linkhealth {

/// Rows of label and text for `explain`: "Tried", "Proving", "Before". Empty when there is nothing
/// to say.
std::vector<std::pair<std::string, std::string>> repair_rows(const FaultReport& fault,
                                                             WallTime now);

/// "fibre reseated: Rx lane 2 -9.1 to -1.3 dBm; it held"
std::string repair_words(const RepairRecord& repair);
/// "acknowledged by ann 12 min ago, until 2026-11-20 14:00:00Z: spare ordered"
std::string acknowledged_words(const Acknowledgement& acknowledged, WallTime now);
/// "begun by ann, until 2026-11-20 14:00:00Z: new jumper"
std::string maintenance_begun_words(const Maintenance& maintenance);
/// "in maintenance by ann since 12 min ago, until …: nothing is raised for this port: new jumper"
std::string maintenance_words(const Maintenance& maintenance, WallTime now);

}  // namespace linkhealth
