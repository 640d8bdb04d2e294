// The field lists of ModuleSample (model/module_sample.h), for model/json/sample_fields.h.
#pragma once

#include "model/json/json_fields.h"
#include "model/module_sample.h"

namespace linkhealth {

JSON_FIELDS(AlarmFlags, low_alarm, low_warn, high_warn, high_alarm);

JSON_FIELDS(ModuleLane, rx_power_mw, tx_power_mw, tx_bias_ma, rx_los, tx_los, rx_lol, tx_lol,
            tx_fault, tx_eq_fault, tx_disabled, output_squelch_force_tx, tx_output_valid,
            rx_power_flags, tx_power_flags, tx_bias_flags);

JSON_FIELDS(ModuleHostLane, in_use, data_path_state, tx_los, tx_lol, tx_eq_fault, rx_output_valid,
            dp_deinit, rx_output_disabled, config_status, dp_state_changed);

JSON_FIELDS(ModuleLoopback, side, at, lanes);

JSON_FIELDS(Limits, low_alarm, low_warn, high_warn, high_alarm);

JSON_FIELDS(ModuleThresholds, temperature_c, supply_v, rx_power_mw, tx_power_mw, tx_bias_ma,
            laser_temperature_c, tec_current_percent);

JSON_FIELDS(VdmStatistics, min, max, avg, current, total);

JSON_FIELDS(ModuleVdm, media_esnr_db, host_esnr_db, media_pre_fec_ber, host_pre_fec_ber,
            media_ltp_db, host_ltp_db, media_errored_frames, host_errored_frames,
            media_fec_tail_symbols, host_fec_tail_symbols, laser_age_percent,
            laser_frequency_error_mhz, frozen);

JSON_FIELDS(ModuleCoherent, chromatic_dispersion_ps_per_nm, dgd_ps, pdl_db, osnr_db, esnr_db,
            carrier_frequency_offset_mhz, tx_power_dbm, rx_total_power_dbm, rx_signal_power_dbm);

JSON_FIELDS(ModuleFlag, name, lane, set, change_count, set_at, cleared_at);

JSON_FIELDS(ModuleSample, present, kind, type, connector, fibre_face, vendor, part_number, serial,
            revision, firmware, date, length_m, wavelength_nm, state, fault_cause, temperature_c,
            supply_v, lanes, thresholds, vdm, form_factor, management, media_type, media_lane_count,
            bank_count, power_class, max_power_w, reach_m, rx_power_is_average, temperature_flags,
            supply_flags, host_lanes, laser_temperature_c, tec_current_percent, low_pwr_request_sw,
            low_pwr_allow_request_hw, allowed_power_w, module_firmware_error,
            data_path_firmware_error, module_state_changed, loopbacks, data_not_ready, checksums_ok,
            coherent, flags, imported_at, warnings);

}  // namespace linkhealth
