// Ports that are not monitored, with the reason that is shown.
#pragma once

#include <string>

#include "diagnosis/features.h"

namespace linkhealth {

/// A port that has a link though a plan exists and does not name it; "" for every other one.
std::string unexpected_note(const PortHistory& port, const ExpectedPort* expected, bool plan_known);
/// "" when the port is monitored. `plan_known`: the configuration has expected ports at all.
/// `faulty`: a fault of it is open, maybe since an earlier run.
std::string exempt_reason(const PortHistory& port, const ExpectedPort* expected, bool plan_known,
                          bool faulty = false);

}  // namespace linkhealth
