// A diagnosis in words: one sentence, the evidence for and against, what is missing, what to do.
#pragma once

#include <span>
#include <vector>

#include "diagnosis/differential.h"
#include "model/report.h"

namespace linkhealth {

/// Fills the texts and lists of a FaultReport from the tables. `ranked`: the row that was named;
/// `failed`: actions that did not help.
void explain(FaultReport& report, const Features& features, const Findings& findings,
             const Differential& differential, const RankedFault& ranked,
             std::span<const RepairAction> failed = {});
/// How much each symptom favours `ranked` over the runner-up, which may be "healthy".
EvidenceShares explain_shares(const Observations& seen, const Differential& differential,
                              const RankedFault& ranked);
/// What to check, at both ends, while a link is down and its cause is not determined yet.
std::vector<std::string> undiagnosed_checks(const Features& features);
/// The results of the whole symptom table.
std::vector<SymptomVerdict> symptom_verdicts(const Findings& findings);

}  // namespace linkhealth
