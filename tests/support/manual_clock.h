// A clock that a test sets.
#pragma once

#include <atomic>

#include "base/time.h"

namespace linkhealth::testing {

class ManualClock : public Clock {
 public:
  [[nodiscard]] SteadyTime steady() const override { return SteadyTime(Milliseconds(now_ms_)); }
  [[nodiscard]] WallTime wall() const override {
    return WallTime(Milliseconds(1'760'000'000'000 + now_ms_));
  }
  [[nodiscard]] Microseconds fine() const override {
    return Microseconds(1'000 * now_ms_ + spent_us_);
  }
  /// Advances fine() only, by less than the resolution of steady().
  void spend(Microseconds time) { spent_us_ += time.count(); }
  void advance(Milliseconds by) { now_ms_ += by.count(); }

 private:
  std::atomic<Milliseconds::rep> now_ms_ = 1'000'000;
  std::atomic<Microseconds::rep> spent_us_ = 0;
};

}  // namespace linkhealth::testing
