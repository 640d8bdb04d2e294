// What is normal for one value of one link: a small set of trusted samples, slowly replaced. A
// sample that is already abnormal does not enter, or a fault would become its own normal.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"

namespace linkhealth {

class Baseline {
 public:
  static constexpr std::size_t kCapacity = 16;
  static constexpr std::size_t kEnough = 4;
  static constexpr std::size_t kRefusedEnough = 2;  ///< one may be a glitch

  /// What the gates do while there are fewer than kEnough samples.
  enum class Young : std::uint8_t {
    kTakeAll,    ///< nothing: the value settles (temperature after a start)
    kGuardLow,   ///< a low value is a fault's: it stays out; a high one says that those before were
    kGuardHigh,  ///< the other way round
  };

  /// Gates are distances from the median: a sample below median - low or above median + high stays
  /// out.
  void add(SteadyTime t, double value, double low, double high, Young young = Young::kTakeAll) {
    const double spacing_s = count_ >= kCapacity                             ? 3600
                             : count_ >= kEnough || young == Young::kTakeAll ? 30
                                                                             : 8;
    if (count_ > 0 && in_seconds(t - last_) < spacing_s) return;
    if (count_ > 0 && (count_ >= kEnough || young != Young::kTakeAll)) {
      const bool below = value < middle_ - low;
      const bool above = value > middle_ + high;
      const bool better = young == Young::kGuardLow ? above : below;
      if (count_ < kEnough && better) {
        clear();
      } else if (below || above) {
        if (count_ < kEnough) ++refused_;
        return;
      }
    }
    refused_ = 0;
    values_[next_] = value;
    next_ = (next_ + 1) % kCapacity;
    count_ = std::min(count_ + 1, kCapacity);
    last_ = t;
    middle_ = quantile(0.5);
    quartile_ = quantile(0.25);
  }
  /// Oldest first.
  [[nodiscard]] std::vector<double> values() const {
    std::vector<double> out;
    for (std::size_t i = 0; i < count_; ++i)
      out.push_back(values_[(next_ + kCapacity - count_ + i) % kCapacity]);
    return out;
  }
  /// Takes over what was normal before a restart: the newest kCapacity of `values` (oldest first)
  /// that are numbers.
  void assign(const std::vector<double>& values, SteadyTime now) {
    clear();
    for (const double value : values) {
      if (!std::isfinite(value)) continue;
      values_[next_] = value;
      next_ = (next_ + 1) % kCapacity;
      count_ = std::min(count_ + 1, kCapacity);
    }
    if (count_ == 0) return;
    last_ = now;
    middle_ = quantile(0.5);
    quartile_ = quantile(0.25);
  }
  void clear() { *this = Baseline(); }
  [[nodiscard]] bool ready() const { return count_ >= kEnough; }
  [[nodiscard]] std::size_t size() const { return count_; }
  /// Ready, or so young that a fault came first: what stays out shows against the few samples from
  /// before.
  [[nodiscard]] bool usable() const {
    return ready() || (count_ > 0 && refused_ >= kRefusedEnough);
  }
  /// The median; nullopt until it is usable.
  [[nodiscard]] std::optional<double> median() const {
    return usable() ? std::optional(middle_) : std::nullopt;
  }
  /// For values that drift up when they fail.
  [[nodiscard]] std::optional<double> lower_quartile() const {
    return usable() ? std::optional(quartile_) : std::nullopt;
  }

 private:
  [[nodiscard]] double quantile(double q) const {
    std::array<double, kCapacity> sorted = values_;
    std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count_));
    const double at = q * static_cast<double>(count_ - 1);
    const auto low = static_cast<std::size_t>(at);
    const std::size_t high = std::min(low + 1, count_ - 1);
    return sorted[low] + (sorted[high] - sorted[low]) * (at - static_cast<double>(low));
  }

  std::array<double, kCapacity> values_{};
  std::size_t next_ = 0;
  std::size_t count_ = 0;
  std::size_t refused_ = 0;  ///< since the last sample that entered, while young
  SteadyTime last_;
  double middle_ = 0;
  double quartile_ = 0;
};

}  // namespace linkhealth
