// A diagnosis in people's words: one sentence, the evidence for and against, what is missing, what
// to do.
#pragma once

#include <array>
#include <memory>

#include "diagnosis/differential.h"
#include "model/report.h"

namespace linkhealth {

/// Fills the texts and lists of a FaultReport from what the tables said. `ranked` is the row that
/// was named; `undecided_ratio`: a fault with so much of its confidence cannot be told from it;
/// `failed`: what was tried in vain.
void explain(FaultReport& report, const PortView& view, const Findings& findings,
             const Differential& differential, const RankedFault& ranked, double undecided_ratio,
             std::span<const RepairAction> failed = {});
/// What each symptom gave for `ranked` against the runner-up, with the names that people read.
void explain_shares(FaultReport& report, const DifferentialInput& input, KnobValues knobs,
                    const Differential& differential, const RankedFault& ranked);
/// The verdicts of the whole symptom table, and what they were made of.
struct SymptomsTold {
  struct Of {
    Verdict verdict = Verdict::kUnknown;
    StaticText reason;
  };
  std::array<Of, kSymptomCount> of;
  std::vector<SymptomVerdict> verdicts;
};
/// `before`: those of the last step; `neighbour`: those of another port; null: none. Where one of
/// them is of the same findings it is given again: links that are well share one list.
std::shared_ptr<const SymptomsTold> tell_symptoms(
    const Findings& findings, const std::shared_ptr<const SymptomsTold>& before,
    const std::shared_ptr<const SymptomsTold>& neighbour);

}  // namespace linkhealth
