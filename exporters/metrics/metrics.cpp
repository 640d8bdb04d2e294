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

/// Of the node; "" if the configuration does not set it.
std::string_view label_of(const Report& report, const std::string& name) {
  if (!report.site) return {};
  const auto at = report.site->find(name);
  return at == report.site->end() ? std::string_view() : at->second;
}

void add_identity(PortSeries& out, const PortReport& port, const Report& report) {
  const PortId& id = port.latest.id;
  const auto& peer = port.latest.peer;
  const ExpectedPort& expected = port.expected;
  const bool planned = !peer && !(expected.peer_system.empty() && expected.peer_port.empty());
  const std::string_view rail = expected.rail.empty() ? label_of(report, "rail") : expected.rail;
  const std::string_view source = peer ? std::string_view(peer->source) : std::string_view();
  out.add(
      "linkhealth_port_info",
      {id.netdev, id.pci, id.driver, id.guid, id.link_layer, id.function, id.firmware, id.board_id,
       id.hca_type, peer ? peer->system : expected.peer_system,
       peer ? peer->port : expected.peer_port, planned ? "plan" : source, label_of(report, "pod"),
       label_of(report, "row"), label_of(report, "rack"), label_of(report, "u"), rail},
      1);
  out.add("linkhealth_port_health", {to_string(port.health)}, 1);
  if (port.maintenance) out.add("linkhealth_port_maintenance", 1);
  const auto& module = port.latest.module;
  if (module && module->present)
    out.add("linkhealth_module_info",
            {module->kind, module->type, module->connector, module->vendor, module->part_number,
             module->serial, module->revision, module->firmware},
            1);
}

/// Whole per cent from 1 to 99, as people read them: an alert writes "99%", not "98.77%".
double in_whole_percent(double confidence) {
  return std::clamp(std::round(confidence * 100) / 100, 0.01, 0.99);
}

void add_faults(PortSeries& out, const PortReport& port) {
  for (const FaultReport& fault : port.faults) {
    const std::string_view end = to_string(fault.end);
    if (!is_told_on(fault, port.port)) {
      out.add("linkhealth_fault_shared", {fault.fault, end, fault.ports.front()}, 1);
      continue;
    }
    out.add("linkhealth_fault_active",
            {fault.fault, end, to_string(fault.severity), to_string(fault.state)},
            in_whole_percent(fault.confidence));
    out.add("linkhealth_fault_opened_timestamp_seconds", {fault.fault, end},
            unix_seconds(fault.opened_at));
    if (!fault.lanes.empty())
      out.add("linkhealth_fault_lane", {fault.fault, end}, fault.lanes.front());
  }
}

/// The highest speed ever seen; nullopt if nothing is expected of the port.
std::optional<std::uint32_t> best_speed(const PortReport& port) {
  if (!port.exempt.empty() || !port.figures.best_speed_mbps) return std::nullopt;
  return static_cast<std::uint32_t>(*port.figures.best_speed_mbps);
}

void add_bandwidth(PortSeries& out, const PortReport& port) {
  const auto bytes_per_s = [](const std::optional<std::uint32_t>& speed_mbps) {
    return speed_mbps ? std::optional(*speed_mbps * kBytesPerMegabit) : std::nullopt;
  };
  out.add("linkhealth_bandwidth_expected_bytes_per_second",
          bytes_per_s(port.expected.speed_mbps ? port.expected.speed_mbps : best_speed(port)));
  const auto& link = port.latest.link;
  if (!link) return;
  out.add("linkhealth_link_up", link->carrier);
  if (link->carrier == false)
    out.add("linkhealth_bandwidth_available_bytes_per_second", 0);
  else if (link->carrier || !port.latest.id.exempt.empty())  // efa has a speed but no carrier
    out.add("linkhealth_bandwidth_available_bytes_per_second", bytes_per_s(link->speed_mbps));
}

void add_link(PortSeries& out, const PortReport& port, WallTime report_at) {
  const PortFigures& figures = port.figures;
  const PortSample& latest = port.latest;
  add_bandwidth(out, port);
  if (latest.id.exempt.empty()) {  // the carrier losses of other ports are not counted
    out.add("linkhealth_link_downs_total", {"involuntary"}, figures.involuntary_downs_told);
    out.add("linkhealth_link_downs_total", {"voluntary"}, figures.voluntary_downs_told());
    if (const auto at = figures.last_involuntary_down_at)
      out.add("linkhealth_link_last_down_timestamp_seconds", std::round(unix_seconds(*at)));
  }
  out.add("linkhealth_pre_fec_ber", figures.pre_fec_ber);
  out.add("linkhealth_rx_power_margin_db", figures.rx_power_margin_db);
  for (const Trend& trend : port.trends) {
    out.add("linkhealth_trend_days_left", {trend.what, "estimate"}, trend.days_left);
    out.add("linkhealth_trend_days_left", {trend.what, "low"}, trend.days_left_low);
    out.add("linkhealth_trend_days_left", {trend.what, "high"}, trend.days_left_high);
  }
  if (latest.link && latest.link->down_reason && latest.link->carrier != true)
    out.add("linkhealth_link_down_reason_info",
            {latest.link->down_reason->state, latest.link->down_reason->substate}, 1);
  if (latest.counters)
    out.add("linkhealth_fec_uncorrectable_blocks_total",
            latest.counters->get("fec_uncorrectable_blocks"));
  if (latest.peer && latest.peer->age_s)
    out.add("linkhealth_peer_read_timestamp_seconds",
            std::round(unix_seconds(report_at) - *latest.peer->age_s));
}

