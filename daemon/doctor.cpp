#include "daemon/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "model/counter_probes.h"
#include "model/counters.h"
#include "model/full_counter.h"
#include "model/indicators.h"

namespace linkhealth {

namespace {

const Gap* find_gap(const std::vector<Gap>& gaps, std::string_view probe) {
  const auto at = std::find_if(gaps.begin(), gaps.end(),
                               [probe](const Gap& gap) { return gap.probe == probe; });
  return at == gaps.end() ? nullptr : &*at;
}

/// Its own, or one of what is read in one go with it.
const Gap* find_gap_that_hides(const std::vector<Gap>& gaps, std::string_view probe) {
  if (const Gap* own = find_gap(gaps, probe)) return own;
  const auto at = std::ranges::find_if(
      gaps, [&](const Gap& gap) { return hides(gap.probe, gap.reason, probe); });
  return at == gaps.end() ? nullptr : &*at;
}

bool is_not_offered(std::string_view reason) {
  return reason.starts_with("EOPNOTSUPP") ||
         reason.find("Operation not supported") != std::string_view::npos;
}

/// Not there, and nobody was refused. Beside files of the same source that were read, it is no /sys
/// that is missing.
bool misses_files_only(std::string_view reason) {
  const auto says = [reason](std::string_view word) {
    return reason.find(word) != std::string_view::npos;
  };
  return (says("ENOENT") || says("No such file")) &&
         !(says("EPERM") || says("EACCES") || says("ermission denied"));
}

/// What a gap makes of a source of which something (or nothing) was read.
void judge_gap(SourceSight& sight, const SourceRow& row, const Gap& gap, bool seen) {
  sight.why = gap.reason;
  // A driver may not offer a reading; of a feed or a far end it is no driver that refuses.
  if (row.kind == SourceKind::kRead && is_not_offered(gap.reason)) {
    sight.state = seen ? SourceState::kSeen : SourceState::kNotOffered;
    return;
  }
  sight.state = seen ? SourceState::kPartly : SourceState::kHidden;
  sight.hint = seen && row.in_sys && misses_files_only(gap.reason)
                   ? "this kernel or card has no such file"
                   : hint_for(row, gap.reason, seen);
}

SourceSight blank(const SourceRow& row) {
  SourceSight sight;
  sight.probe = row.probe;
  sight.what = row.what;
  return sight;
}

/// The device that a source needs, as the node's facts have it.
void judge_access(SourceSight& sight, const SourceRow& row, const NodeFacts& facts) {
  const auto access = facts.access.find(std::string(row.probe));
  if (access == facts.access.end()) return;
  if (access->second.empty()) return;
  sight.state = SourceState::kHidden;
  sight.why = access->second;
  sight.hint = row.hint;  // it could not be opened
}

/// A source that nothing was read of and that has no gap: open, off, or refused.
void judge_silent(SourceSight& sight, const SourceRow& row, const NodeFacts& facts) {
  if (row.kind != SourceKind::kRead && !facts.copied_tree) {
    const bool open = facts.open.contains(std::string(row.probe));
    if (open && row.kind == SourceKind::kHeard) {
      sight.state = SourceState::kSeen;
      return;
    }
    // A daemon that could not open it has a gap.
    if (!open && facts.of_daemon && !facts.played) {
      sight.state = SourceState::kNotUsed;
      sight.why = "switched off in the configuration";
      return;
    }
  }
  judge_access(sight, row, facts);
}

/// A copy of /sys has files and no kernel: whatever is asked of a kernel or a device is hidden
/// there. Imported files are neither.
void judge_copy(SourceSight& sight, const SourceRow& row, const NodeFacts& facts) {
  if (!facts.copied_tree || sight.state != SourceState::kNoWord || row.in_sys ||
      row.probe == "import")
    return;
  sight.state = SourceState::kHidden;
  sight.why = "a copy of /sys has no kernel behind it";
  sight.hint = "run linkhealth on the node itself";
}

/// So many gaps of one source besides the one that is shown.
void add_more(SourceSight& sight, std::ptrdiff_t all) {
  if (all > 1) sight.why += fmt::format(" (and {} more)", all - 1);
}
std::ptrdiff_t count_of(const std::vector<Gap>& gaps, std::string_view probe) {
  return std::ranges::count(gaps, probe, &Gap::probe);
}

/// The node's own gaps of a source, then those of ports: a file may be bad for one port only.
std::vector<Gap> gaps_of(std::string_view probe, const Report& report) {
  std::vector<Gap> found;
  const auto add = [&](const std::vector<Gap>& gaps, const PortKey& port) {
    for (const Gap& gap : gaps)
      if (gap.probe == probe) found.push_back({port, gap.probe, gap.reason});
  };
  add(report.gaps, "");
  for (const PortReport& port : report.ports) add(port.gaps, port.port);
  return found;
}

SourceSight of_node(const SourceRow& row, const Report& report, const NodeFacts& facts) {
  SourceSight sight = blank(row);
  // Of what is listened to, a gap says that something was lost; of what was refused there is
  // nothing open.
  const bool heard = row.kind == SourceKind::kHeard && facts.open.contains(std::string(row.probe));
  const bool seen = heard || (row.seen != nullptr && std::ranges::any_of(report.ports, row.seen));
  const std::vector<Gap> gaps = gaps_of(row.probe, report);
  if (!gaps.empty()) {
    judge_gap(sight, row, gaps.front(), seen);
    if (!gaps.front().port.empty()) sight.why.insert(0, gaps.front().port + ": ");
    add_more(sight, std::ssize(gaps));
  } else if (seen || row.probe == "inventory") {
    sight.state = SourceState::kSeen;
  } else {
    judge_silent(sight, row, facts);
  }
  judge_copy(sight, row, facts);
  return sight;
}

/// Counters that stand at the end of their width count no further until somebody clears them.
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
  const bool alone = sight.state != SourceState::kPartly;
  sight.state = SourceState::kPartly;
  sight.why += (alone ? "" : "; ") + ("full, and counting no further: " + full);
  sight.hint += (alone ? "" : "; ") + how_to_clear(port.latest.id, which) +
                "; the daemon never clears a counter";
}

/// ethtool asks a network interface for its module, and that of IPoIB offers none.
void judge_infiniband_module(SourceSight& sight, const PortReport& port) {
  const bool silent =
      sight.state == SourceState::kNoWord || sight.state == SourceState::kNotOffered;
  if (sight.probe != "module" || port.latest.id.link_layer != "InfiniBand" || !silent) return;
  sight.state = SourceState::kHidden;
  sight.why = "the kernel has no path to the module of an InfiniBand port";
  sight.hint = "bring what others read of it as an import (docs/import.md)";
}

/// No IPoIB interface answers these, in whatever namespace (linux: ipoib_ethtool_ops,
/// mlx5i_ethtool_ops).
constexpr std::array<std::string_view, 4> kNotOfIpoib = {"down_reason", "fec", "ethtool_stats",
                                                         "pause"};

void judge_ipoib(SourceSight& sight, const PortReport& port) {
  if (sight.state != SourceState::kNoWord || port.latest.id.link_layer != "InfiniBand") return;
  if (std::ranges::find(kNotOfIpoib, sight.probe) == kNotOfIpoib.end()) return;
  sight.state = SourceState::kNotOffered;
  sight.why = "the interface of an InfiniBand port has none";
}

/// The gap of an interface that is in another network namespace than we are; nullptr: it is not.
const Gap* elsewhere(const PortReport& port) {
  for (const std::string_view probe : {"link_modes", "netdev_stats"})
    if (const Gap* gap = find_gap(port.gaps, probe);
        gap && gap->reason.find("network namespace") != std::string::npos)
      return gap;
  return nullptr;
}

/// What is asked of an interface by its number or name can't be asked where the interface is in
/// another network namespace than we are. The files of a card are there all the same.
void judge_elsewhere(SourceSight& sight, const SourceRow& row, const PortReport& port) {
  const Gap* gap = elsewhere(port);
  if (gap == nullptr || sight.state != SourceState::kNoWord || row.in_sys ||
      row.kind != SourceKind::kRead)
    return;
  sight.state = SourceState::kHidden;
  sight.why = gap->reason;
  sight.hint = hint_for(*std::ranges::find(source_table(), gap->probe, &SourceRow::probe),
                        gap->reason, false);
}

SourceSight of_port(const SourceRow& row, const PortReport& port, const Report& report,
                    const NodeFacts& facts) {
  SourceSight sight = blank(row);
  if (row.applies != nullptr && !row.applies(port)) {
    sight.state = SourceState::kNotUsed;
    return sight;
  }
  const bool seen = row.seen != nullptr && row.seen(port);
  const Gap* gap = find_gap_that_hides(port.gaps, row.probe);
  if (gap == nullptr) gap = find_gap_that_hides(report.gaps, row.probe);
  if (seen && (gap == nullptr || gap->reason.find(kCountsNoFurther) != std::string::npos)) {
    sight.state = SourceState::kSeen;
  } else if (gap != nullptr) {
    judge_gap(sight, row, *gap, seen);
  } else {
    judge_silent(sight, row, facts);
  }
  if (seen && row.probe == "counters") judge_full_counters(sight, port);
  judge_copy(sight, row, facts);
  judge_infiniband_module(sight, port);
  if (elsewhere(port) != nullptr) judge_ipoib(sight, port);
  judge_elsewhere(sight, row, port);
  return sight;
}

SourceRow trouble_row(const Gap& gap) {
  const auto row = std::ranges::find(trouble_table(), gap.probe, &SourceRow::probe);
  if (row != trouble_table().end()) return *row;
  return {gap.probe, gap.probe, gap.port.empty(), {}, nullptr, nullptr, {}};
}

/// A read that hangs, cards without a driver: gaps of no source of the table. Each kind is said all
/// the same, once.
void add_other_gaps(std::vector<SourceSight>& sources, const std::vector<Gap>& gaps) {
  for (const Gap& gap : gaps) {
    if (std::ranges::find(source_table(), gap.probe, &SourceRow::probe) != source_table().end())
      continue;
    if (std::ranges::find(sources, gap.probe, &SourceSight::probe) != sources.end()) continue;
    const SourceRow row = trouble_row(gap);
    SourceSight sight = blank(row);
    judge_gap(sight, row, gap, false);
    add_more(sight, count_of(gaps, gap.probe));
    sources.push_back(std::move(sight));
  }
}

bool is_visible(const SourceSight& sight) {
  return sight.state == SourceState::kSeen || sight.state == SourceState::kPartly;
}
bool is_missing(const SourceSight& sight) {
  return sight.state == SourceState::kHidden || sight.state == SourceState::kPartly;
}

/// What of the far end a peer's sample has.
Sights far_sights(const PortReport& port) {
  const auto& peer = port.latest.peer;
  Sights sights = 0;
  if (peer && peer->link) sights |= bit(Sight::kFarLink);
  if (peer && peer->counters) sights |= bit(Sight::kFarCounters);
  if (peer && peer->module) sights |= bit(Sight::kFarModule);
  if (!port.expected.peer_system.empty()) sights |= bit(Sight::kPlan);
  return sights;
}

std::string title(const Fault& fault) {
  std::string text(fault.name);
  return fault.end == End::kFar && !text.starts_with("far_") ? text + " (far)" : text;
}

/// One line for each fault and hidden source, not one for each pair.
void add_blurs(PortSight& port, Sights seen) {
  std::vector<std::pair<std::string, std::string>>
      lines;  // "dirty_connector", "the module" -> the other faults
  std::vector<std::string> others;
  for (const Blur& blur : blurs(seen)) {
    std::string_view needs;
    for (std::size_t i = 0; i < kSightCount; ++i)
      if ((blur.needs >> i & 1U) != 0) needs = words(static_cast<Sight>(i));
    if (blur.a->name == "healthy") {
      port.not_noticed.push_back(fmt::format("{} (needs {})", title(*blur.b), needs));
      continue;
    }
    const std::pair<std::string, std::string> line(title(*blur.a), needs);
    const auto at = std::find(lines.begin(), lines.end(), line);
    if (at == lines.end()) {
      lines.push_back(line);
      others.push_back(title(*blur.b));
    } else {
      others[static_cast<std::size_t>(at - lines.begin())] += ", " + title(*blur.b);
    }
  }
  for (std::size_t i = 0; i < lines.size(); ++i)
    port.not_told_apart.push_back(
        fmt::format("{} from {} (needs {})", lines[i].first, others[i], lines[i].second));
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
  Sights seen = far_sights(port);
  for (const SourceSight& source : node_sources)
    for (const SourceRow& row : source_table())
      if (row.probe == source.probe && row.sight && is_visible(source)) seen |= bit(*row.sight);
  for (const SourceRow& row : source_table()) {
    if (row.node) continue;
    sight.sources.push_back(of_port(row, port, report, facts));
    const SourceSight& source = sight.sources.back();
    // A source of reasons that does not complain has one when there is something to say.
    const bool ready = row.probe == "down_reason" && source.state == SourceState::kNoWord;
    if (row.sight && (is_visible(source) || ready)) seen |= bit(*row.sight);
  }
  add_other_gaps(sight.sources, port.gaps);
  add_blurs(sight, seen);
  return sight;
}

std::vector<std::string> costs_of(const Report& report) {
  std::vector<std::string> costs;
  std::size_t files = 0;
  std::size_t ports = 0;
  for (const PortReport& port : report.ports) {
    if (!port.latest.counters) continue;
    const auto here = std::ranges::count_if(port.latest.counters->known(), [](const auto& entry) {
      return known_counters()[entry.first].source == CounterSource::kIbPort;
    });
    files += static_cast<std::size_t>(here);
    ports += here > 0;
  }
  if (ports > 0)
    costs.push_back(
        fmt::format("{} port counters on {} port{}: read from files each is a firmware command on "
                    "mlx5, by MADs they are two for a port",
                    files, ports, ports == 1 ? "" : "s"));
  for (const ProbeTiming& timing : report.timings)
    costs.push_back(fmt::format(
        "{}: {:.2f} ms in its last cycle{}", timing.probe, timing.duration_s * 1000,
        timing.probe == "module" ? "; each module read holds the kernel's RTNL lock" : ""));
  return costs;
}

}  // namespace

