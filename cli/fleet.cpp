#include "cli/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include "base/text.h"
#include "exporters/text/text_layout.h"

namespace linkhealth::cli {

namespace {

constexpr const char* kOpenFaults = "link:linkhealth_fault_open:confidence";
constexpr std::size_t kMostFaults = 5000;  // more than one operator can read, or walk to

/// What `--by` counts: the recorded series, and the labels that name a group. Faults are counted if
/// they have `fault_label`.
struct Level {
  std::string_view by, series, labels, fault_label;
};
constexpr std::array<Level, 5> kLevels = {{
    {"switch", "switch:linkhealth_links:count", "peer_system", "peer_system"},
    {"part", "part:linkhealth_links:count", "vendor,part_number", "part_number"},
    {"rack", "rack:linkhealth_links:count", "pod,rack", "rack"},
    {"rail", "rail:linkhealth_links:count", "rail", "rail"},
    {"vendor", "vendor:linkhealth_links:count", "vendor", "vendor"},
}};

std::uint64_t whole(double value) {
  return std::isfinite(value) && value > 0
             ? static_cast<std::uint64_t>(std::llround(std::min(value, 1e15)))
             : 0;
}

/// The values of some labels, as a key.
std::string key_of(const PrometheusRow& row, std::initializer_list<std::string_view> labels) {
  std::string key;
  for (const std::string_view label : labels) key += std::string(row.label(label)) + "\n";
  return key;
}
std::string link_of(const PrometheusRow& row) {
  return key_of(row, {"instance", "device", "port"});
}
std::string fault_of(const PrometheusRow& row) {
  return key_of(row, {"instance", "device", "port", "fault", "end"});
}

std::string group_name(const PrometheusRow& row, const Level& level) {
  std::vector<std::string> values;
  for (const std::string_view label : split(level.labels, ','))
    values.emplace_back(row.label(label));
  return join_parts(values, " ");
}

/// The rows of `expression` that belong to an open fault.
PrometheusVector of_open_faults(const Prometheus& prometheus, const char* expression,
                                const char* on) {
  return prometheus.query(fmt::format("{} and on ({}) {}", expression, on, kOpenFaults));
}

std::optional<WallTime> instant_of(double unix_s) {
  constexpr double kLatest = 4e9;
  if (!(unix_s > 0 && unix_s < kLatest)) return std::nullopt;
  return WallTime(from_seconds(unix_s));
}

void query_details(const Prometheus& prometheus, std::vector<FleetFault>& faults) {
  std::map<std::string, double> opened, lost;
  std::map<std::string, PrometheusRow> modules;
  for (const PrometheusRow& row :
       of_open_faults(prometheus, "linkhealth_fault_opened_timestamp_seconds",
                      "instance, device, port, fault, end"))
    opened[fault_of(row)] = row.value;
  for (const PrometheusRow& row :
       of_open_faults(prometheus, "link:linkhealth_bandwidth_lost_bytes_per_second:current",
                      "instance, device, port"))
    lost[link_of(row)] = std::isfinite(row.value) ? row.value : 0;
  for (const PrometheusRow& row :
       of_open_faults(prometheus, "linkhealth_module_info", "instance, device, port"))
    modules[link_of(row)] = row;
  for (FleetFault& fault : faults) {
    fault.opened_at = instant_of(opened[fault_of(fault)]);
    fault.lost_bytes_per_s = lost[link_of(fault)];
    for (const char* label : {"serial", "connector"})
      fault.labels[label] = modules[link_of(fault)].label(label);
  }
}

void query_shared_causes(const Prometheus& prometheus, std::vector<FleetFault>& faults) {
  std::set<std::string, std::less<>> switches, nodes;
  for (const PrometheusRow& row : prometheus.query("switch:linkhealth_shared_fault:links"))
    switches.emplace(row.label("peer_system"));
  for (const PrometheusRow& row : prometheus.query("instance:linkhealth_shared_fault:links"))
    nodes.emplace(row.label("instance"));
  for (FleetFault& fault : faults) {
    if (fault.label("severity") == "notice") continue;
    const bool of_link = fault.label("end") != "node" && fault.label("end") != "fabric";
    const std::string_view peer = fault.label("peer_system"), node = fault.label("instance");
    if (of_link && !peer.empty() && switches.contains(peer))
      fault.shared_cause = peer;
    else if (nodes.contains(node))
      fault.shared_cause = node;
  }
}

void query_faults(const Prometheus& prometheus, const FleetOptions& options, FleetView& view) {
  view.faults_total = whole(prometheus.number(fmt::format("count({})", kOpenFaults)));
  for (PrometheusRow& row :
       prometheus.query(fmt::format("topk({}, {})", kMostFaults, kOpenFaults))) {
    FleetFault& fault = view.faults.emplace_back();
    fault.labels = std::move(row.labels);
    fault.confidence = std::isfinite(row.value) ? std::clamp(row.value, 0.0, 1.0) : 0;
  }
  query_details(prometheus, view.faults);
  query_shared_causes(prometheus, view.faults);
  rank_faults(view.faults);
  std::uint64_t kept = 0;
  std::erase_if(view.faults, [&](const FleetFault& fault) {
    // the work list summarises these in a line, so they do not count
    const bool summarised =
        options.work_list && (!fault.shared_cause.empty() || fault.label("severity") == "notice");
    return !summarised && ++kept > options.limit;
  });
}

void query_groups(const Prometheus& prometheus, const FleetOptions& options, FleetView& view) {
  const auto level = std::ranges::find(kLevels, options.by, &Level::by);
  if (level == kLevels.end()) return;
  std::map<std::string, FleetGroup> groups;
  for (const PrometheusRow& row : prometheus.query(std::string(level->series))) {
    const std::string name = group_name(row, *level);
    groups[name].name = name;
    groups[name].links[std::string(row.label("health"))] += whole(row.value);
  }
  for (const PrometheusRow& row : prometheus.query(fmt::format(
           "count by ({}) ({}{{{}!=\"\"}})", level->labels, kOpenFaults, level->fault_label)))
    if (const auto at = groups.find(group_name(row, *level)); at != groups.end())
      at->second.faults = whole(row.value);
  for (auto& [name, group] : groups) view.groups.push_back(std::move(group));
  std::ranges::stable_sort(view.groups, std::greater(), [](const FleetGroup& group) {
    return std::pair(group.bad(), group.faults);
  });
  view.groups_total = view.groups.size();
  view.groups.resize(std::min<std::size_t>(view.groups.size(), options.limit));
}

FleetView query_fleet(const Prometheus& prometheus, const FleetOptions& options) {
  const auto require = [&](bool good, const std::string& why) {
    if (!good) throw CommandError(kDaemonError, "Prometheus at " + prometheus.shown() + why);
  };
  FleetView view;
  view.nodes = whole(prometheus.number("count(count by (instance) (linkhealth_build_info))"));
  view.silent_nodes = whole(prometheus.number("count(up{job=\"linkhealth\"} == 0)"));
  require(view.nodes > 0,
          " has no linkhealth data" +
              (view.silent_nodes > 0 ? fmt::format(": none of {} nodes answers", view.silent_nodes)
                                     : ": check that it scrapes the nodes (deploy/README.md)"));
  for (const PrometheusRow& row : prometheus.query("fleet:linkhealth_links:count"))
    view.links.links[std::string(row.label("health"))] = whole(row.value);
  require(view.links.all() > 0,
          " scrapes the nodes but does not evaluate linkhealth's rules: load dashboards/rules "
          "(docs/operations.md)");
  view.lost_bytes_per_s =
      std::max(prometheus.number("fleet:linkhealth_bandwidth_lost_bytes_per_second:sum"), 0.0);
  if (options.by.empty())
    query_faults(prometheus, options, view);
  else
    query_groups(prometheus, options, view);
  return view;
}

int severity_rank(std::string_view severity) {
  return severity == "critical" ? 2 : severity == "warning" ? 1 : 0;
}

/// "r2" before "r12": runs of digits compare as numbers.
bool natural_less(std::string_view a, std::string_view b) {
  const auto digits = [](std::string_view& text) {
    const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
    std::string_view run = text.substr(0, end);
    text.remove_prefix(end);
    run.remove_prefix(std::min(run.find_first_not_of('0'), run.size()));
    return std::pair(run.size(), run);
  };
  while (!a.empty() && !b.empty()) {
    const auto number_a = digits(a), number_b = digits(b);
    if (number_a != number_b) return number_a < number_b;
    if (a.empty() || b.empty()) break;
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1), b.remove_prefix(1);
  }
  return a.size() < b.size();
}

}  // namespace

