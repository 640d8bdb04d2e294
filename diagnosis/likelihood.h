// P(what was observed | cause): the only place where the cause table becomes numbers. Three layers
// (reasons in docs/adr/0002-differential.md): decisive readings, the joint row of light and errors
// for a link that is up, and naive Bayes for the rest.
#pragma once

#include <array>
#include <optional>

#include "diagnosis/causes.h"

namespace linkhealth {

/// The kinds of reason that a driver gives for a link that is down; it gives exactly one.
inline constexpr SymptomSet kDownReasons{SymptomId::kNoPartner,     SymptomId::kNegotiationFails,
                                         SymptomId::kTrainingFails, SymptomId::kNoFecLock,
                                         SymptomId::kNoPcsLock,     SymptomId::kBadSignal,
                                         SymptomId::kRemoteFault,   SymptomId::kNoCableReported};

/// All that a likelihood is computed from.
struct Observations {
  bool down = false;
  bool joint = false;          ///< the joint row is used
  std::optional<bool> errors;  ///< receive errors
  LightLossWeights light{};    ///< how well each place of loss fits the measured powers
  double prior_healthy = 0;
  SymptomSet present;                             ///< of all symptoms
  std::array<Verdict, kSymptomCount> verdicts{};  ///< kUnknown if a symptom is ignored
};
/// `is_open`: an open fault already explains why the link is down. `explained`: a cause whose
/// symptoms are ignored because they are explained; nullptr: none.
Observations observations_of(const Features& features, const Findings& findings, bool is_open,
                             const Cause* explained = nullptr);

/// Whether the cause is possible on the port's medium.
bool is_possible(const Cause& cause, const Features& features);
double prior(const Cause& cause, bool down);
/// P(symptom | cause) for naive Bayes. Never 0 or 1, so that a wrong reading can be outweighed.
double probability(const Cause& cause, SymptomId symptom);
/// Likewise, but for symptoms that are not counted one by one, from the joint row and the priors.
double marginal_probability(const Cause& cause, SymptomId symptom);
/// Whether the cause accounts for the symptom.
bool explains(const Cause& cause, SymptomId symptom);

// In nats.
double log_prior(const Cause& cause, const Observations& seen);
double log_joint_row(const Cause& cause, const Observations& seen);
/// For the driver's reason for a link that is down. It has one value; the symptoms kDownReasons are
/// its kinds, and are not counted one by one.
double log_down_reason(const Cause& cause, const Observations& seen);
double log_symptom(const Cause& cause, SymptomId symptom, const Observations& seen);
/// The sum of all these. The difference between two causes is the logarithm of their odds.
double log_likelihood(const Cause& cause, const Observations& seen);

/// How well each place of loss fits the four measured losses; they sum to 1. A missing reading fits
/// everything. `errors`, `far_errors`: whether missing light does harm; nullopt: unknown.
LightLossWeights light_fit(const LightStats& light, std::optional<bool> errors,
                           std::optional<bool> far_errors);

}  // namespace linkhealth
