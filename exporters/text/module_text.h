// One transceiver module for people: identity, temperature, and its lanes as bars between the
// module's own limits, in dBm.
#pragma once

#include <string>

#include "exporters/text/text_style.h"
#include "model/snapshot.h"

namespace linkhealth {

/// Lines are wrapped to `style.width_columns`. Power in dBm, or "no light". A value beyond a limit
/// is marked by a sign and a word, never by colour alone.
std::string module_text(const ModuleSample& module, const TextStyle& style);

}  // namespace linkhealth
