// How much light each measuring point of the link has lost: a list of estimators, each with its
// accuracy. The most accurate one that shows a loss is used; if none does, the most accurate one.
#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "diagnosis/features.h"

namespace linkhealth {

bool lanes_may_be_others(const Features& f) {
  return f.group.shares_module && !f.group.tells_for_cage && f.up && !f.errors_since;
}

/// "10G-LR-BiDi" and the BX types of 1 and 10 Gb/s use single-mode fibre; BiDi with four lanes or
/// more does not.
bool is_multimode(const ModuleSample& module) {
  constexpr std::string_view kNames[] = {"-SR",  "-VR",      "-SX",      "-SWDM4",
                                         "-LRM", "40G-BiDi", "100G-BiDi"};
  if (!module.media_type.empty()) return module.media_type == "multimode";
  return std::ranges::any_of(
      kNames, [&](auto name) { return module.type.find(name) != std::string::npos; });
}

void leave_single_lanes(LightStats& light) {
  light.rx = light.tx = std::nullopt;
  light.far_tx_same_lane.reset();  // the same lane as which?
  light.bias_ratio.reset();
  light.bias_lane = -1;
  // A dark lane does not belong to a port that is up, but to the other port.
  if (light.worst_rx_dbm && *light.worst_rx_dbm < light.dark_dbm) {
    light.worst_rx_dbm = light.margin_db = std::nullopt;
    light.worst_rx_lane = -1;
  }
  light.rx_low.reset();
  light.rx_dark_some = false;
}

namespace {

constexpr double kDarkDbm = -20;
constexpr double kFarReachingEnoughDbm = -27;  // for ER and ZR modules without limits
constexpr double kBelowAlarmDb = 3;

using Tracks = ModuleHistory::Lanes;
using Estimate = LightLossEstimate;

// ------------------------------------------------------------------------------ the estimators

/// Against its own past: the calibration errors of the meters cancel out. If there are also errors,
/// one reading is enough; otherwise the median of three suppresses a glitch.
std::optional<Estimate> against_past(const Features& f, const Tracks& tracks, std::size_t lanes) {
  const bool latest = f.errors_since.has_value();
  const auto& since = f.light.since;
  constexpr double kNoiseDb = 0.22;     // read noise 0.07, mating again 0.3, temperature
  constexpr double kOneSampleDb = 0.5;  // against a single earlier reading
  constexpr double kLeastDb = 0.8;
  std::optional<Estimate> worst;
  for (std::size_t i = 0; i < lanes; ++i) {
    const auto loss =
        latest ? tracks[i].latest_below_baseline(since) : tracks[i].below_baseline(since);
    if (!loss || (worst && *loss <= worst->loss_db)) continue;
    const double sigma_db = tracks[i].baseline.size() > 1 ? kNoiseDb : kOneSampleDb;
    worst = Estimate{*loss, sigma_db, static_cast<int>(i), kLeastDb};
  }
  return worst;
}

/// The lane with the least light among its siblings (or lane `only`).
std::optional<Estimate> against_siblings(const Features& f, const Tracks& tracks, std::size_t lanes,
                                         int only = -1) {
  constexpr double kSigmaDb = 0.8;  // between lanes: calibration and loss
  std::vector<double> losses;       // relative to 0 dBm
  for (std::size_t i = 0; i < lanes; ++i)
    if (const auto level = tracks[i].now(f.light.since)) losses.push_back(-*level);
  if (losses.size() < 3 || losses.size() != lanes) return std::nullopt;
  const auto lane = only >= 0 ? only : std::ranges::max_element(losses) - losses.begin();
  return Estimate{losses[static_cast<std::size_t>(lane)] - lower_median(losses), kSigmaDb,
                  static_cast<int>(lane), 3 * kSigmaDb};
}

/// What a kind of module receives and loses on its path if all is well (docs/physics.md 7a).
struct Nominal {
  std::string_view part;  ///< part of the module's type
  double rx_dbm, loss_db;
};
constexpr Nominal kNominals[] = {{"-SR", -1.0, 1.0}, {"-VR", -1.0, 1.0},   {"-DR", 0.3, 1.2},
                                 {"-FR", -0.5, 2.0}, {"CWDM4", -0.8, 2.0}, {"PSM4", 0, 1.2},
                                 {"-LR", -1.0, 2.5}};

const Nominal* nominal_of(const Features& f) {
  const auto& module = f.port.latest.module;
  if (!module || f.medium != Medium::kOptical) return nullptr;
  for (const Nominal& row : kNominals)
    if (module->type.find(row.part) != std::string::npos) return &row;
  return nullptr;
}

constexpr double kMeterDb = 1.7;  // calibration 1, power and loss 1, lanes 0.6 (physics.md 7a, 7e)

/// What arrives compared with what is sent at the other end, by two meters.
std::optional<Estimate> against_sender(const Features& f, const Tracks& sent,
                                       const Tracks& received, std::size_t lanes) {
  const Nominal* nominal = nominal_of(f);
  std::optional<Estimate> worst;
  for (std::size_t i = 0; nominal != nullptr && i < lanes; ++i) {
    const auto from = sent[i].now(f.light.since), to = received[i].now(f.light.since);
    if (!from || !to || *from < kDarkDbm) continue;
    const double loss = *from - *to - nominal->loss_db;
    if (!worst || loss > worst->loss_db) worst = Estimate{loss, kMeterDb, static_cast<int>(i), 3};
  }
  return worst;
}

/// Compared with what such modules receive.
std::optional<Estimate> against_nominal(const Features& f) {
  const Nominal* nominal = nominal_of(f);
  if (nominal == nullptr || !f.light.worst_rx_dbm || !f.light.rx_fresh) return std::nullopt;
  return Estimate{nominal->rx_dbm - *f.light.worst_rx_dbm, kMeterDb, f.light.worst_rx_lane, 3};
}

/// Compared with the module's own alarm: a good link is about 9 dB above it.
std::optional<Estimate> against_alarm(const Features& f) {
  if (!f.light.margin_db || !f.light.rx_fresh) return std::nullopt;
  return Estimate{9 - *f.light.margin_db, 2.0, f.light.worst_rx_lane, 4};
}

std::optional<Estimate> surest(const std::vector<std::optional<Estimate>>& estimates) {
  std::optional<Estimate> best;
  const auto rank = [](const Estimate& e) {
    return std::tuple(e.loss_db < e.least_db, e.sigma_db, -e.loss_db);
  };
  for (const auto& one : estimates)
    if (one && (!best || rank(*one) < rank(*best))) best = one;
  return best;
}

// ------------------------------------------------------------------------- the measuring points

/// A lane this far below its siblings needs no baseline: lanes differ by 0.6 dB (docs/physics.md 7a
/// and 7e).
constexpr double kAloneDb = 3.6;
/// Likewise if the errors are far below the limit: the receiver has enough light, whatever its
/// meter reads. An error ratio of a thousandth of the limit leaves 1.6 dB: a good link of low power
/// (docs/physics.md 7b).
double alone_in_db(const Features& f) {
  constexpr double kSureDb = 5.5, kFarFromLimit = 1000;
  const SignalStats& s = f.signal;
  if (!s.ber || !s.ber_limit) return kAloneDb;
  const double worst = s.worst_lane >= 0 ? s.worst_lane_ber() : *s.ber;
  return worst < *s.ber_limit / kFarFromLimit ? kSureDb : kAloneDb;
}

struct Point {
  const Tracks& tracks;
  std::size_t lanes;
  double alone_db;  ///< loss relative to the siblings that needs no other evidence
};

/// Against its own past, unless the fault is as old as that; and against its siblings if a lane is
/// far below them.
std::vector<std::optional<Estimate>> basic_estimates(const Features& f, const Point& point) {
  std::vector<std::optional<Estimate>> found;
  if (!f.signal.since_ever) found.push_back(against_past(f, point.tracks, point.lanes));
  const bool known = f.signal.since_ever || found.front();
  auto alone = against_siblings(f, point.tracks, point.lanes);
  if (f.up && known && alone && alone->loss_db >= point.alone_db) {
    alone->least_db = point.alone_db;
    alone->sure_alone = true;
    found.push_back(alone);
  }
  return found;
}

bool has_past(const Features& f, const std::vector<std::optional<Estimate>>& basic) {
  return !f.signal.since_ever && basic.front();
}

/// What a module sends.
std::optional<Estimate> sent_loss(const Features& f, const Point& point, bool fresh) {
  auto estimates = basic_estimates(f, point);
  if (f.signal.since_ever || (f.down && fresh && !has_past(f, estimates)))
    estimates.push_back(against_siblings(f, point.tracks, point.lanes));
  return surest(estimates);
}

/// From 0; -1: the errors are on several lanes, or lanes are unknown.
int lane_with_the_errors(const Features& f) {
  const SignalStats& s = f.signal;
  const bool same_lanes = s.lanes == f.port.own.rx_lanes && s.worst_lane >= 0;
  return same_lanes && (s.lane_stands_out || s.lane_rose) ? s.worst_lane : -1;
}

std::optional<Estimate> received_loss(const Features& f) {
  const ModuleHistory& own = f.port.own;
  auto estimates = basic_estimates(f, {own.rx_dbm, own.rx_lanes, alone_in_db(f)});
  if (has_past(f, estimates)) return surest(estimates);
  // either its light explains the errors, or nothing does.
  const int guilty = lane_with_the_errors(f);
  estimates.push_back(against_siblings(f, own.rx_dbm, own.rx_lanes, guilty));
  for (const auto& one : {against_sender(f, f.port.far.tx_dbm, own.rx_dbm, own.rx_lanes),
                          against_nominal(f), against_alarm(f)})
    if (one && (guilty < 0 || one->lane == guilty)) estimates.push_back(one);
  return surest(estimates);
}

std::optional<Estimate> far_received_loss(const Features& f) {
  const ModuleHistory& far = f.port.far;
  auto estimates = basic_estimates(f, {far.rx_dbm, far.rx_lanes, kAloneDb});
  // Errors at the far end with unchanged light: the fault is as old as its baseline.
  const auto past = surest(estimates);
  const bool old_fault = f.signal.far_errors_sustained() && past && past->loss_db < past->least_db;
  if (f.signal.since_ever || (f.down && f.light.far_fresh && !has_past(f, estimates)) || old_fault)
    for (auto one : {against_siblings(f, far.rx_dbm, far.rx_lanes),
                     against_sender(f, f.port.own.tx_dbm, far.rx_dbm, far.rx_lanes)})
      if (one) {
        one->sure_alone = old_fault;
        estimates.push_back(one);
      }
  return surest(estimates);
}

/// The module's own low alarm of received power, if plausible: a CMIS module may have a low limit
/// without a high one.
std::optional<double> low_alarm_dbm(const Limits& rx) {
  const bool is_one =
      rx.low_alarm && *rx.low_alarm > 1e-4 && (!rx.high_alarm || *rx.low_alarm < *rx.high_alarm);
  return is_one ? std::optional(to_dbm(*rx.low_alarm)) : std::nullopt;
}

/// Avalanche photodiodes and coherent receivers work where others are dark: ER4 down to -21 dBm, ZR
/// to -25. The makers' own alarm shows that (dumps of ER4, ZR and DWDM modules: -23 to -28.5 dBm).
std::optional<double> far_reaching_enough_dbm(const ModuleSample& module) {
  if (const auto alarm = low_alarm_dbm(module.thresholds.rx_power_mw))
    return *alarm - kBelowAlarmDb < kDarkDbm ? alarm : std::nullopt;
  const bool by_name =
      module.type.find("ZR") != std::string::npos || module.type.find("-ER") != std::string::npos;
  return by_name ? std::optional(kFarReachingEnoughDbm) : std::nullopt;
}

void fill_levels(Features& f) {
  constexpr double kLowDb = 1.0;
  LightStats& light = f.light;
  const ModuleHistory& own = f.port.own;
  const auto& module = f.port.latest.module;
  light.rx_lanes = own.rx_lanes;
  if (module) light.enough_dbm = far_reaching_enough_dbm(*module);
  light.dark_dbm = light.enough_dbm ? *light.enough_dbm - kBelowAlarmDb : kDarkDbm;
  std::size_t& dark = light.rx_dark_lanes = 0;
  for (std::size_t i = 0; i < own.rx_lanes; ++i) {
    const LaneSeries& track = own.rx_dbm[i];
    auto level = track.now(light.since);
    // While the link is up, the value from before its errors is shown until the next reading.
    if (!level && f.up) level = track.now();
    if (!level) continue;
    dark += track.recent[0] < light.dark_dbm;
    light.rx_low[i] = track.below_baseline(light.since) >= kLowDb;
    if (light.worst_rx_dbm && *level >= *light.worst_rx_dbm) continue;
    light.worst_rx_dbm = *level;
    light.worst_rx_lane = static_cast<int>(i);
  }
  const auto alarm = module ? low_alarm_dbm(module->thresholds.rx_power_mw) : std::nullopt;
  if (alarm && light.worst_rx_dbm) light.margin_db = *light.worst_rx_dbm - *alarm;
  light.rx_dark_all = own.rx_lanes > 0 && dark == own.rx_lanes;
  light.rx_dark_some = dark > 0 && dark < own.rx_lanes;
}

void fill_bias(Features& f) {
  const ModuleHistory& own = f.port.own;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < own.tx_lanes; ++i) {
    const auto now = own.bias_ma[i].now(f.light.since);
    const auto normal = own.bias_ma[i].baseline.median();
    if (now && normal && *normal > 0) ratios.push_back(*now / *normal);
  }
  if (ratios.empty()) return;
  const auto worst = std::ranges::max_element(ratios);
  f.light.bias_lane = static_cast<int>(worst - ratios.begin());
  // A change of all lanes together is due to temperature: a lane must also change relative to the
  // others.
  const double others = ratios.size() > 1 ? lower_median(ratios) : 1;
  f.light.bias_ratio = *worst / std::max(others, 1.0);
}

bool all_dark(const Tracks& tracks, std::size_t lanes) {
  for (std::size_t i = 0; i < lanes; ++i)
    if (tracks[i].recent_count == 0 || tracks[i].recent[0] > kDarkDbm) return false;
  return lanes > 0;
}

/// Powers that were read before the link went down, or before its errors began, do not show the
/// cause.
std::optional<SteadyTime> readings_count_since(const Features& f) {
  std::optional<SteadyTime> since = f.errors_since;
  if (f.down && f.port.carrier.since)
    since = std::max(since.value_or(*f.port.carrier.since), *f.port.carrier.since);
  return since;
}

}  // namespace

