// What a transceiver module reports: identity, readings, limits, flags. The group "module" of a
// recording (docs/recording.md). CMIS terms are those of OIF-CMIS 5.4.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace linkhealth {

/// Which of the module's own limits a value has passed. Most modules latch the flags until they are
/// read; nullopt: not offered.
struct AlarmFlags {
  std::optional<bool> low_alarm;
  std::optional<bool> low_warn;
  std::optional<bool> high_warn;
  std::optional<bool> high_alarm;
  [[nodiscard]] bool empty() const { return *this == AlarmFlags{}; }
  bool operator==(const AlarmFlags&) const = default;
};

/// The optical side. A lane without any value is not in use, or was not read.
struct ModuleLane {
  std::optional<double> rx_power_mw;  ///< 0 means no light, and is a real value
  std::optional<double> tx_power_mw;
  std::optional<double> tx_bias_ma;
  std::optional<bool> rx_los;       ///< no signal at the receiver; latched in QSFP and CMIS
  std::optional<bool> tx_los;       ///< no electrical signal from the host
  std::optional<bool> rx_lol;       ///< the receive CDR has lost lock
  std::optional<bool> tx_lol;       ///< the transmit CDR has lost lock
  std::optional<bool> tx_fault;     ///< laser fault
  std::optional<bool> tx_eq_fault;  ///< the equalizer of the host's signal did not adapt
  std::optional<bool> tx_disabled;  ///< OutputDisableTx: the host has switched the laser off
  std::optional<bool> output_squelch_force_tx;  ///< CMIS: the host has silenced the lane
  std::optional<bool> tx_output_valid;          ///< CMIS 5.0, OutputStatusTx: a valid signal leaves
  AlarmFlags rx_power_flags, tx_power_flags, tx_bias_flags;
  bool operator==(const ModuleLane&) const = default;
};

/// The electrical side, towards the NIC. CMIS, and QSFPs with fewer media lanes than host lanes.
struct ModuleHostLane {
  std::optional<bool> in_use;   ///< false: no application is selected (AppSel 0)
  std::string data_path_state;  ///< "Activated", "Initialized", …; "" not read, "unknown" reserved
  std::optional<bool> tx_los;   ///< no signal from the host
  std::optional<bool> tx_lol;   ///< no lock on the signal from the host
  std::optional<bool> tx_eq_fault;         ///< the input equalizer did not adapt
  std::optional<bool> rx_output_valid;     ///< CMIS 5.0, OutputStatusRx: a valid signal leaves
  std::optional<bool> dp_deinit;           ///< DPDeinit: the host has taken the data path down
  std::optional<bool> rx_output_disabled;  ///< OutputDisableRx: the host switched the output off
  std::string config_status;  ///< ConfigStatus: "Success", "RejectedInvalidAppSel", …; "" unknown
  std::optional<bool> dp_state_changed;  ///< DPStateChangedFlag, latched
  bool operator==(const ModuleHostLane&) const = default;
};

/// A loopback that is switched on (CMIS page 13h): the module returns what arrives at one side.
struct ModuleLoopback {
  std::string side;                  ///< "host" or "media"
  std::string at;                    ///< "input" or "output"
  std::vector<std::uint32_t> lanes;  ///< of that side, 1 first
  bool operator==(const ModuleLoopback&) const = default;
};

/// Empty if the module gives none, or implausible ones.
struct Limits {
  std::optional<double> low_alarm;
  std::optional<double> low_warn;
  std::optional<double> high_warn;
  std::optional<double> high_alarm;
  [[nodiscard]] bool empty() const { return *this == Limits{}; }
  bool operator==(const Limits&) const = default;
};

/// The module's own limits (SFF-8472 A2h, SFF-8636 page 03h, CMIS page 02h).
struct ModuleThresholds {
  Limits temperature_c;
  Limits supply_v;
  Limits rx_power_mw;
  Limits tx_power_mw;
  Limits tx_bias_ma;
  Limits laser_temperature_c, tec_current_percent;  ///< CMIS
  [[nodiscard]] bool empty() const { return *this == ModuleThresholds{}; }
  bool operator==(const ModuleThresholds&) const = default;
};

/// One CMIS VDM quantity. While live, the interval of `min`, `max` and `avg` began at an unknown
/// time.
struct VdmStatistics {
  std::optional<double> min, max, avg, current;
  std::optional<double> total;  ///< for errored frames: all intervals since an unknown time
  [[nodiscard]] bool empty() const { return *this == VdmStatistics{}; }
  bool operator==(const VdmStatistics&) const = default;
};

/// CMIS versatile diagnostics monitoring (pages 20h-2Fh). With several data paths the statistics
/// hold the worst value of each (for `min` the best). The vectors are by lane, lane 1 first; 0 is a
/// lane without a value (CMIS's own code for it).
struct ModuleVdm {
  std::vector<double> media_esnr_db, host_esnr_db;
  std::vector<double> media_ltp_db, host_ltp_db;  ///< PAM4 level transition parameter
  VdmStatistics media_pre_fec_ber, host_pre_fec_ber;
  /// RS(544,514) frames that FEC could not correct, in a sampling interval (CMIS 5.4 7.1.5.1, FERC)
  VdmStatistics media_errored_frames, host_errored_frames;
  /// Most symbol errors in any codeword.
  VdmStatistics media_fec_tail_symbols, host_fec_tail_symbols;
  std::optional<double> laser_age_percent;
  std::optional<double> laser_frequency_error_mhz;  ///< the lane farthest from 0, with its sign
  std::optional<bool> frozen;  ///< another program froze the statistics: they are stale
  [[nodiscard]] bool empty() const { return *this == ModuleVdm{}; }
  bool operator==(const ModuleVdm&) const = default;
};

