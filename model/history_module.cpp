// The module's side of PortHistory: light, temperature and PCIe readings against their own past, at
// both ends.
#include <algorithm>
#include <cmath>
#include <utility>

#include "model/history.h"
#include "model/peer_times.h"
#include "model/reading_ages.h"

namespace linkhealth {

namespace {

constexpr double kAerKeepSeconds = 3600;
constexpr double kLostDb = 1.5;  // more than remating (0.3 dB) and read noise make
constexpr double kBackDb = 0.6;
// A sample of light outside of these stays out of the reference: remating moves it by 0.3 dB.
constexpr double kGateLowDb = 0.7, kGateHighDb = 3;
constexpr double kSupplyGateV =
    0.08;  // of the supply voltage: meters are 3 % apart, but each of them is steady

/// Of `lanes` those that are the link's: the last ones may never have had light while it carried on
/// the first (a BiDi module has four places and light on two; so has one that runs split). A link
/// can't carry without one of its lanes.
std::size_t lanes_with_a_past(const PerLane<LaneSeries>& tracks, std::size_t lanes) {
  std::size_t used = lanes;
  while (used > 0 && tracks[used - 1].baseline.size() == 0) --used;
  return used > 0 ? used : lanes;
}

/// Ages are written to a millisecond, and one reading's two ages may be rounded apart.
bool same_instant(const std::optional<SteadyTime>& a, SteadyTime b) {
  return a && std::chrono::abs(*a - b) <= Milliseconds(1);
}

}  // namespace

void LaneSeries::add_recent(double value) {
  recent[2] = recent[1];
  recent[1] = recent[0];
  recent[0] = value;
  recent_count = std::min<std::size_t>(recent_count + 1, 3);
}

std::optional<double> LaneSeries::now() const {
  if (recent_count == 0) return std::nullopt;
  if (recent_count < 3) return recent[0];
  return std::max(std::min(recent[0], recent[1]),
                  std::min(std::max(recent[0], recent[1]), recent[2]));
}

std::optional<double> LaneSeries::below_baseline() const {
  const auto value = now();
  const auto normal = baseline.median();
  if (!value || !normal) return std::nullopt;
  return *normal - *value;
}

std::optional<double> LaneSeries::latest_below_baseline() const {
  const auto normal = baseline.median();
  if (recent_count == 0 || !normal) return std::nullopt;
  return *normal - recent[0];
}

void ModuleHistory::clear_baselines() {
  for (auto* tracks : {&rx_dbm, &tx_dbm, &bias_ma})
    for (LaneSeries& track : *tracks) track = LaneSeries();
  temperature_c = LaneSeries();
  supply_v = LaneSeries();
}

/// Light was lost before the carrier fell, and it is back with the carrier: somebody repaired it
/// while it was down.
void PortHistory::note_light_back(SteadyTime now) {
  if (carrier.up != true || !before_loss.rx_below_baseline_db ||
      *before_loss.rx_below_baseline_db < kLostDb)
    return;
  double worst = -99;
  for (std::size_t i = 0; i < own.rx_lanes; ++i)
    worst = std::max(worst, own.rx_dbm[i].latest_below_baseline().value_or(99));
  if (own.rx_lanes == 0 || worst > kBackDb) return;
  before_loss.rx_below_baseline_db.reset();
  note_mated(carrier.since.value_or(now));
}

void PortHistory::note_drifts(const ModuleSample& module) {
  std::optional<double> least_mw, most_ma;
  for (const ModuleLane& lane : module.lanes) {
    if (lane.rx_power_mw && *lane.rx_power_mw > 0)
      least_mw = std::min(least_mw.value_or(1e9), *lane.rx_power_mw);
    if (lane.tx_bias_ma && *lane.tx_bias_ma > 0)
      most_ma = std::max(most_ma.value_or(0), *lane.tx_bias_ma);
  }
  if (least_mw) drifts.rx_dbm.add(wall_, to_dbm(*least_mw));
  if (most_ma) drifts.bias_ma.add(wall_, *most_ma);
  if (module.temperature_c) drifts.temperature_c.add(wall_, *module.temperature_c);
}

namespace {

/// A page of zeros: no module is at 0 C and dark at both ends, while the driver reads it without an
/// error (SFF-8636 and CMIS modules answer so while they start).
bool is_blank(const ModuleSample& module) {
  const bool glass = module.kind == "optical" || module.kind == "aoc";
  if (!module.present || !glass || module.lanes.empty() || module.temperature_c != 0.0)
    return false;
  return module.supply_v.value_or(0) <= 0 &&
         std::ranges::all_of(module.lanes, [](const ModuleLane& lane) {
           return lane.rx_power_mw.value_or(0) <= 0 && lane.tx_power_mw.value_or(0) <= 0;
         });
}

/// Its meters work, and all of them read no light.
bool receives_nothing(const ModuleSample& module) {
  return !module.lanes.empty() && std::ranges::all_of(module.lanes, [](const ModuleLane& lane) {
    return lane.rx_power_mw && to_dbm(*lane.rx_power_mw) <= kDarkDbm;
  });
}

bool sees_light(const ModuleSample& module) {
  return std::ranges::any_of(module.lanes, [](const ModuleLane& lane) {
    return lane.rx_power_mw.value_or(0) > 0 || lane.tx_power_mw.value_or(0) > 0;
  });
}

}  // namespace

/// Where errors were why somebody changed the module, the new one must be as good as the link was
/// before them (ten times at most: the field's test of a repair); else what did not help would be
/// the new normal.
bool PortHistory::was_bad_before_fall() const {
  constexpr double kDecade = 1;
  const auto normal = counters.ber_log10.lower_quartile();
  return normal && before_loss.ber && carrier.last_loss &&
         std::log10(*before_loss.ber) > *normal + kDecade;
}

/// What it read holds no longer. What it was like stays known, for when it is read again.
void PortHistory::end_module() {
  latest.module.reset();
  module_at.reset();
  own.read_at.reset();
  own.rx_lanes = own.tx_lanes = 0;
  for (auto* values : {&own.rx_dbm, &own.tx_dbm, &own.bias_ma})
    for (LaneSeries& track : *values) track.forget_recent();
  own.temperature_c.forget_recent();
  own.supply_v.forget_recent();
}

/// A module that can't be read is unknown. It is read each minute, and busy now and then.
void PortHistory::end_old_module(SteadyTime now) {
  const auto gap = blind.find("module");
  if (module_at && gap != blind.end() && !gap->second.part &&
      in_seconds(now - *module_at) >= kUnreadableS)
    end_module();
}

void PortHistory::take_module(const ModuleSample& module, SteadyTime now) {
  if (module == ModuleSample{}) return end_module();
  if (is_blank(module)) return;
  if (!module.serial.empty() && !own.serial.empty() && module.serial != own.serial) {
    own.clear_baselines();
    for (LaneSeries& track : far.rx_dbm)
      track = LaneSeries();  // what arrives there is now another laser's
    if (!was_bad_before_fall()) {
      for (Baseline& reference : counters.lane_ber_log10) reference.clear();
      counters.ber_log10.clear();
    }
    drifts = Drifts();
    own.serial_changed_at = now;
    carrier.best_speed_mbps = 0;
    carrier.best_lanes = 0;
  }
  if (!module.serial.empty()) own.serial = module.serial;
  if (module.present && !module.kind.empty() && module.kind != "unknown") medium_ = module.kind;
  latest.module = module;
  module_at = now;
  own.read_at = now;
  if (carrier.up == false) read_while_down_ = true;
  // A link that carries receives light: a page of zeros now and then is the module's reading, not
  // its light.
  constexpr std::size_t kDarkReadsThatStand = 3;
  dark_reads_ = carrier.up == true && receives_nothing(module) ? dark_reads_ + 1 : 0;
  const bool doubtful = dark_reads_ > 0 && dark_reads_ < kDarkReadsThatStand;
  own.rx_lanes = own.tx_lanes = 0;
  // A link that carries has light. A module that says zero on all lanes, and never said anything
  // else, does not measure it (docs/physics.md 3e).
  if (sees_light(module))
    powers_are_blank_ = false;
  else if (const LaneSeries& first = std::as_const(own.rx_dbm)[0];
           carrier.up == true && first.baseline.size() == 0 && first.recent_count == 0)
    powers_are_blank_ = true;
  const bool settled =
      carrier.up == true && (!carrier.since || in_seconds(now - *carrier.since) >= 5);
  const std::size_t lanes = powers_are_blank_ ? 0 : std::min(module.lanes.size(), kMaxLanes);
  for (std::size_t i = 0; i < lanes; ++i) {
    const ModuleLane& lane = module.lanes[i];
    if (lane.rx_power_mw) {
      own.rx_lanes = i + 1;
      if (doubtful) continue;
      const double dbm = to_dbm(*lane.rx_power_mw);
      const auto was_lost = own.rx_dbm[i].below_baseline();
      own.rx_dbm[i].add_recent(dbm);
      // The light is back: somebody cleaned or moved something, and the errors of before are past.
      if (was_lost && *was_lost > kLostDb && own.rx_dbm[i].latest_below_baseline() < kBackDb &&
          carrier.up == true) {
        own.rx_dbm[i].recent_count = 1;
        note_mated(now);
      }
      if (settled && dbm > -25)
        own.rx_dbm[i].baseline.add(now, dbm, kGateLowDb, kGateHighDb, Baseline::Young::kGuardLow);
    }
    if (lane.tx_power_mw) {
      own.tx_lanes = i + 1;
      const double dbm = to_dbm(*lane.tx_power_mw);
      own.tx_dbm[i].add_recent(dbm);
      if (settled && dbm > -25)
        own.tx_dbm[i].baseline.add(now, dbm, kGateLowDb, kGateHighDb, Baseline::Young::kGuardLow);
    }
    if (lane.tx_bias_ma) {
      own.bias_ma[i].add_recent(*lane.tx_bias_ma);
      if (settled && *lane.tx_bias_ma > 0.1)
        own.bias_ma[i].baseline.add(now, *lane.tx_bias_ma, *lane.tx_bias_ma * 0.3,
                                    *lane.tx_bias_ma * 0.12);
    }
  }
  own.rx_lanes = lanes_with_a_past(own.rx_dbm, own.rx_lanes);
  own.tx_lanes = lanes_with_a_past(own.tx_dbm, own.tx_lanes);
  note_light_back(now);
  if (settled) note_drifts(module);
  if (module.supply_v) {
    own.supply_v.add_recent(*module.supply_v);
    own.supply_v.baseline.add(now, *module.supply_v, kSupplyGateV, kSupplyGateV,
                              Baseline::Young::kGuardLow);
  }
  if (module.temperature_c) {
    own.temperature_c.add_recent(*module.temperature_c);
    if (carrier.up == true &&
        in_seconds(now - carrier.since.value_or(first_seen)) >= (carrier.since ? 900 : 0))
      own.temperature_c.baseline.add(now, *module.temperature_c, 15, 6);
  }
}

namespace {

/// Whether both are one port of one system, as far as one source can tell: a GUID where it knows it
/// stays over renames.
bool same_far_port(const PeerSample& a, const PeerSample& b) {
  if (a.guid.empty() && b.guid.empty()) return a.system == b.system && a.port == b.port;
  return a.guid == b.guid && a.port == b.port;
}

}  // namespace

/// Increases are counted only between two readings that one source made of one port: what another
/// port has counted in its life, or another source in another width, is no error of this link.
void PortHistory::take_peer_counters(const PeerSample& sample, SteadyTime now) {
  PeerSample now_counted;  // without its module, which is large
  now_counted.source = sample.source;
  now_counted.counters_source = sample.counters_source;
  now_counted.system = sample.system;
  now_counted.port = sample.port;
  now_counted.guid = sample.guid;
  now_counted.counters = sample.counters;
  const PeerSample before = std::exchange(counted_peer_, std::move(now_counted));
  peer.errors_saturated = is_full_for(full_counters(*sample.counters), kDamageCounts);
  // Sources name ports each in its way, so that another source alone does not make it another port.
  const bool same_source =
      before.source == sample.source && before.counters_source == sample.counters_source;
  if (!before.counters || !same_source) return;
  if (!same_far_port(before, sample)) {
    peer.errors.clear();
    return;
  }
  const Increase increase = increase_between(*before.counters, *sample.counters);
  if (increase.reset) return;
  double errors = 0;
  for (const Indicator flow :
       {Indicator::kSymbolErrors, Indicator::kFrameErrors, Indicator::kUncorrectableBlocks})
    if (!std::isnan(increase.values[static_cast<std::size_t>(flow)]))
      errors += increase.values[static_cast<std::size_t>(flow)];
  peer.errors.push_back({now, errors});
}

void PortHistory::take_peer(const PeerSample& sample, SteadyTime now) {
  peer_recalled_ = false;
  if (sample == PeerSample{}) {  // nothing is known any more
    latest.peer.reset();
    peer_at.reset();
    return;
  }
  const PeerSample before = latest.peer ? *latest.peer : PeerSample{};
  latest.peer = sample;
  const auto read_before = std::exchange(peer_at, now - from_seconds(sample.age_s.value_or(0)));
  if (!sample.link && before.link && sample.source.empty()) latest.peer->link = before.link;
  // Sources answer at times of their own: a sample may repeat a reading beside a new one of another
  // source.
  std::optional<SteadyTime> counted_before;
  if (read_before && before.counters)
    counted_before = part_read_at(before, before.counters_age_s, *read_before);
  if (sample.counters &&
      !same_instant(counted_before, part_read_at(sample, sample.counters_age_s, *peer_at)))
    take_peer_counters(sample, now);
  if (!sample.module) return;
  if (!sample.module->serial.empty() && !far.serial.empty() &&
      sample.module->serial != far.serial) {
    far.clear_baselines();
    for (LaneSeries& track : own.rx_dbm) track = LaneSeries();
    drifts.rx_dbm.clear();  // another laser sends
    drifts.ber_log10.clear();
  }
  if (!sample.module->serial.empty()) far.serial = sample.module->serial;
  const SteadyTime read_at =
      sample.module_age_s ? now - from_seconds(*sample.module_age_s) : *peer_at;
  if (same_instant(std::exchange(far.read_at, read_at), read_at)) return;
  // A reading from before the last transition says nothing about the link as it is now.
  const bool this_period = !carrier.since || read_at >= *carrier.since ||
                           (carrier.up == true && carrier.fresh_since &&
                            read_at >= *carrier.fresh_since && !read_while_down_);
  if (carrier.up == false && this_period) read_while_down_ = true;
  if (!this_period) return;
  const bool settled =
      carrier.up == true && (!carrier.since || in_seconds(read_at - *carrier.since) >= 5);
  far.rx_lanes = far.tx_lanes = 0;
  for (std::size_t i = 0; i < std::min(sample.module->lanes.size(), kMaxLanes); ++i) {
    const ModuleLane& lane = sample.module->lanes[i];
    if (lane.rx_power_mw) {
      far.rx_lanes = i + 1;
      const double dbm = to_dbm(*lane.rx_power_mw);
      far.rx_dbm[i].add_recent(dbm);
      if (settled && dbm > -25)
        far.rx_dbm[i].baseline.add(now, dbm, kGateLowDb, kGateHighDb, Baseline::Young::kGuardLow);
    }
    if (lane.tx_power_mw) {
      far.tx_lanes = i + 1;
      const double dbm = to_dbm(*lane.tx_power_mw);
      far.tx_dbm[i].add_recent(dbm);
      if (settled && dbm > -25)
        far.tx_dbm[i].baseline.add(now, dbm, kGateLowDb, kGateHighDb, Baseline::Young::kGuardLow);
    }
  }
  far.rx_lanes = lanes_with_a_past(far.rx_dbm, far.rx_lanes);
  far.tx_lanes = lanes_with_a_past(far.tx_dbm, far.tx_lanes);
  if (sample.module->temperature_c) far.temperature_c.add_recent(*sample.module->temperature_c);
}

void PortHistory::take_pcie(const PcieSample& pcie, SteadyTime now) {
  latest.pcie = pcie;
  pcie_at = now;
  if (pcie.aer_correctable || pcie.aer_nonfatal || pcie.aer_fatal) {
    const std::array now_read{pcie.aer_correctable, pcie.aer_nonfatal, pcie.aer_fatal};
    // One that can't be read now stands as it was; one that is read for the first time has a past
    // of its own.
    for (std::size_t i = 0; i < now_read.size(); ++i) {
      if (now_read[i] && !device.aer_totals[i]) device.pcie_errors.clear();
      if (now_read[i]) device.aer_totals[i] = now_read[i];
    }
    const double total = static_cast<double>(device.aer_totals[0].value_or(0)) +
                         100 * static_cast<double>(device.aer_totals[1].value_or(0) +
                                                   device.aer_totals[2].value_or(0));
    if (!device.pcie_errors.empty() && total < device.pcie_errors.back().second)
      device.pcie_errors.clear();
    device.pcie_errors.emplace_back(now, total);
    while (device.pcie_errors.size() > 2 &&
           in_seconds(now - device.pcie_errors.front().first) > kAerKeepSeconds)
      device.pcie_errors.erase(device.pcie_errors.begin());
  }
  const bool narrow = pcie.width && pcie.max_width && *pcie.width < *pcie.max_width;
  const bool slow =
      pcie.speed_gtps && pcie.max_speed_gtps && *pcie.speed_gtps < *pcie.max_speed_gtps - 0.1;
  if (narrow || slow) {
    if (++device.pcie_low_reads == 1) device.pcie_low_since = now;
  } else {
    device.pcie_low_reads = 0;
    device.pcie_low_since.reset();
  }
}

}  // namespace linkhealth
