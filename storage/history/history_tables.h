// The tables of the history database (storage/history/history_schema.cpp) as functions. Errors are
// kept in the SqlDatabase: the caller checks its result(), and begins a transaction if several
// writes belong together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/history/port_moves.h"
#include "model/history/reference_state.h"
#include "model/history/signal_steps.h"
#include "model/ledger_state.h"
#include "model/port_timeline.h"
#include "storage/history/sqlite.h"

namespace linkhealth {

/// An event with the stable key of its port, by which it is looked up.
struct StoredEvent {
  std::string port;
  FaultEvent event;
};

namespace history_tables {

void write_ledger(SqlDatabase& database, const LedgerState& state);
/// Empty if nothing was written yet.
LedgerState read_ledger(SqlDatabase& database);
void write_references(SqlDatabase& database, const ReferenceState& state);
ReferenceState read_references(SqlDatabase& database);
/// Moves the rows of all tables to the ports' new stable keys, all at once. REQUIRES: no key is "".
void move_ports(SqlDatabase& database, const PortMoves& moves);

/// Ignores an event whose id already exists.
void write_event(SqlDatabase& database, const StoredEvent& stored);
/// Of all ports, oldest first.
std::vector<FaultEvent> newest_events(SqlDatabase& database, std::size_t limit);
std::vector<FaultEvent> events_of(SqlDatabase& database, const std::string& port, WallTime from,
                                  WallTime to);
std::vector<RepairRecord> repairs_of(SqlDatabase& database, const std::string& port, WallTime from,
                                     WallTime to);
/// Deletes at most `limit` events and all repairs from before `before`.
void delete_events(SqlDatabase& database, WallTime before, std::int64_t limit);
/// Deletes the oldest 1/`share` of the events, with the repairs before them; returns the number of
/// events.
std::int64_t delete_oldest_events(SqlDatabase& database, std::int64_t share);

void write_identity(SqlDatabase& database, const KeptIdentity& identity);
std::vector<KeptIdentity> identities_of_port(SqlDatabase& database, const std::string& port);
std::vector<KeptIdentity> identities_of_serial(SqlDatabase& database, const std::string& serial);

/// Ignores rows that already exist: the clock was set back.
void write_rows(SqlDatabase& database, const std::vector<SignalRow>& rows);
/// Writes the longer steps that have ended and are not yet written, computed from the shorter ones.
void fold_rows(SqlDatabase& database);
/// The rows of one port in [from_s, to_s), oldest first. An unfinished longer step is computed from
/// the existing shorter rows.
std::vector<SignalRow> read_rows(SqlDatabase& database, const std::string& port,
                                 std::uint32_t step_s, std::int64_t from_s, std::int64_t to_s);
/// The start of the port's first row, of any step.
std::optional<std::int64_t> first_row_s(SqlDatabase& database, const std::string& port);
/// Deletes at most `limit` rows from before `before_s`, the oldest first.
void delete_rows(SqlDatabase& database, std::uint32_t step_s, std::int64_t before_s,
                 std::int64_t limit);
/// Deletes the rows of all steps after `at_s`.
void delete_rows_after(SqlDatabase& database, std::int64_t at_s);
/// Deletes the oldest rows: for each step 1/`share` of the time that it spans.
void delete_oldest_signals(SqlDatabase& database, std::int64_t share);
/// About the size of all signals; reads all of them.
std::int64_t signals_bytes(SqlDatabase& database);
/// Checks that each table exists; if not, sets an error of the database.
void check_readable(SqlDatabase& database);

}  // namespace history_tables
}  // namespace linkhealth
