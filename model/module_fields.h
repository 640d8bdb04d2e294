// The field lists of what a module says of itself (model/module_sample.h), for
// model/sample_fields.h.
#pragma once

#include "model/json_fields.h"
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
  visit("tx_squelched", lane.tx_squelched);
  visit("tx_output_valid", lane.tx_output_valid);
  visit("rx_power_flags", lane.rx_power_flags);
  visit("tx_power_flags", lane.tx_power_flags);
  visit("tx_bias_flags", lane.tx_bias_flags);
  visit("tx_fibre", lane.tx_fibre);
  visit("rx_fibre", lane.rx_fibre);
  visit("tx_wavelength", lane.tx_wavelength);
  visit("rx_wavelength", lane.rx_wavelength);
}

void fields(Is<ModuleHostLane> auto& lane, auto& visit) {
  visit("in_use", lane.in_use);
  visit("data_path_state", lane.data_path_state);
  visit("tx_los", lane.tx_los);
  visit("tx_lol", lane.tx_lol);
  visit("tx_eq_fault", lane.tx_eq_fault);
  visit("rx_output_valid", lane.rx_output_valid);
  visit("deinit_requested", lane.deinit_requested);
  visit("rx_output_disabled", lane.rx_output_disabled);
  visit("config_status", lane.config_status);
  visit("data_path_changed", lane.data_path_changed);
  visit("rx_output_changed", lane.rx_output_changed);
}

void fields(Is<LaserTuning> auto& laser, auto& visit) {
  visit("frequency_ghz", laser.frequency_ghz);
  visit("tuning", laser.tuning);
  visit("wavelength_unlocked", laser.wavelength_unlocked);
  visit("channel_invalid", laser.channel_invalid);
  visit("tuning_not_accepted", laser.tuning_not_accepted);
  visit("fine_tuning_out_of_range", laser.fine_tuning_out_of_range);
  visit("target_power_out_of_range", laser.target_power_out_of_range);
  visit("cooler_fault", laser.cooler_fault);
}

void fields(Is<CoherentFlags> auto& flags, auto& visit) {
  visit("tx_loss_of_alignment", flags.tx_loss_of_alignment);
  visit("tx_out_of_alignment", flags.tx_out_of_alignment);
  visit("tx_cmu_lol", flags.tx_cmu_lol);
  visit("tx_reference_clock_lol", flags.tx_reference_clock_lol);
  visit("tx_deskew_lol", flags.tx_deskew_lol);
  visit("tx_fifo_error", flags.tx_fifo_error);
  visit("rx_loss_of_frame", flags.rx_loss_of_frame);
  visit("rx_loss_of_multi_frame", flags.rx_loss_of_multi_frame);
  visit("rx_demodulator_lol", flags.rx_demodulator_lol);
  visit("rx_dispersion_lol", flags.rx_dispersion_lol);
  visit("rx_loss_of_alignment", flags.rx_loss_of_alignment);
  visit("rx_out_of_alignment", flags.rx_out_of_alignment);
  visit("rx_deskew_lol", flags.rx_deskew_lol);
  visit("rx_fifo_error", flags.rx_fifo_error);
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
  visit("second_supply_v", thresholds.second_supply_v);
  visit("tec_current_percent", thresholds.tec_current_percent);
  visit("second_laser_temperature_c", thresholds.second_laser_temperature_c);
  visit("second_tec_current_percent", thresholds.second_tec_current_percent);
  visit("tec_current_ma", thresholds.tec_current_ma);
}

void fields(Is<BerStatistics> auto& ber, auto& visit) {
  visit("min", ber.min);
  visit("max", ber.max);
  visit("avg", ber.avg);
  visit("current", ber.current);
}

void fields(Is<VdmStatistics> auto& statistics, auto& visit) {
  visit("min", statistics.min);
  visit("max", statistics.max);
  visit("avg", statistics.avg);
  visit("current", statistics.current);
  visit("total", statistics.total);
}

void fields(Is<VdmLimits> auto& limits, auto& visit) {
  visit("name", limits.name);
  visit("lane", limits.lane);
  visit("limits", limits.limits);
}

void fields(Is<VdmFlags> auto& flags, auto& visit) {
  visit("name", flags.name);
  visit("lane", flags.lane);
  visit("flags", flags.flags);
}

