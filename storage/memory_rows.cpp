// The tables of history: one packed row for each port and step.
#include <array>

#include "model/signal_blob.h"
#include "storage/memory_tables.h"

namespace linkhealth::memory_tables {

namespace {

/// The statements of one step's table: prepared by their address, so each is a literal.
struct StepSql {
  std::uint32_t step_s;
  const char *insert, *select, *first, *forget, *forget_share, *forget_all;
};

#define LINKHEALTH_STEP_SQL(step)                                                             \
  StepSql {                                                                                   \
    step, "INSERT OR IGNORE INTO history_" #step "(key, row) VALUES(?, ?)",                   \
        "SELECT key / 4096, row FROM history_" #step                                          \
        " WHERE key >= ? AND key < ? AND key % 4096 = ? ORDER BY key",                        \
        "SELECT key / 4096 FROM history_" #step " WHERE key % 4096 = ? ORDER BY key LIMIT 1", \
        "DELETE FROM history_" #step " WHERE key IN (SELECT key FROM history_" #step          \
        " WHERE key < ? ORDER BY key LIMIT ?)",                                               \
        "DELETE FROM history_" #step                                                          \
        " WHERE key <= (SELECT min(key) + (max(key) - min(key)) / ? FROM history_" #step ")", \
        "DELETE FROM history_" #step                                                          \
  }
constexpr std::array<StepSql, 3> kSql{LINKHEALTH_STEP_SQL(10), LINKHEALTH_STEP_SQL(60),
                                      LINKHEALTH_STEP_SQL(600)};
#undef LINKHEALTH_STEP_SQL
static_assert(kPortsInKey == 4096 && kSignalSteps_s == std::array<std::uint32_t, 3>{10, 60, 600});

const StepSql& sql_of(std::uint32_t step_s) {
  return step_s == 10 ? kSql[0] : step_s == 60 ? kSql[1] : kSql[2];
}

}  // namespace

Result<std::optional<std::int64_t>> port_number(SqlDatabase& database, const std::string& port,
                                                bool make) {
  const auto find = [&]() -> Result<std::optional<std::int64_t>> {
    auto run = database.run("SELECT number FROM ports WHERE port=?");
    if (!run) return run.error();
    (*run)->bind(std::string_view(port));
    const auto row = (*run)->step();
    if (!row) return row.error();
    return *row ? std::optional((*run)->integer(0)) : std::nullopt;
  };
  auto found = find();
  if (!found || *found || !make) return found;
  auto run = database.run(
      "INSERT INTO ports(number, port) SELECT n, ? FROM (SELECT coalesce(max(number), 0) + 1 AS n "
      "FROM ports) WHERE n < 4096");
  if (!run) return run.error();
  (*run)->bind(std::string_view(port));
  if (auto done = (*run)->done(); !done) return done.error();
  return find();
}

Result<void> RowWriter::write(const SignalRow& row) {
  auto known = numbers_.find(row.port);
  if (known == numbers_.end()) {
    const auto number = port_number(database_, row.port, true);
    if (!number) return number.error();
    known = numbers_.emplace(row.port, *number).first;
  }
  if (!known->second) return {};  // the 4096th port that ever was here is not remembered
  auto run = database_.run(sql_of(row.step_s).insert);
  if (!run) return run.error();
  (*run)->bind(row.at_s * kPortsInKey + *known->second).bind_blob(signal_blob(row.values));
  return (*run)->done();
}

Result<std::vector<SignalRow>> read_rows(SqlDatabase& database, const std::string& port,
                                         std::uint32_t step_s, std::int64_t from_s,
                                         std::int64_t to_s, std::size_t& damaged) {
  std::vector<SignalRow> rows;
  auto number = port_number(database, port, false);
  if (!number) return number.error();
  if (!*number) return rows;
  auto run = database.run(sql_of(step_s).select);
  if (!run) return run.error();
  (*run)->bind(from_s * kPortsInKey).bind(to_s * kPortsInKey).bind(**number);
  for (;;) {
    const auto row = (*run)->step();
    if (!row) return row.error();
    if (!*row) return rows;
    const auto values = parse_signal_blob((*run)->bytes(1));
    if (values) {
      rows.push_back({port, step_s, (*run)->integer(0), *values});
    } else {
      ++damaged;
    }
  }
}

Result<std::optional<std::int64_t>> first_row_s(SqlDatabase& database, const std::string& port,
                                                std::uint32_t step_s) {
  auto number = port_number(database, port, false);
  if (!number || !*number) return number;
  auto run = database.run(sql_of(step_s).first);
  if (!run) return run.error();
  (*run)->bind(**number);
  const auto row = (*run)->step();
  if (!row) return row.error();
  return *row ? std::optional((*run)->integer(0)) : std::nullopt;
}

Result<void> forget_rows(SqlDatabase& database, std::uint32_t step_s, std::int64_t before_s,
                         std::int64_t limit) {
  auto run = database.run(sql_of(step_s).forget);
  if (!run) return run.error();
  (*run)->bind(before_s * kPortsInKey).bind(limit);
  return (*run)->done();
}

Result<void> forget_oldest_share(SqlDatabase& database, std::int64_t share) {
  for (const StepSql& sql : kSql) {
    auto run = database.run(sql.forget_share);
    if (!run) return run.error();
    (*run)->bind(share);
    if (auto done = (*run)->done(); !done) return done;
  }
  return {};
}

Result<void> forget_history(SqlDatabase& database) {
  for (const StepSql& sql : kSql)
    if (auto done = database.execute(sql.forget_all); !done) return done;
  return {};
}

}  // namespace linkhealth::memory_tables
