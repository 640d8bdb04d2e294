#include "model/signal_steps.h"

#include <algorithm>
#include <cmath>

#include "model/history.h"

namespace linkhealth {

namespace {

using enum Signal;

/// The start of the step that `at_s` is in.
std::int64_t floor_to(std::int64_t at_s, std::uint32_t step_s) {
  const std::int64_t into = at_s % step_s;
  return at_s - (into < 0 ? into + step_s : into);
}

/// NaN says nothing.
void keep_least(double& into, double value) {
  if (!std::isnan(value)) into = std::isnan(into) ? value : std::min(into, value);
}
void keep_most(double& into, double value) {
  if (!std::isnan(value)) into = std::isnan(into) ? value : std::max(into, value);
}
void keep_sum(double& into, double value) {
  if (!std::isnan(value)) into = std::isnan(into) ? value : into + value;
}

double or_unknown(const std::optional<double>& value) { return value.value_or(kUnknownValue); }

/// How much a total has grown. One that was just seen, or that went back, has grown by nothing that
/// is known of.
double growth(std::optional<std::uint64_t>& before, std::uint64_t now) {
  const double grown = before && now > *before ? static_cast<double>(now - *before) : 0;
  before = now;
  return grown;
}

/// A reading may come late, and the next one at its time: the bits of a second in a hundredth of it
/// are no peak.
constexpr double kLeastRate_s = 4;

struct ModuleSignals {
  Signal rx, tx;
};

/// The worst lane of each, and for our own module each lane.
void take_lanes(SignalValues& values, const ModuleSample& module, ModuleSignals worst, bool own) {
  for (std::size_t lane = 0; lane < module.lanes.size(); ++lane) {
    const ModuleLane& from = module.lanes[lane];
    const double rx = from.rx_power_mw ? to_dbm(*from.rx_power_mw) : kUnknownValue;
    const double tx = from.tx_power_mw ? to_dbm(*from.tx_power_mw) : kUnknownValue;
    keep_least(values[worst.rx], rx);
    keep_least(values[worst.tx], tx);
    if (!own) continue;
    keep_most(values[kTxBias], or_unknown(from.tx_bias_ma));
    if (lane >= kSignalLanes) continue;
    values[static_cast<std::size_t>(kRxPowerLane1) + lane] = rx;
    values[static_cast<std::size_t>(kTxPowerLane1) + lane] = tx;
    values[static_cast<std::size_t>(kTxBiasLane1) + lane] = or_unknown(from.tx_bias_ma);
  }
}

void take_module(SignalValues& values, const ModuleSample& module) {
  if (!module.present || module.data_not_ready == true) return;
  take_lanes(values, module, {kRxPower, kTxPower}, true);
  keep_most(values[kTemperature], or_unknown(module.temperature_c));
  keep_least(values[kSupply], or_unknown(module.supply_v));
  for (const double esnr : module.vdm.media_esnr_db)
    if (esnr > 0) keep_least(values[kMediaEsnr], esnr);  // 0 is CMIS's word for "none"
}

void take_peer(SignalValues& values, const PeerSample& peer) {
  if (!peer.module || !peer.module->present) return;
  take_lanes(values, *peer.module, {kFarRxPower, kFarTxPower}, false);
  keep_most(values[kFarTemperature], or_unknown(peer.module->temperature_c));
}

}  // namespace

void fold_value(SignalFold fold, double& into, std::uint16_t& seen, double value) {
  if (std::isnan(value)) return;
  ++seen;
  if (seen == 1) {
    into = value;
    return;
  }
  switch (fold) {
    case SignalFold::kMean:
      into += (value - into) / seen;
      break;
    case SignalFold::kLeast:
      into = std::min(into, value);
      break;
    case SignalFold::kMost:
      into = std::max(into, value);
      break;
    case SignalFold::kSum:
      into += value;
      break;
  }
}

void SignalCollector::take_link(Counted& port, const PortSample& sample, const PortReport& report) {
  // The totals count from when the monitor started: what was lost before the first look is not of
  // this step.
  keep_sum(port.values[kCarrierDowns],
           growth(port.involuntary_downs, report.figures.involuntary_downs_told));
  keep_sum(port.values[kVoluntaryDowns],
           growth(port.voluntary_downs, report.figures.voluntary_downs_told()));
  if (sample.link->carrier) keep_least(port.values[kCarrierUp], *sample.link->carrier ? 1 : 0);
  port.carrier = sample.link->carrier ? sample.link->carrier : port.carrier;
  if (sample.link->speed_mbps && *sample.link->speed_mbps > 0)
    keep_least(port.values[kSpeed], *sample.link->speed_mbps);
}

void SignalCollector::Rate::add(double value, double over_s) {
  if (std::isnan(value)) return;
  sum += value;
  seconds += over_s;
}

double SignalCollector::Rate::take() {
  const double rate = seconds > 0 ? sum / seconds : kUnknownValue;
  *this = Rate();
  return rate;
}

void SignalCollector::take_counters(Counted& port, const PortSample& sample,
                                    const PortReport& report, SteadyTime now) {
  const double seconds = port.read_at ? in_seconds(now - *port.read_at) : 0;
  const Increase increase = port.rates.update(*sample.counters, now);
  port.read_at = now;
  for (const SignalInfo& info : signal_table())
    if (info.flow) keep_sum(port.values[info.signal], increase.of(*info.flow));
  if (seconds > 0) take_rates(port, increase, report, seconds);
}

void SignalCollector::take_rates(Counted& port, const Increase& increase, const PortReport& report,
                                 double seconds) {
  const auto flow = [&](Indicator which) { return increase.in_interval(which, seconds); };
  port.rx_octets.add(flow(Indicator::kRxOctets), seconds);
  port.tx_octets.add(flow(Indicator::kTxOctets), seconds);
  if (port.carrier == true)
    port.corrected_bits.add(flow(Indicator::kCorrectedBits), seconds);
  else
    port.corrected_bits = Rate();
  port.rates_over_s += seconds;
  if (port.rates_over_s < kLeastRate_s) return;
  port.rates_over_s = 0;
  constexpr double kMegabits = 8e-6;
  keep_most(port.values[kRxTraffic], port.rx_octets.take() * kMegabits);
  keep_most(port.values[kTxTraffic], port.tx_octets.take() * kMegabits);
  const double bits_per_s = port.corrected_bits.take();
  if (port.carrier != true) return;
  const double rate = report.latest.link ? line_rate_bps(report.latest.link->speed_mbps.value_or(0),
                                                         report.latest.link->fec)
                                         : 0;
  if (!std::isnan(bits_per_s) && rate > 0)
    keep_most(port.values[kPreFecBer], bits_per_s / rate);
  else if (report.figures.pre_fec_ber)  // from corrected blocks, or the module's own
    keep_most(port.values[kPreFecBer], *report.figures.pre_fec_ber);
}

void SignalCollector::take_pcie(Counted& port, const PcieSample& pcie) {
  keep_most(port.values[kNicTemperature], or_unknown(pcie.nic_temperature_c));
  const std::array totals{pcie.aer_correctable, pcie.aer_nonfatal, pcie.aer_fatal};
  for (std::size_t i = 0; i < totals.size(); ++i)
    if (totals[i]) keep_sum(port.values[kPcieErrors], growth(port.pcie_errors[i], *totals[i]));
}

std::vector<SignalRow> SignalCollector::add(const Snapshot& snapshot, const Report& report) {
  const std::int64_t now_s =
      std::chrono::floor<std::chrono::seconds>(snapshot.wall_time).time_since_epoch().count();
  const std::int64_t at_s = floor_to(now_s, kSignalSteps_s[0]);
  std::vector<SignalRow> rows;
  if (at_s != at_s_) rows = finish();
  at_s_ = at_s;
  for (const PortReport& port : report.ports) {
    const auto found = snapshot.ports.find(port.port);
    if (found == snapshot.ports.end()) continue;
    const PortSample& sample = found->second;
    if (!sample.link && !sample.counters && !sample.module && !sample.peer && !sample.pcie)
      continue;
    Counted& counted = ports_[sample.id.stable_key()];
    if (std::ranges::any_of(snapshot.events, [&port](const PortEvent& event) {
          return event.kind == PortEventKind::kDeviceAdded && event.port == port.port;
        })) {  // it counts from zero again, and may be higher already
      counted.rates.forget();
      counted.pcie_errors = {};
    }
    if (sample.link) take_link(counted, sample, port);
    if (sample.counters) take_counters(counted, sample, port, snapshot.taken_at);
    if (sample.module) take_module(counted.values, *sample.module);
    if (sample.peer) take_peer(counted.values, *sample.peer);
    if (sample.pcie) take_pcie(counted, *sample.pcie);
  }
  return rows;
}

std::vector<SignalRow> SignalCollector::finish() {
  std::vector<SignalRow> rows;
  for (auto& [stable, port] : ports_) {
    if (!port.values.empty()) rows.push_back({stable, kSignalSteps_s[0], at_s_, port.values});
    port.values = {};
  }
  return rows;
}

void SignalFolder::Fold::add(const SignalValues& values) {
  for (std::size_t i = 0; i < kSignalCount; ++i)
    fold_value(signal_info(i).fold, row.values[i], seen[i], values[i]);
}

std::vector<SignalRow> SignalFolder::add(const SignalRow& row) {
  std::vector<SignalRow> done;
  auto& folds = ports_[row.port];
  for (std::size_t i = 0; i < folds.size(); ++i) {
    const std::uint32_t step_s = kSignalSteps_s[i + 1];
    const std::int64_t at_s = floor_to(row.at_s, step_s);
    if (folds[i] && folds[i]->row.at_s != at_s) {
      done.push_back(folds[i]->row);
      folds[i].reset();
    }
    if (!folds[i]) folds[i] = Fold{{row.port, step_s, at_s, {}}, {}};
    folds[i]->add(row.values);
  }
  return done;
}

void SignalFolder::follow(const PortMoves& moves) {
  move_keys(ports_, moves);
  for (auto& [port, folds] : ports_)
    for (auto& fold : folds)
      if (fold) fold->row.port = port;
}

std::vector<SignalRow> SignalFolder::unfinished() const {
  std::vector<SignalRow> rows;
  for (const auto& [port, folds] : ports_)
    for (const auto& fold : folds)
      if (fold) rows.push_back(fold->row);
  return rows;
}

}  // namespace linkhealth
