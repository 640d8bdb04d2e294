// The schema and settings of the history database.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "storage/history/sqlite.h"

namespace linkhealth {

/// Prepares a new or existing file: WAL, a small cache, at most `max_bytes`, PRAGMA quick_check.
/// Error EBADMSG: the file is damaged or has an unknown schema. The file of a newer program is an
/// error without EBADMSG, and is not changed.
Result<void> prepare_schema(SqlDatabase& database, std::int64_t max_bytes);
/// Renames PATH and its -wal and -shm to PATH.damaged-TIME…. Returns the new path.
Result<std::string> set_database_aside(const std::string& path, WallTime now);

}  // namespace linkhealth
