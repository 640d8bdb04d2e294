// SQLite: a connection and its statements, closed with their owner; sqlite3.h is only included by
// sqlite.cpp. Not thread-safe: the owner (storage/history/history_store.h) holds a lock.
//
// The first error is kept, and later calls do nothing until result() returns it. A sequence of
// statements is therefore checked once, at its end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace linkhealth {

/// Bytes that are not text.
struct SqlBlob {
  std::string_view bytes;
};

/// The current row of a query. The views are valid until the next row.
class SqlRow {
 public:
  explicit SqlRow(sqlite3_stmt* statement) : statement_(statement) {}
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  /// Text or blob.
  [[nodiscard]] std::string_view bytes(int column) const;
  [[nodiscard]] std::string text(int column) const { return std::string(bytes(column)); }

 private:
  sqlite3_stmt* statement_;
};

class SqlDatabase {
 public:
  /// Creates the file if it does not exist. ":memory:" is a private database without a file.
  static Result<SqlDatabase> open(const std::string& path);
  /// For a file that does not change while it is open; its -wal is not read.
  static Result<SqlDatabase> open_read_only(const std::string& path);

  /// Statements without parameters, parsed at each call.
  void execute(const char* sql);
  /// Runs a query with these parameters and calls on_row(row) for each row. `sql` must live as long
  /// as the database (a literal): it is prepared once.
  template <typename OnRow, typename... Values>
  void each(const char* sql, OnRow on_row, const Values&... values) {
    sqlite3_stmt* const statement = prepare(sql);
    if (statement == nullptr) return;
    [[maybe_unused]] int index = 0;
    (bind(statement, ++index, values), ...);
    while (step(statement)) on_row(SqlRow(statement));
    reset(statement);
  }
  /// Runs a statement that returns no rows, with these parameters.
  template <typename... Values>
  void write(const char* sql, const Values&... values) {
    each(
        sql, [](const SqlRow&) {}, values...);
  }
  /// The first column of the first row of a query; nullopt: no row, or NULL.
  template <typename... Values>
  std::optional<std::int64_t> integer(const char* sql, const Values&... values) {
    std::optional<std::int64_t> first;
    each(
        sql,
        [&first](const SqlRow& row) {
          if (!first && !row.is_null(0)) first = row.integer(0);
        },
        values...);
    return first;
  }
  /// Calls body() in a transaction: either all that it writes or, after an error, nothing is kept.
  template <typename Body>
  Result<void> transaction(Body body) {
    write("BEGIN IMMEDIATE");
    const bool begun = ok();
    if (begun) body();
    write("COMMIT");
    auto done = result();
    if (begun && !done) {
      write("ROLLBACK");
      static_cast<void>(result());  // after some errors SQLite has already rolled back
    }
    return done;
  }
  /// Whether committed data survives a power cut; otherwise the latest transactions may be lost.
  void set_durable(bool durable);

  /// Closing the connection does not write the -wal back to the file.
  void leave_as_it_is();

  /// Sets an error of the caller, such as a document that cannot be parsed.
  void fail(Error error) {
    if (!error_) error_ = std::move(error);
  }
  [[nodiscard]] bool ok() const { return !error_; }
  /// The first error since the last call. `message` is SQLite's text; `errnum` is the system's if
  /// there was one (ENOSPC, EROFS), and EBADMSG for a file that is damaged or not a database.
  Result<void> result();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  static Result<SqlDatabase> open_with(const std::string& name, const std::string& path, int flags);
  SqlDatabase(sqlite3* database, std::string path) : database_(database), path_(std::move(path)) {}

  /// nullptr: there was an error.
  sqlite3_stmt* prepare(const char* sql);
  static void bind(sqlite3_stmt* statement, int index, std::int64_t value);
  static void bind(sqlite3_stmt* statement, int index, std::string_view text);
  static void bind(sqlite3_stmt* statement, int index, SqlBlob blob);
  /// Returns whether there is a row.
  bool step(sqlite3_stmt* statement);
  static void reset(sqlite3_stmt* statement);

  std::unique_ptr<sqlite3, Close> database_;
  /// Destroyed before the database.
  std::unordered_map<const char*, std::unique_ptr<sqlite3_stmt, Finalize>> prepared_;
  std::string path_;
  std::optional<bool> durable_;  ///< nullopt: SQLite's default
  std::optional<Error> error_;
};

}  // namespace linkhealth
