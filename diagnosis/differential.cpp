#include "diagnosis/differential.h"

#include "diagnosis/joint_row.h"

#include <algorithm>
#include <cmath>

namespace linkhealth {

namespace {

using enum SymptomId;

constexpr std::array<Knob, kDifferentialKnobs> kKnobs = {
    {{"incumbent_nats", 1, 0, 10, "", "how much more a fault that is open already weighs"},
     {"temper_up", 1.4, 0.1, 2, "",
      "exponent on the posterior of a link that carries (calibration)"},
     {"temper_down", 1.4, 0.1, 2, "", "the same of a link that is down"},
     {"cap", 0.99, 0.5, 0.999, "", "no diagnosis is surer than this"},
     {"retrain_odds", 30, 0, 1e6, "",
      "falls from which a link comes back by itself, for each one that stays"},
     {"retrain_median_s", 15, 1, 600, "s",
      "how long that takes (docs/physics.md 7d: 1 to 15 s, by speed)"},
     {"retrain_spread", 0.9, 0.1, 3, "",
      "and its spread, in logarithms: 2 % take longer than 95 s"}}};

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

/// That a link which fell comes back by itself gets less likely with each second that it does not.
/// A fault that is open already explains the fall.
double prior_of_retraining(const DifferentialInput& input, KnobValues knobs) {
  const double least = cause_table().front().prior_down;
  if (input.incumbent != nullptr) return least;
  const double down_s = std::max(input.view.settled_down_s(), 0.1);
  const double still_down = normal_cdf(-std::log(down_s / knobs[5]) / knobs[6]);
  return std::max(least, knobs[4] * all_priors_down() * still_down);
}

/// What a symptom says of a cause, with its logarithms: a logarithm for each symptom and cause of
/// each port and step was most of what judging cost.
struct Letter {
  double p = 0;
  double log_present = 0, log_absent = 0;  ///< what the symptom adds to the cause's score
};

constexpr std::uint8_t kSilent = 0;  ///< the cause does not list it
constexpr std::uint8_t letter_of(Often often) { return static_cast<std::uint8_t>(often) + 1; }

const auto kLetters = [] {
  std::array<Letter, letter_of(Often::kNever) + 1> letters;
  // With a decisive reading, what the cause does not list may be its consequence: neither for nor
  // against.
  letters[kSilent] = {0, std::log(0.3), 0};
  for (const Often often :
       {Often::kAlways, Often::kOften, Often::kSometimes, Often::kRarely, Often::kNever}) {
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
  for (const Expectation& row : expects)
    letters[static_cast<std::size_t>(row.symptom)] = letter_of(row.often);
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

/// The joint row is one of links that carry. Of a link that is down the powers count one by one,
/// unless there is no light at all, which says the same.
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
std::bitset<kSymptomCount> taking_part(const DifferentialInput& input, bool errors) {
  std::bitset<kSymptomCount> ids;
  for (const Symptom& row : symptom_table()) {
    const Finding& finding = at(input.findings, row.id);
    if (finding.verdict == Verdict::kUnknown || held_by_other_row(row.id, input)) continue;
    if ((row.id == kOneLaneErrors || row.id == kFibresAlike) && !errors) continue;
    if (input.view.down && is_traffic(row.id)) continue;
    if (input.explained != nullptr && finding.present() &&
        explains(*input.explained->cause, row.id))
      continue;
    ids.set(static_cast<std::size_t>(row.id));
  }
  return ids;
}

/// By cause; looked up once.
const std::vector<const Fault*>& faults_of_causes() {
  static const auto kFaults = [] {
    std::vector<const Fault*> faults;
    for (const Cause& cause : cause_table()) faults.push_back(&find_fault(cause.fault, cause.end));
    return faults;
  }();
  return kFaults;
}

void rank(Differential& result, const Grounds& grounds) {
  const auto causes = cause_table();
  for (std::size_t i = 1; i < causes.size(); ++i) {
    if (result.posterior[i] <= 0) continue;
    const Fault* fault = faults_of_causes()[i];
    auto found = std::find_if(result.ranked.begin(), result.ranked.end(),
                              [fault](const RankedFault& row) { return row.fault == fault; });
    if (found == result.ranked.end()) {
      result.ranked.push_back({fault, &causes[i], 0, 0});
      found = result.ranked.end() - 1;
    }
    if (result.posterior[i] >
        result.posterior[static_cast<std::size_t>(found->cause - causes.data())])
      found->cause = &causes[i];
    found->probability += result.posterior[i];
  }
  std::stable_sort(
      result.ranked.begin(), result.ranked.end(),
      [](const RankedFault& a, const RankedFault& b) { return a.probability > b.probability; });
  // The confidence of a name supposes that something is wrong: whether, is what opening decides.
  const double exponent = grounds.knobs[grounds.down ? 2 : 1];
  double sum = 0;
  for (RankedFault& row : result.ranked)
    sum += row.confidence = std::pow(row.probability, exponent);
  for (RankedFault& row : result.ranked)
    row.confidence = sum > 0 ? std::min(row.confidence / sum, grounds.knobs[3]) : 0;
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

bool leaves_light_alone(const Cause& cause) {
  return cause.light.errors_if_dim < 0.25 && cause.light.loss[0] > 0.9;
}

std::optional<bool> known(const Finding& finding) {
  return finding.verdict == Verdict::kUnknown ? std::nullopt : std::optional(finding.present());
}

/// The scores of all causes on the same grounds. Sees nothing but them, which is why equal grounds
/// may share an answer.
class Scores {
 public:
  explicit Scores(const Grounds& grounds) : grounds_(grounds) {
    for (const Symptom& row : symptom_table())
      if (grounds.takes_part[static_cast<std::size_t>(row.id)]) ids_.push_back(row.id);
  }

  [[nodiscard]] bool possible(const Cause& cause) const {
    return (cause.media & grounds_.medium) != 0 &&
           (grounds_.explained == nullptr || grounds_.explained->fault != cause.fault);
  }
  [[nodiscard]] double of(std::size_t c) const {
    const Cause& cause = cause_table()[c];
    const bool is_decided = decided(cause);
    double sum = prior_log(c);
    for (const Decisive& row : cause.decisive) sum += decisive(cause, row.symptom);
    const CauseLetters& of_cause = letters(c, is_decided);
    for (const SymptomId id : ids_) sum += says(of_cause, id);
    sum += joint_share(cause, is_decided);
    const Fault* const incumbent = grounds_.incumbent;
    if (incumbent != nullptr && incumbent->name == cause.fault && incumbent->end == cause.end)
      sum += grounds_.knobs[0];
    return sum;
  }
  [[nodiscard]] bool present(SymptomId id) const {
    return grounds_.verdicts[static_cast<std::size_t>(id)] == Verdict::kPresent;
  }
  [[nodiscard]] bool takes_part(SymptomId id) const {
    return grounds_.takes_part[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] double decisive(const Cause& cause, SymptomId id) const {
    for (const Decisive& row : cause.decisive)
      if (row.symptom == id && present(id)) return row.nats;
    return 0;
  }
  [[nodiscard]] bool decided(const Cause& cause) const {
    return std::ranges::any_of(cause.decisive,
                               [this](const Decisive& row) { return present(row.symptom); });
  }
  [[nodiscard]] double prior_log(std::size_t c) const {
    const Cause& cause = cause_table()[c];
    return std::log(c == 0 ? grounds_.healthy : grounds_.down ? cause.prior_down : cause.prior_up);
  }
  [[nodiscard]] const CauseLetters& letters(std::size_t c, bool is_decided) const {
    return c == 0 && grounds_.down ? retraining_letters() : letter_tables()[c][is_decided ? 1 : 0];
  }
  [[nodiscard]] double says(const CauseLetters& of_cause, SymptomId id) const {
    const Letter& letter = kLetters[of_cause[static_cast<std::size_t>(id)]];
    return present(id) ? letter.log_present : letter.log_absent;
  }
  [[nodiscard]] double joint_share(const Cause& cause, bool is_decided) const {
    if (!grounds_.joint) return 0;
    const double row = joint_log(cause, grounds_.light, grounds_.errors, grounds_.suffices);
    return is_decided ? std::max(row, -4.0) : row;
  }

 private:
  const Grounds& grounds_;
  std::vector<SymptomId> ids_;
};

Differential score(const Grounds& grounds) {
  const auto causes = cause_table();
  const Scores scores(grounds);
  Differential result;
  result.light = grounds.light;
  double best = -1e300;
  std::array<double, kMaxCauses> score{};
  for (std::size_t c = 0; c < causes.size(); ++c) {
    score[c] = -1e9;
    if (!scores.possible(causes[c])) continue;
    score[c] = scores.of(c);
    best = std::max(best, score[c]);
  }
  double total = 0;
  for (std::size_t c = 0; c < causes.size(); ++c)
    total += result.posterior[c] = std::exp(score[c] - best);
  for (std::size_t c = 0; c < causes.size(); ++c) result.posterior[c] /= total;
  result.healthy = result.posterior[0];
  rank(result, grounds);
  return result;
}

}  // namespace

Grounds grounds_of(const DifferentialInput& input, KnobValues knobs) {
  const PortView& view = input.view;
  Grounds grounds;
  grounds.medium = medium_bit(view);
  grounds.down = view.down;
  // A first fault that touches neither light nor errors (PCIe, a wrong neighbour) does not account
  // for them.
  grounds.joint =
      !view.down && (input.explained == nullptr || leaves_light_alone(*input.explained->cause));
  grounds.errors = receive_errors(input.findings);
  grounds.light =
      light_likelihood(view.light, grounds.errors, known(at(input.findings, kFarErrors)));
  grounds.suffices = drop_suffices(view);
  grounds.healthy = view.down ? prior_of_retraining(input, knobs) : cause_table()[0].prior_up;
  for (std::size_t i = 0; i < kSymptomCount; ++i) grounds.verdicts[i] = input.findings[i].verdict;
  grounds.takes_part = taking_part(input, grounds.errors == true);
  grounds.incumbent = input.incumbent;
  std::ranges::copy(knobs, grounds.knobs.begin());
  grounds.explained = input.explained != nullptr ? input.explained->cause : nullptr;
  return grounds;
}

Differential differentiate(const DifferentialInput& input, KnobValues knobs) {
  return score(grounds_of(input, knobs));
}

const Differential& RememberedDifferential::of(const DifferentialInput& input, KnobValues knobs) {
  const Grounds grounds = grounds_of(input, knobs);
  if (!last_ || grounds != grounds_) last_ = score(grounds);
  grounds_ = grounds;
  return *last_;
}

std::vector<Share> shares(const DifferentialInput& input, KnobValues knobs, const Cause& named,
                          const Cause& other) {
  const Grounds grounds = grounds_of(input, knobs);
  const Scores scores(grounds);
  const auto index = [](const Cause& cause) {
    return static_cast<std::size_t>(&cause - cause_table().data());
  };
  const bool one = scores.decided(named), two = scores.decided(other);
  std::vector<Share> found{
      {Share::Kind::kPrior, {}, scores.prior_log(index(named)) - scores.prior_log(index(other))}};
  if (grounds.joint)
    found.push_back({Share::Kind::kLightAndErrors,
                     {},
                     scores.joint_share(named, one) - scores.joint_share(other, two)});
  const CauseLetters& ours = scores.letters(index(named), one);
  const CauseLetters& theirs = scores.letters(index(other), two);
  for (const Symptom& row : symptom_table()) {
    double nats = scores.decisive(named, row.id) - scores.decisive(other, row.id);
    if (scores.takes_part(row.id)) nats += scores.says(ours, row.id) - scores.says(theirs, row.id);
    if (nats != 0) found.push_back({Share::Kind::kSymptom, row.id, nats});
  }
  return found;
}

std::vector<Missing> missing_evidence(const Differential& differential, const Findings& findings,
                                      bool down) {
  std::vector<Missing> missing;
  const auto causes = cause_table();
  const auto& tables = letter_tables();
  for (const Symptom& row : symptom_table()) {
    if (at(findings, row.id).verdict != Verdict::kUnknown || row.how.empty()) continue;
    // What only a link that is down (or up) can show is not missing: it does not apply.
    const std::string_view reason = at(findings, row.id).reason;
    if (reason == "the link is up" || reason == "the link is down") continue;
    const bool of_down_links = row.id == kNoPartner || row.id == kNoLight || row.id == kFarTxOff ||
                               row.id == kFarRxDark || row.id == kFarAdminDown ||
                               row.id == kFarModuleAbsent;
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
  std::stable_sort(missing.begin(), missing.end(),
                   [](const Missing& a, const Missing& b) { return a.gain > b.gain; });
  if (missing.size() > 4) missing.resize(4);
  return missing;
}

}  // namespace linkhealth
