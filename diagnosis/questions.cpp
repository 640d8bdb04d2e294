#include "diagnosis/questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace linkhealth {

// ------------------------------------------------------------------------------ missing readings

std::vector<MissingReading> missing_readings(const Differential& differential,
                                             const Findings& findings) {
  constexpr double kLeastVariance = 0.01;
  constexpr std::size_t kMost = 4;
  std::vector<MissingReading> missing;
  for (const Symptom& row : symptom_table()) {
    const Finding& finding = at(findings, row.id);
    if (!finding.unknown() || !finding.applicable || row.how.empty()) continue;
    double mean = 0, square = 0, mass = 0;
    for (const Cause& cause : cause_table().subspan(1)) {
      const double weight = differential.posterior[index_of(cause)];
      const double p = probability(cause, row.id);
      mass += weight;
      mean += weight * p;
      square += weight * p * p;
    }
    if (mass <= 0) continue;
    const double variance = square / mass - (mean / mass) * (mean / mass);
    if (variance > kLeastVariance) missing.push_back({row.id, variance});
  }
  std::ranges::stable_sort(missing, std::greater(), &MissingReading::variance);
  if (missing.size() > kMost) missing.resize(kMost);
  return missing;
}

std::string faults_told_apart(const Differential& differential, const RankedFault& named,
                              SymptomId symptom) {
  constexpr double kTellsApart = 0.3;  // "often" against "sometimes"
  constexpr double kWorthSaying = 0.005;
  const double own = probability(*named.cause, symptom);
  std::string text;
  for (const RankedFault& other : differential.ranked) {
    if (other.fault == named.fault || other.confidence < kWorthSaying) continue;
    if (std::abs(probability(*other.cause, symptom) - own) < kTellsApart) continue;
    text += fmt::format("{}{} ({:.0f}%)", text.empty() ? "" : ", ", title_in_sentence(*other.fault),
                        std::max(other.confidence * 100, 1.0));
  }
  return text;
}

// -------------------------------------------------------------------------------- the runner-up

namespace {

/// The missing reading that distinguishes the two best.
std::optional<SymptomId> telling_reading(const std::vector<MissingReading>& missing, const Cause& a,
                                         const Cause& b) {
  constexpr double kTellsApart = 0.4;  // "often" against "rarely"
  std::optional<SymptomId> best;
  double most = kTellsApart;
  for (const MissingReading& row : missing) {
    const double apart = std::abs(probability(a, row.symptom) - probability(b, row.symptom));
    if (apart <= most) continue;
    most = apart;
    best = row.symptom;
  }
  return best;
}

bool is_among(const RepairStep& step, const std::vector<const RepairStep*>& others) {
  return std::ranges::any_of(others, [&step](const RepairStep* other) {
    return step.action == other->action &&
           (step.action != RepairAction::kLook || step.text == other->text);
  });
}

/// The first step of one that is not a step of the other: whether it helps decides. Otherwise the
/// first that is left at all.
const RepairStep* telling_step(const Cause& a, const Cause& b,
                               std::span<const RepairAction> failed) {
  const auto own = steps_left(repair_of(a), failed);
  const auto theirs = steps_left(repair_of(b), failed);
  const RepairStep* best = nullptr;  // the cheaper one of the two
  const auto consider = [&best](const auto& steps, const auto& others) {
    const auto first = std::ranges::find_if(
        steps, [&others](const RepairStep* step) { return !is_among(*step, others); });
    if (first != steps.end() && (best == nullptr || (*first)->action < best->action)) best = *first;
  };
  consider(own, theirs);
  consider(theirs, own);
  return best == nullptr && !own.empty() ? own.front() : best;
}

/// The evidence supports both equally: the named one leads only because it is more common.
bool seen_alike(const RankedFault& named, const RankedFault& other, bool down) {
  constexpr double kAlike = 0.5;
  return other.probability * prior(*named.cause, down) >=
         kAlike * named.probability * prior(*other.cause, down);
}

}  // namespace

