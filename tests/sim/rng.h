// A seeded random source that gives the same numbers on every machine: std::mt19937_64 is defined
// by the standard, but the distributions of <random> are not, so they are implemented here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace linkhealth::sim {

class Rng {
 public:
  explicit Rng(std::uint64_t seed) : engine_(seed * 0x9E3779B97F4A7C15ULL + 0x1234567ULL) {}

  std::uint64_t bits() { return engine_(); }
  /// In [0, 1).
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// In [0, n). REQUIRES: n > 0.
  std::size_t below(std::size_t n) {
    return static_cast<std::size_t>(uniform() * static_cast<double>(n));
  }
  bool chance(double probability) { return uniform() < probability; }
  double normal(double mean, double sigma);
  /// A normal value limited to mean ± limit.
  double normal_within(double mean, double sigma, double limit);
  /// `median` × e^(sigma × N(0,1)).
  double lognormal(double median, double sigma);
  double exponential(double mean);
  std::uint64_t poisson(double mean);
  template <typename T>
  const T& pick(const std::vector<T>& values) {
    return values[below(values.size())];
  }
  /// An index drawn with the given weights.
  std::size_t weighted(const std::vector<double>& weights);

 private:
  std::mt19937_64 engine_;
};

}  // namespace linkhealth::sim
