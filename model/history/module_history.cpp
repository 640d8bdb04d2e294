#include "model/history/module_history.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace linkhealth {

namespace {

// Gates of the light baselines: a new mating changes the light by 0.3 dB.
constexpr double kGateLowDb = 0.7, kGateHighDb = 3;
constexpr double kLeastLightDbm = -25;  ///< of a sample that enters a baseline
/// Gate of the supply voltage: meters differ by 3 %, but each one is stable.
constexpr double kSupplyGateV = 0.08;
/// A link that is up receives light: fewer consecutive pages of zeros are misreadings.
constexpr std::size_t kDarkReadsThatStand = 3;

/// How many of `lanes` the link uses: the last ones may never have had light while it was up on the
/// first (a BiDi module has four lanes but light on two; so does one that is split). A link needs
/// all its lanes.
std::size_t lanes_with_a_past(const ModuleHistory::Lanes& series, std::size_t lanes) {
  std::size_t used = lanes;
  while (used > 0 && series[used - 1].baseline.size() == 0) --used;
  return used > 0 ? used : lanes;
}

/// All its meters work and read no light.
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

void add_light(LaneSeries& series, double milliwatt, bool settled, SteadyTime now) {
  const double dbm = to_dbm(milliwatt);
  series.add_recent(dbm, now);
  if (settled && dbm > kLeastLightDbm)
    series.baseline.add(now, dbm, kGateLowDb, kGateHighDb, Baseline::Young::kGuardLow);
}

}  // namespace

double to_dbm(double milliwatt) { return milliwatt > 1e-4 ? 10 * std::log10(milliwatt) : kDarkDbm; }

bool is_blank(const ModuleSample& module) {
  const bool glass = module.kind == "optical" || module.kind == "aoc";
  if (!module.present || !glass || module.lanes.empty() || module.temperature_c != 0.0)
    return false;
  return module.supply_v.value_or(0) <= 0 && !sees_light(module);
}

std::optional<std::uint8_t> host_holds(const ModuleSample& module, std::uint32_t link_lanes) {
  bool known = module.low_pwr_request_sw || module.allowed_power_w;
  unsigned held = 0;
  const bool is_cmis = !module.state.empty();
  // SFF-8636: a module of power class 1 runs in low-power mode, too.
  const bool may_run = is_cmis ? module.state == "ModuleReady" : module.power_class == 1U;
  if (module.low_pwr_request_sw == true && !may_run) held |= kLowPowerBySoftware;
  if (module.state == "ModuleLowPwr" && module.low_pwr_request_sw != true &&
      module.low_pwr_allow_request_hw == true)
    held |= kLowPowerByPin;
  if (module.allowed_power_w && module.allowed_power_w < module.max_power_w) held |= kPowerClassOff;
  std::size_t lanes = 0, off = 0;
  for (const ModuleLane& lane : module.lanes) {
    if (!lane.tx_disabled && !lane.output_squelch_force_tx) continue;
    ++lanes;
    off += lane.tx_disabled == true || lane.output_squelch_force_tx == true;
  }
  known = known || lanes > 0;
  if (off > 0 && (off == lanes || link_lanes >= lanes)) held |= kTransmittersOff;
  const auto has_control = [](const ModuleHostLane& lane) { return lane.dp_deinit.has_value(); };
  const auto is_down = [](const ModuleHostLane& lane) { return lane.dp_deinit.value_or(true); };
  if (std::ranges::any_of(module.host_lanes, has_control)) {
    known = true;
    if (std::ranges::all_of(module.host_lanes, is_down)) held |= kDataPathDown;
  }
  return known ? std::optional(static_cast<std::uint8_t>(held)) : std::nullopt;
}

HostSignal host_signal(const ModuleSample& module) {
  HostSignal signal{false, true, true};
  for (const ModuleLane& lane : module.lanes) {
    if (!lane.tx_los && !lane.tx_lol) continue;
    signal.known = true;
    signal.lost = signal.lost && lane.tx_los == true;
    signal.unlocked = signal.unlocked && (lane.tx_lol == true || lane.tx_los == true);
  }
  return signal.known ? signal : HostSignal{};
}

void DropOuts::removed(SteadyTime t, const std::string& serial) {
  constexpr double kAgainS = 3600;
  if (out_since_) return;
  out_since_ = t;
  serial_ = serial;
  by_itself_ = last_ && in_seconds(t - *last_) <= kAgainS;
}

void DropOuts::read(const std::string& serial, SteadyTime now) {
  constexpr std::size_t kMost = 64;
  constexpr double kOutS = 5;  // a reading may be older than the event in the same snapshot
  if (out_since_ && in_seconds(now - *out_since_) < kOutS) return;
  if (!out_since_) {
    if (!serial.empty() && !serial_.empty() && serial != serial_) *this = DropOuts();
    return;
  }
  // Without a serial it may be another module.
  if (serial.empty() || serial != serial_) {
    *this = DropOuts();
    return;
  }
  if (by_itself_) times_.push_back(*out_since_);
  if (times_.size() > kMost) times_.erase(times_.begin());
  last_ = std::exchange(out_since_, std::nullopt);
}

std::size_t DropOuts::count(SteadyTime now, double window_s) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(times_, [&](SteadyTime t) { return in_seconds(now - t) <= window_s; }));
}

void LaneSeries::add_recent(double value, SteadyTime t) {
  recent = {value, recent[0], recent[1]};
  recent_at = {t, recent_at[0], recent_at[1]};
  recent_count = std::min<std::size_t>(recent_count + 1, recent.size());
}

