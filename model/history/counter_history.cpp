#include "model/history/counter_history.h"

#include <algorithm>
#include <cmath>

namespace linkhealth {

namespace {

constexpr double kIntervalKeepSeconds = 3600;
constexpr std::size_t kMaxIntervals = 512;
// after a transition: errors while training are not the link's.
constexpr double kSettleSeconds = 20;
constexpr double kIntervalSeconds = 8;  // shorter ones are merged
/// A burst averaged over more than this would fill most of windows.traffic_s.
constexpr double kLongestSpreadS = 600;

/// Bits corrected, estimated from the number of codewords with errors: if errors are independent, a
/// codeword of 5440 bits (RS544) has a Poisson number of them. Near one error per block, counts of
/// blocks alone saturate.
double bits_from_blocks(double blocks, double seconds, double rate_bps) {
  const double total = seconds * rate_bps / 5440;
  if (total <= 0) return kUnknownValue;
  return -std::log1p(-std::min(blocks / total, 0.999)) * total;
}

double corrected_bits(const Interval& interval) {
  const double bits = interval.increase(Indicator::kCorrectedBits);
  const double blocks = interval.increase(Indicator::kCorrectedBlocks);
  if (!std::isnan(bits) || std::isnan(blocks)) return bits;
  return bits_from_blocks(blocks, interval.seconds(), interval.line_rate_bps);
}

/// The counts of a lane that both readings have: bits are never compared with blocks.
struct LaneCounts {
  std::optional<std::uint64_t> from, to;
};
LaneCounts counts_of(const FecLane& before, const FecLane& now) {
  if (before.corrected_bits && now.corrected_bits)
    return {before.corrected_bits, now.corrected_bits};
  return {before.corrected_blocks, now.corrected_blocks};
}

}  // namespace

double line_rate_bps(double speed_mbps, std::string_view fec) {
  // 64b/66b and 256b/257b transcoding with RS(528) end at 1.03125, RS(544) at 1.0625 (IEEE 802.3
  // cl. 91, 119).
  return speed_mbps * 1e6 * (fec == "RS544" ? 1.0625 : 1.03125);
}

const Interval* CounterHistory::add(const Increase& increase, const std::vector<FecLane>& lanes,
                                    const CarrierHistory& carrier, double line_rate_bps,
                                    SteadyTime now) {
  const double open_s = open_ ? in_seconds(now - open_->begin) : 0;
  const double interval_s = std::max(intervals.empty() ? 0.0 : intervals.back().seconds(), open_s);
  if (open_)
    for (const Gain& gain : increase.gains) add_gain(gain, interval_s, now);
  if (!lanes.empty()) add_lanes(lanes, interval_s, now);
  if (open_ && carrier.up != true) open_->carrier = false;
  if (open_ && open_s < kIntervalSeconds) return nullptr;
  const bool is_first = !open_;
  if (!is_first) close(carrier, line_rate_bps, now);
  open_.emplace();
  open_->begin = now;
  open_->carrier = carrier.up == true;
  return is_first ? nullptr : &intervals.back();
}

void CounterHistory::add_gain(const Gain& gain, double interval_s, SteadyTime now) {
  open_->add(gain.indicator, gain.in_interval(interval_s));
  if (!gain.is_spread(interval_s) || gain.seconds > kLongestSpreadS) return;
  const SteadyTime since = now - from_seconds(gain.seconds);
  for (auto at = intervals.rbegin(); at != intervals.rend() && at->begin >= since; ++at)
    at->add(gain.indicator, gain.value * at->seconds() / gain.seconds);
}

/// A decrease is a reset or a wrong reading: counting restarts at the next reading.
void CounterHistory::add_lanes(const std::vector<FecLane>& lanes, double interval_s,
                               SteadyTime now) {
  const std::size_t count = open_ ? std::min({lanes.size(), last_lanes_.size(), kMaxLanes}) : 0;
  if (open_ && count > open_->lane_bits.size()) open_->lane_bits.resize(count);
  bool has_decreased = false;
  for (std::size_t i = 0; i < count; ++i) {
    const auto [from, to] = counts_of(last_lanes_[i], lanes[i]);
    const bool known = from && to && *to >= *from;
    has_decreased = has_decreased || (from && to && *to < *from);
    const Gain gain{Indicator::kCorrectedBits,
                    known ? static_cast<double>(*to - *from) : kUnknownValue,
                    in_seconds(now - lanes_at.value_or(now))};
    open_->lane_bits[i] += gain.in_interval(interval_s);
  }
  last_lanes_ = has_decreased ? std::vector<FecLane>() : lanes;
  lanes_at = now;
}

void CounterHistory::close(const CarrierHistory& carrier, double line_rate_bps, SteadyTime now) {
  Interval& interval = *open_;
  interval.end = now;
  const auto& since = carrier.since;
  const bool lost = carrier.last_loss && *carrier.last_loss > interval.begin;
  const bool settled = !since || in_seconds(interval.begin - *since) >= kSettleSeconds;
  interval.carrier = interval.carrier && carrier.up == true && !lost;
  interval.clean = interval.carrier && settled;
  interval.line_rate_bps = line_rate_bps;
  if (const double bits = line_rate_bps * interval.seconds(); bits > 0) {
    interval.ber_floor = 0.5 / bits;
    interval.ber = corrected_bits(interval) / bits;
  }
  corrects = corrects || interval.increase(Indicator::kCorrectedBits) > 0 ||
             interval.increase(Indicator::kCorrectedBlocks) > 0;
  if (interval.clean) learn(interval);
  intervals.push_back(interval);
}

void CounterHistory::learn(const Interval& interval) {
  const auto learn_ratio = [&](Baseline& baseline, double ratio) {
    if (!std::isnan(ratio))
      baseline.add(interval.end, std::log10(ratio), 6, 0.9, Baseline::Young::kGuardHigh);
  };
  learn_ratio(ber_log10, std::max(interval.ber, interval.ber_floor));
  const double lane_bits = interval.line_rate_bps * interval.seconds() /
                           static_cast<double>(std::max<std::size_t>(interval.lane_bits.size(), 1));
  for (std::size_t i = 0; i < interval.lane_bits.size() && lane_bits > 0; ++i)
    learn_ratio(lane_ber_log10[i], std::max(interval.lane_bits[i], 0.5) / lane_bits);
  const double wait = interval.increase(Indicator::kTransmitWait);
  const double sent = interval.increase(Indicator::kTxOctets);
  if (!std::isnan(wait) && sent > 0) transmit_wait_share.add(interval.end, wait / sent, 1e9, 1e9);
}

void CounterHistory::clear_ber_baselines() {
  ber_log10.clear();
  for (Baseline& lane : lane_ber_log10) lane.clear();
}

void CounterHistory::forget_counts() {
  last_lanes_.clear();
  open_.reset();
}

void CounterHistory::forget_old(SteadyTime now) {
  while (!intervals.empty() && (intervals.size() > kMaxIntervals ||
                                in_seconds(now - intervals.front().end) > kIntervalKeepSeconds))
    intervals.pop_front();
}

}  // namespace linkhealth
