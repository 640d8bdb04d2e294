#include "diagnosis/features.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "model/history/peer_history.h"

namespace linkhealth {

namespace {

Medium medium_of(const PortHistory& port) {
  const std::string& kind = port.medium();
  if (kind == "optical") return Medium::kOptical;
  if (kind == "aoc") return Medium::kAoc;
  if (kind == "dac" || kind == "acc") return Medium::kCopper;
  return Medium::kUnknown;
}

constexpr double kRecentS = 600;  // newer clean intervals make up "now"; also for recent damage
constexpr std::size_t kBerIntervals = 3;  // at least this many, even if they are long

/// If counters are read only every five minutes, the same number of readings takes longer.
double recent_s(const Features& f) {
  constexpr double kJitter = 1.2;
  const auto& intervals = f.port.counters.intervals;
  const double newest_s = intervals.empty() ? 0 : intervals.back().seconds();
  return std::max(kRecentS, kJitter * static_cast<double>(kBerIntervals) * newest_s);
}

/// The newest clean intervals with a known BER, which make up "now". A ratio from before the fibre
/// was mated again does not count.
std::vector<const Interval*> recent_clean(const Features& f) {
  std::vector<const Interval*> chosen;
  double covered_s = 0;
  const SteadyTime reference_time =
      f.down && f.port.carrier.last_loss ? *f.port.carrier.last_loss : f.now;
  for (auto at = f.port.counters.intervals.rbegin(); at != f.port.counters.intervals.rend(); ++at) {
    if (in_seconds(reference_time - at->end) > recent_s(f)) break;
    if (!f.down && f.port.carrier.mated_at && at->begin < *f.port.carrier.mated_at) break;
    if (!at->clean || std::isnan(at->ber)) continue;
    chosen.push_back(&*at);
    covered_s += at->seconds();
    if (chosen.size() >= kBerIntervals && covered_s >= f.settings.ber_window_s) break;
  }
  return chosen;
}

/// The error ratio of each lane; false if one of the intervals has none.
bool fill_lane_ber(const Features& f, const std::vector<const Interval*>& chosen, SignalStats& s) {
  s.lanes = chosen.front()->lane_bits.size();
  for (std::size_t lane = 0; lane < s.lanes; ++lane) {
    std::vector<double> values;
    for (const Interval* interval : chosen)
      if (lane < interval->lane_bits.size() && !std::isnan(interval->lane_bits[lane]))
        values.push_back(interval->lane_bits[lane] *
                         static_cast<double>(interval->lane_bits.size()) /
                         (f.port.line_rate_bps() * interval->seconds()));
    if (values.size() != chosen.size()) {
      s.lanes = 0;
      return false;
    }
    s.lane_ber[lane] = upper_median(values);
  }
  return s.lanes >= 2;
}

/// The lane with most of the errors, and how far it stands out.
void fill_worst_lane(const Features& f, SignalStats& s) {
  // A lane above the limit divided by this is close to it (limit/10: a warning). Copper runs
  // closer.
  const double share = f.medium == Medium::kCopper ? 4 : 20;
  // A lane that is this much above its own baseline, and above the median lane, needs no further
  // evidence (docs/physics.md 3a); below the floor, any change is harmless.
  constexpr double kOwnRatio = 8;
  const bool pam4 = is_pam4(f);
  const double floor = s.ber_resolution * static_cast<double>(s.lanes);
  const auto end = s.lane_ber.begin() + static_cast<std::ptrdiff_t>(s.lanes);
  const auto worst = std::max_element(s.lane_ber.begin(), end);
  s.worst_lane = static_cast<int>(worst - s.lane_ber.begin());
  const double typical = std::max(lower_median({s.lane_ber.begin(), end}), floor);
  s.worst_lane_ratio = *worst / typical;
  if (s.worst_lane_ratio > 2) s.worst_lane_penalty_db = implied_loss_db(typical, *worst, pam4);
  s.lane_limit = (s.ber_limit ? error_limit(s) : 1) / share;
  s.lane_stands_out = *worst > s.lane_limit && s.worst_lane_penalty_db >= kLanePenaltyDb;
  const auto own =
      f.port.counters.lane_ber_log10[static_cast<std::size_t>(s.worst_lane)].lower_quartile();
  if (!own || s.worst_lane_ratio < kOwnRatio) return;
  s.lane_own_limit = std::max(pam4 ? 1e-6 : 1e-8, kOwnRatio * std::pow(10.0, *own));
  s.lane_rose = *worst > s.lane_own_limit;
}

bool is_as_before(const SignalStats& s) {
  constexpr double kSameRatio = 8;
  return s.ber && s.ber_baseline && *s.ber < kSameRatio * *s.ber_baseline;
}

void fill_ber(Features& f) {
  SignalStats& s = f.signal;
  s.ber_limit = ber_limit(f.port.fec(), f.medium);
  s.baseline_limit = ber_limit(f.port.baseline_fec, f.medium);
  if (const auto reference = f.port.counters.ber_log10.lower_quartile())
    s.ber_baseline = std::pow(10.0, *reference);
  const auto chosen = recent_clean(f);
  if (chosen.size() < kBerIntervals) return;
  std::vector<double> values;
  for (const Interval* interval : chosen) {
    values.push_back(interval->ber);
    s.ber_window_s += interval->seconds();
    s.ber_resolution = interval->ber_floor;
  }
  s.ber = upper_median(values);
  if (const double bits = f.port.line_rate_bps() * s.ber_window_s; bits > 0) {
    const RatioRange counted = counted_range(*s.ber * bits);
    s.ber_range = RatioRange{counted.low / bits, counted.high / bits};
  }
  if (fill_lane_ber(f, chosen, s)) fill_worst_lane(f, s);
}

/// Telemetry may repeat a reading under a new time, so that most readings bring no new errors. 0:
/// not steady enough.
double far_bins_share(const Features& f) {
  constexpr double kBinS = 600, kLeastBins = 3, kSteady = 0.75;
  std::array<bool, 7> read{}, errors{};
  for (const auto& one : f.port.peer.errors) {
    if (f.port.carrier.fresh_since && one.t < *f.port.carrier.fresh_since) continue;
    const auto bin = static_cast<std::size_t>(std::max(in_seconds(f.now - one.t), 0.0) / kBinS);
    if (bin >= read.size()) continue;
    read[bin] = true;
    errors[bin] = errors[bin] || one.errors > 0;
  }
  const auto all = static_cast<double>(std::ranges::count(read, true)),
             with = static_cast<double>(std::ranges::count(errors, true));
  return with >= kLeastBins && with >= kSteady * all ? with / all : 0;
}

void fill_losses(Features& f) {
  SignalStats& s = f.signal;
  const std::pair<Indicator, Repeated*> kinds[] = {
      {Indicator::kUncorrectableBlocks, &s.blocks},
      {Indicator::kSymbolErrors, &s.symbols},
      {Indicator::kFrameErrors, &s.frames},
      {Indicator::kLinkRecoveries, &s.recoveries},
      {Indicator::kCardErrors, &s.card_errors},
      {Indicator::kPcieDamage, &s.pcie_damage},
      {Indicator::kModuleBusErrors, &s.module_bus_errors},
      {Indicator::kModuleHeat, &s.module_heat}};
  for (const Interval& interval : f.port.counters.intervals) {
    if (!interval.clean ||
        (f.port.carrier.fresh_since && interval.begin < *f.port.carrier.fresh_since))
      continue;
    ++s.intervals_1h;
    const bool recent = in_seconds(f.now - interval.end) <= recent_s(f);
    for (const auto& [flow, kind] : kinds) kind->add(interval, flow, recent);
  }
  for (const auto& read : f.port.peer.errors) {
    if (f.port.carrier.fresh_since && read.t < *f.port.carrier.fresh_since) continue;
    ++s.far_reads;
    s.far_error_reads += read.errors > 0;
    s.far_errors_1h += read.errors;
    s.far_errors_largest = std::max(s.far_errors_largest, read.errors);
  }
  s.far_bins_share = far_bins_share(f);
}

void fill_stillness(Features& f) {
  Stillness& still = f.signal.still;
  bool all = true, bits = true, packets = true;
  const auto& intervals = f.port.counters.intervals;
  for (auto at = intervals.rbegin(); at != intervals.rend() && at->carrier; ++at) {
    const auto moves = [&at](Indicator a, Indicator b) {
      return at->increase(a) > 0 || at->increase(b) > 0;
    };
    const auto known = [&at](Indicator a, Indicator b) { return at->known().has_any({a, b}); };
    using enum Indicator;
    all = all && at->known().has_any({kRxOctets, kTxOctets, kCorrectedBits, kCorrectedBlocks}) &&
          at->counted().empty();
    bits =
        bits && known(kCorrectedBits, kCorrectedBlocks) && !moves(kCorrectedBits, kCorrectedBlocks);
    packets = packets && known(kRxOctets, kTxOctets) && !moves(kRxOctets, kTxOctets);
    still.all_s += all ? at->seconds() : 0;
    still.bits_s += bits ? at->seconds() : 0;
    still.packets_s += packets ? at->seconds() : 0;
  }
}

/// Whether the errors are as old as the baseline: then the baseline of the light includes the
/// fault, too.
bool errors_since_ever(const Features& f) {
  // Errors above the limit divided by this do not occur on good links (docs/physics.md 3a).
  constexpr double kNotRare = 100;
  const SignalStats& s = f.signal;
  const bool at_limit =
      s.ber && s.ber_limit && (*s.ber > error_limit(s) / kNotRare || s.lane_stands_out);
  const bool from_the_start =
      !s.ber_limit && f.errors_since && in_seconds(*f.errors_since - f.port.first_seen) < kRecentS;
  return (at_limit && is_as_before(s) && !s.lane_rose) || from_the_start;
}

}  // namespace

Features features_of(const PortHistory& port, const ExpectedPort* expected, SteadyTime now,
                     const DiagnosisSettings& settings, std::optional<SteadyTime> errors_since) {
  Features f(port, settings);
  f.expected = expected;
  f.now = now;
  f.errors_since = errors_since;
  f.medium = medium_of(port);
  f.of_provider = is_of_provider(port.latest.id);
  f.multimode = port.latest.module && is_multimode(*port.latest.module);
  f.up = port.carrier.up == true;
  f.down = port.carrier.up == false;
  if (f.down) f.down_s = in_seconds(now - port.carrier.since.value_or(port.first_seen));
  f.supply_low = supply_low(port);
  fill_ber(f);
  fill_losses(f);
  fill_stillness(f);
  fill_traffic(f);
  f.signal.since_ever = errors_since_ever(f);
  fill_light(f);
  return f;
}

SteadyTime errors_began(const Features& f) {
  const SignalStats& s = f.signal;
  // Errors before FEC: the intervals that are closer to the present ratio than to the link's
  // baseline.
  const double bad = s.ber ? std::sqrt(*s.ber * s.ber_baseline.value_or(*s.ber * 0.25)) : 0;
  std::optional<SteadyTime> began;
  if (s.ber)
    for (const Interval* interval : recent_clean(f))
      if (interval->ber > bad) began = interval->begin;
  for (const Repeated* losses : {&s.blocks, &s.symbols})
    if (!began && losses->first) began = losses->first;
  // The module may have been read together with the counters at the start of the interval.
  return began ? *began + Milliseconds(1) : f.now;
}

/// For a series of log lines from `first` to `last`. Requires traffic before it, or (`among_like`)
/// that similar ports have load, because an idle port also counts nothing.
static bool stopped_then(const Features& f, SteadyTime first, SteadyTime last, bool among_like) {
  constexpr double kSilenceS = 60;  // time without any count: commands time out after up to 60 s
  constexpr double kSlackS = 120;   // drivers log late, and repeatedly
  const auto& intervals = f.port.counters.intervals;
  const double slack_s = kSlackS + (intervals.empty() ? 0 : intervals.back().seconds());
  const auto is_then = [&](SteadyTime t) {
    return in_seconds(first - t) <= slack_s && in_seconds(t - last) <= slack_s;
  };
  for (const SourceId source : {SourceId::kCounters, SourceId::kNetdevStats})
    if (const SourceStatus* blind = f.port.blind_to(source);
        blind != nullptr && is_then(blind->since) && in_seconds(f.now - blind->since) >= kSilenceS)
      return true;
  const double still_s = f.signal.still.all_s;
  if (still_s < kSilenceS) return false;
  const SteadyTime began = f.now - from_seconds(still_s);
  const bool ran = std::ranges::any_of(intervals, [began](const Interval& one) {
    return one.begin < began && one.counted().has_any({Indicator::kRxOctets, Indicator::kTxOctets});
  });
  return ran ? is_then(began) : among_like && f.group.like_running > 0;
}

bool stops_with_card(const Features& f, bool before) {
  const DeviceHistory& device = f.port.device;
  const auto& intervals = f.port.counters.intervals;
  if (!f.up || (!intervals.empty() && !intervals.back().counted().empty() &&
                f.port.blind_to(SourceId::kCounters) == nullptr))
    return false;
  if (before) return true;
  if (device.no_answer_at && stopped_then(f, *device.no_answer_since, *device.no_answer_at, true))
    return true;
  const auto& other = f.group.card_fatal_at;
  return other && stopped_then(f, *other, *other, false);
}

void Repeated::add(const Interval& interval, Indicator flow, bool is_recent) {
  const double count = interval.increase(flow);
  known = known || !std::isnan(count);
  if (!(count > 0)) return;
  events += count;
  largest = std::max(largest, count);
  ++intervals;
  recent += is_recent;
  if (!first) first = interval.begin;
  last = interval.end;
}

static double nth_of(std::vector<double>& values, std::size_t n) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(n);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}
double lower_median(std::vector<double> values) { return nth_of(values, (values.size() - 1) / 2); }
double upper_median(std::vector<double> values) { return nth_of(values, values.size() / 2); }

