#include "probes/carrier.h"

#include <algorithm>

namespace linkhealth {

namespace {

/// Looks come once a second.
constexpr unsigned kStill = 3;

}  // namespace

std::optional<bool> CarrierFollower::follow(std::uint64_t ups, std::uint64_t downs) {
  const bool same = ups == ups_ && downs == downs_;
  still_ = same ? std::min(still_ + 1, kStill + 1) : 0;
  if (carrier_ && !same) {
    // From up the first change is a loss, from down a gain; they take turns after it.
    const std::uint64_t gained = ups - ups_;
    const std::uint64_t lost = downs - downs_;
    carrier_ = *carrier_ ? lost <= gained : gained > lost;
  }
  ups_ = ups;
  downs_ = downs;
  return carrier_;
}

bool CarrierFollower::wants_operstate(bool now_and_then) const {
  return !carrier_ || still_ == kStill || (now_and_then && still_ > kStill);
}

bool CarrierFollower::learn(bool carrier) {
  // A count that changed may be ahead of it.
  if (!carrier_ || still_ >= kStill) carrier_ = carrier;
  return *carrier_;
}

}  // namespace linkhealth
