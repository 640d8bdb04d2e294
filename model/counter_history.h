// What is remembered of a port's counters: increases in intervals of about ten seconds, and the bit
// error ratio that is normal for the link.
#pragma once

#include <deque>
#include <vector>

#include "model/baseline.h"
#include "model/interval.h"
#include "model/module_history.h"

namespace linkhealth {

struct CounterHistory {
  std::deque<Interval> intervals;  ///< newest last; at most an hour and 512
  Baseline ber_log10;              ///< of clean intervals, decades
  PerLane<Baseline> lane_ber_log10;
  Baseline transmit_wait_share;
  std::vector<CounterId> saturated;  ///< counters that stand at their ends
};

/// How the link was when its carrier was lost last.
struct BeforeLoss {
  std::optional<double> ber;
  double uncorrectable = 0;
  std::optional<double> rx_below_baseline_db;  ///< of the lane that lost most
  std::optional<double> temperature_c;         ///< of the module, as it was read last
};

/// What the receiver at the far end counted.
struct PeerHistory {
  struct Errors {
    SteadyTime t;
    double errors;
  };
  std::vector<Errors> errors;  ///< increases, 1 h
  /// A far error counter stands at its end: errors came, at an unknown time.
  bool errors_saturated = false;
};

}  // namespace linkhealth
