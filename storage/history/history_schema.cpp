#include "storage/history/history_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace linkhealth {

namespace {

// In the key of signals, time comes before the port: a step is written at the end of the range, and
// the oldest is deleted at its beginning.
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

/// PRAGMA application_id: "LH" in the upper half, the schema version in the lower half.
constexpr std::int64_t kMark = 0x4c48'0000;
constexpr std::int64_t kMarkMask = ~std::int64_t{0xffff};
constexpr std::int64_t kSchemaNumber = 2;

/// Whether the file already has our schema; an empty one has none.
bool has_schema(SqlDatabase& database) {
  const std::int64_t id = database.integer("PRAGMA application_id").value_or(0);
  const bool is_empty = database.integer("SELECT count(*) FROM sqlite_master") == 0;
  if (id == kMark + kSchemaNumber || (id == 0 && is_empty)) return id != 0;
  if ((id & kMarkMask) == kMark && id > kMark + kSchemaNumber) {
    database.leave_as_it_is();
    database.fail(
        {fmt::format("{}: written by a newer linkhealth (schema {}, this version supports {}): "
                     "start that version, or move the file away",
                     database.path(), id - kMark, kSchemaNumber)});
  } else {
    database.fail(
        {fmt::format("{}: unknown schema: application_id {:#x}", database.path(), id), EBADMSG});
  }
  return false;
}

void set_up(SqlDatabase& database, std::int64_t max_bytes) {
  // The WAL is checkpointed every 4 MB: that waits for the disk, and every 1 MB doubled the mean
  // time of a write. auto_vacuum only has an effect before the first table is created.
  database.execute(
      "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
      "PRAGMA cache_size=-256; PRAGMA mmap_size=0; PRAGMA wal_autocheckpoint=1000; "
      "PRAGMA journal_size_limit=4194304; PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF; "
      "PRAGMA busy_timeout=2000");
  const std::int64_t page_bytes = database.integer("PRAGMA page_size").value_or(4096);
  const std::int64_t pages = std::max<std::int64_t>(max_bytes / page_bytes, 64);
  database.execute(fmt::format("PRAGMA max_page_count={}", pages).c_str());
}

void check_whole(SqlDatabase& database) {
  std::string answer = "no answer";
  database.each("PRAGMA quick_check(1)", [&](const SqlRow& row) { answer = row.text(0); });
  if (answer != "ok")
    database.fail({fmt::format("{}: damaged: {}", database.path(), answer), EBADMSG});
}

}  // namespace

Result<void> prepare_schema(SqlDatabase& database, std::int64_t max_bytes) {
  const bool is_known = has_schema(database);
  set_up(database, max_bytes);
  if (is_known) check_whole(database);
  if (auto prepared = database.result(); is_known || !prepared) return prepared;
  return database.transaction([&database] {
    database.execute(kSchema);
    database.execute(fmt::format("PRAGMA application_id={}", kMark + kSchemaNumber).c_str());
  });
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
