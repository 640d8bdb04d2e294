// "Cannot be told apart from here": two faults that what can be read leaves side by side, and the
// cheapest next test.
#pragma once

#include <optional>
#include <span>

#include "diagnosis/differential.h"
#include "model/repair.h"

namespace linkhealth {

struct Rival {
  RankedFault other;                 ///< the fault that cannot be told from the named one
  std::optional<SymptomId> reading;  ///< that would tell best, and is not known
  const RepairStep* step =
      nullptr;  ///< where no reading would tell: the first step whose success does
};

/// The named fault's rival, when its confidence is at least `ratio` of the named one's; nullopt:
/// the name leads.
std::optional<Rival> rival_of(const Differential& differential, const RankedFault& named,
                              const Findings& findings, bool down, double ratio,
                              std::span<const RepairAction> failed);

}  // namespace linkhealth
