// The field lists of the report format (docs/recording.md), in the order in which the keys are
// written. Keys that the format promises are always written, even if empty (VISIT_ALWAYS); others
// are left out when empty.
#pragma once

#include "model/json/sample_fields.h"
#include "model/report.h"

namespace linkhealth {

void fields(Is<Evidence> auto& value, auto& visit) {
  VISIT_ALWAYS(symptom);
  VISIT(observed, op, threshold, unit, where, source, text, supports, rules_out);
}

void fields(Is<MissingEvidence> auto& value, auto& visit) {
  VISIT_ALWAYS(symptom, why, how);
  VISIT(decides);
}

JSON_FIELDS(Candidate, fault, end, confidence);

void fields(Is<Undecided> auto& value, auto& visit) {
  VISIT_ALWAYS(fault, end, confidence, test);
  VISIT(names);
}

JSON_FIELDS(EvidenceShare, symptom, nats);

void fields(Is<EvidenceShares> auto& value, auto& visit) { VISIT_ALWAYS(against, end, shares); }

JSON_FIELDS(RepairRecord, port, fault_id, action, at, outcome, rx_lane, rx_power_before_dbm,
            rx_power_after_dbm, pre_fec_ber_before, pre_fec_ber_after, serial_before, serial_after);

JSON_FIELDS(FaultPast, port_times, module_times, cable_times, last_closed_at);

JSON_FIELDS(FaultProof, since, needed_s, ber_bound);

void fields(Is<Acknowledgement> auto& value, auto& visit) {
  VISIT_ALWAYS(by);
  VISIT(reason, at, until);
}

void fields(Is<Maintenance> auto& value, auto& visit) {
  VISIT(port);
  VISIT_ALWAYS(by);
  VISIT(reason, since, until, file, ended_at, module_reads);
}

void fields(Is<FaultReport> auto& value, auto& visit) {
  VISIT_ALWAYS(id, fault, end, severity, confidence, state, opened_at, last_seen_at, summary,
               evidence, missing);
  VISIT(lanes, ruled_out);
  VISIT_ALWAYS(differential);
  VISIT(undecided, shares);
  VISIT_ALWAYS(repair, verify);
  VISIT(to_be_sure, repairs, past, proof, acknowledged, ports);
}

void fields(Is<PortFigures> auto& value, auto& visit) {
  VISIT(pre_fec_ber, ber_window_s, pre_fec_ber_low, pre_fec_ber_high, pre_fec_ber_normal,
        worst_rx_power_dbm, worst_rx_lane, rx_power_margin_db, pre_fec_ber_limit, rx_power_lost_db,
        far_rx_power_lost_db, tx_power_lost_db, far_tx_power_lost_db, rx_power_lost_lane,
        best_speed_mbps, involuntary_downs_24h, involuntary_downs_total, voluntary_downs_total,
        involuntary_downs_told, last_involuntary_down_at);
  visit("carrier_since_t", value.carrier_since);
}

JSON_FIELDS(SymptomVerdict, symptom, verdict, reason);

JSON_FIELDS(Trend, what, unit, per_day, low_per_day, high_per_day, level, limit, days_left,
            days_left_low, days_left_high, over_days);

JSON_FIELDS(Impact, bandwidth_lost_mbps, bandwidth_at_risk_mbps, share, rail, rail_share);

void fields(Is<PortReport> auto& value, auto& visit) {
  VISIT_ALWAYS(port, health, exempt);
  VISIT(note);
  VISIT_ALWAYS(peer, faults);
  visit.always("now", value.latest);
  VISIT_ALWAYS(figures, gaps);
  VISIT(partial, checks, symptoms, trends, impact, maintenance);
  VISIT_ALWAYS(expected);
}

void fields(Is<FaultEvent> auto& value, auto& visit) {
  std::string id = event_id(value);  // derived from the others: written, and ignored when read
  VISIT_ALWAYS(t, at);
  visit.always("event", value.kind);
  VISIT_ALWAYS(port, fault);
  visit.always("id", id);
  VISIT(rail, site);
}

/// Without `timings`: a replay has none, so that its report is byte for byte the same.
void fields(Is<Report> auto& value, auto& visit) {
  VISIT_ALWAYS(node, at, t);
  VISIT(impact);
  VISIT_ALWAYS(ports, gaps);
  VISIT(site, dry_run);
}

}  // namespace linkhealth
