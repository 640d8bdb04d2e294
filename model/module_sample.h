// What a module says of itself: identity, monitors, limits, flags. The group "module" of a
// recording (docs/recording.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace linkhealth {

/// Which of a module's own limits it says were passed. Latched until read on most modules; nullopt:
/// not offered.
struct AlarmFlags {
  std::optional<bool> low_alarm;
  std::optional<bool> low_warn;
  std::optional<bool> high_warn;
  std::optional<bool> high_alarm;
  [[nodiscard]] bool empty() const { return !low_alarm && !low_warn && !high_warn && !high_alarm; }
  [[nodiscard]] bool any() const {
    return low_alarm.value_or(false) || low_warn.value_or(false) || high_warn.value_or(false) ||
           high_alarm.value_or(false);
  }
  bool operator==(const AlarmFlags&) const = default;
};

struct ModuleLane {
  std::optional<double> rx_power_mw;  ///< 0 is "no light", a real value
  std::optional<double> tx_power_mw;
  std::optional<double> tx_bias_ma;
  std::optional<bool>
      rx_los;  ///< loss of signal at the receiver, as the module says (often latched)
  std::optional<bool> tx_los;       ///< loss of the electrical signal from the host
  std::optional<bool> rx_lol;       ///< loss of lock of the receive CDR
  std::optional<bool> tx_lol;       ///< loss of lock of the transmit CDR
  std::optional<bool> tx_fault;     ///< laser fault
  std::optional<bool> tx_eq_fault;  ///< the equalizer of the signal from the host did not adapt
  std::optional<bool> tx_disabled;  ///< the host has switched the laser off: no light is no fault
  std::optional<bool>
      tx_squelched;  ///< CMIS: the host keeps the lane silent, and so its whole data path down
  std::optional<bool>
      tx_output_valid;  ///< CMIS 5.0 on: the module sends a good signal to the fibre
  AlarmFlags rx_power_flags, tx_power_flags, tx_bias_flags;
  /// CMIS: which fibre carries the lane, as the module's hardware specification counts them (no
  /// position in an MPO).
  std::optional<std::uint32_t> tx_fibre, rx_fibre;
  /// Which of the wavelengths on it, shortest first; only of fibres that several lanes share.
  std::optional<std::uint32_t> tx_wavelength, rx_wavelength;
  bool operator==(const ModuleLane&) const = default;
};

/// The electrical side, towards the NIC. CMIS only: a module may have more host lanes than media
/// lanes.
struct ModuleHostLane {
  std::optional<bool>
      in_use;  ///< false: no application is selected on it, so nothing of it is a fault
  std::string data_path_state;  ///< "Activated", "Initialized", …; "" not readable, "unknown" for a
                                ///< reserved code
  std::optional<bool> tx_los;           ///< no signal from the host
  std::optional<bool> tx_lol;           ///< no lock on the signal from the host
  std::optional<bool> tx_eq_fault;      ///< the input equalizer did not adapt
  std::optional<bool> rx_output_valid;  ///< CMIS 5.0 on: the module sends a good signal to the host
  std::optional<bool> deinit_requested;  ///< CMIS 4.0 on: the host has taken the data path down
  std::optional<bool>
      rx_output_disabled;     ///< the host has switched off what the module sends to it
  std::string config_status;  ///< of the last configuration: "Success", "RejectedInvalidAppSel", …;
                              ///< "" nothing is known
  std::optional<bool>
      data_path_changed;  ///< latched: data_path_state has changed since it was last read
  std::optional<bool> rx_output_changed;  ///< latched: rx_output_valid has
  bool operator==(const ModuleHostLane&) const = default;
};

