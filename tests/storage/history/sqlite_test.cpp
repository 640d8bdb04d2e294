// What is ours in front of SQLite: when a commit must outlive a power cut, and transactions that
// are undone.
#include "storage/history/sqlite.h"

#include <gtest/gtest.h>

namespace linkhealth {
namespace {

SqlDatabase database() { return *SqlDatabase::open(":memory:"); }

TEST(SqlDatabaseTest, DurableWhenItIsSaid) {
  constexpr std::int64_t kNormal = 1,
                         kFull = 2;  // https://sqlite.org/pragma.html#pragma_synchronous
  auto one = database();
  for (const bool durable : {false, true, true, false, true}) {
    ASSERT_TRUE(one.set_durable(durable));
    EXPECT_EQ(*one.integer("PRAGMA synchronous"), durable ? kFull : kNormal);
  }
}

TEST(SqlDatabaseTest, ATransactionThatIsNotCommittedLeavesNothing) {
  auto one = database();
  ASSERT_TRUE(one.execute("CREATE TABLE t(a)"));
  for (int round = 0; round < 2; ++round) {
    {
      const auto undone = SqlTransaction::begin(one);
      ASSERT_TRUE(undone);
      ASSERT_TRUE(one.run_once("INSERT INTO t VALUES(1)"));
    }
    EXPECT_EQ(*one.integer("SELECT count(*) FROM t"), round);
    const auto kept = SqlTransaction::begin(one);
    ASSERT_TRUE(kept);
    ASSERT_TRUE(one.run_once("INSERT INTO t VALUES(1)"));
    ASSERT_TRUE((*kept)->commit());
    EXPECT_EQ(*one.integer("SELECT count(*) FROM t"), round + 1);
  }
}

TEST(SqlDatabaseTest, AWrongStatementIsOneError) {
  auto one = database();
  const auto failed = one.run_once("SELECT absent");
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("no such column"), std::string::npos)
      << failed.error().message;
}

}  // namespace
}  // namespace linkhealth
