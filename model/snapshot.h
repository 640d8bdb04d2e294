// What the daemon saw at one time: the one value that probes make, the engine folds and recordings hold.
// The fields are those of the recording format (docs/recording.md), with the unit in every name. Absent is not zero: a
// value that the hardware does not offer is nullopt, a group that was not due or could not be read is nullopt, and the
// latter has a Gap that says why. An empty string means "not known".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/counters.h"

namespace linkhealth {

/// "mlx5_0/1", or the netdev's name for an Ethernet port without a verbs device. Names are labels: what lasts over a
/// reboot is PortId::stable_key().
using PortKey = std::string;

/// Who a port is. Never changes while the device is registered.
struct PortId {
  std::string device;      ///< verbs device ("mlx5_0"); the netdev's name when there is none
  std::uint32_t port = 1;  ///< port number of the verbs device, from 1
  std::string netdev;      ///< "" when the port has none (InfiniBand without IPoIB)
  std::string pci;         ///< "0000:1b:00.0"; "" for a virtual device
  std::string driver;      ///< kernel driver of the PCI function or platform device
  std::string guid;        ///< node GUID, "b83f:d203:0012:3456"
  std::string link_layer;  ///< "InfiniBand" or "Ethernet"
  std::string function;    ///< "pf", "vf", "sf" or "virtual"
  bool verbs = true;       ///< false: a plain Ethernet port. Not recorded: a key without '/' says the same
  std::string exempt;      ///< why the inventory leaves this port out ("virtual function of 0000:1b:00.0"); "" mostly

  [[nodiscard]] PortKey key() const;
  /// What survives renames and reboots: PCI address and port; the key where there is no PCI address.
  [[nodiscard]] std::string stable_key() const;
  bool operator==(const PortId&) const = default;
};

/// Why the kernel thinks a link is down (ETHTOOL_A_LINKSTATE_EXT_STATE), in ethtool's words.
struct DownReason {
  std::string state;     ///< "No cable", "Bad signal integrity", …
  std::string substate;  ///< "Serdes ALOS", …; "" when the kernel gives none
  bool operator==(const DownReason&) const = default;
};

struct LinkSample {
  std::optional<bool> admin_up;  ///< IFF_UP
  std::optional<bool> carrier;   ///< IFF_LOWER_UP; for InfiniBand: phys_state LinkUp
  std::string state;             ///< verbs port state: "ACTIVE", "DOWN", "INIT", "ARMED"
  std::string phys_state;        ///< "LinkUp", "Polling", "Disabled", …
  std::optional<std::uint32_t> speed_mbps;
  std::optional<std::uint32_t> lanes;
  std::optional<std::uint32_t> mtu_bytes;
  std::string fec;  ///< active mode: "RS528", "RS544", "LLRS", "BaseR", "RS", "Off"; "" unknown
  std::optional<bool> autoneg;
  std::optional<std::uint64_t> carrier_up_count;    ///< kernel's count of carrier gains (IFLA_CARRIER_UP_COUNT)
  std::optional<std::uint64_t> carrier_down_count;  ///< kernel's count of carrier losses (IFLA_CARRIER_DOWN_COUNT)
  std::optional<std::uint32_t> sqi, sqi_max;        ///< signal quality index, where a PHY has one (BASE-T)
  std::optional<DownReason> down_reason;            ///< only while down, and where the driver gives one
  bool operator==(const LinkSample&) const = default;
};

/// FEC counters of one lane, lane 1 first.
struct FecLane {
  std::optional<std::uint64_t> corrected_bits;
  std::optional<std::uint64_t> corrected_blocks;
  std::optional<std::uint64_t> uncorrectable_blocks;
  bool operator==(const FecLane&) const = default;
};

/// Which of a module's own limits it says were passed. Latched until read on most modules; nullopt: not offered.
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
  std::optional<bool> rx_los;       ///< loss of signal at the receiver, as the module says (often latched)
  std::optional<bool> tx_los;       ///< loss of the electrical signal from the host
  std::optional<bool> rx_lol;       ///< loss of lock of the receive CDR
  std::optional<bool> tx_lol;       ///< loss of lock of the transmit CDR
  std::optional<bool> tx_fault;     ///< laser fault
  std::optional<bool> tx_eq_fault;  ///< the equalizer of the signal from the host did not adapt
  std::optional<bool> tx_disabled;  ///< the host has switched the laser off: no light is no fault
  AlarmFlags rx_power_flags, tx_power_flags, tx_bias_flags;
  bool operator==(const ModuleLane&) const = default;
};

