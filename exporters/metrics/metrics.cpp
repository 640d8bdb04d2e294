#include "exporters/metrics/metrics.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "exporters/metrics/gap_label.h"
#include "exporters/metrics/metric_families.h"

namespace linkhealth {

namespace {

constexpr double kBytesPerMegabit = 125'000;

PortLabels split_key(const PortKey& key) {
  const auto slash = key.rfind('/');
  if (slash == std::string::npos) return {key, "1"};
  return {key.substr(0, slash), key.substr(slash + 1)};
}

PortLabels labels_of(const PortId& id) { return {id.device, std::to_string(id.port)}; }

PortLabels labels_of(const PortReport& port) {
  return port.latest.id.device.empty() ? split_key(port.port) : labels_of(port.latest.id);
}

/// Of the node; "" where configuration says nothing.
std::string_view label_of(const Report& report, const std::string& name) {
  if (!report.site) return {};
  const auto at = report.site->find(name);
  return at == report.site->end() ? std::string_view() : at->second;
}

void add_identity(MetricFamilies& out, const PortReport& port, const PortLabels& at,
                  const Report& report) {
  const PortId& id = port.latest.id;
  const auto& peer = port.latest.peer;
  const bool planned =
      !peer && !(port.expected.peer_system.empty() && port.expected.peer_port.empty());
  const std::string_view rail =
      port.expected.rail.empty() ? label_of(report, "rail") : port.expected.rail;
  out.add("linkhealth_port_info",
          {at.device, at.port, id.netdev, id.pci, id.driver, id.guid, id.link_layer, id.function,
           id.firmware, id.board_id, id.hca_type, peer ? peer->system : port.expected.peer_system,
           peer ? peer->port : port.expected.peer_port,
           peer      ? std::string_view(peer->source)
           : planned ? "plan"
                     : "",
           label_of(report, "pod"), label_of(report, "row"), label_of(report, "rack"),
           label_of(report, "u"), rail},
          1.0);
  out.add("linkhealth_port_health", {at.device, at.port, to_string(port.health)}, 1.0);
  const auto& module = port.latest.module;
  if (module && module->present)
    out.add("linkhealth_module_info",
            {at.device, at.port, module->kind, module->type, module->connector, module->vendor,
             module->part_number, module->serial, module->revision, module->firmware},
            1.0);
}

void add_faults(MetricFamilies& out, const PortReport& port, const PortLabels& at) {
  for (const FaultReport& fault : port.faults) {
    const std::string_view end = to_string(fault.end);
    out.add(
        "linkhealth_fault_active",
        {at.device, at.port, fault.fault, end, to_string(fault.severity), to_string(fault.state)},
        fault.confidence);
    out.add("linkhealth_fault_opened_timestamp_seconds", {at.device, at.port, fault.fault, end},
            unix_seconds(fault.opened_at));
  }
}

void add_link(MetricFamilies& out, const PortReport& port, const PortLabels& at,
              WallTime report_at) {
  const std::initializer_list<std::string_view> labels = {at.device, at.port};
  const auto& link = port.latest.link;
  const auto carrier = link ? link->carrier : std::nullopt;
  std::optional<double> speed;
  if (link && link->speed_mbps) speed = *link->speed_mbps * kBytesPerMegabit;
  if (carrier) out.add("linkhealth_link_up", labels, *carrier ? 1.0 : 0.0);
  if (port.expected.speed_mbps)
    out.add("linkhealth_bandwidth_expected_bytes_per_second", labels,
            *port.expected.speed_mbps * kBytesPerMegabit);
  if (carrier)
    out.add("linkhealth_bandwidth_available_bytes_per_second", labels,
            *carrier ? speed : std::optional(0.0));
  else if (!port.latest.id.exempt
                .empty())  // efa: neither an InfiniBand port nor an interface that has a carrier
    out.add("linkhealth_bandwidth_available_bytes_per_second", labels, speed);
  if (port.latest.id.exempt.empty()) {  // of the others nobody counts them
    out.add("linkhealth_link_downs_total", {at.device, at.port, "involuntary"},
            static_cast<double>(port.figures.involuntary_downs_told));
    out.add("linkhealth_link_downs_total", {at.device, at.port, "voluntary"},
            static_cast<double>(port.figures.voluntary_downs_told()));
    if (const auto at_time = port.figures.last_involuntary_down_at)
      out.add("linkhealth_link_last_down_timestamp_seconds", labels,
              std::round(unix_seconds(*at_time)));
  }
  out.add("linkhealth_pre_fec_ber", labels, port.figures.pre_fec_ber);
  out.add("linkhealth_rx_power_margin_db", labels, port.figures.rx_power_margin_db);
  for (const Trend& trend : port.trends) {
    out.add("linkhealth_trend_days_left", {at.device, at.port, trend.what, "estimate"},
            trend.days_left);
    out.add("linkhealth_trend_days_left", {at.device, at.port, trend.what, "low"},
            trend.days_left_low);
    out.add("linkhealth_trend_days_left", {at.device, at.port, trend.what, "high"},
            trend.days_left_high);
  }
  if (link && link->down_reason && !link->carrier.value_or(true))
    out.add("linkhealth_link_down_reason_info",
            {at.device, at.port, link->down_reason->state, link->down_reason->substate}, 1.0);
  if (port.latest.counters)
    if (const auto blocks = port.latest.counters->get("fec_uncorrectable_blocks"))
      out.add("linkhealth_fec_uncorrectable_blocks_total", labels, static_cast<double>(*blocks));
  if (port.latest.peer && port.latest.peer->age_s)
    out.add("linkhealth_peer_read_timestamp_seconds", labels,
            std::round(unix_seconds(report_at) - *port.latest.peer->age_s));
}

void add_gap(MetricFamilies& out, const Gap& gap, const PortLabels& at) {
  out.add("linkhealth_gap", {at.device, at.port, gap.probe, gap_label(gap.reason)}, 1.0);
}

/// Reads that began and do not come back (daemon/sampling/sampler.cpp gives the gap's words).
double stuck_probes(const Report& report) {
  const auto count = [](const std::vector<Gap>& gaps) {
    return std::count_if(gaps.begin(), gaps.end(),
                         [](const Gap& gap) { return gap.reason.starts_with("no answer within"); });
  };
  auto stuck = count(report.gaps);
  for (const PortReport& port : report.ports) stuck += count(port.gaps);
  return static_cast<double>(stuck);
}

void add_counters(MetricFamilies& out, const PortReport& port, const PortLabels& at) {
  if (port.latest.link) {
    const LinkSample& link = *port.latest.link;
    if (!link.state.empty() || !link.phys_state.empty())
      out.add("linkhealth_port_state_info", {at.device, at.port, link.state, link.phys_state}, 1.0);
    if (port.latest.link->carrier_up_count)
      out.add("linkhealth_raw_total", {at.device, at.port, "carrier_up_count"},
              static_cast<double>(*port.latest.link->carrier_up_count));
    if (port.latest.link->carrier_down_count)
      out.add("linkhealth_raw_total", {at.device, at.port, "carrier_down_count"},
              static_cast<double>(*port.latest.link->carrier_down_count));
  }
  if (!port.latest.counters) return;
  constexpr Metric kRaw = "linkhealth_raw_total", kLevel = "linkhealth_raw_level";
  const auto add = [&](Metric metric, std::string_view name, std::uint64_t value) {
    out.add(metric, {at.device, at.port, name}, static_cast<double>(value));
  };
  for (const auto& [id, value] : port.latest.counters->known())
    add(known_counters()[id].end == CounterEnd::kLevel ? kLevel : kRaw, known_counters()[id].name,
        value);
  for (const auto& [name, value] : port.latest.counters->other()) add(kRaw, name, value);
}

void add_events(MetricFamilies& out, const FaultEventCounts& counts, SteadyTime now) {
  for (const auto& [key, row] : counts.events())
    out.add("linkhealth_fault_events_total", {key.device, key.port, key.fault, to_string(key.kind)},
            row.shown(now));
  for (const auto& [key, row] : counts.repairs())
    out.add("linkhealth_repairs_total", {to_string(key.action), to_string(key.outcome)},
            row.shown(now));
}

void add_node(MetricFamilies& out, const Report& report, const MonitorFigures& monitor) {
  const auto place = [&](const char* label) { return label_of(report, label); };
  out.add("linkhealth_build_info", {monitor.version}, 1.0);
  out.add("linkhealth_node_info",
          {report.node, place("pod"), place("row"), place("rack"), place("u")}, 1.0);
  if (monitor.started_at)
    out.add("process_start_time_seconds", {}, unix_seconds(*monitor.started_at));
  out.add("linkhealth_last_sample_timestamp_seconds", {}, unix_seconds(report.at));
}

/// A probe may run once for each device: the cycle's cost is the sum.
void add_timings(MetricFamilies& out, const std::vector<ProbeTiming>& timings) {
  std::map<std::string, double> durations_s;
  for (const ProbeTiming& timing : timings) durations_s[timing.probe] += timing.duration_s;
  for (const auto& [probe, duration_s] : durations_s)
    out.add("linkhealth_probe_duration_seconds", {probe}, duration_s);
}

void add_store(MetricFamilies& out, const std::optional<StoreHealth>& store) {
  if (!store) return;
  out.add("linkhealth_store_up", {}, store->working ? 1.0 : 0.0);
  out.add("linkhealth_store_write_failures_total", {}, static_cast<double>(store->failures));
  out.add("linkhealth_store_dropped_total", {"rows"}, static_cast<double>(store->dropped_rows));
  out.add("linkhealth_store_dropped_total", {"events"}, static_cast<double>(store->dropped_events));
  out.add("linkhealth_store_size_bytes", {}, static_cast<double>(store->bytes));
}

}  // namespace

void FaultEventCounts::add(const FaultEvent& event) {
  const SteadyTime zero_until = event.t + from_seconds(kZero_s);
  PortLabels at = split_key(event.port);
  EventKey key{std::move(at.device), std::move(at.port), event.fault.fault, event.kind};
  if (events_.size() >= kMaxPortRows && !events_.contains(key)) key.device = key.port = "";
  ++events_.try_emplace(std::move(key), Row{0, zero_until}).first->second.count;
  if (event.kind != FaultEventKind::kClosed) return;
  constexpr std::size_t kMostFaults = 256;
  if (judged_.size() >= kMostFaults) judged_.clear();
  std::size_t number = 0;
  std::size_t& counted = judged_[event.fault.id];
  for (const RepairRecord& repair : event.fault.repairs) {
    if (repair.outcome == RepairOutcome::kPending || number++ < counted) continue;
    ++repairs_.try_emplace({repair.action, repair.outcome}, Row{0, zero_until}).first->second.count;
  }
  counted = number;
}

std::string metrics_text(const Report& report, const FaultEventCounts& events,
                         const MonitorFigures& monitor, MetricGroups groups) {
  groups.counters = groups.counters || monitor.always.counters;
  groups.optics = groups.optics || monitor.always.optics;
  MetricFamilies out;
  add_node(out, report, monitor);
  for (const PortReport& port : report.ports) {
    const PortLabels at = labels_of(port);
    add_identity(out, port, at, report);
    if (port.maintenance) out.add("linkhealth_port_maintenance", {at.device, at.port}, 1.0);
    add_faults(out, port, at);
    add_link(out, port, at, report.at);
    for (const Gap& gap : port.gaps) add_gap(out, gap, at);
    if (groups.counters) add_counters(out, port, at);
    if (groups.counters) add_phy(out, port, at);
    if (groups.optics) add_hardware(out, port, at);
  }
  for (const Gap& gap : report.gaps) add_gap(out, gap, {});
  out.add("linkhealth_stuck_probes", {}, stuck_probes(report));
  add_events(out, events, report.t);
  add_timings(out, report.timings);
  out.add("linkhealth_loop_lateness_seconds", {}, monitor.loop_lateness_s);
  add_store(out, monitor.store);
  if (groups.counters && monitor.store)
    out.add("linkhealth_store_writes_total", {}, static_cast<double>(monitor.store->writes));
  return std::move(out).text();
}

}  // namespace linkhealth
