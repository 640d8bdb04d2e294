#include "daemon/far_ends.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace linkhealth {

FarEnds::FarEnds(std::vector<std::unique_ptr<PeerProbe>> probes, const Clock& clock,
                 FarEndTiming timing, AskedByName plan)
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
    if (auto asked = asked_of(plan_, port.id.key(), port.id); asked.expected)
      planned[port.id.key()] = *std::move(asked.expected);
  }
  merge_.set_plan(std::move(planned));
  merge_.set_ports(keys);
  for (const auto& reader : readers_) reader->set_ports(ports);
}

FarEnds::News FarEnds::take(SteadyTime now) {
  News news;
  std::vector<Gap> hung;
  for (const auto& reader : readers_) {
    for (PeerRound& round : reader->take_finished()) {
      news.timings.push_back({reader->name(), round.duration_s});
      merge_.add(reader->name(), std::move(round.readings));
    }
    // The same words each time, because the reason is a metric's label.
    const auto since = reader->busy_since();
    if (since && now - *since >= timing_.patience)
      hung.push_back({"", reader->name(),
                      fmt::format("no answer within {:g} s", in_seconds(timing_.patience))});
  }
  news.ports = merge_.take_changes(now);
  std::vector<Gap> gaps = merge_.node_gaps();
  gaps.insert(gaps.end(), hung.begin(), hung.end());
  news.node_gaps_changed = gaps != node_gaps_;
  node_gaps_ = std::move(gaps);
  return news;
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
