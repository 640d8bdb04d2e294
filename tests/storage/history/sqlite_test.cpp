// What SqlDatabase adds to SQLite: errors that stay, transactions that are undone, and the choice
// whether a commit must survive a power cut.
#include "storage/history/sqlite.h"

#include <gtest/gtest.h>

namespace linkhealth {
namespace {

class SqlDatabaseTest : public testing::Test {
 protected:
  SqlDatabase database_ = *SqlDatabase::open(":memory:");
};

TEST_F(SqlDatabaseTest, SetsWhetherACommitSurvivesAPowerCut) {
  constexpr std::int64_t kNormal = 1,
                         kFull = 2;  // https://sqlite.org/pragma.html#pragma_synchronous
  for (const bool durable : {false, true, true, false, true}) {
    database_.set_durable(durable);
    EXPECT_EQ(database_.integer("PRAGMA synchronous"), durable ? kFull : kNormal);
  }
  EXPECT_TRUE(database_.result());
}

TEST_F(SqlDatabaseTest, ATransactionWithAnErrorWritesNothing) {
  database_.execute("CREATE TABLE t(a)");
  for (int round = 0; round < 2; ++round) {
    const auto undone = database_.transaction([this] {
      database_.write("INSERT INTO t VALUES(1)");
      database_.fail({"refused"});
    });
    EXPECT_EQ(undone.error().message, "refused");
    EXPECT_EQ(database_.integer("SELECT count(*) FROM t"), round);
    EXPECT_TRUE(database_.transaction([this] { database_.write("INSERT INTO t VALUES(1)"); }));
    EXPECT_EQ(database_.integer("SELECT count(*) FROM t"), round + 1);
  }
}

TEST_F(SqlDatabaseTest, TheFirstErrorStaysUntilItIsFetched) {
  EXPECT_EQ(database_.integer("SELECT absent"), std::nullopt);
  database_.execute("CREATE TABLE t(a)");
  const auto failed = database_.result();
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("no such column"), std::string::npos)
      << failed.error().message;
  EXPECT_EQ(database_.integer("SELECT count(*) FROM sqlite_master"), 0);
  EXPECT_TRUE(database_.result());
}

}  // namespace
}  // namespace linkhealth