std::uint64_t FleetGroup::count(std::string_view health) const {
  const auto found = links.find(health);
  return found == links.end() ? 0 : found->second;
}

std::uint64_t FleetGroup::all() const {
  std::uint64_t sum = 0;
  for (const auto& [health, number] : links) sum += number;
  return sum;
}

void rank_faults(std::vector<FleetFault>& faults) {
  std::ranges::stable_sort(faults, {}, [](const FleetFault& fault) {
    return std::tuple(-fault.lost_bytes_per_s, -severity_rank(fault.label("severity")),
                      -fault.confidence, fault.opened_at.value_or(WallTime::max()),
                      fault_of(fault));
  });
  for (std::size_t i = 0; i < faults.size(); ++i) faults[i].rank = i + 1;
}

std::vector<FleetFault> in_walking_order(std::vector<FleetFault> faults) {
  std::erase_if(faults, [](const FleetFault& fault) {
    return fault.label("severity") == "notice" || !fault.shared_cause.empty();
  });
  std::ranges::stable_sort(faults, [](const FleetFault& a, const FleetFault& b) {
    for (const char* label : {"pod", "row", "rack", "u", "instance", "device", "port"})
      if (a.label(label) != b.label(label)) return natural_less(a.label(label), b.label(label));
    return a.rank < b.rank;
  });
  return faults;
}

int run_fleet(const Context& context, const FleetOptions& options) {
  if (options.prometheus.url.empty())
    throw CommandError(kBadInput, "fleet: give --prometheus URL, or set LINKHEALTH_PROMETHEUS");
  const Prometheus prometheus(options.prometheus);
  const FleetView view = query_fleet(prometheus, options);
  const WallTime now = context.clock.wall();
  return print(options.json        ? fleet_json(view, options, now)
               : options.work_list ? work_list_text(view, now)
                                   : fleet_text(view, options, now, context.style));
}

}  // namespace linkhealth::cli
