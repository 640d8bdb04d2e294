// The link budget of a port in drops.
#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "diagnosis/port_view.h"

namespace linkhealth {

bool lanes_may_be_others(const PortView& view) {
  return view.group.shares_module && view.up && !view.errors_since;
}

/// "10G-LR-BiDi" and the BX of 1 and 10 Gb/s are of single-mode fibre, the BiDi of four lanes and
/// more is not.
bool is_multimode(const ModuleSample& module) {
  constexpr std::string_view kNames[] = {"-SR",  "-VR",      "-SX",      "-SWDM4",
                                         "-LRM", "40G-BiDi", "100G-BiDi"};
  if (!module.media_type.empty()) return module.media_type == "multimode";
  return std::ranges::any_of(
      kNames, [&](auto name) { return module.type.find(name) != std::string::npos; });
}

void leave_single_lanes(LightStats& light) {
  light.rx = light.tx = std::nullopt;
  light.bias_ratio.reset();
  light.bias_lane = -1;
  if (light.worst_rx_dbm &&
      *light.worst_rx_dbm < light.dark_dbm) {  // not of a port that carries: another one's
    light.worst_rx_dbm = light.margin_db = std::nullopt;
    light.worst_rx_lane = -1;
  }
  light.rx_low_lanes = 0;
  light.rx_drop_spread = 0;
  light.rx_dark_some = light.rx_one_wavelength = false;
}

void fill_light(PortView& view, double in_alarm_db, double out_alarm_db);

namespace {

constexpr double kDarkBelowDbm = -20;
constexpr double kFarReachingEnoughDbm = -27;  // ER and ZR that give no limits
constexpr double kBelowAlarmDb = 3;
constexpr double kReadNoiseDb = 0.22;   // noise 0.07, remating 0.3, temperature
constexpr double kOneSampleDb = 0.5;    // against a single reading from before
constexpr double kCalibrationDb = 0.8;  // lane to lane: calibration and loss
constexpr double kOneMeterDb =
    1.7;  // module to module: calibration 1, power and loss 1, lanes 0.6 (7a, 7e)
constexpr double kTwoMetersDb = 1.7;  // calibration of both, loss 0.8

using Tracks = ModuleHistory::Lanes;

/// The lane that lost most against its own past.
/// `latest`: with errors to go with it, one reading is enough; else the median of three outvotes a
/// glitch.
std::optional<Drop> worst_drop(const Tracks& tracks, std::size_t lanes, bool latest) {
  std::optional<Drop> worst;
  double least = 99;
  for (std::size_t i = 0; i < lanes; ++i) {
    const auto drop = latest ? tracks[i].latest_below_baseline() : tracks[i].below_baseline();
    if (!drop) continue;
    least = std::min(least, *drop);
    if (!worst || *drop > worst->db)
      worst = Drop{*drop, tracks[i].baseline.size() > 1 ? kReadNoiseDb : kOneSampleDb,
                   static_cast<int>(i)};
  }
  if (worst) worst->spread_db = worst->db - least;
  return worst;
}

/// The lane that lies lowest among its siblings (or, of `only`, that lane): what remains when there
/// is no past.
std::optional<Drop> worst_against_siblings(const Tracks& tracks, std::size_t lanes, int only = -1) {
  std::vector<double> levels;
  for (std::size_t i = 0; i < lanes; ++i)
    if (const auto level = tracks[i].now()) levels.push_back(*level);
  if (levels.size() < 3 || levels.size() != lanes) return std::nullopt;
  const auto lowest =
      only >= 0 ? levels.begin() + only : std::min_element(levels.begin(), levels.end());
  const int lane = static_cast<int>(lowest - levels.begin());
  const double low = *lowest;
  std::sort(levels.begin(), levels.end());
  Drop below{levels[(levels.size()) / 2] - low, kCalibrationDb, lane};
  below.spread_db = below.db;
  return below;
}

bool all_dark(const Tracks& tracks, std::size_t lanes) {
  if (lanes == 0) return false;
  for (std::size_t i = 0; i < lanes; ++i)
    if (tracks[i].recent_count == 0 || tracks[i].recent[0] > kDarkBelowDbm) return false;
  return true;
}

/// The module's own low alarm of received power, where it can be one: a CMIS module may have a low
/// limit and no high one.
std::optional<double> low_alarm_dbm(const Limits& rx) {
  const bool is_one =
      rx.low_alarm && *rx.low_alarm > 1e-4 && (!rx.high_alarm || *rx.low_alarm < *rx.high_alarm);
  return is_one ? std::optional(to_dbm(*rx.low_alarm)) : std::nullopt;
}

/// Avalanche photodiodes and coherent receivers work where others are dark: ER4 to -21 dBm, ZR to
/// -25. Their makers' own alarm says so (dumps of ER4, ZR and DWDM modules: -23 to -28.5 dBm).
std::optional<double> far_reaching_enough_dbm(const ModuleSample& module) {
  if (const auto alarm = low_alarm_dbm(module.thresholds.rx_power_mw))
    return *alarm - kBelowAlarmDb < kDarkBelowDbm ? alarm : std::nullopt;
  const bool by_name =
      module.type.find("ZR") != std::string::npos || module.type.find("-ER") != std::string::npos;
  return by_name ? std::optional(kFarReachingEnoughDbm) : std::nullopt;
}

void fill_rx(PortView& view) {
  LightStats& light = view.light;
  const ModuleHistory& own = view.port.own;
  light.rx_lanes = own.rx_lanes;
  if (view.port.latest.module) light.enough_dbm = far_reaching_enough_dbm(*view.port.latest.module);
  light.dark_dbm = light.enough_dbm ? *light.enough_dbm - kBelowAlarmDb : kDarkBelowDbm;
  std::size_t dark = 0;
  double least = 99, most = -99;
  const auto& thresholds =
      view.port.latest.module ? view.port.latest.module->thresholds : ModuleThresholds{};
  for (std::size_t i = 0; i < own.rx_lanes; ++i) {
    const LaneSeries& track = own.rx_dbm[i];
    const auto level = track.now();
    if (!level) continue;
    dark += track.recent[0] < light.dark_dbm;
    if (!light.worst_rx_dbm || *level < *light.worst_rx_dbm) {
      light.worst_rx_dbm = *level;
      light.worst_rx_lane = static_cast<int>(i);
    }
    if (const auto drop = track.below_baseline()) {
      light.rx_low_lanes += *drop >= 1.0;
      least = std::min(least, *drop);
      most = std::max(most, *drop);
    }
  }
  if (const auto alarm = low_alarm_dbm(thresholds.rx_power_mw); alarm && light.worst_rx_dbm)
    light.margin_db = *light.worst_rx_dbm - *alarm;
  light.rx_drop_spread = most > least ? most - least : 0;
  light.rx_dark_all = own.rx_lanes > 0 && dark == own.rx_lanes;
  light.rx_dark_some = dark > 0 && dark < own.rx_lanes;
}

void fill_bias(PortView& view) {
  const ModuleHistory& own = view.port.own;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < own.tx_lanes; ++i) {
    const auto now = own.bias_ma[i].now();
    const auto normal = own.bias_ma[i].baseline.median();
    if (now && normal && *normal > 0) ratios.push_back(*now / *normal);
  }
  if (ratios.empty()) return;
  const auto worst = std::max_element(ratios.begin(), ratios.end());
  view.light.bias_lane = static_cast<int>(worst - ratios.begin());
  const double top = *worst;
  std::sort(ratios.begin(), ratios.end());
  // Common moves are temperature: what counts is the lane against the others, too.
  const double others = ratios.size() > 1 ? ratios[(ratios.size() - 1) / 2] : 1;
  view.light.bias_ratio = top / std::max(others, 1.0);
}

/// What a kind of module receives and loses on its way when all is well (docs/physics.md 7a).
struct Nominal {
  std::string_view part;  ///< of the module's type
  double rx_dbm, loss_db;
};
constexpr Nominal kNominals[] = {{"-SR", -1.0, 1.0}, {"-VR", -1.0, 1.0},   {"-DR", 0.3, 1.2},
                                 {"-FR", -0.5, 2.0}, {"CWDM4", -0.8, 2.0}, {"PSM4", 0, 1.2},
                                 {"-LR", -1.0, 2.5}};

const Nominal* nominal_of(const PortView& view) {
  const auto& module = view.port.latest.module;
  if (!module || view.medium != Medium::kOptical) return nullptr;
  for (const Nominal& row : kNominals)
    if (module->type.find(row.part) != std::string::npos) return &row;
  return nullptr;
}

/// The better known one; what is small is nothing.
void prefer(std::optional<Drop>& best, const Drop& other, double least_db) {
  if (!best || (other.db / other.sigma_db > best->db / best->sigma_db && other.db > least_db))
    best = other;
}

/// What arrives against what is sent at the other end, by two meters.
std::optional<Drop> against_sender(const Tracks& sent, const Tracks& received, std::size_t lanes,
                                   double loss_db) {
  std::optional<Drop> worst;
  for (std::size_t i = 0; i < lanes; ++i) {
    const auto from = sent[i].now(), to = received[i].now();
    if (!from || !to || *from < kDarkBelowDbm) continue;
    const double lost = *from - *to - loss_db;
    if (!worst || lost > worst->db) worst = Drop{lost, kTwoMetersDb, static_cast<int>(i)};
  }
  return worst;
}

/// From 0; -1: the errors are on several lanes, or lanes are not known.
int lane_with_the_errors(const PortView& view) {
  const SignalStats& s = view.signal;
  const bool same_lanes = s.lanes == view.port.own.rx_lanes && s.worst_lane >= 0;
  return same_lanes && (s.lane_stands_out || s.lane_rose) ? s.worst_lane : -1;
}

/// What is lost where there is no past: against the siblings; and, since all lanes may share one
/// fibre, against what is sent, what such modules receive, and the module's own alarm (a good link
/// lies some 9 dB above it).
std::optional<Drop> without_past(const PortView& view) {
  const ModuleHistory& own = view.port.own;
  const int guilty = lane_with_the_errors(view);  // its light explains the errors, or nothing does
  std::optional<Drop> best = worst_against_siblings(own.rx_dbm, own.rx_lanes, guilty);
  const auto suspect = [guilty](int lane) { return guilty < 0 || lane == guilty; };
  if (view.light.margin_db && suspect(view.light.worst_rx_lane))
    prefer(best, Drop{9 - *view.light.margin_db, 2.0, view.light.worst_rx_lane}, 4);
  if (const Nominal* nominal = nominal_of(view)) {
    if (view.light.worst_rx_dbm && suspect(view.light.worst_rx_lane))
      prefer(
          best,
          Drop{nominal->rx_dbm - *view.light.worst_rx_dbm, kOneMeterDb, view.light.worst_rx_lane},
          3);
    const auto lost =
        against_sender(view.port.far.tx_dbm, own.rx_dbm, own.rx_lanes, nominal->loss_db);
    if (lost && suspect(lost->lane)) prefer(best, *lost, 3);
  }
  return best;
}

/// The same of what leaves here and arrives at the far end.
std::optional<Drop> far_without_past(const PortView& view) {
  const ModuleHistory& far = view.port.far;
  std::optional<Drop> best = worst_against_siblings(far.rx_dbm, far.rx_lanes);
  if (const Nominal* nominal = nominal_of(view))
    if (const auto lost =
            against_sender(view.port.own.tx_dbm, far.rx_dbm, far.rx_lanes, nominal->loss_db))
      prefer(best, *lost, 3);
  return best;
}

}  // namespace

