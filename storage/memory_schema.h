// The database file of the memory: how it is opened, checked, brought to the present schema, and
// set aside when it is damaged. docs/operations.md says what a person does with it.
#pragma once

#include <span>
#include <string>

#include "base/time.h"
#include "storage/sqlite.h"

namespace linkhealth {

/// Each makes one version of the schema (PRAGMA user_version) out of the one before; migrations[0]
/// begins with an empty file.
using Migrations = std::span<const char* const>;
Migrations memory_migrations();
/// The version of the file. An error for one of a newer program, which is left as it is. The header
/// says it twice (user_version and, with our mark, application_id): two that do not agree are
/// damage, not another release.
Result<std::int64_t> known_version(SqlDatabase& database, Migrations migrations);
/// Each version in a transaction of its own.
Result<void> migrate(SqlDatabase& database, Migrations migrations);

/// Small and safe: WAL, a small cache, no memory map, at most `max_bytes`.
Result<void> set_up(SqlDatabase& database, std::int64_t max_bytes);
/// PRAGMA quick_check. An error says what is damaged, in SQLite's words.
Result<void> check_whole(SqlDatabase& database);
/// Renames PATH and its -wal and -shm to PATH.damaged-TIME…; where it is now, or why it could not
/// be.
Result<std::string> set_database_aside(const std::string& path, WallTime now);

}  // namespace linkhealth