std::optional<RunnerUp> ambiguous_with(const Differential& differential, const RankedFault& named,
                                       const Findings& findings, bool down,
                                       std::span<const RepairAction> failed) {
  constexpr double kRatio = 0.4;     // of the named fault's confidence
  constexpr double kInGroup = 0.15;  // then these are named, too
  const RankedFault* other = nullptr;
  for (const RankedFault& row : differential.ranked)
    if (row.fault != named.fault && (other == nullptr || row.confidence > other->confidence))
      other = &row;
  if (other == nullptr) return std::nullopt;
  RunnerUp runner_up;
  runner_up.other = *other;
  runner_up.reading =
      telling_reading(missing_readings(differential, findings), *named.cause, *other->cause);
  // A missing reading is no reason to leave the other fault out.
  const bool unread = runner_up.reading && seen_alike(named, *other, down);
  // A fault outside the cable must not hide a cable fault that the missing reading would show.
  const bool clears = !down && runner_up.reading && clears_cable(named) && touches_cable(*other);
  const double least = clears ? kLeastOfCable : unread ? kRatio / 2 : kRatio;
  if (other->confidence < least * named.confidence) return std::nullopt;
  if (!runner_up.reading) runner_up.step = telling_step(*named.cause, *other->cause, failed);
  for (const RankedFault& row : differential.ranked)
    if (row.fault == named.fault || row.fault == other->fault ||
        row.confidence >= kInGroup * named.confidence)
      runner_up.names.push_back(row);
  return runner_up;
}

// ------------------------------------------------------------------------------------- ruled out

namespace {

/// Whether it is a plausible alternative: it explains a present symptom that the named cause
/// explains, too.
bool is_neighbour(const Cause& cause, const Cause& named, const Findings& findings) {
  constexpr double kGivesErrors = 0.6;
  const bool errors = at(findings, SymptomId::kReceiveErrors).present();
  if (errors && cause.light.errors_if_dim > kGivesErrors) return true;
  return std::ranges::any_of(symptom_table(), [&](const Symptom& row) {
    const bool shows = cause.expects.always.has(row.id) || cause.expects.often.has(row.id) ||
                       cause.expects.sometimes.has(row.id);
    return shows && at(findings, row.id).present() && explains(named, row.id);
  });
}

const Comparison* failed_comparison(const Finding& finding) {
  if (!finding.absent()) return nullptr;
  const auto failed = std::ranges::find(finding.comparisons, false, &Comparison::held);
  return failed == finding.comparisons.end() ? nullptr : &*failed;
}

std::vector<const Cause*> neighbours(const Features& f, const Findings& findings,
                                     const RankedFault& named) {
  constexpr double kSeldom = 0.1;  // of all links that are up, or down
  std::vector<const Cause*> found;
  for (const Cause& cause : cause_table().subspan(1))
    if (const Fault& fault = fault_of(cause.fault);
        prior(cause, f.down) > kSeldom && fault.life.effect != Effect::kBlinds &&
        fault.name != named.fault->name && is_possible(cause, f) &&
        is_neighbour(cause, *named.cause, findings))
      found.push_back(&cause);
  std::ranges::stable_sort(found, std::greater(),
                           [&f](const Cause* cause) { return prior(*cause, f.down); });
  return found;
}

}  // namespace

std::vector<RuledOut> ruled_out(const Features& f, const Findings& findings,
                                const RankedFault& named) {
  constexpr std::size_t kMost = 5;
  std::vector<RuledOut> found;
  const std::vector<const Cause*> near = neighbours(f, findings, named);
  const auto against = [&](const Cause& cause, SymptomId id) {
    return cause.expects.always.has(id) && !explains(*named.cause, id)
               ? failed_comparison(at(findings, id))
               : nullptr;
  };
  // A fault is ruled out when each of its causes is.
  const auto stays_possible = [&](const Cause* cause) {
    return std::ranges::none_of(
        symptom_table(), [&](const Symptom& row) { return against(*cause, row.id) != nullptr; });
  };
  for (const Cause* other : near) {
    if (std::ranges::any_of(near, [&](const Cause* one) {
          return one->fault == other->fault && stays_possible(one);
        }))
      continue;
    for (const Symptom& row : symptom_table()) {
      const Comparison* const seen = against(*other, row.id);
      if (seen == nullptr) continue;
      const Fault* const fault = &fault_of(other->fault);
      const bool elsewhere = std::ranges::any_of(found, [&](const RuledOut& one) {
        return one.symptom != row.id && std::ranges::count(one.faults, fault) > 0;
      });
      if (elsewhere) continue;  // one reading per fault is enough
      const auto known = std::ranges::find(found, row.id, &RuledOut::symptom);
      if (known == found.end())
        found.push_back({row.id, *seen, {fault}});
      else if (known->faults.size() < 2 && std::ranges::count(known->faults, fault) == 0)
        known->faults.push_back(fault);
    }
  }
  if (found.size() > kMost) found.resize(kMost);
  return found;
}

