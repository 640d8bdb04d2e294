// The table of what each symptom gave for a fault.
#pragma once

#include <string>
#include <vector>

#include "exporters/text.h"

namespace linkhealth {

/// Empty where nothing was weighed.
std::vector<std::string> share_lines(const FaultReport& fault, const TextStyle& style);

}  // namespace linkhealth