void fill_light(PortView& view, double in_alarm_db, double out_alarm_db) {
  LightStats& light = view.light;
  const PortHistory& port = view.port;
  fill_rx(view);
  fill_bias(view);
  light.touched = port.carrier.since.has_value();
  light.rx_fresh =
      port.own.read_at && (!port.carrier.since || *port.own.read_at >= *port.carrier.since);
  light.far_fresh =
      port.far.read_at && (!port.carrier.since || *port.far.read_at >= *port.carrier.since);
  if (const auto& module = port.latest.module)
    light.wavelengths_share_fibre =
        module->connector == "LC" || module->connector == "SC" || module->connector == "CS";
  light.rx = worst_drop(port.own.rx_dbm, port.own.rx_lanes, view.errors_since.has_value());
  light.tx = worst_drop(port.own.tx_dbm, port.own.tx_lanes, view.errors_since.has_value());
  light.far_rx = worst_drop(port.far.rx_dbm, port.far.rx_lanes, view.errors_since.has_value());
  light.far_tx = worst_drop(port.far.tx_dbm, port.far.tx_lanes, view.errors_since.has_value());
  if (!light.rx || view.signal.since_ever) light.rx = without_past(view);
  if (view.signal.since_ever) {  // the same at the other measuring points
    light.far_rx = far_without_past(view);
    light.far_tx = worst_against_siblings(port.far.tx_dbm, port.far.tx_lanes);
    light.tx = worst_against_siblings(port.own.tx_dbm, port.own.tx_lanes);
  }
  // A link that was never seen up has no past: then a lane is compared with its siblings.
  if (view.down && light.rx_fresh && !light.tx)
    light.tx = worst_against_siblings(port.own.tx_dbm, port.own.tx_lanes);
  if (view.down && light.far_fresh && !light.far_tx)
    light.far_tx = worst_against_siblings(port.far.tx_dbm, port.far.tx_lanes);
  if (view.down && light.far_fresh && !light.far_rx) light.far_rx = far_without_past(view);
  // Errors at the far end with its light as ever: the fault is as old as what we know of it.
  const SignalStats& s = view.signal;
  if (s.far_error_reads >= 3 && 2 * s.far_error_reads >= s.far_reads && light.far_rx &&
      light.far_rx->db < 0.8)
    if (auto lost = far_without_past(view)) {
      lost->tells_alone = true;
      light.far_rx = lost;
    }
  // A fault that is as old as the reference does not show against it; it does against the siblings.
  const auto beside = [&view](std::optional<Drop>& drop, const Tracks& tracks, std::size_t lanes,
                              double alarm_db) {
    if (!drop || (drop->db > 0.8 && !(view.signal.since_ever && drop->sigma_db >= kCalibrationDb)))
      return;
    auto low = worst_against_siblings(tracks, lanes);
    if (!low || low->db < alarm_db) return;
    low->tells_alone = true;
    drop = low;
  };
  if (view.up) {
    beside(light.rx, port.own.rx_dbm, port.own.rx_lanes, in_alarm_db);
    beside(light.tx, port.own.tx_dbm, port.own.tx_lanes, out_alarm_db);
    beside(light.far_rx, port.far.rx_dbm, port.far.rx_lanes, out_alarm_db);
    beside(light.far_tx, port.far.tx_dbm, port.far.tx_lanes, in_alarm_db);
  }
  // Powers that were read before the errors began say nothing about what causes them.
  const auto stale = [&view](const std::optional<SteadyTime>& read_at) {
    return view.errors_since && read_at && in_seconds(*view.errors_since - *read_at) > 30;
  };
  if (stale(port.own.read_at)) light.rx = light.tx = std::nullopt;
  if (stale(port.far.read_at)) light.far_rx = light.far_tx = std::nullopt;
  if (light.rx && light.rx->lane >= 0)
    light.far_tx_same_lane =
        port.far.tx_dbm[static_cast<std::size_t>(light.rx->lane)].below_baseline();
  if (light.far_rx && light.far_rx->lane >= 0)
    light.far_rx_same_lane =
        port.own.tx_dbm[static_cast<std::size_t>(light.far_rx->lane)].below_baseline();
  // Connectors and bends take the same from all wavelengths of a fibre, within half a decibel.
  const auto one_wavelength = [&light](const std::optional<Drop>& drop) {
    return light.wavelengths_share_fibre && drop && drop->db >= 1.2 &&
           drop->spread_db > std::max(1.0, 0.6 * drop->db);
  };
  light.rx_one_wavelength = one_wavelength(light.rx);
  light.far_rx_one_wavelength = one_wavelength(light.far_rx);
  light.tx_dark_all = all_dark(port.own.tx_dbm, port.own.tx_lanes);
  if (light.far_fresh) {
    light.far_rx_dark_all = all_dark(port.far.rx_dbm, port.far.rx_lanes);
    light.far_tx_dark_all = all_dark(port.far.tx_dbm, port.far.tx_lanes);
  }
}

}  // namespace linkhealth
