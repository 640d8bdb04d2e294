// THE fault table. A Fault is what people are told: name, end, severity, what to do, how to verify.
// A Cause is one physical way to get that fault (dirt on the incoming fibre, dirt on the outgoing
// one, reflections …); it says how often it shows each symptom. The probabilities of a fault's
// causes are added up.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "diagnosis/symptoms.h"
#include "model/repair.h"
#include "model/report.h"

namespace linkhealth {

/// How often a cause shows a symptom. What a row does not list, it never shows.
enum class Often : std::uint8_t { kAlways, kOften, kSometimes, kRarely, kNever };
/// Never 0 or 1: a wrong reading must stay recoverable.
double probability(Often often);

struct Expectation {
  SymptomId symptom;
  Often often;
};

/// A reading that settles the matter: it adds `nats` to the cause, and what follows from the cause
/// (no carrier, errors, a reason given by the driver) does not count against it.
struct Decisive {
  SymptomId symptom;
  double nats;
};

/// Where light is lost. What cannot be read leaves several of these possible.
enum class LightLoss : std::uint8_t { kNone, kIncoming, kOutgoing, kBoth, kFarLaser, kOwnLaser };
inline constexpr std::size_t kLightLossCount = 6;

/// The joint row of light and errors of a link that carries, in per cent.
struct LightRow {
  std::array<double, kLightLossCount>
      loss;                 ///< P(where light is lost | cause), in the order of LightLoss
  double errors_if_dim;     ///< P(receive errors | cause, and light lost on the way in)
  double errors_if_bright;  ///< P(receive errors | cause, and light as before)
};

/// Media on which a cause exists.
enum Media : std::uint8_t {
  kOnOptical = 1,  ///< separable, single-mode as far as is known
  kOnAoc = 2,
  kOnCopper = 4,
  kOnUnknown = 8,
  kOnMultimode = 16,  ///< separable: reflections do no harm there (docs/physics.md 7d)
  kAnyMedium = 31
};

struct Cause {
  std::string_view name;
  std::string_view fault;
  End end;
  double prior_up;    ///< share among links that carry
  double prior_down;  ///< share among links that do not
  std::uint8_t media;
  LightRow light;
  std::span<const Expectation> expects;
  std::span<const Decisive> decisive;
};

/// What a step does, so that one which has just failed is not asked for again.
enum class Remedy : std::uint8_t {
  kLook,  ///< read, compare, ask: costs nothing and is never left out
  kBounce,
  kBounceFar,
  kReload,
  kReboot,
  kReseat,
  kReseatFar,
  kClean,
  kSwapCable,
  kSwapModule,  ///< or a cable that has its own EEPROM
  kSwapFarModule,
  kMove,
  kCard,
  kSwitchCard,
};
struct RepairStep {
  Remedy remedy;
  std::string_view text;  ///< {lane} {peer} {serial} {far} are filled in
};

struct Fault {
  std::string_view name;
  End end;
  Severity severity;
  std::string_view title;  ///< "Dirty connector"
  std::string_view meaning;
  std::span<const RepairStep> repair;  ///< cheapest first
  std::string_view verify;
  std::string_view sure;  ///< the one test that decides (docs/faults.md); "" for healthy
};

/// The first cause is "healthy".
std::span<const Cause> cause_table();
/// What a link shows that fell and comes back by itself: the first cause, of a link that is down.
std::span<const Expectation> retraining_expects();
std::span<const Fault> fault_table();
/// Whether the fault is one of links that do not carry, and of no others.
bool means_down(const Fault& fault);
/// Whether a repair that was seen is (or includes) this step: whoever cleans a fibre pulls it out.
bool is_done_by(Remedy remedy, RepairAction action);
/// The steps of a fault without those that `failed` has shown to be in vain. The last one stays
/// when all have failed.
std::vector<const RepairStep*> steps_left(const Fault& fault, std::span<const RepairAction> failed);
/// The row of a name and end. REQUIRES: it is in the table.
const Fault& find_fault(std::string_view name, End end);

}  // namespace linkhealth
