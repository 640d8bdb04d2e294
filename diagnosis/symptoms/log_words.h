// What the kernel's log says of a link that is down, as symptoms may use it.
#pragma once

#include <optional>

#include "diagnosis/port_view.h"
#include "model/kernel_log.h"

namespace linkhealth::symptoms {

/// When the log said it last of this link that is down: since it fell or shortly before, and what
/// it says later does not refute it. The log is read from its oldest line, which may be weeks old
/// when the monitor starts.
std::optional<SteadyTime> said_in_log(const PortView& v, KernelLogClass what);

}  // namespace linkhealth::symptoms
