#include "tests/sim/rng.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace linkhealth::sim {

double Rng::normal(double mean, double sigma) {
  const double u = 1.0 - uniform();  // never 0
  const double v = uniform();
  return mean + sigma * std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

double Rng::normal_within(double mean, double sigma, double limit) {
  return std::clamp(normal(mean, sigma), mean - limit, mean + limit);
}

double Rng::lognormal(double median, double sigma) { return median * std::exp(normal(0.0, sigma)); }

double Rng::exponential(double mean) { return -mean * std::log(1.0 - uniform()); }

std::uint64_t Rng::poisson(double mean) {
  if (!(mean > 0.0)) return 0;
  if (mean > 50.0)
    return static_cast<std::uint64_t>(std::max(0.0, std::round(normal(mean, std::sqrt(mean)))));
  if (mean < 1e-12) return 0;
  std::uint64_t count = 0;
  double product = uniform();
  const double limit = std::exp(-mean);
  while (product > limit) {
    product *= uniform();
    ++count;
  }
  return count;
}

std::size_t Rng::weighted(const std::vector<double>& weights) {
  double total = 0;
  for (const double weight : weights) total += weight;
  double at = uniform() * total;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    at -= weights[i];
    if (at < 0) return i;
  }
  return weights.size() - 1;
}

}  // namespace linkhealth::sim
