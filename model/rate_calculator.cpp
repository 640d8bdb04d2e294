#include "model/rate_calculator.h"

#include <algorithm>
#include <cmath>

namespace linkhealth {

namespace {

constexpr std::uint64_t all_ones(std::uint8_t width_bits) {
  return width_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width_bits) - 1;
}

/// A counter of known width that went on at zero. A reset looks alike, but then the step is seldom
/// the shorter way.
bool wrapped(const CounterInfo& info, std::uint64_t from, std::uint64_t to) {
  if (info.end != CounterEnd::kWraps || info.width_bits >= 64 || from > all_ones(info.width_bits))
    return false;
  const std::uint64_t half = all_ones(info.width_bits) / 2;
  return from > half && ((to - from) & all_ones(info.width_bits)) <= half;
}

/// NaN where it can't be known. The step to the end of a saturating counter is at least as long as
/// it looks.
double increase_of(const CounterInfo& info, std::uint64_t from, std::uint64_t to) {
  if (to < from)
    return wrapped(info, from, to) ? static_cast<double>((to - from) & all_ones(info.width_bits))
                                   : kUnknownValue;
  if (is_full(info, from)) return kUnknownValue;
  return static_cast<double>(to - from);
}

/// How many intervals a counter's increase is of; 1: it is read in each.
double intervals_in(double counted_s, double interval_s) {
  const double intervals = interval_s > 0 ? counted_s / interval_s : 1;
  return intervals > 1.5 ? intervals : 1;
}

/// A burst somewhere in a longer time, spread over all of it, would be most of windows.traffic_s.
constexpr double kLongestSpread_s = 600;
/// Within it each counter that can be read is read again (ib_sysfs.cpp, kOtherPmaPeriodS).
constexpr double kLongestDoubt_s = 150;

}  // namespace

/// A counter that went down, or that seems to have gone round while those of another source began
/// anew.
CounterSources RateCalculator::begun_anew(const Counters& reading) const {
  CounterSources fell, went_round;
  auto at = entries_.begin();
  for (const auto& [id, value] : reading.known()) {
    while (at != entries_.end() && at->id < id) ++at;
    if (at == entries_.end()) break;
    if (at->id != id || value >= at->value) continue;
    const CounterInfo& info = known_counters()[id];
    if (info.end != CounterEnd::kLevel)
      (wrapped(info, at->value, value) ? went_round : fell).add(info.source);
  }
  if (fell) fell.add(went_round);
  return fell;
}

CounterSources RateCalculator::doubted() const {
  CounterSources sources;
  for (const Doubted& one : doubted_) sources.add(known_counters()[one.before.id].source);
  return sources;
}

/// Counts from now on, and keeps what the sources said before: the next reading may be as high
/// again.
void RateCalculator::doubt(CounterSources sources, SteadyTime now) {
  const auto is_of = [sources](const Entry& entry) {
    return sources.has(known_counters()[entry.id].source);
  };
  std::erase_if(doubted_, [&](const Doubted& one) { return is_of(one.before); });
  for (const Entry& entry : entries_) {
    if (!is_of(entry)) continue;
    doubted_.push_back({entry, now, std::nullopt});
    read_before_[entry.id] = entry.at;
  }
  std::erase_if(entries_, is_of);
}

void RateCalculator::note_first(CounterId id, std::uint64_t value) {
  for (Doubted& one : doubted_)
    if (one.before.id == id && !one.first) one.first = value;
}

/// What has not been read since the wrong reading counts from before it; what was read first in the
/// doubt, too.
void RateCalculator::restore(CounterSources sources) {
  for (const Doubted& one : doubted_) {
    if (!sources.has(known_counters()[one.before.id].source)) continue;
    const auto at = std::ranges::lower_bound(entries_, one.before.id, {}, &Entry::id);
    if (at == entries_.end() || at->id != one.before.id) {
      entries_.insert(at, one.before);
    } else if (at->at == one.fell_at || at->value < one.before.value) {
      *at = one.before;
    } else if (one.first && *one.first <= at->value && *one.first > one.before.value) {
      at->value -=
          *one.first - one.before.value;  // what came in between counts with the next reading
    }
  }
}

