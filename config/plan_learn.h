// A cabling plan out of what other programs have seen: the saved output of `ibnetdiscover` and of
// `lldpctl -f json`.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/plan.h"

namespace linkhealth {

/// Every link of a channel adapter (a line "[1](guid) "S-…"[7] … # lid … "leaf-1" …" below "Ca 1
/// "H-…" # "gpu-1 mlx5_0""). Adapters whose description names no device ("gpu-1 HCA-1") keep that
/// name. An error when it is no such output.
Result<std::vector<PlanRow>> learn_from_ibnetdiscover(std::string_view text);
/// Every neighbour of `node`, by network interface. An error when it is not lldpctl's JSON.
Result<std::vector<PlanRow>> learn_from_lldpctl(std::string_view json, std::string_view node);
/// Whichever of both it is.
Result<std::vector<PlanRow>> learn_plan(std::string_view text, std::string_view node);

}  // namespace linkhealth
