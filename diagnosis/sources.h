// Where the rules come from: the standard, kernel file, vendor page or paper behind each fault and symptom.
#pragma once

#include <string_view>

#include "diagnosis/symptoms.h"

namespace linkhealth {

/// REQUIRES: `fault` is in the fault table.
std::string_view source_of(std::string_view fault);
std::string_view source_of(SymptomId symptom);

}  // namespace linkhealth
