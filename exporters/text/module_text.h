// One transceiver module for people: identity, temperature, and its lanes as bars between the
// module's own limits, in dBm.
#pragma once

#include <string>

#include "exporters/text/text_style.h"
#include "model/snapshot.h"

namespace linkhealth {

/// Many lines, each ended by a newline; words are wrapped to `style.width_columns` (at least 60).
/// Power in dBm; a lane without light says so instead of a number. A value beyond a limit has a
/// sign and a word, never only a colour.
std::string module_text(const ModuleSample& module, const TextStyle& style);

}  // namespace linkhealth
