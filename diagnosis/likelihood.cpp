#include "diagnosis/likelihood.h"

#include <algorithm>
#include <cmath>

namespace linkhealth {

namespace {

using enum SymptomId;

/// The numbers behind a word of the cause table. Estimates; docs/adr/0002-differential.md.
struct Word {
  double probability;
  double log_present = std::log(probability), log_absent = std::log(1 - probability);
};
const Word kAlways{0.95}, kOften{0.6}, kSometimes{0.25}, kRarely{0.05}, kNever{0.005};
/// If there is a decisive reading, symptoms that the cause does not list may be its consequences,
/// and hardly count against it.
const Word kConsequence{0.3, std::log(0.3), 0};

const Word& word_of(const Expectations& expects, SymptomId symptom, const Word& unlisted) {
  if (expects.always.has(symptom)) return kAlways;
  if (expects.often.has(symptom)) return kOften;
  if (expects.sometimes.has(symptom)) return kSometimes;
  if (expects.rarely.has(symptom)) return kRarely;
  return unlisted;
}

/// A link that went down and comes back by itself is healthy.
const Expectations& expectations_of(const Cause& cause, bool down) {
  return cause.fault == FaultId::kHealthy && down ? retraining_expectations() : cause.expects;
}

bool is_decided(const Cause& cause, const Observations& seen) {
  return std::ranges::any_of(cause.expects.decisive, [&seen](const Decisive& row) {
    return row.nats > 0 && seen.present.has(row.symptom);
  });
}

std::uint8_t medium_bit(const Features& f) {
  switch (f.medium) {
    case Medium::kOptical:
      return f.multimode ? kOnMultimode : kOnOptical;
    case Medium::kAoc:
      return kOnAoc;
    case Medium::kCopper:
      return kOnCopper;
    case Medium::kUnknown:
      return kOnUnknown;
  }
  return kOnUnknown;
}

/// The joint row applies to links that are up, and includes these symptoms.
constexpr SymptomSet kInJointRow{kReceiveErrors, kLosingData, kLightLow, kTxLow,
                                 kFarTxLow,      kFarRxLow,   kLinkDown};
/// On a link that is down the powers count one by one, unless there is no light at all, which means
/// the same.
struct Twin {
  SymptomId low, dark;
};
constexpr Twin kTwins[] = {
    {kLightLow, kNoLight}, {kTxLow, kTxOff}, {kFarTxLow, kFarTxOff}, {kFarRxLow, kFarRxDark}};
constexpr SymptomSet kTraffic{kCongested, kHostDrops, kRetries, kForwardedErrors};
/// These mean something only if there are errors.
constexpr SymptomSet kWithErrors{kOneLaneErrors, kFibresAlike};

bool counts_alone(SymptomId id, const Features& f, const Findings& findings, bool errors) {
  if (kWithErrors.has(id) && !errors) return false;
  if (kTraffic.has(id)) return !f.down;
  if (!kInJointRow.has(id)) return true;
  const auto twin = std::ranges::find(kTwins, id, &Twin::low);
  return f.down && twin != std::end(kTwins) && !at(findings, twin->dark).present();
}

/// A primary fault that concerns neither light nor errors (PCIe, wrong neighbour) does not explain
/// them.
bool leaves_light_alone(const Cause& cause) {
  return cause.light.errors_if_dim < 0.25 && cause.light.loss[0] > 0.9;
}

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

/// Density of a reading if no light was lost: noise, with tails for mating again and temperature.
double quiet_density(const LightLossEstimate& e) {
  const double z = e.loss_db / e.sigma_db;
  return 0.97 * std::exp(-z * z / 2) / (e.sigma_db * 2.5066) +
         0.03 * std::exp(-std::abs(e.loss_db) / 0.6) / 1.2;
}
/// Density of a reading if light was lost: contamination is lognormal with median 0.8 dB
/// (docs/physics.md 7d), breaks and dying lasers lose more. Less than 0.5 dB is not visible.
double lost_density(const LightLossEstimate& e) {
  const double onset =
      normal_cdf((e.loss_db - 0.85 - (e.sigma_db - 0.2)) / std::max(e.sigma_db, 0.2));
  return onset * 0.33 * std::exp(-std::max(e.loss_db, 0.0) / 3.0) + 1e-4;
}

/// The longer a link stays down, the less likely it comes back by itself.
double prior_of_retraining(const Features& f) {
  // number of links that come back by themselves per link that stays down.
  constexpr double kOdds = 30;
  constexpr double kMedianS = 15;  // how long that takes (docs/physics.md 7d: 1 to 15 s, by speed)
  constexpr double kSpread = 0.9;  // of the logarithm: 2 % take longer than 95 s
  double all_down = 0;
  for (const Cause& cause : cause_table())
    if (cause.fault != FaultId::kProviderLink) all_down += cause.prior_down;
  const double down_s = std::max(f.settled_down_s(), 0.1);
  const double still_down = normal_cdf(-std::log(down_s / kMedianS) / kSpread);
  return std::max(cause_table().front().prior_down, kOdds * all_down * still_down);
}

}  // namespace

Observations observations_of(const Features& f, const Findings& findings, bool is_open,
                             const Cause* explained) {
  Observations seen;
  seen.down = f.down;
  seen.joint = !f.down && (explained == nullptr || leaves_light_alone(*explained));
  seen.errors = receive_errors(findings);
  const Finding& far = at(findings, kFarErrors);
  seen.light =
      light_fit(f.light, seen.errors, far.unknown() ? std::nullopt : std::optional(far.present()));
  // An open fault already explains why the link went down.
  seen.prior_healthy =
      f.down && !is_open ? prior_of_retraining(f) : prior(cause_table().front(), f.down);
  seen.verdicts.fill(Verdict::kUnknown);
  for (const Symptom& row : symptom_table()) {
    const Finding& finding = at(findings, row.id);
    if (finding.present()) seen.present.add(row.id);
    const bool has_reason =
        explained != nullptr && finding.present() && explains(*explained, row.id);
    if (!has_reason && counts_alone(row.id, f, findings, seen.errors == true))
      seen.verdicts[static_cast<std::size_t>(row.id)] = finding.verdict;
  }
  return seen;
}

bool is_possible(const Cause& cause, const Features& f) {
  using enum FaultId;
  // All that a machine can know about a link of its provider.
  constexpr std::array kOfProvider{FaultId::kHealthy, kProviderLink, kAdminDown,     kNicFault,
                                   kHostBottleneck,   kCongestion,   kLossElsewhere, kMonitorBlind};
  if (f.of_provider && std::ranges::find(kOfProvider, cause.fault) == kOfProvider.end())
    return false;
  if (!f.of_provider && cause.fault == kProviderLink) return false;
  return (cause.media & medium_bit(f)) != 0;
}

double prior(const Cause& cause, bool down) { return down ? cause.prior_down : cause.prior_up; }

double probability(const Cause& cause, SymptomId symptom) {
  return word_of(cause.expects, symptom, kNever).probability;
}

double marginal_probability(const Cause& cause, SymptomId symptom) {
  const auto& loss = cause.light.loss;
  const auto lost = [&loss](LightLoss place) { return loss[static_cast<std::size_t>(place)]; };
  const double dim =
      lost(LightLoss::kIncoming) + lost(LightLoss::kBoth) + lost(LightLoss::kFarLaser);
  switch (symptom) {
    case kLightLow:
      return dim;
    case kTxLow:
      return lost(LightLoss::kOwnLaser);
    case kFarTxLow:
      return lost(LightLoss::kFarLaser);
    case kFarRxLow:
      return lost(LightLoss::kOutgoing) + lost(LightLoss::kBoth) + lost(LightLoss::kOwnLaser);
    case kLinkDown:
      return cause.prior_down / (cause.prior_up + cause.prior_down);
    case kReceiveErrors:
      return dim * cause.light.errors_if_dim + (1 - dim) * cause.light.errors_if_bright;
    default:
      return probability(cause, symptom);
  }
}

bool explains(const Cause& cause, SymptomId symptom) {
  return &word_of(cause.expects, symptom, kNever) != &kNever;
}

double log_prior(const Cause& cause, const Observations& seen) {
  return std::log(cause.fault == FaultId::kHealthy ? seen.prior_healthy : prior(cause, seen.down));
}

double log_joint_row(const Cause& cause, const Observations& seen) {
  constexpr double kLeastIfDecided = -4;
  if (!seen.joint) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < kLightLossCount; ++i) {
    double term = cause.light.loss[i] * seen.light[i];
    if (seen.errors) {
      const auto place = static_cast<LightLoss>(i);
      const bool dim = place == LightLoss::kIncoming || place == LightLoss::kBoth ||
                       place == LightLoss::kFarLaser;
      const double p = dim ? cause.light.errors_if_dim : cause.light.errors_if_bright;
      term *= *seen.errors ? p : 1 - p;
    }
    sum += term;
  }
  const double row = std::log(std::max(sum, 1e-12));
  return is_decided(cause, seen) ? std::max(row, kLeastIfDecided) : row;
}

