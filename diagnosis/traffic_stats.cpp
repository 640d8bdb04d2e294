// What the traffic counters of a port say, over the long window and over the newest stretch of it.
// The numbers were fitted on simulated cases (docs/accuracy.md).
#include <algorithm>
#include <cmath>
#include <deque>

#include "diagnosis/features.h"

namespace linkhealth {

namespace {

constexpr double kWindowS = 1500;
// So much of it is enough where all of it says the same: good links have peaks of up to 300 s, and
// two of them may meet.
constexpr double kRunS = 900;
constexpr double kBinS = 115;  // rare events are counted by bins of this, whatever the cadence
constexpr double kIdleShare = 0.02;    // of the line rate: below, a port neither queues nor drops
constexpr double kPauseSentPerS = 20;  // more pause frames sent than this: the host needs a rest
constexpr double kStallsPerS = 0.2;    // seconds with PCIe stalls
constexpr double kWaitShare = 0.01;    // ticks an octet waited, where the past was no better

/// What was counted from the newest interval back to where the loop stands.
struct Tally {
  double seconds = 0, loaded_s = 0, tested_s = 0;
  std::size_t loaded = 0, tested = 0;  ///< intervals
  std::size_t marks = 0, pause = 0, wait = 0, drops = 0, pause_sent = 0, stalls = 0, discards = 0;
  double marks_sum = 0, drops_sum = 0, retries_sum = 0, forwarded_sum = 0;
  double stomped = 0, damaged_here = 0;  ///< bad frames without and with loss on this link
  // Rare events are counted in bins.
  std::size_t bins = 0, retry_bins = 0, forward_bins = 0, stomp_bins = 0;
  double bin_s = 0;
  bool bin_retried = false, bin_forwarded = false, bin_stomped = false;

