// THE symptom table: features of a port → present, absent or unknown, with evidence. One row each;
// the functions are in symptoms/, one file per family.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "diagnosis/check.h"
#include "diagnosis/features.h"

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
  kPowerRefused,
  kOverheatReported,
  kSettingsTouched,
  kFecDiffers,
  // signal
  kReceiveErrors,
  kLosingData,
  kOneLaneErrors,
  kErrorBursts,
  kErrorsBeforeFall,
  kLinkRecoveries,
  kFarErrors,
  kSnrLow,
  kCameBackWorse,
  // light
  kNoLight,
  kSomeLanesDark,
  kLightThere,
  kLightLow,
  kFibresAlike,
  kLaneReadsDark,
  kTxLow,
  kTxFault,
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
  kModuleDiffers,
  kSupplyShared,
  kModuleHeld,
  kHostSilent,
  kModuleDropsOut,
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
  kCardErrors,
  // several ports
  kGroupDown,
  kModuleFell,
  kCardFell,
  kNodeFell,
  kFellTogether,
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

/// A set of symptoms.
class SymptomSet {
 public:
  constexpr SymptomSet() = default;
  constexpr SymptomSet(std::initializer_list<SymptomId> ids) {
    for (const SymptomId id : ids) add(id);
  }
  constexpr void add(SymptomId id) { words_[index(id) / 64] |= bit(id); }
  [[nodiscard]] constexpr bool has(SymptomId id) const {
    return (words_[index(id) / 64] & bit(id)) != 0;
  }

 private:
  static constexpr std::size_t index(SymptomId id) { return static_cast<std::size_t>(id); }
  static constexpr std::uint64_t bit(SymptomId id) { return std::uint64_t{1} << index(id) % 64; }
  static_assert(kSymptomCount <= 128);
  std::array<std::uint64_t, 2> words_{};
};

/// Which links can show a symptom.
enum class LinkState : std::uint8_t { kAny, kUp, kDown };

struct Symptom {
  SymptomId id;
  std::string_view name;
  std::string_view meaning;
  LinkState state;  ///< on other links it is not applicable
  Finding (*observe)(const Features&);
  EvidenceSources sources;  ///< any one of these is enough to observe it; empty: the monitor itself
  std::string_view reference;  ///< where the rule and its numbers come from
  std::string_view how;        ///< how to get the reading if it is missing; "" if there is no way
};

std::span<const Symptom, kSymptomCount> symptom_table();
inline const Symptom& symptom(SymptomId id) {
  return symptom_table()[static_cast<std::size_t>(id)];
}

using Findings = std::array<Finding, kSymptomCount>;
inline const Finding& at(const Findings& findings, SymptomId id) {
  return findings[static_cast<std::size_t>(id)];
}

Finding observe(SymptomId id, const Features& features);
/// All symptoms of one port.
Findings observe_all(const Features& features);
/// Whether the link has receive errors, combined from the symptoms that count the same damage.
/// nullopt: unknown.
std::optional<bool> receive_errors(const Findings& findings);

}  // namespace linkhealth
