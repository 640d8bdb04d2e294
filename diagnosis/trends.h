// Where slow changes of a link lead: which limit is reached when.
#pragma once

#include <vector>

#include "diagnosis/port_view.h"
#include "model/report.h"

namespace linkhealth {

/// Only what is sure (99 %) and reaches its limit within `within_days`.
std::vector<Trend> trends_of(const PortView& view, KnobValues knobs);
std::span<const Knob> trend_knobs();

}  // namespace linkhealth
