// Series of what the hardware measures about itself: modules at both ends, lanes, the card.
#include <string>

#include "exporters/metrics/metric_families.h"
#include "model/json/sample_fields.h"

namespace linkhealth {

namespace {

std::optional<double> times(const std::optional<double>& value, double factor) {
  return value ? std::optional(*value * factor) : std::nullopt;
}
std::optional<double> from_milli(const std::optional<double>& value) {
  return value ? std::optional(*value / 1000) : std::nullopt;
}
std::optional<double> from_giga(const std::optional<double>& value) { return times(value, 1e9); }

std::optional<double> seconds(const std::optional<WallTime>& when) {
  return when ? std::optional(unix_seconds(*when)) : std::nullopt;
}

void add_module(PortSeries& out, const ModuleSample& module) {
  out.add("linkhealth_module_import_timestamp_seconds", seconds(module.imported_at));
  if (!module.present) return;
  out.add("linkhealth_module_temperature_celsius", module.temperature_c);
  out.add("linkhealth_module_supply_volts", module.supply_v);
  for (std::size_t i = 0; i < module.lanes.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    const ModuleLane& lane = module.lanes[i];
    out.add("linkhealth_module_lane_rx_power_watts", {number}, from_milli(lane.rx_power_mw));
    out.add("linkhealth_module_lane_tx_power_watts", {number}, from_milli(lane.tx_power_mw));
    out.add("linkhealth_module_lane_tx_bias_amperes", {number}, from_milli(lane.tx_bias_ma));
  }
  for (const ModuleFlag& flag : module.flags) {
    const std::string lane = flag.lane ? std::to_string(*flag.lane) : "";
    const std::initializer_list<std::string_view> labels = {lane, flag.name};
    out.add("linkhealth_module_flag_changes_total", labels, flag.change_count);
    out.add("linkhealth_module_flag_last_set_timestamp_seconds", labels, seconds(flag.set_at));
    out.add("linkhealth_module_flag_last_cleared_timestamp_seconds", labels,
            seconds(flag.cleared_at));
  }
}

/// The other half of the link budget, as the far end reports it.
void add_far_module(PortSeries& out, const ModuleSample& module) {
  for (std::size_t i = 0; i < module.lanes.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    const ModuleLane& lane = module.lanes[i];
    out.add("linkhealth_peer_lane_rx_power_watts", {number}, from_milli(lane.rx_power_mw));
    out.add("linkhealth_peer_lane_tx_power_watts", {number}, from_milli(lane.tx_power_mw));
  }
}

void add_lanes(PortSeries& out, Metric metric, std::string_view side,
               const std::vector<double>& by_lane) {
  for (std::size_t i = 0; i < by_lane.size(); ++i)
    if (by_lane[i] > 0)  // 0: not measured
      out.add(metric, {std::to_string(i + 1), side}, by_lane[i]);
}

void add_statistics(PortSeries& out, Metric metric, std::string_view side,
                    const VdmStatistics& of) {
  out.add(metric, {side, "min"}, of.min);
  out.add(metric, {side, "max"}, of.max);
  out.add(metric, {side, "avg"}, of.avg);
  out.add(metric, {side, "current"}, of.current);
  out.add(metric, {side, "total"}, of.total);
}

/// Each coherent monitor by its key in recordings, which contains its unit.
struct CoherentSeries {
  PortSeries& out;
  void operator()(std::string_view monitor, const std::optional<double>& value) const {
    out.add("linkhealth_module_coherent", {monitor}, value);
  }
};

void add_vdm(PortSeries& out, const ModuleSample& module) {
  const ModuleVdm& vdm = module.vdm;
  add_lanes(out, "linkhealth_module_lane_esnr_db", "media", vdm.media_esnr_db);
  add_lanes(out, "linkhealth_module_lane_esnr_db", "host", vdm.host_esnr_db);
  add_lanes(out, "linkhealth_module_lane_ltp_db", "media", vdm.media_ltp_db);
  add_lanes(out, "linkhealth_module_lane_ltp_db", "host", vdm.host_ltp_db);
  add_statistics(out, "linkhealth_module_pre_fec_ber", "media", vdm.media_pre_fec_ber);
  add_statistics(out, "linkhealth_module_pre_fec_ber", "host", vdm.host_pre_fec_ber);
  add_statistics(out, "linkhealth_module_errored_frames", "media", vdm.media_errored_frames);
  add_statistics(out, "linkhealth_module_errored_frames", "host", vdm.host_errored_frames);
  add_statistics(out, "linkhealth_module_fec_tail_symbols", "media", vdm.media_fec_tail_symbols);
  add_statistics(out, "linkhealth_module_fec_tail_symbols", "host", vdm.host_fec_tail_symbols);
  out.add("linkhealth_module_laser_age_ratio", times(vdm.laser_age_percent, 0.01));
  out.add("linkhealth_module_laser_frequency_error_hertz",
          times(vdm.laser_frequency_error_mhz, 1e6));
  CoherentSeries series{out};
  fields(module.coherent, series);
}

void add_slot(PortSeries& out, const PcieSample& pcie) {
  constexpr Metric kSpeed = "linkhealth_pcie_current_link_transfers_per_second",
                   kMaxSpeed = "linkhealth_pcie_max_link_transfers_per_second",
                   kWidth = "linkhealth_pcie_current_link_width",
                   kMaxWidth = "linkhealth_pcie_max_link_width",
                   kErrors = "linkhealth_pcie_errors_total";
  out.add(kSpeed, {"card"}, from_giga(pcie.speed_gtps));
  out.add(kSpeed, {"bridge"}, from_giga(pcie.bridge_speed_gtps));
  out.add(kMaxSpeed, {"card"}, from_giga(pcie.max_speed_gtps));
  out.add(kMaxSpeed, {"bridge"}, from_giga(pcie.bridge_max_speed_gtps));
  out.add(kWidth, {"card"}, pcie.width);
  out.add(kWidth, {"bridge"}, pcie.bridge_width);
  out.add(kMaxWidth, {"card"}, pcie.max_width);
  out.add(kMaxWidth, {"bridge"}, pcie.bridge_max_width);
  out.add(kErrors, {"correctable"}, pcie.aer_correctable);
  out.add(kErrors, {"nonfatal"}, pcie.aer_nonfatal);
  out.add(kErrors, {"fatal"}, pcie.aer_fatal);
  out.add("linkhealth_nic_temperature_celsius", pcie.nic_temperature_c);
  out.add("linkhealth_nic_critical_temperature_celsius", pcie.nic_critical_temperature_c);
}

}  // namespace

void add_phy(PortSeries& out, const PortReport& port) {
  if (port.latest.link) {
    out.add("linkhealth_link_sqi", port.latest.link->sqi);
    out.add("linkhealth_link_sqi_max", port.latest.link->sqi_max);
  }
  for (std::size_t i = 0; i < port.latest.fec_lanes.size(); ++i) {
    const FecLane& lane = port.latest.fec_lanes[i];
    const std::string number = std::to_string(i + 1);
    out.add("linkhealth_fec_lane_bit_errors_total", {number}, lane.corrected_bits);
    out.add("linkhealth_fec_lane_corrected_blocks_total", {number}, lane.corrected_blocks);
    out.add("linkhealth_fec_lane_uncorrectable_blocks_total", {number}, lane.uncorrectable_blocks);
  }
}

void add_hardware(PortSeries& out, const PortReport& port) {
  const PortSample& latest = port.latest;
  if (latest.module) add_module(out, *latest.module);
  if (latest.peer && latest.peer->module) add_far_module(out, *latest.peer->module);
  if (latest.module && latest.module->present) add_vdm(out, *latest.module);
  if (latest.pcie) add_slot(out, *latest.pcie);
}

}  // namespace linkhealth
