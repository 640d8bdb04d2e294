// What symptoms/table.cpp takes from each family's file.
#pragma once

#include <span>
#include <string_view>

#include "diagnosis/case.h"
#include "diagnosis/port_view.h"
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

inline constexpr StaticText kSharedModule =
    "the module is shared with another port: its lanes can't be told apart";

inline constexpr StaticText kFullCounter =
    "its counter is full: linkhealth doctor says what clears it";
/// Why a flow is not known: one that is full counted, and counts no further.
inline Finding not_counted(const PortView& v, Indicator flow, StaticText none) {
  return not_known(is_saturated_for(v.port.counters.saturated, {flow}) ? kFullCounter : none);
}

}  // namespace linkhealth::symptoms
