// Series of what the hardware measures of itself: modules at both ends, lanes, the card.
#include <string>

#include "exporters/metrics/metric_families.h"
#include "model/json/sample_fields.h"

namespace linkhealth {

namespace {

constexpr double kHertzPerMegahertz = 1e6, kTransfersPerGigatransfer = 1e9;

template <typename Value>
std::optional<double> as_double(const std::optional<Value>& value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

std::optional<double> times(const std::optional<double>& value, double factor) {
  return value ? std::optional(*value * factor) : std::nullopt;
}

std::optional<double> from_milli(std::optional<double> value) {
  return value ? std::optional(*value / 1000) : std::nullopt;
}

void add_module(MetricFamilies& out, const PortReport& port, const PortLabels& at) {
  const auto& module = port.latest.module;
  if (!module) return;
  const auto seconds = [](const std::optional<WallTime>& when) {
    return when ? std::optional(unix_seconds(*when)) : std::nullopt;
  };
  out.add("linkhealth_module_import_timestamp_seconds", {at.device, at.port},
          seconds(module->imported_at));
  if (!module->present) return;
  out.add("linkhealth_module_temperature_celsius", {at.device, at.port}, module->temperature_c);
  out.add("linkhealth_module_supply_volts", {at.device, at.port}, module->supply_v);
  for (std::size_t i = 0; i < module->lanes.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    const std::initializer_list<std::string_view> labels = {at.device, at.port, number};
    const ModuleLane& lane = module->lanes[i];
    out.add("linkhealth_module_lane_rx_power_watts", labels, from_milli(lane.rx_power_mw));
    out.add("linkhealth_module_lane_tx_power_watts", labels, from_milli(lane.tx_power_mw));
    out.add("linkhealth_module_lane_tx_bias_amperes", labels, from_milli(lane.tx_bias_ma));
  }
  for (const ModuleFlag& flag : module->flags) {
    const std::string lane = flag.lane ? std::to_string(*flag.lane) : "";
    const std::initializer_list<std::string_view> labels = {at.device, at.port, lane, flag.name};
    out.add("linkhealth_module_flag_changes_total", labels, static_cast<double>(flag.change_count));
    out.add("linkhealth_module_flag_last_set_timestamp_seconds", labels, seconds(flag.set_at));
    out.add("linkhealth_module_flag_last_cleared_timestamp_seconds", labels,
            seconds(flag.cleared_at));
  }
}

/// The other half of the link budget: what the far end sends and receives, as it says itself.
void add_far_optics(MetricFamilies& out, const PortReport& port, const PortLabels& at) {
  const auto& peer = port.latest.peer;
  if (!peer || !peer->module) return;
  for (std::size_t i = 0; i < peer->module->lanes.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    const ModuleLane& lane = peer->module->lanes[i];
    out.add("linkhealth_peer_lane_rx_power_watts", {at.device, at.port, number},
            from_milli(lane.rx_power_mw));
    out.add("linkhealth_peer_lane_tx_power_watts", {at.device, at.port, number},
            from_milli(lane.tx_power_mw));
  }
}

/// One of media and host, which the module measures alike.
struct Side {
  std::string_view name;
  const std::vector<double>& esnr_db;
  const std::vector<double>& ltp_db;
  const VdmStatistics& pre_fec_ber;
  const VdmStatistics& errored_frames;
  const VdmStatistics& fec_tail_symbols;
};

void add_lanes(MetricFamilies& out, Metric metric, const std::vector<double>& by_lane,
               const Side& side, const PortLabels& at) {
  for (std::size_t i = 0; i < by_lane.size(); ++i)
    if (by_lane[i] > 0)
      out.add(metric, {at.device, at.port, std::to_string(i + 1), side.name},
              by_lane[i]);  // 0: none
}

void add_statistics(MetricFamilies& out, Metric metric, const VdmStatistics& of, const Side& side,
                    const PortLabels& at) {
  const auto add = [&](std::string_view statistic, const std::optional<double>& value) {
    out.add(metric, {at.device, at.port, side.name, statistic}, value);
  };
  add("min", of.min);
  add("max", of.max);
  add("avg", of.avg);
  add("current", of.current);
  add("total", of.total);
}

void add_side(MetricFamilies& out, const Side& side, const PortLabels& at) {
  add_lanes(out, "linkhealth_module_lane_esnr_db", side.esnr_db, side, at);
  add_lanes(out, "linkhealth_module_lane_ltp_db", side.ltp_db, side, at);
  add_statistics(out, "linkhealth_module_pre_fec_ber", side.pre_fec_ber, side, at);
  add_statistics(out, "linkhealth_module_errored_frames", side.errored_frames, side, at);
  add_statistics(out, "linkhealth_module_fec_tail_symbols", side.fec_tail_symbols, side, at);
}

/// Each coherent monitor by its key in recordings, which holds its unit.
struct CoherentSeries {
  MetricFamilies& out;
  const PortLabels& at;
  void operator()(std::string_view monitor, const std::optional<double>& value) const {
    out.add("linkhealth_module_coherent", {at.device, at.port, monitor}, value);
  }
};

void add_vdm(MetricFamilies& out, const ModuleSample& module, const PortLabels& at) {
  const ModuleVdm& vdm = module.vdm;
  add_side(out,
           {"media", vdm.media_esnr_db, vdm.media_ltp_db, vdm.media_pre_fec_ber,
            vdm.media_errored_frames, vdm.media_fec_tail_symbols},
           at);
  add_side(out,
           {"host", vdm.host_esnr_db, vdm.host_ltp_db, vdm.host_pre_fec_ber,
            vdm.host_errored_frames, vdm.host_fec_tail_symbols},
           at);
  out.add("linkhealth_module_laser_age_ratio", {at.device, at.port},
          times(vdm.laser_age_percent, 0.01));
  out.add("linkhealth_module_laser_frequency_error_hertz", {at.device, at.port},
          times(vdm.laser_frequency_error_mhz, kHertzPerMegahertz));
  CoherentSeries series{out, at};
  fields(module.coherent, series);
}

void add_slot(MetricFamilies& out, const PcieSample& pcie, const PortLabels& at) {
  const auto link = [&](std::string_view end, const std::optional<double>& speed_gtps,
                        const std::optional<double>& max_speed_gtps,
                        const std::optional<std::uint32_t>& width,
                        const std::optional<std::uint32_t>& max_width) {
    const std::initializer_list<std::string_view> labels = {at.device, at.port, end};
    out.add("linkhealth_pcie_current_link_transfers_per_second", labels,
            times(speed_gtps, kTransfersPerGigatransfer));
    out.add("linkhealth_pcie_max_link_transfers_per_second", labels,
            times(max_speed_gtps, kTransfersPerGigatransfer));
    out.add("linkhealth_pcie_current_link_width", labels, as_double(width));
    out.add("linkhealth_pcie_max_link_width", labels, as_double(max_width));
  };
  link("card", pcie.speed_gtps, pcie.max_speed_gtps, pcie.width, pcie.max_width);
  link("bridge", pcie.bridge_speed_gtps, pcie.bridge_max_speed_gtps, pcie.bridge_width,
       pcie.bridge_max_width);
  out.add("linkhealth_pcie_errors_total", {at.device, at.port, "correctable"},
          as_double(pcie.aer_correctable));
  out.add("linkhealth_pcie_errors_total", {at.device, at.port, "nonfatal"},
          as_double(pcie.aer_nonfatal));
  out.add("linkhealth_pcie_errors_total", {at.device, at.port, "fatal"}, as_double(pcie.aer_fatal));
  out.add("linkhealth_nic_temperature_celsius", {at.device, at.port}, pcie.nic_temperature_c);
  out.add("linkhealth_nic_critical_temperature_celsius", {at.device, at.port},
          pcie.nic_critical_temperature_c);
}

}  // namespace

void add_phy(MetricFamilies& out, const PortReport& port, const PortLabels& at) {
  if (port.latest.link) {
    out.add("linkhealth_link_sqi", {at.device, at.port}, as_double(port.latest.link->sqi));
    out.add("linkhealth_link_sqi_max", {at.device, at.port}, as_double(port.latest.link->sqi_max));
  }
  for (std::size_t i = 0; i < port.latest.fec_lanes.size(); ++i) {
    const FecLane& lane = port.latest.fec_lanes[i];
    const std::string number = std::to_string(i + 1);
    const std::initializer_list<std::string_view> labels = {at.device, at.port, number};
    out.add("linkhealth_fec_lane_bit_errors_total", labels, as_double(lane.corrected_bits));
    out.add("linkhealth_fec_lane_corrected_blocks_total", labels, as_double(lane.corrected_blocks));
    out.add("linkhealth_fec_lane_uncorrectable_blocks_total", labels,
            as_double(lane.uncorrectable_blocks));
  }
}

void add_hardware(MetricFamilies& out, const PortReport& port, const PortLabels& at) {
  add_module(out, port, at);
  add_far_optics(out, port, at);
  if (const auto& module = port.latest.module; module && module->present) add_vdm(out, *module, at);
  if (port.latest.pcie) add_slot(out, *port.latest.pcie, at);
}

}  // namespace linkhealth
