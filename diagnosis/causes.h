// THE cause table. A Cause is one physical way to get a fault (dirt on the incoming fibre, dirt on
// the outgoing one, reflections …); it says how often it shows each symptom. The probabilities of a
// fault's causes are added up.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "diagnosis/faults.h"
#include "diagnosis/symptoms.h"

namespace linkhealth {

/// A reading that settles the matter: it adds `nats` to the cause, and what follows from the cause
/// (no carrier, errors, a reason given by the driver) does not count against it.
struct Decisive {
  SymptomId symptom{};
  double nats = 0;  ///< 0: an empty place
};

/// How often a cause shows which symptom. What is not listed it never shows.
struct Expectations {
  std::array<Decisive, 2> decisive{};
  SymptomSet always{}, often{}, sometimes{}, rarely{};
};

/// Where light is lost. What cannot be read leaves several of these possible.
enum class LightLoss : std::uint8_t { kNone, kIncoming, kOutgoing, kBoth, kFarLaser, kOwnLaser };
inline constexpr std::size_t kLightLossCount = 6;
using LightLossWeights = std::array<double, kLightLossCount>;  ///< in the order of LightLoss

/// The joint row of light and errors of a link that carries.
struct LightRow {
  LightLossWeights loss;    ///< P(where light is lost | cause)
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
  FaultId fault;
  double prior_up;    ///< share among links that carry
  double prior_down;  ///< share among links that do not
  std::uint8_t media;
  LightRow light;
  Expectations expects;
  /// Where what the fault's row says does not fit this cause; empty: it does.
  std::span<const RepairStep> repair{};
  std::string_view sure{};
};

/// The first cause is "healthy".
std::span<const Cause> cause_table();
/// The ladder of repair and the test that decides: the cause's own, or else its fault's.
inline std::span<const RepairStep> repair_of(const Cause& cause) {
  return cause.repair.empty() ? fault_of(cause.fault).repair : cause.repair;
}
inline std::string_view sure_of(const Cause& cause) {
  return cause.sure.empty() ? fault_of(cause.fault).sure : cause.sure;
}
/// The media of all causes of a fault.
std::uint8_t media_of(FaultId fault);
/// What healthy shows on a link that went down and comes back by itself.
const Expectations& retraining_expectations();
/// Of the row in the table.
inline std::size_t index_of(const Cause& cause) {
  return static_cast<std::size_t>(&cause - cause_table().data());
}

}  // namespace linkhealth
