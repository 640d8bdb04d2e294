// What the engine knows besides the last readings, as JSON: stored in the state database, and in
// the header of a recording, so that a replay starts from the daemon's state.
#pragma once

#include "model/history/engine_state.h"
#include "model/json/report_fields.h"

namespace linkhealth {

JSON_FIELDS(LedgerFault, id, port, fault, end, severity, state, confidence, opened_at, last_seen_at,
            proving_since, acknowledged_by, acknowledged_reason, acknowledged_at,
            acknowledged_until, summary, verify, repair, ports);

JSON_FIELDS(LedgerRepeat, of, subject, fault, times, last_closed_at);

JSON_FIELDS(LedgerState, faults, repeats, repairs, maintenance, maintenance_log);

JSON_FIELDS(KeptReference, name, values);

JSON_FIELDS(WorseTraining, fell_at, down_s, ber_before, ber_after, trainings);

JSON_FIELDS(PortReferences, port, label, guid, serial, far_serial, seen_at, linked_at,
            verbs_seen_at, last_drop_at, peer_source, peer_system, peer_port, peer_guid, peer_at,
            best_speed_mbps, best_lanes, baseline_fec, worse_training, place_speed_mbps,
            references);

JSON_FIELDS(ReferenceState, ports);

JSON_FIELDS(EngineState, ledger, references, settings);

}  // namespace linkhealth
