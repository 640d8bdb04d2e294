// Symptoms of the light: what is sent, what arrives, at both ends.
#include <algorithm>
#include <cmath>

#include "diagnosis/symptoms/families.h"

namespace linkhealth::symptoms {

namespace {

using enum SymptomId;

constexpr StaticText kNoPowers = "the module gives no powers";
constexpr StaticText kNoFarPowers = "the peer gives no module data";

bool optical(const PortView& v) { return v.medium != Medium::kCopper; }

Finding no_light(const PortView& v, KnobValues) {
  if (!v.down) return not_known("the link is up");
  if (v.light.rx_lanes == 0 || !v.light.rx_fresh) return not_known(kNoPowers);
  return Case(Reader::kModule).holds("no light on any lane", v.light.rx_dark_all).close();
}
Finding some_lanes_dark(const PortView& v, KnobValues) {
  if (!v.down) return not_known("the link is up");
  if (v.light.rx_lanes == 0 || !v.light.rx_fresh) return not_known(kNoPowers);
  return Case(Reader::kModule)
      .lane(v.light.worst_rx_lane)
      .holds("no light on some lanes", v.light.rx_dark_some)
      .close();
}
constexpr Knob kThereKnobs[] = {
    {"there_dbm", -9, -20, 0, "dBm",
     "less light than this is not enough for any receiver here (docs/physics.md 7a)"},
    {"lost_db", 1.5, 0.3, 10, "dB", "lost against its own past: then it is not as before"},
    {"sibling_db", 3.2, 1, 10, "dB", "the same against the other lanes, where there is no past"}};
Finding light_there(const PortView& v, KnobValues k) {
  if (!v.down) return not_known("the link is up");
  if (v.light.rx_lanes == 0 || !v.light.rx_fresh) return not_known(kNoPowers);
  const bool past = !v.light.rx || v.light.rx->sigma_db <= 0.4;
  return Case(Reader::kModule)
      .lane(v.light.worst_rx_lane)
      .at_least("received power", v.light.worst_rx_dbm, v.light.enough_dbm.value_or(k[0]), "dBm")
      .below(past ? StaticText("light lost against its own past")
                  : StaticText("light lost against the other lanes"),
             v.light.rx ? v.light.rx->db : 0,
             past ? k[1] : std::max(k[2], 3 * v.light.rx->sigma_db), "dB")
      .close();
}

constexpr Knob kLowKnobs[] = {
    {"drop_db", 1.2, 0.3, 10, "dB", "below its own reference: read noise 0.07, remating 0.3"},
    {"sibling_db", 3.2, 1, 10, "dB",
     "below the other lanes, where there is no past: of eight good ones the lowest is 1.5 (7a)"}};
/// Why it is not known how much of a power is lost: there is none, or there is no past to hold it
/// against. What is still being read comes by itself.
Finding no_drop(const PortView& v, const ModuleHistory& end, std::size_t lanes,
                StaticText no_powers) {
  if (lanes == 0) return not_known(no_powers);
  if (&end == &v.port.own && lanes_may_be_others(v)) return not_known(kSharedModule);
  const bool before = v.errors_since && end.read_at && *end.read_at < *v.errors_since;
  const StaticText why =
      before ? StaticText("it was not read since the errors began")
             : StaticText("there are too few readings to say what is normal for it");
  const bool goes_on = &end == &v.port.own ? v.port.blind_to("module") == nullptr
                                           : v.peer_fresh(&PeerSample::module_age_s);
  return goes_on ? not_known_yet(why) : not_known(why);
}
Finding low(const Drop& drop, Reader reader, StaticText what, KnobValues k) {
  const double limit = drop.sigma_db > 0.4 ? std::max(k[1], 3 * drop.sigma_db) : k[0];
  return Case(reader).lane(drop.lane).at_least(what, drop.db, limit, "dB").close();
}
Finding light_low(const PortView& v, KnobValues k) {
  if (!v.light.rx_fresh && v.down) return not_known(kNoPowers);
  if (!v.light.rx) return no_drop(v, v.port.own, v.port.own.rx_lanes, kNoPowers);
  return low(*v.light.rx, Reader::kModule, "received power lost", k);
}
constexpr StaticText kNotSince = "the module was not read since the link changed";
constexpr StaticText kFarNotSince = "the far module was not read since the link fell";
// What was read before the fall says nothing about it.
Finding tx_low(const PortView& v, KnobValues k) {
  if (v.down && !v.light.rx_fresh) return not_known(kNotSince);
  if (!v.light.tx) return no_drop(v, v.port.own, v.port.own.tx_lanes, kNoPowers);
  return low(*v.light.tx, Reader::kModule, "sent power lost", k);
}
Finding far_tx_low(const PortView& v, KnobValues k) {
  if (v.down && !v.light.far_fresh) return not_known(kFarNotSince);
  if (!v.light.far_tx) return no_drop(v, v.port.far, v.port.far.tx_lanes, kNoFarPowers);
  return low(*v.light.far_tx, Reader::kPeer, "power sent by the far end lost", k);
}
Finding far_rx_low(const PortView& v, KnobValues k) {
  if (v.down && !v.light.far_fresh) return not_known(kFarNotSince);
  if (!v.light.far_rx) return no_drop(v, v.port.far, v.port.far.rx_lanes, kNoFarPowers);
  return low(*v.light.far_rx, Reader::kPeer, "power received by the far end lost", k);
}

// fibres_alike: dirt lies on some fibres of a ferrule (each neighbour with 25 %, docs/physics.md
// 7d); what bends or crushes a cable takes light from all of them.
constexpr Knob kAlikeKnobs[] = {
    {"drop_db", 1.2, 0.3, 10, "dB", "that the fibre which lost most has lost"},
    {"fibres", 4, 2, 16, "", "of fewer, dirt may well be on all"}};
Finding fibres_alike(const PortView& v, KnobValues k) {
  const auto& module = v.port.latest.module;
  if (!v.up) return not_known("the link is down");
  if (!module || !v.light.rx || v.light.rx->sigma_db > 0.4 || v.light.rx_lanes == 0)
    return not_known(kNoPowers);
  if (module->connector.find("MPO") == std::string::npos)
    return not_known("all lanes share one fibre");
  if (static_cast<double>(v.light.rx_lanes) < k[1] || v.light.rx->db < k[0])
    return not_known("no light is lost");
  return Case(Reader::kModule)
      .at_least("fibres that lost light", static_cast<double>(v.light.rx_low_lanes),
                static_cast<double>(v.light.rx_lanes))
      .close();
}

Finding lane_reads_dark(const PortView& v, KnobValues) {
  if (!v.up || v.light.rx_lanes == 0) return not_known(v.up ? kNoPowers : "the link is down");
  if (!v.light.rx_fresh) return not_known(kNoPowers);
  if (lanes_may_be_others(v)) return not_known(kSharedModule);
  return Case(Reader::kModule)
      .lane(v.light.worst_rx_lane)
      .below("received power while the link carries", v.light.worst_rx_dbm, v.light.dark_dbm, "dBm")
      .close();
}

Finding tx_fault(const PortView& v, KnobValues) {
  const auto& module = v.port.latest.module;
  if (!module || !optical(v)) return not_known(kNoPowers);
  if (v.link().admin_up == false) return not_known("the port is set down");
  if (!v.light.rx_fresh) return not_known(kNotSince);
  if (lanes_may_be_others(v)) return not_known(kSharedModule);
  std::optional<bool> fault;
  int lane = -1;
  for (std::size_t i = 0; i < module->lanes.size(); ++i)
    if (module->lanes[i].tx_fault) {
      // The flag is latched: light as ever means that it is an old one.
      const auto drop = i < kMaxLanes ? v.port.own.tx_dbm[i].below_baseline() : std::nullopt;
      const bool now = *module->lanes[i].tx_fault && (!drop || *drop > 0.7);
      fault = fault.value_or(false) || now;
      if (now) lane = static_cast<int>(i);
    }
  return Case(Reader::kModule).lane(lane).holds("the module reports a laser fault", fault).close();
}

constexpr Knob kBiasKnobs[] = {
    {"ratio", 1.2, 1.05, 3, "", "times its early median, the other lanes' move taken off"}};
Finding bias_high(const PortView& v, KnobValues k) {
  if (!v.light.bias_ratio) return not_known("the module gives no bias");
  return Case(Reader::kModule)
      .lane(v.light.bias_lane)
      .at_least("laser bias against its past", v.light.bias_ratio, k[0])
      .close();
}

// laser_tires: the driver of an ageing laser holds its light with more and more current, until it
// can't. That is seen while nothing is lost yet. Heat asks for current, too, and from all lasers of
// the module.
constexpr Knob kTireKnobs[] = {
    {"ratio", 1.3, 1.1, 3, "",
     "times its past: the reserve ends at 1.3 to 1.5 times (docs/physics.md 7d)"},
    {"warned_ratio", 1.2, 1.05, 3, "",
     "the same above the module's own warning (docs/physics.md 3e: 20 %)"},
    {"per_c", 0.01, 0, 0.1, "/C",
     "of it that a warmer module explains: VCSELs 0.4 % (7d), edge emitters about 1 %"},
    {"more_light_db", 0.7, 0.1, 6, "dB", "more light than before is another setting, no ageing"}};

/// What heat makes of a laser's current: at least 1.
double by_heat(double rise_c, double per_c) { return 1 + per_c * std::max(0.0, rise_c); }

/// Over weeks the past of hours moves along.
std::optional<double> rise_over_weeks(const PortHistory& port, double per_c) {
  const auto slope = port.drifts.bias_ma.slope();
  if (!slope) return std::nullopt;
  const double before = slope->level - slope->per_day * slope->over_days;
  if (before <= 0) return std::nullopt;
  const auto warmer = port.drifts.temperature_c.slope();
  return slope->level / before / by_heat(warmer ? warmer->per_day * warmer->over_days : 0, per_c);
}

/// Against its own past, with what heat explains taken off: by the other lasers of the module, else
/// by its temperature.
std::optional<double> laser_rise(const PortView& v, double per_c) {
  const ModuleHistory& own = v.port.own;
  std::optional<double> rise = rise_over_weeks(v.port, per_c);
  if (!v.light.bias_ratio || v.light.bias_lane < 0) return rise;
  if (own.tx_lanes > 1) rise = std::max(rise.value_or(0), *v.light.bias_ratio);
  const LaneSeries& bias = own.bias_ma[static_cast<std::size_t>(v.light.bias_lane)];
  const auto now = bias.now(), before = bias.baseline.median(),
             heat = own.temperature_c.below_baseline();
  if (!now || !before || *before <= 0 || !heat) return rise;
  return std::max(rise.value_or(0), *now / *before / by_heat(-*heat, per_c));
}

Finding laser_tires(const PortView& v, KnobValues k) {
  if (!v.up) return not_known("the link is down");
  const auto& module = v.port.latest.module;
  const auto rise = laser_rise(v, k[2]);
  if (!module || !rise) return not_known("the module gives no bias");
  if (v.port.own.serial.empty() && v.light.touched)
    return not_known("it may be another module than before");
  const int lane = v.light.bias_lane;
  const auto tracks = static_cast<std::size_t>(std::max(lane, 0));
  const auto& warning = module->thresholds.tx_bias_ma.high_warn;
  const bool warned = warning && *warning > 0 && v.port.own.bias_ma[tracks].now() > *warning;
  const double less_light = v.port.own.tx_dbm[tracks].below_baseline().value_or(0);
  return Case(Reader::kModule)
      .lane(lane)
      .at_least("laser bias against its past, without what heat explains", rise, k[warned ? 1 : 0])
      .below("more light than before", -less_light, k[3], "dB")
      .close();
}

Finding tx_off(const PortView& v, KnobValues) {
  if (!v.down) return not_known("the link is up");
  if (v.port.own.tx_lanes == 0 || !v.light.rx_fresh) return not_known(kNoPowers);
  double least = 99;
  int lane = -1;
  for (std::size_t i = 0; i < v.port.own.tx_lanes; ++i)
    if (v.port.own.tx_dbm[i].recent_count > 0 && v.port.own.tx_dbm[i].recent[0] < least) {
      least = v.port.own.tx_dbm[i].recent[0];
      lane = static_cast<int>(i);
    }
  return Case(Reader::kModule).lane(lane).below("sent power", least, -20, "dBm").close();
}

Finding far_tx_off(const PortView& v, KnobValues) {
  if (!v.down) return not_known("the link is up");
  if (!v.light.far_fresh || v.port.far.tx_lanes == 0) return not_known(kNoFarPowers);
  double least = 99;
  int lane = -1;
  for (std::size_t i = 0; i < v.port.far.tx_lanes; ++i)
    if (v.port.far.tx_dbm[i].recent_count > 0 && v.port.far.tx_dbm[i].recent[0] < least) {
      least = v.port.far.tx_dbm[i].recent[0];
      lane = static_cast<int>(i);
    }
  return Case(Reader::kPeer)
      .lane(lane)
      .below("power sent by the far end", least, -20, "dBm")
      .close();
}
// far_sends_unheard: it was read since the fall, and all its lasers send: what is dark here is lost
// on the way, or the receiver is dead. No port that is down sends so.
constexpr Knob kUnheardKnobs[] = {
    {"sends_dbm", -8, -20, 0, "dBm", "a laser with more than this sends (7a)"},
    {"lost_db", 1.2, 0.3, 10, "dB", "less than its past by so much: it does not"}};
Finding far_sends_unheard(const PortView& v, KnobValues k) {
  if (!v.down) return not_known("the link is up");
  if (!v.light.rx_fresh || !v.light.rx_dark_all) return not_known("light arrives, or is not read");
  const ModuleHistory& far = v.port.far;
  if (!v.light.far_fresh || far.tx_lanes == 0) return not_known(kNoFarPowers);
  std::optional<double> least;
  for (std::size_t i = 0; i < far.tx_lanes; ++i)
    if (far.tx_dbm[i].recent_count > 0)
      least = std::min(least.value_or(99), far.tx_dbm[i].recent[0]);
  return Case(Reader::kPeer)
      .above("least power sent by the far end, and none arrives", least, k[0], "dBm")
      .below("power sent by the far end lost", v.light.far_tx ? v.light.far_tx->db : 0, k[1], "dB")
      .close();
}

Finding far_rx_dark(const PortView& v, KnobValues) {
  if (!v.down) return not_known("the link is up");
  if (!v.light.far_fresh || v.port.far.rx_lanes == 0) return not_known(kNoFarPowers);
  return Case(Reader::kPeer).holds("no light at the far end", v.light.far_rx_dark_all).close();
}

Finding no_lock_with_light(const PortView& v, KnobValues) {
  const auto& module = v.port.latest.module;
  if (!module || !v.light.rx_fresh) return not_known(kNoPowers);
  // The flag is latched since the link trained, and a recording repeats a reading: what carries
  // well has its lock.
  if (v.up && !v.errors_since) return not_known("the link carries without errors");
  std::optional<bool> lol;
  int lane = -1;
  for (std::size_t i = 0; i < module->lanes.size(); ++i) {
    if (!module->lanes[i].rx_lol) continue;
    const bool lit = module->lanes[i].rx_power_mw && to_dbm(*module->lanes[i].rx_power_mw) > -12;
    const bool this_lane = *module->lanes[i].rx_lol && lit;
    lol = lol.value_or(false) || this_lane;
    if (this_lane) lane = static_cast<int>(i);
  }
  return Case(Reader::kModule).lane(lane).holds("light but no clock lock", lol).close();
}

constexpr Symptom kRows[] = {
    {kNoLight,
     "no_light",
     "no light arrives",
     {},
     &no_light,
     "read the received power (ethtool -m)"},
    {kSomeLanesDark,
     "some_lanes_dark",
     "no light on some lanes",
     {},
     &some_lanes_dark,
     "read the received power (ethtool -m)"},
    {kLightThere, "light_there", "light arrives as before, though the link is down", kThereKnobs,
     &light_there, "read the received power (ethtool -m)"},
    {kLightLow, "rx_power_low", "less light arrives than before", kLowKnobs, &light_low,
     "read the received power (ethtool -m)"},
    {kFibresAlike, "fibres_alike", "all fibres of the cable lost light", kAlikeKnobs, &fibres_alike,
     ""},
    {kLaneReadsDark,
     "rx_lane_reads_dark",
     "a lane reads no light but carries data",
     {},
     &lane_reads_dark,
     ""},
    {kTxLow, "tx_power_low", "this end sends less light than before", kLowKnobs, &tx_low,
     "read the sent power (ethtool -m)"},
    {kTxFault,
     "tx_fault",
     "the module reports a laser fault",
     {},
     &tx_fault,
     "read the module's flags (ethtool -m)"},
    {kBiasHigh, "bias_high", "a laser needs more current than before", kBiasKnobs, &bias_high,
     "read the bias (ethtool -m)"},
    {kLaserTires, "laser_tires", "a laser holds its light with ever more current", kTireKnobs,
     &laser_tires, ""},
    {kTxOff, "tx_off", "this end sends no light", {}, &tx_off, "read the sent power (ethtool -m)"},
    {kFarTxLow, "far_tx_low", "the far end sends less light than before", kLowKnobs, &far_tx_low,
     "read the transmit power of {peer}"},
    {kFarTxOff,
     "far_tx_off",
     "the far end sends no light",
     {},
     &far_tx_off,
     "read the transmit power of {peer}"},
    {kFarSendsUnheard, "far_sends_unheard", "the far end sends light, and none arrives",
     kUnheardKnobs, &far_sends_unheard, "read the transmit power of {peer}"},
    {kFarRxLow, "far_rx_low", "less light arrives at the far end than before", kLowKnobs,
     &far_rx_low, "read the received power of {peer}"},
    {kFarRxDark,
     "far_rx_dark",
     "no light arrives at the far end",
     {},
     &far_rx_dark,
     "read the received power of {peer}"},
    {kNoLockWithLight,
     "no_lock_with_light",
     "light, but the receiver can't lock",
     {},
     &no_lock_with_light,
     ""},
};

}  // namespace

constinit const std::span<const Symptom> kLightFamily = kRows;

}  // namespace linkhealth::symptoms
