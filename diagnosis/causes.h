// THE cause table. A Cause is one physical way to get a fault (dirt on the incoming fibre, dirt on
// the outgoing one, reflections …), with how often it shows each symptom. The probabilities of a
// fault's causes are added up.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "diagnosis/faults.h"
#include "diagnosis/symptoms.h"

namespace linkhealth {

/// A reading that decides: it adds `nats` to the cause, and the consequences of the cause (no
/// carrier, errors, a reason given by the driver) do not count against it.
struct Decisive {
  SymptomId symptom{};
  double nats = 0;  ///< 0: unused slot
};

/// How often a cause shows each symptom. Symptoms that are not listed never occur.
struct Expectations {
  std::array<Decisive, 4> decisive{};
  SymptomSet always{}, often{}, sometimes{}, rarely{};
};

/// Where light is lost. If readings are missing, several of these are possible.
enum class LightLoss : std::uint8_t { kNone, kIncoming, kOutgoing, kBoth, kFarLaser, kOwnLaser };
inline constexpr std::size_t kLightLossCount = 6;
using LightLossWeights = std::array<double, kLightLossCount>;  ///< in the order of LightLoss

/// The joint row of light and errors for a link that is up.
struct LightRow {
  LightLossWeights loss;    ///< P(where light is lost | cause)
  double errors_if_dim;     ///< P(receive errors | cause, and light lost on the incoming path)
  double errors_if_bright;  ///< P(receive errors | cause, and light unchanged)
};

/// Media on which a cause exists.
enum Media : std::uint8_t {
  kOnOptical = 1,  ///< separable, single-mode as far as known
  kOnAoc = 2,
  kOnCopper = 4,
  kOnUnknown = 8,
  kOnMultimode = 16,  ///< separable: reflections are harmless there (docs/physics.md 7d)
  kAnyMedium = 31
};

struct Cause {
  std::string_view name;
  FaultId fault;
  double prior_up;    ///< share among links that are up
  double prior_down;  ///< share among links that are down
  std::uint8_t media;
  LightRow light;
  Expectations expects;
  /// Used if the steps in the fault's row do not fit this cause; empty: they do.
  std::span<const RepairStep> repair{};
  std::string_view sure{};
};

/// The first cause is "healthy".
std::span<const Cause> cause_table();
/// The repair ladder and the deciding test: the cause's own, otherwise its fault's.
inline std::span<const RepairStep> repair_of(const Cause& cause) {
  return cause.repair.empty() ? fault_of(cause.fault).repair : cause.repair;
}
inline std::string_view sure_of(const Cause& cause) {
  return cause.sure.empty() ? fault_of(cause.fault).sure : cause.sure;
}
/// The media of all causes of a fault.
std::uint8_t media_of(FaultId fault);
/// What a healthy link shows that went down and comes back by itself.
const Expectations& retraining_expectations();
/// Its index in the table.
inline std::size_t index_of(const Cause& cause) {
  return static_cast<std::size_t>(&cause - cause_table().data());
}

}  // namespace linkhealth