/// The laser of one media lane of a tunable module (CMIS page 12h; SFF-8690: A2h page 02h). The
/// flags are latched.
struct LaserTuning {
  std::optional<double> frequency_ghz;  ///< as it is now; nullopt also while it is tuned to none
  std::optional<bool> tuning;           ///< SFF-8690: it is being tuned just now
  std::optional<bool> wavelength_unlocked;  ///< it has lost its wavelength
  std::optional<bool> channel_invalid;      ///< the host asked for a channel that it does not have
  std::optional<bool> tuning_not_accepted;  ///< … at a time or on a grid that it does not take
  std::optional<bool> fine_tuning_out_of_range;   ///< … for an offset that it can't reach
  std::optional<bool> target_power_out_of_range;  ///< … for a power that it can't give
  std::optional<bool> cooler_fault;  ///< SFF-8690: what holds its temperature has failed
  bool operator==(const LaserTuning&) const = default;
};

/// Latched flags of media lane 1 of a coherent module (C-CMIS page 33h), those that it says it has.
/// LOL: loss of lock.
struct CoherentFlags {
  std::optional<bool> tx_loss_of_alignment,
      tx_out_of_alignment;         ///< of the signal that the host sends
  std::optional<bool> tx_cmu_lol;  ///< of the transmitter's clock multiplier
  std::optional<bool> tx_reference_clock_lol, tx_deskew_lol, tx_fifo_error;
  std::optional<bool> rx_loss_of_frame, rx_loss_of_multi_frame;
  std::optional<bool> rx_demodulator_lol;
  std::optional<bool> rx_dispersion_lol;  ///< of the compensation of chromatic dispersion
  std::optional<bool> rx_loss_of_alignment, rx_out_of_alignment, rx_deskew_lol, rx_fifo_error;
  bool operator==(const CoherentFlags&) const = default;
  [[nodiscard]] bool empty() const { return *this == CoherentFlags{}; }
};

/// A loopback that is switched on (CMIS page 13h): what arrives at one side of the module goes back
/// there.
struct ModuleLoopback {
  std::string side;  ///< "host" or "media"
  std::string at;    ///< "input": as it came in; "output": behind all that the module does with it
  std::vector<std::uint32_t> lanes;  ///< of that side, 1 first
  bool operator==(const ModuleLoopback&) const = default;
};

/// Left out (all nullopt) when the module gives none, or nonsense.
struct Limits {
  std::optional<double> low_alarm;
  std::optional<double> low_warn;
  std::optional<double> high_warn;
  std::optional<double> high_alarm;
  [[nodiscard]] bool empty() const { return !low_alarm && !low_warn && !high_warn && !high_alarm; }
  bool operator==(const Limits&) const = default;
};

/// The module's own limits (SFF-8472 A2h, SFF-8636 page 03h, CMIS page 02h).
struct ModuleThresholds {
  Limits temperature_c;
  Limits supply_v;
  Limits rx_power_mw;
  Limits tx_power_mw;
  Limits tx_bias_ma;
  Limits laser_temperature_c, second_supply_v;                    ///< CMIS
  Limits tec_current_percent;                                     ///< CMIS
  Limits second_laser_temperature_c, second_tec_current_percent;  ///< CMIS
  Limits tec_current_ma;                                          ///< SFF-8472
  [[nodiscard]] bool empty() const { return *this == ModuleThresholds{}; }
  bool operator==(const ModuleThresholds&) const = default;
};

/// Of a bit error ratio, as CMIS VDM gives them. Live values: the interval began at an unknown
/// time.
struct BerStatistics {
  std::optional<double> min, max, avg, current;
  [[nodiscard]] bool empty() const { return !min && !max && !avg && !current; }
  bool operator==(const BerStatistics&) const = default;
};

/// As BerStatistics, of another value: frames that FEC could not correct in one sampling interval
/// of the module, as RS(544,514) frames (CMIS 5.4 7.1.5.1 FERC), or a FEC tail (most symbol errors
/// of any code word). `total`: of all intervals since an unknown time.
struct VdmStatistics {
  std::optional<double> min, max, avg, current, total;
  [[nodiscard]] bool empty() const { return !min && !max && !avg && !current && !total; }
  bool operator==(const VdmStatistics&) const = default;
};

/// The module's own limits of one VDM value, in its unit; `lane` (1 first) only where lanes have
/// different limits.
struct VdmLimits {
  std::string
      name;  ///< the value's key: "media_esnr_db", "media_pre_fec_ber_max", "coherent_osnr_db", …
  std::optional<std::uint32_t> lane;
  Limits limits;
  bool operator==(const VdmLimits&) const = default;
};

