#include "diagnosis/port_view.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "diagnosis/port_traffic.h"
#include "model/peer_times.h"

namespace linkhealth {

namespace {

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Bits in 90 s at 10 Gb/s: 9e11, so that 1e-9 is known to 4 %. Traffic: fitted on simulated cases
// (docs/accuracy.md).
constexpr Knob kWindows[] = {
    {"ber_s", 90, 10, 3600, "s",
     "the newest clean intervals that make up the error ratio of now cover at least this"},
    {"ber_intervals", 3, 1, 100, "", "and are at least so many"},
    {"recent_s", 600, 60, 3600, "s", "and are no older; also what counts as recent damage"},
    {"traffic_s", 1500, 60, 3600, "s", "over which traffic is judged"},
    {"traffic_full_s", 1300, 30, 3600, "s", "of it must be known"},
    {"traffic_run_s", 900, 30, 3600, "s",
     "so much of it is enough where all of it says the same: good links have peaks of up to 300 s, "
     "and two of them may "
     "meet"},
    {"bin_s", 115, 10, 1800, "s", "rare events are counted by bins of this, whatever the cadence"},
    {"idle_share", 0.02, 0, 0.5, "", "of the line rate: below, a port neither queues nor drops"},
    {"marks_per_s", 400, 1, 1e6, "/s",
     "more congestion marks than this make an interval congested"},
    {"pause_per_s", 5, 0.1, 1e6, "/s", "more pause frames than this do too"},
    {"drops_per_s", 0.4, 0.01, 1e6, "/s",
     "more packets without a buffer than this make an interval one with drops"},
    {"pause_sent_per_s", 20, 0.1, 1e6, "/s",
     "more pause frames sent than this: the host asks for rest"},
    {"stalls_per_s", 0.2, 0.01, 100, "/s",
     "more seconds with PCIe stalls than this make an interval a stalled one"},
    {"wait_share", 0.01, 1e-4, 10, "", "ticks an octet waited, where the past was no better"},
    {"lane_share", 20, 1, 1000, "",
     "a lane above the limit divided by this is near it (limit/10: a warning)"},
    {"lane_share_copper", 4, 1, 1000, "", "the same for copper, which runs nearer its limit"},
    {"lane_penalty_db", 1.2, 0.3, 10, "dB",
     "worse than the median lane by so much, at least: lanes differ by 0.5 dB (docs/physics.md "
     "7a)"},
    {"lane_light_db", 3.6, 1.5, 10, "dB",
     "a lane so far below its siblings needs no past: lanes differ by 0.6 dB (docs/physics.md 7a "
     "and 7e)"},
    {"lane_light_sure_db", 5.5, 1.5, 20, "dB", "so far below, it needs no errors either"},
    {"low_power_share", 1000, 10, 1e6, "",
     "a lane with less errors than the limit divided by this has 1.6 dB left: a good link of low "
     "power (7b)"},
    {"supply_low_v", 3.135, 2.5, 3.4, "V",
     "supply voltage where the module gives no limit (docs/physics.md 3e)"},
    {"lane_own_ratio", 8, 2, 1000, "",
     "a lane so much above its own past, and so much above the median lane, needs no more "
     "(docs/physics.md 3a)"},
    {"supply_dip_v", 0.12, 0.03, 0.5, "V",
     "below its own past: meters are 3 % apart, but each of them is steady"}};
enum Window : std::size_t {
  kBerS,
  kBerCount,
  kRecentS,
  kTrafficS,
  kFullS,
  kRunS,
  kBinS,
  kIdle,
  kMarks,
  kPause,
  kDrops,
  kPauseSent,
  kStalls,
  kWait,
  kLaneShare,
  kLaneShareCopper,
  kLanePenalty,
  kLaneLight,
  kLaneLightSure,
  kLowPowerShare,
  kSupplyLow,
  kLaneOwnRatio,
  kSupplyDip
};

/// The newest clean intervals with a known BER that make up "now". Since the fibre was mated anew
/// the ratio of before is not that of now.
std::vector<const Interval*> recent_clean(const PortView& view, KnobValues k) {
  std::vector<const Interval*> chosen;
  double covered_s = 0;
  const SteadyTime reference_time =
      view.down && view.port.carrier.last_loss ? *view.port.carrier.last_loss : view.now;
  for (auto at = view.port.counters.intervals.rbegin(); at != view.port.counters.intervals.rend();
       ++at) {
    if (in_seconds(reference_time - at->end) > k[kRecentS]) break;
    if (!view.down && view.port.carrier.mated_at && at->begin < *view.port.carrier.mated_at) break;
    if (!at->clean || std::isnan(at->ber)) continue;
    chosen.push_back(&*at);
    covered_s += at->seconds();
    if (static_cast<double>(chosen.size()) >= k[kBerCount] && covered_s >= k[kBerS]) break;
  }
  return chosen;
}

void fill_ber(PortView& view, KnobValues k) {
  SignalStats& s = view.signal;
  s.ber_limit = ber_limit(view.port.fec(), view.medium);
  if (const auto reference = view.port.counters.ber_log10.lower_quartile())
    s.ber_reference = std::pow(10.0, *reference);
  const auto chosen = recent_clean(view, k);
  if (chosen.empty() || static_cast<double>(chosen.size()) < k[kBerCount]) return;
  std::vector<double> values;
  for (const Interval* interval : chosen) {
    values.push_back(interval->ber);
    s.ber_window_s += interval->seconds();
    s.ber_resolution = interval->ber_floor;
  }
  s.ber = median_of(values);
  if (const double bits = view.port.line_rate_bps() * s.ber_window_s; bits > 0) {
    const SignalStats::Range counted = counted_range(*s.ber * bits);
    s.ber_range = SignalStats::Range{counted.low / bits, counted.high / bits};
  }
  s.lanes = chosen.front()->lane_bits.size();
  std::vector<double> lane_values;
  for (std::size_t lane = 0; lane < s.lanes; ++lane) {
    values.clear();
    for (const Interval* interval : chosen)
      if (lane < interval->lane_bits.size() && !std::isnan(interval->lane_bits[lane]))
        values.push_back(interval->lane_bits[lane] *
                         static_cast<double>(interval->lane_bits.size()) /
                         (view.port.line_rate_bps() * interval->seconds()));
    if (values.size() != chosen.size()) {
      s.lanes = 0;
      return;
    }
    s.lane_ber[lane] = median_of(values);
    lane_values.push_back(s.lane_ber[lane]);
  }
  if (s.lanes < 2) return;
  const double floor = s.ber_resolution * static_cast<double>(s.lanes);
  const auto worst = std::max_element(s.lane_ber.begin(),
                                      s.lane_ber.begin() + static_cast<std::ptrdiff_t>(s.lanes));
  s.worst_lane = static_cast<int>(worst - s.lane_ber.begin());
  std::sort(lane_values.begin(), lane_values.end());
  const double typical = std::max(lane_values[(lane_values.size() - 1) / 2], floor);
  s.worst_lane_ratio = *worst / typical;
  const bool pam4 = is_pam4(view);
  if (s.worst_lane_ratio > 2) s.worst_lane_penalty_db = implied_drop_db(typical, *worst, pam4);
  const double share = view.medium == Medium::kCopper ? k[kLaneShareCopper] : k[kLaneShare];
  s.lane_limit = s.ber_limit.value_or(1) / share;
  s.lane_penalty_limit_db = k[kLanePenalty];
  s.lane_stands_out = *worst > s.lane_limit && s.worst_lane_penalty_db >= s.lane_penalty_limit_db;
  const auto own =
      view.port.counters.lane_ber_log10[static_cast<std::size_t>(s.worst_lane)].lower_quartile();
  if (!own || s.worst_lane_ratio < k[kLaneOwnRatio]) return;
  s.lane_own_limit =
      std::max(pam4 ? 1e-6 : 1e-8,
               k[kLaneOwnRatio] * std::pow(10.0, *own));  // 3a: below it may do as it likes
  s.lane_rose = *worst > s.lane_own_limit;
}

/// Damage of one kind: whether it is counted at all, in how many intervals, from when to when.
struct Damage {
  double sum = 0, largest = 0;
  std::size_t intervals = 0, recent = 0;
  std::optional<SteadyTime> first, last;
  void take(const Interval& interval, Indicator flow, bool is_recent) {
    const double count = interval.increase(flow);
    sum += count;
    largest = std::max(largest, count);
    ++intervals;
    recent += is_recent;
    if (!first) first = interval.begin;
    last = interval.end;
  }
  [[nodiscard]] double span_s() const { return first ? in_seconds(*last - *first) : 0; }
};

void fill_losses(PortView& view, KnobValues k) {
  SignalStats& s = view.signal;
  constexpr IndicatorSet kDamage{Indicator::kUncorrectableBlocks, Indicator::kSymbolErrors,
                                 Indicator::kFrameErrors,         Indicator::kLinkRecoveries,
                                 Indicator::kCardErrors,          Indicator::kPcieDamage,
                                 Indicator::kModuleBusErrors,     Indicator::kModuleHeat};
  IndicatorSet known;
  Damage blocks, symbols, frames;
  for (const Interval& interval : view.port.counters.intervals) {
    if (!interval.clean ||
        (view.port.carrier.fresh_since && interval.begin < *view.port.carrier.fresh_since))
      continue;
    ++s.intervals_1h;
    known.add(interval.known());
    const IndicatorSet counted = interval.counted();
    if (!counted.has_any(kDamage)) continue;
    const bool recent = in_seconds(view.now - interval.end) <= k[kRecentS];
    if (counted.has(Indicator::kUncorrectableBlocks))
      blocks.take(interval, Indicator::kUncorrectableBlocks, recent);
    if (counted.has(Indicator::kSymbolErrors))
      symbols.take(interval, Indicator::kSymbolErrors, recent);
    if (counted.has(Indicator::kFrameErrors))
      frames.take(interval, Indicator::kFrameErrors, recent);
    s.recoveries.take(interval, Indicator::kLinkRecoveries);
    s.card_errors.take(interval, Indicator::kCardErrors);
    s.pcie_damage.take(interval, Indicator::kPcieDamage);
    s.module_bus_errors.take(interval, Indicator::kModuleBusErrors);
    s.module_heat.take(interval, Indicator::kModuleHeat);
  }
  s.uncorrectable_known = known.has(Indicator::kUncorrectableBlocks);
  s.symbols_known = known.has(Indicator::kSymbolErrors);
  s.frames_known = known.has(Indicator::kFrameErrors);
  s.recoveries.known = known.has(Indicator::kLinkRecoveries);
  s.card_errors.known = known.has(Indicator::kCardErrors);
  s.pcie_damage.known = known.has(Indicator::kPcieDamage);
  s.module_bus_errors.known = known.has(Indicator::kModuleBusErrors);
  s.module_heat.known = known.has(Indicator::kModuleHeat);
  s.uncorrectable_intervals_1h = blocks.intervals;
  s.uncorrectable_intervals_10m = blocks.recent;
  s.uncorrectable_1h = blocks.sum;
  s.uncorrectable_span_s = blocks.span_s();
  s.symbol_intervals_1h = symbols.intervals;
  s.symbol_intervals_10m = symbols.recent;
  s.symbols_1h = symbols.sum;
  s.symbols_largest = symbols.largest;
  s.symbol_span_s = symbols.span_s();
  s.frame_intervals_1h = frames.intervals;
  s.frame_intervals_10m = frames.recent;
  s.frames_1h = frames.sum;
  s.frames_largest = frames.largest;
  s.frame_span_s = frames.span_s();
  for (const auto& read : view.port.peer.errors) {
    if (view.port.carrier.fresh_since && read.t < *view.port.carrier.fresh_since) continue;
    ++s.far_reads;
    s.far_error_reads += read.errors > 0;
    s.far_errors_1h += read.errors;
    s.far_errors_largest = std::max(s.far_errors_largest, read.errors);
  }
}

TrafficLimits traffic_limits(KnobValues k) {
  return {k[kTrafficS], k[kFullS], k[kRunS],      k[kBinS],   k[kIdle], k[kMarks],
          k[kPause],    k[kDrops], k[kPauseSent], k[kStalls], k[kWait]};
}

}  // namespace

std::span<const Knob> view_knobs() { return kWindows; }

void Repeated::take(const Interval& interval, Indicator flow) {
  if (!interval.counted().has(flow)) return;
  events += interval.increase(flow);
  ++intervals;
  if (!first) first = interval.begin;
  last = interval.end;
}

const LinkSample& PortView::link() const {
  static const LinkSample kNone;
  return port.latest.link ? *port.latest.link : kNone;
}

bool PortView::peer_fresh(std::optional<double> PeerSample::*part_age_s) const {
  const auto& peer = port.latest.peer;
  if (!peer || !port.peer_at) return false;
  return !port.carrier.since ||
         part_read_at(*peer, (*peer).*part_age_s, *port.peer_at) >= *port.carrier.since;
}

double PortView::settled_down_s() const {
  SteadyTime since = port.carrier.since.value_or(port.first_seen);
  for (const auto& t : {port.carrier.admin_event_at, port.carrier.module_event_at,
                        port.device.driver_reload_at, port.carrier.reboot_at})
    if (t && *t > since) since = *t;
  return in_seconds(now - since);
}

Medium medium_of(const PortHistory& port) {
  const std::string& kind = port.medium();
  if (kind == "optical") return Medium::kOptical;
  if (kind == "aoc") return Medium::kAoc;
  if (kind == "dac" || kind == "acc") return Medium::kCopper;
  return Medium::kUnknown;
}

double module_speed_mbps(std::string_view type) {
  const auto end = type.find("G-");
  const auto gigabits =
      end == std::string_view::npos ? std::nullopt : parse_u64(type.substr(0, end));
  if (!gigabits) return 0;
  const std::string_view ports = type.substr(end + 2, 2);
  const bool shared = ports.size() == 2 && ports[1] == 'x' && ports[0] >= '1' && ports[0] <= '8';
  return static_cast<double>(*gigabits) * 1000 / (shared ? ports[0] - '0' : 1);
}

bool is_pam4(const PortView& view) {
  return view.port.fec() == "RS544" || view.port.fec() == "LLRS";
}

WantedSpeed wanted_speed(const PortView& view) {
  const ExpectedPort* expected = view.expected;
  if (expected != nullptr && expected->speed_mbps)
    return {static_cast<double>(*expected->speed_mbps)};
  // Nobody said what it should be: its siblings with the same module do.
  WantedSpeed wanted{
      std::max<double>(view.port.carrier.best_speed_mbps, view.group.siblings_speed_mbps)};
  const auto& module = view.port.latest.module;
  if (!module || !module->present || view.group.siblings_as_slow > 0) return wanted;
  // One end of a splitter cable has fewer lanes than its code was made for (SFF-8024 table 4-4 has
  // one for all widths).
  const double lanes = module->media_lane_count.value_or(0);
  const double share = lanes > 0 && view.port.carrier.best_lanes > 0
                           ? std::min(1.0, view.port.carrier.best_lanes / lanes)
                           : 1;
  const double made_for = module_speed_mbps(module->type) * share;
  if (made_for > wanted.mbps) wanted = {made_for, true};
  return wanted;
}

std::optional<bool> supply_low(const PortHistory& port, KnobValues windows) {
  const auto now = port.own.supply_v.now();
  const auto& module = port.latest.module;
  if (!now || !module || !module->present || !module->supply_v) return std::nullopt;
  const auto& limit = module->thresholds.supply_v.low_warn;
  const double low = limit && *limit > 2.5 && *limit < 3.3 ? *limit : windows[kSupplyLow];
  return *now < low || port.own.supply_v.below_baseline().value_or(0) > windows[kSupplyDip];
}

std::string_view leaf_of(const PortHistory& port, const ExpectedPort* expected) {
  if (port.latest.peer && !port.latest.peer->system.empty()) return port.latest.peer->system;
  return expected != nullptr ? std::string_view(expected->peer_system) : std::string_view();
}

std::optional<double> ber_limit(std::string_view fec, Medium medium) {
  const bool copper = medium == Medium::kCopper;
  if (!fec_is_on(fec)) return std::nullopt;
  if (fec == "RS528") return copper ? 1e-5 : 5e-5;
  if (fec == "LLRS") return 1e-5;
  if (fec == "BaseR") return 1e-8;
  return copper ? 1e-4 : 2.4e-4;
}

SignalStats::Range counted_range(double counted) {
  constexpr double kTwoSided95 = 1.96;
  const auto cube = [](double x) { return x * x * x; };
  const double more = counted + 1;
  SignalStats::Range range;
  if (counted > 0)
    range.low = counted *
                cube(std::max(0.0, 1 - 1 / (9 * counted) - kTwoSided95 / (3 * std::sqrt(counted))));
  range.high = more * cube(1 - 1 / (9 * more) + kTwoSided95 / (3 * std::sqrt(more)));
  return range;
}

double implied_drop_db(double before, double after, bool pam4) {
  // BER = k/2 erfc(Q/sqrt 2); Q from BER by Newton's method on the logarithm.
  const auto q_of = [pam4](double ber) {
    const double k = pam4 ? 0.375 : 0.5;
    const double wanted = std::log(std::clamp(ber, 1e-30, 0.1));
    double q = 4;
    for (int i = 0; i < 12; ++i) {
      const double tail = k * std::erfc(q / std::sqrt(2.0));
      const double slope = -2 * k * std::exp(-q * q / 2) / std::sqrt(2 * 3.14159265358979) / tail;
      q -= std::clamp((std::log(tail) - wanted) / slope, -1.5, 1.5);
      q = std::clamp(q, 0.5, 11.0);
    }
    return q;
  };
  if (after <= before) return 0;
  return 10 * std::log10(q_of(before) / q_of(after));
}

void fill_light(PortView& view, double in_alarm_db, double out_alarm_db);  // port_light.cpp

namespace {

/// How far below its siblings a lane that we receive must be to be told from a good one, where
/// there is no past. With errors far from the limit the receiver has light enough, whatever its
/// meter says.
double in_alarm_db(const PortView& view, KnobValues k) {
  const SignalStats& s = view.signal;
  if (!s.ber || !s.ber_limit) return k[kLaneLight];
  const double worst =
      s.worst_lane >= 0 ? s.lane_ber[static_cast<std::size_t>(s.worst_lane)] : *s.ber;
  return worst < *s.ber_limit / k[kLowPowerShare] ? k[kLaneLightSure] : k[kLaneLight];
}

}  // namespace

/// Above the limit divided by this errors are no longer those of any good link (docs/physics.md
/// 3a).
constexpr double kNotRare = 100;

PortView view_of(const PortHistory& port, const ExpectedPort* expected, SteadyTime now,
                 KnobValues windows, std::optional<SteadyTime> errors_since) {
  PortView view(port);
  view.expected = expected;
  view.now = now;
  view.errors_since = errors_since;
  view.medium = medium_of(port);
  view.multimode = port.latest.module && is_multimode(*port.latest.module);
  view.up = port.carrier.up == true;
  view.down = port.carrier.up == false;
  if (view.down) view.down_s = in_seconds(now - port.carrier.since.value_or(port.first_seen));
  view.supply_low = supply_low(port, windows);
  fill_ber(view, windows);
  fill_losses(view, windows);
  fill_traffic(view, traffic_limits(windows));
  // Errors that are as old as the reference: then the reference of the light has the fault in it,
  // too.
  const SignalStats& s = view.signal;
  const bool at_limit =
      s.ber && s.ber_limit && (*s.ber > *s.ber_limit / kNotRare || s.lane_stands_out);
  const bool as_ever = s.ber && s.ber_reference && *s.ber < 8 * *s.ber_reference;
  const bool at_once = !s.ber_limit && errors_since &&
                       in_seconds(*errors_since - port.first_seen) < windows[kRecentS];
  view.signal.since_ever = (at_limit && as_ever && !s.lane_rose) || at_once;
  fill_light(view, in_alarm_db(view, windows), windows[kLaneLight]);
  return view;
}

}  // namespace linkhealth
