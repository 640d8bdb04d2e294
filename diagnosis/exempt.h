// Ports that are not monitored, with the reason that is shown.
#pragma once

#include <string>

#include "diagnosis/features.h"

namespace linkhealth {

/// The note on a port that has a link but is not in the plan, if there is one; otherwise "".
std::string unexpected_note(const PortHistory& port, const ExpectedPort* expected, bool plan_known);
/// "" if the port is monitored. `plan_known`: the configuration expects any ports at all. `faulty`:
/// the port has an open fault, possibly from an earlier run.
std::string exempt_reason(const PortHistory& port, const ExpectedPort* expected, bool plan_known,
                          bool faulty = false);

}  // namespace linkhealth
