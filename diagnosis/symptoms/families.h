// What symptoms/table.cpp takes from each family's file.
#pragma once

#include <span>
#include <string_view>

#include "diagnosis/symptoms.h"

namespace linkhealth::symptoms {

extern const std::span<const Symptom> kLinkFamily;
extern const std::span<const Symptom> kSignalFamily;
extern const std::span<const Symptom> kLightFamily;
extern const std::span<const Symptom> kModuleFamily;
extern const std::span<const Symptom> kNodeFamily;
extern const std::span<const Symptom> kGroupFamily;
extern const std::span<const Symptom> kTrafficFamily;
extern const std::span<const Symptom> kMonitorFamily;

inline constexpr StaticText kSharedModule = "the module is shared with another port: its lanes can't be told apart";

}  // namespace linkhealth::symptoms
