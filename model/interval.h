// What the counters of a port counted between two readings that are about ten seconds apart.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "model/indicators.h"

namespace linkhealth {

inline constexpr std::size_t kMaxLanes = 16;

struct Interval {
  Interval() { increases.fill(kUnknownValue); }

  SteadyTime begin, end;
  bool carrier = false;  ///< up all the time
  bool clean = false;  ///< and no transition within 20 s before: training errors are not the link's
  IndicatorValues increases{};       ///< NaN: not known
  std::vector<double> lane_bits;     ///< corrected bits of each FEC lane; NaN: not known
  double ber = kUnknownValue;        ///< pre-FEC, all lanes; NaN: not known
  double ber_floor = kUnknownValue;  ///< what half a bit error would have been
  double line_rate_bps = 0;

  [[nodiscard]] double seconds() const { return in_seconds(end - begin); }
  [[nodiscard]] double increase(Indicator indicator) const {
    return increases[static_cast<std::size_t>(indicator)];
  }
  /// Share of the line rate; NaN: no octets were counted.
  [[nodiscard]] double utilization() const {
    const double octets = std::fmax(increase(Indicator::kRxOctets), increase(Indicator::kTxOctets));
    return line_rate_bps > 0 && seconds() > 0 ? octets * 8 / (line_rate_bps * seconds())
                                              : kUnknownValue;
  }
  /// Indicators of which a counter was read.
  [[nodiscard]] IndicatorSet known() const {
    return those([](double value) { return !std::isnan(value); });
  }
  /// Indicators that increased.
  [[nodiscard]] IndicatorSet counted() const {
    return those([](double value) { return value > 0; });
  }

 private:
  template <typename Wanted>
  [[nodiscard]] IndicatorSet those(Wanted wanted) const {
    IndicatorSet set;
    for (std::size_t i = 0; i < increases.size(); ++i)
      if (wanted(increases[i])) set.add(static_cast<Indicator>(i));
    return set;
  }
};

}  // namespace linkhealth
