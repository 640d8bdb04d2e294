// Increases of a port's indicators between readings: the only code that handles resets, wraps and
// saturation, and several counters that count the same events.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/time.h"
#include "model/counters.h"
#include "model/indicators.h"

namespace linkhealth {

/// What one counter adds to its indicator; 0 if another counter has already reported the events.
struct Gain {
  Indicator indicator{};
  double value = 0;
  double seconds = 0;  ///< since the previous reading of the counter

  /// Whether it covers several intervals of this length, because the counter is read less often.
  [[nodiscard]] bool is_spread(double interval_s) const {
    return is_rate(indicator) && interval_s > 0 && seconds > 1.5 * interval_s;
  }
  /// The share of one interval. Damage is not divided: it counts whole.
  [[nodiscard]] double in_interval(double interval_s) const {
    return is_spread(interval_s) ? value * interval_s / seconds : value;
  }
};

/// What one reading adds. An indicator without a gain is unknown: none of its counters was read
/// both times, or they are saturated, or were reset.
struct Increase {
  std::vector<Gain> gains;
  std::set<CounterSource> reset;  ///< sources whose counters decreased

  /// NaN: unknown.
  [[nodiscard]] double of(Indicator indicator) const;
  /// The same for one interval of this length.
  [[nodiscard]] double in_interval(Indicator indicator, double interval_s) const;
};

/// Follows the counters of one port. Sources are read at different times, and several counters
/// count the same events: an event is added once, whichever counters report it.
///
/// A decrease is a reset of all counters of that source, as in Prometheus. It may also be a wrong
/// reading, so that reading is not used: counting restarts at the next one.
class RateCalculator {
 public:
  Increase update(const Counters& reading, SteadyTime now);
  /// All counters were reset.
  void forget() { *this = RateCalculator(); }
  /// When a counter was last read; `otherwise` if unknown.
  [[nodiscard]] SteadyTime read_at(CounterId id, SteadyTime otherwise) const;

 private:
  struct Last {
    std::optional<std::uint64_t> value;  ///< nullopt: it was reset
    SteadyTime at;
    double total;  ///< total of its indicator at that reading
  };
  [[nodiscard]] std::set<CounterSource> decreased(const Counters& reading) const;
  [[nodiscard]] Gain gain(CounterId id, const Last& last, std::uint64_t value, SteadyTime now);
  [[nodiscard]] double& total_of(CounterId id);

  std::map<CounterId, Last> last_;
  std::array<double, kIndicatorCount> totals_{};
};

/// Between two complete readings.
Increase increase_between(const Counters& before, const Counters& after);

}  // namespace linkhealth
