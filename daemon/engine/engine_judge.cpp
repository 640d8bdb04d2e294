// Stage 3, for one port: what is wrong, how bad it is, and the ledger's update.
#include <algorithm>

#include "daemon/engine/engine_state.h"
#include "diagnosis/likelihood.h"
#include "model/history/saturated_counters.h"

namespace linkhealth {

namespace {

using enum SymptomId;

// Fitted on simulated cases with seeds below 1000 (docs/accuracy.md).
constexpr double kSecondAt = 0.9;  // like open_at, for what the first fault does not explain
constexpr double kSecondConfidence = 0.5;
constexpr double kLeadingConfidence = 0.5;
// More patience with a link that is down …
constexpr double kReadingS = 60;  // … while no fault leads: module and far end are being read
constexpr double kHandS = 30;     // … whose module was removed: swapping it takes a minute
constexpr double kSetUpS = 60;    // … that was enabled: there was no carrier loss, and it trains
// Errors that have not shown for this long are over.
constexpr double kErrorsOverS = 900;

/// The port was administratively down and was enabled.
bool set_up_since(const Features& f) {
  const auto& at = f.port.carrier.admin_event_at;
  return at && f.port.carrier.since && *at > *f.port.carrier.since && f.link().admin_up == true;
}

/// Another module was inserted since the link went down, and was not refused: like a port that was
/// just enabled, it needs time to power up and train.
bool swapped_since(const Features& f, const Findings& findings) {
  const auto& at_swap = f.port.own.serial_changed_at;
  return at_swap && f.port.carrier.since && *at_swap > *f.port.carrier.since &&
         !at(findings, kUnsupportedReported).present();
}

/// Errors that FEC could not correct in the newest interval, on an undisturbed link that is up.
bool lost_lately(const Features& f) {
  if (f.port.counters.intervals.empty()) return false;
  const Interval& last = f.port.counters.intervals.back();
  return last.clean && (last.increase(Indicator::kUncorrectableBlocks) > 0 ||
                        last.increase(Indicator::kSymbolErrors) > 0);
}

/// The fault that the evidence supports, with some preference for the open one.
struct Choice {
  const RankedFault* named = nullptr;  ///< nullptr: none is possible
  double wrong = 0;                    ///< probability that something is wrong
  double open_confidence = 0;          ///< of the fault that is open
};
Choice choose(const Differential& seen, const Fault* open) {
  // odds by which another fault, or none, must beat the open one.
  constexpr double kOpenBonus = 2.7;
  Choice choice;
  choice.wrong = 1 - seen.healthy;
  if (seen.ranked.empty()) return choice;
  choice.named = &seen.ranked.front();
  const auto row = std::ranges::find(seen.ranked, open, &RankedFault::fault);
  if (open == nullptr || row == seen.ranked.end()) return choice;
  choice.open_confidence = row->confidence;
  const double extra = row->probability * (kOpenBonus - 1);
  choice.wrong = (choice.wrong + extra) / (1 + extra);
  if (row->probability * kOpenBonus >= choice.named->probability) choice.named = &*row;
  return choice;
}

/// Since the repair the link has been up without errors or another carrier loss.
bool is_quiet_since(const Features& f, const Findings& findings, WallTime repaired_at) {
  const auto& losses = f.port.carrier.losses;
  return f.up && receive_errors(findings) != true &&
         std::ranges::none_of(losses, [&](const CarrierLoss& loss) {
           return !loss.planned && loss.at > repaired_at;
         });
}

/// Whether the driver gives a specific reason for the link being down, more than that there is no
/// partner.
bool states_reason(const Findings& findings) {
  return std::ranges::any_of(symptom_table(), [&findings](const Symptom& row) {
    return kDownReasons.has(row.id) && row.id != kNoPartner && at(findings, row.id).present();
  });
}

/// One lane where others have more. With InfiniBand that is not intended (a splitter cable gives
/// two lanes to each end), and it does not widen by itself.
bool has_one_lane(const Features& f) {
  return f.link().lanes == 1U && f.group.siblings_lanes > 1 &&
         f.port.latest.id.link_layer == "InfiniBand";
}
/// On fewer lanes than before, or than planned; or on one.
bool is_narrow(const Features& f) {
  const std::uint32_t planned = f.expected != nullptr ? f.expected->lanes.value_or(0) : 0;
  return has_one_lane(f) ||
         (f.link().lanes && *f.link().lanes < std::max(f.port.carrier.best_lanes, planned));
}
/// Slower than its module, or on fewer lanes than its siblings: perhaps on purpose.
bool may_be_meant(const Features& f) {
  return !is_narrow(f) && (wanted_speed(f).by_module ||
                           (f.link().lanes && f.group.siblings_lanes > *f.link().lanes));
}

/// A one-piece cable has a serial number; otherwise it is identified by the serials of the modules
/// at its ends.
std::string cable_of(const Features& f) {
  const std::string &own = f.port.own.serial, &far = f.port.far.serial;
  if (f.medium == Medium::kAoc || f.medium == Medium::kCopper) return own;
  return own.empty() || far.empty() ? "" : own + " - " + far;
}

/// A port whose sources are unreadable is unknown: neither healthy nor faulty.
bool can_judge(const Features& f, const Findings& findings) {
  // it has appeared: nothing more will be seen under this key.
  if (f.port.seen_elsewhere) return true;
  const bool blind = at(findings, kCountersBlind).present();
  const bool gone = at(findings, kDeviceGone).present();
  const bool unreadable =
      f.port.blind_to(SourceId::kLink) != nullptr ||
      (f.port.blind_to(SourceId::kCounters) != nullptr && !f.port.lacks_counters());
  if (unreadable && !blind && !at(findings, kDeviceFatal).present()) return false;
  if (!f.port.present && !gone) return false;
  return f.port.carrier.up.has_value() || blind || gone;
}

/// Returns whether errors are seen for the first time. If it is unknown whether there are any, the
/// old state is kept.
bool note_errors(PortState& port, const Features& f, const Findings& findings) {
  const std::optional<bool> errors = receive_errors(findings);
  if (errors == true) {
    port.errors_last = f.now;
    if (port.errors_since) return false;
    port.errors_since = errors_began(f);
    return true;
  }
  if (errors == false && port.errors_last && in_seconds(f.now - *port.errors_last) > kErrorsOverS)
    port.errors_since.reset();
  return false;
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
  if (note_errors(step.state, step.features, step.findings)) {
    // Light readings from before do not show the cause.
    step.errors_began = true;
    step.features.errors_since = step.state.errors_since;
    fill_light(step.features);
    step.findings = observe_all(step.features);
  }
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
  if (fault.id == FaultId::kBadTraining && receive_errors(step.findings) != true)
    return Severity::kNotice;  // it is harmless so far
  if (fault.life.spares_traffic || fault.severity == Severity::kNotice) return fault.severity;
  if (fault.id == FaultId::kReducedSpeed && may_be_meant(f)) return Severity::kNotice;
  // A small loss of light and nothing else: there is time.
  constexpr double kMuchDb = 3;
  const auto is_little = [](const std::optional<LightLossEstimate>& loss) {
    return !loss || loss->loss_db < kMuchDb;
  };
  if (!f.down && fault.id == FaultId::kDirtyConnector && receive_errors(step.findings) == false &&
      at(step.findings, kFarErrors).present() == false && is_little(f.light.rx) &&
      is_little(f.light.far_rx))
    return Severity::kNotice;
  // Each carrier loss loses what is in flight: between two of them the link is not less bad.
  constexpr double kHourS = 3600;
  const bool flaps_often =
      at(step.findings, kFlaps).present() &&
      static_cast<double>(f.port.carrier.unplanned_losses(f.now, kHourS)) >= f.settings.flap_losses;
  const bool bad = f.down || flaps_often || at(step.findings, kLosingData).present();
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
  if (f.down && (set_up_since(f) || swapped_since(f, findings))) verdict.down_s -= kSetUpS;
  verdict.idle = f.traffic.idle_now;
  verdict.module_out = at(findings, kModuleAbsent).present();
  if (const auto open = ledger.open(step.stable); !open.empty()) {
    const auto tried = repairs.of(step.stable, open.front()->kept.id);
    verdict.repaired = !tried.empty();
    verdict.quiet_since = verdict.repaired && is_quiet_since(f, findings, tried.back().at);
  }
  verdict.judged = can_judge(f, findings);
  const Differential& first =
      step.first.emplace(differentiate({f, findings, ledger.incumbent(step.stable) != nullptr}));
  verdict.odds = (1 - first.healthy) / std::max(first.healthy, 1e-12);
  if (f.port.seen_elsewhere) return verdict;
  const Choice choice = choose(first, ledger.incumbent(step.stable));
  step.wrong = choice.wrong;
  verdict.open_confidence = choice.open_confidence;
  // A link that trains again may come back by itself for minutes. One whose driver says why it does
  // not, and that no operator has touched since, only within the hold of a link that is down.
  const bool untouched = f.settled_down_s() >= f.down_s;
  if (f.down && untouched && states_reason(findings))
    step.wrong = std::max(step.wrong, diagnosis.open_at);
  const bool fault = choice.named != nullptr && step.wrong >= diagnosis.open_at &&
                     (f.down || is_supported(*choice.named->cause, findings));
  if (!fault) {
    // Errors that a saturated counter no longer counts are neither present nor gone.
    if (is_saturated_for(f.port.counters.saturated, kDamageCounts) && !f.signal.ber)
      verdict.judged = false;
    return verdict;
  }
  const RankedFault& named = *choice.named;
  const bool is_new = ledger.incumbent(step.stable) == nullptr;
  if (f.down && is_new && named.confidence < kLeadingConfidence && !states_reason(findings))
    verdict.down_s -= kReadingS;
  if (at(findings, kModuleAbsent).present()) verdict.down_s -= kHandS;
  constexpr double kCertainOdds = 1e4;  // no hold: waiting would not change the result
  if (named.fault->id == FaultId::kReducedSpeed && has_one_lane(f) && !f.port.carrier.since)
    verdict.odds = std::max(verdict.odds, kCertainOdds);
  verdict.primary = {named.fault, named.confidence, severity_of(named, step)};
  Differential& second = step.second.emplace(differentiate({f, findings, false, named.cause}));
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
    // A fault that was verified as gone was repaired by the last action; one that was replaced by
    // another fault was not.
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
