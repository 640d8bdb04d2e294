// The table of signals: one row for each port and step.
#include <algorithm>
#include <map>

#include "storage/history/history_tables.h"

namespace linkhealth::history_tables {

namespace {

Result<std::optional<std::int64_t>> read_optional(SqlDatabase& database, const char* sql,
                                                  const auto&... values) {
  std::optional<std::int64_t> found;
  const auto read = database.each(
      sql,
      [&found](const SqlRun& row) {
        if (!row.is_null(0)) found = row.integer(0);
      },
      values...);
  if (!read) return read.error();
  return found;
}

Result<std::vector<SignalRow>> stored_rows(SqlDatabase& database, std::uint32_t step_s,
                                           std::int64_t from_s, std::int64_t to_s,
                                           const std::string& port) {
  std::vector<SignalRow> rows;
  const auto read = database.each(
      "SELECT at_s, port, signals FROM signals "
      "WHERE step_s=?1 AND at_s >= ?2 AND at_s < ?3 AND (?4='' OR port=?4) ORDER BY at_s",
      [&](const SqlRun& row) {
        rows.push_back({row.text(1), step_s, row.integer(0), unpacked_signals(row.bytes(2))});
      },
      std::int64_t{step_s}, from_s, to_s, port);
  if (!read) return read.error();
  return rows;
}

/// Rows of a shorter step as rows of `step_s`, one for each port and step.
std::vector<SignalRow> folded(const std::vector<SignalRow>& rows, std::uint32_t step_s) {
  std::map<std::pair<std::int64_t, std::string>, SignalFold> folds;
  for (const SignalRow& row : rows)
    folds[{step_start_s(row.at_s, step_s), row.port}].add(row.values);
  std::vector<SignalRow> longer;
  for (const auto& [key, fold] : folds)
    longer.push_back({key.second, step_s, key.first, fold.values()});
  return longer;
}

/// Where the steps of `step_s` that are not written yet begin; 0 where none is.
Result<std::int64_t> unwritten_from_s(SqlDatabase& database, std::uint32_t step_s) {
  const auto last =
      read_optional(database, "SELECT max(at_s) FROM signals WHERE step_s=?", std::int64_t{step_s});
  if (!last) return last.error();
  return *last ? **last + step_s : 0;
}

/// Writes the steps of one length that are over: those before the one that the latest shorter row
/// is in.
Result<void> fold_into(SqlDatabase& database, std::uint32_t shorter_s, std::uint32_t step_s) {
  const auto latest = read_optional(database, "SELECT max(at_s) FROM signals WHERE step_s=?",
                                    std::int64_t{shorter_s});
  if (!latest) return latest.error();
  auto from_s = unwritten_from_s(database, step_s);
  while (from_s && *latest) {
    const auto next =
        read_optional(database, "SELECT min(at_s) FROM signals WHERE step_s=? AND at_s >= ?",
                      std::int64_t{shorter_s}, *from_s);
    if (!next) return next.error();
    if (!*next || step_start_s(**next, step_s) >= step_start_s(**latest, step_s)) return {};
    const std::int64_t begin_s = step_start_s(**next, step_s);
    *from_s = begin_s + step_s;
    const auto rows = stored_rows(database, shorter_s, begin_s, *from_s, "");
    if (!rows) return rows.error();
    if (auto done = write_rows(database, folded(*rows, step_s)); !done) return done;
  }
  return from_s ? Result<void>() : from_s.error();
}

}  // namespace

Result<void> write_rows(SqlDatabase& database, const std::vector<SignalRow>& rows) {
  for (const SignalRow& row : rows)
    if (auto done = database.write(
            "INSERT OR IGNORE INTO signals(step_s, at_s, port, signals) VALUES(?, ?, ?, ?)",
            std::int64_t{row.step_s}, row.at_s, row.port, SqlBlob{packed_signals(row.values)});
        !done)
      return done;
  return {};
}

Result<void> fold_rows(SqlDatabase& database) {
  for (std::size_t i = 1; i < kSignalSteps_s.size(); ++i)
    if (auto done = fold_into(database, kSignalSteps_s[i - 1], kSignalSteps_s[i]); !done)
      return done;
  return {};
}

Result<std::vector<SignalRow>> read_rows(SqlDatabase& database, const std::string& port,
                                         std::uint32_t step_s, std::int64_t from_s,
                                         std::int64_t to_s) {
  auto rows = stored_rows(database, step_s, from_s, to_s, port);
  if (!rows || step_s == kSignalSteps_s[0]) return rows;
  auto begin_s = unwritten_from_s(database, step_s);
  if (!begin_s) return begin_s.error();
  const auto tail =
      stored_rows(database, kSignalSteps_s[0], std::max(*begin_s, from_s), to_s, port);
  if (!tail) return tail.error();
  for (SignalRow& row : folded(*tail, step_s)) rows->push_back(std::move(row));
  return rows;
}

Result<std::optional<std::int64_t>> first_row_s(SqlDatabase& database, const std::string& port) {
  std::optional<std::int64_t> first;
  for (const std::uint32_t step_s : kSignalSteps_s) {
    const auto found = read_optional(
        database, "SELECT at_s FROM signals WHERE step_s=? AND port=? ORDER BY at_s LIMIT 1",
        std::int64_t{step_s}, port);
    if (!found) return found;
    if (*found) first = std::min(first.value_or(**found), **found);
  }
  return first;
}

Result<void> delete_rows(SqlDatabase& database, std::uint32_t step_s, std::int64_t before_s,
                         std::int64_t limit) {
  return database.write(
      "DELETE FROM signals WHERE (step_s, at_s, port) IN (SELECT step_s, at_s, port FROM signals "
      "WHERE step_s=? AND at_s < ? ORDER BY at_s LIMIT ?)",
      std::int64_t{step_s}, before_s, limit);
}

Result<void> delete_oldest_share(SqlDatabase& database, std::int64_t share) {
  for (const std::uint32_t step_s : kSignalSteps_s)
    if (auto done = database.write(
            "DELETE FROM signals WHERE step_s=?1 AND at_s <= (SELECT min(at_s) + (max(at_s) - "
            "min(at_s)) / ?2 FROM signals WHERE step_s=?1)",
            std::int64_t{step_s}, share);
        !done)
      return done;
  return {};
}

Result<void> delete_signals(SqlDatabase& database) {
  return database.execute("DELETE FROM signals");
}

}  // namespace linkhealth::history_tables
