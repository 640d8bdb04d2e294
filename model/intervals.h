// What was counted in the last hour, in steps of about ten seconds. A link that is well counts next
// to nothing: only what is not zero takes room, because 64 ports keep 23,000 of these and each tick
// looks at all of them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "model/flows.h"

namespace linkhealth {

inline constexpr std::size_t kMaxLanes = 16;

/// The increases between two readings at least 8 s apart, while they are added up.
struct OpenInterval {
  SteadyTime begin, end;
  bool carrier = false;  ///< up all the time
  bool clean = false;  ///< and no transition within 20 s before: training errors are not the link's
  FlowValues flows{};
  std::array<float, kMaxLanes> lane_bits{};  ///< corrected bits of each FEC lane; NaN unknown
  std::uint8_t lanes = 0;
  double ber = kUnknownValue;        ///< pre-FEC, all lanes; NaN when not known
  double ber_floor = kUnknownValue;  ///< what half a bit error would have been
  double utilization = kUnknownValue;
  [[nodiscard]] double seconds() const { return in_seconds(end - begin); }
  [[nodiscard]] double flow(Flow flow) const { return flows[static_cast<std::size_t>(flow)]; }
};

/// One that is over. Values to seven digits.
class Interval {
 public:
  Interval() = default;
  explicit Interval(const OpenInterval& open);

  SteadyTime begin, end;
  float ber = static_cast<float>(kUnknownValue);
  float ber_floor = static_cast<float>(kUnknownValue);
  float utilization = static_cast<float>(kUnknownValue);
  bool carrier = false, clean = false;
  std::uint8_t lanes = 0;

  [[nodiscard]] double seconds() const { return in_seconds(end - begin); }
  [[nodiscard]] FlowSet known() const { return known_; }
  /// What came at all; of the others that are known, nothing came.
  [[nodiscard]] FlowSet counted() const { return counted_; }
  /// NaN where it is not known.
  [[nodiscard]] double flow(Flow flow) const {
    if (counted_.has(flow)) return static_cast<double>(values_[counted_.before(flow)]);
    return known_.has(flow) ? 0.0 : kUnknownValue;
  }
  /// What is told later of this time: to be added, or the larger of both.
  void take_late(Flow flow, double value, Combine combine);
  /// Corrected bits of an FEC lane; NaN where they are not known. REQUIRES: lane < lanes.
  [[nodiscard]] double lane_bits(std::size_t lane) const {
    return static_cast<double>(values_[counted_.size() + lane]);
  }

 private:
  FlowSet known_, counted_;
  std::vector<float> values_;  ///< of counted_, in the table's order; then of the lanes
};

}  // namespace linkhealth
