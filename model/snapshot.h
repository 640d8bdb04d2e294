// All that the daemon read at one time: probes produce it, the engine folds it and recordings hold
// it. The fields are those of the recording format (docs/recording.md), with the unit in every
// name. Absent is not zero: a value that the hardware does not offer is nullopt, and so is a group
// that was not due or could not be read; in the latter case the state of its source has the reason.
// An empty string means "unknown".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/counters.h"
#include "model/module_sample.h"
#include "model/source_table.h"

namespace linkhealth {

/// "mlx5_0/1", or the netdev's name for an Ethernet port without a verbs device. A label that may
/// change; PortId::stable_key() survives a reboot.
using PortKey = std::string;

/// The identity of a port. Never changes while the device is registered.
struct PortId {
  std::string device;      ///< verbs device ("mlx5_0"); the netdev's name when there is none
  std::uint32_t port = 1;  ///< port number of the verbs device, from 1
  std::string netdev;      ///< "" when the port has none (InfiniBand without IPoIB)
  std::string pci;         ///< "0000:1b:00.0"; "" for a virtual device
  std::string driver;      ///< kernel driver of the PCI function or platform device
  std::string guid;        ///< node GUID, "b83f:d203:0012:3456"
  std::string link_layer;  ///< "InfiniBand" or "Ethernet"
  std::string function;    ///< "pf", "vf", "sf" or "virtual"
  bool verbs = true;       ///< false: a plain Ethernet port. Follows from a key without '/'
  std::string exempt;      ///< why it is not monitored ("virtual function of 0000:1b:00.0")
  // Of the NIC, from the verbs device; "" if its driver reports none.
  std::string firmware{};        ///< fw_ver
  std::string board_id{};        ///< the PSID ("MT_0000000838")
  std::string hca_type{};        ///< "MT4129"
  std::string sys_image_guid{};  ///< mlx5: one for all functions of a card