/// Monitors of a coherent module (C-CMIS, read through VDM). With several lanes the worst value of
/// each: the lowest of ratios and powers, the largest of impairments.
struct ModuleCoherent {
  std::optional<double> chromatic_dispersion_ps_per_nm, dgd_ps, pdl_db;
  std::optional<double> osnr_db, esnr_db;
  std::optional<double> carrier_frequency_offset_mhz;
  std::optional<double> tx_power_dbm, rx_total_power_dbm, rx_signal_power_dbm;
  bool operator==(const ModuleCoherent&) const = default;
  [[nodiscard]] bool empty() const { return *this == ModuleCoherent{}; }
};

/// The changes of one latched flag since the module was inserted or the daemon started. A read
/// clears the flag in the module: `cleared_at` is the first read that found it no longer set.
/// Another reader may have cleared it earlier, and two changes between two reads go unseen.
struct ModuleFlag {
  std::string name;                            ///< "rx_los", "rx_power_low_alarm", "host_tx_lol"
  std::optional<std::uint32_t> lane;           ///< from 1; nullopt: of the whole module
  bool set = false;                            ///< at the last read
  std::uint64_t change_count = 0;              ///< setting and clearing each count
  std::optional<WallTime> set_at, cleared_at;  ///< the last time of each
  bool operator==(const ModuleFlag&) const = default;
};

struct ModuleSample {
  bool present = true;
  /// "optical", "aoc", "dac" (passive copper), "acc" (active copper) or "unknown"
  std::string kind = "unknown";
  std::string type;        ///< "400G-DR4"
  std::string connector;   ///< "MPO-12", "LC", …
  std::string fibre_face;  ///< "UPC" or "APC" (CMIS 5.3): mating it with the other kind loses light
  std::string vendor, part_number, serial, revision, firmware;
  std::string date;                ///< of manufacture, "2025-03-02"
  std::optional<double> length_m;  ///< of a cable (AOC, DAC, ACC)
  std::optional<double> wavelength_nm;
  std::string state;        ///< CMIS ModuleState: "ModuleReady", "ModuleLowPwr", …
  std::string fault_cause;  ///< CMIS 4.0: why the module is in ModuleFault
  std::optional<double> temperature_c;
  std::optional<double> supply_v;
  std::vector<ModuleLane> lanes;  ///< media lanes, lane 1 first
  ModuleThresholds thresholds;
  ModuleVdm vdm;
  std::string form_factor;  ///< "QSFP-DD", "SFP", … (SFF-8024 identifier)
  std::string management;   ///< memory map: "CMIS 5.0", "SFF-8636 2.10", "SFF-8472 11.0"
  std::string media_type;   ///< "single-mode", "multimode", "copper", "active cable", "BASE-T"
  /// Up to the last lane that an application in use can have.
  std::optional<std::uint32_t> media_lane_count;
  std::optional<std::uint32_t> bank_count;   ///< CMIS: banks of eight lanes
  std::optional<std::uint32_t> power_class;  ///< 1 to 8
  std::optional<double> max_power_w;
  std::optional<double> reach_m;            ///< longest fibre that a separable module supports
  std::optional<bool> rx_power_is_average;  ///< false: the module reports OMA
  AlarmFlags temperature_flags, supply_flags;
  std::vector<ModuleHostLane> host_lanes;        ///< lane 1 first
  std::optional<double> laser_temperature_c;     ///< CMIS auxiliary monitors
  std::optional<double> tec_current_percent;     ///< of its maximum; below 0 it cools
  std::optional<bool> low_pwr_request_sw;        ///< the host requests low power by software
  std::optional<bool> low_pwr_allow_request_hw;  ///< … or may by a pin of the cage
  std::optional<double> allowed_power_w;         ///< SFF-8636: less than it may need
  std::optional<bool> module_firmware_error;     ///< CMIS: the module's own firmware failed
  std::optional<bool> data_path_firmware_error;
  std::optional<bool> module_state_changed;  ///< ModuleStateChangedFlag, latched
  std::vector<ModuleLoopback> loopbacks;     ///< CMIS: traffic does not pass
  std::optional<bool> data_not_ready;        ///< the module declares its readings invalid
  std::optional<bool> checksums_ok;          ///< of every page that has one and was read
  ModuleCoherent coherent;
  std::vector<ModuleFlag> flags;        ///< only for a module that the daemon reads repeatedly
  std::optional<WallTime> imported_at;  ///< when another program read it; nullopt: the daemon did
  std::vector<std::string> warnings;    ///< what was implausible and therefore left out
  bool operator==(const ModuleSample&) const = default;
};

}  // namespace linkhealth
