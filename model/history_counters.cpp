// The counters' side of PortHistory: increases, intervals and the bit error ratio.
#include <algorithm>
#include <array>
#include <cmath>

#include "model/counter_probes.h"
#include "model/history.h"
#include "model/reading_ages.h"

namespace linkhealth {

namespace {

constexpr double kSettleSeconds = 20;   // after a transition: training errors are not the link's
constexpr double kIntervalSeconds = 8;  // shorter readings are added up

/// Counters come at times of their own: a reading without them takes nothing from what is known of
/// the interval, and what was read never is lost. A flow stays unknown (NaN) where nothing of it
/// was read at all.
void add_to(double& sum, double value) {
  if (std::isnan(value)) return;
  sum = std::isnan(sum) ? value : sum + value;
}

/// Bits corrected, from the number of codewords that had errors: with independent errors a codeword
/// of `bits` has a Poisson number of them. Blocks alone saturate near one error a block.
double bits_from_blocks(double blocks, double seconds, double rate_bps, double codeword_bits) {
  const double total = seconds * rate_bps / codeword_bits;
  if (total <= 0) return kUnknownValue;
  const double share = std::min(blocks / total, 0.999);
  return -std::log1p(-share) * total;
}

/// Share of the line rate; NaN where no octets were counted.
double load(const Interval& interval, double rate_bps) {
  const double octets =
      std::fmax(interval.increase(Indicator::kRxOctets), interval.increase(Indicator::kTxOctets));
  return octets * 8 / (rate_bps * interval.seconds());
}

/// A PMA's file or a driver's hw_counters: a command of the firmware each, which fails on a card
/// that is dead (linux: mlx5_internal_err_ret_value()).
bool asks_firmware(const Counters& counters) {
  return std::ranges::any_of(counters.known(), [](const auto& entry) {
    const CounterSource source = known_counters()[entry.first].source;
    return source == CounterSource::kIbPort || source == CounterSource::kIbHw;
  });
}

CounterId link_downed() {
  static const CounterId kId = find_counter("link_downed").value();
  return kId;
}

}  // namespace

/// What the driver counted on each lane since the last reading of them; `spans`: how many intervals
/// ago that was.
void PortHistory::count_lanes(const std::vector<FecLane>& now, double spans) {
  const std::size_t lanes = std::min({now.size(), last_fec_lanes_.size(), kMaxLanes});
  if (open_.lane_bits.size() < lanes) open_.lane_bits.resize(lanes);
  for (std::size_t i = 0; i < lanes; ++i) {
    const FecLane& before = last_fec_lanes_[i];
    const bool by_bits = before.corrected_bits && now[i].corrected_bits;  // never bits less blocks
    const auto& from = by_bits ? before.corrected_bits : before.corrected_blocks;
    const auto& to = by_bits ? now[i].corrected_bits : now[i].corrected_blocks;
    open_.lane_bits[i] +=
        from && to && *to >= *from ? static_cast<double>(*to - *from) / spans : kUnknownValue;
  }
}

/// InfiniBand has no carrier count: a link_downed that rises by more than what was seen is what was
/// missed. It is read less often than the link: `since` its last reading. How many they were.
std::uint64_t PortHistory::take_missed_losses(const Counters& reading, SteadyTime since,
                                              SteadyTime now) {
  if (latest.id->link_layer != "InfiniBand" || last_down_count_ || !latest.counters) return 0;
  const auto before = latest.counters->get(link_downed());
  const auto after = reading.get(link_downed());
  if (!before || !after || *after <= *before) return 0;
  // A full one says nothing of what came since.
  if (is_full(known_counters()[link_downed()], *before)) return 0;
  std::uint64_t seen = 0;
  for (auto at = carrier.losses.rbegin(); at != carrier.losses.rend() && at->t >= since; ++at)
    seen += at->count;
  seen -= std::min(seen, losses_told_);
  if (*after - *before <= seen) return 0;
  const std::uint64_t missed = *after - *before - seen;
  take_loss(now, missed);
  // The link may be down since, and not have been looked at yet.
  if (link_at != now) losses_ahead_ = missed;
  return missed;
}

/// As those of the whole port, in end_old_counters().
void PortHistory::end_old_lanes(SteadyTime now) {
  if (latest.fec_lanes.empty() || !lanes_at_ || in_seconds(now - *lanes_at_) < kUnreadableS) return;
  const bool hidden = std::ranges::any_of(blind, [](const auto& entry) {
    const auto is_hidden = [&](std::string_view of) {
      return hides(entry.first, entry.second.reason, of);
    };
    return !entry.second.part && (is_hidden("fec") || is_hidden("driver_stats"));
  });
  if (hidden) latest.fec_lanes.clear();
}

/// What can't be read any more is not known: a total that stands still would look like a link
/// without errors.
void PortHistory::end_old_counters(SteadyTime now) {
  if (blind.empty() || !latest.counters) return;
  end_old_lanes(now);
  for (const auto& entry : blind) {
    const std::string& probe = entry.first;
    const Blindness& gap = entry.second;
    // A part: files of one directory, which take turns. Which of them fail, and since when, their
    // own ages say.
    if (!gap.part && in_seconds(now - gap.since) < kUnreadableS) continue;
    const auto is_hidden = [&](std::string_view of) { return hides(probe, gap.reason, of); };
    const auto is_old = [&](CounterId id) {
      if (!is_hidden(probe_of(id))) return false;
      if (!gap.part && probe_of(id) == probe) return true;
      const double age_s = in_seconds(now - meter_.read_at(id, SteadyTime{}));
      return age_s >= (gap.part ? kFileUnreadableS : kUnreadableS);
    };
    latest.counters->forget_known_if(is_old);
    if (!gap.part)
      latest.counters->forget_other_if(
          [&](const auto& name) { return is_hidden(probe_of_other(name)); });
  }
}

namespace {

bool has_lanes(CounterSources sources) {
  return sources.has(CounterSource::kEthtoolFec) || sources.has(CounterSource::kEthtoolDriver);
}

}  // namespace

/// What was read wrongly of a source was of its lanes too.
void PortHistory::settle_lanes(const Increase& increase) {
  if (!lanes_doubted_ || has_lanes(meter_.doubted())) return;
  lanes_doubted_ = false;
  if (!has_lanes(increase.back)) {
    last_fec_lanes_ = held_lanes_;
    lanes_at_ = held_lanes_at_;
  }
  held_lanes_.clear();
}

void PortHistory::take_lanes(const std::vector<FecLane>& lanes, SteadyTime now) {
  if (lanes_doubted_) {
    held_lanes_ = lanes;
    held_lanes_at_ = now;
    return;
  }
  latest.fec_lanes = last_fec_lanes_ = lanes;
  lanes_at_ = now;
}

/// What one reading says beside its increases.
void PortHistory::take_values(const Counters& reading, SteadyTime now) {
  const std::uint64_t missed =
      take_missed_losses(reading, downs_read_at_.value_or(counters_at.value_or(now)), now);
  if (reading.get(link_downed())) {
    downs_read_at_ = now;
    losses_told_ = missed;
  }
  compare_with_phy(reading, now);
  if (!latest.counters) latest.counters.emplace();
  latest.counters->merge(reading);
}

/// Of sources that had begun anew it is what they began with.
void PortHistory::take_held(const Increase& increase) {
  if (held_.empty()) return;
  const CounterSources doubted = meter_.doubted();
  const auto source_of = [](CounterId id) { return known_counters()[id].source; };
  Counters anew = held_;
  anew.forget_known_if(
      [&](CounterId id) { return doubted.has(source_of(id)) || increase.back.has(source_of(id)); });
  held_.forget_known_if([&](CounterId id) { return !doubted.has(source_of(id)); });
  if (!anew.empty()) take_values(anew, held_at_);
}

/// Without what is lower than before and may be a wrong reading: a total that falls and comes back
/// would be counted twice by whoever adds up its increases.
Counters PortHistory::hold_back(const Counters& reading) {
  const CounterSources doubted = meter_.doubted();
  Counters believed = reading;
  believed.forget_known_if([&](CounterId id) {
    const CounterInfo& info = known_counters()[id];
    const auto before = latest.counters ? latest.counters->get(id) : std::nullopt;
    const auto value = reading.get(id);
    if (!doubted.has(info.source) || info.end == CounterEnd::kLevel || !before || *value >= *before)
      return false;
    held_.set(id, *value);
    return true;
  });
  return believed;
}

void PortHistory::take_counters(const PortSample& sample, SteadyTime now) {
  // How long an interval is, and how long ago something was read in such intervals.
  const double interval_s =
      std::max(counters.intervals.empty() ? 0.0 : counters.intervals.back().seconds(),
               open_valid_ ? in_seconds(now - open_.begin) : 0.0);
  const auto spans = [&](SteadyTime then) {
    const double ratio = interval_s > 0 ? in_seconds(now - then) / interval_s : 1;
    return ratio > 1.5 ? ratio : 1.0;
  };
  const Increase increase = meter_.take(*sample.counters, now, interval_s);
  settle_lanes(increase);
  lanes_doubted_ = lanes_doubted_ || has_lanes(increase.reset);
  if (open_valid_) {
    for (std::size_t i = 0; i < kIndicatorCount; ++i) add_to(open_.increases[i], increase.rates[i]);
    if (!lanes_doubted_) count_lanes(sample.fec_lanes, spans(lanes_at_.value_or(now)));
  }
  for (const LateRate& late : increase.late) take_late(late);
  if (carrier.up != true) open_.carrier = false;
  take_held(increase);
  if (increase.reset) held_at_ = now;
  if (meter_.doubted())
    take_values(hold_back(*sample.counters), now);
  else
    take_values(*sample.counters, now);
  if (!sample.fec_lanes.empty()) take_lanes(sample.fec_lanes, now);
  answers_ = answers_ || asks_firmware(*sample.counters);
  counters.saturated = full_counters(*latest.counters);
  counters_at = now;
  if (!latest.id->exempt.empty())
    return;  // nobody judges it: a node may have hundreds of virtual functions
  if (!open_valid_ || in_seconds(now - open_.begin) >= kIntervalSeconds) close_interval(now);
}

void PortHistory::close_interval(SteadyTime now) {
  if (open_valid_) {
    open_.end = now;
    const bool transition = carrier.last_loss && *carrier.last_loss > open_.begin;
    const bool settling =
        carrier.since && in_seconds(open_.begin - *carrier.since) < kSettleSeconds;
    open_.carrier = open_.carrier && carrier.up == true && !transition;
    open_.clean = open_.carrier && !settling && (!carrier.since || *carrier.since <= open_.begin);
    const double rate = line_rate_bps();
    const double seconds = open_.seconds();
    double bits = open_.increase(Indicator::kCorrectedBits);
    if (std::isnan(bits) && !std::isnan(open_.increase(Indicator::kCorrectedBlocks)))
      bits = bits_from_blocks(open_.increase(Indicator::kCorrectedBlocks), seconds, rate, 5440);
    if (rate > 0 && seconds > 0) {
      open_.ber_floor = 0.5 / (rate * seconds);
      if (!std::isnan(bits)) open_.ber = bits / (rate * seconds);
      if (load_is_told()) open_.utilization = load(open_, rate);
    }
    corrects_ = corrects_ || open_.increase(Indicator::kCorrectedBits) > 0 ||
                open_.increase(Indicator::kCorrectedBlocks) > 0;
    learn_ber(open_);
    note_life(open_);
    counters.intervals.emplace_back(open_);
  }
  answers_ = false;
  meter_.begin_interval();
  open_ = Interval{};
  open_.begin = now;
  open_.carrier = carrier.up == true;
  open_valid_ = true;
}

/// The interval in which a counter was read before had its part then, and the open one has its own.
void PortHistory::take_late(const LateRate& late) {
  const double rate = line_rate_bps();
  const bool traffic = late.flow == Indicator::kRxOctets || late.flow == Indicator::kTxOctets;
  for (auto at = counters.intervals.rbegin();
       at != counters.intervals.rend() && at->begin >= late.since; ++at) {
    double& value = at->increases[static_cast<std::size_t>(late.flow)];
    const double part = late.per_s * at->seconds();
    const bool adds = std::isnan(value) || indicator_info(late.flow).combine == Combine::kSum;
    value = adds ? (std::isnan(value) ? 0 : value) + part : std::max(value, part);
    if (traffic && rate > 0 && at->seconds() > 0) at->utilization = load(*at, rate);
  }
}

/// A netdev leaves out what RDMA carries, and verbs counters what the netdev does (mlx5_ib mad.c).
/// So where the port's own octets are read more seldom, an interval without them says nothing of
/// the load until they are.
bool PortHistory::load_is_told() const {
  static const std::array kOfThePort{find_counter("port_xmit_data").value(),
                                     find_counter("mac_OctetsTransmittedOK").value()};
  bool counted = false;
  for (const CounterId id : kOfThePort) {
    if (meter_.read_at(id, open_.begin) > open_.begin) return true;
    counted = counted || (latest.counters && latest.counters->get(id));
  }
  return !counted;
}

void PortHistory::learn_ber(const Interval& interval) {
  if (!interval.clean) return;
  constexpr double kGateDecades = 0.9;
  if (!std::isnan(interval.ber)) {
    const double decades = std::log10(std::max(interval.ber, interval.ber_floor));
    counters.ber_log10.add(interval.end, decades, 6, kGateDecades, Baseline::Young::kGuardHigh);
    drifts.ber_log10.add(wall_, decades);
  }
  const double lane_seconds_bits =
      line_rate_bps() * interval.seconds() /
      std::max<double>(static_cast<double>(interval.lane_bits.size()), 1);
  for (std::size_t i = 0; i < interval.lane_bits.size(); ++i)
    if (!std::isnan(interval.lane_bits[i]) && lane_seconds_bits > 0)
      counters.lane_ber_log10[i].add(
          interval.end, std::log10(std::max(interval.lane_bits[i], 0.5) / lane_seconds_bits), 6,
          kGateDecades, Baseline::Young::kGuardHigh);
  const double wait = interval.increase(Indicator::kTransmitWait);
  const double sent = interval.increase(Indicator::kTxOctets);
  if (!std::isnan(wait) && sent > 0)
    counters.transmit_wait_share.add(interval.end, wait / sent, 1e9, 1e9);
}

}  // namespace linkhealth
