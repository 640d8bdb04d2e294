#include "storage/history/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cerrno>

namespace linkhealth {

namespace {

/// The errno behind SQLite's code; 0 if there was none.
int errno_of(sqlite3* database, int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return ENOSPC;
    case SQLITE_READONLY:
      return EROFS;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:     // our statements are valid: a table is missing, or the format is unknown
    case SQLITE_MISMATCH:  // type of a column
      return EBADMSG;
    default:
      return sqlite3_system_errno(database);
  }
}

Error error_of(sqlite3* database, const std::string& path) {
  const int code = sqlite3_extended_errcode(database);
  const int errnum = errno_of(database, code);
  const std::string message = path + ": " + sqlite3_errmsg(database);
  const bool is_vague = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
  if (!is_vague || errnum == 0) return {message, errnum};
  return {fmt::format("{} ({})", message, std::strerror(errnum)), errnum};
}

/// Opening a FIFO would hang, and a device may consume what is written.
Result<void> check_kind(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode)) return {};
  return Error{path + " is in the way: it is not a regular file"};
}

}  // namespace

bool SqlRow::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}
std::int64_t SqlRow::integer(int column) const { return sqlite3_column_int64(statement_, column); }
std::string_view SqlRow::bytes(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return data == nullptr ? std::string_view() : std::string_view(data, size);
}

void SqlDatabase::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }
void SqlDatabase::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Result<SqlDatabase> SqlDatabase::open_with(const std::string& name, const std::string& path,
                                           int flags) {
  if (auto good = check_kind(path); !good) return good.error();
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &database, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  SqlDatabase opened(database, path);
  if (database == nullptr) return Error{path + ": out of memory", ENOMEM};
  sqlite3_extended_result_codes(database, 1);
  if (code != SQLITE_OK) return error_of(database, path);
  return opened;
}

Result<SqlDatabase> SqlDatabase::open(const std::string& path) {
  return open_with(path, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

Result<SqlDatabase> SqlDatabase::open_read_only(const std::string& path) {
  std::string name = "file:";
  for (const char c : path) {
    const bool special = c == '?' || c == '#' || c == '%';
    name += special ? fmt::format("%{:02x}", static_cast<unsigned>(c)) : std::string(1, c);
  }
  return open_with(name + "?immutable=1", path, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

void SqlDatabase::execute(const char* sql) {
  if (error_) return;
  if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    fail(error_of(database_.get(), path_));
}

sqlite3_stmt* SqlDatabase::prepare(const char* sql) {
  if (error_) return nullptr;
  auto& statement = prepared_[sql];
  if (statement) return statement.get();
  sqlite3_stmt* made = nullptr;
  if (sqlite3_prepare_v3(database_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr) !=
      SQLITE_OK)
    fail(error_of(database_.get(), path_));
  statement.reset(made);
  return made;
}

void SqlDatabase::bind(sqlite3_stmt* statement, int index, std::int64_t value) {
  sqlite3_bind_int64(statement, index, value);
}
void SqlDatabase::bind(sqlite3_stmt* statement, int index, std::string_view text) {
  sqlite3_bind_text64(statement, index, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}
void SqlDatabase::bind(sqlite3_stmt* statement, int index, SqlBlob blob) {
  sqlite3_bind_blob64(statement, index, blob.bytes.data(), blob.bytes.size(), SQLITE_TRANSIENT);
}

bool SqlDatabase::step(sqlite3_stmt* statement) {
  const int code = sqlite3_step(statement);
  if (code != SQLITE_ROW && code != SQLITE_DONE) fail(error_of(database_.get(), path_));
  return code == SQLITE_ROW;
}

void SqlDatabase::reset(sqlite3_stmt* statement) {
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
}

void SqlDatabase::leave_as_it_is() {
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

void SqlDatabase::set_durable(bool durable) {
  if (durable_ == durable) return;
  execute(durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
  if (ok()) durable_ = durable;
}

Result<void> SqlDatabase::result() {
  if (!error_) return {};
  return *std::exchange(error_, std::nullopt);
}

}  // namespace linkhealth