/// The electrical side, towards the NIC. CMIS only: a module may have more host lanes than media lanes.
struct ModuleHostLane {
  std::optional<bool> in_use;       ///< false: no application is selected on it, so nothing of it is a fault
  std::string data_path_state;      ///< "Activated", "Initialized", …; "" not readable, "unknown" for a reserved code
  std::optional<bool> tx_los;       ///< no signal from the host
  std::optional<bool> tx_lol;       ///< no lock on the signal from the host
  std::optional<bool> tx_eq_fault;  ///< the input equalizer did not adapt
  std::optional<bool> rx_output_valid;  ///< CMIS 5.0 on: the module sends a good signal to the host
  bool operator==(const ModuleHostLane&) const = default;
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
  [[nodiscard]] bool empty() const {
    return temperature_c.empty() && supply_v.empty() && rx_power_mw.empty() && tx_power_mw.empty() &&
           tx_bias_ma.empty();
  }
  bool operator==(const ModuleThresholds&) const = default;
};

/// Of a bit error ratio, as CMIS VDM gives them. Live values: the interval began at an unknown time.
struct BerStatistics {
  std::optional<double> min, max, avg, current;
  [[nodiscard]] bool empty() const { return !min && !max && !avg && !current; }
  bool operator==(const BerStatistics&) const = default;
};

/// As BerStatistics, of another value: a frame error ratio, or a FEC tail (most symbol errors of any code word).
struct VdmStatistics {
  std::optional<double> min, max, avg, current, total;
  [[nodiscard]] bool empty() const { return !min && !max && !avg && !current && !total; }
  bool operator==(const VdmStatistics&) const = default;
};

/// The module's own limits of one VDM value, in its unit; `lane` (1 first) only where lanes have different limits.
struct VdmLimits {
  std::string name;  ///< the value's key: "media_esnr_db", "media_pre_fec_ber_max", "coherent_osnr_db", …
  std::optional<std::uint32_t> lane;
  Limits limits;
  bool operator==(const VdmLimits&) const = default;
};

/// Which of its limits one VDM value has passed (latched until read). Only values with a flag that is set are listed.
struct VdmFlags {
  std::string name;                   ///< as in VdmLimits
  std::optional<std::uint32_t> lane;  ///< 1 first; none: of the whole module
  AlarmFlags flags;
  bool operator==(const VdmFlags&) const = default;
};

/// CMIS versatile diagnostics monitoring (pages 20h-2Fh), and what SFF-8636 pages 20h-21h have of the same. Where a
/// module gives a value for several data paths, the statistics hold the worst of each (for `min` the best) and
/// `…_by_lane` each one. Lane 1 first; in the vectors of plain numbers 0 is a lane without a value (CMIS's own code for
/// it), and the vector ends at the last lane with one.
struct ModuleVdm {
  std::vector<double> media_esnr_db;  ///< per lane; empty when not offered
  std::vector<double> host_esnr_db;
  BerStatistics media_pre_fec_ber;
  BerStatistics host_pre_fec_ber;
  /// By first lane of the data path; only when there are several.
  std::vector<BerStatistics> media_pre_fec_ber_by_lane, host_pre_fec_ber_by_lane;
  std::vector<double> media_ltp_db;  ///< PAM4 level transition parameter
  std::vector<double> host_ltp_db;
  VdmStatistics media_frame_error_ratio;
  VdmStatistics host_frame_error_ratio;
  VdmStatistics media_fec_tail_symbols;
  VdmStatistics host_fec_tail_symbols;
  std::optional<double> laser_age_percent;
  std::optional<double> laser_frequency_error_mhz;
  std::optional<bool> frozen;  ///< another agent froze the statistics: they are old
  std::vector<VdmLimits> thresholds;
  std::vector<VdmFlags> flags;
  [[nodiscard]] bool empty() const {
    return media_esnr_db.empty() && host_esnr_db.empty() && media_pre_fec_ber.empty() && host_pre_fec_ber.empty() &&
           media_ltp_db.empty() && host_ltp_db.empty() && media_frame_error_ratio.empty() &&
           host_frame_error_ratio.empty() && media_fec_tail_symbols.empty() && host_fec_tail_symbols.empty() &&
           !laser_age_percent && !laser_frequency_error_mhz && !frozen && thresholds.empty() && flags.empty();
  }
  bool operator==(const ModuleVdm&) const = default;
};

/// Monitors of a coherent module (OIF C-CMIS observables, read through VDM).
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
  std::optional<double> modulator_bias_xi_percent, modulator_bias_xq_percent, modulator_bias_yi_percent,
      modulator_bias_yq_percent, modulator_bias_x_phase_percent, modulator_bias_y_phase_percent;
  bool operator==(const ModuleCoherent&) const = default;
  [[nodiscard]] bool empty() const { return *this == ModuleCoherent{}; }
};

