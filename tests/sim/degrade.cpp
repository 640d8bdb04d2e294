#include "tests/sim/degrade.h"

#include <algorithm>

namespace linkhealth::sim {
namespace {

using enum Degrade;

constexpr DegradeInfo kTable[] = {
    {kNothing, "nothing", "as recorded"},
    {kNoExpected, "no_expected", "nobody wrote a plan"},
    {kThin, "thin", "every third snapshot"},
    {kNoPeer, "no_peer", "nothing of the far end"},
    {kNoLanes, "no_lanes", "no errors per lane"},
    {kNoBits, "no_bits", "corrected blocks only"},
    {kNoDownReason, "no_down_reason", "the driver gives no reason"},
    {kNoModule, "no_module", "no module readings"},
    {kSlowModule, "slow_module", "the module is read every five minutes"},
    {kNoThresholds, "no_thresholds", "the module gives no limits"},
    {kNoEvents, "no_events", "levels and counts only"},
    {kNoLog, "no_log", "no kernel log"},
    {kNoUptime, "no_uptime", "the kernel's uptime is not known"},
    {kNoCarrierCount, "no_carrier_count", "no carrier counts"},
    {kNoPcie, "no_pcie", "no PCIe"},
    {kNoTransport, "no_transport", "no hw_counters"},
    {kLateStart, "late_start", "the monitor starts half an hour before the fault"},
    {kHoles, "holes", "every group fails now and then"},
    {kSplitGroups, "split_groups", "link, counters and module in snapshots of their own"},
    {kNoSerial, "no_serial", "the module's identity is not readable"},
    {kOwnPeriods, "own_periods", "each counter at the shipped period of its source"},
};

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

}  // namespace

std::span<const DegradeInfo> degrade_table() { return kTable; }

std::optional<Degrade> parse_degrade(std::string_view name) {
  for (const DegradeInfo& row : kTable)
    if (row.name == name) return row.kind;
  return std::nullopt;
}

void Degrader::header(RecordingHeader& header) const {
  if (kind_ == kNoExpected) header.expected.clear();
}

void Degrader::strip(PortSample& port, const PortKey& key, SteadyTime now) {
  SourceMap& sources = sources_[key];
  if (port.sources) sources = *port.sources;
  if (kind_ == kNoModule) sources.erase(SourceId::kModule);
  SourceMap with_holes = sources;
  const auto hole = [&](std::uint64_t every, SourceId source) {
    if ((count_ * 7 + port.id.device.size() + key.back()) % every != 0) return false;
    with_holes[source] = {SourceState::kFailing, "EIO", now, {}};
    return true;
  };
  switch (kind_) {
    case kNoPeer:
      port.peer.reset();
      break;
    case kNoLanes:
      port.fec_lanes.clear();
      break;
    case kNoBits:
      port.fec_lanes.clear();
      if (port.counters)
        filter(*port.counters, [](std::string_view name) { return name == "fec_corrected_bits"; });
      break;
    case kNoDownReason:
      if (port.link) port.link->down_reason.reset();
      break;
    case kNoModule:
      port.module.reset();
      break;
    case kSlowModule:
      if (!module_due_) port.module.reset();
      break;
    case kNoThresholds:
      if (port.module) port.module->thresholds = {};
      break;
    case kNoCarrierCount:
      if (port.link) port.link->carrier_up_count = port.link->carrier_down_count = std::nullopt;
      break;
    case kNoPcie:
      port.pcie.reset();
      break;
    case kNoTransport:
      if (port.counters) filter(*port.counters, is_transport);
      break;
    case kHoles:
      if (port.link && hole(11, SourceId::kLink)) port.link.reset();
      if (port.counters && hole(9, SourceId::kCounters)) {
        port.counters.reset();
        port.fec_lanes.clear();
      }
      if (port.module && hole(5, SourceId::kModule)) port.module.reset();
      if (port.peer && hole(3, SourceId::kPeerMad)) port.peer.reset();
      break;
    case kSplitGroups:
      if (count_ % 2 == 0) port.link.reset();
      if (count_ % 2 == 1) {
        port.counters.reset();
        port.fec_lanes.clear();
      }
      break;
    case kNoSerial:
      if (port.module) port.module->serial = port.module->vendor = port.module->part_number = "";
      break;
    case kOwnPeriods:
      keep_due(port, key, now);
      break;
    default:
      break;
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

/// A slower monitor reads every group each time: groups of what is left out come with the next
/// snapshot.
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
  if (kind_ == kLateStart && t < keep_from_s_) return std::nullopt;
  if (kind_ == kThin && !thin(snapshot)) return std::nullopt;
  if (kind_ == kNoEvents) snapshot.events.clear();
  if (kind_ == kNoLog)
    std::erase_if(snapshot.events,
                  [](const PortEvent& event) { return event.kind == PortEventKind::kKernelLog; });
  if (kind_ == kNoUptime) snapshot.uptime_s.reset();
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