  void add_rare(double dt, bool retried, bool forwarded, bool stomps) {
    bin_s += dt;
    bin_retried = bin_retried || retried;
    bin_forwarded = bin_forwarded || forwarded;
    bin_stomped = bin_stomped || forwarded || stomps;
    if (bin_s < kBinS) return;
    ++bins;
    retry_bins += bin_retried;
    forward_bins += bin_forwarded;
    stomp_bins += bin_stomped;
    bin_s = 0;
    bin_retried = bin_forwarded = bin_stomped = false;
  }
};

double share(std::size_t count, std::size_t of) {
  return static_cast<double>(count) / std::max<double>(static_cast<double>(of), 1);
}

TrafficRun run_of(const Tally& tally) {
  TrafficRun run;
  run.full = true;
  run.known_s = tally.seconds;
  run.loaded_s = tally.loaded_s;
  run.tested_s = tally.tested_s;
  run.marks_share = share(tally.marks, tally.loaded);
  run.pause_share = share(tally.pause, tally.loaded);
  run.wait_share = share(tally.wait, tally.loaded);
  run.drops_share = share(tally.drops, tally.tested);
  run.drops_per_s = tally.drops_sum / tally.seconds;
  return run;
}

/// The increase in an interval; 0 where it is not known.
double count_of(const Interval& interval, Indicator flow) {
  const double count = interval.increase(flow);
  return count > 0 ? count : 0;
}

void note_known(const Interval& interval, TrafficStats& t) {
  const std::pair<Indicator, bool*> flags[] = {{Indicator::kCongestionMarks, &t.marks_known},
                                               {Indicator::kPauseReceived, &t.pause_known},
                                               {Indicator::kHostDrops, &t.drops_known},
                                               {Indicator::kRetries, &t.retries_known},
                                               {Indicator::kForwardedErrors, &t.forwarded_known},
                                               {Indicator::kPauseSent, &t.pause_sent_known},
                                               {Indicator::kPcieStalls, &t.stalls_known},
                                               {Indicator::kTransmitDiscards, &t.discards_known}};
  for (const auto& [flow, known] : flags) *known = *known || !std::isnan(interval.increase(flow));
}

using NewestFirst = std::deque<Interval>::const_reverse_iterator;

/// Several counters tell of the same frames, and those that a driver keeps for itself are read only
/// once a minute: they may count damage that was seen before.
bool damaged_lately(const NewestFirst& at, const NewestFirst& oldest) {
  constexpr double kSlowestS = 70;
  for (auto older = at; older != oldest && in_seconds(at->end - older->end) <= kSlowestS; ++older)
    if (older->increase(Indicator::kUncorrectableBlocks) > 0 ||
        older->increase(Indicator::kSymbolErrors) > 0)
      return true;
  return false;
}

/// Bad frames of an interval. Where this link lost nothing that FEC or the line code would have
/// seen, they were bad before: a switch that forwards before it has read the checksum marks what it
/// can't take back. True: there are some of these.
bool add_bad_frames(const Features& f, const NewestFirst& at, Tally& tally, bool& known) {
  const double bad = at->increase(Indicator::kFrameErrors);
  const double lost_here =
      at->increase(f.signal.ber_limit ? Indicator::kUncorrectableBlocks : Indicator::kSymbolErrors);
  if (std::isnan(lost_here) || std::isnan(bad)) return false;
  known = true;
  if (!(bad > 0)) return false;
  const bool damaged = damaged_lately(at, f.port.counters.intervals.rend());
  (damaged ? tally.damaged_here : tally.stomped) += bad;
  return !damaged;
}

/// An interval with load: what queues, waits and drops only then.
void add_loaded(const Interval& interval, const DiagnosisSettings& settings, double wait_limit,
                Tally& tally, TrafficStats& t) {
  const double dt = interval.seconds();
  const auto above = [&](Indicator flow, double per_s) {
    return count_of(interval, flow) / dt > per_s;
  };
  ++tally.loaded;
  tally.loaded_s += dt;
  tally.marks += above(Indicator::kCongestionMarks, settings.marks_per_s);
  tally.pause += above(Indicator::kPauseReceived, settings.pause_per_s);
  tally.pause_sent += above(Indicator::kPauseSent, kPauseSentPerS);
  tally.stalls += above(Indicator::kPcieStalls, kStallsPerS);
  tally.discards += above(Indicator::kTransmitDiscards, settings.drops_per_s);
  const double sent = interval.increase(Indicator::kTxOctets);
  const double waited = interval.increase(Indicator::kTransmitWait);
  if (std::isnan(waited) || !(sent > 0)) return;
  t.wait_known = true;
  tally.wait += waited / sent > wait_limit;
}

void finish(TrafficStats& t, const Tally& tally) {
  t.known_s = tally.seconds;
  if (tally.seconds <= 0) return;
  t.loaded_s = tally.loaded_s;
  t.tested_s = tally.tested_s;
  t.marks_per_s = tally.marks_sum / tally.seconds;
  t.drops_per_s = tally.drops_sum / tally.seconds;
  t.retries_per_s = tally.retries_sum / tally.seconds;
  t.marks_share = share(tally.marks, tally.loaded);
  t.pause_share = share(tally.pause, tally.loaded);
  t.wait_share = share(tally.wait, tally.loaded);
  t.drops_share = share(tally.drops, tally.tested);
  t.retries_share = share(tally.retry_bins, tally.bins);
  // Damage on this link comes with bad frames, too: then a few more of them are no news.
  const bool stomped = tally.stomped > tally.damaged_here;
  t.forwarded_per_s = (tally.forwarded_sum + (stomped ? tally.stomped : 0)) / tally.seconds;
  t.forwarded_share = share(stomped ? tally.stomp_bins : tally.forward_bins, tally.bins);
  t.pause_sent_share = share(tally.pause_sent, tally.loaded);
  t.stalls_share = share(tally.stalls, tally.loaded);
  t.discards_share = share(tally.discards, tally.loaded);
}

/// Ten times its own past; the constant where the past is not known or was no better.
double wait_limit_of(const PortHistory& port) {
  const auto own = port.counters.transmit_wait_share.lower_quartile();
  return own ? std::clamp(10 * *own, 0.3 * kWaitShare, kWaitShare) : kWaitShare;
}

}  // namespace

void fill_traffic(Features& f) {
  TrafficStats& t = f.traffic;
  Tally tally;
  bool load_seen = false;
  // InfiniBand counts forwarded errors apart.
  const bool infiniband = f.port.latest.id->link_layer == "InfiniBand";
  const double wait_limit = wait_limit_of(f.port);
  for (auto at = f.port.counters.intervals.rbegin(); at != f.port.counters.intervals.rend(); ++at) {
    if (in_seconds(f.now - at->end) > kWindowS) break;
    if (!at->carrier || at->seconds() <= 0) continue;
    if (f.port.carrier.fresh_since && at->begin < *f.port.carrier.fresh_since) break;
    ++t.all;
    note_known(*at, t);
    const double dt = at->seconds();
    const bool load_known = !std::isnan(at->utilization);
    const bool idle = load_known && at->utilization < kIdleShare;
    if (load_known && !load_seen) t.idle_now = idle;
    load_seen = load_seen || load_known;
    tally.seconds += dt;
    tally.marks_sum += count_of(*at, Indicator::kCongestionMarks);
    const double drops = count_of(*at, Indicator::kHostDrops),
                 retries = count_of(*at, Indicator::kRetries),
                 forwarded = count_of(*at, Indicator::kForwardedErrors);
    tally.drops_sum += drops;
    tally.retries_sum += retries;
    tally.forwarded_sum += forwarded;
    const bool dropped = drops / dt > f.settings.drops_per_s;
    tally.drops += dropped;
    if (!idle || dropped) {  // a port that receives nothing drops nothing
      ++tally.tested;
      tally.tested_s += dt;
    }
    const bool stomps = !infiniband && add_bad_frames(f, at, tally, t.forwarded_known);
    tally.add_rare(dt, retries > 0, forwarded > 0, stomps);
    if (load_known && !idle) add_loaded(*at, f.settings, wait_limit, tally, t);
    if (!t.run.full && tally.seconds >= kRunS) t.run = run_of(tally);
  }
  finish(t, tally);
}

}  // namespace linkhealth
