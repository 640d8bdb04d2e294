// The field lists of what the history database holds as documents: the fault state and the
// baselines. Heavy: include it in .cpp files only.
#pragma once

#include "model/history/reference_state.h"
#include "model/json/report_fields.h"
#include "model/ledger_state.h"

namespace linkhealth {

void fields(Is<LedgerFault> auto& fault, auto& visit) {
  visit.always("id", fault.id);
  visit.always("port", fault.port);
  visit.always("fault", fault.fault);
  visit("end", fault.end);
  visit.always("severity", fault.severity);
  visit.always("state", fault.state);
  visit("confidence", fault.confidence);
  visit.always("opened_at", fault.opened_at);
  visit.always("last_seen_at", fault.last_seen_at);
  visit("proving_since", fault.proving_since);
  visit("acknowledged_by", fault.acknowledged_by);
  visit("acknowledged_reason", fault.acknowledged_reason);
  visit("acknowledged_at", fault.acknowledged_at);
  visit("acknowledged_until", fault.acknowledged_until);
  visit("summary", fault.summary);
  visit("verify", fault.verify);
  visit("repair", fault.repair);
}

inline bool parse_word(std::string_view text, RepeatOf& out) {
  return take_word(parse_repeat_of(text), out);
}

void fields(Is<LedgerRepeat> auto& repeat, auto& visit) {
  visit.always("of", repeat.of);
  visit.always("subject", repeat.subject);
  visit.always("fault", repeat.fault);
  visit.always("times", repeat.times);
  visit.always("last_closed_at", repeat.last_closed_at);
}

void fields(Is<LedgerState> auto& state, auto& visit) {
  visit("faults", state.faults);
  visit("repeats", state.repeats);
  visit("repairs", state.repairs);
  visit("maintenance", state.maintenance);
  visit("maintenance_log", state.maintenance_log);
}

void fields(Is<KeptReference> auto& reference, auto& visit) {
  visit.always("name", reference.name);
  visit("values", reference.values);
}

void fields(Is<PortReferences> auto& port, auto& visit) {
  visit.always("port", port.port);
  visit("label", port.label);
  visit("guid", port.guid);
  visit.always("serial", port.serial);
  visit("far_serial", port.far_serial);
  visit.always("seen_at", port.seen_at);
  visit("linked_at", port.linked_at);
  visit("verbs_seen_at", port.verbs_seen_at);
  visit("last_drop_at", port.last_drop_at);
  visit("peer_source", port.peer_source);
  visit("peer_system", port.peer_system);
  visit("peer_port", port.peer_port);
  visit("peer_guid", port.peer_guid);
  visit("peer_at", port.peer_at);
  visit.always("best_speed_mbps", port.best_speed_mbps);
  visit.always("best_lanes", port.best_lanes);
  visit("references", port.references);
}

void fields(Is<ReferenceState> auto& state, auto& visit) { visit("ports", state.ports); }

}  // namespace linkhealth
