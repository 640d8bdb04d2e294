// Ports of which nothing is expected, with the reason that people see.
#pragma once

#include <string>

#include "diagnosis/features.h"

namespace linkhealth {

/// A port that has a link though a plan exists and does not name it; "" for every other one.
std::string unexpected_note(const PortHistory& port, const ExpectedPort* expected, bool plan_known);
/// "" when the port is to be judged. `plan_known`: configuration says what is expected of ports at
/// all. `faulty`: a fault of it is open, maybe since an earlier run.
std::string exempt_reason(const PortHistory& port, const ExpectedPort* expected, bool plan_known,
                          bool faulty = false);

}  // namespace linkhealth
