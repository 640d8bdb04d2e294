// Stage 3, of one port: what is wrong, how bad it is, and what the ledger makes of it.
#include <algorithm>

#include "daemon/engine/engine_state.h"
#include "model/history/saturated_counters.h"

namespace linkhealth {

namespace {

using enum SymptomId;

// Fitted on simulated cases with seeds below 1000 (docs/accuracy.md).
constexpr double kSecondAt = 0.9;  // as open_at, for what the first fault does not explain
constexpr double kSecondConfidence = 0.5;
constexpr double kLeadingConfidence = 0.5;
// More patience with a link that is down …
constexpr double kReadingS = 60;  // … while no name leads: module and far end are read
constexpr double kHandS = 30;     // … whose module was pulled out: to swap it takes a minute
constexpr double kSetUpS = 60;    // … that was set up: nothing fell, and it trains
// Errors that have not shown for so long are over.
constexpr double kErrorsOverS = 900;

/// The port was administratively down and was set up.
bool set_up_since(const Features& f) {
  const auto& at = f.port.carrier.admin_event_at;
  return at && f.port.carrier.since && *at > *f.port.carrier.since && f.link().admin_up == true;
}

/// Errors that FEC could not correct in the newest interval of a link that carries undisturbed.
bool lost_lately(const Features& f) {
  if (f.port.counters.intervals.empty()) return false;
  const Interval& last = f.port.counters.intervals.back();
  return last.clean && (last.increase(Indicator::kUncorrectableBlocks) > 0 ||
                        last.increase(Indicator::kSymbolErrors) > 0);
}

/// On fewer lanes than before, or than planned.
bool is_narrow(const Features& f) {
  const std::uint32_t planned = f.expected != nullptr ? f.expected->lanes.value_or(0) : 0;
  return f.link().lanes && *f.link().lanes < std::max(f.port.carrier.best_lanes, planned);
}

/// A cable of one piece has a serial number; else those of the modules at its ends are it.
std::string cable_of(const Features& f) {
  const std::string &own = f.port.own.serial, &far = f.port.far.serial;
  if (f.medium == Medium::kAoc || f.medium == Medium::kCopper) return own;
  return own.empty() || far.empty() ? "" : own + " - " + far;
}

/// A port of which nothing can be read is unknown, which is neither healthy nor faulty.
bool can_judge(const Features& f, const Findings& findings) {
  if (f.port.seen_elsewhere) return true;  // it came: nothing more is to be seen under this key
  const bool blind = at(findings, kCountersBlind).present();
  const bool gone = at(findings, kDeviceGone).present();
  const bool unreadable =
      f.port.blind_to(SourceId::kLink) != nullptr ||
      (f.port.blind_to(SourceId::kCounters) != nullptr && !f.port.lacks_counters());
  if (unreadable && !blind && !at(findings, kDeviceFatal).present()) return false;
  if (!f.port.present && !gone) return false;
  return f.port.carrier.up.has_value() || blind || gone;
}

void note_errors(PortState& port, const Findings& findings, SteadyTime now) {
  if (receive_errors(findings) == true) {
    if (!port.errors_since) port.errors_since = now;
    port.errors_last = now;
  } else if (port.errors_last && in_seconds(now - *port.errors_last) > kErrorsOverS) {
    port.errors_since.reset();
  }
}

}  // namespace

bool is_supported(const Cause& cause, const Findings& findings) {
  return receive_errors(findings) == true ||
         std::ranges::any_of(symptom_table(), [&](const Symptom& row) {
           return at(findings, row.id).present() && explains(cause, row.id);
         });
}

void Engine::State::judge(PortStep& step) {
  step.findings = observe_all(step.features);
  note_errors(step.state, step.findings, step.features.now);
  if (auto record = step.state.repairs.step(step.features, wall)) {
    record->port = step.stable;
    for (const LedgerEntry* entry : ledger.open(step.stable))
      if (record->fault_id.empty() && entry->fault->severity != Severity::kNotice)
        record->fault_id = entry->kept.id;
    repairs.add(*std::move(record));
  }
  step.verdict = verdict_of(step);
}

Severity Engine::State::severity_of(const RankedFault& ranked, const PortStep& step) const {
  const Fault& fault = *ranked.fault;
  const Features& f = step.features;
  if (fault.life.spares_traffic || fault.severity == Severity::kNotice) return fault.severity;
  // The link may be slower than its module on purpose.
  if (fault.id == FaultId::kReducedSpeed && !is_narrow(f) && wanted_speed(f).by_module)
    return Severity::kNotice;
  const bool bad = f.down || at(step.findings, kLosingData).present();
  return bad ? Severity::kCritical : fault.severity;
}

PortVerdict Engine::State::verdict_of(PortStep& step) const {
  const Features& f = step.features;
  const Findings& findings = step.findings;
  PortVerdict verdict;
  verdict.maintenance = step.work != nullptr;
  verdict.down = f.down;
  verdict.rate_bps = f.port.line_rate_bps();
  verdict.link_down_events = f.port.carrier.unplanned_total;
  verdict.lost_data = lost_lately(f);
  verdict.module = f.port.own.serial;
  verdict.cable = cable_of(f);
  verdict.down_s = f.settled_down_s();
  if (f.down && is_starting(f, history.uptime_s())) verdict.down_s = std::min(verdict.down_s, 0.0);
  if (f.down && set_up_since(f)) verdict.down_s -= kSetUpS;
  verdict.idle = f.traffic.idle_now;
  verdict.judged = can_judge(f, findings);
  const Differential& first =
      step.first.emplace(differentiate({f, findings, ledger.incumbent(step.stable)}));
  verdict.odds = (1 - first.healthy) / std::max(first.healthy, 1e-12);
  if (f.port.seen_elsewhere) return verdict;
  const bool fault = !first.ranked.empty() && 1 - first.healthy >= diagnosis.open_at &&
                     (f.down || is_supported(*first.ranked.front().cause, findings));
  if (!fault) {
    // Errors that a full counter no longer counts are neither there nor gone.
    if (is_saturated_for(f.port.counters.saturated, kDamageCounts) && !f.signal.ber)
      verdict.judged = false;
    return verdict;
  }
  const RankedFault& named = first.ranked.front();
  if (f.down && named.confidence < kLeadingConfidence) verdict.down_s -= kReadingS;
  if (at(findings, kModuleAbsent).present()) verdict.down_s -= kHandS;
  verdict.primary = {named.fault, named.confidence, severity_of(named, step)};
  Differential& second = step.second.emplace(differentiate({f, findings, nullptr, named.cause}));
  if (f.down || 1 - second.healthy < kSecondAt || second.ranked.empty()) return verdict;
  RankedFault& other = second.ranked.front();
  other.confidence = std::min(other.confidence, named.confidence);
  if (other.confidence >= kSecondConfidence)
    verdict.secondary = {other.fault, other.confidence, severity_of(other, step)};
  return verdict;
}

void Engine::State::update_ledger(PortStep& step, std::vector<FaultEvent>& events) {
  const SteadyTime now = step.features.now;
  for (const LedgerChange& change : ledger.update(step.stable, step.verdict, now, wall)) {
    const std::string& id = change.entry.kept.id;
    const bool closed = change.kind == FaultEventKind::kClosed;
    // A fault that proved itself gone was repaired by the last action; one that another name
    // replaced was not.
    if (closed && change.entry.proving_since) repairs.healed(step.stable, id);
    FaultEvent event = event_of(change.kind, step.port.key);
    event.fault = fault_report(change.entry, step);
    if (closed) texts.erase(id);
    events.push_back(std::move(event));
  }
  for (const LedgerEntry* entry : ledger.open(step.stable))
    if (entry->last_seen == now) repairs.seen(step.stable, entry->kept.id, wall);
}

}  // namespace linkhealth
