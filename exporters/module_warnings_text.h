// What module_text() says of what was not read, and of what was and is not believed.
#pragma once

#include <string>
#include <string_view>

#include "exporters/text_style.h"
#include "model/snapshot.h"

namespace linkhealth {

/// Whether a warning says that something could not be read, so that there was nothing to
/// disbelieve.
bool is_not_known(std::string_view warning);
/// Both lists, each under its heading; "" without warnings.
std::string warnings_text(const ModuleSample& m, const TextStyle& style);

}  // namespace linkhealth
