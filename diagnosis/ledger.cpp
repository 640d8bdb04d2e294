#include "diagnosis/ledger.h"

#include <fmt/format.h>

#include <algorithm>

namespace linkhealth {

namespace {

/// If no event occurs in a time in which this many would be expected on average, the rate is lower
/// with 95 % confidence (rule of three).
constexpr double kErrorsFor95 = 3;
constexpr double kLeastProofS = 1800;  // NVIDIA accepts a repair after 30 min
constexpr double kCertainProofS = 10;
/// With these odds that something is wrong, a link that is up needs no hold: a sequential test
/// stops here.
constexpr double kSureOdds = 1000;
constexpr std::size_t kRivalEvaluations = 3;
/// A rival needs no longer hold once the evidence has abandoned the open fault.
constexpr double kSureRival = 0.9, kRefuted = 0.05;
/// Faults that only traffic shows wait this long for load, then heal without it.
constexpr double kIdlePatienceS = 86400;

/// If the same fault comes back within this time, it is the same occurrence: it keeps its id, and
/// verifying begins only once it has been absent for longer than the time after which it came back
/// (docs/physics.md 7d: heat comes and goes by the hour).
constexpr double kSameMatterS = 6 * 3600;
constexpr double kLongerThanQuiet = 1.5;

/// The state of a fault that shows symptoms.
FaultState active_state(const LedgerFault& fault, WallTime wall) {
  return is_acknowledged(fault, wall) ? FaultState::kAcknowledged : FaultState::kOpen;
}

/// Whether an acknowledgement of an open fault has just ended: the fault is reported again, because
/// the operator may have forgotten the link.
bool end_acknowledgement(LedgerFault& kept, WallTime wall) {
  if (kept.acknowledged_by.empty() || is_acknowledged(kept, wall)) return false;
  kept.acknowledged_by.clear();
  kept.acknowledged_reason.clear();
  kept.acknowledged_at.reset();
  kept.acknowledged_until.reset();
  if (kept.state != FaultState::kAcknowledged) return false;
  kept.state = FaultState::kOpen;
  return true;
}

std::string words_of(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

/// A node often boots with a wrong clock, which NTP then steps: faults opened before would be years
/// old, or in the future. Faults opened in an earlier run keep their time.
void follow_stepped_clock(LedgerEntry& entry, SteadyTime now, WallTime wall) {
  constexpr Milliseconds kStep{60'000};
  if (!entry.opened_at) return;
  const WallTime opened_at = wall - (now - *entry.opened_at);
  if (std::chrono::abs(opened_at - entry.kept.opened_at) < kStep) return;
  entry.kept.opened_at = opened_at;
  if (entry.proving_since) entry.kept.proving_since = wall - (now - *entry.proving_since);
}

/// A fault of the link or its parts that is not just a notice: its repair is verified by the
/// absence of errors.
bool is_of_link(const Fault& fault) {
  return fault.severity != Severity::kNotice && fault.end != End::kNode;
}

void begin_proof(LedgerEntry& entry, std::uint64_t downs, SteadyTime now, WallTime wall) {
  entry.downs_at_proof = downs;
  entry.proving_since = now;
  entry.waited = Milliseconds(0);
  entry.kept.proving_since = wall;
}

/// The fault came back: remembers how long it had been absent, which proved nothing.
void came_back(LedgerEntry& entry, SteadyTime now) {
  entry.returns_after_s = std::max(entry.returns_after_s, in_seconds(now - entry.last_seen));
}

void end_proof(LedgerEntry& entry) {
  entry.proving_since.reset();
  entry.kept.proving_since.reset();
}

}  // namespace

Ledger::Ledger(std::string node, const DiagnosisSettings& settings)
    : node_(std::move(node)), settings_(settings) {}

// ---------------------------------------------------------------------------------- one update

std::vector<LedgerChange> Ledger::update(const std::string& stable_port, const PortVerdict& verdict,
                                         SteadyTime now, WallTime wall) {
  Port& port = ports_[stable_port];
  Step step{stable_port, port, verdict, now, wall};
  if (!port.placed) place(step);
  port.module = verdict.module;
  port.cable = verdict.cable;
  if (verdict.rate_bps > 0) port.rate_bps = verdict.rate_bps;
  for (Slot* slot : {&port.primary, &port.secondary}) {
    if (!slot->entry) continue;
    follow_stepped_clock(*slot->entry, now, wall);
    if (end_acknowledgement(slot->entry->kept, wall))
      step.report(FaultEventKind::kReopened, *slot->entry);
  }
  if (verdict.judged) {
    step_slot(step, port.primary, verdict.primary);
    step_slot(step, port.secondary, verdict.secondary);
  }
  for (Slot* slot : {&port.primary, &port.secondary})
    if (slot->entry) slot->entry->looked_at = now;
  if (verdict.maintenance)
    std::erase_if(step.changes, [](const LedgerChange& change) {
      return change.kind == FaultEventKind::kReopened;
    });
  return std::move(step.changes);
}

void Ledger::place(Step& step) {
  step.port.placed = true;
  for (Slot* slot : {&step.port.primary, &step.port.secondary}) {
    if (!slot->entry) continue;
    LedgerEntry& entry = *slot->entry;
    entry.restored_at = entry.looked_at = step.now;
    entry.last_seen = step.now - std::max(step.wall - entry.kept.last_seen_at, Milliseconds(0));
    // The daemon was stopped, possibly for hours: verifying starts again.
    if (entry.kept.proving_since) begin_proof(entry, entry.downs_at_proof, step.now, step.wall);
  }
}

void Ledger::step_slot(Step& step, Slot& slot, const std::optional<PortVerdict::Named>& named) {
  const PortVerdict& verdict = step.verdict;
  // During maintenance nothing opens: holds begin when the work is done.
  if (!named || (verdict.maintenance && !slot.entry)) {
    slot.wrong_since.reset();
    slot.candidate = nullptr;
    if (slot.entry) step_proof(step, slot);
    return;
  }
  const Fault& fault = *named->fault;
  if (!slot.wrong_since) slot.wrong_since = step.now;
  if (slot.candidate != &fault) {
    slot.candidate = &fault;
    slot.candidate_since = step.now;
    slot.candidate_evaluations = 0;
  }
  ++slot.candidate_evaluations;
  if (verdict.down && verdict.down_s < settings_.down_hold_s && !fault.life.certain) return;
  if (!slot.entry) {
    if (in_seconds(step.now - *slot.wrong_since) >= hold_s(step, slot, fault))
      open_fault(step, slot, *named);
    return;
  }
  LedgerEntry& entry = *slot.entry;
  if (entry.fault == &fault) {
    slot.candidate = nullptr;
    if (&slot == &step.port.primary) entry.kept.ports = verdict.ports;
    return refresh(step, entry, *named);
  }
  // It is healing: events from before the repair do not rename it.
  if (verdict.quiet_since && !fault.life.certain) return step_proof(step, slot);
  // The confidence shown is that of the current evidence, even while another fault leads.
  const bool primary = &slot == &step.port.primary;
  if (primary) entry.kept.confidence = verdict.open_confidence;
  // A different fault: it must lead for a while. An administrator's action, and its end, is certain
  // at once.
  const bool refuted = primary && !verdict.module_out && named->confidence >= kSureRival &&
                       verdict.open_confidence <= kRefuted;
  const bool rival_wins =
      fault.life.certain || entry.fault->life.certain ||
      (slot.candidate_evaluations >= kRivalEvaluations &&
       (refuted || in_seconds(step.now - slot.candidate_since) >= settings_.rival_hold_s));
  if (rival_wins && !verdict.maintenance) return rename(step, slot, *named);
  // The link is up, so a fault of links that are down is being verified, whatever else is wrong.
  if (!verdict.down && means_down(*entry.fault)) return step_proof(step, slot);
  // Something is still wrong: the open fault neither heals nor is verified.
  if (entry.proving_since) came_back(entry, step.now);
  entry.last_seen = step.now;
  entry.kept.last_seen_at = step.wall;
  if (!entry.proving_since) return;
  end_proof(entry);
  entry.kept.state = active_state(entry.kept, step.wall);
  step.report(FaultEventKind::kReopened, entry);
}

double Ledger::hold_s(const Step& step, const Slot& slot, const Fault& fault) const {
  const PortVerdict& verdict = step.verdict;
  if (fault.life.hold == Hold::kNone) return 0;
  if (fault.life.hold == Hold::kAlways) return settings_.signal_hold_s;
  if (&slot == &step.port.secondary) return settings_.second_hold_s;
  if (!verdict.down && verdict.odds >= kSureOdds) return 0;
  if (fault.severity == Severity::kNotice) return settings_.notice_hold_s;
  // a link that is down has already waited for down_hold_s.
  return verdict.down ? 0 : settings_.signal_hold_s;
}

/// Unix time of its opening in seconds, or a later second: a fault that opens twice in one second,
/// or again after the clock was set back, gets a new id.
std::string Ledger::new_id(const Step& step, const Fault& fault) const {
  const auto now_s = std::chrono::floor<std::chrono::seconds>(step.wall.time_since_epoch()).count();
  const auto [last, first] = step.port.last_opened_s.try_emplace(&fault, now_s);
  if (!first) last->second = std::max<std::int64_t>(last->second + 1, now_s);
  return fmt::format("{}:{}:{}:{}", node_, step.key, fault.name, last->second);
}

void Ledger::open_fault(Step& step, Slot& slot, const PortVerdict::Named& named) const {
  LedgerEntry entry;
  entry.fault = named.fault;
  entry.last_seen = step.now;
  entry.opened_at = step.now;
  LedgerFault& kept = entry.kept;
  kept.port = step.key;
  kept.fault = std::string(named.fault->name);
  kept.end = named.fault->end;
  kept.severity = named.severity;
  kept.confidence = named.confidence;
  kept.opened_at = kept.last_seen_at = step.wall;
  if (&slot == &step.port.primary) kept.ports = step.verdict.ports;
  const auto before = step.port.closed.find(named.fault);
  const bool again =
      before != step.port.closed.end() && in_seconds(step.now - before->second.at) < kSameMatterS;
  if (!again) kept.id = new_id(step, *named.fault);
  if (again) {
    const LedgerEntry& old = before->second.entry;
    kept.id = old.kept.id;
    kept.opened_at = old.kept.opened_at;
    entry.opened_at = old.opened_at;
    entry.returns_after_s = old.returns_after_s;
    entry.last_seen = old.last_seen;
    came_back(entry, step.now);
    entry.last_seen = step.now;
  }
  slot.entry = entry;
  slot.candidate = nullptr;
  step.report(again ? FaultEventKind::kReopened : FaultEventKind::kOpened, entry);
}

void Ledger::refresh(Step& step, LedgerEntry& entry, const PortVerdict::Named& named) {
  if (entry.kept.state == FaultState::kProving) came_back(entry, step.now);
  entry.last_seen = step.now;
  entry.kept.last_seen_at = step.wall;
  entry.kept.confidence = named.confidence;
  if (entry.kept.state == FaultState::kProving) {
    entry.kept.state = active_state(entry.kept, step.wall);
    end_proof(entry);
    if (!step.verdict.maintenance) entry.kept.severity = named.severity;
    step.report(FaultEventKind::kReopened, entry);
  }
  // Worsening during maintenance is reported when that is over.
  if (!step.verdict.maintenance && named.severity > entry.kept.severity) {
    entry.kept.severity = named.severity;
    step.report(FaultEventKind::kWorsened, entry);
  }
}

/// An acknowledgement covers the fault under any later name, but not something worse, nor an
/// administrator's action.
void Ledger::rename(Step& step, Slot& slot, const PortVerdict::Named& named) {
  const LedgerEntry before = *slot.entry;
  const bool same_matter = !before.fault->life.certain && !named.fault->life.certain &&
                           named.severity <= before.kept.severity &&
                           is_acknowledged(before.kept, step.wall);
  // The same fault under another name: not a repeat.
  slot.entry->kept.state = FaultState::kClosed;
  step.report(FaultEventKind::kClosed, *slot.entry);
  if (before.fault->life.certain || before.proving_since) count_repeat(step, *slot.entry);
  // The port was administratively down meanwhile: afterwards the earlier fault is still the same
  // one.
  if (named.fault->life.certain) step.port.closed[before.fault] = {before, step.now};
  slot.entry.reset();
  open_fault(step, slot, named);
  if (!same_matter) return;
  LedgerFault& kept = slot.entry->kept;
  kept.state = FaultState::kAcknowledged;
  kept.acknowledged_at = before.kept.acknowledged_at;
  kept.acknowledged_by = before.kept.acknowledged_by;
  kept.acknowledged_reason = before.kept.acknowledged_reason;
  kept.acknowledged_until = before.kept.acknowledged_until;
  step.changes.back().entry = *slot.entry;
}

// ------------------------------------------------------------------------- verifying a repair

double Ledger::proof_s(const Fault& fault, double rate_bps) const {
  if (fault.life.certain) return std::min(kCertainProofS, settings_.notice_proof_s);
  if (!is_of_link(fault)) return settings_.notice_proof_s;
  if (rate_bps <= 0) return settings_.proof_s;
  // On a slow link this would take days: then a weaker bound is proved, and reported.
  const double wanted_s = kErrorsFor95 / (settings_.proof_ber * rate_bps);
  return std::clamp(wanted_s, std::min(kLeastProofS, settings_.proof_s), settings_.proof_s);
}

/// Without load, faults that only traffic shows cannot be seen: their times are paused. False: it
/// has waited long enough.
bool Ledger::waits_for_load(const Step& step, LedgerEntry& entry) const {
  if (!step.verdict.idle || !entry.fault->life.needs_traffic) {
    entry.idle_since.reset();
    return false;
  }
  if (!entry.idle_since) entry.idle_since = step.now;
  if (in_seconds(step.now - *entry.idle_since) > kIdlePatienceS) return false;
  const Milliseconds passed = step.now - entry.looked_at;
  entry.last_seen += passed;
  if (entry.proving_since) {
    *entry.proving_since += passed;
    entry.waited += passed;
  }
  return true;
}

void Ledger::step_proof(Step& step, Slot& slot) {
  LedgerEntry& entry = *slot.entry;
  const PortVerdict& verdict = step.verdict;
  if (waits_for_load(step, entry)) return;
  const bool certain = entry.fault->life.certain;
  if (!entry.proving_since) {
    // The first steps of a new run have few readings: modules are read later.
    const SteadyTime watched_since =
        std::max(entry.last_seen, entry.restored_at.value_or(entry.last_seen));
    const double quiet_s = std::max(settings_.quiet_s, kLongerThanQuiet * entry.returns_after_s);
    if (in_seconds(step.now - watched_since) < (certain ? 0 : quiet_s)) return;
    begin_proof(entry, verdict.link_down_events, step.now, step.wall);
    entry.kept.state = FaultState::kProving;
    step.report(FaultEventKind::kProving, entry);
  }
  // A carrier loss or a lost block is not yet a symptom, but it contradicts the repair: the time
  // starts again.
  if (!certain && (verdict.lost_data || verdict.link_down_events != entry.downs_at_proof))
    begin_proof(entry, verdict.link_down_events, step.now, step.wall);
  if (in_seconds(step.now - *entry.proving_since) >= proof_s(*entry.fault, verdict.rate_bps))
    close(step, slot);
}

void Ledger::close(Step& step, Slot& slot) {
  LedgerFault& kept = slot.entry->kept;
  kept.state = FaultState::kClosed;
  step.report(FaultEventKind::kClosed, *slot.entry);
  count_repeat(step, *slot.entry);
  // After a verified repair, the same fault is a new occurrence.
  if (!slot.entry->fault->life.certain && !step.verdict.repaired)
    step.port.closed[slot.entry->fault] = {*slot.entry, step.now};
  slot.entry.reset();
}

void Ledger::count_repeat(const Step& step, const LedgerEntry& entry) {
  const LedgerFault& kept = entry.kept;
  if (!entry.fault->life.certain) count(RepeatOf::kPort, step.key, kept, step.wall);
  // Only faults of the link are counted for its module and cable.
  if (!is_of_link(*entry.fault)) return;
  count(RepeatOf::kModule, step.port.module, kept, step.wall);
  count(RepeatOf::kCable, step.port.cable, kept, step.wall);
}

void Ledger::count(RepeatOf of, const std::string& subject, const LedgerFault& fault,
                   WallTime wall) {
  if (subject.empty()) return;
  LedgerRepeat& repeat = repeats_[{of, subject, fault.fault}];
  repeat.of = of;
  repeat.subject = subject;
  repeat.fault = fault.fault;
  ++repeat.times;
  repeat.last_closed_at = wall;
}

// ------------------------------------------------------------------------------ what it answers

std::vector<const LedgerEntry*> Ledger::open(const std::string& stable_port) const {
  std::vector<const LedgerEntry*> entries;
  const auto at = ports_.find(stable_port);
  if (at == ports_.end()) return entries;
  for (const Slot* slot : {&at->second.primary, &at->second.secondary})
    if (slot->entry) entries.push_back(&*slot->entry);
  return entries;
}

const Fault* Ledger::incumbent(const std::string& stable_port) const {
  const auto at = ports_.find(stable_port);
  return at != ports_.end() && at->second.primary.entry ? at->second.primary.entry->fault : nullptr;
}

FaultPast Ledger::past(const std::string& stable_port) const {
  FaultPast past;
  const auto add = [&](RepeatOf of, const std::string& subject, std::uint32_t& times) {
    if (subject.empty()) return;
    for (auto row = repeats_.lower_bound({of, subject, ""}); row != repeats_.end(); ++row) {
      const LedgerRepeat& repeat = row->second;
      if (repeat.of != of || repeat.subject != subject) break;
      times += repeat.times;
      past.last_closed_at =
          std::max(past.last_closed_at.value_or(repeat.last_closed_at), repeat.last_closed_at);
    }
  };
  add(RepeatOf::kPort, stable_port, past.port_times);
  const auto at = ports_.find(stable_port);
  if (at == ports_.end()) return past;
  add(RepeatOf::kModule, at->second.module, past.module_times);
  add(RepeatOf::kCable, at->second.cable, past.cable_times);
  return past;
}

std::optional<FaultProof> Ledger::proof(const LedgerEntry& entry) const {
  const auto at = ports_.find(entry.kept.port);
  if (entry.kept.state != FaultState::kProving || !entry.kept.proving_since || at == ports_.end())
    return std::nullopt;
  const double rate_bps = at->second.rate_bps;
  FaultProof proof{*entry.kept.proving_since + entry.waited, proof_s(*entry.fault, rate_bps),
                   std::nullopt};
  if (is_of_link(*entry.fault) && rate_bps > 0 && proof.needed_s > 0)
    proof.ber_bound = kErrorsFor95 / (rate_bps * proof.needed_s);
  return proof;
}

template <typename Do>
void Ledger::for_each_entry(Do action) {
  for (auto& [stable, port] : ports_)
    for (Slot* slot : {&port.primary, &port.secondary})
      if (slot->entry) action(stable, *slot->entry);
}

void Ledger::describe(const std::string& id, const std::string& summary,
                      const std::vector<std::string>& repair, const std::string& verify) {
  for_each_entry([&](const std::string&, LedgerEntry& entry) {
    if (entry.kept.id != id) return;
    entry.kept.summary = summary;
    entry.kept.repair = repair;
    entry.kept.verify = verify;
  });
}

// ----------------------------------------------------------- operators, other keys, restarts

LedgerEntry* Ledger::primary_of(const std::string& stable_port) {
  const auto at = ports_.find(stable_port);
  return at != ports_.end() && at->second.primary.entry ? &*at->second.primary.entry : nullptr;
}

Result<LedgerChange> Ledger::acknowledge(const std::string& stable_port, const std::string& by,
                                         const std::string& reason, std::optional<WallTime> until,
                                         WallTime now) {
  LedgerEntry* entry = primary_of(stable_port);
  if (entry == nullptr) return Error{"no fault is open on this port"};
  if (until && *until <= now) return Error{"the acknowledgement would end in the past"};
  LedgerFault& kept = entry->kept;
  if (is_acknowledged(kept, now))
    return Error{fmt::format(
        "{} is already acknowledged by {}{} (ack --end withdraws it)", words_of(kept.fault),
        kept.acknowledged_by,
        kept.acknowledged_until
            ? " until " +
                  format_rfc3339(std::chrono::floor<std::chrono::seconds>(*kept.acknowledged_until))
            : "")};
  kept.acknowledged_at = now;
  kept.acknowledged_by = by;
  kept.acknowledged_reason = reason;
  kept.acknowledged_until = until;
  if (kept.state == FaultState::kOpen) kept.state = FaultState::kAcknowledged;
  return LedgerChange{FaultEventKind::kAcknowledged, *entry};
}

Result<LedgerChange> Ledger::withdraw_acknowledgement(const std::string& stable_port,
                                                      WallTime now) {
  LedgerEntry* entry = primary_of(stable_port);
  if (entry == nullptr) return Error{"no fault is open on this port"};
  if (!is_acknowledged(entry->kept, now))
    return Error{words_of(entry->kept.fault) + " is not acknowledged"};
  entry->kept.acknowledged_until = now;
  end_acknowledgement(entry->kept, now);
  return LedgerChange{FaultEventKind::kReopened, *entry};
}

std::vector<LedgerChange> Ledger::release(const std::string& stable_port) {
  std::vector<LedgerChange> changes;
  const auto at = ports_.find(stable_port);
  if (at == ports_.end()) return changes;
  for (Slot* slot : {&at->second.primary, &at->second.secondary}) {
    if (!slot->entry) continue;
    slot->entry->kept.state = FaultState::kClosed;
    end_proof(*slot->entry);
    changes.push_back({FaultEventKind::kClosed, *slot->entry});
  }
  ports_.erase(at);
  return changes;
}

void Ledger::follow(const PortMoves& moves) {
  move_keys(ports_, moves);
  for_each_entry([&](const std::string& stable, LedgerEntry& entry) {
    entry.kept.port = stable;
    for (std::string& port : entry.kept.ports) port = moved(port, moves);
  });
  std::vector<LedgerRepeat> taken;
  std::erase_if(repeats_, [&](const auto& entry) {
    const LedgerRepeat& repeat = entry.second;
    if (repeat.of != RepeatOf::kPort || !moves.contains(repeat.subject)) return false;
    taken.push_back(repeat);
    return true;
  });
  for (LedgerRepeat& repeat : taken) {
    repeat.subject = moved(repeat.subject, moves);
    if (!repeat.subject.empty()) repeats_[{repeat.of, repeat.subject, repeat.fault}] = repeat;
  }
}

LedgerState Ledger::state() const {
  LedgerState state;
  for (const auto& [stable, port] : ports_)
    for (const LedgerEntry* entry : open(stable)) state.faults.push_back(entry->kept);
  for (const auto& [key, repeat] : repeats_) state.repeats.push_back(repeat);
  return state;
}

void Ledger::restore(const LedgerState& state) {
  for (const LedgerFault& kept : state.faults) {
    const Fault* fault = find_fault(kept.fault, kept.end);
    if (kept.state == FaultState::kClosed || fault == nullptr) continue;  // from another version
    Port& port = ports_[kept.port];
    port.placed = false;
    LedgerEntry entry;
    entry.kept = kept;
    entry.fault = fault;
    (port.primary.entry ? port.secondary : port.primary).entry = entry;
  }
  for (const LedgerRepeat& repeat : state.repeats)
    repeats_[{repeat.of, repeat.subject, repeat.fault}] = repeat;
}

}  // namespace linkhealth