std::size_t LaneSeries::count_since(const Since& since) const {
  std::size_t count = recent_count;
  while (since && count > 0 && recent_at[count - 1] < *since) --count;
  return count;
}

std::optional<double> LaneSeries::now(const Since& since) const {
  const std::size_t count = count_since(since);
  if (count == 0) return std::nullopt;
  if (count < recent.size()) return recent[0];
  return std::max(std::min(recent[0], recent[1]),
                  std::min(std::max(recent[0], recent[1]), recent[2]));
}

std::optional<double> LaneSeries::below_baseline(const Since& since) const {
  const auto value = now(since), normal = baseline.median();
  return value && normal ? std::optional(*normal - *value) : std::nullopt;
}

std::optional<double> LaneSeries::latest_below_baseline(const Since& since) const {
  const auto normal = baseline.median();
  return count_since(since) > 0 && normal ? std::optional(*normal - recent[0]) : std::nullopt;
}

bool ModuleHistory::update_serial(const std::string& now_serial, SteadyTime now) {
  const bool is_other = !now_serial.empty() && !serial.empty() && now_serial != serial;
  if (is_other) clear_baselines();
  if (is_other) serial_changed_at = now;
  if (!now_serial.empty()) serial = now_serial;
  return is_other;
}

void ModuleHistory::update_type(const ModuleSample& module, bool is_other) {
  if (is_other) type_before = std::exchange(type, "");
  if (module.present && !module.type.empty()) type = module.type;
}

void ModuleHistory::update_lane(std::size_t lane, const ModuleLane& read, const LinkPhase& link,
                                SteadyTime now) {
  if (read.rx_power_mw) {
    rx_lanes = lane + 1;
    const bool is_doubtful = dark_reads_ > 0 && dark_reads_ < kDarkReadsThatStand;
    if (!is_doubtful) add_light(rx_dbm[lane], *read.rx_power_mw, link.settled, now);
  }
  if (read.tx_power_mw) {
    tx_lanes = lane + 1;
    add_light(tx_dbm[lane], *read.tx_power_mw, link.settled, now);
  }
  if (const auto bias = read.tx_bias_ma) {
    bias_ma[lane].add_recent(*bias, now);
    if (link.settled && *bias > 0.1)
      bias_ma[lane].baseline.add(now, *bias, *bias * 0.3, *bias * 0.12);
  }
}

void ModuleHistory::update(const ModuleSample& module, const LinkPhase& link, SteadyTime now) {
  dark_reads_ = link.up && receives_nothing(module) ? dark_reads_ + 1 : 0;
  // A module that reads only zero on all lanes while the link is up has no light meters
  // (docs/physics.md 3e).
  if (sees_light(module))
    has_no_meters_ = false;
  else if (link.up && rx_dbm[0].baseline.size() == 0 && rx_dbm[0].recent_count == 0)
    has_no_meters_ = true;
  const HostSignal signal = host_signal(module);
  unheard_reads = !link.up && (signal.lost || signal.unlocked) ? unheard_reads + 1 : 0;
  rx_lanes = tx_lanes = 0;
  const std::size_t lanes = has_no_meters_ ? 0 : std::min(module.lanes.size(), kMaxLanes);
  for (std::size_t i = 0; i < lanes; ++i) update_lane(i, module.lanes[i], link, now);
  rx_lanes = lanes_with_a_past(rx_dbm, rx_lanes);
  tx_lanes = lanes_with_a_past(tx_dbm, tx_lanes);
  if (module.supply_v) {
    supply_v.add_recent(*module.supply_v, now);
    supply_v.baseline.add(now, *module.supply_v, kSupplyGateV, kSupplyGateV,
                          Baseline::Young::kGuardLow);
  }
  if (module.temperature_c) {
    temperature_c.add_recent(*module.temperature_c, now);
    if (link.warm) temperature_c.baseline.add(now, *module.temperature_c, 15, 6);
  }
}

void ModuleHistory::end_readings() {
  read_at.reset();
  rx_lanes = tx_lanes = 0;
  forget_recent_light();
  temperature_c.forget_recent();
  supply_v.forget_recent();
}

void ModuleHistory::forget_recent_light() {
  for (Lanes* lanes : {&rx_dbm, &tx_dbm, &bias_ma})
    for (LaneSeries& lane : *lanes) lane.forget_recent();
}

void ModuleHistory::clear_baselines() {
  rx_dbm = tx_dbm = bias_ma = Lanes{};
  temperature_c = supply_v = LaneSeries{};
  held_while_up = 0;
}

std::optional<double> ModuleHistory::most_rx_lost_db(bool latest) const {
  std::optional<double> most;
  for (std::size_t i = 0; i < rx_lanes; ++i) {
    const auto lost = latest ? rx_dbm[i].latest_below_baseline() : rx_dbm[i].below_baseline();
    if (lost) most = std::max(most.value_or(*lost), *lost);
  }
  return most;
}

void Drifts::update(const ModuleSample& module, WallTime now) {
  std::optional<double> least_mw, most_ma;
  for (const ModuleLane& lane : module.lanes) {
    if (lane.rx_power_mw && *lane.rx_power_mw > 0)
      least_mw = std::min(least_mw.value_or(1e9), *lane.rx_power_mw);
    if (lane.tx_bias_ma && *lane.tx_bias_ma > 0)
      most_ma = std::max(most_ma.value_or(0), *lane.tx_bias_ma);
  }
  if (least_mw) rx_dbm.add(now, to_dbm(*least_mw));
  if (most_ma) bias_ma.add(now, *most_ma);
  if (module.temperature_c) temperature_c.add(now, *module.temperature_c);
}

}  // namespace linkhealth
