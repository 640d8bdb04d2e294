// Which losses of a link there were, and which of them somebody meant.
#include <algorithm>
#include <array>
#include <utility>

#include "model/history.h"

namespace linkhealth {

namespace {

/// The hardware's own counts of falls, the one that is read most often first.
const std::array<CounterId, 3>& phy_counts() {
  static const std::array kIds{find_counter("link_ext_down_count").value(),
                               find_counter("link_down_events_phy").value(),
                               find_counter("link_down_events").value()};
  return kIds;
}

constexpr double kDaySeconds = 86400;

/// A driver may see a fall this long after or before its PHY has counted it (bnxt_en copies its
/// counts once a second).
constexpr double kPhyLagS = 3;

}  // namespace

std::uint64_t CarrierHistory::unplanned_losses(SteadyTime now, double window_s) const {
  std::uint64_t total = 0;
  for (const CarrierLoss& loss : losses)
    if (!loss.planned && in_seconds(now - loss.t) <= window_s) total += loss.count;
  return total;
}

std::optional<WallTime> CarrierHistory::last_unplanned_loss_at() const {
  const auto last = std::find_if(losses.rbegin(), losses.rend(),
                                 [](const CarrierLoss& loss) { return !loss.planned; });
  return last != losses.rend() ? std::optional(last->at) : loss_before_at;
}

/// Of the last day all are kept, of those before it when the last one was.
void PortHistory::forget_old_losses(SteadyTime now) {
  const auto is_old = [now](const CarrierLoss& loss) {
    return in_seconds(now - loss.t) > kDaySeconds;
  };
  for (const CarrierLoss& loss : carrier.losses)
    if (is_old(loss) && !loss.planned) carrier.loss_before_at = loss.at;
  std::erase_if(carrier.losses, is_old);
}

bool PortHistory::intended(SteadyTime t) const { return intent_until_ && t <= *intent_until_; }

void PortHistory::take_intent(SteadyTime t) {
  for (CarrierLoss& loss : carrier.losses)
    if (in_seconds(t - loss.t) <= times_.before_s) excuse(loss);
  if (!carrier.fresh_since || t > *carrier.fresh_since) carrier.fresh_since = t;
  const SteadyTime until = t + from_seconds(times_.after_s);
  if (!intent_until_ || until > *intent_until_) intent_until_ = until;
}

void PortHistory::excuse(CarrierLoss& loss) {
  if (std::exchange(loss.planned, true)) return;
  carrier.unplanned_total -= loss.count;
  carrier.planned_total += loss.count;
}

void PortHistory::excuse(SteadyTime since) {
  for (CarrierLoss& loss : carrier.losses)
    if (loss.t >= since) excuse(loss);
}

void PortHistory::take_loss(SteadyTime t, std::uint64_t count) {
  const bool admin_off = latest.link && is_set_down(*latest.link, latest.id->link_layer);
  const bool planned = intended(t) || admin_off;
  (planned ? carrier.planned_total : carrier.unplanned_total) += count;
  if (carrier.losses.size() >= 512) carrier.losses.erase(carrier.losses.begin());
  carrier.losses.push_back({t, count, planned, 0, wall_ - (now_ - t)});
  carrier.last_loss = t;
}

/// Carrier counts also rise when a driver is set up anew (rings, channels, MTU, XDP: linux,
/// mlx5e_switch_priv_channels(), bnxt_close_nic()), and before Linux 5.14 mlx5 missed falls that
/// were over before it looked. The PHY counts what the link did.
void PortHistory::compare_with_phy(const Counters& reading, SteadyTime now) {
  if (!last_down_count_)
    return;  // without a carrier count link_downed is asked: take_missed_losses()
  for (const CounterId id : phy_counts()) {
    if (const auto count = reading.get(id)) return take_phy_count({id, *count, now, std::nullopt});
    if (latest.counters && latest.counters->get(id)) return;  // it is read at another time
  }
}

PortHistory::SeenLosses PortHistory::losses_after(SteadyTime t) const {
  SeenLosses found;
  for (auto at = carrier.losses.rbegin(); at != carrier.losses.rend() && at->t > t; ++at)
    (at->planned ? found.meant : found.seen) += at->count;
  return found;
}

/// A port that is set down need not fall, and may.
bool PortHistory::explains(const PhyCount& before, const PhyCount& now) const {
  if (now.count < before.count) return false;
  const auto [seen, meant] = losses_after(before.t);
  const std::uint64_t fell = now.count - before.count;
  return seen <= fell && fell <= seen + meant;
}

void PortHistory::take_phy_count(PhyCount now) {
  if (phy_ && phy_->id == now.id && now.count < phy_->count) {
    if (!phy_before_fall_ || phy_before_fall_->count < phy_->count) phy_before_fall_ = phy_;
    phy_ = now;
    return;
  }
  if (!phy_ || phy_->id != now.id || explains(*phy_, now)) {
    phy_ = now;
    return;
  }
  // mlx5 says 0 for as long as its firmware does not answer (mlx5e_get_link_ext_stats()), and then
  // what it said before.
  if (phy_before_fall_ && phy_before_fall_->id == now.id && explains(*phy_before_fall_, now)) {
    phy_ = now;
    phy_before_fall_.reset();
    return;
  }
  if (phy_before_fall_ && now.count == 0) return;  // which may be no answer: it excuses nothing
  if (!phy_->doubted_since) phy_->doubted_since = now.t;
  if (in_seconds(now.t - *phy_->doubted_since) < kPhyLagS) return;
  const auto [seen, meant] = losses_after(phy_->t);
  const std::uint64_t fell = now.count - phy_->count;
  if (fell > seen) take_loss(now.t, fell - seen - meant);
  if (fell < seen) excuse_newest(seen - fell);
  phy_ = now;
}

void PortHistory::excuse_newest(std::uint64_t count) {
  for (auto at = carrier.losses.rbegin(); at != carrier.losses.rend() && count > 0; ++at) {
    if (at->planned) continue;
    if (at->count > count) {  // a part of those that one reading found
      at->count -= count;
      carrier.unplanned_total -= count;
      carrier.planned_total += count;
      return;
    }
    count -= at->count;
    excuse(*at);
  }
}

}  // namespace linkhealth
