// What the engine says of the faults that are open: their reports and events.
#include <fmt/format.h>

#include <algorithm>

#include "daemon/engine_report.h"
#include "daemon/engine_state.h"
#include "diagnosis/exempt.h"
#include "diagnosis/explain.h"
#include "model/full_counter.h"

namespace linkhealth {

void Engine::State::note_repair(const Subject& subject, const PortView& view, Judged& port,
                                WallTime now) {
  auto record = port.repairs.step(view, now, watch_values);
  if (!record) return;
  record->port = subject.stable;
  for (const LedgerEntry* entry : ledger.open(subject.stable))
    if (record->fault_id.empty() && entry->fault->severity != Severity::kNotice)
      record->fault_id = entry->kept.id;
  repairs.add(*std::move(record));
}

void Engine::State::note_idle_cards(const std::vector<Gap>& gaps) {
  idle_cards.clear();
  for (const Gap& gap : gaps)
    if (gap.probe == "pci_bus") idle_cards += (idle_cards.empty() ? "" : "; ") + gap.reason;
}

FaultReport Engine::State::fault_report(const LedgerEntry& entry, const PortView& view,
                                        const Judged& port) {
  FaultReport report;
  for (const Differential* differential : {opinion.differential, &std::as_const(opinion.second)}) {
    if (opinion.differential == nullptr) break;  // not judged
    if (1 - differential->healthy < judge_values[0])
      continue;  // a healthy link's figures speak of no fault
    for (const RankedFault& ranked : differential->ranked)
      if (ranked.fault == entry.fault && report.fault.empty() &&
          entry.kept.state != FaultState::kProving) {
        explain(report, view, opinion.findings, *differential, ranked, judge_values[5],
                repairs.failed(entry.kept.port, entry.kept.id));
        if (differential == opinion.differential)
          explain_shares(report, {view, opinion.findings, entry.fault, nullptr},
                         differential_values, *differential, ranked);
        report.fault = ranked.fault->name;
      }
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
  if (port.gone_with > 0 && entry.kept.fault == "nic_fault")
    report.summary = fmt::format(
        "all {} ports of {} went at once: the driver, or what the monitor may see of /sys; no "
        "cable",
        port.gone_with,
        port.all_gone || view.port.latest.id.driver.empty() ? "this node"
                                                            : view.port.latest.id.driver);
  if (port.hot_with > 0 && entry.kept.fault == "module_overheated")
    report.summary =
        std::to_string(port.hot_with) +
        " modules of this node got hot together: the room, its inlet or a fan, not this module";
  if (port.low_with > 0 && entry.kept.fault == "pcie_degraded" && view.port.own.supply_v.now())
    report.summary = fmt::format(
        "{} modules of this node lost supply voltage together ({:.2f} V here): the card's or the "
        "node's supply, not these modules",
        port.low_with, *view.port.own.supply_v.now());
  if (view.port.awaited && entry.kept.fault == "nic_fault")
    report.summary =
        "configuration expects this port, and it was never there: " +
        (idle_cards.empty() ? std::string("no such device, or no driver for it") : idle_cards);
  // Said once: while the fault proves itself, what was last said of it stands.
  const std::string bus = "; the card was " + view.port.device.gone_reason;
  if (!view.port.present && !view.port.awaited && !view.port.device.gone_reason.empty() &&
      entry.kept.fault == "nic_fault" && report.summary.find(bus) == std::string::npos)
    report.summary += bus + " when the port went";
  report.id = entry.kept.id;
  report.fault = entry.kept.fault;
  report.end = entry.kept.end;
  report.severity = entry.kept.severity;
  report.confidence = entry.kept.confidence;
  report.state = entry.kept.state;
  report.opened_at = entry.kept.opened_at;
  report.last_seen_at = entry.kept.last_seen_at;
  report.repairs = repairs.of(entry.kept.port, entry.kept.id);
  report.past = ledger.past(entry.kept.port);
  report.proof = ledger.proof(entry);
  if (report.proof) report.undecided.reset();  // nobody shall test what shows no more
  report.acknowledged = acknowledgement_of(entry.kept, wall);
  texts[report.id] = report;
  return report;
}

void Engine::State::emit(const LedgerChange& change, const Subject& subject, const PortView& view,
                         const Judged& port, const Snapshot& snapshot,
                         std::vector<FaultEvent>& events) {
  FaultEvent event;
  event.t = snapshot.taken_at;
  event.at = snapshot.wall_time;
  event.kind = change.kind;
  event.port = subject.port->key;
  // A fault that proved itself gone was healed by what was done last; one that another name
  // replaced was not.
  if (change.kind == FaultEventKind::kClosed && change.entry.proving_since)
    repairs.healed(subject.stable, change.entry.kept.id);
  event.fault = fault_report(change.entry, view, port);
  if (change.kind == FaultEventKind::kClosed) texts.erase(change.entry.kept.id);
  if (change.kind == FaultEventKind::kOpened || change.kind == FaultEventKind::kReopened)
    rule_use = counted(*rule_use, event.fault);
  tell_place(event, subject.port->key);
  events.push_back(std::move(event));
}

void Engine::State::report_on(PortReport& report, const Subject& subject, const PortView& view,
                              Judged& port, const Snapshot& snapshot) {
  report.port = subject.port->key;
  report.exempt = port.exempt;
  if (view.group.siblings_hotter >= 2 && subject.temperature_drop_c.value_or(0) <= kSharedRiseC &&
      report.exempt.empty())
    report.note =
        std::to_string(view.group.siblings_hotter + 1) +
        " modules of this node are hotter than usual together: the room, its inlet or a fan";
  else if (port.exempt.empty() && subject.port->carrier.is_shut_out(snapshot.taken_at))
    report.note = subject.port->latest.link->state +
                  ": the link has trained, and no subnet manager makes it ACTIVE: ask who runs the "
                  "fabric, which may "
                  "have shut the port out";
  else if (port.exempt.empty())
    report.note = unexpected_note(*subject.port, subject.expected, !settings.empty());
  if (const std::string& odd = port.asked.contradiction; !odd.empty())
    report.note += (report.note.empty() ? "" : "; ") + odd;
  report.peer = peer_of(*subject.port, subject.expected);
  if (subject.port->present) {
    report.latest = subject.port->latest;
  } else {
    report.latest.id =
        subject.port->latest.id;  // what it last said is not so any more: no series, no "link up"
  }
  if (report.latest.peer && report.latest.peer->age_s && subject.port->peer_at) {
    PeerSample& peer = *report.latest.peer;
    const double since_s = in_seconds(snapshot.taken_at - *subject.port->peer_at) - *peer.age_s;
    for (auto* age_s : {&peer.age_s, &peer.link_age_s, &peer.counters_age_s})
      if (*age_s) **age_s += since_s;
  }
  if (report.latest.peer && report.latest.peer->module_age_s && subject.port->far.read_at)
    report.latest.peer->module_age_s = in_seconds(snapshot.taken_at - *subject.port->far.read_at);
  report.figures = figures_of(view);
  if (report.exempt.empty() && subject.port->present) report.trends = trends_of(view, trend_values);
  for (const auto& [probe, blind] : subject.port->blind)
    report.gaps.push_back({subject.port->key, probe, blind.reason});
  if (!subject.port->counters.saturated.empty())  // also beside a file that can't be read
    report.gaps.push_back({subject.port->key, "counters",
                           full_words(subject.port->latest.id, subject.port->counters.saturated)});
  if (subject.expected != nullptr) report.expected = *subject.expected;
  if (report.exempt.empty()) {
    for (const LedgerEntry* entry : ledger.open(subject.stable))
      report.faults.push_back(fault_report(*entry, view, port));
    port.symptoms = symptoms = tell_symptoms(opinion.findings, port.symptoms, symptoms);
    report.symptoms = symptoms->verdicts;
  }
  std::stable_sort(report.faults.begin(), report.faults.end(),
                   [](const FaultReport& a, const FaultReport& b) {
                     const bool proving_a = a.state == FaultState::kProving,
                                proving_b = b.state == FaultState::kProving;
                     if (proving_a != proving_b) return proving_b;
                     if (a.confidence != b.confidence) return a.confidence > b.confidence;
                     return a.severity > b.severity;
                   });
  report.health = health_of(report, view, port.judged);
}

}  // namespace linkhealth
