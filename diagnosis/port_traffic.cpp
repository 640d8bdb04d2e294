#include "diagnosis/port_traffic.h"

#include <algorithm>
#include <cmath>

namespace linkhealth {

namespace {

/// What was counted from the newest interval back to where the loop stands.
struct Tally {
  double seconds = 0, loaded_s = 0, tested_s = 0;
  std::size_t loaded = 0, marks = 0, pause = 0, wait = 0, drops = 0, tested = 0;
  // Rare events are counted in bins, whatever the cadence of the readings.
  std::size_t bins = 0, retries = 0, forwarded = 0;
  double bin_s = 0;
  bool bin_retries = false, bin_forwarded = false;

  void add_rare(double dt, bool retried, bool forward, double full_bin_s) {
    bin_s += dt;
    bin_retries = bin_retries || retried;
    bin_forwarded = bin_forwarded || forward;
    if (bin_s < full_bin_s) return;
    ++bins;
    retries += bin_retries;
    forwarded += bin_forwarded;
    bin_s = 0;
    bin_retries = bin_forwarded = false;
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
  double marks, pause, drops, retries, forwarded;
};
Rates take(const Interval& interval, TrafficStats& t) {
  const double dt = interval.seconds();
  const auto one = [&](Flow flow, double& sum, bool& known) {
    const double value = interval.flow(flow);
    if (std::isnan(value)) return 0.0;
    known = true;
    sum += value;
    return value / dt;
  };
  bool ignored = false;
  one(Flow::kPauseSent, t.pause_sent_per_s, ignored);
  one(Flow::kPcieStalls, t.stalls_per_s, ignored);
  return {one(Flow::kCongestionMarks, t.marks_per_s, t.marks_known),
          one(Flow::kPauseReceived, t.pause_per_s, t.pause_known), one(Flow::kHostDrops, t.drops_per_s, t.drops_known),
          one(Flow::kRetries, t.retries_per_s, t.retries_known),
          one(Flow::kForwardedErrors, t.forwarded_per_s, t.forwarded_known)};
}

void finish(TrafficStats& t, const Tally& tally) {
  t.known_s = tally.seconds;
  if (tally.seconds <= 0) return;
  for (double* sum : {&t.marks_per_s, &t.pause_per_s, &t.drops_per_s, &t.retries_per_s, &t.forwarded_per_s,
                      &t.pause_sent_per_s, &t.stalls_per_s})
    *sum /= tally.seconds;
  t.loaded = tally.loaded;
  t.loaded_s = tally.loaded_s;
  t.tested_s = tally.tested_s;
  t.marks_share = share(tally.marks, tally.loaded);
  t.pause_share = share(tally.pause, tally.loaded);
  t.wait_share = share(tally.wait, tally.loaded);
  t.drops_share = share(tally.drops, tally.tested);
  t.retries_share = share(tally.retries, tally.bins);
  t.forwarded_share = share(tally.forwarded, tally.bins);
}

}  // namespace

void fill_traffic(PortView& view, const TrafficLimits& k) {
  TrafficStats& t = view.traffic;
  t.full_s = std::min(k.full_s, k.window_s);
  Tally tally;
  // Ten times its own past; the knob where the past is not known or was no better.
  const auto own_wait = view.port.transmit_wait_share.lower_quartile();
  const double wait_limit = own_wait ? std::clamp(10 * *own_wait, 0.3 * k.wait_share, k.wait_share) : k.wait_share;
  for (auto at = view.port.intervals.rbegin(); at != view.port.intervals.rend(); ++at) {
    if (in_seconds(view.now - at->end) > k.window_s) break;
    if (!at->carrier || at->seconds() <= 0) continue;
    if (view.port.fresh_since && at->begin < *view.port.fresh_since) break;
    ++t.all;
    const Rates rates = take(*at, t);
    const bool idle = !std::isnan(at->utilization) && at->utilization < k.idle_share;
    tally.seconds += at->seconds();
    tally.drops += rates.drops > k.drops_per_s;
    if (!idle || rates.drops > k.drops_per_s) {  // who receives nothing drops nothing
      ++tally.tested;
      tally.tested_s += at->seconds();
    }
    tally.add_rare(at->seconds(), rates.retries > 0, rates.forwarded > 0, k.bin_s);
    if (!std::isnan(at->utilization) && !idle) {
      ++tally.loaded;
      tally.loaded_s += at->seconds();
      tally.marks += rates.marks > k.marks_per_s;
      tally.pause += rates.pause > k.pause_per_s;
      const double sent = at->flow(Flow::kTxOctets);
      const double waited = at->flow(Flow::kTransmitWait);
      if (!std::isnan(waited) && sent > 0) {
        t.wait_known = true;
        t.wait_ratio = std::max(t.wait_ratio, waited / sent);
        tally.wait += waited / sent > wait_limit;
      }
    }
    if (!t.run.full && tally.seconds >= k.run_s) t.run = run_of(tally, t);
  }
  finish(t, tally);
}

}  // namespace linkhealth