void fill_light(Features& f) {
  f.light = LightStats();
  LightStats& light = f.light;
  const ModuleHistory& own = f.port.own;
  const ModuleHistory& far = f.port.far;
  const auto& changed = f.port.carrier.since;
  light.touched = changed.has_value();
  light.since = readings_count_since(f);
  const auto is_fresh = [&](const std::optional<SteadyTime>& read_at) {
    return read_at && (!changed || *read_at >= *changed) &&
           (!light.since || *read_at >= *light.since);
  };
  light.rx_fresh = is_fresh(own.read_at);
  light.far_fresh = is_fresh(far.read_at);
  light.far_rx_dark_all = light.far_fresh && all_dark(far.rx_dbm, far.rx_lanes);
  fill_levels(f);
  fill_bias(f);
  light.rx = received_loss(f);
  light.tx = sent_loss(f, {own.tx_dbm, own.tx_lanes, kAloneDb}, light.rx_fresh);
  light.far_rx = far_received_loss(f);
  light.far_tx = sent_loss(f, {far.tx_dbm, far.tx_lanes, alone_in_db(f)}, light.far_fresh);
  if (light.rx && light.rx->lane >= 0)
    light.far_tx_same_lane =
        far.tx_dbm[static_cast<std::size_t>(light.rx->lane)].below_baseline(light.since);
}

}  // namespace linkhealth
