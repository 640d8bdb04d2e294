// What module_text() says of a module's latched flags.
#pragma once

#include <string>

#include "exporters/text_style.h"
#include "model/snapshot.h"

namespace linkhealth {

/// Those that are set; "" of none.
std::string flags_now(const ModuleSample& m, const TextStyle& style);
/// Those that have changed since we watch; "" of none.
std::string flag_history(const ModuleSample& m, const TextStyle& style);

}  // namespace linkhealth
