#include "storage/history/history_tables.h"

#include <algorithm>
#include <map>

#include "model/json/state_fields.h"

namespace linkhealth {

namespace history_tables {

namespace {

constexpr std::string_view kLedger = "ledger", kReferences = "references";

std::int64_t ms(WallTime time) { return time.time_since_epoch().count(); }
WallTime wall(std::int64_t ms) { return WallTime(Milliseconds(ms)); }

/// The first column of each row, parsed as JSON. A row that cannot be read, because of a flipped
/// bit, hides no other.
template <typename T, typename... Values>
std::vector<T> read_documents(SqlDatabase& database, const char* sql, const Values&... values) {
  std::vector<T> documents;
  database.each(
      sql,
      [&](const SqlRow& row) {
        if (auto document = parse_fields<T>(row.bytes(0)))
          documents.push_back(*std::move(document));
      },
      values...);
  return documents;
}

template <typename T>
T read_state(SqlDatabase& database, std::string_view name) {
  T state;
  database.each(
      "SELECT document FROM state WHERE name=?",
      [&](const SqlRow& row) {
        auto document = parse_fields<T>(row.bytes(0));
        if (document)
          state = *std::move(document);
        else
          database.fail(document.error());
      },
      name);
  return state;
}

template <typename T>
void write_state(SqlDatabase& database, std::string_view name, const T& state) {
  database.write("INSERT OR REPLACE INTO state(name, document) VALUES(?, ?)", name,
                 format_fields(state));
}

std::vector<KeptIdentity> read_identities(SqlDatabase& database, const char* sql,
                                          const std::string& value) {
  std::vector<KeptIdentity> found;
  database.each(
      sql,
      [&found](const SqlRow& row) {
        found.push_back({row.text(0), row.integer(1) != 0 ? "far" : "local", row.text(2),
                         row.text(3), row.text(4), row.text(5), row.text(6), wall(row.integer(7)),
                         wall(row.integer(8))});
      },
      value);
  return found;
}

}  // namespace

void write_ledger(SqlDatabase& database, const LedgerState& state) {
  for (const RepairRecord& repair : state.repairs)
    database.write(
        "INSERT OR REPLACE INTO repairs(port, at_ms, action, document) VALUES(?, ?, ?, ?)",
        repair.port, ms(repair.at), to_string(repair.action), format_fields(repair));
  write_state(database, kLedger, state);
}

LedgerState read_ledger(SqlDatabase& database) {
  return read_state<LedgerState>(database, kLedger);
}

void write_references(SqlDatabase& database, const ReferenceState& state) {
  write_state(database, kReferences, state);
}

ReferenceState read_references(SqlDatabase& database) {
  return read_state<ReferenceState>(database, kReferences);
}

void move_ports(SqlDatabase& database, const PortMoves& moves) {
  struct Sql {
    const char *away, *back;
  };
  // Two ports may swap: all rows first move to a key that no port has, and then to their own.
  constexpr Sql kTables[] = {{"UPDATE OR REPLACE signals SET port='>' || ? WHERE port=?",
                              "UPDATE OR REPLACE signals SET port=? WHERE port='>' || ?"},
                             {"UPDATE OR REPLACE events SET port='>' || ? WHERE port=?",
                              "UPDATE OR REPLACE events SET port=? WHERE port='>' || ?"},
                             {"UPDATE OR REPLACE repairs SET port='>' || ? WHERE port=?",
                              "UPDATE OR REPLACE repairs SET port=? WHERE port='>' || ?"},
                             {"UPDATE OR REPLACE identities SET port='>' || ? WHERE port=?",
                              "UPDATE OR REPLACE identities SET port=? WHERE port='>' || ?"}};
  for (const Sql& table : kTables) {
    for (const auto& [from, to] : moves) database.write(table.away, to, from);
    for (const auto& [from, to] : moves) database.write(table.back, to, to);
  }
}

// --- events ---

void write_event(SqlDatabase& database, const StoredEvent& stored) {
  database.write("INSERT OR IGNORE INTO events(id, port, at_ms, document) VALUES(?, ?, ?, ?)",
                 event_id(stored.event), stored.port, ms(stored.event.at),
                 format_fields(stored.event));
}

std::vector<FaultEvent> newest_events(SqlDatabase& database, std::size_t limit) {
  auto events = read_documents<FaultEvent>(
      database, "SELECT document FROM events ORDER BY number DESC LIMIT ?",
      static_cast<std::int64_t>(limit));
  std::ranges::reverse(events);
  return events;
}

std::vector<FaultEvent> events_of(SqlDatabase& database, const std::string& port, WallTime from,
                                  WallTime to) {
  return read_documents<FaultEvent>(
      database,
      "SELECT document FROM events WHERE port=? AND at_ms BETWEEN ? AND ? ORDER BY at_ms, number",
      port, ms(from), ms(to));
}

std::vector<RepairRecord> repairs_of(SqlDatabase& database, const std::string& port, WallTime from,
                                     WallTime to) {
  return read_documents<RepairRecord>(
      database,
      "SELECT document FROM repairs WHERE port=? AND at_ms BETWEEN ? AND ? ORDER BY at_ms", port,
      ms(from), ms(to));
}

void delete_events(SqlDatabase& database, WallTime before, std::int64_t limit) {
  database.write(
      "DELETE FROM events WHERE number IN "
      "(SELECT number FROM events WHERE at_ms < ? ORDER BY at_ms LIMIT ?)",
      ms(before), limit);
  database.write("DELETE FROM repairs WHERE at_ms < ?", ms(before));
}

std::int64_t delete_oldest_events(SqlDatabase& database, std::int64_t share) {
  constexpr const char* kCount = "SELECT count(*) FROM events";
  const std::int64_t before = database.integer(kCount).value_or(0);
  database.write(
      "DELETE FROM events WHERE number IN (SELECT number FROM events ORDER BY number LIMIT ?)",
      before / share + 1);
  database.write("DELETE FROM repairs WHERE at_ms < (SELECT min(at_ms) FROM events)");
  return before - database.integer(kCount).value_or(before);
}

// --- modules and cables ---

void write_identity(SqlDatabase& database, const KeptIdentity& identity) {
  database.write(
      "INSERT INTO identities VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) "
      "ON CONFLICT(serial, is_far, port, place) DO UPDATE SET vendor=excluded.vendor, "
      "part_number=excluded.part_number, kind=excluded.kind, "
      "last_seen_at_ms=max(last_seen_at_ms, excluded.last_seen_at_ms)",
      identity.serial, std::int64_t{identity.end == "far" ? 1 : 0}, identity.port, identity.place,
      identity.vendor, identity.part_number, identity.kind, ms(identity.first_seen_at),
      ms(identity.last_seen_at));
}

std::vector<KeptIdentity> identities_of_port(SqlDatabase& database, const std::string& port) {
  return read_identities(
      database,
      "SELECT * FROM identities WHERE port=? ORDER BY last_seen_at_ms DESC, is_far, serial", port);
}

std::vector<KeptIdentity> identities_of_serial(SqlDatabase& database, const std::string& serial) {
  return read_identities(
      database,
      "SELECT * FROM identities WHERE serial=? ORDER BY last_seen_at_ms DESC, is_far, port",
      serial);
}

// --- signals ---

namespace {

std::vector<SignalRow> stored_rows(SqlDatabase& database, std::uint32_t step_s, std::int64_t from_s,
                                   std::int64_t to_s, const std::string& port) {
  std::vector<SignalRow> rows;
  database.each(
      "SELECT at_s, port, signals FROM signals "
      "WHERE step_s=?1 AND at_s >= ?2 AND at_s < ?3 AND (?4='' OR port=?4) ORDER BY at_s",
      [&](const SqlRow& row) {
        rows.push_back({row.text(1), step_s, row.integer(0), unpacked_signals(row.bytes(2))});
      },
      std::int64_t{step_s}, from_s, to_s, port);
  return rows;
}

/// Rows of a shorter step combined into rows of `step_s`, one per port and step.
std::vector<SignalRow> folded(const std::vector<SignalRow>& rows, std::uint32_t step_s) {
  std::map<std::pair<std::int64_t, std::string>, SignalFold> folds;
  for (const SignalRow& row : rows)
    folds[{step_start_s(row.at_s, step_s), row.port}].add(row.values);
  std::vector<SignalRow> longer;
  longer.reserve(folds.size());
  for (const auto& [key, fold] : folds)
    longer.push_back({key.second, step_s, key.first, fold.values()});
  return longer;
}

std::optional<std::int64_t> last_row_s(SqlDatabase& database, std::uint32_t step_s) {
  return database.integer("SELECT max(at_s) FROM signals WHERE step_s=?", std::int64_t{step_s});
}

/// Start of the unwritten steps of `step_s`; 0 if there are none.
std::int64_t unwritten_from_s(SqlDatabase& database, std::uint32_t step_s) {
  const auto last_s = last_row_s(database, step_s);
  return last_s ? *last_s + step_s : 0;
}

/// Writes the completed steps of one length: those before the step that contains the latest shorter
/// row.
void fold_into(SqlDatabase& database, std::uint32_t shorter_s, std::uint32_t step_s) {
  const auto latest_s = last_row_s(database, shorter_s);
  std::int64_t from_s = unwritten_from_s(database, step_s);
  while (latest_s) {
    const auto next_s =
        database.integer("SELECT min(at_s) FROM signals WHERE step_s=? AND at_s >= ?",
                         std::int64_t{shorter_s}, from_s);
    if (!next_s || step_start_s(*next_s, step_s) >= step_start_s(*latest_s, step_s)) return;
    const std::int64_t begin_s = step_start_s(*next_s, step_s);
    from_s = begin_s + step_s;
    write_rows(database, folded(stored_rows(database, shorter_s, begin_s, from_s, ""), step_s));
  }
}

}  // namespace

void write_rows(SqlDatabase& database, const std::vector<SignalRow>& rows) {
  for (const SignalRow& row : rows)
    database.write("INSERT OR IGNORE INTO signals(step_s, at_s, port, signals) VALUES(?, ?, ?, ?)",
                   std::int64_t{row.step_s}, row.at_s, row.port,
                   SqlBlob{packed_signals(row.values)});
}

void fold_rows(SqlDatabase& database) {
  for (std::size_t i = 1; i < kSignalSteps_s.size(); ++i)
    fold_into(database, kSignalSteps_s[i - 1], kSignalSteps_s[i]);
}

std::vector<SignalRow> read_rows(SqlDatabase& database, const std::string& port,
                                 std::uint32_t step_s, std::int64_t from_s, std::int64_t to_s) {
  auto rows = stored_rows(database, step_s, from_s, to_s, port);
  if (step_s == kSignalSteps_s[0]) return rows;
  const std::int64_t begin_s = std::max(unwritten_from_s(database, step_s), from_s);
  for (SignalRow& row :
       folded(stored_rows(database, kSignalSteps_s[0], begin_s, to_s, port), step_s))
    rows.push_back(std::move(row));
  return rows;
}

std::optional<std::int64_t> first_row_s(SqlDatabase& database, const std::string& port) {
  std::optional<std::int64_t> first;
  for (const std::uint32_t step_s : kSignalSteps_s)
    if (const auto found = database.integer(
            "SELECT at_s FROM signals WHERE step_s=? AND port=? ORDER BY at_s LIMIT 1",
            std::int64_t{step_s}, port))
      first = std::min(first.value_or(*found), *found);
  return first;
}

void delete_rows(SqlDatabase& database, std::uint32_t step_s, std::int64_t before_s,
                 std::int64_t limit) {
  database.write(
      "DELETE FROM signals WHERE (step_s, at_s, port) IN (SELECT step_s, at_s, port FROM signals "
      "WHERE step_s=? AND at_s < ? ORDER BY at_s LIMIT ?)",
      std::int64_t{step_s}, before_s, limit);
}

void delete_rows_after(SqlDatabase& database, std::int64_t at_s) {
  for (const std::uint32_t step_s : kSignalSteps_s)
    database.write("DELETE FROM signals WHERE step_s=? AND at_s > ?", std::int64_t{step_s}, at_s);
}

void check_readable(SqlDatabase& database) {
  for (const char* const sql :
       {"SELECT min(at_s) FROM signals WHERE step_s=10", "SELECT max(at_ms) FROM events",
        "SELECT at_ms FROM repairs LIMIT 1", "SELECT is_far FROM identities LIMIT 1"})
    database.integer(sql);
}

std::int64_t signals_bytes(SqlDatabase& database) {
  return database.integer("SELECT sum(length(signals) + length(port)) FROM signals").value_or(0);
}

void delete_oldest_signals(SqlDatabase& database, std::int64_t share) {
  for (const std::uint32_t step_s : kSignalSteps_s)
    database.write(
        "DELETE FROM signals WHERE step_s=?1 AND at_s <= (SELECT min(at_s) + (max(at_s) - "
        "min(at_s)) / ?2 FROM signals WHERE step_s=?1)",
        std::int64_t{step_s}, share);
}

}  // namespace history_tables
}  // namespace linkhealth