const LinkSample& Features::link() const {
  static const LinkSample kNone;
  return port.latest.link ? *port.latest.link : kNone;
}

bool Features::peer_fresh(std::optional<double> PeerSample::*part_age_s) const {
  const auto& peer = port.latest.peer;
  if (!peer || !port.peer_at) return false;
  return !port.carrier.since ||
         part_read_at(*peer, (*peer).*part_age_s, *port.peer_at) >= *port.carrier.since;
}

double Features::settled_down_s() const {
  SteadyTime since = port.carrier.since.value_or(port.first_seen);
  for (const auto& t : {port.carrier.admin_event_at, port.carrier.module_event_at,
                        port.device.driver_reload_at, port.carrier.reboot_at})
    if (t && *t > since) since = *t;
  return in_seconds(now - since);
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

bool is_pam4(const Features& f) { return f.port.fec() == "RS544" || f.port.fec() == "LLRS"; }

WantedSpeed wanted_speed(const Features& f) {
  const ExpectedPort* expected = f.expected;
  if (expected != nullptr && expected->speed_mbps)
    return {static_cast<double>(*expected->speed_mbps)};
  WantedSpeed wanted{std::max<double>(f.port.carrier.best_speed_mbps, f.group.siblings_speed_mbps)};
  const auto& module = f.port.latest.module;
  if (!module || !module->present || f.group.siblings_as_slow > 0) return wanted;
  // One end of a splitter cable has fewer lanes than its code stands for (SFF-8024 table 4-4 has
  // one code for all widths).
  const double lanes = module->media_lane_count.value_or(0);
  const double share = lanes > 0 && f.port.carrier.best_lanes > 0
                           ? std::min(1.0, f.port.carrier.best_lanes / lanes)
                           : 1;
  const double made_for = module_speed_mbps(module->type) * share;
  if (made_for > wanted.mbps) wanted = {made_for, true};
  return wanted;
}

double Features::supply_least_s() const {
  constexpr double kReadS = 240;  // the module is read less often than the link
  return down ? std::min(kSupplyDipS, std::max(0.0, settled_down_s() - kReadS)) : kSupplyDipS;
}

std::optional<bool> supply_low(const PortHistory& port) {
  constexpr double kLowV = 3.135;  // if the module gives no limit (docs/physics.md 3e)
  constexpr double kDipV = 0.12;   // meters differ by 3 %, but each of them is stable
  const auto now = port.own.supply_v.now();
  const auto& module = port.latest.module;
  if (!now || !module || !module->present || !module->supply_v) return std::nullopt;
  const auto& limit = module->thresholds.supply_v.low_warn;
  const double low_v = limit && *limit > 2.5 && *limit < 3.3 ? *limit : kLowV;
  return *now < low_v || port.own.supply_v.below_baseline().value_or(0) > kDipV;
}

std::optional<std::uint8_t> held_by_host(const Features& f) {
  const auto& module = f.port.latest.module;
  if (!module || !module->present) return std::nullopt;
  const auto held = host_holds(*module, f.port.carrier.best_lanes);
  if (!held) return std::nullopt;
  return static_cast<std::uint8_t>(*held & ~f.port.own.held_while_up);
}

std::span<const HoldText> hold_texts() {
  static constexpr HoldText kTexts[] = {
      {kLowPowerBySoftware, "this host keeps the module in low power",
       "ethtool --set-module {dev} power-mode-policy high, then enable the port"},
      {kLowPowerByPin, "the cage's pin keeps the module in low power",
       "enable the port (ip link set {dev} up), or ethtool --set-module {dev} power-mode-policy "
       "high"},
      {kPowerClassOff, "this host has not enabled the module's power class",
       "bounce the port (ip link set {dev} down, then up) so that the driver enables the power "
       "class; otherwise ethtool --set-module {dev} power-mode-policy high"},
      {kTransmittersOff, "this host has disabled the module's transmitters",
       "enable the port (ip link set {dev} up) and stop the program that disabled them"},
      {kDataPathDown, "this host has deactivated the module's data path",
       "bounce the port (ip link set {dev} down, then up)"},
  };
  return kTexts;
}

std::string_view leaf_of(const PortHistory& port, const ExpectedPort* expected) {
  if (port.latest.peer && !port.latest.peer->system.empty()) return port.latest.peer->system;
  return expected != nullptr ? std::string_view(expected->peer_system) : std::string_view();
}

std::string peer_of(const PortHistory& port, const ExpectedPort* expected) {
  std::string system, name;
  if (port.latest.peer) {
    system = port.latest.peer->system;
    name = port.latest.peer->port;
  }
  if (system.empty() && name.empty() && expected != nullptr) {
    system = expected->peer_system;
    name = expected->peer_port;
  }
  return name.empty() ? system : system + " " + name;
}

std::optional<double> ber_limit(std::string_view fec, Medium medium) {
  const bool copper = medium == Medium::kCopper;
  if (!fec_is_on(fec)) return std::nullopt;
  if (fec == "RS528") return copper ? 1e-5 : 5e-5;
  if (fec == "LLRS") return 1e-5;
  if (fec == "BaseR") return 1e-8;
  return copper ? 1e-4 : 2.4e-4;
}

double error_limit(const SignalStats& signal) {
  const double limit = signal.ber_limit.value_or(0);
  return is_as_before(signal) ? std::max(limit, signal.baseline_limit.value_or(0)) : limit;
}

RatioRange counted_range(double counted) {
  constexpr double kTwoSided95 = 1.96;
  const auto cube = [](double x) { return x * x * x; };
  const double more = counted + 1;
  RatioRange range;
  if (counted > 0)
    range.low = counted *
                cube(std::max(0.0, 1 - 1 / (9 * counted) - kTwoSided95 / (3 * std::sqrt(counted))));
  range.high = more * cube(1 - 1 / (9 * more) + kTwoSided95 / (3 * std::sqrt(more)));
  return range;
}

double implied_loss_db(double before, double after, bool pam4) {
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

}  // namespace linkhealth
