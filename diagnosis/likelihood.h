// P(what was observed | cause): the only place where the cause table becomes numbers. Three layers
// (docs/adr/0002-differential.md says why): decisive readings, the joint row of light and errors of
// a link that carries, and naive Bayes over the rest.
#pragma once

#include <array>
#include <optional>

#include "diagnosis/causes.h"

namespace linkhealth {

/// The kinds of reason that a driver gives for a link that is down; it gives one.
inline constexpr SymptomSet kDownReasons{SymptomId::kNoPartner,     SymptomId::kNegotiationFails,
                                         SymptomId::kTrainingFails, SymptomId::kNoFecLock,
                                         SymptomId::kNoPcsLock,     SymptomId::kBadSignal,
                                         SymptomId::kRemoteFault,   SymptomId::kNoCableReported};

/// All that a likelihood is computed from.
struct Observations {
  bool down = false;
  bool joint = false;          ///< the joint row takes part
  std::optional<bool> errors;  ///< receive errors
  LightLossWeights light{};    ///< how well each place of loss fits the powers
  double prior_healthy = 0;
  SymptomSet present;                             ///< of all symptoms
  std::array<Verdict, kSymptomCount> verdicts{};  ///< kUnknown where a symptom takes no part
};
/// `is_open`: a fault is open, which explains why the link is down. `explained`: a cause whose
/// symptoms are left out, because they have an explanation; nullptr: none.
Observations observations_of(const Features& features, const Findings& findings, bool is_open,
                             const Cause* explained = nullptr);

/// Whether the cause exists on the medium.
bool is_possible(const Cause& cause, const Features& features);
double prior(const Cause& cause, bool down);
/// P(symptom | cause) of naive Bayes. Never 0 or 1: a wrong reading must stay recoverable.
double probability(const Cause& cause, SymptomId symptom);
/// The same with what the joint row and the priors say of symptoms that are not counted one by one.
double marginal_probability(const Cause& cause, SymptomId symptom);
/// Whether the cause accounts for the symptom.
bool explains(const Cause& cause, SymptomId symptom);

// In nats.
double log_prior(const Cause& cause, const Observations& seen);
double log_joint_row(const Cause& cause, const Observations& seen);
/// The reason that the driver gives for a link that is down: it has one value, of which the
/// symptoms kDownReasons are the kinds. They do not count one by one.
double log_down_reason(const Cause& cause, const Observations& seen);
double log_symptom(const Cause& cause, SymptomId symptom, const Observations& seen);
/// The sum of all these. The difference of two causes is the logarithm of their odds.
double log_likelihood(const Cause& cause, const Observations& seen);

/// How well each place of loss fits the four measured losses; they sum to 1. A reading that is not
/// there fits everything. `errors`, `far_errors`: whether light that is missing does harm; nullopt:
/// not known.
LightLossWeights light_fit(const LightStats& light, std::optional<bool> errors,
                           std::optional<bool> far_errors);

}  // namespace linkhealth
