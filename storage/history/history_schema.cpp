#include "storage/history/history_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace linkhealth {

namespace {

// Signals have the time before the port in their key: a step is written at the end of its range,
// and the oldest is deleted at its beginning.
constexpr const char* kSchema = R"sql(
CREATE TABLE signals(
  step_s INTEGER NOT NULL, at_s INTEGER NOT NULL, port TEXT NOT NULL, signals BLOB NOT NULL,
  PRIMARY KEY(step_s, at_s, port)) WITHOUT ROWID;
CREATE TABLE events(
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, port TEXT NOT NULL, at_ms INTEGER NOT NULL,
  document TEXT NOT NULL);
CREATE INDEX events_of_port ON events(port, at_ms);
CREATE INDEX events_by_time ON events(at_ms);
CREATE TABLE repairs(
  port TEXT NOT NULL, at_ms INTEGER NOT NULL, action TEXT NOT NULL, document TEXT NOT NULL,
  PRIMARY KEY(port, at_ms, action)) WITHOUT ROWID;
CREATE TABLE identities(
  serial TEXT NOT NULL, is_far INTEGER NOT NULL, port TEXT NOT NULL, place TEXT NOT NULL,
  vendor TEXT NOT NULL, part_number TEXT NOT NULL, kind TEXT NOT NULL,
  first_seen_at_ms INTEGER NOT NULL, last_seen_at_ms INTEGER NOT NULL,
  PRIMARY KEY(serial, is_far, port, place)) WITHOUT ROWID;
CREATE INDEX identities_of_port ON identities(port);
CREATE TABLE state(name TEXT PRIMARY KEY, document TEXT NOT NULL) WITHOUT ROWID;
)sql";

/// PRAGMA application_id: "LH" in the upper half, the number of the schema in the lower half.
constexpr std::int64_t kMark = 0x4c48'0000;
constexpr std::int64_t kMarkMask = ~std::int64_t{0xffff};
constexpr std::int64_t kSchemaNumber = 2;

/// Whether the file has our schema already; an empty one has none.
Result<bool> has_schema(SqlDatabase& database) {
  const auto id = database.integer("PRAGMA application_id");
  if (!id) return id.error();
  const auto tables = database.integer("SELECT count(*) FROM sqlite_master");
  if (!tables) return tables.error();
  if (*id == kMark + kSchemaNumber) return true;
  if (*id == 0 && *tables == 0) return false;
  if ((*id & kMarkMask) == kMark && *id > kMark + kSchemaNumber)
    return Error{fmt::format(
        "{}: written by a newer linkhealth (schema {}, this one knows {}): start that one, or move "
        "the file away",
        database.path(), *id - kMark, kSchemaNumber)};
  return Error{fmt::format("{}: unknown schema: application_id {:#x}", database.path(), *id),
               EBADMSG};
}

Result<void> set_up(SqlDatabase& database, std::int64_t max_bytes) {
  // The WAL is folded in each four megabytes: folding waits for the disk, and doing it each
  // megabyte doubled the mean time of a write. auto_vacuum counts only before the first table is
  // made.
  constexpr const char* kSettings =
      "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
      "PRAGMA cache_size=-256; PRAGMA mmap_size=0; PRAGMA wal_autocheckpoint=1000; "
      "PRAGMA journal_size_limit=4194304; PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF; "
      "PRAGMA busy_timeout=2000";
  if (auto set = database.execute(kSettings); !set) return set;
  const auto page_bytes = database.integer("PRAGMA page_size");
  if (!page_bytes) return page_bytes.error();
  const std::int64_t pages = std::max<std::int64_t>(max_bytes / *page_bytes, 64);
  return database.execute(fmt::format("PRAGMA max_page_count={}", pages).c_str());
}

Result<void> check_whole(SqlDatabase& database) {
  auto query = database.run("PRAGMA quick_check(1)");
  if (!query) return query.error();
  const auto row = (*query)->step();
  if (!row) return row.error();
  const std::string answer = *row ? (*query)->text(0) : "no answer";
  if (answer == "ok") return {};
  return Error{fmt::format("{}: damaged: {}", database.path(), answer), EBADMSG};
}

}  // namespace

Result<void> prepare_schema(SqlDatabase& database, std::int64_t max_bytes) {
  const auto known = has_schema(database);
  if (!known) return known.error();
  if (auto set = set_up(database, max_bytes); !set) return set;
  if (*known) return check_whole(database);
  auto transaction = SqlTransaction::begin(database);
  if (!transaction) return transaction.error();
  if (auto made = database.execute(kSchema); !made) return made;
  if (auto marked =
          database.execute(fmt::format("PRAGMA application_id={}", kMark + kSchemaNumber).c_str());
      !marked)
    return marked;
  return (*transaction)->commit();
}

Result<std::string> set_database_aside(const std::string& path, WallTime now) {
  // "20261121T172448Z": a name that needs no quoting.
  std::string stamp = format_rfc3339(std::chrono::floor<std::chrono::seconds>(now));
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  const std::string kept = path + ".damaged-" + stamp;
  if (std::rename(path.c_str(), kept.c_str()) != 0)
    return errno_error(path + " could not be set aside", errno);
  for (const char* part : {"-wal", "-shm"})
    if (std::rename((path + part).c_str(), (kept + part).c_str()) != 0 && errno != ENOENT)
      return errno_error(path + part + " could not be set aside", errno);
  return kept;
}

}  // namespace linkhealth
