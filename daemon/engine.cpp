#include "daemon/engine.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "daemon/engine_report.h"
#include "daemon/engine_state.h"
#include "diagnosis/differential.h"
#include "diagnosis/exempt.h"
#include "diagnosis/explain.h"
#include "diagnosis/ledger.h"
#include "diagnosis/symptoms.h"
#include "model/history.h"

namespace linkhealth {

namespace {

std::vector<KnobGroup> collect_groups() {
  std::vector<KnobGroup> groups;
  for (const Symptom& row : symptom_table())
    if (!row.knobs.empty()) groups.push_back({"symptoms", row.name, row.knobs});
  groups.push_back({"", "differential", differential_knobs()});
  groups.push_back({"", "judge", judge_knobs()});
  groups.push_back({"", "windows", view_knobs()});
  groups.push_back({"", "intent", intent_knobs()});
  groups.push_back({"", "trends", trend_knobs()});
  groups.push_back({"", "ledger", ledger_knobs()});
  groups.push_back({"", "repairs", RepairBook::knobs()});
  groups.push_back({"", "repair_watch", RepairWatch::knobs()});
  return groups;
}

/// How far a temperature is below its past, by the median of the last readings or by the last one:
/// the hotter of them.
std::optional<double> hottest(const LaneSeries& track) {
  const auto median = track.below_baseline(), last = track.latest_below_baseline();
  return median && last ? std::optional(std::min(*median, *last)) : median;
}

/// The ports that something is expected of.
std::vector<const PortHistory*> watched(const std::vector<Subject>& all) {
  std::vector<const PortHistory*> ports;
  for (const Subject& subject : all)
    if (!subject.port->arrived && subject.judged->begun && subject.judged->exempt.empty())
      ports.push_back(subject.port);
  return ports;
}

}  // namespace

std::span<const KnobGroup> engine_knob_groups() {
  static const std::vector<KnobGroup> kGroups = collect_groups();
  return kGroups;
}

/// With what every port asks of every other one: 64 ports ask 4,032 times.
std::vector<Subject> Engine::State::subjects() {
  if (judged.size() > history.ports().size())
    std::erase_if(judged,
                  [this](const auto& entry) { return !history.ports().contains(entry.first); });
  std::vector<Subject> all;
  all.reserve(history.ports().size());
  for (const auto& [stable, port] : history.ports()) {
    Judged& own = judged[stable];
    const AskedOfPort& asked = asked_of_port(port, own);
    const ExpectedPort* expected = asked.expected ? &*asked.expected : nullptr;
    const bool current = port.own.read_at && in_seconds(history.now() - *port.own.read_at) < 300;
    // A module that does not send, or not for long, is as cold as that makes it: it tells nothing
    // of the room.
    const bool warm =
        port.carrier.up == true &&
        in_seconds(history.now() - port.carrier.since.value_or(port.first_seen)) >= kWarmUpS;
    all.push_back({stable, &port, expected, leaf_of(port, expected), &own,
                   current && warm ? hottest(port.own.temperature_c) : std::nullopt,
                   current && supply_low(port, window_values) == true});
  }
  std::sort(all.begin(), all.end(),
            [](const Subject& a, const Subject& b) { return by_number(a.port->key, b.port->key); });
  return all;
}

Engine::Engine(EngineSettings settings) : state_(std::make_unique<State>(std::move(settings))) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

Engine::Step Engine::step(const Snapshot& snapshot) {
  State& s = *state_;
  s.history.observe(snapshot);
  s.wall = snapshot.wall_time;
  s.follow_cards();
  if (std::exchange(s.expects_anew, false)) s.expect_anew();
  s.end_old_maintenance();
  s.log_maintenance();
  if (s.last_step) s.step_s = in_seconds(snapshot.taken_at - *s.last_step);
  s.last_step = snapshot.taken_at;
  auto report = std::make_shared<Report>();
  Step result;
  result.moves = s.history.moves();
  s.note_idle_cards(snapshot.gaps);
  const auto subjects = s.subjects();
  s.release_left_out(subjects);
  s.release_lost(snapshot.taken_at);
  result.events = std::move(s.waiting);
  s.waiting.clear();
  result.remarks = std::exchange(s.remarks, {});
  const bool plan_known = !s.settings.empty();
  // All ports of a driver gone at one time are one matter, of the driver or of the monitor: the
  // first tells it for all.
  const auto all_watched = watched(subjects);
  const auto gone = gone_at_once(all_watched, std::max(15.0, s.step_s + 1));
  std::set<std::string> told;
  bool hot_told = false, low_told = false;
  report->ports.reserve(subjects.size());
  for (const Subject& subject : subjects) {
    Judged& port = *subject.judged;
    port.begun = true;
    s.opinion.differential = nullptr;
    const Maintenance* work = s.maintenance_of(*subject.port, subject.stable);
    if (work != nullptr)  // before the port is looked at: a loss under somebody's hands is no flap
      s.history.excuse(subject.stable, snapshot.taken_at - (snapshot.wall_time - work->since));
    PortView view = view_of(*subject.port, subject.expected, snapshot.taken_at, s.window_values,
                            port.errors_since);
    port.ber = view.up ? view.signal.ber : std::nullopt;
    const bool faulty = !s.ledger.open(subject.stable).empty();
    port.exempt = !port.asked.exempt.empty()
                      ? port.asked.exempt
                      : exempt_reason(*subject.port, subject.expected, plan_known, faulty);
    if (port.exempt.empty()) {
      s.fill_group(view, subject, subjects);
      if (lanes_may_be_others(view)) leave_single_lanes(view.light);
      observe_all(view, s.symptom_values, s.opinion.findings);
      s.note_errors(port, snapshot.taken_at);
      s.note_repair(subject, view, port, snapshot.wall_time);
      PortVerdict verdict = s.verdict_of(view, port, s.ledger.incumbent(subject.stable));
      verdict.maintenance = work != nullptr;
      const auto went = gone.find(subject.port->latest.id.driver);
      if (went != gone.end() && !told.insert(went->first).second) verdict = PortVerdict{};
      port.gone_with = went != gone.end() ? went->second : 0;
      port.all_gone = port.gone_with == all_watched.size();
      // Modules that got hot together are one matter of the room or the fans: the first port tells
      // it for all.
      const bool hot = verdict.primary && verdict.primary->fault->name == "module_overheated";
      port.hot_with = hot && view.group.siblings_hotter >= 2 ? view.group.siblings_hotter + 1 : 0;
      if (port.hot_with > 0 && std::exchange(hot_told, true)) verdict.primary.reset();
      // So is a supply that several modules share.
      const bool low = verdict.primary &&
                       at(s.opinion.findings, SymptomId::kSupplyShared).present() &&
                       verdict.primary->fault->name == "pcie_degraded";
      port.low_with = low ? view.group.siblings_supply_low + 1 : 0;
      if (low && std::exchange(low_told, true)) verdict.primary.reset();
      port.judged = verdict.judged;
      for (const LedgerChange& change :
           s.ledger.update(subject.stable, verdict, snapshot.taken_at, snapshot.wall_time))
        s.emit(change, subject, view, port, snapshot, result.events);
      for (const LedgerEntry* entry : s.ledger.open(subject.stable))
        if (entry->last_seen == snapshot.taken_at)
          s.repairs.seen(subject.stable, entry->kept.id, snapshot.wall_time);
    }
    // What was awaited and came is told under its own key; here only its fault has to close.
    if (subject.port->arrived) continue;
    PortReport& of_port = report->ports.emplace_back();
    s.report_on(of_port, subject, view, port, snapshot);
    if (work == nullptr) continue;
    of_port.maintenance = *work;
    if (s.leaves_module(*subject.port, subject.stable)) of_port.maintenance->module_reads = false;
  }
  weigh(*report, s.history);
  report->node = s.settings.node;
  report->at = snapshot.wall_time;
  report->t = snapshot.taken_at;
  report->timings = snapshot.timings;
  if (!s.settings.site.empty()) report->site = s.settings.site;
  if (s.settings.dry_run) report->dry_run = true;
  for (const Gap& gap : snapshot.gaps)
    if (gap.port.empty()) report->gaps.push_back(gap);
  if (s.rule_use->since == WallTime()) {
    RuleUse from_now = *s.rule_use;
    from_now.since = snapshot.wall_time;
    s.rule_use = std::make_shared<const RuleUse>(std::move(from_now));
  }
  report->rule_use = s.rule_use;
  result.report = report;
  return result;
}

LedgerState Engine::ledger_state() const {
  LedgerState kept = state_->ledger.state();
  kept.rule_use = *state_->rule_use;
  kept.repairs = state_->repairs.state();
  kept.maintenance = state_->maintenance;
  kept.maintenance_log = state_->maintenance_log;
  return kept;
}

void Engine::restore(const LedgerState& state) {
  state_->ledger.restore(state);
  state_->rule_use = std::make_shared<const RuleUse>(state.rule_use);
  state_->repairs.restore(state.repairs);
  state_->maintenance = state.maintenance;
  state_->maintenance_log = state.maintenance_log;
}

ReferenceState Engine::references() const { return state_->history.references(); }
void Engine::restore(const ReferenceState& state) { state_->history.restore(state); }

}  // namespace linkhealth
