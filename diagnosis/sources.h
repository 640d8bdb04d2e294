// Where the rules come from: the standard, kernel file, vendor page or paper behind each fault and
// symptom.
#pragma once

#include <string_view>

#include "diagnosis/symptoms.h"

namespace linkhealth {

/// REQUIRES: `fault` is in the fault table.
std::string_view source_of(std::string_view fault);
std::string_view source_of(SymptomId symptom);
/// Of a group of knobs that belongs to no symptom ("ledger"); "" for one that decides nothing.
std::string_view source_of_knobs(std::string_view group);

}  // namespace linkhealth