// ---------------------------------------------------------------------------- weight of evidence

std::vector<EvidenceWeight> evidence_weights(const Observations& seen, const Cause& named,
                                             const Cause& other) {
  std::vector<EvidenceWeight> found{
      {"prior probability of each fault", log_prior(named, seen) - log_prior(other, seen)}};
  if (seen.joint)
    found.push_back(
        {"light and errors combined", log_joint_row(named, seen) - log_joint_row(other, seen)});
  if (const double nats = log_down_reason(named, seen) - log_down_reason(other, seen); nats != 0)
    found.push_back({"the driver's down reason", nats});
  for (const Symptom& row : symptom_table()) {
    const double nats = log_symptom(named, row.id, seen) - log_symptom(other, row.id, seen);
    if (nats != 0) found.push_back({row.name, nats});
  }
  std::ranges::stable_sort(found, std::greater(),
                           [](const EvidenceWeight& row) { return std::abs(row.nats); });
  return found;
}

// ------------------------------------------------------------------------------ confusable pairs

namespace {

using Shows = std::array<double, kSymptomCount>;

/// What a fault shows: its causes, weighted by frequency.
Shows shows_of(const Fault& fault) {
  Shows shows{};
  double total = 0;
  for (const Cause& cause : cause_table()) {
    if (cause.fault != fault.id) continue;
    const double weight = cause.prior_up + cause.prior_down;
    total += weight;
    for (std::size_t i = 0; i < kSymptomCount; ++i)
      shows[i] += weight * marginal_probability(cause, static_cast<SymptomId>(i));
  }
  for (double& value : shows) value = std::clamp(value / total, 0.005, 0.995);
  return shows;
}

/// How well a yes-or-no reading distinguishes two faults: the symmetric Kullback-Leibler
/// divergence, in nats.
double divergence(double a, double b) {
  return (a - b) * (std::log(a / (1 - a)) - std::log(b / (1 - b)));
}

/// The pair, if all readings would distinguish it but those of `seen` do not.
std::optional<ConfusablePair> confusable(const Fault& a, const Fault& b, EvidenceSources seen) {
  // Distinguished: the readings shift the odds by this many nats in each direction on average: 7 to
  // 1.
  constexpr double kToldApartNats = 2;
  const Shows shows_a = shows_of(a), shows_b = shows_of(b);
  double all = 0, visible = 0;
  std::array<double, kEvidenceSourceCount> hidden{};
  for (const Symptom& row : symptom_table()) {
    const auto i = static_cast<std::size_t>(row.id);
    const double nats = divergence(shows_a[i], shows_b[i]) / 2;
    all += nats;
    if (row.sources.empty() || row.sources.has_any(seen)) {
      visible += nats;
      continue;
    }
    for (std::size_t kind = 0; kind < kEvidenceSourceCount; ++kind)
      if (row.sources.has_any(static_cast<EvidenceSource>(kind))) hidden[kind] += nats;
  }
  if (visible >= kToldApartNats || all < kToldApartNats) return std::nullopt;
  const auto best = std::ranges::max_element(hidden) - hidden.begin();
  return ConfusablePair{&a, &b, static_cast<EvidenceSource>(best)};
}

}  // namespace

std::vector<ConfusablePair> confusable_pairs(EvidenceSources seen) {
  std::vector<ConfusablePair> found;
  const auto faults = fault_table();
  for (std::size_t a = 0; a < faults.size(); ++a)
    for (std::size_t b = a + 1; b < faults.size(); ++b)
      // The owner of the link is known without any reading (is_possible).
      if (faults[a].id != FaultId::kProviderLink && faults[b].id != FaultId::kProviderLink &&
          (media_of(faults[a].id) & media_of(faults[b].id)) != 0)
        if (const auto pair = confusable(faults[a], faults[b], seen)) found.push_back(*pair);
  return found;
}

std::string title_in_sentence(const Fault& fault) {
  std::string text(fault.title);
  const auto is_upper = [&text](std::size_t i) {
    return i < text.size() && std::isupper(static_cast<unsigned char>(text[i])) != 0;
  };
  if (is_upper(0) && !is_upper(1))  // not "PCIe", "NIC"
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace linkhealth
