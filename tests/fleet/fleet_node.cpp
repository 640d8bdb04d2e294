#include "tests/fleet/fleet_node.h"

#include <algorithm>

namespace linkhealth::sim {

namespace {

/// What the daemon's own probes of a node with 8 ports take.
constexpr ProbeTiming kTimings[] = {
    {"link", 0.0002},        {"counters", 0.0011},     {"ethtool", 0.0004},   {"pcie", 0.0003},
    {"driver_stats", 0.003}, {"netdev_stats", 0.0001}, {"inventory", 0.0021}, {"module", 0.04},
};

std::unique_ptr<Simulation> simulate(const FleetNodeSpec& spec) {
  constexpr std::uint64_t kTries = 400;
  for (std::uint64_t i = 0;; ++i) {
    const std::uint64_t seed = spec.seed + i * 7919;
    auto simulation = std::make_unique<Simulation>(CaseSpec{
        spec.fault.empty() ? CaseSet::kHealthy : CaseSet::kField, seed, spec.fault, spec.ports});
    if (spec.fault.empty() || i >= kTries) return simulation;
    for (const auto& [port, truth] : simulation->truth())
      if (spec.repaired ? !truth.repaired.empty() : truth.fault == spec.fault) return simulation;
  }
}

}  // namespace

FleetNode::FleetNode(const FleetNodeSpec& spec) : spec_(spec), simulation_(simulate(spec)) {
  EngineSettings settings;
  settings.node = name();
  settings.setting_table = SettingTable(diagnosis_setting_groups());
  settings.expected = simulation_->header().expected;
  engine_ = std::make_unique<Engine>(std::move(settings));
  if (!spec.flapping) return;
  for (const auto& [port, truth] : simulation_->truth())
    if (truth.fault == spec.fault) flapping_port_ = port;
}

void FleetNode::step(WallTime now) {
  Snapshot next;
  if (simulation_->next(next)) {
    last_ = std::move(next);
  } else {
    last_.taken_at += std::chrono::seconds(15);
    last_.events.clear();
  }
  last_.wall_time = now;
  last_.timings.assign(std::begin(kTimings), std::end(kTimings));
  Engine::Step step = engine_->step(last_);
  judged_ = step.report;
  ++steps_;
  publish(*judged_, std::move(step.events), now);
}

bool FleetNode::step_until(FaultState state, std::size_t most, WallTime now) {
  for (; most > 0; --most) {
    step(now);
    for (const PortReport& port : judged_->ports)
      for (const FaultReport& fault : port.faults)
        if (fault.state == state) return true;
  }
  return false;
}

void FleetNode::step_before_onset(double lead_s, WallTime now) {
  double onset_s = 0;
  for (const auto& [port, truth] : simulation_->truth())
    if (truth.onset_s) onset_s = std::max(onset_s, *truth.onset_s);
  do step(now);
  while (steady_seconds(last_.taken_at) < onset_s - lead_s);
}

void FleetNode::stand_still(WallTime now) {
  ++steps_;
  publish(*judged_, {}, now);
}

void FleetNode::publish(Report report, std::vector<FaultEvent> events, WallTime now) {
  report.at = now;
  inject(report, events);
  reports_.publish(std::make_shared<const Report>(std::move(report)), events,
                   {LINKHEALTH_VERSION, 0.0004, spec_.began, std::nullopt});
}

void FleetNode::inject(Report& report, std::vector<FaultEvent>& events) {
  const auto switch_of = [](const PortReport& port) {
    return port.latest.peer ? port.latest.peer->system : port.expected.peer_system;
  };
  for (PortReport& port : report.ports) {  // what the simulation does not draw
    PortId& id = port.latest.id;
    id.firmware = spec_.number % 3 == 0 ? "28.41.1000" : "28.39.1002";
    id.hca_type = "MT4129";
    id.board_id = "MT_0000000838";
  }
  std::string flapping;
  for (const PortReport& port : report.ports)
    if (port.port == flapping_port_) flapping = switch_of(port);
  for (PortReport& port : report.ports)
    if (!flapping.empty() && switch_of(port) == flapping)
      port.figures.involuntary_downs_total += steps_;
  if (!spec_.offender || report.ports.empty()) return;
  FaultEvent event;
  event.t = report.t;
  event.at = report.at;
  event.port = report.ports.front().port;
  event.fault.fault = "dirty_connector";
  event.fault.id = "offender:" + std::to_string(steps_);
  RepairRecord cleaned;
  cleaned.action = RepairAction::kFibreReseated;
  cleaned.outcome = RepairOutcome::kHeld;
  event.fault.repairs = {cleaned};
  for (const FaultEventKind kind :
       {FaultEventKind::kReopened, FaultEventKind::kProving, FaultEventKind::kClosed}) {
    event.kind = kind;
    events.push_back(event);
  }
}

}  // namespace linkhealth::sim
