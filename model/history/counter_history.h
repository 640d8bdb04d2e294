// The history of a port's counters: increases in intervals of about ten seconds, and the baseline
// of the bit error ratio.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "model/history/baseline.h"
#include "model/history/carrier_history.h"
#include "model/history/interval.h"
#include "model/history/rate_calculator.h"
#include "model/snapshot.h"

namespace linkhealth {

/// The line rate of a link of this nominal speed, coding included.
double line_rate_bps(double speed_mbps, std::string_view fec);

class CounterHistory {
 public:
  std::deque<Interval> intervals;  ///< newest last; at most one hour and 512 entries
  Baseline ber_log10;              ///< log10 of the ratio in clean intervals
  std::array<Baseline, kMaxLanes> lane_ber_log10;
  Baseline transmit_wait_share;
  std::vector<CounterId> saturated;
  bool corrects = false;               ///< FEC has corrected something: it is on
  std::optional<SteadyTime> lanes_at;  ///< when the FEC lanes were read

  /// Adds a reading. Returns the interval that it completes, valid until the next call, or nullptr.
  const Interval* add(const Increase& increase, const std::vector<FecLane>& lanes,
                      const CarrierHistory& carrier, double line_rate_bps, SteadyTime now);
  /// After a module swap.
  void clear_ber_baselines();
  /// The counters restart at zero.
  void forget_counts();
  void forget_old(SteadyTime now);

 private:
  void add_gain(const Gain& gain, double interval_s, SteadyTime now);
  void add_lanes(const std::vector<FecLane>& lanes, double interval_s, SteadyTime now);
  void close(const CarrierHistory& carrier, double line_rate_bps, SteadyTime now);
  void learn(const Interval& interval);

  std::optional<Interval> open_;
  std::vector<FecLane> last_lanes_;
};

}  // namespace linkhealth
