#include "tests/sim/degrade.h"

#include <algorithm>

namespace linkhealth::sim {
namespace {

bool is_transport(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "packet_seq_err",      "local_ack_timeout_err", "implied_nak_seq_err",
      "duplicate_request",   "roce_adp_retrans",      "rnr_nak_retry_err",
      "out_of_buffer",       "out_of_sequence",       "req_transport_retries_exceeded",
      "rx_icrc_encapsulated"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

template <typename Drop>
void filter(Counters& counters, Drop drop) {
  Counters kept;
  for (const auto& [id, value] : counters.known())
    if (!drop(known_counters()[id].name)) kept.set(id, value);
  for (const auto& [name, value] : counters.other())
    if (!drop(name)) kept.set(name, value);
  counters = kept;
}

void drop_counters(PortSample& port) {
  port.counters.reset();
  port.fec_lanes.clear();
}

constexpr Degrade kTable[] = {
    {"nothing", "as recorded"},
    {"no_expected", "no plan"},
    {"thin", "every third snapshot"},
    {"no_peer", "nothing of the far end", [](PortSample& port) { port.peer.reset(); }},
    {"no_lanes", "no errors per lane", [](PortSample& port) { port.fec_lanes.clear(); }},
    {"no_bits", "corrected blocks only",
     [](PortSample& port) {
       port.fec_lanes.clear();
       if (port.counters)
         filter(*port.counters, [](std::string_view name) { return name == "fec_corrected_bits"; });
     }},
    {"no_down_reason", "the driver reports no reason",
     [](PortSample& port) {
       if (port.link) port.link->down_reason.reset();
     }},
    {"no_module", "no module readings", [](PortSample& port) { port.module.reset(); }},
    {"slow_module", "the module is read every five minutes"},
    {"no_thresholds", "the module gives no limits",
     [](PortSample& port) {
       if (port.module) port.module->thresholds = {};
     }},
    {"no_events", "levels and counts only"},
    {"no_log", "no kernel log"},
    {"no_uptime", "the kernel's uptime is not known"},
    {"no_carrier_count", "no carrier counts",
     [](PortSample& port) {
       if (port.link) port.link->carrier_up_count = port.link->carrier_down_count = std::nullopt;
     }},
    {"no_pcie", "no PCIe", [](PortSample& port) { port.pcie.reset(); }},
    {"no_transport", "no hw_counters",
     [](PortSample& port) {
       if (port.counters) filter(*port.counters, is_transport);
     }},
    {"late_start", "the monitor starts half an hour before the fault"},
    {"holes", "every group fails now and then"},
    {"split_groups", "link, counters and module in snapshots of their own"},
    {"no_serial", "the module's identity is not readable",
     [](PortSample& port) {
       if (port.module) port.module->serial = port.module->vendor = port.module->part_number = "";
     }},
    {"own_periods", "each counter at the shipped period of its source"},
};

}  // namespace

std::span<const Degrade> degrade_table() { return kTable; }

const Degrade* find_degrade(std::string_view name) {
  const auto* const row = std::ranges::find(kTable, name, &Degrade::name);
  return row == std::end(kTable) ? nullptr : row;
}

void Degrader::header(RecordingHeader& header) const {
  if (is("no_expected")) header.expected.clear();
}

void Degrader::strip(PortSample& port, const PortKey& key, SteadyTime now) {
  SourceMap& sources = sources_[key];
  if (port.sources) sources = *port.sources;
  if (is("no_module")) sources.erase(SourceId::kModule);
  SourceMap with_holes = sources;
  const auto hole = [&](std::uint64_t every, SourceId source) {
    if ((count_ * 7 + port.id.device.size() + key.back()) % every != 0) return false;
    with_holes[source] = {SourceState::kFailing, "EIO", now, {}};
    return true;
  };
  if (kind_.strip != nullptr) kind_.strip(port);
  if (is("slow_module") && !module_due_) port.module.reset();
  if (is("split_groups") && count_ % 2 == 0) port.link.reset();
  if (is("split_groups") && count_ % 2 == 1) drop_counters(port);
  if (is("own_periods")) keep_due(port, key, now);
  if (is("holes")) {
    if (port.link && hole(11, SourceId::kLink)) port.link.reset();
    if (port.counters && hole(9, SourceId::kCounters)) drop_counters(port);
    if (port.module && hole(5, SourceId::kModule)) port.module.reset();
    if (port.peer && hole(3, SourceId::kPeerMad)) port.peer.reset();
  }
  if (const auto shown = shown_sources_.find(key);
      shown == shown_sources_.end() || shown->second != with_holes)
    port.sources = with_holes;
  shown_sources_[key] = with_holes;
}

/// As in recordings of older daemons: the drivers' own counters and the classic ones once a minute.
double older_period_s(CounterSource source) {
  return source == CounterSource::kEthtoolDriver || source == CounterSource::kIbPort ? 60 : 0;
}

void Degrader::keep_due(PortSample& port, const PortKey& key, SteadyTime now) {
  const auto early = [&](const std::string& name, double period_s) {
    const auto [at, first] = counted_at_.try_emplace({key, name}, now);
    if (!first && in_seconds(now - at->second) < period_s - 1) return true;
    at->second = first ? now - from_seconds(10 * static_cast<double>(name.size() % 6))
                       : now;  // not all at once
    return false;
  };
  if (port.counters)
    filter(*port.counters, [&early](std::string_view name) {
      const auto id = find_counter(name);
      return id && early(std::string(name), older_period_s(known_counters()[*id].source));
    });
  if (early("the driver's lanes", older_period_s(CounterSource::kEthtoolDriver)))
    port.fec_lanes.clear();
}

/// A slower monitor reads every group each time: groups of skipped snapshots are added to the next
/// one.
bool Degrader::thin(Snapshot& snapshot) {
  held_.events.insert(held_.events.end(), snapshot.events.begin(), snapshot.events.end());
  for (auto& [key, port] : snapshot.ports) {
    PortSample& kept = held_.ports[key];
    if (port.link) kept.link = port.link;
    if (port.counters) {
      kept.counters = port.counters;
      kept.fec_lanes = port.fec_lanes;
    }
    if (port.module) kept.module = port.module;
    if (port.peer) kept.peer = port.peer;
    if (port.pcie) kept.pcie = port.pcie;
    if (port.sources) kept.sources = port.sources;
  }
  if (count_ % 3 != 0) return false;
  snapshot.events = std::move(held_.events);
  for (auto& [key, port] : snapshot.ports) {
    const PortId id = port.id;
    port = held_.ports[key];
    port.id = id;
  }
  held_ = Snapshot{};
  return true;
}

std::optional<Snapshot> Degrader::apply(Snapshot snapshot) {
  ++count_;
  const double t = steady_seconds(snapshot.taken_at);
  for (const auto& [key, port] : snapshot.ports)
    if (port.sources) sources_[key] = *port.sources;
  if (is("late_start") && t < keep_from_s_) return std::nullopt;
  if (is("thin") && !thin(snapshot)) return std::nullopt;
  if (is("no_events")) snapshot.events.clear();
  if (is("no_log"))
    std::erase_if(snapshot.events,
                  [](const PortEvent& event) { return event.kind == PortEventKind::kKernelLog; });
  if (is("no_uptime")) snapshot.uptime_s.reset();
  module_due_ = !module_at_ || in_seconds(snapshot.taken_at - *module_at_) >= 299;
  bool read = false;
  for (auto& [key, port] : snapshot.ports) {
    strip(port, key, snapshot.taken_at);
    read = read || port.module.has_value();
  }
  if (read) module_at_ = snapshot.taken_at;
  return snapshot;
}

}  // namespace linkhealth::sim