/// A counter that fell and is as high again, or higher, had not begun anew: all of one that had
/// would have come between two readings. One that is still lower had, and the rest of its source
/// with it. Which sources were read wrongly.
CounterSources RateCalculator::settle_falls(const Counters& reading, SteadyTime now) {
  CounterSources anew, back, settled;
  for (const Doubted& one : doubted_) {
    const CounterInfo& info = known_counters()[one.before.id];
    if (in_seconds(now - one.fell_at) > kLongestDoubt_s) {
      settled.add(info.source);
      continue;
    }
    const auto value = reading.get(one.before.id);
    if (!value || info.end == CounterEnd::kLevel) continue;
    const auto fell_to = [&](std::uint64_t to) {
      return to < one.before.value && !wrapped(info, one.before.value, to);
    };
    const auto at = std::ranges::lower_bound(entries_, one.before.id, {}, &Entry::id);
    if (fell_to(*value))
      anew.add(info.source);
    else if (at != entries_.end() && at->id == one.before.id && fell_to(at->value))
      back.add(info.source);
  }
  back.remove(anew);
  if (back) restore(back);
  settled.add(anew);
  settled.add(back);
  std::erase_if(doubted_, [&](const Doubted& one) {
    return settled.has(known_counters()[one.before.id].source);
  });
  return back;
}

void RateCalculator::forget() { *this = RateCalculator(); }

void RateCalculator::begin_interval() {
  interval_rates_.fill(0);
  for (Entry& entry : entries_) entry.share = 0;
  for (Doubted& one : doubted_) one.before.share = 0;
}

SteadyTime RateCalculator::read_at(CounterId id, SteadyTime otherwise) const {
  const auto at = std::ranges::lower_bound(entries_, id, {}, &Entry::id);
  if (at != entries_.end() && at->id == id) return at->at;
  const auto before = read_before_.find(id);
  return before != read_before_.end() ? before->second : otherwise;
}

/// Adds what one counter says to its flow.
void RateCalculator::count(const IndicatorUse& use, Entry& entry, double increase,
                           double intervals) {
  const auto flow = static_cast<std::size_t>(use.flow);
  double& total = totals_[flow];
  total = use.combine == Combine::kSum ? total + increase : std::max(total, entry.told + increase);
  if (!use.is_rate) return;
  entry.share += static_cast<float>(increase / intervals);
  double& rate = interval_rates_[flow];
  rate = use.combine == Combine::kSum ? rate + increase / intervals
                                      : std::max(rate, static_cast<double>(entry.share));
}

/// All that was read now has told what its flow counts now, whoever said it.
void RateCalculator::note_told(const Counters& reading) {
  const auto uses = indicator_uses();
  auto at = entries_.begin();
  for (const auto& [id, value] : reading.known()) {
    while (at->id != id) ++at;
    if (uses[id].used) at->told = totals_[static_cast<std::size_t>(uses[id].flow)];
  }
}

Increase RateCalculator::take(const Counters& reading, SteadyTime now, double interval_s) {
  Increase result;
  result.values.fill(kUnknownValue);
  result.rates.fill(kUnknownValue);
  if (!doubted_.empty()) result.back = settle_falls(reading, now);
  result.reset = begun_anew(reading);
  if (result.reset) doubt(result.reset, now);
  const auto totals_before = totals_;
  const auto rates_before = interval_rates_;
  const auto uses = indicator_uses();
  IndicatorSet known;
  auto at = entries_.begin();
  for (const auto& [id, value] : reading.known()) {
    while (at != entries_.end() && at->id < id) ++at;
    if (at == entries_.end() || at->id != id) {
      at = entries_.insert(at, Entry{value, now, 0, 0, id});
      note_first(id, value);
      continue;
    }
    const IndicatorUse& use = uses[id];
    const double increase =
        use.used ? increase_of(known_counters()[id], at->value, value) * use.unit : kUnknownValue;
    if (!std::isnan(increase)) {
      known.add(use.flow);
      const double counted_s = in_seconds(now - at->at);
      const double intervals = intervals_in(counted_s, interval_s);
      count(use, *at, increase, intervals);
      if (intervals > 1 && is_spread(use.flow) && counted_s <= kLongestSpread_s)
        result.late.push_back({use.flow, increase / counted_s, at->at});
    }
    at->value = value;
    at->at = now;
  }
  note_told(reading);
  for (std::size_t i = 0; i < kIndicatorCount; ++i) {
    if (!known.has(static_cast<Indicator>(i))) continue;
    result.values[i] = totals_[i] - totals_before[i];
    result.rates[i] = is_rate(static_cast<Indicator>(i)) ? interval_rates_[i] - rates_before[i]
                                                         : result.values[i];
  }
  return result;
}

Increase increase_between(const Counters& before, const Counters& after) {
  RateCalculator meter;
  meter.take(before, SteadyTime{});
  return meter.take(after, SteadyTime{} + from_seconds(1));
}

}  // namespace linkhealth
