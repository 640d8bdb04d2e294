// THE fault table: the texts of each fault, its repair steps and their verification, and its life
// cycle: when it opens, how its repair is proved, its effect on the port's health.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/repair.h"
#include "model/report.h"

namespace linkhealth {

enum class FaultId : std::uint8_t {
  kHealthy,
  kDirtyConnector,
  kDamagedFiber,
  kFailingTransmitter,
  kFailingFarTransmitter,
  kBadModule,
  kBadFarModule,
  kModuleOverheated,
  kModuleMissing,
  kModuleUnsupported,
  kFaultyCable,
  kReducedSpeed,
  kSettingsMismatch,
  kAdminDown,
  kUnplugged,
  kFarPortDown,
  kFarSwitchFault,
  kPcieDegraded,
  kNicFault,
  kHostBottleneck,
  kCongestion,
  kLossElsewhere,
  kWrongCabling,
  kProviderLink,
  kMonitorBlind,
  kBadTraining,
};

/// On which ports a step can be done.
enum class StepOf : std::uint8_t { kAnyPort, kEthernet, kInfiniBand };

struct RepairStep {
  RepairAction action;
  std::string_view text;  ///< for fill_in()
  /// What is wrong is not in the cable: "do not touch the cable" is said with this step where a
  /// reading says so, too.
  bool hands_off = false;
  StepOf of = StepOf::kAnyPort;
};

enum class Hold : std::uint8_t {
  kWhenUnsure,  ///< it must last; not when it is sure, nor of a link that is down (it waited)
  kAlways,      ///< it must last, however sure
  kNone,        ///< its symptom waits long enough, or does not pass by itself
};
enum class Effect : std::uint8_t {
  kAtRisk,    ///< degraded where the error rate can be read or data are lost
  kDegrades,  ///< the port carries less
  kStops,     ///< the card carries nothing, even if its link is up
  kBlinds,    ///< of the monitor, not of the link
};
/// How a fault lives. Most are as the defaults.
struct FaultLife {
  Hold hold = Hold::kWhenUnsure;
  Effect effect = Effect::kAtRisk;
  bool certain = false;  ///< what an administrator does begins and ends at once, and is no repair
  bool needs_traffic = false;   ///< seen only while there is traffic
  bool spares_traffic = false;  ///< never critical, and no bandwidth is at risk
};

struct Fault {
  FaultId id;
  std::string_view name;
  End end;
  Severity severity;
  std::string_view title;  ///< "Dirty connector"
  std::string_view meaning;
  std::span<const RepairStep> repair;  ///< cheapest first; a cause may have its own (repair_of())
  std::string_view verify;
  std::string_view sure;       ///< the one test that decides; a cause may have its own
  std::string_view reference;  ///< where it was learned
  FaultLife life{};
};

/// In the order of FaultId.
std::span<const Fault> fault_table();
inline const Fault& fault_of(FaultId id) { return fault_table()[static_cast<std::size_t>(id)]; }
/// nullptr: no such row, perhaps another version's.
const Fault* find_fault(std::string_view name, End end);
/// A text of the tables with its placeholders replaced: {lane} by " of lane 2", {peer} by the far
/// end, " ({serial})" by the module's serial number, where there is one.
std::string fill_in(std::string_view text, std::string_view lane, std::string_view peer,
                    std::string_view serial);
/// Whether the fault is one of links that do not carry, and of no others.
bool means_down(const Fault& fault);
/// Whether an action that was seen is, or includes, this step: cleaning a fibre pulls it out.
bool includes(RepairAction done, RepairAction step);
/// The steps of a ladder without those that `failed` has shown to be in vain, nor those of other
/// ports than one of this link layer ("" not known: all). The last one stays when all have failed.
std::vector<const RepairStep*> steps_left(std::span<const RepairStep> ladder,
                                          std::span<const RepairAction> failed,
                                          std::string_view link_layer = "");

}  // namespace linkhealth
