// The timeline of a port for a terminal: plots of light, error ratio and temperature, what was
// counted as sparklines, and what happened as a list.
#pragma once

#include <string>

#include "exporters/text/text_style.h"
#include "model/port_timeline.h"
#include "model/report.h"

namespace linkhealth {

/// `port` names it and gives the limits that the plots show. Ends in a newline.
std::string timeline_text(const PortTimeline& timeline, const PortReport& port,
                          const TextStyle& style);

}  // namespace linkhealth
