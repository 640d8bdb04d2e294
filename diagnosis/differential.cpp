#include "diagnosis/differential.h"

#include <algorithm>
#include <cmath>

namespace linkhealth {

namespace {

using enum SymptomId;

constexpr Knob kKnobs[] = {
    {"incumbent_nats", 1, 0, 10, "", "how much more a fault that is open already weighs"},
    {"temper_up", 1.4, 0.1, 2, "", "exponent on the posterior of a link that carries (calibration)"},
    {"temper_down", 1.4, 0.1, 2, "", "the same of a link that is down"},
    {"cap", 0.99, 0.5, 0.999, "", "no diagnosis is surer than this"},
    {"retrain_odds", 30, 0, 1e6, "", "falls from which a link comes back by itself, for each one that stays"},
    {"retrain_median_s", 15, 1, 600, "s", "how long that takes (docs/physics.md 7d: 1 to 15 s, by speed)"},
    {"retrain_spread", 0.9, 0.1, 3, "", "and its spread, in logarithms: 2 % take longer than 95 s"}};

/// Symptoms that the joint row of light and errors holds already.
bool in_joint_row(SymptomId id) {
  switch (id) {
    case kReceiveErrors:
    case kLosingData:
    case kLightLow:
    case kTxLow:
    case kFarTxLow:
    case kFarRxLow:
    case kLinkDown:
      return true;
    default:
      return false;
  }
}

bool is_traffic(SymptomId id) {
  return id == kCongested || id == kHostDrops || id == kRetries || id == kForwardedErrors;
}

std::uint8_t medium_bit(const PortView& view) {
  switch (view.medium) {
    case Medium::kOptical:
      return view.multimode ? kOnMultimode : kOnOptical;
    case Medium::kAoc:
      return kOnAoc;
    case Medium::kCopper:
      return kOnCopper;
    case Medium::kUnknown:
      return kOnUnknown;
  }
  return kOnUnknown;
}

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

double all_priors_down() {
  static const double kSum = [] {
    double sum = 0;
    for (const Cause& cause : cause_table()) sum += cause.prior_down;
    return sum;
  }();
  return kSum;
}

/// That a link which fell comes back by itself gets less likely with each second that it does not. A fault that is open
/// already explains the fall.
double prior_of_retraining(const DifferentialInput& input, KnobValues knobs) {
  const double least = cause_table().front().prior_down;
  if (input.incumbent != nullptr) return least;
  const double down_s = std::max(input.view.settled_down_s(), 0.1);
  const double still_down = normal_cdf(-std::log(down_s / knobs[5]) / knobs[6]);
  return std::max(least, knobs[4] * all_priors_down() * still_down);
}

/// Density of a reading where no light was lost: noise, with tails for remating and temperature.
double quiet(double drop, double sigma) {
  const double z = drop / sigma;
  return 0.97 * std::exp(-z * z / 2) / (sigma * 2.5066) + 0.03 * std::exp(-std::abs(drop) / 0.6) / 1.2;
}
/// Density of a reading where light was lost: contamination is lognormal with median 0.8 dB (docs/physics.md 7d),
/// breaks and dying lasers go beyond. Below half a dB nothing shows.
double lost(double drop, double sigma) {
  const double onset = normal_cdf((drop - 0.85 - (sigma - 0.2)) / std::max(sigma, 0.2));
  return onset * 0.33 * std::exp(-std::max(drop, 0.0) / 3.0) + 1e-4;
}

/// How well each place of loss fits the four measured drops. A reading that is not there fits everything.
/// `errors`, `far_errors`: whether light that is missing does harm; nullopt: not known.
std::array<double, kLightLossCount> light_likelihood(const LightStats& light, std::optional<bool> errors_known,
                                                     std::optional<bool> far_errors) {
  const bool errors = errors_known == true;
  std::array<double, kLightLossCount> fit;
  fit.fill(1);
  // Another patch cord costs or gives a decibel or two. Without harm, less light is a fault only beyond that.
  const auto harmless = [&light](const std::optional<Drop>& drop, std::optional<bool> harm) {
    const bool known_or_touched = harm == false || (!harm && light.touched);
    return drop && !drop->tells_alone && known_or_touched && drop->db < light.alone_db;
  };
  const auto weigh = [&fit, errors](const std::optional<Drop>& drop, std::array<bool, kLightLossCount> is_lost) {
    // Against its siblings instead of its own past: only errors make a low lane worth a word.
    if (!drop || (drop->sigma_db > 0.4 && !errors && !drop->tells_alone)) return;
    for (std::size_t i = 0; i < kLightLossCount; ++i)
      fit[i] *= is_lost[i] ? lost(drop->db, drop->sigma_db) : quiet(drop->db, drop->sigma_db);
  };
  //                     none  incoming outgoing both  far laser own laser
  const bool little_left = light.margin_db && *light.margin_db < 1;
  if (little_left || !harmless(light.rx, errors_known)) weigh(light.rx, {false, true, false, true, true, false});
  if (!harmless(light.far_rx, far_errors)) weigh(light.far_rx, {false, false, true, true, false, true});
  weigh(light.far_tx, {false, false, false, false, true, false});
  weigh(light.tx, {false, false, false, false, false, true});
  double sum = 0;
  for (const double value : fit) sum += value;
  for (double& value : fit) value = std::max(value / sum, 1e-9);
  return fit;
}

bool dims_receiver(std::size_t loss) {
  const auto place = static_cast<LightLoss>(loss);
  return place == LightLoss::kIncoming || place == LightLoss::kBoth || place == LightLoss::kFarLaser;
}

/// Whether the measured loss of light is enough for the rise of the error rate: the least drop that a receiver without
/// an error floor needs (docs/physics.md 7b). 1 when one of them is not known.
double drop_suffices(const PortView& view) {
  const SignalStats& s = view.signal;
  if (!view.light.rx || !s.ber || !s.ber_reference || view.light.rx->sigma_db > 0.4) return 1;
  double after = *s.ber;
  if (s.worst_lane >= 0) after = std::max(after, s.lane_ber[static_cast<std::size_t>(s.worst_lane)]);
  const double before = std::max(*s.ber_reference, 1e-13);
  const bool pam4 = view.link().fec == "RS544" || view.link().fec == "LLRS";
  const double needed = implied_drop_db(before, after, pam4);
  return std::max(0.02, normal_cdf((view.light.rx->db - 0.8 * needed + 0.2) / 0.3));
}

/// Errors, no errors, or not known: pooled over the symptoms that count the same damage.
std::optional<bool> receive_errors(const Findings& findings) {
  if (at(findings, kReceiveErrors).present() || at(findings, kLosingData).present()) return true;
  if (at(findings, kReceiveErrors).absent() || at(findings, kLosingData).absent()) return false;
  return std::nullopt;
}

double joint_log(const Cause& cause, const std::array<double, kLightLossCount>& fit, std::optional<bool> errors,
                 double suffices) {
  double sum = 0;
  for (std::size_t i = 0; i < kLightLossCount; ++i) {
    double term = cause.light.loss[i] * fit[i];
    if (errors) {
      const bool dim = dims_receiver(i);
      const double p = dim ? cause.light.errors_if_dim : cause.light.errors_if_bright;
      // Light lost by less than the errors need does not explain them.
      const double explained = dim ? std::max(p * suffices, std::min(p, cause.light.errors_if_bright)) : p;
      term *= *errors ? explained : 1 - p;
    }
    sum += term;
  }
  return std::log(std::max(sum, 1e-12));
}

/// What a symptom says of a cause, with its logarithms: a logarithm for each symptom and cause of each port and step
/// was most of what judging cost.
struct Letter {
  double p = 0;
  double log_present = 0, log_absent = 0;  ///< what the symptom adds to the cause's score
};

constexpr std::uint8_t kSilent = 0;  ///< the cause does not list it
constexpr std::uint8_t letter_of(Often often) { return static_cast<std::uint8_t>(often) + 1; }

const auto kLetters = [] {
  std::array<Letter, letter_of(Often::kNever) + 1> letters;
  // With a decisive reading, what the cause does not list may be its consequence: neither for nor against.
  letters[kSilent] = {0, std::log(0.3), 0};
  for (const Often often : {Often::kAlways, Often::kOften, Often::kSometimes, Often::kRarely, Often::kNever}) {
    const double p = probability(often);
    letters[letter_of(often)] = {p, std::log(p), std::log(1 - p)};
  }
  return letters;
}();

/// By symptom, an index into kLetters.
using CauseLetters = std::array<std::uint8_t, kSymptomCount>;

CauseLetters letters_of(std::span<const Expectation> expects, bool decided) {
  CauseLetters letters{};
  letters.fill(decided ? kSilent : letter_of(Often::kNever));
  for (const Expectation& row : expects) letters[static_cast<std::size_t>(row.symptom)] = letter_of(row.often);
  return letters;
}

/// The letters do not change: looked up once.
const std::vector<std::array<CauseLetters, 2>>& letter_tables() {
  static const auto kTables = [] {
    std::vector<std::array<CauseLetters, 2>> tables;
    for (const Cause& cause : cause_table())
      tables.push_back({letters_of(cause.expects, false), letters_of(cause.expects, true)});
    return tables;
  }();
  return kTables;
}

const CauseLetters& retraining_letters() {
  static const CauseLetters kTable = letters_of(retraining_expects(), false);
  return kTable;
}

/// The joint row is one of links that carry. Of a link that is down the powers count one by one, unless there is no
/// light at all, which says the same.
bool held_by_other_row(SymptomId id, const DifferentialInput& input) {
  if (!in_joint_row(id)) return false;
  if (!input.view.down) return true;
  if (id == kLightLow) return at(input.findings, kNoLight).present();
  if (id == kTxLow) return at(input.findings, kTxOff).present();
  if (id == kFarTxLow) return at(input.findings, kFarTxOff).present();
  if (id == kFarRxLow) return at(input.findings, kFarRxDark).present();
  return true;
}

/// Symptoms that take part: known, and not held by another row or explained by the first fault.
std::vector<SymptomId> taking_part(const DifferentialInput& input, bool errors) {
  std::vector<SymptomId> ids;
  for (const Symptom& row : symptom_table()) {
    const Finding& finding = at(input.findings, row.id);
    if (finding.verdict == Verdict::kUnknown || held_by_other_row(row.id, input)) continue;
    if (row.id == kOneLaneErrors && !errors) continue;
    if (input.view.down && is_traffic(row.id)) continue;
    if (input.explained != nullptr && finding.present() && explains(*input.explained->cause, row.id)) continue;
    ids.push_back(row.id);
  }
  return ids;
}

void rank(Differential& result, const DifferentialInput& input, KnobValues knobs) {
  const auto causes = cause_table();
  for (std::size_t i = 1; i < causes.size(); ++i) {
    if (result.posterior[i] <= 0) continue;
    const Fault* fault = &find_fault(causes[i].fault, causes[i].end);
    auto found = std::find_if(result.ranked.begin(), result.ranked.end(),
                              [fault](const RankedFault& row) { return row.fault == fault; });
    if (found == result.ranked.end()) {
      result.ranked.push_back({fault, &causes[i], 0, 0});
      found = result.ranked.end() - 1;
    }
    if (result.posterior[i] > result.posterior[static_cast<std::size_t>(found->cause - causes.data())])
      found->cause = &causes[i];
    found->probability += result.posterior[i];
  }
  std::stable_sort(result.ranked.begin(), result.ranked.end(),
                   [](const RankedFault& a, const RankedFault& b) { return a.probability > b.probability; });
  // The confidence of a name supposes that something is wrong: whether, is what opening decides.
  const double exponent = knobs[input.view.down ? 2 : 1];
  double sum = 0;
  for (RankedFault& row : result.ranked) sum += std::pow(row.probability, exponent);
  for (RankedFault& row : result.ranked)
    row.confidence = sum > 0 ? std::min(std::pow(row.probability, exponent) / sum, knobs[3]) : 0;
  if (result.ranked.size() > 6) result.ranked.resize(6);
}

}  // namespace

std::span<const Knob> differential_knobs() { return kKnobs; }

bool explains(const Cause& cause, SymptomId symptom) {
  for (const Expectation& row : cause.expects)
    if (row.symptom == symptom) return row.often != Often::kNever;
  return false;
}

namespace {

bool leaves_light_alone(const Cause& cause) { return cause.light.errors_if_dim < 0.25 && cause.light.loss[0] > 0.9; }

}  // namespace

Differential differentiate(const DifferentialInput& input, KnobValues knobs) {
  const auto causes = cause_table();
  const auto& tables = letter_tables();
  const PortView& view = input.view;
  Differential result;
  const std::optional<bool> errors = receive_errors(input.findings);
  const Finding& far = at(input.findings, kFarErrors);
  result.light = light_likelihood(view.light, errors,
                                  far.verdict == Verdict::kUnknown ? std::nullopt : std::optional(far.present()));
  const double suffices = drop_suffices(view);
  // A first fault that touches neither light nor errors (PCIe, a wrong neighbour) does not account for them.
  const bool joint = !view.down && (input.explained == nullptr || leaves_light_alone(*input.explained->cause));
  const auto ids = taking_part(input, errors == true);
  const double healthy = view.down ? prior_of_retraining(input, knobs) : causes[0].prior_up;
  double best = -1e300;
  std::array<double, kMaxCauses> score{};
  for (std::size_t c = 0; c < causes.size(); ++c) {
    const Cause& cause = causes[c];
    if ((cause.media & medium_bit(view)) == 0 ||
        (input.explained != nullptr && input.explained->fault->name == cause.fault)) {
      score[c] = -1e9;
      continue;
    }
    double sum = std::log(c == 0 ? healthy : view.down ? cause.prior_down : cause.prior_up);
    bool decided = false;
    for (const Decisive& row : cause.decisive)
      if (at(input.findings, row.symptom).present()) {
        sum += row.nats;
        decided = true;
      }
    const CauseLetters& letters = c == 0 && view.down ? retraining_letters() : tables[c][decided ? 1 : 0];
    for (const SymptomId id : ids) {
      const auto i = static_cast<std::size_t>(id);
      const Letter& letter = kLetters[letters[i]];
      sum += input.findings[i].present() ? letter.log_present : letter.log_absent;
    }
    if (joint && !decided) sum += joint_log(cause, result.light, errors, suffices);
    if (joint && decided) sum += std::max(joint_log(cause, result.light, errors, suffices), -4.0);
    if (input.incumbent != nullptr && input.incumbent->name == cause.fault && input.incumbent->end == cause.end)
      sum += knobs[0];
    score[c] = sum;
    best = std::max(best, sum);
  }
  double total = 0;
  for (std::size_t c = 0; c < causes.size(); ++c) total += result.posterior[c] = std::exp(score[c] - best);
  for (std::size_t c = 0; c < causes.size(); ++c) result.posterior[c] /= total;
  result.healthy = result.posterior[0];
  rank(result, input, knobs);
  return result;
}

std::vector<Missing> missing_evidence(const Differential& differential, const Findings& findings, bool down) {
  std::vector<Missing> missing;
  const auto causes = cause_table();
  const auto& tables = letter_tables();
  for (const Symptom& row : symptom_table()) {
    if (at(findings, row.id).verdict != Verdict::kUnknown || row.how.empty()) continue;
    // What only a link that is down (or up) can show is not missing: it does not apply.
    const std::string_view reason = at(findings, row.id).reason;
    if (reason == "the link is up" || reason == "the link is down") continue;
    const bool of_down_links = row.id == kNoPartner || row.id == kNoLight || row.id == kFarTxOff ||
                               row.id == kFarRxDark || row.id == kFarAdminDown || row.id == kFarModuleAbsent;
    if (of_down_links && !down) continue;
    double mean = 0, square = 0, mass = 0;
    for (std::size_t c = 1; c < causes.size(); ++c) {
      const double weight = differential.posterior[c];
      const double p = kLetters[tables[c][0][static_cast<std::size_t>(row.id)]].p;
      mass += weight;
      mean += weight * p;
      square += weight * p * p;
    }
    if (mass <= 0) continue;
    const double gain = square / mass - (mean / mass) * (mean / mass);
    if (gain > 0.01) missing.push_back({row.id, gain});
  }
  std::stable_sort(missing.begin(), missing.end(), [](const Missing& a, const Missing& b) { return a.gain > b.gain; });
  if (missing.size() > 4) missing.resize(4);
  return missing;
}

}  // namespace linkhealth
