// What the traffic counters of a port say, over the long window and over the newest stretch of it.
#pragma once

#include "diagnosis/port_view.h"

namespace linkhealth {

struct TrafficLimits {
  double window_s, full_s, run_s, bin_s, idle_share, marks_per_s, pause_per_s, drops_per_s,
      pause_sent_per_s, stalls_per_s, wait_share;
};

void fill_traffic(PortView& view, const TrafficLimits& limits);

}  // namespace linkhealth
