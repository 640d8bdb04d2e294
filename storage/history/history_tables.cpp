#include "storage/history/history_tables.h"

#include <algorithm>

#include "storage/history/state_fields.h"

namespace linkhealth::history_tables {

namespace {

constexpr std::string_view kLedger = "ledger", kReferences = "references";

std::int64_t ms(WallTime time) { return time.time_since_epoch().count(); }
WallTime wall(std::int64_t ms) { return WallTime(Milliseconds(ms)); }

/// What the first column of each row holds as JSON.
template <typename T, typename... Values>
Result<std::vector<T>> read_documents(SqlDatabase& database, const char* sql,
                                      const Values&... values) {
  std::vector<T> documents;
  Result<void> parsed;
  const auto read = database.each(
      sql,
      [&](const SqlRun& row) {
        auto document = parse_fields<T>(row.bytes(0));
        if (document)
          documents.push_back(*std::move(document));
        else if (parsed)
          parsed = document.error();
      },
      values...);
  if (!read) return read.error();
  if (!parsed) return parsed.error();
  return documents;
}

template <typename T>
Result<T> read_state(SqlDatabase& database, std::string_view name) {
  auto found = read_documents<T>(database, "SELECT document FROM state WHERE name=?", name);
  if (!found) return found.error();
  return found->empty() ? T() : std::move(found->front());
}

template <typename T>
Result<void> write_state(SqlDatabase& database, std::string_view name, const T& state) {
  return database.write("INSERT OR REPLACE INTO state(name, document) VALUES(?, ?)", name,
                        format_fields(state));
}

Result<std::vector<KeptIdentity>> read_identities(SqlDatabase& database, const char* sql,
                                                  const std::string& value) {
  std::vector<KeptIdentity> found;
  const auto read = database.each(
      sql,
      [&found](const SqlRun& row) {
        found.push_back({row.text(0), row.integer(1) != 0 ? "far" : "local", row.text(2),
                         row.text(3), row.text(4), row.text(5), row.text(6), wall(row.integer(7)),
                         wall(row.integer(8))});
      },
      value);
  if (!read) return read.error();
  return found;
}

}  // namespace

Result<void> write_ledger(SqlDatabase& database, const LedgerState& state) {
  for (const RepairRecord& repair : state.repairs)
    if (auto done = database.write(
            "INSERT OR REPLACE INTO repairs(port, at_ms, action, document) VALUES(?, ?, ?, ?)",
            repair.port, ms(repair.at), to_string(repair.action), format_fields(repair));
        !done)
      return done;
  return write_state(database, kLedger, state);
}

Result<LedgerState> read_ledger(SqlDatabase& database) {
  return read_state<LedgerState>(database, kLedger);
}

Result<void> write_references(SqlDatabase& database, const ReferenceState& state) {
  return write_state(database, kReferences, state);
}

Result<ReferenceState> read_references(SqlDatabase& database) {
  return read_state<ReferenceState>(database, kReferences);
}

Result<void> move_ports(SqlDatabase& database, const PortMoves& moves) {
  struct Sql {
    const char *away, *back;
  };
  // Two ports may swap: all go to a name that no port has, and then to their own.
  constexpr Sql kTables[] = {{"UPDATE OR REPLACE signals SET port='>' || ? WHERE port=?",
                              "UPDATE OR REPLACE signals SET port=? WHERE port='>' || ?"},
                             {"UPDATE OR REPLACE events SET port='>' || ? WHERE port=?",
                              "UPDATE OR REPLACE events SET port=? WHERE port='>' || ?"},
                             {"UPDATE OR REPLACE repairs SET port='>' || ? WHERE port=?",
                              "UPDATE OR REPLACE repairs SET port=? WHERE port='>' || ?"},
                             {"UPDATE OR REPLACE identities SET port='>' || ? WHERE port=?",
                              "UPDATE OR REPLACE identities SET port=? WHERE port='>' || ?"}};
  for (const Sql& table : kTables) {
    for (const auto& [from, to] : moves)
      if (auto done = database.write(table.away, to, from); !done) return done;
    for (const auto& [from, to] : moves)
      if (auto done = database.write(table.back, to, to); !done) return done;
  }
  return {};
}

// --- events ---

Result<void> write_event(SqlDatabase& database, const StoredEvent& stored) {
  return database.write(
      "INSERT OR IGNORE INTO events(id, port, at_ms, document) VALUES(?, ?, ?, ?)",
      event_id(stored.event), stored.port, ms(stored.event.at), format_fields(stored.event));
}

Result<std::vector<FaultEvent>> newest_events(SqlDatabase& database, std::size_t limit) {
  auto events = read_documents<FaultEvent>(
      database, "SELECT document FROM events ORDER BY number DESC LIMIT ?",
      static_cast<std::int64_t>(limit));
  if (events) std::ranges::reverse(*events);
  return events;
}

Result<std::vector<FaultEvent>> events_of(SqlDatabase& database, const std::string& port,
                                          WallTime from, WallTime to) {
  return read_documents<FaultEvent>(
      database,
      "SELECT document FROM events WHERE port=? AND at_ms BETWEEN ? AND ? ORDER BY at_ms, number",
      port, ms(from), ms(to));
}

Result<std::vector<RepairRecord>> repairs_of(SqlDatabase& database, const std::string& port,
                                             WallTime from, WallTime to) {
  return read_documents<RepairRecord>(
      database,
      "SELECT document FROM repairs WHERE port=? AND at_ms BETWEEN ? AND ? ORDER BY at_ms", port,
      ms(from), ms(to));
}

Result<void> delete_events(SqlDatabase& database, WallTime before, std::int64_t limit) {
  if (auto done =
          database.write("DELETE FROM events WHERE number IN "
                         "(SELECT number FROM events WHERE at_ms < ? ORDER BY at_ms LIMIT ?)",
                         ms(before), limit);
      !done)
    return done;
  return database.write("DELETE FROM repairs WHERE at_ms < ?", ms(before));
}

// --- modules and cables ---

Result<void> write_identity(SqlDatabase& database, const KeptIdentity& identity) {
  return database.write(
      "INSERT INTO identities VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) "
      "ON CONFLICT(serial, is_far, port, place) DO UPDATE SET vendor=excluded.vendor, "
      "part_number=excluded.part_number, kind=excluded.kind, "
      "last_seen_at_ms=max(last_seen_at_ms, excluded.last_seen_at_ms)",
      identity.serial, std::int64_t{identity.end == "far" ? 1 : 0}, identity.port, identity.place,
      identity.vendor, identity.part_number, identity.kind, ms(identity.first_seen_at),
      ms(identity.last_seen_at));
}

Result<std::vector<KeptIdentity>> identities_of_port(SqlDatabase& database,
                                                     const std::string& port) {
  return read_identities(
      database,
      "SELECT * FROM identities WHERE port=? ORDER BY last_seen_at_ms DESC, is_far, serial", port);
}

Result<std::vector<KeptIdentity>> identities_of_serial(SqlDatabase& database,
                                                       const std::string& serial) {
  return read_identities(
      database,
      "SELECT * FROM identities WHERE serial=? ORDER BY last_seen_at_ms DESC, is_far, port",
      serial);
}

}  // namespace linkhealth::history_tables
