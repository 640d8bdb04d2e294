// What a differential leaves open: missing readings, the ambiguous runner-up, faults that a reading
// rules out, and the weight of each piece of evidence.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diagnosis/differential.h"

namespace linkhealth {

/// A symptom that is unknown and whose reading would help, with the variance of its probability
/// over the causes: 0 when all of them show it alike.
struct MissingReading {
  SymptomId symptom;
  double variance;
};
/// The most telling first, at most four.
std::vector<MissingReading> missing_readings(const Differential& differential,
                                             const Findings& findings);

/// "damaged fibre (4%), failing transmitter in the far module (1%)": the faults of the differential
/// that this reading would tell from `named`; "" when it would only make `named` more or less sure.
std::string faults_told_apart(const Differential& differential, const RankedFault& named,
                              SymptomId symptom);

/// The faults that the readings cannot distinguish from the named one, and the cheapest next test.
struct RunnerUp {
  RankedFault other;                 ///< the likeliest of them
  std::vector<RankedFault> names;    ///< all of them and the named one, most likely first
  std::optional<SymptomId> reading;  ///< that would tell best, and is not known
  const RepairStep* step = nullptr;  ///< where no reading would tell: the first step that does
};
/// What is wrong is not in this port's cable.
inline bool clears_cable(const RankedFault& row) {
  const auto steps = repair_of(*row.cause);
  return !steps.empty() && steps.front().hands_off;
}
/// A fault of this port's cable or modules, or of the far end.
inline bool touches_cable(const RankedFault& row) {
  return !clears_cable(row) && row.fault->end != End::kNode && row.fault->end != End::kFabric;
}
/// A cable is not said to be fine while one of its faults has such a confidence.
inline constexpr double kLeastOfCable = 0.05;
/// nullopt: the name leads.
std::optional<RunnerUp> ambiguous_with(const Differential& differential, const RankedFault& named,
                                       const Findings& findings, bool down,
                                       std::span<const RepairAction> failed);

/// What was read, does not show, and another fault that also explains what does show would always
/// show.
struct RuledOut {
  SymptomId symptom;
  Comparison seen;                   ///< the comparison that failed
  std::vector<const Fault*> faults;  ///< at most two
};
/// The likeliest other faults first, at most five.
std::vector<RuledOut> ruled_out(const Features& features, const Findings& findings,
                                const RankedFault& named);

/// Weight of evidence for one cause against another, in nats (the logarithm of the odds).
struct EvidenceWeight {
  std::string_view name;  ///< a symptom's, or of the priors, or of the joint row
  double nats = 0;
};
/// All that sets `named` apart from `other`: the sum is the logarithm of their odds.
std::vector<EvidenceWeight> evidence_weights(const Observations& seen, const Cause& named,
                                             const Cause& other);

/// Two faults that all sources together would tell apart, and those that are there do not.
struct ConfusablePair {
  const Fault* a = nullptr;  ///< kHealthy first: then b is not noticed
  const Fault* b = nullptr;
  EvidenceSource needs{};  ///< the missing source that would tell most
};
std::vector<ConfusablePair> confusable_pairs(EvidenceSources seen);

/// "damaged fibre": a title inside a sentence.
std::string title_in_sentence(const Fault& fault);

}  // namespace linkhealth
