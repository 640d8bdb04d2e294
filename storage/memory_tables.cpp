#include "storage/memory_tables.h"

#include <algorithm>

#include "storage/ledger_file.h"
#include "storage/reference_file.h"

namespace linkhealth::memory_tables {

namespace {

constexpr const char* kLedger = "ledger";
constexpr const char* kReferences = "references";

std::int64_t ms(WallTime time) { return time.time_since_epoch().count(); }
WallTime wall(std::int64_t ms) { return WallTime(Milliseconds(ms)); }

/// Binds the values in order and runs a statement that gives no rows.
template <typename... Values>
Result<void> write(SqlDatabase& database, const char* sql, const Values&... values) {
  auto run = database.run(sql);
  if (!run) return run.error();
  ((*run)->bind(values), ...);
  return (*run)->done();
}

/// Binds the values in order and calls take(row) for each row.
template <typename Take, typename... Values>
Result<void> each(SqlDatabase& database, const char* sql, Take take, const Values&... values) {
  auto run = database.run(sql);
  if (!run) return run.error();
  ((*run)->bind(values), ...);
  for (;;) {
    const auto row = (*run)->step();
    if (!row) return row.error();
    if (!*row) return {};
    take(**run);
  }
}

Result<std::optional<std::string>> read_state(SqlDatabase& database, const char* name) {
  std::optional<std::string> document;
  auto read = each(
      database, "SELECT document FROM state WHERE name=?",
      [&](const SqlRun& row) { document = row.text(0); }, std::string_view(name));
  if (!read) return read.error();
  return document;
}

Result<void> write_state(SqlDatabase& database, const char* name, const std::string& document) {
  return write(database, "INSERT OR REPLACE INTO state(name, document) VALUES(?, ?)",
               std::string_view(name), std::string_view(document));
}

Result<void> write_fault(SqlDatabase& database, const LedgerFault& fault) {
  return write(database,
               "INSERT OR REPLACE INTO faults(id, port, fault, is_open, opened_at_ms, "
               "last_seen_at_ms, document) "
               "VALUES(?, ?, ?, 1, ?, ?, ?)",
               std::string_view(fault.id), std::string_view(fault.port),
               std::string_view(fault.fault), ms(fault.opened_at), ms(fault.last_seen_at),
               std::string_view(ledger_fault_json(fault)));
}

Result<void> write_repair(SqlDatabase& database, const RepairRecord& repair, std::int64_t place) {
  return write(database,
               "INSERT OR REPLACE INTO repairs(port, at_ms, action, is_known, place, document) "
               "VALUES(?, ?, ?, 1, ?, ?)",
               std::string_view(repair.port), ms(repair.at), to_string(repair.action), place,
               std::string_view(repair_record_json(repair)));
}

/// Adds what `parse` makes of a row's document to `out`; the first error stays in `failed`.
template <typename T>
void take_document(const SqlRun& row, Result<T> (*parse)(std::string_view), std::vector<T>& out,
                   std::optional<Error>& failed) {
  auto value = parse(row.bytes(0));
  if (value) {
    out.push_back(std::move(value).value());
  } else if (!failed) {
    failed = value.error();
  }
}

KeptEvent event_of(const SqlRun& row) {
  KeptEvent event;
  event.id = row.text(0);
  event.port = row.text(1);
  event.at = wall(row.integer(2));
  event.event = row.text(3);
  event.fault = row.text(4);
  event.fault_id = row.text(5);
  event.end = row.text(6);
  event.severity = row.text(7);
  event.confidence = row.real(8);
  event.summary = row.text(9);
  event.document = row.text(10);
  return event;
}

KeptIdentity identity_of(const SqlRun& row) {
  return {row.text(0),         row.integer(1) != 0 ? "far" : "local",
          row.text(2),         row.text(3),
          row.text(4),         row.text(5),
          row.text(6),         wall(row.integer(7)),
          wall(row.integer(8))};
}

}  // namespace

Result<void> write_ledger(SqlDatabase& database, const LedgerState& state) {
  LedgerState rest = state;
  rest.faults.clear();
  rest.repairs.clear();
  if (auto done = write_state(database, kLedger, ledger_json(rest)); !done) return done;
  if (auto done = database.execute("UPDATE faults SET is_open=0 WHERE is_open=1;"
                                   "UPDATE repairs SET is_known=0 WHERE is_known=1");
      !done)
    return done;
  for (const LedgerFault& fault : state.faults)
    if (auto done = write_fault(database, fault); !done) return done;
  std::int64_t place = 0;
  for (const RepairRecord& repair : state.repairs)
    if (auto done = write_repair(database, repair, place++); !done) return done;
  return {};
}

Result<LedgerState> read_ledger(SqlDatabase& database) {
  auto document = read_state(database, kLedger);
  if (!document) return document.error();
  auto state = *document ? parse_ledger(**document) : LedgerState{};
  if (!state) return state;
  std::optional<Error> failed;
  auto faults = each(
      database, "SELECT document FROM faults WHERE is_open=1 ORDER BY opened_at_ms, id",
      [&](const SqlRun& row) { take_document(row, &parse_ledger_fault, state->faults, failed); });
  if (!faults) return faults.error();
  auto repairs = each(
      database, "SELECT document FROM repairs WHERE is_known=1 ORDER BY place",
      [&](const SqlRun& row) { take_document(row, &parse_repair_record, state->repairs, failed); });
  if (!repairs) return repairs.error();
  if (failed) return *failed;
  return state;
}

Result<std::vector<Maintenance>> read_maintenance_log(SqlDatabase& database) {
  const auto document = read_state(database, kLedger);
  if (!document) return document.error();
  if (!*document) return std::vector<Maintenance>();
  auto state = parse_ledger(**document);
  if (!state) return state.error();
  return std::move(state->maintenance_log);
}

Result<void> write_references(SqlDatabase& database, const ReferenceState& state) {
  return write_state(database, kReferences, references_json(state));
}

Result<ReferenceState> read_references(SqlDatabase& database) {
  auto document = read_state(database, kReferences);
  if (!document) return document.error();
  return *document ? parse_references(**document) : ReferenceState{};
}

#define LINKHEALTH_EVENT_COLUMNS \
  "id, port, at_ms, event, fault, fault_id, fault_end, severity, confidence, summary, document"

Result<std::int64_t> write_event(SqlDatabase& database, const KeptEvent& event) {
  auto done = write(database,
                    "INSERT OR IGNORE INTO events(" LINKHEALTH_EVENT_COLUMNS
                    ") VALUES(?,?,?,?,?,?,?,?,?,?,?)",
                    std::string_view(event.id), std::string_view(event.port), ms(event.at),
                    std::string_view(event.event), std::string_view(event.fault),
                    std::string_view(event.fault_id), std::string_view(event.end),
                    std::string_view(event.severity), event.confidence,
                    std::string_view(event.summary), std::string_view(event.document));
  if (!done) return done.error();
  const auto number = event_number(database, event.id);
  if (!number) return number.error();
  return number->value_or(0);
}

Result<std::int64_t> latest_event(SqlDatabase& database) {
  // Not max(number): the latest may have been forgotten already.
  return database.integer("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name='events'");
}

Result<std::vector<KeptEvent>> events_after(SqlDatabase& database, std::int64_t after,
                                            std::size_t limit) {
  std::vector<KeptEvent> events;
  auto read = each(
      database,
      "SELECT " LINKHEALTH_EVENT_COLUMNS " FROM events WHERE number > ? ORDER BY number LIMIT ?",
      [&](const SqlRun& row) { events.push_back(event_of(row)); }, after,
      static_cast<std::int64_t>(limit));
  if (!read) return read.error();
  return events;
}

Result<std::vector<KeptEvent>> newest_events(SqlDatabase& database, std::size_t limit) {
  std::vector<KeptEvent> events;
  auto read = each(
      database, "SELECT " LINKHEALTH_EVENT_COLUMNS " FROM events ORDER BY number DESC LIMIT ?",
      [&](const SqlRun& row) { events.push_back(event_of(row)); },
      static_cast<std::int64_t>(limit));
  if (!read) return read.error();
  std::reverse(events.begin(), events.end());
  return events;
}

Result<std::vector<KeptEvent>> events_of(SqlDatabase& database, const std::string& port,
                                         WallTime from, WallTime to) {
  std::vector<KeptEvent> events;
  auto read = each(
      database,
      "SELECT " LINKHEALTH_EVENT_COLUMNS
      " FROM events WHERE port = ? AND at_ms BETWEEN ? AND ? ORDER BY at_ms, number",
      [&](const SqlRun& row) { events.push_back(event_of(row)); }, std::string_view(port), ms(from),
      ms(to));
  if (!read) return read.error();
  return events;
}
#undef LINKHEALTH_EVENT_COLUMNS

Result<std::optional<std::int64_t>> event_number(SqlDatabase& database, const std::string& id) {
  std::optional<std::int64_t> number;
  auto read = each(
      database, "SELECT number FROM events WHERE id=?",
      [&](const SqlRun& row) { number = row.integer(0); }, std::string_view(id));
  if (!read) return read.error();
  return number;
}

Result<std::optional<std::int64_t>> read_sink(SqlDatabase& database, const std::string& name) {
  std::optional<std::int64_t> delivered;
  auto read = each(
      database, "SELECT delivered FROM sinks WHERE name=?",
      [&](const SqlRun& row) { delivered = row.integer(0); }, std::string_view(name));
  if (!read) return read.error();
  return delivered;
}

Result<void> write_sink(SqlDatabase& database, const std::string& name, std::int64_t delivered) {
  return write(database, "INSERT OR REPLACE INTO sinks(name, delivered) VALUES(?, ?)",
               std::string_view(name), delivered);
}

Result<std::vector<RepairRecord>> repairs_of(SqlDatabase& database, const std::string& port,
                                             WallTime from, WallTime to) {
  std::vector<RepairRecord> repairs;
  std::optional<Error> failed;
  auto read = each(
      database,
      "SELECT document FROM repairs WHERE port = ? AND at_ms BETWEEN ? AND ? ORDER BY at_ms",
      [&](const SqlRun& row) { take_document(row, &parse_repair_record, repairs, failed); },
      std::string_view(port), ms(from), ms(to));
  if (!read) return read.error();
  if (failed) return *failed;
  return repairs;
}

Result<void> write_identity(SqlDatabase& database, const KeptIdentity& identity) {
  return write(
      database,
      "INSERT INTO identities VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(serial, is_far, port, "
      "place) DO "
      "UPDATE SET vendor=excluded.vendor, part_number=excluded.part_number, kind=excluded.kind, "
      "last_seen_at_ms=max(last_seen_at_ms, excluded.last_seen_at_ms)",
      std::string_view(identity.serial), std::int64_t{identity.end == "far" ? 1 : 0},
      std::string_view(identity.port), std::string_view(identity.place),
      std::string_view(identity.vendor), std::string_view(identity.part_number),
      std::string_view(identity.kind), ms(identity.first_seen_at), ms(identity.last_seen_at));
}

Result<std::vector<KeptIdentity>> identities_of_port(SqlDatabase& database,
                                                     const std::string& port) {
  std::vector<KeptIdentity> found;
  auto read = each(
      database,
      "SELECT * FROM identities WHERE port=? ORDER BY last_seen_at_ms DESC, is_far, serial",
      [&](const SqlRun& row) { found.push_back(identity_of(row)); }, std::string_view(port));
  if (!read) return read.error();
  return found;
}

Result<std::vector<KeptIdentity>> identities_of_serial(SqlDatabase& database,
                                                       const std::string& serial) {
  std::vector<KeptIdentity> found;
  auto read = each(
      database,
      "SELECT * FROM identities WHERE serial=? ORDER BY last_seen_at_ms DESC, is_far, port",
      [&](const SqlRun& row) { found.push_back(identity_of(row)); }, std::string_view(serial));
  if (!read) return read.error();
  return found;
}

Result<void> forget_events(SqlDatabase& database, WallTime before, std::int64_t limit) {
  const std::int64_t at_ms = ms(before);
  if (auto done = write(database,
                        "DELETE FROM events WHERE number IN (SELECT number FROM events WHERE at_ms "
                        "< ? ORDER BY at_ms "
                        "LIMIT ?)",
                        at_ms, limit);
      !done)
    return done;
  if (auto done = write(database,
                        "DELETE FROM faults WHERE id IN (SELECT id FROM faults WHERE is_open=0 AND "
                        "last_seen_at_ms < ? "
                        "LIMIT ?)",
                        at_ms, limit);
      !done)
    return done;
  return write(database, "DELETE FROM repairs WHERE is_known=0 AND at_ms < ?", at_ms);
}

}  // namespace linkhealth::memory_tables
