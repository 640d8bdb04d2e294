#include "cli/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "cli/commands.h"
#include "cli/exit_codes.h"

namespace linkhealth::cli {

namespace {

constexpr const char* kOpen = "link:linkhealth_fault_open:confidence";

/// What `--by` counts: the recorded series, the labels that make its name, and the label that
/// faults carry.
struct Level {
  std::string_view by, series;
  std::array<std::string_view, 2> labels;
  std::string_view fault_label;
};
constexpr Level kLevels[] = {
    {"switch", "switch:linkhealth_links:count", {"peer_system", ""}, "peer_system"},
    {"part", "part:linkhealth_links:count", {"vendor", "part_number"}, "part_number"},
    {"rack", "rack:linkhealth_links:count", {"pod", "rack"}, "rack"},
    {"rail", "rail:linkhealth_links:count", {"rail", ""}, "rail"},
    {"vendor", "vendor:linkhealth_links:count", {"vendor", ""}, "vendor"},
};

std::uint64_t whole(double value) {
  return std::isfinite(value) && value > 0
             ? static_cast<std::uint64_t>(std::llround(std::min(value, 1e15)))
             : 0;
}

std::string link_of(const PrometheusRow& row) {
  return fmt::format("{}\n{}\n{}", row.label("instance"), row.label("device"), row.label("port"));
}

std::string fault_of(const PrometheusRow& row) {
  return fmt::format("{}\n{}\n{}", link_of(row), row.label("fault"), row.label("end"));
}

FleetFault fault_from(const PrometheusRow& row) {
  FleetFault fault;
  const auto take = [&row](std::string& to, const char* label) { to = row.label(label); };
  take(fault.instance, "instance"), take(fault.device, "device"), take(fault.port, "port");
  take(fault.netdev, "netdev"), take(fault.fault, "fault"), take(fault.end, "end");
  take(fault.severity, "severity"), take(fault.peer_system, "peer_system"),
      take(fault.peer_port, "peer_port");
  take(fault.pod, "pod"), take(fault.row, "row"), take(fault.rack, "rack"), take(fault.u, "u");
  take(fault.rail, "rail"), take(fault.vendor, "vendor"), take(fault.part_number, "part_number");
  fault.confidence = std::isfinite(row.value) ? std::clamp(row.value, 0.0, 1.0) : 0;
  return fault;
}

/// Several queries, of which the first that fails is the answer.
class Asker {
 public:
  explicit Asker(const Prometheus& prometheus) : prometheus_(prometheus) {}
  PrometheusVector rows(const std::string& expression) {
    if (failed_) return {};
    auto answer = prometheus_.query(expression);
    if (answer) return std::move(*answer);
    failed_ = answer.error();
    return {};
  }
  double number(const std::string& expression) {
    const PrometheusVector all = rows(expression);
    return all.empty() ? 0 : all.front().value;
  }
  [[nodiscard]] const std::optional<Error>& failed() const { return failed_; }

