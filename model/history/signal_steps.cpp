#include "model/history/signal_steps.h"

#include <algorithm>
#include <cmath>

#include "model/history/history.h"

namespace linkhealth {

namespace {

using enum Signal;

/// Aggregates a value into a step; ignores NaN.
void keep(SignalValues& values, Signal signal, double value) {
  double& into = values[signal];
  if (std::isnan(value) || std::isnan(into)) {
    into = std::isnan(value) ? into : value;
    return;
  }
  switch (signal_info(signal).aggregation) {
    case Aggregation::kMin:
      into = std::min(into, value);
      break;
    case Aggregation::kMax:
      into = std::max(into, value);
      break;
    case Aggregation::kSum:
      into += value;
      break;
    case Aggregation::kMean:  // read about once a step
      into = value;
      break;
  }
}

void keep(SignalValues& values, Signal signal, const std::optional<double>& value) {
  if (value) keep(values, signal, *value);
}

/// The increase of a total; 0 for the first value and after a decrease.
double growth(std::optional<std::uint64_t>& before, std::uint64_t now) {
  const double grown = before && now > *before ? static_cast<double>(now - *before) : 0;
  before = now;
  return grown;
}

/// Ignore rates over less time: after a late reading, the next one follows so soon that a small
/// error of their times would cause a peak.
constexpr double kLeastRate_s = 0.5;

struct ModuleSignals {
  Signal rx, tx;
};

Signal lane_signal(Signal first, std::size_t lane) {
  return static_cast<Signal>(static_cast<std::size_t>(first) + lane);
}

/// The worst lane, and for this end's module each lane.
void keep_lanes(SignalValues& values, const ModuleSample& module, ModuleSignals worst, bool own) {
  for (std::size_t i = 0; i < module.lanes.size(); ++i) {
    const ModuleLane& lane = module.lanes[i];
    const double rx = lane.rx_power_mw ? to_dbm(*lane.rx_power_mw) : kUnknownValue;
    const double tx = lane.tx_power_mw ? to_dbm(*lane.tx_power_mw) : kUnknownValue;
    keep(values, worst.rx, rx);
    keep(values, worst.tx, tx);
    if (!own) continue;
    keep(values, kTxBias, lane.tx_bias_ma);
    if (i >= kSignalLanes) continue;
    keep(values, lane_signal(kRxPowerLane1, i), rx);
    keep(values, lane_signal(kTxPowerLane1, i), tx);
    keep(values, lane_signal(kTxBiasLane1, i), lane.tx_bias_ma);
  }
}

void keep_module(SignalValues& values, const ModuleSample& module) {
  if (!module.present || module.data_not_ready == true) return;
  keep_lanes(values, module, {kRxPower, kTxPower}, true);
  keep(values, kTemperature, module.temperature_c);
  keep(values, kSupply, module.supply_v);
  for (const double esnr : module.vdm.media_esnr_db)
    if (esnr > 0) keep(values, kMediaEsnr, esnr);  // CMIS: 0 is "none"
}

void keep_peer(SignalValues& values, const PeerSample& peer) {
  if (!peer.module || !peer.module->present) return;
  keep_lanes(values, *peer.module, {kFarRxPower, kFarTxPower}, false);
  keep(values, kFarTemperature, peer.module->temperature_c);
}

/// Such a device restarts counting at zero, and may already be higher than before.
bool was_added(const Snapshot& snapshot, const PortKey& port) {
  return std::ranges::any_of(snapshot.events, [&port](const PortEvent& event) {
    return event.kind == PortEventKind::kDeviceAdded && event.port == port;
  });
}

}  // namespace

void SignalCollector::update_link(Port& port, const LinkSample& link, const PortFigures& figures) {
  // The totals start with the daemon: losses before the first snapshot do not belong to this step.
  keep(port.values, kCarrierDowns, growth(port.involuntary_downs, figures.involuntary_downs_told));
  keep(port.values, kVoluntaryDowns, growth(port.voluntary_downs, figures.voluntary_downs_told()));
  if (link.carrier) {
    keep(port.values, kCarrierUp, *link.carrier ? 1.0 : 0.0);
    port.carrier = link.carrier;
  }
  if (link.speed_mbps && *link.speed_mbps > 0) keep(port.values, kSpeed, *link.speed_mbps);
}

void SignalCollector::update_counters(Port& port, const Counters& counters,
                                      const PortReport& report, SteadyTime now) {
  const double seconds = port.read_at ? in_seconds(now - *port.read_at) : 0;
  const Increase increase = port.rates.update(counters, now);
  port.read_at = now;
  for (const SignalInfo& info : signal_table())
    if (info.indicator) keep(port.values, info.signal, increase.of(*info.indicator));
  if (seconds < kLeastRate_s) return;
  const auto per_s = [&](Indicator indicator) {
    return increase.in_interval(indicator, seconds) / seconds;
  };
  constexpr double kMegabits = 8e-6;
  keep(port.values, kRxTraffic, per_s(Indicator::kRxOctets) * kMegabits);
  keep(port.values, kTxTraffic, per_s(Indicator::kTxOctets) * kMegabits);
  update_ber(port, per_s(Indicator::kCorrectedBits), report);
}

void SignalCollector::update_ber(Port& port, double corrected_bits_per_s,
                                 const PortReport& report) {
  if (port.carrier != true) return;
  const auto& link = report.latest.link;
  const double bits_per_s = link ? line_rate_bps(link->speed_mbps.value_or(0), link->fec) : 0;
  if (!std::isnan(corrected_bits_per_s) && bits_per_s > 0)
    keep(port.values, kPreFecBer, corrected_bits_per_s / bits_per_s);
  else  // from corrected blocks, or the module's own
    keep(port.values, kPreFecBer, report.figures.pre_fec_ber);
}

void SignalCollector::update_pcie(Port& port, const PcieSample& pcie) {
  keep(port.values, kNicTemperature, pcie.nic_temperature_c);
  const std::array totals{pcie.aer_correctable, pcie.aer_nonfatal, pcie.aer_fatal};
  for (std::size_t i = 0; i < totals.size(); ++i)
    if (totals[i]) keep(port.values, kPcieErrors, growth(port.pcie_errors[i], *totals[i]));
}

std::vector<SignalRow> SignalCollector::add(const Snapshot& snapshot, const Report& report) {
  const std::int64_t now_s =
      std::chrono::floor<std::chrono::seconds>(snapshot.wall_time).time_since_epoch().count();
  const std::int64_t at_s = step_start_s(now_s, kSignalSteps_s[0]);
  std::vector<SignalRow> rows;
  if (at_s != at_s_) rows = finish();
  at_s_ = at_s;
  for (const PortReport& port_report : report.ports) {
    const auto found = snapshot.ports.find(port_report.port);
    if (found == snapshot.ports.end()) continue;
    const PortSample& sample = found->second;
    if (!sample.link && !sample.counters && !sample.module && !sample.peer && !sample.pcie)
      continue;
    Port& port = ports_[sample.id.stable_key()];
    if (was_added(snapshot, port_report.port)) {
      port.rates.forget();
      port.pcie_errors = {};
    }
    if (sample.link) update_link(port, *sample.link, port_report.figures);
    if (sample.counters) update_counters(port, *sample.counters, port_report, snapshot.taken_at);
    if (sample.module) keep_module(port.values, *sample.module);
    if (sample.peer) keep_peer(port.values, *sample.peer);
    if (sample.pcie) update_pcie(port, *sample.pcie);
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

void SignalFold::add(const SignalValues& values) {
  for (const SignalInfo& info : signal_table()) {
    const double value = values[info.signal];
    if (std::isnan(value)) continue;
    const auto count = ++count_[static_cast<std::size_t>(info.signal)];
    double& into = values_[info.signal];
    if (info.aggregation == Aggregation::kMean && count > 1)
      into += (value - into) / count;
    else
      keep(values_, info.signal, value);
  }
}

}  // namespace linkhealth
