#include "diagnosis/ledger.h"

#include <fmt/format.h>

#include <algorithm>

namespace linkhealth {

namespace {

enum Index : std::size_t {
  kDownHold,
  kSignalHold,
  kNoticeHold,
  kSecondHold,
  kRivalHold,
  kRivalEvaluations,
  kQuiet,
  kProof,
  kProofLeast,
  kProofBer,
  kNoticeProof,
  kAdminProof,
  kSureOdds,
  kIdlePatience,
};

constexpr Knob kKnobs[] = {
    {"down_hold_s", 30, 0, 3600, "s",
     "a link that fell less than this ago is not judged: it may be retraining"},
    {"signal_hold_s", 30, 0, 3600, "s", "how long a degradation must last before it opens"},
    {"notice_hold_s", 60, 0, 86400, "s", "the same for what is not the cable's fault"},
    {"second_hold_s", 300, 0, 86400, "s", "the same for a second fault on one port"},
    {"rival_hold_s", 240, 0, 86400, "s", "how long another name must lead before it takes over"},
    {"rival_evaluations", 3, 1, 1000, "", "and in how many evaluations"},
    {"quiet_s", 300, 0, 86400, "s", "without symptoms before the proof begins"},
    {"proof_s", 7200, 0, 604800, "s", "how long a repaired link proves itself, at most"},
    {"proof_least_s", 1800, 0, 604800, "s", "and at least (NVIDIA: 30 min to accept a repair)"},
    {"proof_ber", 1e-15, 1e-18, 1e-6, "",
     "error ratio after FEC that is to be ruled out with 95 %: no error in 3/(ratio x rate), "
     "docs/physics.md 3b"},
    {"notice_proof_s", 900, 0, 604800, "s", "the same for notices and for the node's own faults"},
    {"admin_proof_s", 10, 0, 604800, "s", "the same for a port that was set down"},
    {"sure_odds", 1000, 1, 1e12, "",
     "so many times likelier wrong than right, a link that carries needs no hold: a sequential "
     "test stops here"},
    {"idle_patience_s", 86400, 0, 2592000, "s",
     "what only traffic shows waits so long for load before it heals without"}};

/// No event in a time in which so many are expected on average: with 95 % the rate is lower (rule
/// of three).
constexpr double kErrorsFor95 = 3;

bool is(const Fault& fault, std::string_view name) { return fault.name == name; }

/// Seen only while there is traffic.
bool needs_traffic(const Fault& fault) {
  return is(fault, "congestion") || is(fault, "host_bottleneck") || is(fault, "loss_elsewhere");
}

/// Of a fault that shows: who took note of it does not want to hear of it again.
FaultState state_in_sight(const LedgerFault& fault, WallTime wall) {
  return is_acknowledged(fault, wall) ? FaultState::kAcknowledged : FaultState::kOpen;
}

/// An acknowledgement that is over is told: whoever gave it may have forgotten the link.
void expire(std::optional<LedgerEntry>& entry, WallTime wall, std::vector<LedgerChange>& changes) {
  if (!entry || entry->kept.acknowledged_by.empty() || is_acknowledged(entry->kept, wall)) return;
  entry->kept.acknowledged_by.clear();
  entry->kept.acknowledged_reason.clear();
  entry->kept.acknowledged_at.reset();
  entry->kept.acknowledged_until.reset();
  if (entry->kept.state != FaultState::kAcknowledged) return;
  entry->kept.state = FaultState::kOpen;
  changes.push_back({FaultEventKind::kReopened, *entry});
}

std::string words_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

/// A node often boots with a wrong clock, which NTP then steps: what was opened before would be
/// years old, or not yet begun. What an earlier run opened keeps its time.
void follow_stepped_clock(std::optional<LedgerEntry>& entry, SteadyTime now, WallTime wall) {
  constexpr Milliseconds kStep{60'000};
  if (!entry || !entry->opened_at) return;
  const WallTime opened_at = wall - (now - *entry->opened_at);
  if (std::chrono::abs(opened_at - entry->kept.opened_at) < kStep) return;
  entry->kept.opened_at = opened_at;
  if (entry->proving_since) entry->kept.proving_since = wall - (now - *entry->proving_since);
}

std::int64_t unix_seconds(WallTime wall) {
  return std::chrono::duration_cast<std::chrono::seconds>(wall.time_since_epoch()).count();
}

}  // namespace

std::span<const Knob> ledger_knobs() { return kKnobs; }

Ledger::Ledger(std::string node, KnobValues knobs) : node_(std::move(node)), knobs_(knobs) {}

double Ledger::hold_s(const Fault& fault, const PortVerdict& verdict, bool second) const {
  if (is(fault, "admin_down")) return 0;
  if (is(fault, "monitor_blind")) return 0;  // its symptom waits long enough
  if (is(fault, "wrong_cabling")) return knobs_[kSignalHold];
  if (second) return knobs_[kSecondHold];
  if (is(fault, "pcie_degraded"))
    return 0;  // the same: a lane of PCIe does not come back by itself
  if (!verdict.down && verdict.odds >= knobs_[kSureOdds]) return 0;
  if (fault.severity == Severity::kNotice) return knobs_[kNoticeHold];
  return verdict.down ? 0 : knobs_[kSignalHold];  // a link that is down waits by down_hold_s
}

double Ledger::proof_s(const Fault& fault, double rate_bps) const {
  if (is(fault, "admin_down")) return knobs_[kAdminProof];
  if (fault.severity == Severity::kNotice || fault.end == End::kNode) return knobs_[kNoticeProof];
  if (rate_bps <= 0) return knobs_[kProof];
  // A slow link would take days: then a weaker bound is proved, and said.
  return std::max(std::min(kErrorsFor95 / (knobs_[kProofBer] * rate_bps), knobs_[kProof]),
                  std::min(knobs_[kProofLeast], knobs_[kProof]));
}

void Ledger::place(Port& port, SteadyTime now, WallTime wall) const {
  port.placed = true;
  const auto steady = [&](WallTime then) { return now - std::max(wall - then, Milliseconds(0)); };
  for (Slot* slot : {&port.primary, &port.secondary}) {
    if (!slot->entry) continue;
    slot->entry->restored_at = slot->entry->looked_at = now;
    slot->entry->last_seen = steady(slot->entry->kept.last_seen_at);
    if (!slot->entry->kept.proving_since) continue;
    // Nobody watched it while the daemon was away, perhaps for hours: the proof begins anew.
    slot->entry->proving_since = now;
    slot->entry->kept.proving_since = wall;
  }
}

void Ledger::open_fault(Slot& slot, const PortVerdict::Named& named, const std::string& port,
                        SteadyTime now, WallTime wall, std::vector<LedgerChange>& changes,
                        const LedgerFault* acknowledged) {
  LedgerEntry entry;
  entry.fault = named.fault;
  entry.last_seen = now;
  entry.opened_at = now;
  entry.kept.id = fmt::format("{}:{}:{}:{}", node_, port, named.fault->name, unix_seconds(wall));
  entry.kept.port = port;
  entry.kept.fault = std::string(named.fault->name);
  entry.kept.end = named.fault->end;
  entry.kept.severity = named.severity;
  entry.kept.confidence = named.confidence;
  entry.kept.opened_at = entry.kept.last_seen_at = wall;
  if (acknowledged != nullptr) {
    entry.kept.state = FaultState::kAcknowledged;
    entry.kept.acknowledged_at = acknowledged->acknowledged_at;
    entry.kept.acknowledged_by = acknowledged->acknowledged_by;
    entry.kept.acknowledged_reason = acknowledged->acknowledged_reason;
    entry.kept.acknowledged_until = acknowledged->acknowledged_until;
  }
  slot.entry = entry;
  slot.candidate = nullptr;
  changes.push_back({FaultEventKind::kOpened, entry});
}

void Ledger::refresh(Slot& slot, const PortVerdict::Named& named, bool maintenance, SteadyTime now,
                     WallTime wall, std::vector<LedgerChange>& changes) const {
  LedgerEntry& entry = *slot.entry;
  entry.last_seen = now;
  entry.kept.last_seen_at = wall;
  entry.kept.confidence = named.confidence;
  if (entry.kept.state == FaultState::kProving) {
    entry.kept.state = state_in_sight(entry.kept, wall);
    entry.kept.proving_since.reset();
    entry.proving_since.reset();
    if (!maintenance) entry.kept.severity = named.severity;
    changes.push_back({FaultEventKind::kReopened, entry});
  }
  // What gets worse under somebody's hands is told when they have gone.
  if (!maintenance && named.severity > entry.kept.severity) {
    entry.kept.severity = named.severity;
    changes.push_back({FaultEventKind::kWorsened, entry});
  }
}

/// Who took note of what is wrong has done so, whatever we call it now; not of something worse, nor
/// of what an administrator does.
void Ledger::rename(Slot& slot, const PortVerdict::Named& named, const std::string& port,
                    SteadyTime now, WallTime wall, std::vector<LedgerChange>& changes) {
  const LedgerFault before = slot.entry->kept;
  const bool same_matter = !is(*slot.entry->fault, "admin_down") &&
                           !is(*named.fault, "admin_down") && named.severity <= before.severity &&
                           is_acknowledged(before, wall);
  close(slot, port, wall, changes);
  open_fault(slot, named, port, now, wall, changes, same_matter ? &before : nullptr);
}

void Ledger::close(Slot& slot, const std::string& port, WallTime wall,
                   std::vector<LedgerChange>& changes) {
  slot.entry->kept.state = FaultState::kClosed;
  changes.push_back({FaultEventKind::kClosed, *slot.entry});
  const LedgerFault& kept = slot.entry->kept;
  count(RepeatOf::kPort, port, kept, wall);
  // What is neither the cable's nor a module's fault says nothing about them.
  const bool of_link = slot.entry->fault->severity != Severity::kNotice &&
                       (kept.end == End::kPath || kept.end == End::kLocal || kept.end == End::kFar);
  const Port& here = ports_[port];
  if (of_link && !here.module.empty()) count(RepeatOf::kModule, here.module, kept, wall);
  if (of_link && !here.cable.empty()) count(RepeatOf::kCable, here.cable, kept, wall);
  slot.entry.reset();
}

void Ledger::count(RepeatOf of, const std::string& subject, const LedgerFault& fault,
                   WallTime wall) {
  LedgerRepeat& repeat = repeats_[{of, subject, fault.fault}];
  repeat.of = of;
  repeat.subject = subject;
  repeat.fault = fault.fault;
  ++repeat.times;
  repeat.last_closed_at = wall;
}

FaultPast Ledger::past(const std::string& stable_port) const {
  FaultPast past;
  const auto at = ports_.find(stable_port);
  const auto add = [&](RepeatOf of, const std::string& subject, std::uint32_t& times) {
    if (subject.empty()) return;
    for (auto row = repeats_.lower_bound({of, subject, ""}); row != repeats_.end(); ++row) {
      const LedgerRepeat& repeat = row->second;
      if (repeat.of != of || repeat.subject != subject) break;
      if (repeat.fault == "admin_down") continue;  // nobody repaired anything
      times += repeat.times;
      past.last_closed_at =
          std::max(past.last_closed_at.value_or(repeat.last_closed_at), repeat.last_closed_at);
    }
  };
  add(RepeatOf::kPort, stable_port, past.port_times);
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
  const bool of_signal =
      entry.fault->severity != Severity::kNotice && entry.fault->end != End::kNode;
  if (of_signal && rate_bps > 0 && proof.needed_s > 0)
    proof.ber_bound = kErrorsFor95 / (rate_bps * proof.needed_s);
  return proof;
}

bool Ledger::waits_for_load(LedgerEntry& entry, bool idle, SteadyTime now) const {
  if (!idle || !needs_traffic(*entry.fault)) {
    entry.idle_since.reset();
    return false;
  }
  if (!entry.idle_since) entry.idle_since = now;
  if (in_seconds(now - *entry.idle_since) > knobs_[kIdlePatience]) return false;
  const Milliseconds passed = now - entry.looked_at;
  entry.last_seen += passed;
  if (entry.proving_since) {
    *entry.proving_since += passed;
    entry.waited += passed;
  }
  return true;
}

void Ledger::step_proof(Slot& slot, const PortVerdict& verdict, const std::string& port,
                        SteadyTime now, WallTime wall, std::vector<LedgerChange>& changes) {
  LedgerEntry& entry = *slot.entry;
  if (waits_for_load(entry, verdict.idle, now)) return;
  const bool admin = is(*entry.fault, "admin_down");
  if (!entry.proving_since) {
    // Nobody looked while the daemon was away, and the first looks of a new run see little: modules
    // are read later.
    const SteadyTime watched_since =
        std::max(entry.last_seen, entry.restored_at.value_or(entry.last_seen));
    if (in_seconds(now - watched_since) < (admin ? 0 : knobs_[kQuiet])) return;
    entry.proving_since = now;
    entry.waited = Milliseconds(0);
    entry.kept.proving_since = wall;
    entry.kept.state = FaultState::kProving;
    entry.drops_at_proof = verdict.drops;
    changes.push_back({FaultEventKind::kProving, entry});
  }
  // A drop or a lost block is no symptom yet, but it is no proof either: the time begins anew.
  if (!admin && (verdict.lost_data || verdict.drops != entry.drops_at_proof)) {
    entry.drops_at_proof = verdict.drops;
    entry.proving_since = now;
    entry.waited = Milliseconds(0);
    entry.kept.proving_since = wall;
  }
  if (in_seconds(now - *entry.proving_since) >= proof_s(*entry.fault, verdict.rate_bps))
    close(slot, port, wall, changes);
}

void Ledger::step_slot(Slot& slot, const std::optional<PortVerdict::Named>& named,
                       const PortVerdict& verdict, bool second, const std::string& port,
                       SteadyTime now, WallTime wall, std::vector<LedgerChange>& changes) {
  if (!named) {
    slot.wrong = false;
    slot.candidate = nullptr;
    if (slot.entry) step_proof(slot, verdict, port, now, wall, changes);
    return;
  }
  if (verdict.maintenance && !slot.entry) {  // holds begin when the work is done
    slot.wrong = false;
    slot.candidate = nullptr;
    return;
  }
  if (!slot.wrong) {
    slot.wrong = true;
    slot.wrong_since = now;
  }
  if (slot.candidate != named->fault) {
    slot.candidate = named->fault;
    slot.candidate_since = now;
    slot.candidate_evaluations = 0;
  }
  ++slot.candidate_evaluations;
  if (verdict.down && verdict.down_s < knobs_[kDownHold] && !is(*named->fault, "admin_down"))
    return;
  if (slot.entry && slot.entry->fault == named->fault) {
    slot.candidate = nullptr;
    refresh(slot, *named, verdict.maintenance, now, wall, changes);
    return;
  }
  if (!slot.entry) {
    if (in_seconds(now - slot.wrong_since) >= hold_s(*named->fault, verdict, second))
      open_fault(slot, *named, port, now, wall, changes);
    return;
  }
  // Another name: it must lead for a while. What an administrator does, and its end, is certain at
  // once.
  const bool certain = is(*named->fault, "admin_down") || is(*slot.entry->fault, "admin_down");
  const bool rival_wins =
      certain ||
      (in_seconds(now - slot.candidate_since) >= knobs_[kRivalHold] &&
       slot.candidate_evaluations >= static_cast<std::size_t>(knobs_[kRivalEvaluations]));
  if (rival_wins && !verdict.maintenance) return rename(slot, *named, port, now, wall, changes);
  // A link that carries is not down: what says that it is proves itself, whatever else is wrong.
  if (!verdict.down && means_down(*slot.entry->fault))
    return step_proof(slot, verdict, port, now, wall, changes);
  // Something is still wrong: what is open neither heals nor proves.
  slot.entry->last_seen = now;
  slot.entry->kept.last_seen_at = wall;
  if (slot.entry->proving_since) {
    slot.entry->proving_since.reset();
    slot.entry->kept.proving_since.reset();
    slot.entry->kept.state = state_in_sight(slot.entry->kept, wall);
    changes.push_back({FaultEventKind::kReopened, *slot.entry});
  }
}

std::vector<LedgerChange> Ledger::update(const std::string& stable_port, const PortVerdict& verdict,
                                         SteadyTime now, WallTime wall) {
  std::vector<LedgerChange> changes;
  Port& port = ports_[stable_port];
  if (!port.placed) place(port, now, wall);
  port.module = verdict.module;
  port.cable = verdict.cable;
  if (verdict.rate_bps > 0) port.rate_bps = verdict.rate_bps;
  for (Slot* slot : {&port.primary, &port.secondary}) {
    follow_stepped_clock(slot->entry, now, wall);
    expire(slot->entry, wall, changes);
  }
  if (verdict.judged) {
    step_slot(port.primary, verdict.primary, verdict, false, stable_port, now, wall, changes);
    step_slot(port.secondary, verdict.secondary, verdict, true, stable_port, now, wall, changes);
  }
  for (Slot* slot : {&port.primary, &port.secondary})
    if (slot->entry) slot->entry->looked_at = now;
  if (verdict.maintenance)
    std::erase_if(changes, [](const LedgerChange& change) {
      return change.kind == FaultEventKind::kReopened;
    });
  return changes;
}

Result<LedgerChange> Ledger::acknowledge(const std::string& stable_port, const std::string& by,
                                         const std::string& reason, std::optional<WallTime> until,
                                         WallTime now) {
  const auto at = ports_.find(stable_port);
  if (at == ports_.end() || !at->second.primary.entry) return Error{"nothing is open on this port"};
  if (until && *until <= now) return Error{"the acknowledgement would end in the past"};
  LedgerEntry& entry = *at->second.primary.entry;
  if (is_acknowledged(entry.kept, now))
    return Error{
        fmt::format("{} is acknowledged already, by {}{} (ack --end takes it back)",
                    words_of(entry.kept.fault), entry.kept.acknowledged_by,
                    entry.kept.acknowledged_until
                        ? " until " + format_rfc3339(std::chrono::floor<std::chrono::seconds>(
                                          *entry.kept.acknowledged_until))
                        : "")};
  entry.kept.acknowledged_at = now;
  entry.kept.acknowledged_by = by;
  entry.kept.acknowledged_reason = reason;
  entry.kept.acknowledged_until = until;
  if (entry.kept.state == FaultState::kOpen) entry.kept.state = FaultState::kAcknowledged;
  return LedgerChange{FaultEventKind::kAcknowledged, entry};
}

Result<LedgerChange> Ledger::withdraw_acknowledgement(const std::string& stable_port,
                                                      WallTime now) {
  const auto at = ports_.find(stable_port);
  if (at == ports_.end() || !at->second.primary.entry) return Error{"nothing is open on this port"};
  LedgerEntry& entry = *at->second.primary.entry;
  if (!is_acknowledged(entry.kept, now))
    return Error{words_of(entry.kept.fault) + " is not acknowledged"};
  entry.kept.acknowledged_until = now;
  std::vector<LedgerChange> changes;
  expire(at->second.primary.entry, now, changes);
  return LedgerChange{FaultEventKind::kReopened, entry};
}

}  // namespace linkhealth
