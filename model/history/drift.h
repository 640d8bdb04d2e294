// Slow change of one value over weeks, and how sure it is: medians of six hours, Sen's slope over
// pairs that lie whole days apart (so that day and night cancel), with the interval of the seasonal
// Kendall test (Hirsch, Slack and Smith, Water Resources Research 18, 1982).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"

namespace linkhealth {

/// In the value's unit for each day.
struct Slope {
  double per_day = 0;
  double low_per_day = 0, high_per_day = 0;  ///< with 99 %
  double level = 0;                          ///< the median of the last day
  double over_days = 0;                      ///< that the points cover
};

class Drift {
 public:
  static constexpr std::size_t kDaysKept = 28;
  static constexpr std::size_t kBinsADay = 4;  ///< of six hours
  static constexpr std::size_t kSamplesABin = 32;

  void add(WallTime at, double value);
  void clear() { *this = Drift(); }
  /// nullopt before a week is known, or when the interval holds 0.
  [[nodiscard]] std::optional<Slope> slope() const { return slope_; }
  /// Bin and value by turns, oldest first: what survives a restart. The bin that is filling is left
  /// out.
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
  std::optional<Slope> slope_;  ///< of points_
};

}  // namespace linkhealth
