// The timeline of a port for a terminal: plots of light, error ratio and temperature, counts as
// sparklines, and a list of events.
#pragma once

#include <string>

#include "exporters/text/text_style.h"
#include "model/port_timeline.h"
#include "model/report.h"

namespace linkhealth {

/// `port` provides the name, and the limits drawn in the plots. Ends in a newline.
std::string timeline_text(const PortTimeline& timeline, const PortReport& port,
                          const TextStyle& style);

}  // namespace linkhealth
