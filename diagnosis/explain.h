// A diagnosis in people's words: one sentence, the evidence for and against, what is missing, what to do.
#pragma once

#include <string>

#include "diagnosis/differential.h"
#include "model/report.h"

namespace linkhealth {

/// Fills the texts and lists of a FaultReport from what the tables said. `ranked` is the row that was named;
/// `undecided_ratio`: a fault with so much of its confidence cannot be told from it; `failed`: what was tried in vain.
void explain(FaultReport& report, const PortView& view, const Findings& findings, const Differential& differential,
             const RankedFault& ranked, double undecided_ratio, std::span<const RepairAction> failed = {});
/// The verdicts of the whole symptom table. `before`: those of the last step, given again while they are the same,
/// which they mostly are.
SharedList<SymptomVerdict> symptom_verdicts(const Findings& findings, const SharedList<SymptomVerdict>& before = {});

}  // namespace linkhealth
