// One transceiver module as a person wants to read it: who it is, how warm, and its lanes as bars
// between the module's own limits, in dBm.
#pragma once

#include <string>

#include "exporters/text_style.h"
#include "model/snapshot.h"

namespace linkhealth {

/// Many lines, each ended by a newline and at most `style.width_columns` wide (at least 60). Power
/// in dBm; a lane without light says so instead of a number. What is beyond a limit has a sign and
/// a word beside it, never only a colour.
std::string module_text(const ModuleSample& module, const TextStyle& style);

}  // namespace linkhealth
