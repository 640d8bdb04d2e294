#include "daemon/engine.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "daemon/engine_report.h"
#include "diagnosis/differential.h"
#include "diagnosis/exempt.h"
#include "diagnosis/explain.h"
#include "diagnosis/ledger.h"
#include "diagnosis/symptoms.h"
#include "model/history.h"

namespace linkhealth {

namespace {

/// Below this the link is not said to be at fault. Opening asks whether something is wrong, naming asks what.
constexpr double kOpenAt = 0.7;
/// A second fault is named only when the first explains none of what shows it.
constexpr double kSecondAt = 0.9;
constexpr double kTrainingSeconds = 60;
constexpr double kUndecided = 0.5;

std::vector<KnobGroup> collect_groups() {
  std::vector<KnobGroup> groups;
  for (const Symptom& row : symptom_table())
    if (!row.knobs.empty()) groups.push_back({"symptoms", row.name, row.knobs});
  groups.push_back({"", "differential", differential_knobs()});
  groups.push_back({"", "ledger", ledger_knobs()});
  return groups;
}

/// What the engine keeps of a port beside its history.
struct Judged {
  Findings findings;
  Differential differential, second;
  std::optional<SteadyTime> errors_since;
  std::optional<SteadyTime> errors_last;
  bool judged = false;
  std::string exempt;
};

struct Subject {
  std::string stable;
  const PortHistory* port;
  const ExpectedPort* expected;
  std::string_view leaf;
};

bool together(SteadyTime a, SteadyTime b, double within_s) { return std::abs(in_seconds(a - b)) <= within_s; }

}  // namespace

std::span<const KnobGroup> engine_knob_groups() {
  static const std::vector<KnobGroup> kGroups = collect_groups();
  return kGroups;
}

struct Engine::State {
  explicit State(EngineSettings given)
      : settings(std::move(given)),
        ledger(settings.node, values("ledger")),
        differential_values(values("differential")) {
    const auto table = symptom_table();
    for (std::size_t i = 0; i < kSymptomCount; ++i)
      if (!table[i].knobs.empty()) symptom_values[i] = values(table[i].name);
  }

  /// A table without our groups (a test's) means the defaults.
  KnobValues values(std::string_view group) {
    for (const KnobGroup& row : settings.knobs.groups())
      if (row.name == group) return settings.knobs.values(group);
    return defaults.values(group);
  }

  EngineSettings settings;
  KnobTable defaults{engine_knob_groups()};
  History history;
  Ledger ledger;
  KnobValues differential_values;
  std::array<KnobValues, kSymptomCount> symptom_values{};
  std::map<std::string, Judged> judged;
  std::map<std::string, FaultReport> texts;  ///< by fault id: what was last said of it
  std::vector<FaultEvent> waiting;
  std::optional<SteadyTime> last_step;
  double step_s = 10;
  WallTime wall;