void fields(Is<ModuleVdm> auto& vdm, auto& visit) {
  visit("media_esnr_db", vdm.media_esnr_db);
  visit("host_esnr_db", vdm.host_esnr_db);
  visit("media_pre_fec_ber", vdm.media_pre_fec_ber);
  visit("host_pre_fec_ber", vdm.host_pre_fec_ber);
  visit("media_pre_fec_ber_by_lane", vdm.media_pre_fec_ber_by_lane);
  visit("host_pre_fec_ber_by_lane", vdm.host_pre_fec_ber_by_lane);
  visit("media_ltp_db", vdm.media_ltp_db);
  visit("host_ltp_db", vdm.host_ltp_db);
  visit("media_errored_frames", vdm.media_errored_frames);
  visit("host_errored_frames", vdm.host_errored_frames);
  visit("media_fec_tail_symbols", vdm.media_fec_tail_symbols);
  visit("host_fec_tail_symbols", vdm.host_fec_tail_symbols);
  visit("laser_age_percent", vdm.laser_age_percent);
  visit("laser_frequency_error_mhz", vdm.laser_frequency_error_mhz);
  visit("laser_temperature_c", vdm.laser_temperature_c);
  visit("tec_current_percent", vdm.tec_current_percent);
  visit("vcc2p6_v", vdm.vcc2p6_v);
  visit("vcc1p8_v", vdm.vcc1p8_v);
  visit("vcc1p2_v", vdm.vcc1p2_v);
  visit("vcc0p9_v", vdm.vcc0p9_v);
  visit("vcc0p7a_v", vdm.vcc0p7a_v);
  visit("vcc0p7b_v", vdm.vcc0p7b_v);
  visit("vcc12_v", vdm.vcc12_v);
  visit("frozen", vdm.frozen);
  visit("thresholds", vdm.thresholds);
  visit("flags", vdm.flags);
}

void fields(Is<ModuleCoherent> auto& coherent, auto& visit) {
  visit("chromatic_dispersion_ps_per_nm", coherent.chromatic_dispersion_ps_per_nm);
  visit("dgd_ps", coherent.dgd_ps);
  visit("sopmd_ps2", coherent.sopmd_ps2);
  visit("pdl_db", coherent.pdl_db);
  visit("osnr_db", coherent.osnr_db);
  visit("esnr_db", coherent.esnr_db);
  visit("carrier_frequency_offset_mhz", coherent.carrier_frequency_offset_mhz);
  visit("evm_percent", coherent.evm_percent);
  visit("tx_power_dbm", coherent.tx_power_dbm);
  visit("rx_total_power_dbm", coherent.rx_total_power_dbm);
  visit("rx_signal_power_dbm", coherent.rx_signal_power_dbm);
  visit("sop_rate_krad_per_s", coherent.sop_rate_krad_per_s);
  visit("mer_db", coherent.mer_db);
  visit("snr_margin_db", coherent.snr_margin_db);
  visit("q_factor_db", coherent.q_factor_db);
  visit("q_margin_db", coherent.q_margin_db);
  visit("modulator_bias_xi_percent", coherent.modulator_bias_xi_percent);
  visit("modulator_bias_xq_percent", coherent.modulator_bias_xq_percent);
  visit("modulator_bias_yi_percent", coherent.modulator_bias_yi_percent);
  visit("modulator_bias_yq_percent", coherent.modulator_bias_yq_percent);
  visit("modulator_bias_x_phase_percent", coherent.modulator_bias_x_phase_percent);
  visit("modulator_bias_y_phase_percent", coherent.modulator_bias_y_phase_percent);
}

void fields(Is<CoherentStatistics> auto& statistics, auto& visit) {
  visit("chromatic_dispersion_ps_per_nm", statistics.chromatic_dispersion_ps_per_nm);
  visit("dgd_ps", statistics.dgd_ps);
  visit("sopmd_ps2", statistics.sopmd_ps2);
  visit("pdl_db", statistics.pdl_db);
  visit("osnr_db", statistics.osnr_db);
  visit("esnr_db", statistics.esnr_db);
  visit("carrier_frequency_offset_mhz", statistics.carrier_frequency_offset_mhz);
  visit("evm_percent", statistics.evm_percent);
  visit("tx_power_dbm", statistics.tx_power_dbm);
  visit("rx_total_power_dbm", statistics.rx_total_power_dbm);
  visit("rx_signal_power_dbm", statistics.rx_signal_power_dbm);
  visit("sop_rate_krad_per_s", statistics.sop_rate_krad_per_s);
  visit("mer_db", statistics.mer_db);
  visit("rx_bits", statistics.rx_bits);
  visit("rx_corrected_bits", statistics.rx_corrected_bits);
  visit("rx_frames", statistics.rx_frames);
  visit("rx_uncorrectable_frames", statistics.rx_uncorrectable_frames);
}