std::string why_no_module(const PortReport& port, const Report& report, const NodeFacts& facts) {
  // Of an unused port the module is read all the same.
  if (!port.exempt.empty() && !port.exempt.starts_with("unused")) return port.exempt;
  const SourceSight sight =
      of_port(*std::ranges::find(source_table(), "module", &SourceRow::probe), port, report, facts);
  if (sight.state == SourceState::kNotUsed)
    return "the port has no network interface, which is asked for it";
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
  for (const SourceRow& row : source_table())
    if (row.node) doctor.node_sources.push_back(of_node(row, report, facts));
  add_other_gaps(doctor.node_sources, report.gaps);
  for (const PortReport& port : report.ports)
    doctor.ports.push_back(sight_of(port, report, facts, doctor.node_sources));
  doctor.costs = costs_of(report);
  const auto count = [&doctor](const std::vector<SourceSight>& sources) {
    doctor.hidden +=
        static_cast<std::size_t>(std::count_if(sources.begin(), sources.end(), &is_missing));
  };
  count(doctor.node_sources);
  for (const PortSight& port : doctor.ports) count(port.sources);
  return doctor;
}

std::vector<std::string> self_test_lines(const DoctorReport& doctor) {
  std::vector<std::string> lines;
  std::set<std::string> said;
  // Ten sources with one cause are one line, and so are ten ports.
  const auto say = [&](const std::vector<SourceSight>& sources, const PortKey& port) {
    std::vector<std::pair<std::string, std::string>> causes;  // and what they hide
    for (const SourceSight& source : sources) {
      if (!is_missing(source)) continue;
      std::string cause = fmt::format(
          " {}: {}{}", is_visible(source) ? "can be seen only in part" : "can't be seen",
          source.why, source.hint.empty() ? "" : ": " + source.hint);
      const auto known =
          std::ranges::find(causes, cause, &std::pair<std::string, std::string>::first);
      if (known == causes.end())
        causes.emplace_back(std::move(cause), source.what);
      else
        known->second += "; " + source.what;
    }
    for (const auto& [cause, what] : causes)
      if (said.insert(what + cause).second)
        lines.push_back(fmt::format("{}{}{}{}", port, port.empty() ? "" : ": ", what, cause));
  };
  say(doctor.node_sources, "");
  for (const PortSight& port : doctor.ports) say(port.sources, port.port);
  return lines;
}

}  // namespace linkhealth
