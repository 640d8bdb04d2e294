#include "daemon/engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "daemon/engine/engine_state.h"
#include "daemon/engine/shared_parts.h"
#include "diagnosis/exempt.h"

namespace linkhealth {

namespace {

/// A module's temperature settles within ten time constants (docs/physics.md 7d) after its laser is
/// switched on; before that it does not show the room's temperature.
constexpr double kWarmUpS = 900;
/// An older reading of a module is not its state now.
constexpr double kCurrentS = 300;

/// How far a temperature is below its baseline, by the median of the last readings or by the last
/// one, whichever is hotter.
std::optional<double> hottest(const LaneSeries& track) {
  const auto median = track.below_baseline(), last = track.latest_below_baseline();
  return median && last ? std::optional(std::min(*median, *last)) : median;
}

/// "leaf-12 Ethernet17/1" if both are known, read or planned. The MAC address that some switches
/// report as the name of every port is not a name.
std::string far_port_of(const PortHistory& port, const ExpectedPort* expected) {
  const auto& peer = port.latest.peer;
  const bool read = peer && !peer->system.empty() && !peer->port.empty();
  const std::string system = read ? peer->system : expected != nullptr ? expected->peer_system : "";
  const std::string name = read ? peer->port : expected != nullptr ? expected->peer_port : "";
  const bool address = std::ranges::count(name, ':') >= 5;
  return system.empty() || name.empty() || address ? "" : system + " " + name;
}

/// Each port that is connected to the planned far end of another one: two cables that were swapped.
void find_swapped(std::vector<PortStep>& all) {
  using Place = std::pair<std::string_view, std::string_view>;  // views into plan and sample
  std::map<Place, std::string_view> planned;
  for (const PortStep& step : all)
    if (const ExpectedPort* plan = step.features.expected;
        plan != nullptr && !plan->peer_system.empty() && !plan->peer_port.empty())
      planned.emplace(Place(plan->peer_system, plan->peer_port), step.port.key);
  for (PortStep& step : all)
    if (const auto& peer = step.port.latest.peer)
      if (const auto at = planned.find(Place(peer->system, peer->port));
          at != planned.end() && at->second != step.port.key)
        step.features.planned_there = at->second;
}

/// It never had a link, and all others on cards of its type have one: at least three, so that there
/// is a pattern. A card with one used port does not show that its other port should be used.
bool linked_alike(const PortStep& step, const std::vector<PortStep>& all) {
  constexpr std::size_t kRule = 3;
  const PortId& id = step.port.latest.id;
  const LinkSample& link = step.features.link();
  constexpr double kReadS = 120;  // by then a module that can be read has been
  const bool read = step.port.latest.module ||
                    observe(SymptomId::kNoCableReported, step.features).present() ||
                    (step.port.blind_to(SourceId::kModule) == nullptr &&
                     in_seconds(step.features.now - step.port.first_seen) < kReadS);
  if (read || step.features.up || is_set_down(link, id.link_layer) || link.admin_up == false)
    return false;
  std::size_t alike = 0;
  for (const PortStep& other : all) {
    if (&other == &step || !other.port.present || !other.port.latest.id.exempt.empty() ||
        !same_card_type(id, other.port.latest.id))
      continue;
    if (!other.features.up || same_card(id, other.port.latest.id)) return false;
    ++alike;
  }
  return alike >= kRule;
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
  // Before the port is examined: a carrier loss during maintenance is planned.
  for (const auto& [stable, port] : history.ports())
    if (const Maintenance* work = maintenance_of(port, stable))
      history.plan_losses_since(stable, history.now() - (wall - work->since));
}

/// Whether it was used, as its faults show: one from an earlier run, or one of a module that was in
/// its cage. While an always empty cage could not be read, its port looked like one with an unknown
/// module.
bool Engine::State::was_in_use(const std::string& stable, const PortHistory& port) const {
  const WallTime started = wall - (history.now() - first_step.value_or(history.now()));
  return std::ranges::any_of(ledger.open(stable), [&](const LedgerEntry* entry) {
    return port.had_module || !port.cage_empty || entry->kept.opened_at < started;
  });
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
    step.features.repaired_at = repairs.last_held(stable);
    state.errors_ever = step.features.signal.since_ever;
    step.leaf = leaf_of(port, expected);
    step.far = far_port_of(port, expected);
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
    if (!state.config.exempt.empty())
      release(stable, port.key, "excluded by the configuration: " + state.config.exempt);
  }
  find_swapped(all);
  for (PortStep& step : all) {
    step.alone_without_link = linked_alike(step, all);
    const bool known = was_in_use(step.stable, step.port) || step.alone_without_link;
    const std::string& configured = step.state.config.exempt;
    step.exempt = !configured.empty()
                      ? configured
                      : exempt_reason(step.port, step.features.expected, !settings.empty(), known);
    if (configured.empty() && !step.exempt.empty() && !ledger.open(step.stable).empty())
      release(step.stable, step.port.key, step.exempt);
  }
  return all;
}

Engine::Step Engine::step(const Snapshot& snapshot) {
  State& s = *state_;
  s.begin_step(snapshot);
  auto all = s.collect_features();
  s.release_lost();
  auto shared = s.find_shared(all);
  for (PortStep& port : all)
    if (port.exempt.empty()) s.judge(port);
  add_named_alike(all, shared);
  s.report_once(shared, all);

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
    if (port.errors_began && !port.features.light.rx_fresh)
      result.unread_modules.push_back(port.port.key);
    if (port.exempt.empty()) s.update_ledger(port, result.events);
  }
  // An expected port that appeared is reported under its own key; under the old one its fault only
  // has to close.
  std::vector<const PortStep*> reported;
  std::set<PortKey> twins;
  for (const PortStep& port : all) {
    if (port.port.seen_elsewhere) continue;
    s.report_on(report->ports.emplace_back(), port);
    reported.push_back(&port);
    if (port.counts_with_first) twins.insert(port.port.key);
  }
  s.share_faults(report->ports);
  for (std::size_t i = 0; i < reported.size(); ++i) finish_report(report->ports[i], *reported[i]);
  weigh_impact(*report, s.history, twins);
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