double log_down_reason(const Cause& cause, const Observations& seen) {
  constexpr double kLeastOther = 0.05;  // a reason of none of these kinds
  const Expectations& expects = expectations_of(cause, seen.down);
  double all = 0, known = 0, given = 0;
  for (std::size_t i = 0; i < kSymptomCount; ++i) {
    const auto id = static_cast<SymptomId>(i);
    if (!kDownReasons.has(id)) continue;
    const double p = word_of(expects, id, kNever).probability;
    all += p;
    if (seen.verdicts[i] != Verdict::kUnknown) known += p;
    if (seen.verdicts[i] == Verdict::kPresent) given = std::max(given, p);
  }
  if (known == 0) return 0;
  all += std::max(kLeastOther, 1 - all);
  const double p = (given > 0 ? given : all - known) / all;
  return std::log(is_decided(cause, seen) ? std::max(p, kConsequence.probability) : p);
}

double log_symptom(const Cause& cause, SymptomId symptom, const Observations& seen) {
  double nats = 0;
  for (const Decisive& row : cause.expects.decisive)
    if (row.symptom == symptom && row.nats > 0 && seen.present.has(symptom)) nats += row.nats;
  const Verdict verdict = seen.verdicts[static_cast<std::size_t>(symptom)];
  if (verdict == Verdict::kUnknown || kDownReasons.has(symptom)) return nats;
  const Word& word = word_of(expectations_of(cause, seen.down), symptom,
                             is_decided(cause, seen) ? kConsequence : kNever);
  return nats + (verdict == Verdict::kPresent ? word.log_present : word.log_absent);
}

