// The tables of the history database (storage/history/history_schema.cpp) as functions. The caller
// begins a transaction where several belong together.
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

/// An event with the stable key of its port, by which it is found again.
struct StoredEvent {
  std::string port;
  FaultEvent event;
};

namespace history_tables {

Result<void> write_ledger(SqlDatabase& database, const LedgerState& state);
/// Empty where nothing was written yet.
Result<LedgerState> read_ledger(SqlDatabase& database);
Result<void> write_references(SqlDatabase& database, const ReferenceState& state);
Result<ReferenceState> read_references(SqlDatabase& database);
/// Gives the rows of all tables to the ports' new stable keys, all at once. REQUIRES: no key is "".
Result<void> move_ports(SqlDatabase& database, const PortMoves& moves);

/// An event whose id is there already is not written again.
Result<void> write_event(SqlDatabase& database, const StoredEvent& stored);
/// Of all ports, oldest first.
Result<std::vector<FaultEvent>> newest_events(SqlDatabase& database, std::size_t limit);
Result<std::vector<FaultEvent>> events_of(SqlDatabase& database, const std::string& port,
                                          WallTime from, WallTime to);
Result<std::vector<RepairRecord>> repairs_of(SqlDatabase& database, const std::string& port,
                                             WallTime from, WallTime to);
/// Deletes at most `limit` events and all repairs from before `before`.
Result<void> delete_events(SqlDatabase& database, WallTime before, std::int64_t limit);

Result<void> write_identity(SqlDatabase& database, const KeptIdentity& identity);
Result<std::vector<KeptIdentity>> identities_of_port(SqlDatabase& database,
                                                     const std::string& port);
Result<std::vector<KeptIdentity>> identities_of_serial(SqlDatabase& database,
                                                       const std::string& serial);

/// A row that is there already stays: the clock was set back.
Result<void> write_rows(SqlDatabase& database, const std::vector<SignalRow>& rows);
/// Writes the longer steps that are over and not written yet, out of the shorter ones.
Result<void> fold_rows(SqlDatabase& database);
/// The rows of one port in [from_s, to_s), oldest first; a longer step that is not over is folded
/// from the shorter rows that are there.
Result<std::vector<SignalRow>> read_rows(SqlDatabase& database, const std::string& port,
                                         std::uint32_t step_s, std::int64_t from_s,
                                         std::int64_t to_s);
/// When the first row of the port begins, of any step.
Result<std::optional<std::int64_t>> first_row_s(SqlDatabase& database, const std::string& port);
/// Deletes at most `limit` rows from before `before_s`, the oldest first.
Result<void> delete_rows(SqlDatabase& database, std::uint32_t step_s, std::int64_t before_s,
                         std::int64_t limit);
/// Deletes the oldest rows: of each step one `share`th of the time that it spans.
Result<void> delete_oldest_share(SqlDatabase& database, std::int64_t share);
Result<void> delete_signals(SqlDatabase& database);

}  // namespace history_tables
}  // namespace linkhealth