/// Which of its limits one VDM value has passed (latched until read). Only values with a flag that
/// is set are listed.
struct VdmFlags {
  std::string name;                   ///< as in VdmLimits
  std::optional<std::uint32_t> lane;  ///< 1 first; none: of the whole module
  AlarmFlags flags;
  bool operator==(const VdmFlags&) const = default;
};

/// CMIS versatile diagnostics monitoring (pages 20h-2Fh), and what SFF-8636 pages 20h-21h have of
/// the same. Where a module gives a value for several data paths, the statistics hold the worst of
/// each (for `min` the best) and `…_by_lane` each one. Lane 1 first; in the vectors of plain
/// numbers 0 is a lane without a value (CMIS's own code for it), and the vector ends at the last
/// lane with one.
struct ModuleVdm {
  std::vector<double> media_esnr_db;  ///< per lane; empty when not offered
  std::vector<double> host_esnr_db;
  BerStatistics media_pre_fec_ber;
  BerStatistics host_pre_fec_ber;
  /// By first lane of the data path; only when there are several.
  std::vector<BerStatistics> media_pre_fec_ber_by_lane, host_pre_fec_ber_by_lane;
  std::vector<double> media_ltp_db;  ///< PAM4 level transition parameter
  std::vector<double> host_ltp_db;
  VdmStatistics media_errored_frames;
  VdmStatistics host_errored_frames;
  VdmStatistics media_fec_tail_symbols;
  VdmStatistics host_fec_tail_symbols;
  std::optional<double> laser_age_percent;
  std::optional<double> laser_frequency_error_mhz;  ///< of the lane whose is largest, with its sign
  /// Of the lane whose is largest, with its sign: how far the laser is from the temperature that it
  /// should have (CMIS 5.4 7.1.6.3); of some modules its temperature. Neither is what the auxiliary
  /// monitors of the module say.
  std::optional<double> laser_temperature_c;
  std::optional<double> tec_current_percent;  ///< the same of the current of its cooler
  /// Supplies inside the module and 12 V, as the module itself measures them (CMIS 5.3 and later).
  std::optional<double> vcc2p6_v, vcc1p8_v, vcc1p2_v, vcc0p9_v, vcc0p7a_v, vcc0p7b_v, vcc12_v;
  std::optional<bool> frozen;  ///< another agent froze the statistics: they are old
  std::vector<VdmLimits> thresholds;
  std::vector<VdmFlags> flags;
  [[nodiscard]] bool empty() const {
    return media_esnr_db.empty() && host_esnr_db.empty() && media_pre_fec_ber.empty() &&
           host_pre_fec_ber.empty() && media_ltp_db.empty() && host_ltp_db.empty() &&
           media_errored_frames.empty() && host_errored_frames.empty() &&
           media_fec_tail_symbols.empty() && host_fec_tail_symbols.empty() && !laser_age_percent &&
           !laser_frequency_error_mhz && !laser_temperature_c && !tec_current_percent &&
           !vcc2p6_v && !vcc1p8_v && !vcc1p2_v && !vcc0p9_v && !vcc0p7a_v && !vcc0p7b_v &&
           !vcc12_v && !frozen && thresholds.empty() && flags.empty();
  }
  bool operator==(const ModuleVdm&) const = default;
};

/// Monitors of a coherent module (OIF C-CMIS observables, read through VDM). Of several lanes the
/// worst value of each: the lowest of ratios and powers, the largest of impairments (of dispersion
/// and frequency offset with its sign), of a modulator's bias the one nearest to an end of its
/// range.
struct ModuleCoherent {
  std::optional<double> chromatic_dispersion_ps_per_nm;
  std::optional<double> dgd_ps;
  std::optional<double> sopmd_ps2;
  std::optional<double> pdl_db;
  std::optional<double> osnr_db;
  std::optional<double> esnr_db;
  std::optional<double> carrier_frequency_offset_mhz;
  std::optional<double> evm_percent;
  std::optional<double> tx_power_dbm;
  std::optional<double> rx_total_power_dbm;
  std::optional<double> rx_signal_power_dbm;
  std::optional<double> sop_rate_krad_per_s;
  std::optional<double> mer_db;
  /// To the limit of what its FEC corrects; Q is that of the pre-FEC BER.
  std::optional<double> snr_margin_db, q_factor_db, q_margin_db;
  std::optional<double> modulator_bias_xi_percent, modulator_bias_xq_percent,
      modulator_bias_yi_percent, modulator_bias_yq_percent, modulator_bias_x_phase_percent,
      modulator_bias_y_phase_percent;
  bool operator==(const ModuleCoherent&) const = default;
  [[nodiscard]] bool empty() const { return *this == ModuleCoherent{}; }
};

