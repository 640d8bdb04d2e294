// What was tried on a fault, how far the repair has proved itself, and how often it was like this before, in words.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/report.h"

namespace linkhealth {

/// Rows of label and text for `explain`: "Tried", "Proving", "Before". Empty when there is nothing to say.
std::vector<std::pair<std::string, std::string>> repair_rows(const FaultReport& fault, WallTime now);

/// "fibre reseated: Rx lane 2 -9.1 to -1.3 dBm; it held"
std::string repair_words(const RepairRecord& repair);

}  // namespace linkhealth
