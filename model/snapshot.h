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
  std::optional<DownReason> down_reason;            ///< only while down, and where the driver gives one
};

/// FEC counters of one lane, lane 1 first.
struct FecLane {
  std::optional<std::uint64_t> corrected_bits;
  std::optional<std::uint64_t> corrected_blocks;
  std::optional<std::uint64_t> uncorrectable_blocks;
};

struct ModuleLane {
  std::optional<double> rx_power_mw;  ///< 0 is "no light", a real value
  std::optional<double> tx_power_mw;
  std::optional<double> tx_bias_ma;
  std::optional<bool> rx_los;    ///< loss of signal at the receiver, as the module says (often latched)
  std::optional<bool> tx_los;    ///< loss of the electrical signal from the host
  std::optional<bool> rx_lol;    ///< loss of lock of the receive CDR
  std::optional<bool> tx_lol;    ///< loss of lock of the transmit CDR
  std::optional<bool> tx_fault;  ///< laser fault
};

/// A quad of limits. Left out (all nullopt) when the module gives none, or nonsense.
struct Limits {
  std::optional<double> low_alarm;
  std::optional<double> low_warn;
  std::optional<double> high_warn;
  std::optional<double> high_alarm;
  [[nodiscard]] bool empty() const { return !low_alarm && !low_warn && !high_warn && !high_alarm; }
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
};

/// Statistics of a bit error ratio, as CMIS VDM gives them. Live values: the interval began at an unknown time.
struct BerStatistics {
  std::optional<double> min, max, avg, current;
  [[nodiscard]] bool empty() const { return !min && !max && !avg && !current; }
};

/// CMIS versatile diagnostics monitoring (pages 20h-2Fh).
struct ModuleVdm {
  std::vector<double> media_esnr_db;  ///< per lane; empty when not offered
  std::vector<double> host_esnr_db;
  BerStatistics media_pre_fec_ber;
  BerStatistics host_pre_fec_ber;
  [[nodiscard]] bool empty() const {
    return media_esnr_db.empty() && host_esnr_db.empty() && media_pre_fec_ber.empty() && host_pre_fec_ber.empty();
  }
};

struct ModuleSample {
  bool present = true;
  std::string kind = "unknown";  ///< "optical", "aoc", "dac" (passive copper), "acc" (active copper) or "unknown"
  std::string type;              ///< "400G-DR4"
  std::string connector;         ///< "MPO-12", "LC", …
  std::string vendor, part_number, serial, revision, firmware;
  std::string date;  ///< of manufacture, "2025-03-02"
  std::optional<double> length_m;
  std::optional<double> wavelength_nm;
  std::string state;        ///< CMIS: "ModuleReady", "ModuleLowPwr", …
  std::string fault_cause;  ///< CMIS 5+: why the module is in ModuleFault
  std::optional<double> temperature_c;
  std::optional<double> supply_v;
  std::vector<ModuleLane> lanes;  ///< media lanes, lane 1 first
  ModuleThresholds thresholds;
  ModuleVdm vdm;
  std::vector<std::string> warnings;  ///< what was implausible and therefore left out
};

/// What is known of the far end of the cable, from whichever source.
struct PeerSample {
  std::string source;           ///< "mad", "lldp", "plan", "fleet" or "telemetry"
  std::optional<double> age_s;  ///< how old the reading was when the snapshot was taken
  std::string system, port, guid;
  std::optional<LinkSample> link;
  std::optional<Counters> counters;
  std::optional<ModuleSample> module;
};

struct PcieSample {
  std::optional<double> speed_gtps, max_speed_gtps;
  std::optional<std::uint32_t> width, max_width;
  std::optional<std::uint64_t> aer_correctable, aer_nonfatal, aer_fatal;
};

struct PortSample {
  PortId id;
  std::optional<LinkSample> link;
  std::optional<Counters> counters;
  std::vector<FecLane> fec_lanes;  ///< empty: not due or not offered
  std::optional<ModuleSample> module;
  std::optional<PeerSample> peer;
  std::optional<PcieSample> pcie;
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
};

struct Snapshot {
  SteadyTime taken_at;
  WallTime wall_time;
  std::optional<double> uptime_s;       ///< of the kernel; drops at a reboot
  std::map<PortKey, PortSample> ports;  ///< every port that exists now, also when nothing of it was due
  std::vector<PortEvent> events;        ///< since the last snapshot, ordered by t
  std::vector<Gap> gaps;                ///< of the groups that were due now
  std::vector<ProbeTiming> timings;
};

/// What configuration or the cabling plan asks of a port; any part may be missing.
struct ExpectedPort {
  std::optional<std::uint32_t> speed_mbps;
  std::optional<std::uint32_t> lanes;
  std::string peer_system, peer_port;
};

/// The first line of a recording: what does not change from one snapshot to the next.
struct RecordingHeader {
  std::string node;
  std::string boot_id;
  WallTime at;
  std::string version;
  std::map<PortKey, ExpectedPort> expected;
};

}  // namespace linkhealth