void fields(Is<ModuleFlag> auto& flag, auto& visit) {
  visit("name", flag.name);
  visit("lane", flag.lane);
  visit("set", flag.set);
  visit("change_count", flag.change_count);
  visit("set_at", flag.set_at);
  visit("cleared_at", flag.cleared_at);
}

void fields(Is<OtherFlag> auto& flag, auto& visit) {
  visit("name", flag.name);
  visit("lane", flag.lane);
}

void fields(Is<CopperAttenuation> auto& loss, auto& visit) {
  visit("frequency_ghz", loss.frequency_ghz);
  visit("attenuation_db", loss.attenuation_db);
}

/// What a module says beyond who it is and how it does.
void more_module_fields(Is<ModuleSample> auto& module, auto& visit) {
  visit("form_factor", module.form_factor);
  visit("management", module.management);
  visit("media_type", module.media_type);
  visit("host_interface", module.host_interface);
  visit("encoding", module.encoding);
  visit("vendor_oui", module.vendor_oui);
  visit("host_lane_count", module.host_lane_count);
  visit("media_lane_count", module.media_lane_count);
  visit("bank_count", module.bank_count);
  visit("power_class", module.power_class);
  visit("max_power_w", module.max_power_w);
  visit("signaling_rate_mbd", module.signaling_rate_mbd);
  visit("reach_m", module.reach_m);
  visit("rx_power_is_average", module.rx_power_is_average);
  visit("temperature_flags", module.temperature_flags);
  visit("supply_flags", module.supply_flags);
  visit("laser_temperature_flags", module.laser_temperature_flags);
  visit("tec_flags", module.tec_flags);
  visit("second_supply_flags", module.second_supply_flags);
  visit("second_laser_temperature_flags", module.second_laser_temperature_flags);
  visit("second_tec_flags", module.second_tec_flags);
  visit("auxiliary_flags", module.auxiliary_flags);
  visit("custom_flags", module.custom_flags);
  visit("host_lanes", module.host_lanes);
  visit("laser_tuning", module.laser_tuning);
  visit("laser_temperature_c", module.laser_temperature_c);
  visit("second_supply_v", module.second_supply_v);
  visit("tec_current_percent", module.tec_current_percent);
  visit("second_laser_temperature_c", module.second_laser_temperature_c);
  visit("second_tec_current_percent", module.second_tec_current_percent);
  visit("tec_current_ma", module.tec_current_ma);
  visit("low_power_requested", module.low_power_requested);
  visit("low_power_pin_obeyed", module.low_power_pin_obeyed);
  visit("allowed_power_w", module.allowed_power_w);
  visit("module_firmware_error", module.module_firmware_error);
  visit("data_path_firmware_error", module.data_path_firmware_error);
  visit("abnormal_firmware", module.abnormal_firmware);
  visit("state_changed", module.state_changed);
  visit("inactive_firmware", module.inactive_firmware);
  visit("hardware_revision", module.hardware_revision);
  visit("case_temperature_min_c", module.case_temperature_min_c);
  visit("case_temperature_max_c", module.case_temperature_max_c);
  visit("looped", module.looped);
  visit("loopbacks", module.loopbacks);
  visit("sends_pattern", module.sends_pattern);
  visit("data_not_ready", module.data_not_ready);
  visit("checksums_ok", module.checksums_ok);
  visit("coherent", module.coherent);
  visit("coherent_statistics", module.coherent_statistics);
  visit("coherent_flags", module.coherent_flags);
  visit("other_flags", module.other_flags);
  visit("copper_attenuation", module.copper_attenuation);
  visit("flags", module.flags);
  visit("imported_at", module.imported_at);
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
  more_module_fields(module, visit);
  visit("warnings", module.warnings);
}

}  // namespace linkhealth
