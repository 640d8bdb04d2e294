// THE fault table: each fault's texts, its repair steps and how the repair is verified, and its
// life cycle: when it opens and its effect on the port's health.
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

/// On which ports a step is possible.
enum class StepOf : std::uint8_t { kAnyPort, kEthernet, kInfiniBand };

struct RepairStep {
  RepairAction action;
  std::string_view text;  ///< for fill_in()
  /// The fault is not in the cable: this step adds "do not touch the cable" if a reading confirms
  /// that.
  bool hands_off = false;
  StepOf of = StepOf::kAnyPort;
};

enum class Hold : std::uint8_t {
  /// Must last; not if it is certain, nor on a link that is down (which has waited already).
  kWhenUnsure,
  kAlways,  ///< must last, however certain
  kNone,    ///< its symptom includes a hold, or does not pass by itself
};
enum class Effect : std::uint8_t {
  kAtRisk,    ///< degraded if the error rate can be read or data is lost
  kDegrades,  ///< the port's bandwidth is reduced
  kStops,     ///< the card carries nothing, even if its link is up
  kBlinds,    ///< affects the monitor, not the link
};
/// The life cycle of a fault. Most faults use the defaults.
struct FaultLife {
  Hold hold = Hold::kWhenUnsure;
  Effect effect = Effect::kAtRisk;
  bool certain = false;  ///< done by an administrator: begins and ends at once, and is no repair
  bool needs_traffic = false;   ///< visible only under traffic
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
  std::string_view sure;       ///< the one deciding test; a cause may have its own
  std::string_view reference;  ///< the source of this knowledge
  FaultLife life{};
};

/// In the order of FaultId.
std::span<const Fault> fault_table();
inline const Fault& fault_of(FaultId id) { return fault_table()[static_cast<std::size_t>(id)]; }
/// nullptr: no such row, possibly one of another version.
const Fault* find_fault(std::string_view name, End end);
/// Replaces the placeholders in a text of the tables: {lane} by " of lane 2", {peer} by the far
/// end, " ({serial})" by the module's serial number, or by nothing.
std::string fill_in(std::string_view text, std::string_view lane, std::string_view peer,
                    std::string_view serial);
/// Whether the fault occurs only on links that are down.
bool means_down(const Fault& fault);
/// Whether an observed action is, or includes, this step: cleaning a fibre involves unplugging it.
bool includes(RepairAction done, RepairAction step);
/// The steps of a ladder without those in `failed`, and without those for ports of another link
/// layer ("" unknown: all). If all have failed, the last one is kept.
std::vector<const RepairStep*> steps_left(std::span<const RepairStep> ladder,
                                          std::span<const RepairAction> failed,
                                          std::string_view link_layer = "");

}  // namespace linkhealth
