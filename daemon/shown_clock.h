// The time that people are shown.
#pragma once

#include "base/time.h"
#include "daemon/publisher.h"

namespace linkhealth {

/// The time of what is shown: now; for a played recording the time of its latest snapshot, so that
/// "3 h ago" is what it was.
class ShownClock : public Clock {
 public:
  ShownClock(const Clock& clock, const Publisher& publisher, bool played)
      : clock_(clock), publisher_(publisher), played_(played) {}
  [[nodiscard]] SteadyTime steady() const override { return clock_.steady(); }
  [[nodiscard]] WallTime wall() const override {
    const auto current = played_ ? publisher_.current() : nullptr;
    return current ? current->report().at : clock_.wall();
  }

 private:
  const Clock& clock_;
  const Publisher& publisher_;
  bool played_;
};

}  // namespace linkhealth