void add_gaps(MetricFamilies& out, const PortKey& port, const std::vector<Gap>& gaps) {
  for (const Gap& gap : gaps)
    PortSeries(out, port).add("linkhealth_gap", {gap.probe, gap_label(gap.reason)}, 1);
}

/// Only for a port with unreadable sources: the default set is small.
void add_sources(PortSeries& out, const std::map<PortKey, SightCount>& sight, const PortKey& port) {
  const auto count = sight.find(port);
  if (count == sight.end() || count->second.unreadable == 0) return;
  const auto& [unreadable, sources] = count->second;
  out.add("linkhealth_port_sources", {"readable"}, sources - unreadable);
  out.add("linkhealth_port_sources", {"unreadable"}, unreadable);
}

/// Hung reads (daemon/sampling/sampler.cpp writes the reason).
double stuck_probes(const Report& report) {
  const auto count = [](const std::vector<Gap>& gaps) {
    return std::ranges::count_if(
        gaps, [](const Gap& gap) { return gap.reason.starts_with("no answer within"); });
  };
  auto stuck = count(report.gaps);
  for (const PortReport& port : report.ports) stuck += count(port.gaps);
  return static_cast<double>(stuck);
}

void add_counters(PortSeries& out, const PortReport& port) {
  constexpr Metric kRaw = "linkhealth_raw_total", kLevel = "linkhealth_raw_level";
  if (const auto& link = port.latest.link) {
    if (!link->state.empty() || !link->phys_state.empty())
      out.add("linkhealth_port_state_info", {link->state, link->phys_state}, 1);
    out.add(kRaw, {"carrier_up_count"}, link->carrier_up_count);
    out.add(kRaw, {"carrier_down_count"}, link->carrier_down_count);
  }
  if (!port.latest.counters) return;
  for (const auto& [id, value] : port.latest.counters->known())
    out.add(known_counters()[id].end == CounterEnd::kLevel ? kLevel : kRaw,
            {known_counters()[id].name}, value);
  for (const auto& [name, value] : port.latest.counters->other()) out.add(kRaw, {name}, value);
}

void add_events(MetricFamilies& out, const FaultEventCounts& counts, SteadyTime now) {
  for (const auto& [key, row] : counts.events())
    PortSeries(out, key.port)
        .add("linkhealth_fault_events_total", {key.fault, to_string(key.kind)}, row.shown(now));
  for (const auto& [key, row] : counts.repairs())
    out.add("linkhealth_repairs_total", {to_string(key.action), to_string(key.outcome)},
            row.shown(now));
}

void add_node(MetricFamilies& out, const Report& report, const MonitorFigures& monitor) {
  out.add("linkhealth_build_info", {monitor.version}, 1);
  out.add("linkhealth_node_info",
          {report.node, label_of(report, "pod"), label_of(report, "row"), label_of(report, "rack"),
           label_of(report, "u")},
          1);
  if (monitor.started_at)
    out.add("process_start_time_seconds", {}, unix_seconds(*monitor.started_at));
  out.add("linkhealth_last_sample_timestamp_seconds", {}, unix_seconds(report.at));
}

void add_monitor(MetricFamilies& out, const Report& report, const MonitorFigures& monitor) {
  out.add("linkhealth_stuck_probes", {}, stuck_probes(report));
  std::map<std::string, double> durations_s;  // a probe may run once per device: sum them
  for (const ProbeTiming& timing : report.timings) durations_s[timing.probe] += timing.duration_s;
  for (const auto& [probe, duration_s] : durations_s)
    out.add("linkhealth_probe_duration_seconds", {probe}, duration_s);
  if (monitor.loop_lateness_s)
    out.add("linkhealth_loop_lateness_seconds", {}, *monitor.loop_lateness_s);
}

void add_store(MetricFamilies& out, const StoreHealth& store, bool counters) {
  const auto add = [&out](Metric metric, const std::vector<std::string_view>& labels, auto value) {
    out.add(metric, labels, static_cast<double>(value));
  };
  add("linkhealth_store_up", {}, store.working);
  add("linkhealth_store_write_failures_total", {}, store.failures);
  add("linkhealth_store_dropped_total", {"rows"}, store.dropped_rows);
  add("linkhealth_store_dropped_total", {"events"}, store.dropped_events);
  add("linkhealth_store_trimmed_events_total", {}, store.trimmed_events);
  add("linkhealth_store_size_bytes", {}, store.bytes);
  if (counters) add("linkhealth_store_writes_total", {}, store.writes);
}

}  // namespace

void FaultEventCounts::add(const FaultEvent& event) {
  constexpr std::size_t kMostFaults = 256;
  const SteadyTime zero_until = event.t + from_seconds(kZero_s);
  EventKey key{event.port, event.fault.fault, event.kind};
  if (events_.size() >= kMaxPortRows && !events_.contains(key)) key.port.clear();
  ++events_.try_emplace(std::move(key), Row{0, zero_until}).first->second.count;
  if (event.kind != FaultEventKind::kClosed) return;
  if (counted_repairs_.size() >= kMostFaults) counted_repairs_.clear();
  std::size_t number = 0;
  std::size_t& counted = counted_repairs_[event.fault.id];
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
    PortSeries series(out, port.port);
    add_identity(series, port, report);
    add_faults(series, port);
    add_link(series, port, report.at);
    add_gaps(out, port.port, port.gaps);
    add_sources(series, monitor.sight, port.port);
    if (groups.counters) add_counters(series, port);
    if (groups.counters) add_phy(series, port);
    if (groups.optics) add_hardware(series, port);
  }
  add_gaps(out, "", report.gaps);
  add_events(out, events, report.t);
  add_monitor(out, report, monitor);
  if (monitor.store) add_store(out, *monitor.store, groups.counters);
  return std::move(out).text();
}

}  // namespace linkhealth
