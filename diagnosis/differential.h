// Symptoms × causes → ranked faults with confidence. Three layers, each a table (causes.cpp):
// decisive rows, the joint row of light and errors, and naive Bayes over the rest.
// docs/adr/0002-differential.md says why.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

#include "diagnosis/faults.h"

namespace linkhealth {

inline constexpr std::size_t kMaxCauses = 56;
inline constexpr std::size_t kDifferentialKnobs = 7;

/// One fault with its probability: the sum over its causes.
struct RankedFault {
  const Fault* fault = nullptr;
  const Cause* cause = nullptr;  ///< the likeliest of its causes
  double probability = 0;        ///< of the model
  double confidence = 0;         ///< calibrated
};

struct Differential {
  double healthy = 0;                          ///< probability that nothing is wrong
  std::vector<RankedFault> ranked;             ///< without healthy; most likely first, at most 6
  std::array<double, kMaxCauses> posterior{};  ///< of each cause, in the table's order
  std::array<double, kLightLossCount>
      light{};  ///< how well each place of loss fits the powers (likelihood)
};

struct DifferentialInput {
  const PortView& view;
  const Findings& findings;
  const Fault* incumbent = nullptr;        ///< the fault that is open: it has one nat more
  const RankedFault* explained = nullptr;  ///< second pass: what this one explains is left out
};

Differential differentiate(const DifferentialInput& input, KnobValues knobs);
/// differentiate()'s own knobs.
std::span<const Knob> differential_knobs();

/// All that a differential is made from, and nothing else: what is equal here gets the same answer.
struct Grounds {
  std::uint8_t medium = 0;  ///< a bit of Media
  bool down = false, joint = false;
  std::optional<bool> errors;
  std::array<double, kLightLossCount> light{};
  double suffices = 1, healthy = 0;  ///< healthy: its prior
  std::array<Verdict, kSymptomCount> verdicts{};
  std::bitset<kSymptomCount> takes_part;
  const Fault* incumbent = nullptr;
  const Cause* explained = nullptr;
  std::array<double, kDifferentialKnobs> knobs{};
  bool operator==(const Grounds&) const = default;
};
Grounds grounds_of(const DifferentialInput& input, KnobValues knobs);

/// differentiate() of one port. A link on which nothing has changed gets its last answer again: to
/// make it anew in each step was two fifths of what judging cost.
class RememberedDifferential {
 public:
  /// Good until the next call.
  const Differential& of(const DifferentialInput& input, KnobValues knobs);

 private:
  Grounds grounds_;
  std::optional<Differential> last_;
};

/// True when `cause` accounts for `symptom`.
bool explains(const Cause& cause, SymptomId symptom);
/// Unknown symptoms by how much they would decide, best first.
struct Missing {
  SymptomId symptom;
  double gain;
};
std::vector<Missing> missing_evidence(const Differential& differential, const Findings& findings,
                                      bool down);

/// What one thing says for one cause against another, in nats (the logarithm of the odds).
struct Share {
  enum class Kind : std::uint8_t { kPrior, kLightAndErrors, kSymptom } kind = Kind::kSymptom;
  SymptomId symptom{};
  double nats = 0;
};
/// All that sets `named` apart from `other`: the sum is the logarithm of their odds.
std::vector<Share> shares(const DifferentialInput& input, KnobValues knobs, const Cause& named,
                          const Cause& other);

}  // namespace linkhealth
