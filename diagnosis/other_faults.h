// What a diagnosis says of the faults that it is not: which of them a reading speaks against, and
// which of them a reading that is missing would tell apart.
#pragma once

#include <string>
#include <vector>

#include "diagnosis/differential.h"
#include "diagnosis/faults.h"

namespace linkhealth {

/// What was read, does not show, and another fault that also explains what does show would always
/// show. The likeliest other faults first, at most `most`.
struct RuledOut {
  SymptomId symptom;
  Comparison seen;                   ///< the comparison that failed
  std::vector<const Fault*> faults;  ///< at most two
};
std::vector<RuledOut> ruled_out(const PortView& view, const Findings& findings,
                                const RankedFault& named, std::size_t most);

/// "damaged fibre (4%), failing transmitter in the far module (1%)": the faults of the differential
/// that this reading would tell from `named`; "" when it would only make `named` more or less sure.
std::string decides(const Differential& differential, const RankedFault& named, SymptomId symptom);

/// "damaged fibre": a title inside a sentence.
std::string title_in_sentence(const Fault& fault);

}  // namespace linkhealth
