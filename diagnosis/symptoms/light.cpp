// Symptoms of the light: what is sent and what arrives, at both ends.
#include <algorithm>
#include <cmath>

#include "diagnosis/symptoms/families.h"

namespace linkhealth::symptoms {

namespace {

using enum SymptomId;
using enum LinkState;
using enum EvidenceSource;

constexpr std::string_view kNoPowers = "the module reports no optical power";
constexpr std::string_view kNoFarPowers = "the far end provides no module data";
constexpr std::string_view kNotSince = "the module was not read since the link changed";
constexpr std::string_view kFarNotSince = "the far module was not read since the link went down";

bool received_read(const Features& f) { return f.light.rx_lanes > 0 && f.light.rx_fresh; }

Finding no_light(const Features& f) {
  if (!received_read(f)) return unknown(kNoPowers);
  return Checks(kModule).holds("no light on any lane", f.light.rx_dark_all);
}
Finding some_lanes_dark(const Features& f) {
  if (!received_read(f)) return unknown(kNoPowers);
  return Checks(kModule)
      .lane(f.light.worst_rx_lane)
      .holds("no light received on some lanes", f.light.rx_dark_some);
}

// Without a baseline, a power is compared with the other lanes: among eight good ones the lowest is
// 1.5 dB below (docs/physics.md 7a).
constexpr double kSiblingDb = 3.2;
double limit_db(const LightLossEstimate& loss, double against_past_db) {
  return loss.against_past() ? against_past_db : std::max(kSiblingDb, 3 * loss.sigma_db);
}

Finding light_there(const Features& f) {
  constexpr double kEnoughDbm = -9;  // less is too little for ordinary receivers (physics.md 7a)
  constexpr double kLostDb = 1.5;    // relative to its own past: then it has changed
  if (!received_read(f)) return unknown(kNoPowers);
  const LightLossEstimate loss = f.light.rx.value_or(LightLossEstimate{});
  return Checks(kModule)
      .lane(f.light.worst_rx_lane)
      .at_least("Rx power", f.light.worst_rx_dbm, f.light.enough_dbm.value_or(kEnoughDbm), "dBm")
      .below(loss.against_past() ? "Rx power below this link's baseline"
                                 : "Rx power below the expected level",
             loss.loss_db, limit_db(loss, kLostDb), "dB");
}

/// Why the loss of a power is unknown: there is no power, or no baseline. `pending` if it is still
/// being read.
Finding no_loss(const Features& f, const ModuleHistory& end, std::size_t lanes,
                std::string_view no_powers) {
  if (lanes == 0) return unknown(no_powers);
  const bool own = &end == &f.port.own;
  if (own && lanes_may_be_others(f)) return not_applicable(kSharedModule);
  const bool before = f.errors_since && end.read_at && *end.read_at < *f.errors_since;
  const std::string_view why =
      before ? "not read since the errors began" : "too few readings for a baseline";
  const bool goes_on =
      own ? f.port.blind_to(SourceId::kModule) == nullptr : f.peer_fresh(&PeerSample::module_age_s);
  return goes_on ? unknown_yet(why) : unknown(why);
}
Finding low(const Features& f, const LightLossEstimate& loss, EvidenceSource source,
            std::string_view what) {
  return Checks(source).lane(loss.lane).at_least(what, loss.loss_db,
                                                 limit_db(loss, f.settings.light_loss_db), "dB");
}
// Readings from before the link went down do not show why it did.
Finding light_low(const Features& f) {
  if (f.down && !f.light.rx_fresh) return unknown(kNoPowers);
  if (!f.light.rx) return no_loss(f, f.port.own, f.port.own.rx_lanes, kNoPowers);
  return low(
      f, *f.light.rx, kModule,
      f.light.rx->against_past() ? "Rx power below baseline" : "Rx power below the expected level");
}
Finding tx_low(const Features& f) {
  if (f.down && !f.light.rx_fresh) return unknown(kNotSince);
  if (!f.light.tx) return no_loss(f, f.port.own, f.port.own.tx_lanes, kNoPowers);
  return low(f, *f.light.tx, kModule, "Tx power below baseline");
}
Finding far_tx_low(const Features& f) {
  if (f.down && !f.light.far_fresh) return unknown(kFarNotSince);
  if (!f.light.far_tx) return no_loss(f, f.port.far, f.port.far.tx_lanes, kNoFarPowers);
  LightLossEstimate sent = *f.light.far_tx;
  // If no lane lost power, a reader looks for the lane that the received light is about.
  if (sent.loss_db < limit_db(sent, f.settings.light_loss_db) && f.light.rx &&
      f.light.far_tx_same_lane) {
    sent.loss_db = std::max(0.0, *f.light.far_tx_same_lane);
    sent.lane = f.light.rx->lane;
  }
  return low(f, sent, kFarModule, "far Tx power below baseline");
}
Finding far_rx_low(const Features& f) {
  if (f.down && !f.light.far_fresh) return unknown(kFarNotSince);
  if (!f.light.far_rx) return no_loss(f, f.port.far, f.port.far.rx_lanes, kNoFarPowers);
  return low(f, *f.light.far_rx, kFarModule, "far Rx power below baseline");
}

// fibres_alike: dirt affects some fibres of a ferrule (each neighbour with 25 %, docs/physics.md
// 7d); a bent or crushed cable loses light on all of them.
Finding fibres_alike(const Features& f) {
  constexpr double kLostDb = 1.2;          // lost by the fibre that lost most
  constexpr std::size_t kLeastFibres = 4;  // with fewer, dirt may well be on all
  const auto& module = f.port.latest.module;
  if (!module || !f.light.rx || !f.light.rx->against_past() || f.light.rx_lanes == 0)
    return unknown(kNoPowers);
  if (module->connector.find("MPO") == std::string::npos)
    return not_applicable("all lanes share one fibre");
  if (f.light.rx_lanes < kLeastFibres || f.light.rx->loss_db < kLostDb)
    return not_applicable("no light is lost");
  return Checks(kModule).at_least("fibres that lost light",
                                  static_cast<double>(f.light.rx_low.count()),
                                  static_cast<double>(f.light.rx_lanes));
}

Finding lane_reads_dark(const Features& f) {
  if (!received_read(f)) return unknown(kNoPowers);
  if (lanes_may_be_others(f)) return not_applicable(kSharedModule);
  return Checks(kModule)
      .lane(f.light.worst_rx_lane)
      .below("Rx power while the link carries traffic", f.light.worst_rx_dbm, f.light.dark_dbm,
             "dBm");
}

Finding tx_fault(const Features& f) {
  // The flag is latched: unchanged light means that the flag is old. A laser with a fault is off
  // (SFF-8472 table 9-11): if the past is unknown, a link that is up has no such fault.
  constexpr double kLostDb = 0.7;
  const auto& module = f.port.latest.module;
  if (!module || f.medium == Medium::kCopper) return unknown(kNoPowers);
  if (f.link().admin_up == false) return unknown("the port is administratively down");
  if (!f.light.rx_fresh) return unknown(kNotSince);
  if (lanes_may_be_others(f)) return not_applicable(kSharedModule);
  std::optional<bool> fault;
  int lane = -1;
  for (std::size_t i = 0; i < module->lanes.size(); ++i)
    if (module->lanes[i].tx_fault) {
      const auto loss_db =
          i < kMaxLanes ? f.port.own.tx_dbm[i].below_baseline(f.light.since) : std::nullopt;
      const bool now = *module->lanes[i].tx_fault && (loss_db ? *loss_db > kLostDb : !f.up);
      fault = fault.value_or(false) || now;
      if (now) lane = static_cast<int>(i);
    }
  return Checks(kModule).lane(lane).holds("the module reports a laser fault", fault);
}

// laser_tires: the driver of an ageing laser keeps its light constant with more and more current,
// until it no longer can. This shows before light is lost. Heat also raises the current, but of all
// lasers of the module.
constexpr double kTireRatio = 1.3;  // the reserve ends at 1.3 to 1.5 times (docs/physics.md 7d)
// if above the module's own warning (docs/physics.md 3e: 20 %).
constexpr double kWarnedRatio = 1.2;
constexpr double kHeatPerC = 0.01;  // VCSELs 0.4 % (docs/physics.md 7d), edge emitters about 1 %

/// Factor by which a warmer module raises a laser's current: at least 1.
double by_heat(double rise_c) { return 1 + kHeatPerC * std::max(0.0, rise_c); }

/// Over weeks, the baseline over hours drifts along.
std::optional<double> rise_over_weeks(const PortHistory& port) {
  const auto slope = port.drifts.bias_ma.slope();
  if (!slope) return std::nullopt;
  const double before = slope->level - slope->per_day * slope->over_days;
  if (before <= 0) return std::nullopt;
  const auto warmer = port.drifts.temperature_c.slope();
  return slope->level / before / by_heat(warmer ? warmer->per_day * warmer->over_days : 0);
}

/// Relative to its own past, minus what heat explains: judged by the other lasers of the module,
/// otherwise by its temperature.
std::optional<double> laser_rise(const Features& f) {
  const ModuleHistory& own = f.port.own;
  std::optional<double> rise = rise_over_weeks(f.port);
  if (!f.light.bias_ratio || f.light.bias_lane < 0) return rise;
  if (own.tx_lanes > 1) rise = std::max(rise.value_or(0), *f.light.bias_ratio);
  const LaneSeries& bias = own.bias_ma[static_cast<std::size_t>(f.light.bias_lane)];
  const auto now = bias.now(), before = bias.baseline.median(),
             heat = own.temperature_c.below_baseline();
  if (!now || !before || *before <= 0 || !heat) return rise;
  return std::max(rise.value_or(0), *now / *before / by_heat(-*heat));
}

Finding laser_tires(const Features& f) {
  // more light than before means a changed setting, not ageing.
  constexpr double kMoreLightDb = 0.7;
  const auto& module = f.port.latest.module;
  const auto rise = laser_rise(f);
  if (!module || !rise) return unknown("the module reports no laser bias");
  if (f.port.own.serial.empty() && f.light.touched)
    return unknown("the module may have been swapped");
  const int lane = f.light.bias_lane;
  const auto track = static_cast<std::size_t>(std::max(lane, 0));
  const auto& warning = module->thresholds.tx_bias_ma.high_warn;
  const bool warned = warning && *warning > 0 && f.port.own.bias_ma[track].now() > *warning;
  const double less_light_db = f.port.own.tx_dbm[track].below_baseline().value_or(0);
  return Checks(kModule)
      .lane(lane)
      .at_least("laser bias relative to its baseline, corrected for temperature", rise,
                warned ? kWarnedRatio : kTireRatio)
      .below("Tx power above baseline", -less_light_db, kMoreLightDb, "dB");
}

struct LanePower {
  double dbm = 99;
  int lane = -1;
};
/// The lane that sends least in the last reading; lane -1: no reading.
LanePower least_sent(const ModuleHistory& end) {
  LanePower least;
  for (std::size_t i = 0; i < end.tx_lanes; ++i)
    if (end.tx_dbm[i].recent_count > 0 && end.tx_dbm[i].recent[0] < least.dbm)
      least = {end.tx_dbm[i].recent[0], static_cast<int>(i)};
  return least;
}
constexpr double kDarkSentDbm = -20;

Finding tx_off(const Features& f) {
  if (f.port.own.tx_lanes == 0 || !f.light.rx_fresh) return unknown(kNoPowers);
  const LanePower least = least_sent(f.port.own);
  return Checks(kModule).lane(least.lane).below("Tx power", least.dbm, kDarkSentDbm, "dBm");
}
Finding far_tx_off(const Features& f) {
  if (!f.light.far_fresh || f.port.far.tx_lanes == 0) return unknown(kNoFarPowers);
  const LanePower least = least_sent(f.port.far);
  return Checks(kFarModule).lane(least.lane).below("far Tx power", least.dbm, kDarkSentDbm, "dBm");
}
// far_sends_unheard: the far end was read since the link went down, and all its lasers send: the
// light is lost on the path, or the receiver is dead. A port that is administratively down does not
// send.
Finding far_sends_unheard(const Features& f) {
  constexpr double kSendsDbm = -8;  // a laser above this sends (docs/physics.md 7a)
  constexpr double kLostDb = 1.2;   // this far below its baseline it does not
  if (!f.light.rx_fresh || !f.light.rx_dark_all)
    return unknown("light is received, or was not read");
  if (!f.light.far_fresh || f.port.far.tx_lanes == 0) return unknown(kNoFarPowers);
  const LanePower least = least_sent(f.port.far);
  return Checks(kFarModule)
      .above("lowest far Tx power while no light is received",
             least.lane >= 0 ? std::optional(least.dbm) : std::nullopt, kSendsDbm, "dBm")
      .below("far Tx power below baseline", f.light.far_tx ? f.light.far_tx->loss_db : 0, kLostDb,
             "dB");
}

Finding far_rx_dark(const Features& f) {
  if (!f.light.far_fresh || f.port.far.rx_lanes == 0) return unknown(kNoFarPowers);
  return Checks(kFarModule).holds("no light at the far end", f.light.far_rx_dark_all);
}

Finding no_lock_with_light(const Features& f) {
  constexpr double kLitDbm = -12;
  const auto& module = f.port.latest.module;
  if (!module || !f.light.rx_fresh) return unknown(kNoPowers);
  // The flag was latched during training, and a recording repeats readings: a link that is up
  // without errors is locked.
  if (f.up && !f.errors_since) return not_applicable("the link carries traffic without errors");
  std::optional<bool> lol;
  int lane = -1;
  for (std::size_t i = 0; i < module->lanes.size(); ++i) {
    if (!module->lanes[i].rx_lol) continue;
    const bool lit =
        module->lanes[i].rx_power_mw && to_dbm(*module->lanes[i].rx_power_mw) > kLitDbm;
    const bool this_lane = *module->lanes[i].rx_lol && lit;
    lol = lol.value_or(false) || this_lane;
    if (this_lane) lane = static_cast<int>(i);
  }
  return Checks(kModule).lane(lane).holds("light but no clock lock", lol);
}

constexpr std::string_view kDdm =
    "judgement: DDM is accurate to 3 dB (SFF-8472), so only changes from the link's baseline count";
constexpr std::string_view kReadRx = "read the Rx power (ethtool -m)";
constexpr std::string_view kReadTx = "read the Tx power (ethtool -m)";
constexpr std::string_view kReadFarTx = "read the Tx power of {peer}";
constexpr std::string_view kReadFarRx = "read the Rx power of {peer}";

constexpr Symptom kRows[] = {
    {kNoLight, "no_light", "no light received", kDown, &no_light, kModule, kModuleMap, kReadRx},
    {kSomeLanesDark, "some_lanes_dark", "no light received on some lanes", kDown, &some_lanes_dark,
     kModule, kModuleMap, kReadRx},
    {kLightThere, "light_there", "light is received as before although the link is down", kDown,
     &light_there, kModule, kModuleMap, kReadRx},
    {kLightLow, "rx_power_low", "Rx power below baseline", kAny, &light_low, kModule, kDdm,
     kReadRx},
    {kFibresAlike, "fibres_alike", "all fibres of the cable lost light", kUp, &fibres_alike,
     kModule,
     "docs/physics.md 7d: dirt affects one to three fibres of a ferrule, a crushed cable all of "
     "them; judgement",
     ""},
    {kLaneReadsDark, "rx_lane_reads_dark", "a lane reports no light but carries data", kUp,
     &lane_reads_dark, kModule, kModuleMap, ""},
    {kTxLow, "tx_power_low", "Tx power below baseline", kAny, &tx_low, kModule, kDdm, kReadTx},
    {kTxFault, "tx_fault", "the module reports a laser fault", kAny, &tx_fault, kModule, kModuleMap,
     "read the module's flags (ethtool -m)"},
    {kLaserTires, "laser_tires", "laser bias rises at constant Tx power", kUp, &laser_tires,
     kModule,
     "docs/physics.md 3e, 7d: a laser reaches its end of life at 1.3 to 1.5 times its initial "
     "bias; judgement (temperature correction)",
     ""},
    {kTxOff, "tx_off", "this end transmits no light", kDown, &tx_off, kModule, kModuleMap, kReadTx},
    {kFarTxLow, "far_tx_low", "far Tx power below baseline", kAny, &far_tx_low, kFarModule, kDdm,
     kReadFarTx},
    {kFarTxOff, "far_tx_off", "the far end transmits no light", kDown, &far_tx_off, kFarModule,
     kModuleMap, kReadFarTx},
    {kFarSendsUnheard, "far_sends_unheard", "the far end transmits light but none is received",
     kDown, &far_sends_unheard, kFarModule, kDdm, kReadFarTx},
    {kFarRxLow, "far_rx_low", "far Rx power below baseline", kAny, &far_rx_low, kFarModule, kDdm,
     kReadFarRx},
    {kFarRxDark, "far_rx_dark", "the far end receives no light", kDown, &far_rx_dark, kFarModule,
     kModuleMap, kReadFarRx},
    {kNoLockWithLight, "no_lock_with_light", "light is received but the receiver cannot lock", kAny,
     &no_lock_with_light, kModule, kModuleMap, ""},
};

}  // namespace

constinit const std::span<const Symptom> kLightFamily = kRows;

}  // namespace linkhealth::symptoms
