// Increases of a port's indicators between two readings that are about ten seconds apart.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "base/time.h"
#include "model/indicators.h"

namespace linkhealth {

inline constexpr std::size_t kMaxLanes = 16;

class Interval {
 public:
  SteadyTime begin, end;
  bool carrier = false;  ///< up all the time
  /// And no transition in the 20 s before: errors while training are not the link's.
  bool clean = false;
  std::vector<double> lane_bits;     ///< corrected bits of each FEC lane; NaN: not known
  double ber = kUnknownValue;        ///< pre-FEC, all lanes; NaN: not known
  double ber_floor = kUnknownValue;  ///< the ratio that half a bit error would give
  double line_rate_bps = 0;

  void add(Indicator indicator, double increase) {
    double& sum = increases_[static_cast<std::size_t>(indicator)];
    sum += increase;
    known_.add(indicator);
    if (sum > 0) counted_.add(indicator);
  }
  [[nodiscard]] double seconds() const { return in_seconds(end - begin); }
  /// NaN: unknown.
  [[nodiscard]] double increase(Indicator indicator) const {
    return known_.has(indicator) ? increases_[static_cast<std::size_t>(indicator)] : kUnknownValue;
  }
  /// Share of the line rate; NaN: no octets were counted.
  [[nodiscard]] double utilization() const {
    const double octets = std::fmax(increase(Indicator::kRxOctets), increase(Indicator::kTxOctets));
    return line_rate_bps > 0 && seconds() > 0 ? octets * 8 / (line_rate_bps * seconds())
                                              : kUnknownValue;
  }
  /// Indicators with at least one counter read.
  [[nodiscard]] IndicatorSet known() const { return known_; }
  /// Indicators that increased.
  [[nodiscard]] IndicatorSet counted() const { return counted_; }

 private:
  std::array<double, kIndicatorCount> increases_{};
  IndicatorSet known_, counted_;
};

}  // namespace linkhealth
