#include "daemon/engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "daemon/engine/engine_state.h"
#include "diagnosis/exempt.h"

namespace linkhealth {

namespace {

/// A module's temperature settles within ten time constants (docs/physics.md 7d) after its laser is
/// switched on; before, it does not show the room's temperature.
constexpr double kWarmUpS = 900;
/// An older reading of a module is not its state now.
constexpr double kCurrentS = 300;

/// How far a temperature is below its past, by the median of the last readings or by the last one:
/// the hotter of them.
std::optional<double> hottest(const LaneSeries& track) {
  const auto median = track.below_baseline(), last = track.latest_below_baseline();
  return median && last ? std::optional(std::min(*median, *last)) : median;
}

}  // namespace

Engine::Engine(EngineSettings settings) : state_(std::make_unique<State>(std::move(settings))) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

void Engine::State::begin_step(const Snapshot& snapshot) {
  history.observe(snapshot);
  wall = snapshot.wall_time;
  if (!first_step) first_step = snapshot.taken_at;
  if (last_step) step_s = in_seconds(snapshot.taken_at - *last_step);
  last_step = snapshot.taken_at;
  follow_cards();
  if (std::exchange(expectations_changed, false)) update_expectations();
  end_old_maintenance();
  log_maintenance();
  idle_cards.clear();
  if (const auto cards = history.sources().find(SourceId::kPciBus);
      cards != history.sources().end())
    idle_cards = cards->second.reason;
  std::erase_if(ports, [this](const auto& one) { return !history.ports().contains(one.first); });
  // Before anything looks at the port: a loss of carrier in maintenance is planned.
  for (const auto& [stable, port] : history.ports())
    if (const Maintenance* work = maintenance_of(port, stable))
      history.plan_losses_since(stable, history.now() - (wall - work->since));
}

/// Stage 1.
std::vector<PortStep> Engine::State::collect_features() {
  std::vector<const std::map<std::string, PortHistory>::value_type*> ordered;
  for (const auto& one : history.ports()) ordered.push_back(&one);
  std::ranges::sort(ordered, by_number, [](const auto* one) { return one->second.key; });
  std::vector<PortStep> all;
  all.reserve(ordered.size());
  for (const auto* one : ordered) {
    const auto& [stable, port] = *one;
    PortState& state = ports[stable];
    ExpectedConfig config = expected_for(settings, port.key, port.latest.id);
    if (const std::string& why = port.latest.id.exempt;
        config.expected && !why.empty() && config.exempt.empty() && config.contradiction.empty())
      config.contradiction = fmt::format("{}: {}", kRefusedEntry, why);
    if (!config.contradiction.empty() && config.contradiction != state.config.contradiction)
      remarks.push_back(port.key + ": " + config.contradiction);
    state.config = std::move(config);
    const ExpectedPort* expected = state.config.expected ? &*state.config.expected : nullptr;
    PortStep& step =
        all.emplace_back(stable, port, state,
                         features_of(port, expected, history.now(), diagnosis, state.errors_since));
    state.errors_ever = step.features.signal.since_ever;
    step.leaf = leaf_of(port, expected);
    const bool current =
        port.own.read_at && in_seconds(history.now() - *port.own.read_at) < kCurrentS;
    const bool warm =
        port.carrier.up == true &&
        in_seconds(history.now() - port.carrier.since.value_or(port.first_seen)) >= kWarmUpS;
    if (current && warm) step.temperature_drop_c = hottest(port.own.temperature_c);
    step.supply_low = current && step.features.supply_low == true;
    if (!step.supply_low) state.supply_low_since.reset();
    if (step.supply_low && !state.supply_low_since) state.supply_low_since = history.now();
    if (step.supply_low)
      step.features.supply_low_s = in_seconds(history.now() - *state.supply_low_since);
    step.work = maintenance_of(port, stable);
    step.exempt = !state.config.exempt.empty() ? state.config.exempt
                                               : exempt_reason(port, expected, !settings.empty(),
                                                               !ledger.open(stable).empty());
    if (!state.config.exempt.empty())
      release(stable, port.key, "configuration leaves this port out: " + state.config.exempt);
  }
  return all;
}

Engine::Step Engine::step(const Snapshot& snapshot) {
  State& s = *state_;
  s.begin_step(snapshot);
  auto all = s.collect_features();
  s.release_lost();
  const auto shared = s.find_shared(all);
  for (PortStep& port : all)
    if (port.exempt.empty()) s.judge(port);
  State::report_once(shared, all);

  Step result;
  result.moves = s.history.moves();
  result.events = std::exchange(s.waiting, {});
  result.remarks = std::exchange(s.remarks, {});
  auto report = std::make_shared<Report>();
  report->node = s.settings.node;
  report->at = snapshot.wall_time;
  report->t = snapshot.taken_at;
  report->timings = snapshot.timings;
  if (!s.settings.site.empty()) report->site = s.settings.site;
  if (s.settings.dry_run) report->dry_run = true;
  report->sources = s.history.sources();
  report->gaps = gaps_of("", report->sources);
  for (PortStep& port : all) {
    port.state.seen_before = true;
    if (port.exempt.empty()) s.update_ledger(port, result.events);
    // An expected port that appeared is reported under its own key; under this one only its fault
    // has to close.
    if (!port.port.seen_elsewhere) s.report_on(report->ports.emplace_back(), port);
  }
  weigh_impact(*report, s.history);
  result.report = report;
  return result;
}

LedgerState Engine::ledger_state() const {
  LedgerState kept = state_->ledger.state();
  kept.repairs = state_->repairs.state();
  kept.maintenance = state_->maintenance;
  kept.maintenance_log = state_->maintenance_log;
  return kept;
}

void Engine::restore(const LedgerState& state) {
  state_->ledger.restore(state);
  state_->repairs.restore(state.repairs);
  state_->maintenance = state.maintenance;
  state_->maintenance_log = state.maintenance_log;
}

ReferenceState Engine::references() const { return state_->history.references(); }
void Engine::restore(const ReferenceState& state) { state_->history.restore(state); }

}  // namespace linkhealth
