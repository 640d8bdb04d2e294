// Slow change of one value over weeks, with a confidence interval: medians of six hours, Sen's
// slope over pairs that are whole days apart (so that day and night cancel), and the interval of
// the seasonal Kendall test (Hirsch, Slack and Smith, Water Resources Research 18, 1982).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"

namespace linkhealth {

/// In the value's unit per day.
struct Slope {
  double per_day = 0;
  double low_per_day = 0, high_per_day = 0;  ///< 99 % confidence interval
  double level = 0;                          ///< the median of the last day
  double over_days = 0;                      ///< covered by the points
};

class Drift {
 public:
  static constexpr std::size_t kDaysKept = 28;
  static constexpr std::size_t kBinsADay = 4;  ///< bins of six hours
  static constexpr std::size_t kSamplesABin = 32;

  void add(WallTime at, double value);
  void clear() { *this = Drift(); }
  /// nullopt before a week of data, or if the interval contains 0.
  [[nodiscard]] std::optional<Slope> slope() const { return slope_; }
  /// Alternately bin and value, oldest first: what survives a restart. Omits the bin being filled.
  [[nodiscard]] std::vector<double> values() const;
  void assign(const std::vector<double>& values, SteadyTime now = {});
  [[nodiscard]] bool ready() const { return !points_.empty(); }

 private:
  struct Point {
    std::int64_t bin;
    double value;
  };
  void close();
  void add_point(std::int64_t bin, double value);
  [[nodiscard]] std::optional<Slope> find_slope() const;

  std::vector<Point> points_;  ///< oldest first
  std::int64_t bin_ = 0;
  WallTime last_;
  std::vector<double> filling_;
  std::optional<Slope> slope_;  ///< slope of points_
};

}  // namespace linkhealth