/// What a coherent module has counted and measured since an unknown time (C-CMIS pages 34h and
/// 35h): the interval begins when somebody freezes the statistics, which we cannot. Minimum,
/// maximum and average; counts of the receiver's FEC.
struct CoherentStatistics {
  VdmStatistics chromatic_dispersion_ps_per_nm, dgd_ps, sopmd_ps2, pdl_db, osnr_db, esnr_db,
      carrier_frequency_offset_mhz, evm_percent, tx_power_dbm, rx_total_power_dbm,
      rx_signal_power_dbm, sop_rate_krad_per_s, mer_db;
  std::optional<std::uint64_t> rx_bits, rx_corrected_bits, rx_frames, rx_uncorrectable_frames;
  bool operator==(const CoherentStatistics&) const = default;
  [[nodiscard]] bool empty() const { return *this == CoherentStatistics{}; }
};

/// What became of one latched flag since the module was put in or the daemon started; one that
/// never changed is not listed. A read clears it, so "cleared" is the first read that found it no
/// longer set; another reader may have taken it before us, and two changes between two of our reads
/// look like none.
struct ModuleFlag {
  std::string
      name;  ///< "rx_los", "rx_power_low_alarm", "host_tx_lol", "vdm_media_esnr_db_low_warn"
  std::optional<std::uint32_t> lane;           ///< 1 first; none: of the whole module
  bool set = false;                            ///< at the last read
  std::uint64_t change_count = 0;              ///< set and cleared, each counts
  std::optional<WallTime> set_at, cleared_at;  ///< the last time of each
  bool operator==(const ModuleFlag&) const = default;
};

/// A latched flag that no rule judges and no other field has: kept because the read that saw it has
/// cleared it. Only those that are set are listed, as of VDM.
struct OtherFlag {
  std::string name;  ///< "cdb_1_complete", "laser_tuning_complete", "initialization_complete", …
  std::optional<std::uint32_t> lane;  ///< 1 first; none: of the whole module
  bool set = true;  ///< false: read and not set; until list_set_flags() (probes/module/decode.h),
                    ///< in no recording
  bool operator==(const OtherFlag&) const = default;
};

/// Loss of a copper cable at one frequency, as its maker says.
struct CopperAttenuation {
  double frequency_ghz = 0;
  double attenuation_db = 0;
  bool operator==(const CopperAttenuation&) const = default;
};

