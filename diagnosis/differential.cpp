#include "diagnosis/differential.h"

#include <algorithm>
#include <cmath>

namespace linkhealth {

namespace {

/// 1 / temperature: the exponent that calibrates the confidence. Fitted on simulated links, like
/// the cap (docs/accuracy.md).
constexpr double kCalibrationExponent = 1.2;
constexpr double kMostConfidence = 0.99;
constexpr std::size_t kMostRanked = 6;

std::vector<RankedFault> rank(const std::array<double, kMaxCauses>& posterior) {
  std::vector<RankedFault> ranked;
  for (const Cause& cause : cause_table().subspan(1)) {
    const double p = posterior[index_of(cause)];
    if (p <= 0) continue;
    const Fault* fault = &fault_of(cause.fault);
    auto found = std::ranges::find(ranked, fault, &RankedFault::fault);
    if (found == ranked.end()) {
      ranked.push_back({fault, &cause, 0, 0});
      found = ranked.end() - 1;
    }
    if (p > posterior[index_of(*found->cause)]) found->cause = &cause;
    found->probability += p;
  }
  std::ranges::stable_sort(ranked, std::greater(), &RankedFault::probability);
  // The confidence is conditional on something being wrong; whether it is, is decided when opening.
  double sum = 0;
  for (RankedFault& row : ranked)
    sum += row.confidence = std::pow(row.probability, kCalibrationExponent);
  for (RankedFault& row : ranked)
    row.confidence = sum > 0 ? std::min(row.confidence / sum, kMostConfidence) : 0;
  if (ranked.size() > kMostRanked) ranked.resize(kMostRanked);
  return ranked;
}

}  // namespace

Differential differentiate(const DifferentialInput& input) {
  const Observations seen =
      observations_of(input.features, input.findings, input.is_open, input.explained);
  const auto causes = cause_table();
  std::array<double, kMaxCauses> score{};
  double best = -1e300;
  for (std::size_t c = 0; c < causes.size(); ++c) {
    const Cause& cause = causes[c];
    // A second fault must have a different name, at either end.
    const bool same_name = input.explained != nullptr &&
                           fault_of(cause.fault).name == fault_of(input.explained->fault).name;
    score[c] = -1e9;
    if (!is_possible(cause, input.features) || same_name) continue;
    score[c] = log_likelihood(cause, seen);
    best = std::max(best, score[c]);
  }
  Differential result;
  double total = 0;
  for (std::size_t c = 0; c < causes.size(); ++c)
    total += result.posterior[c] = std::exp(score[c] - best);
  for (double& value : result.posterior) value /= total;
  result.healthy = result.posterior[0];
  result.ranked = rank(result.posterior);
  return result;
}

}  // namespace linkhealth
