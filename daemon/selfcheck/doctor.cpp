#include "daemon/selfcheck/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "diagnosis/questions.h"
#include "model/counters.h"
#include "model/history/saturated_counters.h"
#include "model/indicators.h"

namespace linkhealth {

namespace {

using Test = bool (*)(const PortReport&);

bool any_port(const PortReport& /*port*/) { return true; }
bool has_verbs(const PortReport& port) { return port.latest.id.verbs; }
bool has_netdev(const PortReport& port) { return !port.latest.id.netdev.empty(); }
bool has_pci(const PortReport& port) { return !port.latest.id.pci.empty(); }
bool is_infiniband(const PortReport& port) { return port.latest.id.link_layer == "InfiniBand"; }
bool is_ethernet(const PortReport& port) { return !is_infiniband(port); }
bool has_module_path(const PortReport& port) { return has_netdev(port) || is_infiniband(port); }

/// Settings alone do not show the link's state.
bool has_link(const PortReport& port) {
  const auto& link = port.latest.link;
  return link && (link->carrier || !link->state.empty() || !link->phys_state.empty());
}
bool has_speed(const PortReport& port) { return port.latest.link && port.latest.link->speed_mbps; }
bool has_down_reason(const PortReport& port) {
  return port.latest.link && port.latest.link->down_reason;
}
bool has_fec(const PortReport& port) {
  return !port.latest.fec_lanes.empty() ||
         (port.latest.counters && has_counter_of(*port.latest.counters, SourceId::kFec));
}
bool has_module(const PortReport& port) { return port.latest.module.has_value(); }
bool has_pcie(const PortReport& port) { return port.latest.pcie.has_value(); }
bool has_temperature(const PortReport& port) {
  return port.latest.pcie && port.latest.pcie->nic_temperature_c;
}
bool is_peer_by(const PortReport& port, std::string_view source) {
  const auto& peer = port.latest.peer;
  return peer &&
         (peer->source == source || peer->link_source == source || peer->counters_source == source);
}
bool is_peer_by_mad(const PortReport& port) { return is_peer_by(port, "mad"); }
bool is_peer_by_lldp(const PortReport& port) { return is_peer_by(port, "lldp"); }
/// ethtool cannot read the module of a port in InfiniBand mode.
bool has_imported(const PortReport& port) {
  const auto& peer = port.latest.peer;
  const bool module =
      peer && (peer->module_source == "telemetry" || peer->module_source == "fleet");
  return module || is_peer_by(port, "telemetry") || is_peer_by(port, "fleet") ||
         (is_infiniband(port) && has_module(port));
}

/// What the doctor knows about a source in addition to model/source_table.h.
struct SourceRow {
  SourceId id;
  Test applies = any_port;                      ///< whether the port can have it
  Test is_read = nullptr;                       ///< nullptr: determined by its counters
  std::optional<EvidenceSource> evidence = {};  ///< the evidence it provides to the diagnosis
};
using enum EvidenceSource;
constexpr SourceRow kRows[] = {
    {SourceId::kLink, any_port, has_link, kLink},
    {SourceId::kCounters, has_verbs, nullptr, kCounters},
    {SourceId::kHwCounters, has_verbs, nullptr, kCounters},
    {SourceId::kNetdevStats, has_netdev, nullptr, kCounters},
    {SourceId::kLinkModes, has_netdev, has_speed},
    {SourceId::kDownReason, has_netdev, has_down_reason, kDownReason},
    {SourceId::kFec, has_netdev, has_fec, kFec},
    {SourceId::kEthtoolStats, has_netdev, nullptr, kCounters},
    {SourceId::kPause, has_netdev},
    {SourceId::kDriverStats, has_netdev, nullptr, kFec},
    {SourceId::kModule, has_module_path, has_module, kModule},
    {SourceId::kPcie, has_pci, has_pcie, kPcie},
    {SourceId::kHwmon, has_pci, has_temperature},
    {SourceId::kDevlink, has_pci, nullptr, kEvents},
    {SourceId::kDeviceEvents, any_port, nullptr, kEvents},
    {SourceId::kKernelLog, any_port, nullptr, kEvents},
    {SourceId::kVerbsEvents, has_verbs, nullptr, kEvents},
    {SourceId::kPeerMad, is_infiniband, is_peer_by_mad, kFarCounters},
    {SourceId::kPeerLldp, is_ethernet, is_peer_by_lldp},
    {SourceId::kImport, any_port, has_imported},
};

SourceRow row_of(SourceId source) {
  const auto* const row = std::ranges::find(kRows, source, &SourceRow::id);
  return row == std::end(kRows) ? SourceRow{source} : *row;
}

/// Whether the report has a reading from it.
bool is_read(SourceId source, const PortReport& port) {
  if (const Test test = row_of(source).is_read; test != nullptr) return test(port);
  return port.latest.counters && has_counter_of(*port.latest.counters, source);
}

/// Shown only if they are not ok: their readings are listed under another source.
bool is_trouble_only(SourceId source) {
  return source == SourceId::kPciBus || source == SourceId::kRdmaDevice ||
         source == SourceId::kEthtool;
}

const SourceStatus* find_status(const SourceMap& sources, SourceId source) {
  const auto at = sources.find(source);
  return at == sources.end() ? nullptr : &at->second;
}
/// The status that explains a source: its own, or that of the source that stops it.
const SourceStatus* find_cause(const SourceMap& sources, SourceId source) {
  const SourceStatus* own = find_status(sources, source);
  if (own == nullptr || !own->reason.empty()) return own;
  const auto cause = std::ranges::find_if(sources, [own](const auto& entry) {
    return entry.second.state == own->state && !entry.second.reason.empty() &&
           source_info(entry.first).reader != SourceReader::kOther;
  });
  return cause == sources.end() ? own : &cause->second;
}

/// Applies a status to a source of which something (or nothing) was read.
void judge_status(SourceSight& sight, SourceId source, const SourceStatus& status, bool seen) {
  sight.why = status.reason;
  if (status.state == SourceState::kNotOffered) {
    sight.state = seen ? Visibility::kSeen : Visibility::kNotOffered;
    return;
  }
  sight.state = seen ? Visibility::kPartly : Visibility::kHidden;
  sight.hint = hint_for(source, status, seen);
}

SourceSight blank(const SourceInfo& row) {
  SourceSight sight;
  sight.probe = row.name;
  sight.what = row.what;
  return sight;
}

/// Judges a source without a reading and without a status: open, off, or refused.
void judge_silent(SourceSight& sight, const SourceInfo& row, const NodeFacts& facts) {
  const std::string name(row.name);
  if (row.kind != SourceKind::kRead && !facts.copied_tree) {
    const bool open = facts.open.contains(name);
    if (open && row.kind == SourceKind::kEvents) {
      sight.state = Visibility::kSeen;
      return;
    }
    // A daemon that could not open it would report a status.
    if (!open && facts.of_daemon && !facts.played) {
      sight.state = Visibility::kNotUsed;
      sight.why = "disabled by the configuration";
      return;
    }
  }
  const auto access = facts.access.find(name);
  if (access == facts.access.end() || access->second.empty()) return;
  sight.state = Visibility::kHidden;
  sight.why = access->second;
  sight.hint = row.hint;
}

/// A copy of /sys has no kernel: every source that a kernel or a device answers is unreadable.
/// Imports are not.
void judge_copy(SourceSight& sight, const SourceInfo& row, const NodeFacts& facts) {
  if (!facts.copied_tree || sight.state != Visibility::kNoWord || row.in_sys ||
      row.id == SourceId::kImport)
    return;
  sight.state = Visibility::kHidden;
  sight.why = "not available in a copy of /sys";
  sight.hint = "run linkhealth on the node itself";
}

SourceSight of_node(const SourceInfo& row, const Report& report, const NodeFacts& facts) {
  SourceSight sight = blank(row);
  // For events that are received, a status means that some were lost.
  const bool received =
      row.kind == SourceKind::kEvents && facts.open.contains(std::string(row.name));
  const bool seen = received || std::ranges::any_of(report.ports, [&](const PortReport& port) {
                      return is_read(row.id, port);
                    });
  // The node's own status, then those of ports: a file may be bad for one port only.
  std::vector<std::pair<PortKey, const SourceStatus*>> found;
  if (const auto* status = find_status(report.sources, row.id)) found.emplace_back("", status);
  for (const PortReport& port : report.ports)
    if (port.latest.sources)
      if (const auto* status = find_status(*port.latest.sources, row.id))
        found.emplace_back(port.port, status);
  if (!found.empty()) {
    const auto& [port, status] = found.front();
    judge_status(sight, row.id, *status, seen);
    if (!port.empty()) sight.why.insert(0, port + ": ");
    if (found.size() > 1) sight.why += fmt::format(" (and {} more)", found.size() - 1);
  } else if (seen || row.id == SourceId::kInventory) {
    sight.state = Visibility::kSeen;
  } else {
    judge_silent(sight, row, facts);
  }
  judge_copy(sight, row, facts);
  return sight;
}

/// A saturated counter does not count until an operator clears it.
void judge_full_counters(SourceSight& sight, const PortReport& port) {
  if (!port.latest.counters) return;
  std::string full;
  std::vector<CounterId> which;
  for (const auto& [id, value] : port.latest.counters->known())
    if (const CounterInfo& info = known_counters()[id]; is_saturated(info, value)) {
      full += fmt::format("{}{} ({})", full.empty() ? "" : ", ", info.name, value);
      which.push_back(id);
    }
  if (which.empty()) return;
  const bool alone = sight.state != Visibility::kPartly;
  sight.state = Visibility::kPartly;
  sight.why += (alone ? "" : "; ") + ("saturated: " + full);
  sight.hint += (alone ? "" : "; ") + how_to_clear(port.latest.id, which) +
                "; the daemon never clears counters";
}

/// ethtool reads a module through a network interface, and an IPoIB interface does not offer it.
void judge_infiniband_module(SourceSight& sight, SourceId source, const PortReport& port) {
  const bool silent = sight.state == Visibility::kNoWord || sight.state == Visibility::kNotOffered;
  if (source != SourceId::kModule || !is_infiniband(port) || !silent) return;
  sight.state = Visibility::kHidden;
  sight.why = "the kernel provides no access to the module of an InfiniBand port";
  sight.hint = "import the readings of another program (docs/import.md)";
}

/// The source that reports an interface in another network namespace than the monitor's.
std::optional<SourceId> elsewhere(const PortReport& port) {
  for (const SourceId source : {SourceId::kLinkModes, SourceId::kNetdevStats})
    if (const auto* status =
            port.latest.sources ? find_status(*port.latest.sources, source) : nullptr;
        status && status->reason.find("network namespace") != std::string::npos)
      return source;
  return std::nullopt;
}

/// If the interface is in another network namespace, every source that is read by its number or
/// name is unreadable, but not the card's files. IPoIB interfaces lack some of them in any
/// namespace (linux: ipoib_ethtool_ops, mlx5i_ethtool_ops).
void judge_elsewhere(SourceSight& sight, const SourceInfo& row, const PortReport& port) {
  const auto cause = elsewhere(port);
  if (!cause || sight.state != Visibility::kNoWord) return;
  constexpr std::array kNotOfIpoib = {SourceId::kDownReason, SourceId::kFec,
                                      SourceId::kEthtoolStats, SourceId::kPause};
  if (is_infiniband(port) && std::ranges::find(kNotOfIpoib, row.id) != kNotOfIpoib.end()) {
    sight.state = Visibility::kNotOffered;
    sight.why = "not available for the interface of an InfiniBand port";
    return;
  }
  if (row.in_sys || row.kind != SourceKind::kRead) return;
  const SourceStatus& status = port.latest.sources->at(*cause);
  sight.state = Visibility::kHidden;
  sight.why = status.reason;
  sight.hint = hint_for(*cause, status, false);
}

SourceSight of_port(const SourceInfo& row, const PortReport& port, const Report& report,
                    const NodeFacts& facts) {
  SourceSight sight = blank(row);
  if (!row_of(row.id).applies(port)) {
    sight.state = Visibility::kNotUsed;
    return sight;
  }
  const bool seen = is_read(row.id, port);
  const SourceStatus* status =
      port.latest.sources ? find_cause(*port.latest.sources, row.id) : nullptr;
  if (status == nullptr) status = find_status(report.sources, row.id);
  if (status != nullptr) {
    judge_status(sight, row.id, *status, seen);
  } else if (seen) {
    sight.state = Visibility::kSeen;
  } else {
    judge_silent(sight, row, facts);
  }
  if (seen && row.id == SourceId::kCounters) judge_full_counters(sight, port);
  judge_copy(sight, row, facts);
  judge_infiniband_module(sight, row.id, port);
  judge_elsewhere(sight, row, port);
  return sight;
}

bool is_visible(const SourceSight& sight) {
  return sight.state == Visibility::kSeen || sight.state == Visibility::kPartly;
}
bool is_missing(const SourceSight& sight) {
  return sight.state == Visibility::kHidden || sight.state == Visibility::kPartly;
}

/// The far end's data in a peer sample.
EvidenceSources far_sources(const PortReport& port) {
  const auto& peer = port.latest.peer;
  EvidenceSources seen;
  if (peer && peer->link) seen.add(kFarLink);
  if (peer && peer->counters) seen.add(kFarCounters);
  if (peer && peer->module) seen.add(kFarModule);
  if (!port.expected.peer_system.empty()) seen.add(kPlan);
  return seen;
}

std::string title(const Fault& fault) {
  std::string text(fault.name);
  return fault.end == End::kFar && !text.starts_with("far_") ? text + " (far)" : text;
}

/// One line for each fault and missing source, not one for each pair.
void add_confusable(PortSight& port, EvidenceSources seen) {
  std::map<std::pair<std::string, std::string_view>, std::string> others;
  std::vector<std::pair<std::string, std::string_view>> order;
  for (const ConfusablePair& pair : confusable_pairs(seen)) {
    const std::string_view needs = to_string(pair.needs);
    if (pair.a->id == FaultId::kHealthy) {
      port.not_noticed.push_back(fmt::format("{} (needs {})", title(*pair.b), needs));
      continue;
    }
    std::string& row = others[{title(*pair.a), needs}];
    if (row.empty()) order.emplace_back(title(*pair.a), needs);
    row += (row.empty() ? "" : ", ") + title(*pair.b);
  }
  for (const auto& line : order)
    port.not_told_apart.push_back(
        fmt::format("{} from {} (needs {})", line.first, others[line], line.second));
}

/// For a port that is judged.
std::vector<SourceSight> sources_of(const PortReport& port, const Report& report,
                                    const NodeFacts& facts) {
  std::vector<SourceSight> sources;
  for (const SourceInfo& row : source_table()) {
    const bool has_status = port.latest.sources && port.latest.sources->contains(row.id);
    if (row.of_node || (is_trouble_only(row.id) && !has_status)) continue;
    sources.push_back(of_port(row, port, report, facts));
  }
  return sources;
}
std::vector<SourceSight> sources_of_node(const Report& report, const NodeFacts& facts) {
  std::vector<SourceSight> sources;
  for (const SourceInfo& row : source_table())
    if (row.of_node && (!is_trouble_only(row.id) || report.sources.contains(row.id)))
      sources.push_back(of_node(row, report, facts));
  return sources;
}

PortSight sight_of(const PortReport& port, const Report& report, const NodeFacts& facts,
                   const std::vector<SourceSight>& node_sources) {
  PortSight sight;
  const PortId& id = port.latest.id;
  sight.port = port.port;
  sight.netdev = id.netdev;
  sight.pci = id.pci;
  sight.driver = id.driver;
  if (const auto at = facts.driver_versions.find(id.driver); at != facts.driver_versions.end())
    sight.driver_version = at->second;
  if (const auto at = facts.firmware.find(id.device); at != facts.firmware.end())
    sight.firmware = at->second;
  sight.exempt = port.exempt;
  if (!port.exempt.empty()) return sight;
  EvidenceSources seen = far_sources(port);
  const auto add = [&seen](const SourceInfo& row, bool is_seen) {
    if (const auto evidence = row_of(row.id).evidence; evidence && is_seen) seen.add(*evidence);
  };
  for (const SourceSight& source : node_sources)
    if (const auto found = find_source(source.probe)) add(source_info(*found), is_visible(source));
  sight.sources = sources_of(port, report, facts);
  for (const SourceSight& source : sight.sources) {
    const SourceInfo& row = source_info(*find_source(source.probe));
    // A driver gives a reason only while the link is down.
    const bool ready = row.id == SourceId::kDownReason && source.state == Visibility::kNoWord;
    add(row, is_visible(source) || ready);
  }
  add_confusable(sight, seen);
  return sight;
}

}  // namespace

std::string why_no_module(const PortReport& port, const Report& report, const NodeFacts& facts) {
  // The module of an unused port is still read.
  if (!port.exempt.empty() && !port.exempt.starts_with("unused")) return port.exempt;
  if (port.latest.id.function == "vf")
    return "virtual function: the module belongs to the physical function, which is not in this "
           "machine";
  const SourceSight sight = of_port(source_info(SourceId::kModule), port, report, facts);
  if (sight.state == Visibility::kNotUsed)
    return "the port has no network interface to read it through";
  if (sight.why.empty()) return "not read yet";
  return sight.hint.empty() ? sight.why : sight.why + ": " + sight.hint;
}

DoctorReport examine(const Report& report, const NodeFacts& facts) {
  DoctorReport doctor;
  doctor.node = report.node;
  doctor.version = facts.version;
  doctor.kernel = facts.kernel;
  doctor.of_daemon = facts.of_daemon;
  doctor.played = facts.played;
  doctor.capabilities = facts.capabilities;
  doctor.node_sources = sources_of_node(report, facts);
  for (const PortReport& port : report.ports)
    doctor.ports.push_back(sight_of(port, report, facts, doctor.node_sources));
  const auto count = [&doctor](const std::vector<SourceSight>& sources) {
    doctor.hidden += static_cast<std::size_t>(std::ranges::count_if(sources, is_missing));
  };
  count(doctor.node_sources);
  for (const PortSight& port : doctor.ports) count(port.sources);
  return doctor;
}

namespace {

SightCount count_of_sources(const std::vector<SourceSight>& sources) {
  SightCount count;
  for (const SourceSight& source : sources) {
    count.unreadable += is_missing(source);
    count.sources += is_missing(source) || is_visible(source);
  }
  return count;
}

}  // namespace

std::map<PortKey, SightCount> count_sight_of_ports(const Report& report, const NodeFacts& facts) {
  std::map<PortKey, SightCount> counts;
  for (const PortReport& port : report.ports)
    if (port.exempt.empty()) counts[port.port] = count_of_sources(sources_of(port, report, facts));
  return counts;
}

SightCount count_sight(const Report& report, const NodeFacts& facts) {
  SightCount sum = count_of_sources(sources_of_node(report, facts));
  for (const auto& [port, count] : count_sight_of_ports(report, facts)) {
    sum.unreadable += count.unreadable;
    sum.sources += count.sources;
  }
  return sum;
}

std::vector<std::string> self_test_lines(const DoctorReport& doctor) {
  std::vector<std::string> lines;
  std::set<std::string> logged;
  // Ten sources with one cause are one line, and so are ten ports.
  const auto add = [&](const std::vector<SourceSight>& sources, const PortKey& port) {
    // and the sources that they make unreadable.
    std::vector<std::pair<std::string, std::string>> causes;
    for (const SourceSight& source : sources) {
      if (!is_missing(source)) continue;
      const std::string cause =
          fmt::format(" {}: {}{}", is_visible(source) ? "partial" : "unavailable", source.why,
                      source.hint.empty() ? "" : ": " + source.hint);
      const auto known =
          std::ranges::find(causes, cause, &std::pair<std::string, std::string>::first);
      if (known == causes.end())
        causes.emplace_back(cause, source.what);
      else
        known->second += "; " + source.what;
    }
    for (const auto& [cause, what] : causes)
      if (logged.insert(what + cause).second)
        lines.push_back(fmt::format("{}{}{}{}", port, port.empty() ? "" : ": ", what, cause));
  };
  add(doctor.node_sources, "");
  for (const PortSight& port : doctor.ports) add(port.sources, port.port);
  return lines;
}

}  // namespace linkhealth
