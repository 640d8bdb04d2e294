// SQLite behind Result: a connection and its statements, closed with their owner. Nothing of
// sqlite3.h shows. Not for several threads at a time: the owner (storage/history/history_store.h)
// holds a lock.
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

/// One run of a prepared statement. Bind in order, then step(); rows are read with the column
/// functions.
class SqlRun {
 public:
  explicit SqlRun(sqlite3_stmt* statement) : statement_(statement) {}
  SqlRun(const SqlRun&) = delete;
  SqlRun& operator=(const SqlRun&) = delete;
  /// Makes the statement ready for its next run.
  ~SqlRun();

  SqlRun& bind(std::int64_t value);
  SqlRun& bind(double value);
  SqlRun& bind(std::string_view text);
  SqlRun& bind(const std::string& text) { return bind(std::string_view(text)); }
  SqlRun& bind(SqlBlob blob);
  /// Whether there is a row. The error is SQLite's sentence; errnum is the system's
  /// where it had one (ENOSPC, EROFS), and EBADMSG for a file that is damaged or no database.
  Result<bool> step();
  /// For a statement that gives no rows.
  Result<void> done();

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  /// Text or blob; valid until the next step().
  [[nodiscard]] std::string_view bytes(int column) const;
  [[nodiscard]] std::string text(int column) const { return std::string(bytes(column)); }

 private:
  sqlite3_stmt* statement_;
  int bound_ = 0;
};

class SqlDatabase {
 public:
  /// Creates the file where there is none. ":memory:" is one that nobody else sees.
  static Result<SqlDatabase> open(const std::string& path);

  /// A file that nobody changes meanwhile; what stands in its -wal is not seen.
  static Result<SqlDatabase> open_read_only(const std::string& path);

  /// Statements without parameters, one after the other, and seldom: they are parsed each time.
  Result<void> execute(const char* sql);
  /// `sql` must live as long as the database (a literal): it is prepared once.
  Result<std::shared_ptr<SqlRun>> run(const char* sql);
  /// Runs a statement with these parameters that gives no rows.
  template <typename... Values>
  Result<void> write(const char* sql, const Values&... values) {
    auto prepared = run(sql);
    if (!prepared) return prepared.error();
    ((*prepared)->bind(values), ...);
    return (*prepared)->done();
  }
  /// Runs a query with these parameters and calls on_row(row) for each row.
  template <typename OnRow, typename... Values>
  Result<void> each(const char* sql, OnRow on_row, const Values&... values) {
    auto query = run(sql);
    if (!query) return query.error();
    ((*query)->bind(values), ...);
    for (;;) {
      const auto row = (*query)->step();
      if (!row) return row.error();
      if (!*row) return {};
      on_row(std::as_const(**query));
    }
  }
  /// One run of a statement that has no parameters and gives no rows.
  Result<void> run_once(const char* sql);
  /// Whether what is committed outlives a power cut; otherwise the latest transactions may be lost
  /// with it, and no more.
  Result<void> set_durable(bool durable);
  /// The first column of the first row of a query without parameters.
  Result<std::int64_t> integer(const char* sql);
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

  std::unique_ptr<sqlite3, Close> database_;
  std::unordered_map<const char*, std::unique_ptr<sqlite3_stmt, Finalize>>
      prepared_;  // goes before the database
  std::string path_;
  std::optional<bool> durable_;  ///< nullopt: as SQLite began
};

/// A transaction that is undone unless commit() was called.
class SqlTransaction {
 public:
  static Result<std::unique_ptr<SqlTransaction>> begin(SqlDatabase& database);
  explicit SqlTransaction(SqlDatabase& database) : database_(database) {}
  SqlTransaction(const SqlTransaction&) = delete;
  SqlTransaction& operator=(const SqlTransaction&) = delete;
  ~SqlTransaction();
  Result<void> commit();

 private:
  SqlDatabase& database_;
  bool open_ = true;
};

}  // namespace linkhealth
