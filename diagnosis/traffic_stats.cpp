// Statistics of a port's traffic counters over a window of time. The numbers were fitted on
// simulated cases (docs/accuracy.md).
#include <algorithm>
#include <cmath>
#include <deque>

#include "diagnosis/features.h"

namespace linkhealth {

namespace {

// of the line rate: below this, a port neither queues nor drops.
constexpr double kIdleShare = 0.02;
constexpr double kBinS = 115;  // rare events are counted per bin, whatever the reading period
constexpr double kPauseSentPerS = 20;  // more pause frames sent than this: the host cannot keep up
constexpr double kStallsPerS = 0.2;    // seconds with PCIe stalls
constexpr double kWaitShare = 0.01;    // ticks that an octet waited, if the baseline is not lower

/// The share of bins in which rare events occurred.
struct Bins {
  double seconds = 0, all = 0, with = 0;
  bool now = false;
  void add(double interval_s, bool event) {
    seconds += interval_s;
    now = now || event;
    if (seconds < kBinS) return;
    ++all;
    with += now;
    seconds = 0;
    now = false;
  }
  [[nodiscard]] double share() const { return with / std::max(all, 1.0); }
};

/// The increase in an interval; 0 if unknown.
double count_of(const Interval& interval, Indicator indicator) {
  return std::max(0.0, interval.increase(indicator));  // a NaN does not compare
}

/// Congestion notifications that other hosts sent. mlx5 also counts as handled those that the card
/// generates after waiting in vain for an acknowledgement: as many as slow restarts, if those are
/// counted. If not: about one for each retransmitted packet, when nothing else indicates a
/// congested network.
double marks_in(const Interval& interval) {
  constexpr double kPerRetry = 2, kHardly = 0.1;
  const double marks = count_of(interval, Indicator::kCongestionMarks);
  const double handled =
      count_of(interval, Indicator::kCnpsHandled) - count_of(interval, Indicator::kSlowRestarts);
  const bool alone = marks + count_of(interval, Indicator::kPauseReceived) <= kHardly * handled;
  if (handled <= 0 || (alone && handled <= kPerRetry * count_of(interval, Indicator::kRetries)))
    return marks;
  return marks + handled;
}

using NewestFirst = std::deque<Interval>::const_reverse_iterator;

/// Several counters report the same frames, and a driver's own ones are read only once a minute:
/// they may count damage that was already seen.
bool damaged_lately(const NewestFirst& at, const NewestFirst& oldest) {
  constexpr double kSlowestS = 70;
  for (auto older = at; older != oldest && in_seconds(at->end - older->end) <= kSlowestS; ++older)
    if (count_of(*older, Indicator::kUncorrectableBlocks) > 0 ||
        count_of(*older, Indicator::kSymbolErrors) > 0)
      return true;
  return false;
}

/// Ten times its baseline; the constant if the baseline is unknown or no lower.
double wait_limit_of(const PortHistory& port) {
  const auto own = port.counters.transmit_wait_share.lower_quartile();
  return own ? std::clamp(10 * *own, 0.3 * kWaitShare, kWaitShare) : kWaitShare;
}

class Window {
 public:
  explicit Window(const Features& f) : f_(f), wait_limit_(wait_limit_of(f.port)) {}

  void add(const NewestFirst& at) {
    const Interval& interval = *at;
    const double dt = interval.seconds();
    const bool load_known = !std::isnan(interval.utilization());
    const bool idle = load_known && interval.utilization() < kIdleShare;
    if (load_known && !load_seen_) t_.idle_now = idle;
    load_seen_ = load_seen_ || load_known;
    note_known(interval);
    ++t_.all;
    t_.known_s += dt;
    t_.marks_per_s += marks_in(interval);
    const double drops = count_of(interval, Indicator::kHostDrops),
                 retries = count_of(interval, Indicator::kRetries),
                 forwarded = count_of(interval, Indicator::kForwardedErrors);
    t_.drops_per_s += drops;
    t_.retries_per_s += retries;
    t_.forwarded_per_s += forwarded;
    const bool dropped = drops / dt > f_.settings.drops_per_s;
    t_.drops_share += dropped;
    if (!idle || dropped) {  // a port that receives nothing drops nothing
      ++tested_;
      t_.tested_s += dt;
    }
    const bool stomps = add_bad_frames(at);
    retries_.add(dt, retries > 0);
    forwarded_.add(dt, forwarded > 0);
    stomps_.add(dt, forwarded > 0 || stomps);
    if (load_known && !idle) add_loaded(interval);
  }

