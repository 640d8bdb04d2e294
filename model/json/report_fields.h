// The field lists of the report format (docs/recording.md), in the order in which the keys are
// written. The keys that the format promises are always there, empty or not; what stands beside
// them is left out when there is nothing.
#pragma once

#include <array>

#include "model/json/sample_fields.h"
#include "model/report.h"

namespace linkhealth {

/// The value of `out`'s kind that to_string() gives as `text`.
template <typename Enum, std::size_t N>
bool find_word(std::string_view text, const std::array<Enum, N>& all, Enum& out) {
  for (const Enum value : all) {
    if (to_string(value) != text) continue;
    out = value;
    return true;
  }
  return false;
}

inline bool parse_word(std::string_view text, Health& out) {
  using enum Health;
  return find_word(text, std::array{kHealthy, kAtRisk, kDegraded, kDown, kUnknown, kExempt}, out);
}
inline bool parse_word(std::string_view text, End& out) {
  using enum End;
  return find_word(text, std::array{kNone, kLocal, kFar, kPath, kNode, kFabric}, out);
}
inline bool parse_word(std::string_view text, Severity& out) {
  using enum Severity;
  return find_word(text, std::array{kNotice, kWarning, kCritical}, out);
}
inline bool parse_word(std::string_view text, FaultState& out) {
  using enum FaultState;
  return find_word(text, std::array{kOpen, kAcknowledged, kProving, kClosed}, out);
}
/// Takes the value of a parser that may find none.
template <typename Word>
bool take_word(const std::optional<Word>& found, Word& out) {
  out = found.value_or(out);
  return found.has_value();
}
inline bool parse_word(std::string_view text, RepairAction& out) {
  return take_word(parse_repair_action(text), out);
}
inline bool parse_word(std::string_view text, RepairOutcome& out) {
  return take_word(parse_repair_outcome(text), out);
}
inline bool parse_word(std::string_view text, FaultEventKind& out) {
  using enum FaultEventKind;
  return find_word(
      text, std::array{kOpened, kWorsened, kAcknowledged, kProving, kClosed, kReopened}, out);
}

void fields(Is<Evidence> auto& evidence, auto& visit) {
  visit.always("symptom", evidence.symptom);
  visit("observed", evidence.observed);
  visit("op", evidence.op);
  visit("threshold", evidence.threshold);
  visit("unit", evidence.unit);
  visit("where", evidence.where);
  visit("source", evidence.source);
  visit("text", evidence.text);
  visit.always("supports", evidence.supports);
}

void fields(Is<MissingEvidence> auto& missing, auto& visit) {
  visit.always("symptom", missing.symptom);
  visit.always("why", missing.why);
  visit.always("how", missing.how);
  visit("decides", missing.decides);
}

void fields(Is<Candidate> auto& candidate, auto& visit) {
  visit.always("fault", candidate.fault);
  visit.always("end", candidate.end);
  visit.always("confidence", candidate.confidence);
}

void fields(Is<Undecided> auto& undecided, auto& visit) {
  visit.always("fault", undecided.fault);
  visit.always("end", undecided.end);
  visit.always("confidence", undecided.confidence);
  visit.always("test", undecided.test);
}

void fields(Is<EvidenceShare> auto& share, auto& visit) {
  visit.always("symptom", share.symptom);
  visit.always("nats", share.nats);
}

void fields(Is<EvidenceShares> auto& shares, auto& visit) {
  visit.always("against", shares.against);
  visit.always("end", shares.end);
  visit.always("shares", shares.shares);
}

void fields(Is<RepairRecord> auto& repair, auto& visit) {
  visit("port", repair.port);
  visit("fault_id", repair.fault_id);
  visit.always("action", repair.action);
  visit.always("at", repair.at);
  visit.always("outcome", repair.outcome);
  visit("rx_lane", repair.rx_lane);
  visit("rx_power_before_dbm", repair.rx_power_before_dbm);
  visit("rx_power_after_dbm", repair.rx_power_after_dbm);
  visit("pre_fec_ber_before", repair.pre_fec_ber_before);
  visit("pre_fec_ber_after", repair.pre_fec_ber_after);
  visit("serial_before", repair.serial_before);
  visit("serial_after", repair.serial_after);
}

void fields(Is<FaultPast> auto& past, auto& visit) {
  visit.always("port_times", past.port_times);
  visit.always("module_times", past.module_times);
  visit.always("cable_times", past.cable_times);
  visit("last_closed_at", past.last_closed_at);
}

void fields(Is<FaultProof> auto& proof, auto& visit) {
  visit.always("since", proof.since);
  visit.always("needed_s", proof.needed_s);
  visit("ber_bound", proof.ber_bound);
}

void fields(Is<Acknowledgement> auto& acknowledged, auto& visit) {
  visit.always("by", acknowledged.by);
  visit("reason", acknowledged.reason);
  visit.always("at", acknowledged.at);
  visit("until", acknowledged.until);
}

void fields(Is<Maintenance> auto& maintenance, auto& visit) {
  visit("port", maintenance.port);
  visit.always("by", maintenance.by);
  visit("reason", maintenance.reason);
  visit.always("since", maintenance.since);
  visit("until", maintenance.until);
  visit("file", maintenance.file);
  visit("ended_at", maintenance.ended_at);
  visit("module_reads", maintenance.module_reads);
}

void fields(Is<FaultReport> auto& fault, auto& visit) {
  visit.always("id", fault.id);
  visit.always("fault", fault.fault);
  visit.always("end", fault.end);
  visit.always("severity", fault.severity);
  visit.always("confidence", fault.confidence);
  visit.always("state", fault.state);
  visit.always("opened_at", fault.opened_at);
  visit.always("last_seen_at", fault.last_seen_at);
  visit.always("summary", fault.summary);
  visit.always("evidence", fault.evidence);
  visit.always("missing", fault.missing);
  visit("ruled_out", fault.ruled_out);
  visit.always("differential", fault.differential);
  visit("undecided", fault.undecided);
  visit("shares", fault.shares);
  visit.always("repair", fault.repair);
  visit.always("verify", fault.verify);
  visit("to_be_sure", fault.to_be_sure);
  visit("repairs", fault.repairs);
  visit("past", fault.past);
  visit("proof", fault.proof);
  visit("acknowledged", fault.acknowledged);
}

void fields(Is<PortFigures> auto& figures, auto& visit) {
  visit("pre_fec_ber", figures.pre_fec_ber);
  visit("ber_window_s", figures.ber_window_s);
  visit("pre_fec_ber_low", figures.pre_fec_ber_low);
  visit("pre_fec_ber_high", figures.pre_fec_ber_high);
  visit("pre_fec_ber_normal", figures.pre_fec_ber_normal);
  visit("worst_rx_power_dbm", figures.worst_rx_power_dbm);
  visit("worst_rx_lane", figures.worst_rx_lane);
  visit("rx_power_margin_db", figures.rx_power_margin_db);
  visit("pre_fec_ber_limit", figures.pre_fec_ber_limit);
  visit("rx_power_lost_db", figures.rx_power_lost_db);
  visit("far_rx_power_lost_db", figures.far_rx_power_lost_db);
  visit("tx_power_lost_db", figures.tx_power_lost_db);
  visit("far_tx_power_lost_db", figures.far_tx_power_lost_db);
  visit.always("involuntary_downs_24h", figures.involuntary_downs_24h);
  visit.always("involuntary_downs_total", figures.involuntary_downs_total);
  visit.always("voluntary_downs_total", figures.voluntary_downs_total);
  visit.always("involuntary_downs_told", figures.involuntary_downs_told);
  visit("last_involuntary_down_at", figures.last_involuntary_down_at);
  visit("carrier_since_t", figures.carrier_since);
}

void fields(Is<SymptomVerdict> auto& verdict, auto& visit) {
  visit.always("symptom", verdict.symptom);
  visit.always("verdict", verdict.verdict);
  visit("reason", verdict.reason);
}

void fields(Is<Trend> auto& trend, auto& visit) {
  visit.always("what", trend.what);
  visit.always("unit", trend.unit);
  visit.always("per_day", trend.per_day);
  visit.always("low_per_day", trend.low_per_day);
  visit.always("high_per_day", trend.high_per_day);
  visit.always("level", trend.level);
  visit.always("limit", trend.limit);
  visit.always("days_left", trend.days_left);
  visit.always("days_left_low", trend.days_left_low);
  visit.always("days_left_high", trend.days_left_high);
  visit.always("over_days", trend.over_days);
}

void fields(Is<Impact> auto& impact, auto& visit) {
  visit.always("bandwidth_lost_mbps", impact.bandwidth_lost_mbps);
  visit.always("bandwidth_at_risk_mbps", impact.bandwidth_at_risk_mbps);
  visit.always("share", impact.share);
  visit("rail", impact.rail);
  visit("rail_share", impact.rail_share);
}

void fields(Is<PortReport> auto& port, auto& visit) {
  visit.always("port", port.port);
  visit.always("health", port.health);
  visit.always("exempt", port.exempt);
  visit("note", port.note);
  visit.always("peer", port.peer);
  visit.always("faults", port.faults);
  visit.always("now", port.latest);
  visit.always("figures", port.figures);
  visit.always("gaps", port.gaps);
  visit("symptoms", port.symptoms);
  visit("trends", port.trends);
  visit("impact", port.impact);
  visit("maintenance", port.maintenance);
  visit.always("expected", port.expected);
}

void fields(Is<FaultEvent> auto& event, auto& visit) {
  std::string id = event_id(event);  // follows from the rest: written for others, read by nobody
  visit.always("t", event.t);
  visit.always("at", event.at);
  visit.always("event", event.kind);
  visit.always("port", event.port);
  visit.always("fault", event.fault);
  visit.always("id", id);
  visit("rail", event.rail);
  visit("site", event.site);
}

/// Without `timings`: a replay has none, and its report is the same, byte for byte.
void fields(Is<Report> auto& report, auto& visit) {
  visit.always("node", report.node);
  visit.always("at", report.at);
  visit.always("t", report.t);
  visit("impact", report.impact);
  visit.always("ports", report.ports);
  visit.always("gaps", report.gaps);
  visit("site", report.site);
  visit("dry_run", report.dry_run);
}

}  // namespace linkhealth
