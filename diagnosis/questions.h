// What a differential leaves open: missing readings, the indistinguishable runner-up, faults that a
// reading rules out, and the weight of each piece of evidence.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diagnosis/differential.h"

namespace linkhealth {

/// An unknown symptom whose reading would help, with the variance of its probability over the
/// causes: 0 if all causes show it equally often.
struct MissingReading {
  SymptomId symptom;
  double variance;
};
/// The most informative first, at most four.
std::vector<MissingReading> missing_readings(const Differential& differential,
                                             const Findings& findings);

/// "damaged fibre (4%), failing transmitter in the far module (1%)": the faults of the differential
/// that this reading would distinguish from `named`; "" if it would only change the confidence.
std::string faults_told_apart(const Differential& differential, const RankedFault& named,
                              SymptomId symptom);

/// The faults that the readings cannot distinguish from the named one, and the cheapest next test.
struct RunnerUp {
  RankedFault other;                 ///< the most likely of them
  std::vector<RankedFault> names;    ///< all of them including the named one, most likely first
  std::optional<SymptomId> reading;  ///< unknown reading that would distinguish best
  /// If no reading would: the first repair step that distinguishes.
  const RepairStep* step = nullptr;
};
/// Whether the fault is not in this port's cable.
inline bool clears_cable(const RankedFault& row) {
  const auto steps = repair_of(*row.cause);
  return !steps.empty() && steps.front().hands_off;
}
/// Whether the fault is in this port's cable or modules, or at the far end.
inline bool touches_cable(const RankedFault& row) {
  return !clears_cable(row) && row.fault->end != End::kNode && row.fault->end != End::kFabric;
}
/// A cable is not reported as good while one of its faults has this confidence or more.
inline constexpr double kLeastOfCable = 0.05;
/// nullopt: the named fault is clearly ahead.
std::optional<RunnerUp> ambiguous_with(const Differential& differential, const RankedFault& named,
                                       const Findings& findings, bool down,
                                       std::span<const RepairAction> failed);

/// A reading that shows no sign of a symptom, and other faults, which would also explain the
/// present symptoms but would always show this one.
struct RuledOut {
  SymptomId symptom;
  Comparison seen;                   ///< the comparison that failed
  std::vector<const Fault*> faults;  ///< at most two
};
/// The most likely other faults first, at most five.
std::vector<RuledOut> ruled_out(const Features& features, const Findings& findings,
                                const RankedFault& named);

/// Weight of evidence for one cause against another, in nats (the logarithm of the odds).
struct EvidenceWeight {
  std::string_view name;  ///< a symptom's name, or "prior", or the joint row
  double nats = 0;
};
/// All that distinguishes `named` from `other`: the sum is the logarithm of their odds.
std::vector<EvidenceWeight> evidence_weights(const Observations& seen, const Cause& named,
                                             const Cause& other);

/// Two faults that all sources together would distinguish, but the available ones do not.
struct ConfusablePair {
  const Fault* a = nullptr;  ///< kHealthy if b would not be noticed
  const Fault* b = nullptr;
  EvidenceSource needs{};  ///< the missing source that would distinguish best
};
std::vector<ConfusablePair> confusable_pairs(EvidenceSources seen);

/// "damaged fibre": a title inside a sentence.
std::string title_in_sentence(const Fault& fault);

}  // namespace linkhealth
