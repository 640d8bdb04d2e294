// The counters' side of PortHistory: increases, intervals and the bit error ratio.
#include <algorithm>
#include <cmath>

#include "model/history.h"

namespace linkhealth {

namespace {

constexpr double kSettleSeconds = 20;   // after a transition: training errors are not the link's
constexpr double kIntervalSeconds = 8;  // shorter readings are added up

/// Counters come at times of their own: a reading without them takes nothing from what is known of the interval, and
/// what was read never is lost. A flow stays unknown (NaN) where nothing of it was read at all.
void add_to(double& sum, double value) {
  if (std::isnan(value)) return;
  sum = std::isnan(sum) ? value : sum + value;
}

/// Bits corrected, from the number of codewords that had errors: with independent errors a codeword of `bits` has a
/// Poisson number of them. Blocks alone saturate near one error a block.
double bits_from_blocks(double blocks, double seconds, double rate_bps, double codeword_bits) {
  const double total = seconds * rate_bps / codeword_bits;
  if (total <= 0) return kUnknownValue;
  const double share = std::min(blocks / total, 0.999);
  return -std::log1p(-share) * total;
}

}  // namespace

SteadyTime PortHistory::read_at(CounterId id, SteadyTime otherwise) const {
  const auto at = std::lower_bound(read_at_.begin(), read_at_.end(), id,
                                   [](const auto& entry, CounterId wanted) { return entry.first < wanted; });
  return at != read_at_.end() && at->first == id ? at->second : otherwise;
}

void PortHistory::note_read(const Counters& counters, SteadyTime now) {
  auto at = read_at_.begin();
  for (const auto& [id, value] : counters.known()) {
    while (at != read_at_.end() && at->first < id) ++at;
    if (at == read_at_.end() || at->first != id) at = read_at_.emplace(at, id, now);
    at->second = now;
  }
}

void PortHistory::take_counters(const PortSample& sample, SteadyTime now) {
  const bool reading = latest.counters.has_value() && counters_at.has_value();
  // How long an interval is, and how long ago something was read in such intervals.
  const double interval_s =
      std::max(intervals.empty() ? 0.0 : intervals.back().seconds(), open_valid_ ? in_seconds(now - open_.begin) : 0.0);
  const auto spans = [&](SteadyTime then) {
    const double ratio = interval_s > 0 ? in_seconds(now - then) / interval_s : 1;
    return ratio > 1.5 ? ratio : 1.0;
  };
  if (reading && open_valid_) {
    const CounterSpan span = [&](CounterId id) { return spans(read_at(id, now)); };
    const FlowIncrease increase = flow_increase(baseline_, *sample.counters, span);
    if (increase.reset) {
      last_reset = now;
      open_valid_ = false;
    } else {
      for (std::size_t i = 0; i < kFlowCount; ++i) add_to(open_.flows[i], increase.rates[i]);
      const std::size_t lanes = std::min({sample.fec_lanes.size(), last_fec_lanes_.size(), kMaxLanes});
      if (lanes > 0) open_.lanes = static_cast<std::uint8_t>(lanes);
      for (std::size_t i = 0; i < lanes; ++i) {
        const FecLane& before = last_fec_lanes_[i];
        const FecLane& after = sample.fec_lanes[i];
        const bool by_bits = before.corrected_bits && after.corrected_bits;  // never bits less blocks
        const auto& from = by_bits ? before.corrected_bits : before.corrected_blocks;
        const auto& to = by_bits ? after.corrected_bits : after.corrected_blocks;
        open_.lane_bits[i] +=
            from && to && *to >= *from
                ? static_cast<float>(static_cast<double>(*to - *from) / spans(lanes_at_.value_or(now)))
                : static_cast<float>(kUnknownValue);
      }
    }
  }
  if (carrier != true) open_.carrier = false;
  // InfiniBand has no carrier count: a link_downed that rises by more than what was seen is what was missed.
  if (latest.id.link_layer == "InfiniBand" && !last_down_count_ && latest.counters) {
    const auto before = latest.counters->get("link_downed");
    const auto after = sample.counters->get("link_downed");
    if (before && after && *after > *before) {
      std::uint64_t seen = 0;
      const SteadyTime since =
          read_at(find_counter("link_downed").value(), counters_at.value_or(now));  // it is read less often than others
      for (auto at = losses.rbegin(); at != losses.rend() && at->t >= since; ++at) seen += at->count;
      if (*after - *before > seen) take_loss(now, *after - *before - seen);
    }
  }
  if (!latest.counters) latest.counters.emplace();
  latest.counters->merge(*sample.counters);
  errors_full = errors_are_full(*latest.counters);
  // After a reset nothing from before it may be compared with: also not what was not read this time.
  if (!open_valid_) {
    baseline_ = *sample.counters;
    last_fec_lanes_.clear();
  } else {
    baseline_.merge(*sample.counters);
  }
  note_read(*sample.counters, now);
  if (!sample.fec_lanes.empty()) {
    latest.fec_lanes = last_fec_lanes_ = sample.fec_lanes;
    lanes_at_ = now;
  }
  counters_at = now;
  if (!open_valid_ || in_seconds(now - open_.begin) >= kIntervalSeconds) close_interval(now);
}

void PortHistory::close_interval(SteadyTime now) {
  if (open_valid_) {
    open_.end = now;
    const bool transition = last_loss && *last_loss > open_.begin;
    const bool settling = carrier_since && in_seconds(open_.begin - *carrier_since) < kSettleSeconds;
    open_.carrier = open_.carrier && carrier == true && !transition;
    open_.clean = open_.carrier && !settling && (!carrier_since || *carrier_since <= open_.begin);
    const double rate = line_rate_bps();
    const double seconds = open_.seconds();
    double bits = open_.flow(Flow::kCorrectedBits);
    if (std::isnan(bits) && !std::isnan(open_.flow(Flow::kCorrectedBlocks)))
      bits = bits_from_blocks(open_.flow(Flow::kCorrectedBlocks), seconds, rate, 5440);
    if (rate > 0 && seconds > 0) {
      open_.ber_floor = 0.5 / (rate * seconds);
      if (!std::isnan(bits)) open_.ber = bits / (rate * seconds);
      const double octets = std::max(open_.flow(Flow::kRxOctets), open_.flow(Flow::kTxOctets));
      if (!std::isnan(octets)) open_.utilization = octets * 8 / (rate * seconds);
    }
    corrects_ = corrects_ || open_.flow(Flow::kCorrectedBits) > 0 || open_.flow(Flow::kCorrectedBlocks) > 0;
    learn_ber(open_);
    intervals.emplace_back(open_);
  }
  open_ = OpenInterval{};
  open_.flows.fill(kUnknownValue);
  open_.begin = now;
  open_.carrier = carrier == true;
  open_valid_ = true;
}

void PortHistory::learn_ber(const OpenInterval& interval) {
  if (!interval.clean) return;
  constexpr double kGateDecades = 0.9;
  if (!std::isnan(interval.ber)) {
    const double decades = std::log10(std::max(interval.ber, interval.ber_floor));
    ber_log10.add(interval.end, decades, 6, kGateDecades, Reference::Young::kGuardHigh);
    drifts.ber_log10.add(wall_, decades);
  }
  const double lane_seconds_bits = line_rate_bps() * interval.seconds() / std::max<double>(interval.lanes, 1);
  for (std::size_t i = 0; i < interval.lanes; ++i)
    if (!std::isnan(interval.lane_bits[i]) && lane_seconds_bits > 0)
      lane_ber_log10[i].add(interval.end, std::log10(std::max<double>(interval.lane_bits[i], 0.5) / lane_seconds_bits),
                            6, kGateDecades, Reference::Young::kGuardHigh);
  const double wait = interval.flow(Flow::kTransmitWait);
  const double sent = interval.flow(Flow::kTxOctets);
  if (!std::isnan(wait) && sent > 0) transmit_wait_share.add(interval.end, wait / sent, 1e9, 1e9);
}

}  // namespace linkhealth
