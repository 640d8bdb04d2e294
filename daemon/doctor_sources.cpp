// THE table of sources, by the names that their probes have in gaps.
#include <algorithm>
#include <array>

#include "daemon/doctor.h"
#include "model/counter_probes.h"
#include "model/counters.h"

namespace linkhealth {

namespace {

bool has_verbs(const PortReport& port) { return port.latest.id.verbs; }
bool has_netdev(const PortReport& port) { return !port.latest.id.netdev.empty(); }
bool has_pci(const PortReport& port) { return !port.latest.id.pci.empty(); }
bool is_infiniband(const PortReport& port) { return port.latest.id.link_layer == "InfiniBand"; }
bool is_ethernet(const PortReport& port) { return !is_infiniband(port); }
bool may_have_module(const PortReport& port) { return has_netdev(port) || is_infiniband(port); }

bool has_counter_of(const PortReport& port, CounterSource source) {
  if (!port.latest.counters) return false;
  const auto& known = port.latest.counters->known();
  return std::any_of(known.begin(), known.end(), [source](const auto& entry) {
    return known_counters()[entry.first].source == source;
  });
}
template <CounterSource source>
bool counted(const PortReport& port) {
  return has_counter_of(port, source);
}
/// A reading of the port's settings alone is a link sample too, and says nothing of the link.
bool has_link(const PortReport& port) {
  const auto& link = port.latest.link;
  return link && (link->carrier || !link->state.empty() || !link->phys_state.empty());
}
bool gave_counters(const PortReport& port, std::string_view probe) {
  return port.latest.counters && has_counter_of_probe(*port.latest.counters, probe);
}
bool peer_by(const PortReport& port, std::string_view source) {
  const auto& peer = port.latest.peer;
  return peer &&
         (peer->source == source || peer->link_source == source || peer->counters_source == source);
}

/// Whoever wrote the file, somebody else read it. ethtool has no path to the module of a port in
/// InfiniBand mode.
bool has_imported(const PortReport& port) {
  const auto& peer = port.latest.peer;
  const auto imported = [](std::string_view source) {
    return source == "telemetry" || source == "fleet";
  };
  return (peer && (imported(peer->source) || imported(peer->link_source) ||
                   imported(peer->counters_source) || imported(peer->module_source))) ||
         (is_infiniband(port) && port.latest.module.has_value());
}

constexpr std::string_view kMountSys =
    "mount the host's /sys into the container (docs/hardware.md)";
constexpr std::string_view kHostNet = "run in the host's network namespace (docker: --net=host)";
constexpr std::string_view kNetAdmin =
    "give the daemon CAP_NET_ADMIN (its systemd unit does; docker: --cap-add=NET_ADMIN)";
constexpr std::string_view kUmad = "load ib_umad, and let the daemon open /dev/infiniband/umad*";
constexpr std::string_view kUverbs =
    "load ib_uverbs, and let the daemon open /dev/infiniband/uverbs*";

constexpr std::string_view kKmsg = "give the daemon /dev/kmsg and CAP_SYSLOG";
/// They help who was refused, or looks into a part of the system only.
constexpr std::array kAccessHints = {kMountSys, kHostNet, kNetAdmin, kUmad, kUverbs, kKmsg};

/// What a reason says where somebody was refused, or it is not there where we look.
constexpr std::array<std::string_view, 10> kRefusals = {"EPERM",
                                                        "EACCES",
                                                        "ENOENT",
                                                        "ENODEV",
                                                        "Operation not permitted",
                                                        "Permission denied",
                                                        "No such file",
                                                        "namespace",
                                                        "copied /sys",
                                                        "does not list it"};
/// The file is there, and only rights are missing: of files below /sys no mount and no namespace
/// helps then.
constexpr std::array<std::string_view, 2> kNoAccess = {"EACCES", "Permission denied"};
constexpr std::array<std::string_view, 2> kNotPermitted = {"EPERM", "Operation not permitted"};
constexpr std::array<std::string_view, 2> kNotOffered = {"EOPNOTSUPP", "Operation not supported"};
constexpr std::string_view kMayNotRead =
    "the daemon may not read this file: run it as root, or see what forbids it (the mount of /sys, "
    "AppArmor, SELinux)";
constexpr std::array<std::string_view, 3> kNoDescriptors = {"EMFILE", "ENFILE",
                                                            "Too many open files"};
constexpr std::array<std::string_view, 3> kBusy = {"EBUSY", "EAGAIN", "Device or resource busy"};
/// No firewall says so: an SMP that is refused is only not answered (docs/adr/0004-mads.md).
/// Counters are no SMP's.
constexpr std::string_view kManagerOnly =
    "the fabric may let only its subnet manager ask: name the far end by the cabling plan or an "
    "import "
    "(docs/import.md), and set peers.mad to 0";
constexpr std::string_view kNoneThere =
    "see docs/hardware.md: a port in switch mode or a virtual function has none";

constexpr SourceRow kSources[] = {
    // of the node
    {"inventory", "which ports there are", true, {}, nullptr, nullptr, kMountSys, true},
    {"link_events",
     "the kernel's word when a link changes",
     true,
     {},
     nullptr,
     nullptr,
     kHostNet,
     false,
     SourceKind::kHeard},
    {"device_events", "devices that come and go", true, Sight::kEvents, nullptr, nullptr, kHostNet,
     false, SourceKind::kHeard},
    {"kernel_log", "what drivers say in the kernel log", true, Sight::kEvents, nullptr, nullptr,
     kKmsg, false, SourceKind::kHeard},
    {"import",
     "readings that others have, as files",
     true,
     {},
     nullptr,
     &has_imported,
     "see what is said of the file, its time and the directory's rights (docs/import.md)",
     false,
     SourceKind::kFarEnd},
    // of each port
    {"link", "carrier, its counts, the port's state", false, Sight::kLink, nullptr, &has_link,
     kMountSys, true},
    {"counters", "verbs port counters", false, Sight::kCounters, &has_verbs,
     &counted<CounterSource::kIbPort>, kNoneThere, true},
    {"hw_counters", "the driver's RDMA counters", false, Sight::kCounters, &has_verbs,
     [](const PortReport& port) { return gave_counters(port, "hw_counters"); }, kMountSys, true},
    {"verbs_events", "port and device events of verbs", false, Sight::kEvents, &has_verbs, nullptr,
     kUverbs, false, SourceKind::kHeard},
    {"netdev_stats", "the network interface's counters", false, Sight::kCounters, &has_netdev,
     &counted<CounterSource::kNetdev>, kHostNet, true},
    {"link_modes",
     "speed and lanes",
     false,
     {},
     &has_netdev,
     [](const PortReport& port) { return port.latest.link && port.latest.link->speed_mbps; },
     kHostNet,
     true},
    {"down_reason", "why a link is down", false, Sight::kDownReason, &has_netdev,
     [](const PortReport& port) { return port.latest.link && port.latest.link->down_reason; },
     "a newer driver: few give a reason (docs/hardware.md)"},
    {"fec", "FEC mode and corrected errors", false, Sight::kFec, &has_netdev,
     [](const PortReport& port) {
       return has_counter_of(port, CounterSource::kEthtoolFec) || !port.latest.fec_lanes.empty();
     },
     kHostNet},
    {"ethtool_stats", "standard MAC, PHY and RMON counters", false, Sight::kCounters, &has_netdev,
     [](const PortReport& port) { return gave_counters(port, "ethtool_stats"); }, kHostNet},
    {"pause",
     "pause frames",
     false,
     {},
     &has_netdev,
     [](const PortReport& port) { return gave_counters(port, "pause"); },
     kHostNet},
    {"driver_stats", "the driver's own counters", false, Sight::kFec, &has_netdev,
     &counted<CounterSource::kEthtoolDriver>, kHostNet},
    {"module", "the module: identity, light, limits", false, Sight::kModule, &may_have_module,
     [](const PortReport& port) { return port.latest.module.has_value(); }, kNetAdmin},
    {"pcie", "PCIe speed, width and errors", false, Sight::kPcie, &has_pci,
     [](const PortReport& port) { return port.latest.pcie.has_value(); }, kMountSys, true},
    {"hwmon",
     "the card's temperature",
     false,
     {},
     &has_pci,
     [](const PortReport& port) { return port.latest.pcie && port.latest.pcie->nic_temperature_c; },
     kMountSys,
     true},
    {"devlink", "the driver's health reporters", false, Sight::kEvents, &has_pci,
     [](const PortReport& port) { return gave_counters(port, "devlink"); }, kHostNet},
    {"peer_mad", "the far end, by InfiniBand management packets", false, Sight::kFarCounters,
     &is_infiniband, [](const PortReport& port) { return peer_by(port, "mad"); }, kUmad, false,
     SourceKind::kFarEnd},
    {"peer_lldp",
     "the far end's name, by LLDP",
     false,
     {},
     &is_ethernet,
     [](const PortReport& port) { return peer_by(port, "lldp"); },
     "run lldpd and let the daemon ask it; some firmware keeps LLDP for itself (docs/hardware.md)",
     false,
     SourceKind::kFarEnd},
};
static_assert(std::size(kSources) < 64);

constexpr SourceRow kTroubles[] = {
    {"pci_bus",
     "network cards that no driver has",
     true,
     {},
     nullptr,
     nullptr,
     "load the driver, or bind it to the card (lspci -k shows both); see the kernel log for why it "
     "let go",
     true},
    {"rdma_device",
     "the RDMA device beside the interface",
     false,
     {},
     nullptr,
     nullptr,
     "load the driver's RDMA part (mlx5_ib, bnxt_re, irdma); see the kernel log for why it went"},
    {"ethtool",
     "the link's settings and counters, asked of the kernel",
     false,
     {},
     nullptr,
     nullptr,
     kHostNet},
};

/// A read that never comes back ends with what it waits for.
struct HangRow {
  std::string_view probe;
  std::string_view hint;
};
constexpr HangRow kHangs[] = {
    {"import",
     "the directory hangs: bring the server of its mount back, or unmount it (umount -f -l)"},
    {"peer_lldp", "lldpd hangs: restart it (systemctl restart lldpd)"},
};

std::string_view hang_hint(std::string_view probe) {
  const auto* const row = std::ranges::find(kHangs, probe, &HangRow::probe);
  return row != std::end(kHangs)
             ? row->hint
             : "the device hangs: see the kernel log; a reset of the device or a reboot ends it";
}

}  // namespace

std::span<const SourceRow> source_table() { return kSources; }

std::span<const SourceRow> trouble_table() { return kTroubles; }

std::string hint_for(const SourceRow& row, std::string_view reason, bool seen) {
  const auto says = [reason](std::string_view word) {
    return reason.find(word) != std::string_view::npos;
  };
  if (is_hung(reason)) return std::string(hang_hint(row.probe));
  if (std::ranges::any_of(kNoDescriptors, says))
    return "the daemon, or the system, has no file descriptors left: raise LimitNOFILE of its unit "
           "(docker: --ulimit "
           "nofile=)";
  if (reason.starts_with(kImportEnded))
    return "renew the import: see whoever writes it (docs/import.md)";
  if (reason.starts_with(kModuleLeft)) return "it is read again when the maintenance ends";
  const auto any = [&says](const auto& words) { return std::ranges::any_of(words, says); };
  const bool of_mount = row.hint == kMountSys || row.hint == kNoneThere;
  if (row.in_sys && (any(kNoAccess) || (of_mount && any(kNotPermitted))))
    return std::string(kMayNotRead);
  const bool refused = any(kRefusals);
  if (row.hint == kNoneThere && refused) return std::string(kMountSys);
  if (row.hint == kNoneThere && seen)
    return "the driver answers so for this file; the others are read";
  if (refused || std::ranges::find(kAccessHints, row.hint) == kAccessHints.end())
    return std::string(row.hint);
  // What is heard, or asked of a far end, is no driver's to offer: the module or device file that
  // it goes through is.
  if (row.kind != SourceKind::kRead && (any(kNotOffered) || says("load ib_u")))
    return std::string(row.hint);
  if (std::ranges::any_of(kBusy, says)) return "somebody else is at it: it is read again by itself";
  if (row.probe == "module" && reason.starts_with("EIO"))  // linux: mlx5_query_mcia() before 6.19
    return "the module or its bus answers so, or the cage is empty (mlx5 before Linux 6.19 answers "
           "no better): see the "
           "kernel log, and reseat the module if there is one";
  if (row.probe == "module")
    return "the module or its bus answers so: see the kernel log, and reseat the module";
  if (row.kind == SourceKind::kRead)
    return "the driver or the device answers so: see the kernel log";
  if (row.probe == "peer_mad" && says("no answer") && !reason.starts_with("counters"))
    return std::string(kManagerOnly);
  return "";  // what was lost of a feed, what a far end refused
}

}  // namespace linkhealth
