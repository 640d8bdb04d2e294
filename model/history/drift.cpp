#include "model/history/drift.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace linkhealth {

namespace {

constexpr auto kBins = static_cast<std::int64_t>(Drift::kBinsADay);
constexpr double kBinSeconds = 86400.0 / Drift::kBinsADay;
constexpr double kSpacingSeconds = kBinSeconds / Drift::kSamplesABin;
constexpr double kLeastDays = 7;
constexpr double kZ = 2.576;  // of a normal distribution, 99 % two-sided

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
  const auto bin =
      static_cast<std::int64_t>(std::floor(in_seconds(at.time_since_epoch()) / kBinSeconds));
  if (!filling_.empty() && bin == bin_ && in_seconds(at - last_) < kSpacingSeconds) return;
  if (bin != bin_) close();
  bin_ = bin;
  last_ = at;
  if (filling_.size() < kSamplesABin) filling_.push_back(value);
}

/// A bin that is less than a quarter full is dropped.
void Drift::close() {
  if (filling_.size() >= kSamplesABin / 4) {
    add_point(bin_, median_of(filling_));
    slope_ = find_slope();
  }
  filling_.clear();
}

/// Adds nothing after the clock was set back.
void Drift::add_point(std::int64_t bin, double value) {
  if (!points_.empty() && bin <= points_.back().bin) return;
  points_.push_back({bin, value});
  while (bin - points_.front().bin >= static_cast<std::int64_t>(kDaysKept) * kBins)
    points_.erase(points_.begin());
}

std::optional<Slope> Drift::find_slope() const {
  Slope result;
  result.over_days = static_cast<double>(points_.back().bin - points_.front().bin) / kBinsADay;
  if (result.over_days < kLeastDays) return std::nullopt;
  std::vector<double> slopes, last_day;
  std::array<double, kBinsADay> in_season{};
  for (const Point& point : points_) {
    ++in_season[static_cast<std::size_t>(point.bin % kBins)];
    if (points_.back().bin - point.bin < kBins) last_day.push_back(point.value);
    for (const Point& later : points_)
      if (const std::int64_t bins = later.bin - point.bin; bins > 0 && bins % kBins == 0)
        slopes.push_back((later.value - point.value) / (static_cast<double>(bins) / kBinsADay));
  }
  double variance = 0;  // of Kendall's S, separately for each time of day
  for (const double n : in_season) variance += n * (n - 1) * (2 * n + 5) / 18;
  // The times of one day are not independent. Count them as one, which gives the test's widest
  // interval.
  variance *= kBinsADay;
  const auto count = static_cast<double>(slopes.size());
  const double wide = kZ * std::sqrt(variance);
  if (slopes.empty() || wide >= count) return std::nullopt;
  std::ranges::sort(slopes);
  result.per_day = at_rank(slopes, (count - 1) / 2);
  result.low_per_day = at_rank(slopes, (count - wide) / 2 - 1);
  result.high_per_day = at_rank(slopes, (count + wide) / 2);
  result.level = median_of(last_day);
  const bool has_sign = result.low_per_day > 0 || result.high_per_day < 0;
  return has_sign ? std::optional(result) : std::nullopt;
}

std::vector<double> Drift::values() const {
  std::vector<double> out;
  for (const Point& point : points_)
    out.insert(out.end(), {static_cast<double>(point.bin), point.value});
  return out;
}

void Drift::assign(const std::vector<double>& values, SteadyTime /*now*/) {
  clear();
  for (std::size_t i = 0; i + 1 < values.size(); i += 2)
    if (std::isfinite(values[i + 1]) && values[i] > 0 && values[i] < 1e9)
      add_point(static_cast<std::int64_t>(values[i]), values[i + 1]);
  if (!points_.empty()) slope_ = find_slope();
}

}  // namespace linkhealth
