// The baseline of one value of one link: a small, slowly replaced set of trusted samples. Abnormal
// samples are refused; otherwise a fault would become its own baseline.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"

namespace linkhealth {

class Baseline {
 public:
  static constexpr std::size_t kCapacity = 16;
  static constexpr std::size_t kEnough = 4;
  static constexpr std::size_t kRefusedEnough = 2;  ///< a single one may be a glitch

  /// How samples are judged while there are fewer than kEnough.
  enum class Young : std::uint8_t {
    kTakeAll,  ///< accept all: the value still settles (temperature after a start)
    /// A low value is taken for a fault and refused; a high one discards the samples before it.
    kGuardLow,
    kGuardHigh,  ///< the other way round
  };

  /// Gates are distances from the median: a sample below median - low or above median + high is
  /// refused.
  void add(SteadyTime t, double value, double low, double high, Young young = Young::kTakeAll) {
    const double spacing_s = values_.size() >= kCapacity           ? 3600
                             : ready() || young == Young::kTakeAll ? 30
                                                                   : 8;
    if (!values_.empty() && in_seconds(t - last_) < spacing_s) return;
    if (!values_.empty() && (ready() || young != Young::kTakeAll)) {
      const double middle = quantile(0.5);
      const bool below = value<middle - low, above = value> middle + high;
      if (!ready() && (young == Young::kGuardLow ? above : below)) {
        clear();
      } else if (below || above) {
        if (!ready()) ++refused_;
        return;
      }
    }
    refused_ = 0;
    push(value);
    last_ = t;
  }
  /// Oldest first.
  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  /// Restores the baseline from before a restart: the newest kCapacity finite values, oldest first.
  void assign(const std::vector<double>& values, SteadyTime now) {
    clear();
    for (const double value : values)
      if (std::isfinite(value)) push(value);
    last_ = now;
  }
  void clear() { *this = Baseline(); }
  [[nodiscard]] bool ready() const { return values_.size() >= kEnough; }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  /// Ready; or a fault occurred while it was still young: then the few samples from before are
  /// used.
  [[nodiscard]] bool usable() const {
    return ready() || (!values_.empty() && refused_ >= kRefusedEnough);
  }
  /// nullopt until usable().
  [[nodiscard]] std::optional<double> median() const {
    return usable() ? std::optional(quantile(0.5)) : std::nullopt;
  }
  /// For values that drift upwards as the part fails.
  [[nodiscard]] std::optional<double> lower_quartile() const {
    return usable() ? std::optional(quantile(0.25)) : std::nullopt;
  }

 private:
  void push(double value) {
    if (values_.size() >= kCapacity) values_.erase(values_.begin());
    values_.push_back(value);
  }
  [[nodiscard]] double quantile(double q) const {
    std::vector<double> sorted = values_;
    std::ranges::sort(sorted);
    const double at = q * static_cast<double>(sorted.size() - 1);
    const auto low = static_cast<std::size_t>(at);
    const std::size_t high = std::min(low + 1, sorted.size() - 1);
    return sorted[low] + (sorted[high] - sorted[low]) * (at - static_cast<double>(low));
  }

  std::vector<double> values_;
  std::size_t refused_ = 0;  ///< refused since the last accepted sample, while young
  SteadyTime last_;
};

}  // namespace linkhealth