  TrafficStats finish() {
    if (t_.known_s <= 0) return t_;
    // Damage on this link also causes bad frames: then a few more of them are not evidence.
    const bool stomped = stomped_frames_ > damaged_here_;
    if (stomped) t_.forwarded_per_s += stomped_frames_;
    t_.forwarded_share = (stomped ? stomps_ : forwarded_).share();
    t_.retries_share = retries_.share();
    for (double* sum : {&t_.marks_per_s, &t_.drops_per_s, &t_.retries_per_s, &t_.forwarded_per_s})
      *sum /= t_.known_s;
    for (double* count : {&t_.marks_share, &t_.pause_share, &t_.wait_share, &t_.pause_sent_share,
                          &t_.stalls_share, &t_.discards_share})
      *count /= std::max(loaded_, 1.0);
    t_.drops_share /= std::max(tested_, 1.0);
    return t_;
  }
  [[nodiscard]] double known_s() const { return t_.known_s; }

 private:
  void note_known(const Interval& interval) {
    const std::pair<Indicator, bool*> flags[] = {
        {Indicator::kCongestionMarks, &t_.marks_known},
        {Indicator::kCnpsHandled, &t_.marks_known},
        {Indicator::kPauseReceived, &t_.pause_known},
        {Indicator::kHostDrops, &t_.drops_known},
        {Indicator::kRetries, &t_.retries_known},
        {Indicator::kForwardedErrors, &t_.forwarded_known},
        {Indicator::kPauseSent, &t_.pause_sent_known},
        {Indicator::kPcieStalls, &t_.stalls_known},
        {Indicator::kTransmitDiscards, &t_.discards_known}};
    for (const auto& [indicator, known] : flags)
      *known = *known || !std::isnan(interval.increase(indicator));
  }

  /// Counts bad frames of an interval. If this link lost nothing that FEC or the line code would
  /// have detected, they were bad before: a cut-through switch marks frames whose checksum it finds
  /// wrong after forwarding began. Returns whether there are any. InfiniBand counts forwarded
  /// errors separately.
  bool add_bad_frames(const NewestFirst& at) {
    const double bad = at->increase(Indicator::kFrameErrors);
    const double lost_here = at->increase(f_.signal.ber_limit ? Indicator::kUncorrectableBlocks
                                                              : Indicator::kSymbolErrors);
    if (f_.port.latest.id.link_layer == "InfiniBand" || std::isnan(lost_here) || std::isnan(bad))
      return false;
    t_.forwarded_known = true;
    if (bad <= 0) return false;
    const bool damaged = damaged_lately(at, f_.port.counters.intervals.rend());
    (damaged ? damaged_here_ : stomped_frames_) += bad;
    return !damaged;
  }

  /// An interval with load: queueing, waiting and drops occur only then.
  void add_loaded(const Interval& interval) {
    const double dt = interval.seconds();
    const auto above = [&](Indicator indicator, double per_s) {
      return count_of(interval, indicator) / dt > per_s;
    };
    ++loaded_;
    t_.loaded_s += dt;
    t_.marks_share += marks_in(interval) / dt > f_.settings.marks_per_s;
    t_.pause_share += above(Indicator::kPauseReceived, f_.settings.pause_per_s);
    t_.pause_sent_share += above(Indicator::kPauseSent, kPauseSentPerS);
    t_.stalls_share += above(Indicator::kPcieStalls, kStallsPerS);
    t_.discards_share += above(Indicator::kTransmitDiscards, f_.settings.drops_per_s);
    const double sent = interval.increase(Indicator::kTxOctets);
    const double waited = interval.increase(Indicator::kTransmitWait);
    if (std::isnan(waited) || !(sent > 0)) return;
    t_.wait_known = true;
    t_.wait_share += waited / sent > wait_limit_;
  }

  const Features& f_;
  double wait_limit_;
  TrafficStats t_;
  double loaded_ = 0, tested_ = 0;                ///< intervals
  double stomped_frames_ = 0, damaged_here_ = 0;  ///< without and with loss on this link
  Bins retries_, forwarded_, stomps_;
  bool load_seen_ = false;
};

TrafficStats stats_of(const Features& f, double window_s, double enough_s) {
  const auto& intervals = f.port.counters.intervals;
  const auto& fresh_since = f.port.carrier.fresh_since;
  Window window(f);
  for (auto at = intervals.rbegin(); at != intervals.rend() && window.known_s() < enough_s; ++at) {
    if (in_seconds(f.now - at->end) > window_s || (fresh_since && at->begin < *fresh_since)) break;
    if (at->carrier && at->seconds() > 0) window.add(at);
  }
  return window.finish();
}

}  // namespace

void fill_traffic(Features& f) {
  f.traffic = stats_of(f, kTrafficWindowS, kTrafficWindowS);
  f.traffic_run = stats_of(f, kTrafficWindowS, kTrafficRunS);
}

}  // namespace linkhealth
