// A clock that a test moves.
#pragma once

#include <atomic>

#include "base/time.h"

namespace linkhealth::testing {

class ManualClock : public Clock {
 public:
  [[nodiscard]] SteadyTime steady() const override { return SteadyTime(Milliseconds(now_ms_)); }
  [[nodiscard]] WallTime wall() const override { return WallTime(Milliseconds(1'760'000'000'000 + now_ms_)); }
  void advance(Milliseconds by) { now_ms_ += by.count(); }

 private:
  std::atomic<Milliseconds::rep> now_ms_ = 1'000'000;
};

}  // namespace linkhealth::testing
