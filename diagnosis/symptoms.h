// THE symptom table: facts + knobs → present, absent or unknown with evidence. One row each; the
// functions are in symptoms/, a file for each family.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "diagnosis/case.h"
#include "diagnosis/port_view.h"
#include "model/knobs.h"

namespace linkhealth {

enum class SymptomId : std::uint8_t {
  // link
  kAdminDown,
  kLinkDown,
  kFlaps,
  kSpeedReduced,
  kNoPartner,
  kNegotiationFails,
  kTrainingFails,
  kNoFecLock,
  kNoPcsLock,
  kBadSignal,
  kRemoteFault,
  kNoCableReported,
  kUnsupportedReported,
  kModuleFaultReported,
  kOverheatReported,
  kSettingsTouched,
  // signal
  kReceiveErrors,
  kLosingData,
  kOneLaneErrors,
  kErrorBursts,
  kErrorsBeforeFall,
  kLinkRecoveries,
  kFarErrors,
  kSnrLow,
  // light
  kNoLight,
  kSomeLanesDark,
  kLightThere,
  kLightLow,
  kFibresAlike,
  kLaneReadsDark,
  kTxLow,
  kTxFault,
  kBiasHigh,
  kLaserTires,
  kTxOff,
  kFarTxLow,
  kFarTxOff,
  kFarSendsUnheard,
  kFarRxLow,
  kFarRxDark,
  kNoLockWithLight,
  // module
  kModuleAbsent,
  kModuleState,
  kModuleHot,
  kModuleNew,
  kSupplyLow,
  kSupplyShared,
  // far end
  kFarAdminDown,
  kFarModuleAbsent,
  kNeighbourDiffers,
  // node
  kPcieReduced,
  kPcieErrors,
  kDeviceFatal,
  kDeviceGone,
  kNicHot,
  kSlotPower,
  kPcieLost,
  kCardErrors,
  // several ports
  kGroupDown,
  kGroupFlaps,
  kGroupErrors,
  // traffic
  kCongested,
  kHostDrops,
  kRetries,
  kForwardedErrors,
  // monitor
  kCountersBlind,
  kModuleBlind,
};
inline constexpr std::size_t kSymptomCount = static_cast<std::size_t>(SymptomId::kModuleBlind) + 1;

struct Symptom {
  SymptomId id;
  std::string_view name;
  std::string_view meaning;
  std::span<const Knob> knobs;
  Finding (*observe)(const PortView&, KnobValues);
  std::string_view how;  ///< how to get the reading where it is missing
};

std::span<const Symptom, kSymptomCount> symptom_table();
inline const Symptom& symptom(SymptomId id) {
  return symptom_table()[static_cast<std::size_t>(id)];
}

using Findings = std::array<Finding, kSymptomCount>;
inline const Finding& at(const Findings& findings, SymptomId id) {
  return findings[static_cast<std::size_t>(id)];
}

/// Everything that the table says about one port. `knobs` has one entry for each row. In place:
/// findings are 20 kB.
void observe_all(const PortView& view, const std::array<KnobValues, kSymptomCount>& knobs,
                 Findings& findings);

}  // namespace linkhealth
