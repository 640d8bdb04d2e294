#include "model/history/training_history.h"

#include <algorithm>
#include <cmath>

namespace linkhealth {

namespace {

constexpr double kDecade = 10;
/// Intervals after a training before it is judged: a single one may be a glitch.
constexpr std::size_t kEnoughAfter = 2;
/// Factor for "as good as before": good links vary by 0.6 decades (docs/physics.md 3a).
constexpr double kAsBefore = 4;
/// By then, no bad interval is left in the averaged ratio (ber_window_s).
constexpr std::size_t kGoodIntervals = 12;

}  // namespace

void TrainingHistory::begin(WallTime fell_at, double down_s, double ber_before) {
  after_.clear();
  // it went down again at once: keep the ratio from before the first carrier loss.
  if (pending_) return;
  if (worse) ber_before = worse->ber_before;
  pending_ = WorseTraining{fell_at, down_s, ber_before, 0, 1};
}

void TrainingHistory::add(const Interval& interval) {
  if (std::isnan(interval.ber)) return;
  const double ber = std::max(interval.ber, interval.ber_floor);
  // At another speed or FEC mode the earlier ratio is meaningless.
  if (rate_bps_ > 0 && interval.line_rate_bps != rate_bps_) clear();
  rate_bps_ = interval.line_rate_bps;
  if (pending_) {
    after_.push_back(ber);
    if (after_.size() >= kEnoughAfter) judge();
    return;
  }
  if (!worse) return;
  good_ = ber < kAsBefore * worse->ber_before ? good_ + 1 : 0;
  if (good_ >= kGoodIntervals) worse.reset();
}

void TrainingHistory::judge() {
  WorseTraining ended = *pending_;
  pending_.reset();
  good_ = 0;
  ended.ber_after = std::ranges::min(after_);
  if (ended.ber_after < kDecade * ended.ber_before) return worse.reset();
  const bool alike = worse && ended.ber_after < kDecade * worse->ber_after &&
                     worse->ber_after < kDecade * ended.ber_after;
  if (alike)
    ++worse->trainings;
  else
    worse = ended;
}

}  // namespace linkhealth
