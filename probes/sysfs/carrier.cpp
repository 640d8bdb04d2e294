#include "probes/sysfs/carrier.h"

#include <algorithm>

namespace linkhealth {

std::optional<bool> CarrierFollower::update(std::uint64_t ups, std::uint64_t downs,
                                            std::optional<bool> operstate) {
  constexpr unsigned kStill = 3;
  const bool same = ups == ups_ && downs == downs_;
  still_ = same ? std::min(still_ + 1, kStill) : 0;
  if (carrier_ && !same) {
    // From up the first change is a loss, from down a gain; they take turns after it.
    const std::uint64_t gained = ups - ups_;
    const std::uint64_t lost = downs - downs_;
    carrier_ = *carrier_ ? lost <= gained : gained > lost;
  }
  ups_ = ups;
  downs_ = downs;
  // A count that has just changed may be ahead of operstate.
  if (operstate && (!carrier_ || still_ == kStill)) carrier_ = operstate;
  return carrier_;
}

}  // namespace linkhealth
