// The tables of the memory (storage/memory_schema.cpp) as functions. Each is a few statements; who
// calls them has begun a transaction where several belong together.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/ledger_state.h"
#include "model/port_moves.h"
#include "model/port_past.h"
#include "model/reference_state.h"
#include "model/signal_steps.h"
#include "storage/sqlite.h"

namespace linkhealth::memory_tables {

/// Ports in the key of a row of history, at most.
inline constexpr std::int64_t kPortsInKey = 4096;

Result<void> write_ledger(SqlDatabase& database, const LedgerState& state);
/// Empty where nothing was written yet.
Result<LedgerState> read_ledger(SqlDatabase& database);
/// Of all ports, oldest first.
Result<std::vector<Maintenance>> read_maintenance_log(SqlDatabase& database);
/// Gives the rows of all tables to the ports' new stable keys, all at once. REQUIRES: no key is "".
Result<void> move_ports(SqlDatabase& database, const PortMoves& moves);
Result<void> write_references(SqlDatabase& database, const ReferenceState& state);
Result<ReferenceState> read_references(SqlDatabase& database);

/// The number it was given, or had already: one with the same id is written once.
Result<std::int64_t> write_event(SqlDatabase& database, const KeptEvent& event);
/// The number of the latest event; 0 where there is none.
Result<std::int64_t> latest_event(SqlDatabase& database);
/// Those with a number above `after`, oldest first.
Result<std::vector<KeptEvent>> events_after(SqlDatabase& database, std::int64_t after,
                                            std::size_t limit);
/// The newest, oldest first.
Result<std::vector<KeptEvent>> newest_events(SqlDatabase& database, std::size_t limit);
Result<std::vector<KeptEvent>> events_of(SqlDatabase& database, const std::string& port,
                                         WallTime from, WallTime to);
/// nullopt: no event with this id.
Result<std::optional<std::int64_t>> event_number(SqlDatabase& database, const std::string& id);
Result<std::optional<std::int64_t>> read_sink(SqlDatabase& database, const std::string& name);
Result<void> write_sink(SqlDatabase& database, const std::string& name, std::int64_t delivered);

Result<std::vector<RepairRecord>> repairs_of(SqlDatabase& database, const std::string& port,
                                             WallTime from, WallTime to);
Result<void> write_identity(SqlDatabase& database, const KeptIdentity& identity);
Result<std::vector<KeptIdentity>> identities_of_port(SqlDatabase& database,
                                                     const std::string& port);
Result<std::vector<KeptIdentity>> identities_of_serial(SqlDatabase& database,
                                                       const std::string& serial);

/// The number of a port in keys; made where it has none and `make`. nullopt: unknown, or there are
/// too many.
Result<std::optional<std::int64_t>> port_number(SqlDatabase& database, const std::string& port,
                                                bool make);
/// Writes rows of one transaction, no longer: a port's number may be undone with it.
class RowWriter {
 public:
  explicit RowWriter(SqlDatabase& database) : database_(database) {}
  /// One that is there already stays: the clock was set back.
  Result<void> write(const SignalRow& row);

 private:
  SqlDatabase& database_;
  std::map<std::string, std::optional<std::int64_t>>
      numbers_;  ///< asked once for the rows of a minute
};
/// What stands of one port in [from_s, to_s), oldest first; `damaged` counts rows that are left
/// out.
Result<std::vector<SignalRow>> read_rows(SqlDatabase& database, const std::string& port,
                                         std::uint32_t step_s, std::int64_t from_s,
                                         std::int64_t to_s, std::size_t& damaged);
/// When the first row of the port is from; nullopt: there is none.
Result<std::optional<std::int64_t>> first_row_s(SqlDatabase& database, const std::string& port,
                                                std::uint32_t step_s);
/// Forgets at most `limit` rows from before `before_s`, the oldest first.
Result<void> forget_rows(SqlDatabase& database, std::uint32_t step_s, std::int64_t before_s,
                         std::int64_t limit);
/// Forgets the oldest part of each table of history: one `share`th of the time it spans.
Result<void> forget_oldest_share(SqlDatabase& database, std::int64_t share);
/// Forgets all rows of history.
Result<void> forget_history(SqlDatabase& database);
/// Forgets at most `limit` events, closed faults and old repairs each from before `before`.
Result<void> forget_events(SqlDatabase& database, WallTime before, std::int64_t limit);

}  // namespace linkhealth::memory_tables
