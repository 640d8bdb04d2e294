// What the rules did on a node: which faults were opened, and which symptoms spoke for them. A rule
// that never decided anything is a candidate for deletion (`linkhealth rules --unused`).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/time.h"

namespace linkhealth {

using RuleCounts = std::map<std::string, std::uint64_t>;

struct RuleUse {
  WallTime since;       ///< when counting began; survives restarts
  RuleCounts faults;    ///< how often each was opened, by "dirty_connector/path"
  RuleCounts symptoms;  ///< how often each spoke for a fault that was opened, by name
  bool operator==(const RuleUse&) const = default;
};

}  // namespace linkhealth
