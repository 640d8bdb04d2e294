#include "diagnosis/undecided.h"

#include <algorithm>
#include <cmath>

namespace linkhealth {

namespace {

/// A reading tells two faults apart when their words for it differ by so much: "often" against
/// "rarely".
constexpr double kTellsApart = 0.4;

double shown_by(const Cause& cause, SymptomId symptom) {
  for (const Expectation& row : cause.expects)
    if (row.symptom == symptom) return probability(row.often);
  return probability(Often::kNever);
}

/// The reading that is missing and tells the two apart best.
std::optional<SymptomId> telling(const std::vector<Missing>& missing, const Cause& a,
                                 const Cause& b) {
  std::optional<SymptomId> best;
  double most = kTellsApart;
  for (const Missing& row : missing) {
    const double apart = std::abs(shown_by(a, row.symptom) - shown_by(b, row.symptom));
    if (apart <= most) continue;
    most = apart;
    best = row.symptom;
  }
  return best;
}

/// The first step of one that is no step of the other: whether it helps decides. Then the first
/// that is left at all.
const RepairStep* telling_step(const Fault& a, const Fault& b,
                               std::span<const RepairAction> failed) {
  const auto own = steps_left(a, failed);
  const auto theirs = steps_left(b, failed);
  const auto shared = [](const RepairStep* step, const std::vector<const RepairStep*>& others) {
    return std::any_of(others.begin(), others.end(), [step](const RepairStep* other) {
      return step->remedy == Remedy::kLook ? step->text == other->text
                                           : step->remedy == other->remedy;
    });
  };
  // Ladders stand cheapest first, and so do the remedies: of the two, the cheaper step is tried.
  const RepairStep* best = nullptr;
  for (const auto& [steps, others] : {std::pair(own, theirs), std::pair(theirs, own)})
    for (const RepairStep* step : steps) {
      if (shared(step, others)) continue;
      if (best == nullptr || step->remedy < best->remedy) best = step;
      break;
    }
  if (best == nullptr && !own.empty()) best = own.front();
  return best;
}

double prior_of(const Cause& cause, bool down) { return down ? cause.prior_down : cause.prior_up; }

/// What is seen speaks for the one as much as for the other: the first leads because it comes more
/// often, no more.
bool seen_alike(const RankedFault& named, const RankedFault& other, bool down) {
  constexpr double kAlike = 0.5;
  return other.probability * prior_of(*named.cause, down) >=
         kAlike * named.probability * prior_of(*other.cause, down);
}

}  // namespace

std::optional<Rival> rival_of(const Differential& differential, const RankedFault& named,
                              const Findings& findings, bool down, double ratio,
                              std::span<const RepairAction> failed) {
  const RankedFault* other = nullptr;
  for (const RankedFault& row : differential.ranked)
    if (row.fault != named.fault && (other == nullptr || row.confidence > other->confidence))
      other = &row;
  if (other == nullptr) return std::nullopt;
  Rival rival{*other,
              telling(missing_evidence(differential, findings, down), *named.cause, *other->cause),
              nullptr};
  // What nobody read is no reason to leave it out.
  const bool unread = rival.reading && seen_alike(named, *other, down);
  if (other->confidence < (unread ? ratio / 2 : ratio) * named.confidence) return std::nullopt;
  if (!rival.reading) rival.step = telling_step(*named.fault, *other->fault, failed);
  return rival;
}

}  // namespace linkhealth