struct ModuleSample {
  bool present = true;
  std::string kind =
      "unknown";  ///< "optical", "aoc", "dac" (passive copper), "acc" (active copper) or "unknown"
  std::string type;        ///< "400G-DR4"
  std::string connector;   ///< "MPO-12", "LC", …
  std::string fibre_face;  ///< "UPC" or "APC" (CMIS 5.3): a fibre of the other kind loses light
  std::string vendor, part_number, serial, revision, firmware;
  std::string date;                ///< of manufacture, "2025-03-02"
  std::optional<double> length_m;  ///< of a cable (AOC, DAC, ACC); a separable module has none
  std::optional<double> wavelength_nm;
  std::string state;        ///< CMIS: "ModuleReady", "ModuleLowPwr", …
  std::string fault_cause;  ///< CMIS 5+: why the module is in ModuleFault
  std::optional<double> temperature_c;
  std::optional<double> supply_v;
  std::vector<ModuleLane> lanes;  ///< media lanes, lane 1 first
  ModuleThresholds thresholds;
  ModuleVdm vdm;
  std::string form_factor;  ///< "QSFP-DD", "SFP", … (SFF-8024 identifier)
  std::string
      management;  ///< the memory map and its revision: "CMIS 5.0", "SFF-8636 2.8", "SFF-8472 11.0"
  std::string media_type;      ///< "single-mode", "multimode", "copper", "active cable", "BASE-T"
  std::string host_interface;  ///< CMIS: the application's electrical interface, "400GAUI-8 C2M"
  std::string encoding;        ///< SFF-8472 and SFF-8636: "64B/66B", "PAM4", …
  std::string vendor_oui;      ///< "00:1b:c5"
  std::optional<std::uint32_t> host_lane_count,
      media_lane_count;                      ///< up to the last an application in use can have
  std::optional<std::uint32_t> bank_count;   ///< CMIS: banks of eight lanes
  std::optional<std::uint32_t> power_class;  ///< 1 to 8
  std::optional<double> max_power_w;
  std::optional<double> signaling_rate_mbd;
  std::optional<double> reach_m;            ///< longest fibre that a separable module is made for
  std::optional<bool> rx_power_is_average;  ///< false: the module reports OMA
  AlarmFlags temperature_flags, supply_flags, laser_temperature_flags, tec_flags;
  AlarmFlags second_supply_flags, second_laser_temperature_flags, second_tec_flags;
  AlarmFlags auxiliary_flags,
      custom_flags;  ///< CMIS: of monitors whose meaning is the maker's, so that no value is kept
  std::vector<ModuleHostLane> host_lanes;  ///< CMIS, lane 1 first
  std::vector<LaserTuning> laser_tuning;   ///< by media lane; empty unless the lasers are tunable
  std::optional<double>
      laser_temperature_c;  ///< of its auxiliary monitor, as all of these; of lanes: `vdm`
  std::optional<double> second_supply_v;      ///< CMIS: of a module that measures two
  std::optional<double> tec_current_percent;  ///< of its maximum (CMIS)
  std::optional<double> second_laser_temperature_c,
      second_tec_current_percent;           ///< CMIS: of one with two such monitors
  std::optional<double> tec_current_ma;     ///< SFF-8472
  std::optional<bool> low_power_requested;  ///< the host holds the module in low power, by software
  std::optional<bool>
      low_power_pin_obeyed;  ///< … or could by a pin, which nobody but the module can read
  std::optional<double>
      allowed_power_w;  ///< the host lets it take no more, where its class or level may need it
  std::optional<bool> module_firmware_error;  ///< CMIS: the module's own firmware has failed
  std::optional<bool> data_path_firmware_error;
  std::optional<bool> abnormal_firmware;  ///< CMIS 5.4: it does not run the firmware that it should
  std::optional<bool> state_changed;      ///< latched: `state` has changed since it was last read
  std::string inactive_firmware;          ///< CMIS 4.0 on: of the other of its two images
  std::string hardware_revision;          ///< CMIS
  std::optional<double> case_temperature_min_c,
      case_temperature_max_c;             ///< CMIS: what it is made for
  std::optional<bool> looped;             ///< CMIS: a loopback is switched on
  std::vector<ModuleLoopback> loopbacks;  ///< which
  std::optional<bool> sends_pattern;      ///< CMIS: a test pattern goes out in the place of traffic
  std::optional<bool> data_not_ready;     ///< the module says that its readings are not valid yet
  std::optional<bool> checksums_ok;       ///< of every page that has one and was read
  ModuleCoherent coherent;
  CoherentStatistics coherent_statistics;
  CoherentFlags coherent_flags;
  std::vector<OtherFlag> other_flags;
  std::vector<CopperAttenuation> copper_attenuation;
  std::vector<ModuleFlag>
      flags;  ///< of a module that is read again and again; a single read has no past
  std::optional<WallTime>
      imported_at;                    ///< when somebody else read it; nullopt: we read it ourselves
  std::vector<std::string> warnings;  ///< what was implausible and therefore left out
  bool operator==(const ModuleSample&) const = default;
};

}  // namespace linkhealth
