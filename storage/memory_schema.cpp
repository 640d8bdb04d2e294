#include "storage/memory_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

namespace linkhealth {

namespace {

// The rows of history have one whole number as key, time first, so that a step is written at the
// end of its table and the oldest is deleted at its beginning: at_s * 4096 + the port's number
// (kPortsInKey).
constexpr std::array<const char*, 1> kMigrations{R"sql(
CREATE TABLE ports(number INTEGER PRIMARY KEY, port TEXT NOT NULL UNIQUE);
CREATE TABLE history_10(key INTEGER PRIMARY KEY, row BLOB NOT NULL);
CREATE TABLE history_60(key INTEGER PRIMARY KEY, row BLOB NOT NULL);
CREATE TABLE history_600(key INTEGER PRIMARY KEY, row BLOB NOT NULL);
CREATE TABLE events(
  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, port TEXT NOT NULL, at_ms INTEGER NOT NULL,
  event TEXT NOT NULL, fault TEXT NOT NULL, fault_id TEXT NOT NULL, fault_end TEXT NOT NULL, severity TEXT NOT NULL,
  confidence REAL NOT NULL, summary TEXT NOT NULL, document TEXT NOT NULL);
CREATE INDEX events_of_port ON events(port, at_ms);
CREATE INDEX events_by_time ON events(at_ms);
CREATE TABLE sinks(name TEXT PRIMARY KEY, delivered INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE faults(
  id TEXT PRIMARY KEY, port TEXT NOT NULL, fault TEXT NOT NULL, is_open INTEGER NOT NULL, opened_at_ms INTEGER NOT NULL,
  last_seen_at_ms INTEGER NOT NULL, document TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE repairs(
  port TEXT NOT NULL, at_ms INTEGER NOT NULL, action TEXT NOT NULL, is_known INTEGER NOT NULL, place INTEGER NOT NULL,
  document TEXT NOT NULL, PRIMARY KEY(port, at_ms, action)) WITHOUT ROWID;
CREATE TABLE identities(
  serial TEXT NOT NULL, is_far INTEGER NOT NULL, port TEXT NOT NULL, place TEXT NOT NULL, vendor TEXT NOT NULL,
  part_number TEXT NOT NULL, kind TEXT NOT NULL, first_seen_at_ms INTEGER NOT NULL, last_seen_at_ms INTEGER NOT NULL,
  PRIMARY KEY(serial, is_far, port, place)) WITHOUT ROWID;
CREATE INDEX identities_of_port ON identities(port);
CREATE TABLE state(name TEXT PRIMARY KEY, document TEXT NOT NULL) WITHOUT ROWID;
)sql"};

/// "LH" in the upper half of application_id; the lower half is the version once more.
constexpr std::int64_t kMark = 0x4c48'0000;
constexpr std::int64_t kVersionMask = 0xffff;

Error disagreement(const SqlDatabase& database, std::int64_t version, std::int64_t mark) {
  return Error{fmt::format("{}: damaged: its header says schema {} and {:#x}", database.path(),
                           version, mark),
               EBADMSG};
}

/// "20261121T172448Z": a name that needs no quoting.
std::string stamp(WallTime now) {
  std::string text = format_rfc3339(std::chrono::floor<std::chrono::seconds>(now));
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text;
}

}  // namespace

Migrations memory_migrations() { return kMigrations; }

Result<std::int64_t> known_version(SqlDatabase& database, Migrations migrations) {
  auto version = database.integer("PRAGMA user_version");
  if (!version) return version;
  const auto mark = database.integer("PRAGMA application_id");
  if (!mark) return mark.error();
  const auto newest = static_cast<std::int64_t>(migrations.size());
  // Files of our first schema have no mark until they are opened once.
  const bool unmarked = *mark == 0 && (*version == 0 || *version == 1);
  if (!unmarked && (*mark & ~kVersionMask) != kMark) return disagreement(database, *version, *mark);
  if (!unmarked && (*mark & kVersionMask) != *version)
    return disagreement(database, *version, *mark);
  if (*version <= newest) return version;
  return Error{fmt::format(
      "{}: written by a newer linkhealth (schema {}, this one knows {}): start that one, or move "
      "the file away",
      database.path(), *version, newest)};
}

namespace {

/// In the transaction that makes the version.
Result<void> mark_version(SqlDatabase& database, std::int64_t version) {
  return database.execute(
      fmt::format("PRAGMA user_version={}; PRAGMA application_id={}", version, kMark + version)
          .c_str());
}

}  // namespace

Result<void> migrate(SqlDatabase& database, Migrations migrations) {
  const auto version = known_version(database, migrations);
  if (!version) return version.error();
  // A disk that takes nothing now gets the mark another time.
  if (const auto mark = database.integer("PRAGMA application_id");
      mark && *mark == 0 && *version == 1)
    static_cast<void>(
        database.execute(fmt::format("PRAGMA application_id={}", kMark + 1).c_str()).ok());
  const auto newest = static_cast<std::int64_t>(migrations.size());
  for (std::int64_t next = *version; next < newest; ++next) {
    auto transaction = SqlTransaction::begin(database);
    if (!transaction) return transaction.error();
    if (auto made = database.execute(migrations[static_cast<std::size_t>(next)]); !made)
      return made;
    if (auto marked = mark_version(database, next + 1); !marked) return marked;
    if (auto committed = (*transaction)->commit(); !committed) return committed;
  }
  return {};
}

Result<void> set_up(SqlDatabase& database, std::int64_t max_bytes) {
  // 256 kB of cache hold the end of each table. The WAL is folded in each four megabytes, and cut
  // when it was longer once: folding is what waits for the disk, and a fold of each megabyte
  // doubled the mean write (docs/adr/0007-memory.md). auto_vacuum counts only before the first
  // table is made.
  constexpr const char* kSettings =
      "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA "
      "cache_size=-256;"
      "PRAGMA mmap_size=0; PRAGMA wal_autocheckpoint=1000; PRAGMA journal_size_limit=4194304; "
      "PRAGMA temp_store=MEMORY;"
      "PRAGMA trusted_schema=OFF; PRAGMA busy_timeout=2000";
  if (auto set = database.execute(kSettings); !set) return set;
  const auto page_bytes = database.integer("PRAGMA page_size");
  if (!page_bytes) return page_bytes.error();
  return database.execute(
      fmt::format("PRAGMA max_page_count={}", std::max<std::int64_t>(max_bytes / *page_bytes, 64))
          .c_str());
}

Result<void> check_whole(SqlDatabase& database) {
  auto query = database.run("PRAGMA quick_check(1)");
  if (!query) return query.error();
  const auto row = (*query)->step();
  if (!row) return row.error();
  const std::string answer = *row ? (*query)->text(0) : "no answer";
  if (answer != "ok")
    return Error{fmt::format("{}: damaged: {}", database.path(), answer), EBADMSG};
  return {};
}

Result<std::string> set_database_aside(const std::string& path, WallTime now) {
  const std::string kept = path + ".damaged-" + stamp(now);
  if (std::rename(path.c_str(), kept.c_str()) != 0)
    return errno_error(path + " could not be set aside", errno);
  for (const char* part : {"-wal", "-shm"})
    if (std::rename((path + part).c_str(), (kept + part).c_str()) != 0 && errno != ENOENT)
      return errno_error(path + part + " could not be set aside", errno);
  return kept;
}

}  // namespace linkhealth