  const ExpectedPort* expected_of(const PortKey& key) const {
    const auto at = settings.expected.find(key);
    return at == settings.expected.end() ? nullptr : &at->second;
  }
  std::vector<Subject> subjects() const;
  void fill_group(PortView& view, const Subject& subject, const std::vector<Subject>& all);
  PortVerdict verdict_of(const PortView& view, Judged& judged, const Fault* incumbent);
  void note_errors(Judged& port, SteadyTime now) const;
  Severity severity_of(const RankedFault& ranked, const PortView& view, const Findings& findings) const;
  PortReport report_of(const Subject& subject, const PortView& view, Judged& judged, const Snapshot& snapshot);
  FaultReport fault_report(const LedgerEntry& entry, const PortView& view, const Judged& judged);
  void emit(const LedgerChange& change, const Subject& subject, const PortView& view, const Judged& judged,
            const Snapshot& snapshot, std::vector<FaultEvent>& events);
};

std::vector<Subject> Engine::State::subjects() const {
  std::vector<Subject> all;
  for (const auto& [stable, port] : history.ports()) {
    const ExpectedPort* expected = expected_of(port.key);
    all.push_back({stable, &port, expected, leaf_of(port, expected)});
  }
  std::sort(all.begin(), all.end(),
            [](const Subject& a, const Subject& b) { return by_number(a.port->key, b.port->key); });
  return all;
}

namespace {

/// The speed at which two or more other ports with the same kind of module run, if all of them do.
double siblings_speed(const Subject& subject, const std::vector<Subject>& all) {
  const auto& own = subject.port->latest;
  if (!own.module || own.module->type.empty()) return 0;
  std::size_t count = 0;
  double speed = 0;
  for (const Subject& other : all) {
    const auto& theirs = other.port->latest;
    if (other.port == subject.port || other.port->carrier != true || !theirs.link || !theirs.link->speed_mbps) continue;
    if (!theirs.module || theirs.module->type != own.module->type || theirs.id.driver != own.id.driver) continue;
    if (count > 0 && *theirs.link->speed_mbps != speed) return 0;
    speed = *theirs.link->speed_mbps;
    ++count;
  }
  return count >= 2 ? speed : 0;
}

}  // namespace

void Engine::State::fill_group(PortView& view, const Subject& subject, const std::vector<Subject>& all) {
  const double within_s = std::max(15.0, step_s + 1);
  GroupStats& group = view.group;
  const Judged& own = judged[subject.stable];
  group.siblings_speed_mbps = siblings_speed(subject, all);
  for (const Subject& other : all) {
    if (other.port == subject.port || !other.port->present) continue;
    const auto rise = other.port->own.temperature_c.drop();
    const bool current = other.port->module_at && in_seconds(view.now - *other.port->module_at) < 300;
    group.siblings += current && rise.has_value();
    if (current && rise && *rise <= -6) ++group.siblings_hotter;
    const bool one_module = !subject.port->own.serial.empty() && subject.port->own.serial == other.port->own.serial;
    // Where nobody says which switch it is, falling together says that it is one.
    if (one_module || other.leaf != subject.leaf) continue;
    if (!other.port->carrier_seen) continue;
    group.same_leaf += !subject.leaf.empty();
    const bool both_down =
        view.down && other.port->carrier == false && view.port.carrier_since && other.port->carrier_since;
    const bool admin = other.port->latest.link && other.port->latest.link->admin_up == false;
    if (both_down && !admin && together(*view.port.carrier_since, *other.port->carrier_since, within_s))
      ++group.fell_together;
    const auto at = judged.find(other.stable);
    if (at != judged.end() && own.errors_since && at->second.errors_since &&
        together(*own.errors_since, *at->second.errors_since, 900))
      ++group.errors_together;
  }
  if (view.port.losses.empty()) return;
  for (const CarrierLoss& loss : view.port.losses) {
    if (loss.voluntary) continue;
    const bool shared = std::any_of(all.begin(), all.end(), [&](const Subject& other) {
      if (other.port == subject.port || other.leaf != subject.leaf) return false;
      return std::any_of(other.port->losses.rbegin(), other.port->losses.rend(), [&](const CarrierLoss& theirs) {
        return !theirs.voluntary && together(loss.t, theirs.t, within_s);
      });
    });
    ++(shared ? group.flaps_together : group.flaps_alone);
  }
}

void Engine::State::note_errors(Judged& port, SteadyTime now) const {
  const bool errors =
      at(port.findings, SymptomId::kReceiveErrors).present() || at(port.findings, SymptomId::kLosingData).present();
  if (errors) {
    if (!port.errors_since) port.errors_since = now;
    port.errors_last = now;
  } else if (port.errors_last && in_seconds(now - *port.errors_last) > 900) {
    port.errors_since.reset();
  }
}

Severity Engine::State::severity_of(const RankedFault& ranked, const PortView& view, const Findings& findings) const {
  const Severity own = ranked.fault->severity;
  if (own == Severity::kNotice || ranked.fault->name == "monitor_blind" || ranked.fault->name == "wrong_cabling")
    return own;
  const bool bad = view.down || at(findings, SymptomId::kLosingData).present();
  return bad ? Severity::kCritical : own;
}

namespace {

/// Something that is seen must speak for a fault: what is merely not known opens nothing.
bool supported(const Cause& cause, const Findings& findings) {
  if (at(findings, SymptomId::kReceiveErrors).present() || at(findings, SymptomId::kLosingData).present()) return true;
  return std::any_of(cause.expects.begin(), cause.expects.end(),
                     [&](const Expectation& row) { return at(findings, row.symptom).present(); });
}

/// How long the link has had to come up by itself.
double settled_down_s(const PortView& view) {
  SteadyTime since = view.port.carrier_since.value_or(view.port.first_seen);
  for (const auto& t :
       {view.port.last_admin_event, view.port.last_module_event, view.port.driver_reload_at, view.port.last_reboot})
    if (t && *t > since) since = *t;
  return in_seconds(view.now - since);
}

}  // namespace

PortVerdict Engine::State::verdict_of(const PortView& view, Judged& port, const Fault* incumbent) {
  PortVerdict verdict;
  verdict.down = view.down;
  verdict.down_s = settled_down_s(view);
  verdict.idle = view.traffic.known_s > 0 && view.traffic.loaded_s < 0.2 * view.traffic.known_s;
  // A far end that is there but not ready: the link is training, which may take two minutes.
  if (at(port.findings, SymptomId::kRemoteFault).present()) verdict.down_s -= kTrainingSeconds;
  if (at(port.findings, SymptomId::kLightThere).present() && !view.link().down_reason)
    verdict.down_s -= kTrainingSeconds / 2;
  port.differential = differentiate({view, port.findings, incumbent, nullptr}, differential_values);
  port.second = Differential{};
  // A port of which nothing can be read is unknown, which is neither healthy nor faulty.
  const bool blind = at(port.findings, SymptomId::kCountersBlind).present();
  const bool unreadable = view.port.blind.contains("link") || view.port.blind.contains("counters");
  const bool gone = at(port.findings, SymptomId::kDeviceGone).present();
  verdict.judged = view.port.carrier.has_value() || blind || gone;
  if (unreadable && !blind && !at(port.findings, SymptomId::kDeviceFatal).present()) verdict.judged = false;
  if (!view.port.present && !gone) verdict.judged = false;
  if (port.differential.ranked.empty()) return verdict;
  if (1 - port.differential.healthy < kOpenAt) return verdict;
  if (!view.down && !supported(*port.differential.ranked.front().cause, port.findings)) return verdict;
  const RankedFault& first = port.differential.ranked.front();
  // No name leads: the module and the far end are read within the next minute.
  if (view.down && first.confidence < kUndecided) verdict.down_s -= kTrainingSeconds;
  verdict.primary = {first.fault, first.confidence, severity_of(first, view, port.findings)};
  port.second = differentiate({view, port.findings, nullptr, &first}, differential_values);
  if (!view.down && 1 - port.second.healthy >= kSecondAt && !port.second.ranked.empty()) {
    RankedFault& second = port.second.ranked.front();
    second.confidence = std::min(second.confidence, first.confidence);
    if (second.confidence >= 0.5)
      verdict.secondary = {second.fault, second.confidence, severity_of(second, view, port.findings)};
  }
  return verdict;
}

FaultReport Engine::State::fault_report(const LedgerEntry& entry, const PortView& view, const Judged& port) {
  FaultReport report;
  for (const Differential* differential : {&port.differential, &port.second})
    for (const RankedFault& ranked : differential->ranked)
      if (ranked.fault == entry.fault && report.fault.empty() && entry.kept.state != FaultState::kProving) {
        explain(report, view, port.findings, *differential, ranked);
        report.fault = ranked.fault->name;
      }
  if (report.fault.empty()) {  // it does not show now: what was last said of it stands
    const auto at = texts.find(entry.kept.id);
    if (at != texts.end()) report = at->second;
    if (report.summary.empty()) report.summary = entry.kept.summary;
    if (report.repair.empty()) report.repair = entry.kept.repair;
    if (report.verify.empty()) report.verify = entry.kept.verify;
  } else {
    ledger.describe(entry.kept.id, report.summary, report.repair, report.verify);
  }
  report.id = entry.kept.id;
  report.fault = entry.kept.fault;
  report.end = entry.kept.end;
  report.severity = entry.kept.severity;
  report.confidence = entry.kept.confidence;
  report.state = entry.kept.state;
  report.opened_at = entry.kept.opened_at;
  report.last_seen_at = entry.kept.last_seen_at;
  texts[report.id] = report;
  return report;
}

void Engine::State::emit(const LedgerChange& change, const Subject& subject, const PortView& view, const Judged& port,
                         const Snapshot& snapshot, std::vector<FaultEvent>& events) {
  FaultEvent event;
  event.t = snapshot.taken_at;
  event.at = snapshot.wall_time;
  event.kind = change.kind;
  event.port = subject.port->key;
  event.fault = fault_report(change.entry, view, port);
  if (change.kind == FaultEventKind::kClosed) texts.erase(change.entry.kept.id);
  events.push_back(std::move(event));
}

PortReport Engine::State::report_of(const Subject& subject, const PortView& view, Judged& port,
                                    const Snapshot& snapshot) {
  PortReport report;
  report.port = subject.port->key;
  report.exempt = port.exempt;
  report.peer = peer_of(*subject.port, subject.expected);
  report.latest = subject.port->latest;
  report.figures = figures_of(view);
  for (const auto& [probe, blind] : subject.port->blind)
    report.gaps.push_back({subject.port->key, probe, blind.reason});
  if (subject.expected != nullptr) report.expected = *subject.expected;
  if (report.exempt.empty()) {
    for (const LedgerEntry* entry : ledger.open(subject.stable))
      report.faults.push_back(fault_report(*entry, view, port));
    report.symptoms = symptom_verdicts(port.findings);
  }
  std::stable_sort(report.faults.begin(), report.faults.end(), [](const FaultReport& a, const FaultReport& b) {
    const bool proving_a = a.state == FaultState::kProving, proving_b = b.state == FaultState::kProving;
    if (proving_a != proving_b) return proving_b;
    if (a.confidence != b.confidence) return a.confidence > b.confidence;
    return a.severity > b.severity;
  });
  report.health = health_of(report, view, port.judged);
  (void)snapshot;
  return report;
}

Engine::Engine(EngineSettings settings) : state_(std::make_unique<State>(std::move(settings))) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

Engine::Step Engine::step(const Snapshot& snapshot) {
  State& s = *state_;
  s.history.observe(snapshot);
  s.wall = snapshot.wall_time;
  if (s.last_step) s.step_s = in_seconds(snapshot.taken_at - *s.last_step);
  s.last_step = snapshot.taken_at;
  auto report = std::make_shared<Report>();
  Step result;
  result.events = std::move(s.waiting);
  s.waiting.clear();
  const auto subjects = s.subjects();
  const bool plan_known = !s.settings.expected.empty();
  for (const Subject& subject : subjects) {
    Judged& port = s.judged[subject.stable];
    PortView view = view_of(*subject.port, subject.expected, snapshot.taken_at, port.errors_since);
    const auto left_out = s.settings.exempt.find(subject.port->key);
    port.exempt = left_out != s.settings.exempt.end() ? left_out->second
                                                      : exempt_reason(*subject.port, subject.expected, plan_known);
    if (port.exempt.empty()) {
      s.fill_group(view, subject, subjects);
      port.findings = observe_all(view, s.symptom_values);
      s.note_errors(port, snapshot.taken_at);
      const PortVerdict verdict = s.verdict_of(view, port, s.ledger.incumbent(subject.stable));
      port.judged = verdict.judged;
      for (const LedgerChange& change : s.ledger.update(subject.stable, verdict, snapshot.taken_at, snapshot.wall_time))
        s.emit(change, subject, view, port, snapshot, result.events);
    }
    report->ports.push_back(s.report_of(subject, view, port, snapshot));
  }
  report->node = s.settings.node;
  report->at = snapshot.wall_time;
  report->t = snapshot.taken_at;
  report->timings = snapshot.timings;
  for (const Gap& gap : snapshot.gaps)
    if (gap.port.empty()) report->gaps.push_back(gap);
  result.report = report;
  return result;
}

LedgerState Engine::ledger_state() const { return state_->ledger.state(); }
void Engine::restore(const LedgerState& state) { state_->ledger.restore(state); }
ReferenceState Engine::references() const { return state_->history.references(); }
void Engine::restore(const ReferenceState& state) { state_->history.restore(state); }

Result<void> Engine::acknowledge(const PortKey& port, const std::string& by, const std::string& reason,
                                 std::optional<WallTime> until) {
  State& s = *state_;
  const PortHistory* found = s.history.find(port);
  if (found == nullptr) return Error{"no port \"" + port + "\""};
  const std::string stable = found->latest.id.device.empty() ? port : found->latest.id.stable_key();
  auto change = s.ledger.acknowledge(stable, by, reason, until, s.wall);
  if (!change) return change.error();
  FaultEvent event;
  event.t = s.last_step.value_or(SteadyTime());
  event.at = s.wall;
  event.kind = FaultEventKind::kAcknowledged;
  event.port = port;
  const auto text = s.texts.find(change->entry.kept.id);
  if (text != s.texts.end()) event.fault = text->second;
  event.fault.state = change->entry.kept.state;
  s.waiting.push_back(std::move(event));
  return {};
}

}  // namespace linkhealth
