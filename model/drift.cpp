#include "model/drift.h"

#include <algorithm>
#include <cmath>

namespace linkhealth {

namespace {

constexpr double kBinSeconds = 86400.0 / Drift::kBinsADay;
constexpr double kSpacingSeconds = kBinSeconds / Drift::kSamplesABin;
constexpr double kLeastDays = 7;
constexpr double kZ = 2.576;  // of a normal distribution, 99 % two-sided

double seconds_of(WallTime at) { return in_seconds(at.time_since_epoch()); }

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double at_rank(const std::vector<double>& sorted, double rank) {
  const double bounded = std::clamp(std::round(rank), 0.0, static_cast<double>(sorted.size() - 1));
  return sorted[static_cast<std::size_t>(bounded)];
}

}  // namespace

void Drift::add(WallTime at, double value) {
  if (!std::isfinite(value)) return;
  const auto bin = static_cast<std::int64_t>(std::floor(seconds_of(at) / kBinSeconds));
  if (!filling_.empty() && bin == bin_ && in_seconds(at - last_) < kSpacingSeconds) return;
  if (bin != bin_) close();
  bin_ = bin;
  last_ = at;
  if (filling_.size() < kSamplesABin) filling_.push_back(value);
}

void Drift::close() {
  // Half an hour of a bin is not six hours; a clock that was set back adds nothing.
  const bool enough = filling_.size() >= kSamplesABin / 4;
  if (enough && (points_.empty() || bin_ > points_.back().bin)) {
    points_.push_back({bin_, median_of(filling_)});
    while (points_.back().bin - points_.front().bin >=
           static_cast<std::int64_t>(kDaysKept * kBinsADay))
      points_.erase(points_.begin());
    slope_.reset();
  }
  filling_.clear();
}

std::optional<Slope> Drift::slope() const {
  if (slope_) return *slope_;
  slope_.emplace(std::nullopt);
  if (points_.empty()) return std::nullopt;
  Slope result;
  result.over_days = static_cast<double>(points_.back().bin - points_.front().bin) / kBinsADay;
  if (result.over_days < kLeastDays) return std::nullopt;
  std::vector<double> slopes;
  std::array<double, kBinsADay> in_season{};
  std::vector<double> last_day;
  for (const Point& point : points_) ++in_season[static_cast<std::size_t>(point.bin) % kBinsADay];
  for (std::size_t i = 0; i < points_.size(); ++i) {
    for (std::size_t j = i + 1; j < points_.size(); ++j) {
      const std::int64_t bins = points_[j].bin - points_[i].bin;
      if (bins % static_cast<std::int64_t>(kBinsADay) == 0)
        slopes.push_back((points_[j].value - points_[i].value) /
                         (static_cast<double>(bins) / kBinsADay));
    }
    if (points_.back().bin - points_[i].bin < static_cast<std::int64_t>(kBinsADay))
      last_day.push_back(points_[i].value);
  }
  double variance = 0;  // of Kendall's S, each time of day for itself
  for (const double n : in_season) variance += n * (n - 1) * (2 * n + 5) / 18;
  // The times of one day are not independent: count them as one (the widest interval that the test
  // knows).
  variance *= kBinsADay;
  const auto count = static_cast<double>(slopes.size());
  const double wide = kZ * std::sqrt(variance);
  if (slopes.empty() || wide >= count) return std::nullopt;
  std::sort(slopes.begin(), slopes.end());
  result.per_day = at_rank(slopes, (count - 1) / 2);
  result.low_per_day = at_rank(slopes, (count - wide) / 2 - 1);
  result.high_per_day = at_rank(slopes, (count + wide) / 2);
  result.level = median_of(last_day);
  if (result.low_per_day > 0 || result.high_per_day < 0) slope_.emplace(result);
  return *slope_;
}

std::vector<double> Drift::values() const {
  std::vector<double> out;
  for (const Point& point : points_) {
    out.push_back(static_cast<double>(point.bin));
    out.push_back(point.value);
  }
  return out;
}

void Drift::assign(const std::vector<double>& values) {
  clear();
  for (std::size_t i = 0; i + 1 < values.size() && points_.size() < kDaysKept * kBinsADay; i += 2) {
    if (!std::isfinite(values[i + 1]) || !(values[i] > 0 && values[i] < 1e9)) continue;
    const auto bin = static_cast<std::int64_t>(values[i]);
    if (points_.empty() || bin > points_.back().bin) points_.push_back({bin, values[i + 1]});
  }
}

}  // namespace linkhealth