double log_likelihood(const Cause& cause, const Observations& seen) {
  double sum = log_prior(cause, seen) + log_joint_row(cause, seen) + log_down_reason(cause, seen);
  for (std::size_t i = 0; i < kSymptomCount; ++i)
    sum += log_symptom(cause, static_cast<SymptomId>(i), seen);
  return sum;
}

LightLossWeights light_fit(const LightStats& light, std::optional<bool> errors,
                           std::optional<bool> far_errors) {
  // Another patch cord changes the light by 1 to 2 dB (docs/physics.md 3e): less light that does no
  // harm is a fault only beyond that.
  constexpr double kAloneDb = 3;
  // If the carrier was never lost, the patch cord is the same: a smaller loss is enough (six times
  // the noise).
  constexpr double kAloneUntouchedDb = 1.5;
  const double alone_db = light.touched ? kAloneDb : kAloneUntouchedDb;
  const auto harmless = [&light, alone_db](const std::optional<LightLossEstimate>& e,
                                           std::optional<bool> harm) {
    return e && !e->sure_alone && e->loss_db < alone_db && !harm.value_or(!light.touched);
  };
  // If light is lost on the incoming path and does harm, light lost on the outgoing path is not due
  // to a patch cord either.
  const bool rx_counts = !harmless(light.rx, errors);
  const bool far_rx_counts =
      !harmless(light.far_rx, far_errors) || (errors == true && light.rx && rx_counts);
  LightLossWeights fit;
  fit.fill(1);
  const auto weigh = [&fit, errors](const std::optional<LightLossEstimate>& estimate,
                                    std::array<bool, kLightLossCount> is_lost) {
    // Relative to its siblings rather than its own past: a low lane counts only if there are
    // errors.
    if (!estimate || (!estimate->against_past() && errors != true && !estimate->sure_alone)) return;
    for (std::size_t i = 0; i < kLightLossCount; ++i)
      fit[i] *= is_lost[i] ? lost_density(*estimate) : quiet_density(*estimate);
  };
  //                    none   incoming outgoing both far laser own laser
  if (rx_counts) weigh(light.rx, {false, true, false, true, true, false});
  if (far_rx_counts) weigh(light.far_rx, {false, false, true, true, false, true});
  weigh(light.far_tx, {false, false, false, false, true, false});
  weigh(light.tx, {false, false, false, false, false, true});
  double sum = 0;
  for (const double value : fit) sum += value;
  for (double& value : fit) value = std::max(value / sum, 1e-9);
  return fit;
}

}  // namespace linkhealth
