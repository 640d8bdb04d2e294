// When what is read again and again is to be read next.
#pragma once

#include <algorithm>

#include "base/time.h"

namespace linkhealth {

/// Due at whole periods after a beginning that all groups have in common, however late the wake-ups
/// come: what is read each ten seconds is then read by the wake-up that reads what is read each
/// second, and never has one of its own.
class Due {
 public:
  SteadyTime at;  ///< may be set: sooner for once

  Due() = default;
  /// Due at once.
  Due(Milliseconds period, SteadyTime begun) : at(begun), period_(period), begun_(begun) {}

  [[nodiscard]] bool is_due(SteadyTime now) const { return now >= at; }
  /// The next time that comes within `slack` comes now instead, and not again then: in each period
  /// at most one. Whether one did.
  bool hasten(SteadyTime now, Milliseconds slack) {
    if (is_due(now) || at - now >= std::min(slack, period_)) return false;
    counts_as_ = at;
    at = now;
    return true;
  }
  /// A look before its time, because of an event, postpones nothing.
  void done(SteadyTime now) {
    if (!is_due(now)) return;
    const SteadyTime counted = std::max(now, counts_as_);
    at = period_.count() > 0 ? begun_ + ((counted - begun_) / period_ + 1) * period_ : now;
  }

 private:
  Milliseconds period_{0};
  SteadyTime begun_;
  SteadyTime counts_as_;  ///< the time that was hastened last
};

}  // namespace linkhealth