/// What a coherent module has counted and measured since an unknown time (C-CMIS pages 34h and 35h): the interval
/// begins when somebody freezes the statistics, which we cannot. Minimum, maximum and average; counts of the receiver's
/// FEC.
struct CoherentStatistics {
  VdmStatistics chromatic_dispersion_ps_per_nm, dgd_ps, sopmd_ps2, pdl_db, osnr_db, esnr_db,
      carrier_frequency_offset_mhz, evm_percent, tx_power_dbm, rx_total_power_dbm, rx_signal_power_dbm,
      sop_rate_krad_per_s, mer_db;
  std::optional<std::uint64_t> rx_bits, rx_corrected_bits, rx_frames, rx_uncorrectable_frames;
  bool operator==(const CoherentStatistics&) const = default;
  [[nodiscard]] bool empty() const { return *this == CoherentStatistics{}; }
};

/// What became of one latched flag since the module was put in or the daemon started; one that never changed is not
/// listed. A read clears it, so "cleared" is the first read that found it no longer set; another reader may have taken
/// it before us, and two changes between two of our reads look like none.
struct ModuleFlag {
  std::string name;                   ///< "rx_los", "rx_power_low_alarm", "host_tx_lol", "vdm_media_esnr_db_low_warn"
  std::optional<std::uint32_t> lane;  ///< 1 first; none: of the whole module
  bool set = false;                   ///< at the last read
  std::uint64_t change_count = 0;     ///< set and cleared, each counts
  std::optional<WallTime> set_at, cleared_at;  ///< the last time of each
  bool operator==(const ModuleFlag&) const = default;
};

/// Loss of a copper cable at one frequency, as its maker says.
struct CopperAttenuation {
  double frequency_ghz = 0;
  double attenuation_db = 0;
  bool operator==(const CopperAttenuation&) const = default;
};

struct ModuleSample {
  bool present = true;
  std::string kind = "unknown";  ///< "optical", "aoc", "dac" (passive copper), "acc" (active copper) or "unknown"
  std::string type;              ///< "400G-DR4"
  std::string connector;         ///< "MPO-12", "LC", …
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
  std::string form_factor;     ///< "QSFP-DD", "SFP", … (SFF-8024 identifier)
  std::string management;      ///< the memory map and its revision: "CMIS 5.0", "SFF-8636 2.8", "SFF-8472 11.0"
  std::string media_type;      ///< "single-mode", "multimode", "copper", "active cable", "BASE-T"
  std::string host_interface;  ///< CMIS: the application's electrical interface, "400GAUI-8 C2M"
  std::string encoding;        ///< SFF-8472 and SFF-8636: "64B/66B", "PAM4", …
  std::string vendor_oui;      ///< "00:1b:c5"
  std::optional<std::uint32_t> host_lane_count, media_lane_count;  ///< of the application in use, all data paths
  std::optional<std::uint32_t> bank_count;                         ///< CMIS: banks of eight lanes
  std::optional<std::uint32_t> power_class;                        ///< 1 to 8
  std::optional<double> max_power_w;
  std::optional<double> signaling_rate_mbd;
  std::optional<double> reach_m;            ///< longest fibre that a separable module is made for
  std::optional<bool> rx_power_is_average;  ///< false: the module reports OMA
  AlarmFlags temperature_flags, supply_flags, laser_temperature_flags, tec_flags;
  std::vector<ModuleHostLane> host_lanes;  ///< CMIS, lane 1 first
  std::optional<double> laser_temperature_c;
  std::optional<double> tec_current_percent;  ///< of its maximum (CMIS)
  std::optional<double> tec_current_ma;       ///< SFF-8472
  std::optional<bool> low_power_requested;    ///< the host holds the module in low power
  std::optional<bool> module_firmware_error;  ///< CMIS: the module's own firmware has failed
  std::optional<bool> data_path_firmware_error;
  std::optional<bool> looped;          ///< CMIS: a loopback is switched on
  std::optional<bool> data_not_ready;  ///< the module says that its readings are not valid yet
  std::optional<bool> checksums_ok;    ///< of every page that has one and was read
  ModuleCoherent coherent;
  CoherentStatistics coherent_statistics;
  std::vector<CopperAttenuation> copper_attenuation;
  std::vector<ModuleFlag> flags;      ///< of a module that is read again and again; a single read has no past
  std::vector<std::string> warnings;  ///< what was implausible and therefore left out
  bool operator==(const ModuleSample&) const = default;
};

