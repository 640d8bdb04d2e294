#include "storage/history/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>

namespace linkhealth {

namespace {

/// The system's word for what SQLite sums up; 0 where it had none.
int errno_of(sqlite3* database, int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return ENOSPC;
    case SQLITE_READONLY:
      return EROFS;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return EBADMSG;
    default:
      return sqlite3_system_errno(database);
  }
}

Error error_of(sqlite3* database, const std::string& path) {
  const int code = sqlite3_extended_errcode(database);
  const int errnum = errno_of(database, code);
  std::string message = path + ": " + sqlite3_errmsg(database);
  const bool says_little = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
  if (says_little && errnum != 0) message += std::string(" (") + std::strerror(errnum) + ")";
  return {message, errnum};
}

}  // namespace

SqlRun::~SqlRun() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

SqlRun& SqlRun::bind(std::int64_t value) {
  sqlite3_bind_int64(statement_, ++bound_, value);
  return *this;
}
SqlRun& SqlRun::bind(double value) {
  sqlite3_bind_double(statement_, ++bound_, value);
  return *this;
}
SqlRun& SqlRun::bind(std::string_view text) {
  sqlite3_bind_text64(statement_, ++bound_, text.data(), text.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
  return *this;
}
SqlRun& SqlRun::bind(SqlBlob blob) {
  sqlite3_bind_blob64(statement_, ++bound_, blob.bytes.data(), blob.bytes.size(), SQLITE_TRANSIENT);
  return *this;
}

Result<bool> SqlRun::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  sqlite3* database = sqlite3_db_handle(statement_);
  const char* path = sqlite3_db_filename(database, "main");
  return error_of(database, path == nullptr || *path == '\0' ? "the database" : path);
}

Result<void> SqlRun::done() {
  for (;;) {
    const auto row = step();
    if (!row) return row.error();
    if (!*row) return {};
  }
}

bool SqlRun::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}
std::int64_t SqlRun::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double SqlRun::real(int column) const { return sqlite3_column_double(statement_, column); }
std::string_view SqlRun::bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return data == nullptr ? std::string_view()
                         : std::string_view(static_cast<const char*>(data), size);
}

void SqlDatabase::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }
void SqlDatabase::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Result<SqlDatabase> SqlDatabase::open_with(const std::string& name, const std::string& path,
                                           int flags) {
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

Result<void> SqlDatabase::execute(const char* sql) {
  if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    return error_of(database_.get(), path_);
  return {};
}

Result<std::shared_ptr<SqlRun>> SqlDatabase::run(const char* sql) {
  auto& statement = prepared_[sql];
  if (!statement) {
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v3(database_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr) !=
        SQLITE_OK) {
      prepared_.erase(sql);
      return error_of(database_.get(), path_);
    }
    statement.reset(made);
  }
  return std::make_shared<SqlRun>(statement.get());
}

Result<void> SqlDatabase::set_durable(bool durable) {
  if (durable_ == durable) return {};
  if (auto set = execute(durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL"); !set)
    return set;
  durable_ = durable;
  return {};
}

Result<void> SqlDatabase::run_once(const char* sql) {
  const auto statement = run(sql);
  return statement ? (*statement)->done() : statement.error();
}

Result<std::int64_t> SqlDatabase::integer(const char* sql) {
  auto query = run(sql);
  if (!query) return query.error();
  const auto row = (*query)->step();
  if (!row) return row.error();
  return *row ? (*query)->integer(0) : std::int64_t{0};
}

Result<std::unique_ptr<SqlTransaction>> SqlTransaction::begin(SqlDatabase& database) {
  if (auto begun = database.run_once("BEGIN IMMEDIATE"); !begun) return begun.error();
  return std::make_unique<SqlTransaction>(database);
}

SqlTransaction::~SqlTransaction() {
  // After some errors SQLite has rolled back by itself; then there is nothing to do and nothing to
  // say.
  if (open_ && !database_.run_once("ROLLBACK")) open_ = false;
}

Result<void> SqlTransaction::commit() {
  if (auto committed = database_.run_once("COMMIT"); !committed) return committed;
  open_ = false;
  return {};
}

}  // namespace linkhealth
