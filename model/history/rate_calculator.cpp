#include "model/history/rate_calculator.h"

#include <algorithm>
#include <cmath>

namespace linkhealth {

namespace {

constexpr std::uint64_t all_ones(std::uint8_t width_bits) {
  return width_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width_bits) - 1;
}

/// Whether a counter of known width wrapped. A reset looks similar, but the wrapped distance is
/// then rarely the shorter one.
bool wrapped(const CounterInfo& info, std::uint64_t from, std::uint64_t to) {
  if (info.end != CounterEnd::kWraps || info.width_bits >= 64 || from > all_ones(info.width_bits))
    return false;
  const std::uint64_t half = all_ones(info.width_bits) / 2;
  return from > half && ((to - from) & all_ones(info.width_bits)) <= half;
}

/// Whether a narrower register of the same counter is saturated: IBTA's agent and the sysfs file
/// have different widths.
bool is_narrower(const CounterInfo& info, std::uint64_t before, std::uint64_t value) {
  return value < before && is_saturated(info, value);
}

}  // namespace

double Increase::of(Indicator indicator) const { return in_interval(indicator, 0); }

double Increase::in_interval(Indicator indicator, double interval_s) const {
  double sum = kUnknownValue;
  for (const Gain& gain : gains)
    if (gain.indicator == indicator)
      sum = (std::isnan(sum) ? 0 : sum) + gain.in_interval(interval_s);
  return sum;
}

/// The sources with a counter that was reset. A counter that wraps while others of its source
/// decrease was reset with them.
std::set<CounterSource> RateCalculator::decreased(const Counters& reading) const {
  std::set<CounterSource> sources;
  for (const auto& [id, value] : reading.known()) {
    const CounterInfo& info = known_counters()[id];
    const auto at = last_.find(id);
    if (at == last_.end() || !at->second.value || value >= *at->second.value) continue;
    if (info.end == CounterEnd::kLevel) continue;
    if (!wrapped(info, *at->second.value, value) && !is_narrower(info, *at->second.value, value))
      sources.insert(info.source);
  }
  return sources;
}

SteadyTime RateCalculator::read_at(CounterId id, SteadyTime otherwise) const {
  const auto at = last_.find(id);
  return at == last_.end() ? otherwise : at->second.at;
}

Increase RateCalculator::update(const Counters& reading, SteadyTime now) {
  Increase result;
  result.reset = decreased(reading);
  const auto is_reset = [&](CounterId id) {
    return result.reset.contains(known_counters()[id].source);
  };
  for (auto& [id, last] : last_)
    if (is_reset(id)) last.value.reset();
  for (const auto& [id, value] : reading.known()) {
    Last& last = last_[id];
    const CounterInfo& info = known_counters()[id];
    if (last.value && is_narrower(info, *last.value, value)) continue;
    if (last.value && indicator_of(id) && !is_saturated(info, *last.value))
      result.gains.push_back(gain(id, last, value, now));
    if (!is_reset(id)) last.value = value;
    last.at = now;
  }
  // Every counter that was read now includes all events of its indicator, whichever counter
  // reported them first.
  for (auto& [id, last] : last_)
    if (last.at == now && indicator_of(id)) last.total = total_of(id);
  return result;
}

double& RateCalculator::total_of(CounterId id) {
  return totals_[static_cast<std::size_t>(indicator_of(id).value())];
}

Gain RateCalculator::gain(CounterId id, const Last& last, std::uint64_t value, SteadyTime now) {
  const IndicatorInfo& info = indicator_info(indicator_of(id).value());
  const std::uint64_t before = last.value.value();
  const std::uint64_t step = value >= before
                                 ? value - before
                                 : (value - before) & all_ones(known_counters()[id].width_bits);
  const double increase = static_cast<double>(step) * static_cast<double>(unit_of(id));
  double& total = total_of(id);
  const double total_before = total;
  total = info.combine == Combine::kSum ? total + increase : std::max(total, last.total + increase);
  return {info.indicator, total - total_before, in_seconds(now - last.at)};
}

Increase increase_between(const Counters& before, const Counters& after) {
  RateCalculator calculator;
  calculator.update(before, SteadyTime{});
  return calculator.update(after, SteadyTime{} + from_seconds(1));
}

}  // namespace linkhealth