 private:
  const Prometheus& prometheus_;
  std::optional<Error> failed_;
};

std::optional<WallTime> instant_of(double unix_s) {
  constexpr double kLatest = 4e9;
  if (!(unix_s > 0 && unix_s < kLatest)) return std::nullopt;
  return WallTime(from_seconds(unix_s));
}

void ask_faults(Asker& ask, FleetView& view) {
  constexpr std::size_t kMostFaults = 5000;  // for one screen, and for one round
  view.faults_total = whole(ask.number(fmt::format("count({})", kOpen)));
  std::map<std::string, std::size_t> by_fault;
  for (const PrometheusRow& row : ask.rows(fmt::format("topk({}, {})", kMostFaults, kOpen))) {
    by_fault.emplace(fault_of(row), view.faults.size());
    view.faults.push_back(fault_from(row));
  }
  const auto joined = [&](const char* expression, const char* on) {
    return ask.rows(fmt::format("{} and on ({}) {}", expression, on, kOpen));
  };
  for (const PrometheusRow& row :
       joined("linkhealth_fault_opened_timestamp_seconds", "instance, device, port, fault, end"))
    if (const auto at = by_fault.find(fault_of(row)); at != by_fault.end())
      view.faults[at->second].opened_at = instant_of(row.value);
  std::map<std::string, double> lost;
  for (const PrometheusRow& row :
       joined("link:linkhealth_bandwidth_lost_bytes_per_second:current", "instance, device, port"))
    lost[link_of(row)] = std::isfinite(row.value) ? row.value : 0;
  std::map<std::string, std::pair<std::string, std::string>> modules;
  for (const PrometheusRow& row : joined("linkhealth_module_info", "instance, device, port"))
    modules[link_of(row)] = {std::string(row.label("serial")), std::string(row.label("connector"))};
  for (FleetFault& fault : view.faults) {
    const std::string link = fmt::format("{}\n{}\n{}", fault.instance, fault.device, fault.port);
    if (const auto at = lost.find(link); at != lost.end()) fault.lost_bytes_per_s = at->second;
    if (const auto at = modules.find(link); at != modules.end())
      std::tie(fault.serial, fault.connector) = at->second;
  }
  std::map<std::string, bool, std::less<>> switches, nodes;
  for (const PrometheusRow& row : ask.rows("switch:linkhealth_shared_fault:links"))
    switches[std::string(row.label("peer_system"))] = true;
  for (const PrometheusRow& row : ask.rows("instance:linkhealth_shared_fault:links"))
    nodes[std::string(row.label("instance"))] = true;
  for (FleetFault& fault : view.faults) {
    if (fault.severity == "notice") continue;
    const bool own = fault.end == "node" || fault.end == "fabric";
    if (!own && !fault.peer_system.empty() && switches.contains(fault.peer_system))
      fault.shared = fault.peer_system;
    if (fault.shared.empty() && nodes.contains(fault.instance)) fault.shared = fault.instance;
  }
}

void ask_groups(Asker& ask, const FleetOptions& options, FleetView& view) {
  const auto* level = std::find_if(std::begin(kLevels), std::end(kLevels),
                                   [&](const Level& row) { return row.by == options.by; });
  if (level == std::end(kLevels)) return;
  std::map<std::string, FleetGroup> groups;
  for (const PrometheusRow& row : ask.rows(std::string(level->series))) {
    std::string name;
    for (const std::string_view label : level->labels)
      if (!label.empty() && !row.label(label).empty())
        name += (name.empty() ? "" : " ") + std::string(row.label(label));
    FleetGroup& group = groups[name];
    group.name = name;
    group.links[std::string(row.label("health"))] += whole(row.value);
  }
  std::string by(level->labels[0]);
  if (!level->labels[1].empty()) by += ", " + std::string(level->labels[1]);
  for (const PrometheusRow& row :
       ask.rows(fmt::format("count by ({}) ({}{{{}!=\"\"}})", by, kOpen, level->fault_label))) {
    std::string name;
    for (const std::string_view label : level->labels)
      if (!label.empty() && !row.label(label).empty())
        name += (name.empty() ? "" : " ") + std::string(row.label(label));
    if (const auto at = groups.find(name); at != groups.end()) at->second.faults = whole(row.value);
  }
  for (auto& [name, group] : groups) view.groups.push_back(std::move(group));
  std::stable_sort(view.groups.begin(), view.groups.end(),
                   [](const FleetGroup& a, const FleetGroup& b) {
                     return a.bad() != b.bad() ? a.bad() > b.bad() : a.faults > b.faults;
                   });
  view.groups_total = view.groups.size();
  if (view.groups.size() > options.limit) view.groups.resize(options.limit);
}

}  // namespace

Result<FleetView> ask_fleet(const Prometheus& prometheus, const FleetOptions& options) {
  Asker ask(prometheus);
  FleetView view;
  view.nodes = whole(ask.number("count(count by (instance) (linkhealth_build_info))"));
  view.silent_nodes = whole(ask.number("count(up{job=\"linkhealth\"} == 0)"));
  if (!ask.failed() && view.nodes == 0)
    return Error{"Prometheus at " + prometheus.shown() + " has no data of linkhealth" +
                 (view.silent_nodes > 0
                      ? fmt::format(": none of {} nodes answers", view.silent_nodes)
                      : ": does it scrape the nodes? (deploy/README.md)")};
  for (const PrometheusRow& row : ask.rows("fleet:linkhealth_links:count"))
    view.links.links[std::string(row.label("health"))] = whole(row.value);
  if (!ask.failed() && view.links.all() == 0)
    return Error{"Prometheus at " + prometheus.shown() +
                 " has linkhealth's nodes, and no result of its rules: load dashboards/rules "
                 "(docs/operations.md)"};
  const double lost = ask.number("fleet:linkhealth_bandwidth_lost_bytes_per_second:sum");
  view.lost_bytes_per_s = std::isfinite(lost) ? std::max(lost, 0.0) : 0;
  if (options.by.empty()) {
    ask_faults(ask, view);
    rank_by_cost(view.faults);
    std::uint64_t kept = 0;
    std::erase_if(view.faults, [&](const FleetFault& fault) {
      // what is no work at a link is told in a line of the work list
      const bool told = options.work_list && (!fault.shared.empty() || fault.severity == "notice");
      return !told && ++kept > options.limit;
    });
  } else {
    ask_groups(ask, options, view);
  }
  if (ask.failed()) return *ask.failed();
  return view;
}

int run_fleet(const FleetOptions& options, const TextStyle& style, const Clock& clock) {
  if (options.prometheus.url.empty()) {
    complain(
        "fleet: which Prometheus? --prometheus URL, or LINKHEALTH_PROMETHEUS in the environment");
    return kBadInput;
  }
  const auto prometheus = Prometheus::open(options.prometheus);
  if (!prometheus) {
    complain(prometheus.error().message);
    return kBadInput;
  }
  const auto view = ask_fleet(*prometheus, options);
  if (!view) {
    complain(view.error().message);
    return view.error().errnum != 0 ? kNotReachable : kDaemonError;
  }
  const WallTime now = clock.wall();
  const std::string text = options.json        ? fleet_json(*view, options, now)
                           : options.work_list ? work_list_text(*view, options, now)
                                               : fleet_text(*view, options, now, style);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return kOk;
}

}  // namespace linkhealth::cli
