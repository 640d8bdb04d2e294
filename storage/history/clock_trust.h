// Whether the wall clock can be trusted when it indicates that something is old. A clock that jumps
// months ahead and back must not cause history to be deleted: age is judged only after the wall
// clock has agreed with the monotonic clock for a day. Pure.
#pragma once

#include <optional>

#include "base/time.h"

namespace linkhealth {

class ClockTrust {
 public:
  static constexpr Milliseconds kAgreesFor = std::chrono::hours(24);
  /// More than a correct clock is ever adjusted by.
  static constexpr Milliseconds kJump = std::chrono::minutes(5);

  /// A reading of both clocks.
  void add(WallTime wall, SteadyTime steady) {
    if (!wall_ || std::chrono::abs((wall - *wall_) - (steady - steady_)) > kJump)
      agrees_since_ = steady;
    wall_ = wall;
    steady_ = steady;
  }
  [[nodiscard]] bool judges_age() const { return steady_ - agrees_since_ >= kAgreesFor; }

 private:
  std::optional<WallTime> wall_;
  SteadyTime steady_, agrees_since_;
};

}  // namespace linkhealth