  [[nodiscard]] PortKey key() const;
  /// Survives renames and reboots: PCI address and port; the key if there is no PCI address.
  [[nodiscard]] std::string stable_key() const;
  bool operator==(const PortId&) const = default;
};

/// A virtual function, or a cloud's own NIC, that is judged here: its card and cable belong to the
/// provider's machine. Virtual functions whose physical function is in this node are exempt.
bool is_of_provider(const PortId& id);
/// Its names in configuration: "mlx5_0/1", "0000:1b:00.0/1", "ens1np0"; for port 1 also the
/// device's, "mlx5_0" and "0000:1b:00.0". No duplicates.
std::vector<std::string> port_names(const PortId& id);
bool is_named(const PortId& id, const std::string& name);

/// Why the link is down according to the kernel (ETHTOOL_A_LINKSTATE_EXT_STATE), in ethtool's
/// words.
struct DownReason {
  std::string state;     ///< "No cable", "Bad signal integrity", …
  std::string substate;  ///< "Serdes ALOS", …; "" if the kernel gives none
  bool operator==(const DownReason&) const = default;
};

struct LinkSample {
  std::optional<bool> admin_up;  ///< IFF_UP
  /// IFF_LOWER_UP; for InfiniBand, and without a network interface: has_link(phys_state).
  std::optional<bool> carrier;
  std::string state;       ///< verbs port state: "ACTIVE", "DOWN", "INIT", "ARMED"
  std::string phys_state;  ///< "LinkUp", "Polling", "Disabled", …
  std::optional<std::uint32_t> speed_mbps;
  std::optional<std::uint32_t> lanes;
  std::optional<std::uint32_t> mtu_bytes;
  std::string fec;  ///< active mode: "RS528", "RS544", "LLRS", "BaseR", "RS", "Off"; "" unknown
  std::optional<bool> autoneg;
  /// The kernel's counts of carrier gains and losses (IFLA_CARRIER_UP_COUNT, …_DOWN_COUNT).
  std::optional<std::uint64_t> carrier_up_count, carrier_down_count;
  std::optional<std::uint32_t> sqi,
      sqi_max;                            ///< signal quality index, if the PHY has one (BASE-T)
  std::optional<DownReason> down_reason;  ///< only while down, and if the driver gives one
  bool operator==(const LinkSample&) const = default;
};
/// Whether this physical state means a link. A link in error recovery is not yet down; it goes
/// down, and is counted (LinkDownedCounter), only if the recovery fails (IBTA vol. 1, 16.1.3.5).
bool has_link(std::string_view phys_state);
/// An InfiniBand link that has trained but that no subnet manager has made ACTIVE: in Initialize
/// and Armed only subnet management packets pass (IBTA vol. 1, 14.2.5.6 PortState).
bool is_unmanaged(const LinkSample& link);
/// Administratively down: by `ip link set down`, or by `ibportstate disable` for an InfiniBand
/// port, which has no such flag (IBTA vol. 1, 14.2.5.6 PortPhysicalState).
bool is_set_down(const LinkSample& link, std::string_view link_layer);
/// mlx5 counts a gain and a loss for an event that changed nothing, such as bringing up a port
/// without a cable (linux, since 5.14: mlx5e_update_carrier() calls netif_carrier_event()). If the
/// link is down before and after, equal increases mean nothing.
bool is_no_change(std::string_view driver, std::uint64_t gains, std::uint64_t losses);

/// FEC counters of one lane, lane 1 first.
struct FecLane {
  std::optional<std::uint64_t> corrected_bits;
  std::optional<std::uint64_t> corrected_blocks;
  std::optional<std::uint64_t> uncorrectable_blocks;
  bool operator==(const FecLane&) const = default;
};

/// The far end of the cable: one sample per port, merged from all sources. An empty sample revokes
/// the earlier ones.
struct PeerSample {
  /// The source of the names: "mad", "lldp", "telemetry" or "fleet" (imported), "plan" (names
  /// only).
  std::string source;
  std::optional<double> age_s;  ///< age of that reading in this snapshot; a plan has none
  std::string system, port, guid;
  std::string description;  ///< LLDP port description
  std::string address;      ///< management address of the far system
  std::optional<LinkSample> link;
  std::optional<Counters> counters;
  std::optional<ModuleSample> module;
  /// The sources of link, counters and module if they differ from `source`, and the ages of their
  /// readings; without one, `age_s` applies.
  std::string link_source, counters_source, module_source;
  std::optional<double> link_age_s, counters_age_s, module_age_s;
  bool operator==(const PeerSample&) const = default;
};

/// One PCIe link: what it runs at, and what both of its ends support.
struct PcieLink {
  std::string bridge;  ///< "0000:59:01.0": the bridge at its lower end; "": the card
  std::optional<double> speed_gtps, max_speed_gtps;
  std::optional<std::uint32_t> width, max_width;
  [[nodiscard]] bool is_narrow() const { return width && max_width && *width < *max_width; }
  [[nodiscard]] bool is_slow() const {
    return speed_gtps && max_speed_gtps && *speed_gtps < *max_speed_gtps - 0.1;
  }
  [[nodiscard]] bool is_low() const { return is_narrow() || is_slow(); }
  bool operator==(const PcieLink&) const = default;
};

struct PcieSample {
  std::optional<double> speed_gtps, max_speed_gtps;
  std::optional<std::uint32_t> width, max_width;
  std::optional<std::uint64_t> aer_correctable, aer_nonfatal, aer_fatal;
  /// The link as reported by the bridge above. The maxima above are already the lesser of both
  /// ends.
  std::optional<double> bridge_speed_gtps, bridge_max_speed_gtps;
  std::optional<std::uint32_t> bridge_width, bridge_max_width;
  /// Among the links between the card's own and the root port: the narrowest that runs below what
  /// both of its ends support and carries less than the card's own link; nullopt: none.
  std::optional<PcieLink> above;
  /// The link that is below its best: the card's own, otherwise the one above; the card's if
  /// neither is.
  [[nodiscard]] PcieLink lowest() const {
    const PcieLink own{"", speed_gtps, max_speed_gtps, width, max_width};
    return own.is_low() || !above ? own : *above;
  }
  std::string slot;  ///< the label of the board's slot; "" if firmware names none
  std::optional<std::uint32_t> numa_node;            ///< nullopt: the platform has none
  std::optional<double> nic_temperature_c;           ///< the hottest sensor of the NIC (hwmon)
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
  /// The sources that are not ok or have something missing; nullopt: unchanged.
  std::optional<SourceMap> sources;
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
  kSmChange,   ///< a different subnet manager
};
/// The names used in recordings.
constexpr auto enum_names(PortEventKind) {
  return std::to_array<std::string_view>(
      {"carrier_down", "carrier_up", "admin_down", "admin_up", "port_error", "port_active",
       "device_fatal", "device_gone", "device_added", "module_removed", "module_inserted",
       "kernel_log", "monitor_start", "monitor_stop", "lid_change", "sm_change"});
}

/// An event between two snapshots, with its own time.
struct PortEvent {
  SteadyTime t;
  PortKey port;  ///< "" for the whole node
  PortEventKind kind = PortEventKind::kCarrierDown;
  std::string text;  ///< of a kernel log line
  bool operator==(const PortEvent&) const = default;
};

/// In the reason of source pci_bus: a card that has its driver but no port.
inline constexpr std::string_view kMadeNoPort = "which created no port";

/// A read that failed, and why: it indicates neither fault nor health. The states of sources are
/// derived from gaps (model/source_table.h).
struct Gap {
  PortKey port;       ///< "" for the whole node
  std::string probe;  ///< the source, by its name in the source table
  std::string reason;
  bool hung = false;  ///< the read hangs
  bool operator==(const Gap&) const = default;
};

/// The sources that have a reason.
std::vector<Gap> gaps_of(const PortKey& port, const SourceMap& sources);

/// Follows a counter's name in the reason of a gap: it stays saturated until it is cleared.
inline constexpr std::string_view kCountsNoFurther = " is saturated";

/// How long a probe took in this cycle. Not recorded.
struct ProbeTiming {
  std::string probe;
  double duration_s = 0;
  bool operator==(const ProbeTiming&) const = default;
};

struct Snapshot {
  SteadyTime taken_at;
  WallTime wall_time;
  std::optional<double> uptime_s;       ///< of the kernel; decreases at a reboot
  std::map<PortKey, PortSample> ports;  ///< every port that exists now, even if nothing was due
  std::vector<PortEvent> events;        ///< since the last snapshot, ordered by t
  /// Of the whole node, like PortSample::sources.
  std::optional<SourceMap> sources;
  std::vector<ProbeTiming> timings;
  bool operator==(const Snapshot&) const = default;
};

/// What configuration or the cabling plan expects of a port; any part may be missing.
struct ExpectedPort {
  std::optional<std::uint32_t> speed_mbps;
  std::optional<std::uint32_t> lanes;
  std::string peer_system, peer_port;
  std::string peer_rack{}, peer_u{};  ///< where the far system stands
  std::string rail{};                 ///< of the network that the port belongs to
  std::string cable{};                ///< label, or length and kind, from the patch record
  bool operator==(const ExpectedPort&) const = default;
};

/// Labels of the place, in the site's own terms: row, rack, u, pod, …
using SiteLabels = std::map<std::string, std::string>;

/// The first line of a recording: what does not change between snapshots.
struct RecordingHeader {
  std::string node;
  std::string boot_id;
  WallTime at;
  std::string version;
  std::map<PortKey, ExpectedPort> expected;
  bool operator==(const RecordingHeader&) const = default;
};

}  // namespace linkhealth