/// What is known of the far end of the cable: one sample a port, joined from all sources. Quite empty: nothing is known
/// any more, and what was said before stands no longer.
struct PeerSample {
  /// Who says the names, link and counters: "mad", "lldp", "telemetry" or "fleet" (imported), "plan" (only names).
  std::string source;
  std::optional<double> age_s;  ///< how old that reading was when the snapshot was taken; a plan has no age
  std::string system, port, guid;
  std::string description;  ///< what the far port says of itself (LLDP port description)
  std::string address;      ///< of the far system's management
  std::optional<LinkSample> link;
  std::optional<Counters> counters;
  std::optional<ModuleSample> module;
  std::string module_source;           ///< who read the far module, where that is not `source`
  std::optional<double> module_age_s;  ///< and how old its reading was; `age_s` where there is none
  bool operator==(const PeerSample&) const = default;
};

struct PcieSample {
  std::optional<double> speed_gtps, max_speed_gtps;
  std::optional<std::uint32_t> width, max_width;
  std::optional<std::uint64_t> aer_correctable, aer_nonfatal, aer_fatal;
  /// The link of the bridge above, as that end says. The maxima above are already the lesser of both ends.
  std::optional<double> bridge_speed_gtps, bridge_max_speed_gtps;
  std::optional<std::uint32_t> bridge_width, bridge_max_width;
  std::string slot;                                  ///< the label of the board's slot; "" where firmware names none
  std::optional<std::uint32_t> numa_node;            ///< nullopt: the platform has no such notion
  std::optional<double> nic_temperature_c;           ///< the hottest sensor of the NIC (hwmon), not of a module
  std::optional<double> nic_critical_temperature_c;  ///< that sensor's own limit
  bool operator==(const PcieSample&) const = default;
};

struct PortSample {
  PortId id;
  std::optional<LinkSample> link;
  std::optional<Counters> counters;
  std::vector<FecLane> fec_lanes;  ///< empty: not due or not offered
  std::optional<ModuleSample> module;
  std::optional<PeerSample> peer;
  std::optional<PcieSample> pcie;
  bool operator==(const PortSample&) const = default;
};

enum class PortEventKind : std::uint8_t {
  kCarrierDown,
  kCarrierUp,
  kAdminDown,
  kAdminUp,
  kPortError,
  kPortActive,
  kDeviceFatal,
  kDeviceGone,
  kDeviceAdded,
  kModuleRemoved,
  kModuleInserted,
  kKernelLog,
  kMonitorStart,
  kMonitorStop,
  kLidChange,  ///< the subnet manager gave the port another LID
  kSmChange,   ///< another subnet manager
};
/// "carrier_down" and so on, the recording's words.
std::string_view to_string(PortEventKind kind);
std::optional<PortEventKind> parse_port_event_kind(std::string_view text);

/// Something that happened between two snapshots, with its own time.
struct PortEvent {
  SteadyTime t;
  PortKey port;  ///< "" for the whole node
  PortEventKind kind = PortEventKind::kCarrierDown;
  std::string text;  ///< of a kernel log line
  bool operator==(const PortEvent&) const = default;
};

/// What could not be seen, and why. Never a fault and never health.
struct Gap {
  PortKey port;       ///< "" for the whole node
  std::string probe;  ///< the row of the probe table: "counters", "hw_counters", "link", "module", "peer", "pcie", …
  std::string reason;
  bool operator==(const Gap&) const = default;
};

/// How long a probe took in this cycle. Not recorded.
struct ProbeTiming {
  std::string probe;
  double duration_s = 0;
  /// Reads so far that cost a firmware command on mlx5, all ports; a lower bound where one read takes several.
  std::uint64_t firmware_reads = 0;
  bool operator==(const ProbeTiming&) const = default;
};

struct Snapshot {
  SteadyTime taken_at;
  WallTime wall_time;
  std::optional<double> uptime_s;       ///< of the kernel; drops at a reboot
  std::map<PortKey, PortSample> ports;  ///< every port that exists now, also when nothing of it was due
  std::vector<PortEvent> events;        ///< since the last snapshot, ordered by t
  std::vector<Gap> gaps;                ///< of the groups that were due now
  std::vector<ProbeTiming> timings;
  bool operator==(const Snapshot&) const = default;
};

/// What configuration or the cabling plan asks of a port; any part may be missing.
struct ExpectedPort {
  std::optional<std::uint32_t> speed_mbps;
  std::optional<std::uint32_t> lanes;
  std::string peer_system, peer_port;
  bool operator==(const ExpectedPort&) const = default;
};

/// The first line of a recording: what does not change from one snapshot to the next.
struct RecordingHeader {
  std::string node;
  std::string boot_id;
  WallTime at;
  std::string version;
  std::map<PortKey, ExpectedPort> expected;
  bool operator==(const RecordingHeader&) const = default;
};

}  // namespace linkhealth
