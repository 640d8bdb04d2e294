#include "model/history/carrier_history.h"

#include <utility>

namespace linkhealth {

namespace {

constexpr double kDaySeconds = 86400;
constexpr std::size_t kMaxLosses = 512;

/// A driver may see a loss this long after or before its PHY has counted it (bnxt_en copies its
/// counts once a second).
constexpr double kPhyLagS = 3;

/// The hardware's own counts of link downs.
const std::array<CounterId, 3>& phy_counters() {
  static const std::array kIds{find_counter("link_down_events_phy").value(),
                               find_counter("link_down_events").value(),
                               find_counter("link_ext_down_count").value()};
  return kIds;
}

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

bool CarrierHistory::is_shut_out(SteadyTime now) const {
  return unmanaged_since && in_seconds(now - *unmanaged_since) >= times.manager_s;
}

bool CarrierHistory::is_settled(SteadyTime now) const {
  return up == true && (!since || in_seconds(now - *since) >= 5);
}

std::uint64_t CarrierHistory::count_downs(const LinkSample& link, std::optional<bool> now_up,
                                          std::string_view driver) {
  const auto downs = link.carrier_down_count, ups = link.carrier_up_count;
  std::uint64_t found = 0;
  if (downs && last_down_count_ && *downs >= *last_down_count_) {
    const std::uint64_t lost = *downs - *last_down_count_;
    const std::uint64_t gained = ups && last_up_count_ ? *ups - *last_up_count_ : lost + 1;
    const bool nothing = up == false && now_up == false && is_no_change(driver, gained, lost);
    found = downs_.add(LinkDownCount::kCarrierCount, nothing ? 0 : lost);
  }
  const bool fell = !downs && up == true && now_up == false;
  found += downs_.add(LinkDownCount::kTransitions, fell ? 1 : 0);
  if (downs) last_down_count_ = downs;
  if (ups) last_up_count_ = ups;
  return found;
}

void CarrierHistory::add_losses(SteadyTime t, std::uint64_t count, bool is_set_down,
                                const Instant& now) {
  if (count == 0) return;
  const bool planned = is_planned(t) || is_set_down;
  (planned ? planned_total : unplanned_total) += count;
  if (losses.size() >= kMaxLosses) losses.erase(losses.begin());
  losses.push_back({t, count, planned, 0, now.wall_at(t)});
  last_loss = t;
}

bool CarrierHistory::transition(bool now_up, SteadyTime t) {
  if (now_up && !losses.empty()) losses.back().down_s = in_seconds(t - losses.back().t);
  if (up) since = t;
  const bool long_down = now_up && up == false && last_loss && in_seconds(t - *last_loss) >= 60;
  if (long_down) note_mated(t);
  const bool is_new = now_up && (long_down || is_planned(t) || !up);
  up = now_up;
  was_up = was_up || now_up;
  return is_new;
}

void CarrierHistory::update_state(const LinkSample& link, std::string_view link_layer,
                                  const Instant& now) {
  if (link_layer != "InfiniBand" || !is_unmanaged(link)) {
    unmanaged_since.reset();
  } else if (!unmanaged_since) {
    unmanaged_since = now.t;
  }
  if (up != true) return;
  last_up_at = now.wall;
  if (!link.fec.empty()) last_fec = link.fec;
  best_speed_mbps = std::max(best_speed_mbps, link.speed_mbps.value_or(0));
  best_lanes = std::max(best_lanes, link.lanes.value_or(0));
}

void CarrierHistory::compare_with_phy(const Counters& reading, SteadyTime now) {
  for (const CounterId id : phy_counters()) {
    const auto count = reading.get(id);
    if (!count || (phy_ && phy_->id != id)) continue;
    // mlx5 reports 0 while its firmware does not answer (mlx5e_get_link_ext_stats()).
    if (phy_ && *count == 0 && phy_->count > 0) return;
    if (!phy_ || phy_->count != *count) phy_ = {id, *count, now};
    for (CarrierLoss& loss : losses)
      if (in_seconds(loss.t - phy_->since) >= kPhyLagS && in_seconds(now - loss.t) >= kPhyLagS)
        plan(loss);
    return;
  }
}

void CarrierHistory::plan(SteadyTime t) {
  for (CarrierLoss& loss : losses)
    if (in_seconds(t - loss.t) <= times.before_s) plan(loss);
  if (!fresh_since || t > *fresh_since) fresh_since = t;
  const SteadyTime until = t + from_seconds(times.after_s);
  if (!planned_until_ || until > *planned_until_) planned_until_ = until;
}

void CarrierHistory::plan(CarrierLoss& loss) {
  if (std::exchange(loss.planned, true)) return;
  unplanned_total -= loss.count;
  planned_total += loss.count;
}

void CarrierHistory::plan_losses_since(SteadyTime since_t) {
  for (CarrierLoss& loss : losses)
    if (loss.t >= since_t) plan(loss);
}

void CarrierHistory::note_mated(SteadyTime t) {
  for (auto* at : {&fresh_since, &mated_at})
    if (!*at || t > **at) *at = t;
}

void CarrierHistory::forget_counts() {
  last_down_count_.reset();
  last_up_count_.reset();
  phy_.reset();
}

/// Keeps the losses of one day, and the time of the last unplanned one before that.
void CarrierHistory::forget_old(SteadyTime now) {
  const auto is_old = [now](const CarrierLoss& loss) {
    return in_seconds(now - loss.t) > kDaySeconds;
  };
  for (const CarrierLoss& loss : losses)
    if (is_old(loss) && !loss.planned) loss_before_at = loss.at;
  std::erase_if(losses, is_old);
}

}  // namespace linkhealth
