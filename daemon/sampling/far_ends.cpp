#include "daemon/sampling/far_ends.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace linkhealth {

FarEnds::FarEnds(std::vector<std::unique_ptr<PeerProbe>> probes, const Clock& clock,
                 FarEndTiming timing, ExpectedPorts plan)
    : timing_(timing), plan_(std::move(plan)), merge_(timing.hold, {}) {
  for (auto& probe : probes)
    readers_.push_back(std::make_unique<PeerReader>(std::move(probe), clock));
}

void FarEnds::set_ports(const std::vector<InventoryPort>& ports) {
  std::set<PortKey> keys;
  std::map<PortKey, ExpectedPort> planned;
  for (const InventoryPort& port : ports) {
    if (!port.exempt_reason.empty()) continue;
    keys.insert(port.id.key());
    if (auto asked = expected_for(plan_, port.id.key(), port.id); asked.expected)
      planned[port.id.key()] = *std::move(asked.expected);
  }
  merge_.set_plan(std::move(planned));
  merge_.set_ports(keys);
  for (const auto& reader : readers_) reader->set_ports(ports);
}

FarEnds::News FarEnds::take(SteadyTime now) {
  News news;
  for (const auto& reader : readers_) {
    for (PeerRound& round : reader->take_finished()) {
      news.timings.push_back({reader->name(), round.duration_s});
      merge_.add(reader->name(), std::move(round.readings));
    }
  }
  news.ports = merge_.take_changes(now);
  return news;
}

SourceReports FarEnds::reports(SteadyTime now) const {
  SourceReports reports;
  for (const Gap& gap : merge_.node_gaps())
    if (const auto source = find_source(gap.probe))
      add_report(reports, *source, problem_of(*source, gap.reason, false));
  for (const auto& reader : readers_) {
    const auto since = reader->busy_since();
    const auto source = find_source(reader->name());
    if (!source || !since || now - *since < timing_.patience) continue;
    add_report(
        reports, *source,
        {SourceState::kHung, fmt::format("no answer within {:g} s", in_seconds(timing_.patience))});
  }
  return reports;
}

std::set<std::string> FarEnds::sources() const {
  std::set<std::string> names;
  for (const auto& reader : readers_) names.insert(reader->name());
  return names;
}

bool FarEnds::settled() const {
  return std::ranges::all_of(readers_, [](const auto& reader) { return reader->has_answered(); });
}

std::vector<int> FarEnds::wake_fds() const {
  std::vector<int> fds;
  for (const auto& reader : readers_) fds.push_back(reader->event_fd());
  return fds;
}

}  // namespace linkhealth
