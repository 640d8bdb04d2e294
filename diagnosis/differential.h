// Symptoms × causes → ranked faults with confidence.
#pragma once

#include <array>
#include <vector>

#include "diagnosis/likelihood.h"

namespace linkhealth {

inline constexpr std::size_t kMaxCauses = 64;

/// One fault with its probability: the sum over its causes.
struct RankedFault {
  const Fault* fault = nullptr;
  const Cause* cause = nullptr;  ///< the most likely of its causes
  double probability = 0;        ///< before calibration
  double confidence = 0;         ///< calibrated
};

struct Differential {
  double healthy = 0;                          ///< probability that nothing is wrong
  std::vector<RankedFault> ranked;             ///< without healthy; most likely first, at most 6
  std::array<double, kMaxCauses> posterior{};  ///< of each cause, in the table's order
};

struct DifferentialInput {
  const Features& features;
  const Findings& findings;
  bool is_open = false;              ///< an open fault already explains why the link is down
  const Cause* explained = nullptr;  ///< second pass: symptoms that this cause explains are ignored
};
Differential differentiate(const DifferentialInput& input);

}  // namespace linkhealth
