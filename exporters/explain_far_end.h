// Who says what is at the far end, and how long ago: one line of `explain`.
#pragma once

#include <string>

#include "model/report.h"

namespace linkhealth {

/// "leaf-12 Ethernet17/1, says LLDP, 12 s ago · its link and counters: telemetry, 2 s ago"; ""
/// where no source is named.
std::string far_end_words(const PortReport& port);

}  // namespace linkhealth
