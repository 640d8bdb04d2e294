// The light of a link: power sent, lost and received, per lane and against the module's limits.
#pragma once

#include <string>

#include "exporters/text/text_style.h"
#include "model/report.h"

namespace linkhealth {

/// The lines "Light dBm" and "Lanes Rx" of `explain`. Empty if the module reports no received power
/// (copper, no module, unreadable).
std::string lanes_text(const PortReport& port, const TextStyle& style, SteadyTime t);
/// The link budget of both directions, for `explain --physics`. Unreadable parts are named.
std::string physics_text(const PortReport& port, const TextStyle& style);

}  // namespace linkhealth
