#include "diagnosis/port_traffic.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

namespace linkhealth {

namespace {

/// What was counted from the newest interval back to where the loop stands.
struct Tally {
  double seconds = 0, loaded_s = 0, tested_s = 0;
  std::size_t loaded = 0, marks = 0, pause = 0, wait = 0, drops = 0, tested = 0;
  std::size_t pause_sent = 0, stalls = 0, discards = 0;
  double stomped = 0,
         damaged_here = 0;  // bad frames without and with loss on this link at the same time
  // Rare events are counted in bins, whatever the cadence of the readings.
  std::size_t bins = 0, retries = 0, forwarded = 0, stomped_bins = 0;
  double bin_s = 0;
  bool now_stomped = false;
  bool bin_retries = false, bin_forwarded = false, bin_stomped = false;

  void add_rare(double dt, bool retried, bool forward, bool stomp, double full_bin_s) {
    bin_s += dt;
    bin_retries = bin_retries || retried;
    bin_forwarded = bin_forwarded || forward;
    bin_stomped = bin_stomped || forward || stomp;
    if (bin_s < full_bin_s) return;
    ++bins;
    retries += bin_retries;
    forwarded += bin_forwarded;
    stomped_bins += bin_stomped;
    bin_s = 0;
    bin_retries = bin_forwarded = bin_stomped = false;
  }
};

double share(std::size_t count, std::size_t of) {
  return static_cast<double>(count) / std::max<double>(static_cast<double>(of), 1);
}

/// `sums`: of the whole so far.
TrafficRun run_of(const Tally& tally, const TrafficStats& sums) {
  TrafficRun run;
  run.full = true;
  run.known_s = tally.seconds;
  run.loaded_s = tally.loaded_s;
  run.tested_s = tally.tested_s;
  run.marks_share = share(tally.marks, tally.loaded);
  run.pause_share = share(tally.pause, tally.loaded);
  run.wait_share = share(tally.wait, tally.loaded);
  run.drops_share = share(tally.drops, tally.tested);
  run.retries_share = share(tally.retries, tally.bins);
  run.drops_per_s = sums.drops_per_s / tally.seconds;
  run.retries_per_s = sums.retries_per_s / tally.seconds;
  return run;
}

/// One interval's rates; sums of all of them go to `t`.
struct Rates {
  double marks, pause, drops, retries, forwarded, pause_sent, stalls, discards;
};
Rates take(const Interval& interval, TrafficStats& t) {
  constexpr IndicatorSet kTaken{Indicator::kCongestionMarks, Indicator::kPauseReceived,
                                Indicator::kHostDrops,       Indicator::kRetries,
                                Indicator::kForwardedErrors, Indicator::kPauseSent,
                                Indicator::kPcieStalls,      Indicator::kTransmitDiscards};
  if (!interval.counted().has_any(kTaken)) return {};
  const double dt = interval.seconds();
  const auto one = [&](Indicator flow, double& sum) {
    if (!interval.counted().has(flow)) return 0.0;
    const double value = interval.increase(flow);
    sum += value;
    return value / dt;
  };
  return {one(Indicator::kCongestionMarks, t.marks_per_s),
          one(Indicator::kPauseReceived, t.pause_per_s),
          one(Indicator::kHostDrops, t.drops_per_s),
          one(Indicator::kRetries, t.retries_per_s),
          one(Indicator::kForwardedErrors, t.forwarded_per_s),
          one(Indicator::kPauseSent, t.pause_sent_per_s),
          one(Indicator::kPcieStalls, t.stalls_per_s),
          one(Indicator::kTransmitDiscards, t.discards_per_s)};
}

/// Which of them were counted at all.
void note_known(const IndicatorSet& known, TrafficStats& t) {
  t.marks_known = known.has(Indicator::kCongestionMarks);
  t.pause_known = known.has(Indicator::kPauseReceived);
  t.drops_known = known.has(Indicator::kHostDrops);
  t.retries_known = known.has(Indicator::kRetries);
  t.forwarded_known = t.forwarded_known || known.has(Indicator::kForwardedErrors);
  t.pause_sent_known = known.has(Indicator::kPauseSent);
  t.stalls_known = known.has(Indicator::kPcieStalls);
  t.discards_known = known.has(Indicator::kTransmitDiscards);
}

using NewestFirst = std::deque<Interval>::const_reverse_iterator;

/// Several counters tell of the same frames, and those that a driver keeps for itself are read only
/// once a minute: what they say may be of damage that was seen before.
bool damaged_lately(const NewestFirst& at, const NewestFirst& oldest) {
  constexpr double kSlowest_s = 70;
  for (auto older = at; older != oldest && in_seconds(at->end - older->end) <= kSlowest_s; ++older)
    if (older->counted().has_any({Indicator::kUncorrectableBlocks, Indicator::kSymbolErrors}))
      return true;
  return false;
}

/// Bad frames of an interval. Where this link lost nothing that FEC or the line code would have
/// seen, they were bad before: a switch that forwards before it has read the checksum marks what it
/// can't take back.
void take_bad_frames(const PortView& view, const NewestFirst& at, Tally& tally, bool& known) {
  const Interval& interval = *at;
  const bool seen = interval.known().has(view.signal.ber_limit ? Indicator::kUncorrectableBlocks
                                                               : Indicator::kSymbolErrors);
  if (!seen || !interval.known().has(Indicator::kFrameErrors)) return;
  known = true;
  if (!interval.counted().has(Indicator::kFrameErrors)) return;
  const bool damaged = damaged_lately(at, view.port.counters.intervals.rend());
  (damaged ? tally.damaged_here : tally.stomped) += interval.increase(Indicator::kFrameErrors);
  tally.now_stomped = !damaged;
}

void finish(TrafficStats& t, const Tally& tally) {
  t.known_s = tally.seconds;
  if (tally.seconds <= 0) return;
  for (double* sum : {&t.marks_per_s, &t.pause_per_s, &t.drops_per_s, &t.retries_per_s,
                      &t.forwarded_per_s, &t.pause_sent_per_s, &t.stalls_per_s, &t.discards_per_s})
    *sum /= tally.seconds;
  t.loaded = tally.loaded;
  t.loaded_s = tally.loaded_s;
  t.tested_s = tally.tested_s;
  t.marks_share = share(tally.marks, tally.loaded);
  t.pause_share = share(tally.pause, tally.loaded);
  t.wait_share = share(tally.wait, tally.loaded);
  t.drops_share = share(tally.drops, tally.tested);
  t.retries_share = share(tally.retries, tally.bins);
  // Damage done here comes with bad frames, too: then a few more of them are no news.
  const bool stomped = tally.stomped > tally.damaged_here;
  if (stomped) t.forwarded_per_s += tally.stomped / tally.seconds;
  t.forwarded_share = share(stomped ? tally.stomped_bins : tally.forwarded, tally.bins);
  t.pause_sent_share = share(tally.pause_sent, tally.loaded);
  t.stalls_share = share(tally.stalls, tally.loaded);
  t.discards_share = share(tally.discards, tally.loaded);
}

/// An interval with load: what queues, waits and drops only then.
void take_loaded(const Interval& interval, const Rates& rates, const TrafficLimits& k,
                 double wait_limit, Tally& tally, TrafficStats& t) {
  ++tally.loaded;
  tally.loaded_s += interval.seconds();
  tally.marks += rates.marks > k.marks_per_s;
  tally.pause += rates.pause > k.pause_per_s;
  tally.pause_sent += rates.pause_sent > k.pause_sent_per_s;
  tally.stalls += rates.stalls > k.stalls_per_s;
  tally.discards += rates.discards > k.drops_per_s;
  const double sent = interval.increase(Indicator::kTxOctets);
  const double waited = interval.increase(Indicator::kTransmitWait);
  if (std::isnan(waited) || !(sent > 0)) return;
  t.wait_known = true;
  t.wait_ratio = std::max(t.wait_ratio, waited / sent);
  tally.wait += waited / sent > wait_limit;
}

}  // namespace

void fill_traffic(PortView& view, const TrafficLimits& k) {
  TrafficStats& t = view.traffic;
  t.full_s = std::min(k.full_s, k.window_s);
  Tally tally;
  bool latest_seen = false;
  IndicatorSet known;
  const bool infiniband =
      view.port.latest.id.link_layer == "InfiniBand";  // counts forwarded errors apart
  // Ten times its own past; the knob where the past is not known or was no better.
  const auto own_wait = view.port.counters.transmit_wait_share.lower_quartile();
  const double wait_limit =
      own_wait ? std::clamp(10 * *own_wait, 0.3 * k.wait_share, k.wait_share) : k.wait_share;
  for (auto at = view.port.counters.intervals.rbegin(); at != view.port.counters.intervals.rend();
       ++at) {
    if (in_seconds(view.now - at->end) > k.window_s) break;
    if (!at->carrier || at->seconds() <= 0) continue;
    if (view.port.carrier.fresh_since && at->begin < *view.port.carrier.fresh_since) break;
    ++t.all;
    const Rates rates = take(*at, t);
    const bool load_known = !std::isnan(at->utilization());
    const bool idle = load_known && at->utilization() < k.idle_share;
    if (load_known && !std::exchange(latest_seen, true)) t.idle_now = idle;
    tally.seconds += at->seconds();
    tally.drops += rates.drops > k.drops_per_s;
    if (!idle || rates.drops > k.drops_per_s) {  // who receives nothing drops nothing
      ++tally.tested;
      tally.tested_s += at->seconds();
    }
    tally.now_stomped = false;
    known.add(at->known());
    if (!infiniband) take_bad_frames(view, at, tally, t.forwarded_known);
    tally.add_rare(at->seconds(), rates.retries > 0, rates.forwarded > 0, tally.now_stomped,
                   k.bin_s);
    if (load_known && !idle) take_loaded(*at, rates, k, wait_limit, tally, t);
    if (!t.run.full && tally.seconds >= k.run_s) t.run = run_of(tally, t);
  }
  note_known(known, t);
  finish(t, tally);
}

}  // namespace linkhealth
