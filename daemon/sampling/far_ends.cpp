#include "daemon/sampling/far_ends.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace linkhealth {

struct FarEnds::Source {
  Source(std::unique_ptr<PeerProbe> its_probe, const Clock& clock, Milliseconds patience)
      : name(its_probe->name()), probe(std::move(its_probe)), pool(clock, patience) {}

  const std::string name;
  std::shared_ptr<PeerProbe> probe;  ///< shared with a read, which may hang and outlive the source
  SteadyTime due;
  bool ports_changed = false;
  bool is_out = false;
  bool hangs = false;
  bool has_answered = false;
  BlockingReadPool pool;
};

FarEnds::FarEnds(std::vector<std::unique_ptr<PeerProbe>> probes, const Clock& clock,
                 FarEndTiming timing, ExpectedPorts plan)
    : clock_(clock), timing_(timing), plan_(std::move(plan)), merge_(timing.hold, {}) {
  for (auto& probe : probes)
    sources_.push_back(std::make_unique<Source>(std::move(probe), clock, timing.patience));
}

FarEnds::~FarEnds() = default;

void FarEnds::set_ports(std::vector<InventoryPort> ports) {
  std::set<PortKey> keys;
  std::map<PortKey, ExpectedPort> planned;
  for (const InventoryPort& port : ports) {
    if (!port.exempt_reason.empty()) continue;
    keys.insert(port.id.key());
    if (auto config = expected_for(plan_, port.id.key(), port.id); config.expected)
      planned[port.id.key()] = *std::move(config.expected);
  }
  merge_.set_plan(std::move(planned));
  merge_.set_ports(keys);
  const auto same = [](const InventoryPort& a, const InventoryPort& b) {
    return a.id == b.id && a.ifindex == b.ifindex && a.exempt_reason == b.exempt_reason;
  };
  if (std::exchange(has_ports_, true) && std::ranges::equal(ports_, ports, same)) return;
  ports_ = std::move(ports);
  for (const auto& source : sources_) source->ports_changed = true;
}

void FarEnds::start_round(Source& source) {
  source.ports_changed = false;
  source.is_out = true;
  const auto read = [this, &source, probe = source.probe, ports = ports_,
                     &clock = clock_]() -> BlockingReadPool::Done {
    return [this, &source, readings = probe->read(ports, clock.steady())](double duration_s) {
      const SteadyTime now = clock_.steady();
      source.is_out = false;
      source.has_answered = true;
      source.due = std::max(source.probe->next_due(now), now + kShortestPause);
      news_.timings.push_back({source.name, duration_s});
      merge_.add(source.name, readings);
    };
  };
  source.pool.submit({{source.name, source.name, read}});
}

FarEnds::News FarEnds::poll() {
  for (const auto& source : sources_) {
    source->pool.finish();
    source->hangs = !source->pool.check_hung().empty();
    if (has_ports_ && !source->is_out && (source->ports_changed || clock_.steady() >= source->due))
      start_round(*source);
  }
  news_.ports = merge_.take_changes(clock_.steady());
  return std::exchange(news_, {});
}

std::optional<SteadyTime> FarEnds::next_due() const {
  std::optional<SteadyTime> next;
  for (const auto& source : sources_)
    if (has_ports_ && !source->is_out) next = std::min(next.value_or(source->due), source->due);
  return next;
}

SourceReports FarEnds::reports() const {
  SourceReports reports;
  for (const Gap& gap : merge_.node_gaps())
    if (const auto source = find_source(gap.probe))
      add_report(reports, *source, problem_of(*source, gap.reason, false));
  for (const auto& source : sources_)
    if (const auto id = find_source(source->name); id && source->hangs)
      add_report(reports, *id,
                 {SourceState::kHung,
                  fmt::format("no answer within {:g} s", in_seconds(timing_.patience))});
  return reports;
}

std::set<std::string> FarEnds::sources() const {
  std::set<std::string> names;
  for (const auto& source : sources_) names.insert(source->name);
  return names;
}

bool FarEnds::settled() const {
  return std::ranges::all_of(sources_, [](const auto& source) { return source->has_answered; });
}

std::vector<int> FarEnds::wake_fds() const {
  std::vector<int> fds;
  for (const auto& source : sources_) fds.push_back(source->pool.event_fd());
  return fds;
}

}  // namespace linkhealth
