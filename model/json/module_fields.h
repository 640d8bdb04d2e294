// The field lists of ModuleSample (model/module_sample.h), for model/json/sample_fields.h.
#pragma once

#include "model/json/json_fields.h"
#include "model/module_sample.h"

namespace linkhealth {

void fields(Is<AlarmFlags> auto& flags, auto& visit) {
  visit("low_alarm", flags.low_alarm);
  visit("low_warn", flags.low_warn);
  visit("high_warn", flags.high_warn);
  visit("high_alarm", flags.high_alarm);
}

void fields(Is<ModuleLane> auto& lane, auto& visit) {
  visit("rx_power_mw", lane.rx_power_mw);
  visit("tx_power_mw", lane.tx_power_mw);
  visit("tx_bias_ma", lane.tx_bias_ma);
  visit("rx_los", lane.rx_los);
  visit("tx_los", lane.tx_los);
  visit("rx_lol", lane.rx_lol);
  visit("tx_lol", lane.tx_lol);
  visit("tx_fault", lane.tx_fault);
  visit("tx_eq_fault", lane.tx_eq_fault);
  visit("tx_disabled", lane.tx_disabled);
  visit("output_squelch_force_tx", lane.output_squelch_force_tx);
  visit("tx_output_valid", lane.tx_output_valid);
  visit("rx_power_flags", lane.rx_power_flags);
  visit("tx_power_flags", lane.tx_power_flags);
  visit("tx_bias_flags", lane.tx_bias_flags);
}

void fields(Is<ModuleHostLane> auto& lane, auto& visit) {
  visit("in_use", lane.in_use);
  visit("data_path_state", lane.data_path_state);
  visit("tx_los", lane.tx_los);
  visit("tx_lol", lane.tx_lol);
  visit("tx_eq_fault", lane.tx_eq_fault);
  visit("rx_output_valid", lane.rx_output_valid);
  visit("dp_deinit", lane.dp_deinit);
  visit("rx_output_disabled", lane.rx_output_disabled);
  visit("config_status", lane.config_status);
  visit("dp_state_changed", lane.dp_state_changed);
}

void fields(Is<ModuleLoopback> auto& loopback, auto& visit) {
  visit("side", loopback.side);
  visit("at", loopback.at);
  visit("lanes", loopback.lanes);
}

void fields(Is<Limits> auto& limits, auto& visit) {
  visit("low_alarm", limits.low_alarm);
  visit("low_warn", limits.low_warn);
  visit("high_warn", limits.high_warn);
  visit("high_alarm", limits.high_alarm);
}

void fields(Is<ModuleThresholds> auto& thresholds, auto& visit) {
  visit("temperature_c", thresholds.temperature_c);
  visit("supply_v", thresholds.supply_v);
  visit("rx_power_mw", thresholds.rx_power_mw);
  visit("tx_power_mw", thresholds.tx_power_mw);
  visit("tx_bias_ma", thresholds.tx_bias_ma);
  visit("laser_temperature_c", thresholds.laser_temperature_c);
  visit("tec_current_percent", thresholds.tec_current_percent);
}

void fields(Is<VdmStatistics> auto& statistics, auto& visit) {
  visit("min", statistics.min);
  visit("max", statistics.max);
  visit("avg", statistics.avg);
  visit("current", statistics.current);
  visit("total", statistics.total);
}

void fields(Is<ModuleVdm> auto& vdm, auto& visit) {
  visit("media_esnr_db", vdm.media_esnr_db);
  visit("host_esnr_db", vdm.host_esnr_db);
  visit("media_pre_fec_ber", vdm.media_pre_fec_ber);
  visit("host_pre_fec_ber", vdm.host_pre_fec_ber);
  visit("media_ltp_db", vdm.media_ltp_db);
  visit("host_ltp_db", vdm.host_ltp_db);
  visit("media_errored_frames", vdm.media_errored_frames);
  visit("host_errored_frames", vdm.host_errored_frames);
  visit("media_fec_tail_symbols", vdm.media_fec_tail_symbols);
  visit("host_fec_tail_symbols", vdm.host_fec_tail_symbols);
  visit("laser_age_percent", vdm.laser_age_percent);
  visit("laser_frequency_error_mhz", vdm.laser_frequency_error_mhz);
  visit("frozen", vdm.frozen);
}

void fields(Is<ModuleCoherent> auto& coherent, auto& visit) {
  visit("chromatic_dispersion_ps_per_nm", coherent.chromatic_dispersion_ps_per_nm);
  visit("dgd_ps", coherent.dgd_ps);
  visit("pdl_db", coherent.pdl_db);
  visit("osnr_db", coherent.osnr_db);
  visit("esnr_db", coherent.esnr_db);
  visit("carrier_frequency_offset_mhz", coherent.carrier_frequency_offset_mhz);
  visit("tx_power_dbm", coherent.tx_power_dbm);
  visit("rx_total_power_dbm", coherent.rx_total_power_dbm);
  visit("rx_signal_power_dbm", coherent.rx_signal_power_dbm);
}

void fields(Is<ModuleFlag> auto& flag, auto& visit) {
  visit("name", flag.name);
  visit("lane", flag.lane);
  visit("set", flag.set);
  visit("change_count", flag.change_count);
  visit("set_at", flag.set_at);
  visit("cleared_at", flag.cleared_at);
}

void fields(Is<ModuleSample> auto& module, auto& visit) {
  visit("present", module.present);
  visit("kind", module.kind);
  visit("type", module.type);
  visit("connector", module.connector);
  visit("fibre_face", module.fibre_face);
  visit("vendor", module.vendor);
  visit("part_number", module.part_number);
  visit("serial", module.serial);
  visit("revision", module.revision);
  visit("firmware", module.firmware);
  visit("date", module.date);
  visit("length_m", module.length_m);
  visit("wavelength_nm", module.wavelength_nm);
  visit("state", module.state);
  visit("fault_cause", module.fault_cause);
  visit("temperature_c", module.temperature_c);
  visit("supply_v", module.supply_v);
  visit("lanes", module.lanes);
  visit("thresholds", module.thresholds);
  visit("vdm", module.vdm);
  visit("form_factor", module.form_factor);
  visit("management", module.management);
  visit("media_type", module.media_type);
  visit("media_lane_count", module.media_lane_count);
  visit("bank_count", module.bank_count);
  visit("power_class", module.power_class);
  visit("max_power_w", module.max_power_w);
  visit("reach_m", module.reach_m);
  visit("rx_power_is_average", module.rx_power_is_average);
  visit("temperature_flags", module.temperature_flags);
  visit("supply_flags", module.supply_flags);
  visit("host_lanes", module.host_lanes);
  visit("laser_temperature_c", module.laser_temperature_c);
  visit("tec_current_percent", module.tec_current_percent);
  visit("low_pwr_request_sw", module.low_pwr_request_sw);
  visit("low_pwr_allow_request_hw", module.low_pwr_allow_request_hw);
  visit("allowed_power_w", module.allowed_power_w);
  visit("module_firmware_error", module.module_firmware_error);
  visit("data_path_firmware_error", module.data_path_firmware_error);
  visit("module_state_changed", module.module_state_changed);
  visit("loopbacks", module.loopbacks);
  visit("data_not_ready", module.data_not_ready);
  visit("checksums_ok", module.checksums_ok);
  visit("coherent", module.coherent);
  visit("flags", module.flags);
  visit("imported_at", module.imported_at);
  visit("warnings", module.warnings);
}

}  // namespace linkhealth
