// The light of a link as a person wants to see it: what is sent, what is lost, what arrives, and
// each lane as a bar between the module's own limits.
#pragma once

#include <string>
#include <vector>

#include "exporters/text_style.h"
#include "model/report.h"

namespace linkhealth {

/// The lines "Light" and "Lanes Rx" of `explain`. Empty where the module gives no received power
/// (copper, none, blind).
std::vector<std::string> light_lines(const PortReport& port, const TextStyle& style);

}  // namespace linkhealth
