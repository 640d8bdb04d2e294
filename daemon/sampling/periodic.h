// When something that is read again and again is to be read next.
#pragma once

#include "base/time.h"

namespace linkhealth {

/// Due at whole periods after a beginning that all of a sampler's share, however late the wake-ups
/// come: what is read each ten seconds is read in the wake-up of what is read each second.
class Periodic {
 public:
  SteadyTime at;  ///< may be set: sooner for once

  /// Due at once.
  Periodic(Milliseconds period, SteadyTime begun) : at(begun), period_(period), begun_(begun) {}

  [[nodiscard]] bool is_due(SteadyTime now) const { return now >= at; }
  void done(SteadyTime now) { at = begun_ + ((now - begun_) / period_ + 1) * period_; }

 private:
  Milliseconds period_;
  SteadyTime begun_;
};

}  // namespace linkhealth
