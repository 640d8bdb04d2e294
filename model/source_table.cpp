#include "model/source_table.h"

#include <algorithm>
#include <utility>

namespace linkhealth {

namespace {

using enum SourceId;

constexpr SourceKind kRead = SourceKind::kRead, kEvents = SourceKind::kEvents,
                     kFarEnd = SourceKind::kFarEnd;
constexpr bool kOfNode = true, kOfPort = false;
constexpr bool kInSys = true, kNotInSys = false;
constexpr SourceReader kByOther = SourceReader::kOther, kByPort = SourceReader::kPort,
                       kByEthtool = SourceReader::kPortEthtool;
constexpr bool kIfRefused = true;

constexpr std::string_view kMountSys =
    "mount the host's /sys into the container (docs/hardware.md)";
constexpr std::string_view kHostNet = "run in the host's network namespace (docker: --net=host)";
constexpr std::string_view kNetAdmin =
    "give the daemon CAP_NET_ADMIN (its systemd unit does, by AmbientCapabilities=; docker: "
    "--cap-add=NET_ADMIN)";
constexpr std::string_view kUmad =
    "load ib_umad and give the daemon access to /dev/infiniband/umad* (the package does, by "
    "60-linkhealth.rules of udev; the unit by BindPaths= and DeviceAllow=; restart it after "
    "ib_umad "
    "is loaded)";
constexpr std::string_view kUverbs =
    "load ib_uverbs and give the daemon access to /dev/infiniband/uverbs* (its systemd unit does, "
    "by BindPaths= and DeviceAllow=; restart it after ib_uverbs is loaded)";
constexpr std::string_view kKmsg =
    "give the daemon /dev/kmsg and CAP_SYSLOG (its systemd unit does, by StandardInput=)";
constexpr std::string_view kPciDriver =
    "load the driver or bind it to the card (lspci -k shows both); the kernel log shows why it "
    "detached";
constexpr std::string_view kRdmaDriver =
    "load the driver's RDMA part (mlx5_ib, bnxt_re, irdma); the kernel log shows why it "
    "disappeared";
constexpr std::string_view kNoPortCounters =
    "see docs/hardware.md: a port in switch mode or a virtual function has none";
constexpr std::string_view kNewerDriver =
    "use a newer driver: few report a reason (docs/hardware.md)";
constexpr std::string_view kImportFile =
    "check the file, its time and the directory's permissions (docs/import.md)";
constexpr std::string_view kLldpd =
    "run lldpd and give the daemon access to it; some firmware consumes LLDP (docs/hardware.md)";

constexpr SourceInfo kSources[] = {
    {kInventory, "inventory", "list of ports", kOfNode, kRead, kInSys, kByOther, kMountSys,
     kIfRefused},
    {kPciBus, "pci_bus", "network cards without a driver or a port", kOfNode, kRead, kInSys,
     kByOther, kPciDriver},
    {kLinkEvents, "link_events", "link-change notifications", kOfNode, kEvents, kNotInSys, kByOther,
     kHostNet, kIfRefused},
    {kDeviceEvents, "device_events", "device hot-plug events", kOfNode, kEvents, kNotInSys,
     kByOther, kHostNet, kIfRefused},
    {kKernelLog, "kernel_log", "driver messages in the kernel log", kOfNode, kEvents, kNotInSys,
     kByOther, kKmsg, kIfRefused},
    {kImport, "import", "imported readings of other programs", kOfNode, kFarEnd, kNotInSys,
     kByOther, kImportFile},
    {kLink, "link", "carrier, its counts, the port's state", kOfPort, kRead, kInSys, kByOther,
     kMountSys, kIfRefused},
    {kRdmaDevice, "rdma_device", "the RDMA device of the interface", kOfPort, kRead, kNotInSys,
     kByOther, kRdmaDriver},
    {kCounters, "counters", "verbs port counters", kOfPort, kRead, kInSys, kByPort, kNoPortCounters,
     false, CounterSource::kIbPort},
    {kHwCounters, "hw_counters", "the driver's RDMA counters", kOfPort, kRead, kInSys, kByPort,
     kMountSys, kIfRefused, CounterSource::kIbHw},
    {kVerbsEvents, "verbs_events", "port and device events of verbs", kOfPort, kEvents, kNotInSys,
     kByOther, kUverbs, kIfRefused},
    {kNetdevStats, "netdev_stats", "the network interface's counters", kOfPort, kRead, kInSys,
     kByOther, kHostNet, kIfRefused, CounterSource::kNetdev},
    {kEthtool, "ethtool", "ethtool netlink of the kernel", kOfPort, kRead, kNotInSys, kByPort,
     kHostNet, kIfRefused},
    {kLinkModes, "link_modes", "speed and lanes", kOfPort, kRead, kInSys, kByEthtool, kHostNet,
     kIfRefused},
    {kDownReason, "down_reason", "why a link is down", kOfPort, kRead, kNotInSys, kByEthtool,
     kNewerDriver},
    {kFec, "fec", "FEC mode and corrected errors", kOfPort, kRead, kNotInSys, kByEthtool, kHostNet,
     kIfRefused, CounterSource::kEthtoolFec},
    {kEthtoolStats, "ethtool_stats", "standard MAC, PHY and RMON counters", kOfPort, kRead,
     kNotInSys, kByEthtool, kHostNet, kIfRefused, CounterSource::kEthtoolStd},
    {kPause, "pause", "pause frames", kOfPort, kRead, kNotInSys, kByEthtool, kHostNet, kIfRefused},
    {kDriverStats, "driver_stats", "the driver's own counters", kOfPort, kRead, kNotInSys, kByPort,
     kHostNet, kIfRefused, CounterSource::kEthtoolDriver},
    {kModule, "module", "module: identity, light, limits", kOfPort, kRead, kNotInSys, kByOther,
     kNetAdmin, kIfRefused},
    {kPcie, "pcie", "PCIe speed, width and errors", kOfPort, kRead, kInSys, kByPort, kMountSys,
     kIfRefused},
    {kHwmon, "hwmon", "the card's temperature", kOfPort, kRead, kInSys, kByPort, kMountSys,
     kIfRefused},
    {kDevlink, "devlink", "the driver's health reporters", kOfPort, kRead, kNotInSys, kByOther,
     kHostNet, kIfRefused},
    {kPeerMad, "peer_mad", "the far end, by InfiniBand management packets", kOfPort, kFarEnd,
     kNotInSys, kByOther, kUmad, kIfRefused},
    {kPeerLldp, "peer_lldp", "the far end's name, by LLDP", kOfPort, kFarEnd, kNotInSys, kByOther,
     kLldpd},
};
static_assert(std::size(kSources) == kSourceCount);

constexpr bool in_order() {
  for (std::size_t i = 0; i < kSourceCount; ++i)
    if (kSources[i].id != static_cast<SourceId>(i)) return false;
  return true;
}
static_assert(in_order());

/// Prefixes of the names of a source's counters.
constexpr std::pair<std::string_view, SourceId> kPrefixes[] = {{"netdev_", kNetdevStats},
                                                               {"link_ext_down_count", kDownReason},
                                                               {"fec_", kFec},
                                                               {"ctrl_", kEthtoolStats},
                                                               {"mac_", kEthtoolStats},
                                                               {"phy_", kEthtoolStats},
                                                               {"rmon_", kEthtoolStats},
                                                               {"pause_", kPause},
                                                               {"devlink_", kDevlink}};

bool is_not_offered(std::string_view reason) {
  return reason.starts_with("EOPNOTSUPP") ||
         reason.find("Operation not supported") != std::string_view::npos;
}

/// Whether both are the same failure. EBUSY (another reader holds the bus) does not mean
/// unreadable, so its duration must not count towards another failure's.
bool is_same(const SourceStatus& status, const SourceReport& report) {
  constexpr std::string_view kBusy = "EBUSY";
  return status.state == report.state &&
         status.reason.starts_with(kBusy) == report.reason.starts_with(kBusy);
}

/// Adds the sources that are stopped by others, without a reason of their own.
void add_stopped(SourceReports& reports) {
  const auto stop = [&reports](SourceState state, auto is_stopped) {
    for (const SourceInfo& row : kSources)
      if (is_stopped(row)) reports.try_emplace(row.id, SourceReport{state, ""});
  };
  const bool hangs = std::ranges::any_of(reports, [](const auto& entry) {
    return entry.second.state == SourceState::kHung && source_info(entry.first).reader != kByOther;
  });
  if (hangs) stop(SourceState::kHung, [](const SourceInfo& row) { return row.reader != kByOther; });
  if (const auto ethtool = reports.find(kEthtool); ethtool != reports.end())
    stop(ethtool->second.state, [](const SourceInfo& row) { return row.reader == kByEthtool; });
}

}  // namespace

std::span<const SourceInfo> source_table() { return kSources; }

const SourceInfo& source_info(SourceId id) { return kSources[static_cast<std::size_t>(id)]; }

std::string_view to_string(SourceId id) { return source_info(id).name; }

std::optional<SourceId> find_source(std::string_view name) {
  const auto* const row = std::ranges::find(kSources, name, &SourceInfo::name);
  return row == std::end(kSources) ? std::nullopt : std::optional(row->id);
}

SourceId source_of_other(std::string_view counter_name) {
  const auto* const found = std::ranges::find_if(
      kPrefixes, [&](const auto& row) { return counter_name.starts_with(row.first); });
  return found == std::end(kPrefixes) ? kHwCounters : found->second;
}

/// Several sources read standard statistics: the name of a counter shows which one.
SourceId source_of(CounterId id) {
  const CounterInfo& counter = known_counters()[id];
  if (counter.source == CounterSource::kEthtoolStd) return source_of_other(counter.name);
  return std::ranges::find(kSources, counter.source, &SourceInfo::counters)->id;
}

bool has_counter_of(const Counters& counters, SourceId source) {
  return std::ranges::any_of(counters.known(),
                             [&](const auto& entry) { return source_of(entry.first) == source; }) ||
         std::ranges::any_of(counters.other(), [&](const auto& entry) {
           return source_of_other(entry.first) == source;
         });
}

SourceReport problem_of(SourceId source, std::string reason, bool some_read) {
  const bool not_offered = source_info(source).kind == kRead && is_not_offered(reason);
  const SourceState state = some_read     ? SourceState::kOk
                            : not_offered ? SourceState::kNotOffered
                                          : SourceState::kFailing;
  return {state, std::move(reason)};
}

void add_report(SourceReports& reports, SourceId source, SourceReport report) {
  const auto [at, is_new] = reports.try_emplace(source, report);
  if (is_new) return;
  SourceReport& both = at->second;
  if (both.state == SourceState::kOk) both.state = report.state;
  if (!both.reason.empty() && !report.reason.empty()) both.reason += "; ";
  both.reason += report.reason;
}

bool SourceTracker::update(SourceReports reports, SteadyTime now) {
  add_stopped(reports);
  bool changed = !updated_at_.has_value();
  SourceMap next;
  for (const auto& [id, report] : reports) {
    const auto before = sources_.find(id);
    SourceStatus& status = next[id];
    status.state = report.state;
    status.reason = report.reason;
    const bool same = before != sources_.end() && is_same(before->second, report);
    status.since = same ? before->second.since : now;
    if (report.state == SourceState::kOk) continue;
    const bool was_ok = before == sources_.end() || before->second.state == SourceState::kOk;
    status.last_ok = was_ok ? updated_at_ : before->second.last_ok;
  }
  changed = changed || next != sources_;
  sources_ = std::move(next);
  updated_at_ = now;
  return changed;
}

}  // namespace linkhealth
