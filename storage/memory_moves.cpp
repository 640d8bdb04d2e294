// What is remembered of a port that has another stable key now goes with it.
#include <array>

#include "storage/memory.h"

namespace linkhealth {

namespace {

/// Two ports may swap, and a port is there once: all go to a name that no port has, and then to
/// their own.
struct MoveSql {
  const char *away, *back;
};

#define LINKHEALTH_MOVE_SQL(table)                                   \
  MoveSql {                                                          \
    "UPDATE OR REPLACE " table " SET port='>' || ? WHERE port=?",    \
        "UPDATE OR REPLACE " table " SET port=? WHERE port='>' || ?" \
  }
constexpr std::array<MoveSql, 5> kSql{LINKHEALTH_MOVE_SQL("ports"), LINKHEALTH_MOVE_SQL("events"),
                                      LINKHEALTH_MOVE_SQL("faults"), LINKHEALTH_MOVE_SQL("repairs"),
                                      LINKHEALTH_MOVE_SQL("identities")};
#undef LINKHEALTH_MOVE_SQL

Result<void> rename_rows(SqlDatabase& database, const char* sql, const std::string& to,
                         const std::string& from) {
  auto run = database.run(sql);
  if (!run) return run.error();
  (*run)->bind(std::string_view(to)).bind(std::string_view(from));
  return (*run)->done();
}

}  // namespace

Result<void> memory_tables::move_ports(SqlDatabase& database, const PortMoves& moves) {
  for (const MoveSql& table : kSql) {
    for (const auto& [from, to] : moves)
      if (auto done = rename_rows(database, table.away, to, from); !done) return done;
    for (const auto& [from, to] : moves)
      if (auto done = rename_rows(database, table.back, to, to); !done) return done;
  }
  return {};
}

void MemoryBatch::follow(const PortMoves& moved_ports) {
  for (SignalRow& row : rows) row.port = moved(row.port, moved_ports);
  for (KeptEvent& event : events) event.port = moved(event.port, moved_ports);
  for (KeptIdentity& identity : identities) identity.port = moved(identity.port, moved_ports);
}

}  // namespace linkhealth
