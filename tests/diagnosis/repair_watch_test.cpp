#include "diagnosis/repair_watch.h"

#include <gtest/gtest.h>

#include <vector>

#include "model/history/history.h"
#include "tests/diagnosis/feed.h"

namespace linkhealth {
namespace {

class RepairWatchTest : public testing::Test {
 protected:
  RepairWatchTest() {
    feed.module.lanes[1].rx_power_mw = 0.2;
    run(100);
  }
  void run(int ticks) {
    for (int i = 0; i < ticks; ++i) {
      const Snapshot snapshot = feed.tick();
      history_.observe(snapshot);
      const Features view =
          features_of(*history_.find(feed.key), nullptr, snapshot.taken_at, settings_);
      if (auto record = watch_.step(view, snapshot.wall_time)) records.push_back(*record);
    }
  }
  void outage(int ticks, const std::function<void()>& done = {}) {
    feed.pull(feed.t + 1);
    run(ticks);
    if (done) done();
    feed.plug(feed.t + 1);
    run(60);
  }

  Feed feed;
  std::vector<RepairRecord> records;

 private:
  History history_;
  RepairWatch watch_;
  DiagnosisSettings settings_;
};

TEST_F(RepairWatchTest, ALinkThatFlapsWasNotRepaired) {
  outage(3);
  outage(30);
  EXPECT_TRUE(records.empty()) << to_string(records.front().action);
}

TEST_F(RepairWatchTest, CleanedFibreIsSeenByTheLightThatComesBack) {
  outage(12, [this] { feed.module.lanes[1].rx_power_mw = 0.8; });
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].action, RepairAction::kFibreReseated);
  EXPECT_EQ(records[0].rx_lane, 2U);
  EXPECT_NEAR(*records[0].rx_power_before_dbm, -7.0, 0.05);
  EXPECT_NEAR(*records[0].rx_power_after_dbm, -1.0, 0.05);
  EXPECT_TRUE(records[0].pre_fec_ber_before && records[0].pre_fec_ber_after);
}

TEST_F(RepairWatchTest, TheErrorsAfterItAreThoseOfTheLinkThatCameBack) {
  feed.bits_per_s = 4'000'000;  // 1e-5 at 400G
  run(100);
  outage(12, [this] {
    feed.module.serial = "B2";
    feed.bits_per_s = 4000;  // 1e-8
  });
  ASSERT_EQ(records.size(), 1U);
  EXPECT_NEAR(*records[0].pre_fec_ber_before, 1e-5, 1e-6);
  EXPECT_NEAR(records[0].pre_fec_ber_after.value_or(0), 1e-8, 1e-9)
      << "not those of the minutes before";
}

TEST_F(RepairWatchTest, SeldomReadCountersAreWaitedFor) {
  feed.period_s = 60;
  feed.bits_per_s = 4'000'000;
  run(60);
  outage(3, [this] {
    feed.module.serial = "B2";
    feed.bits_per_s = 4000;
  });
  ASSERT_EQ(records.size(), 1U);
  EXPECT_NEAR(records[0].pre_fec_ber_after.value_or(0), 1e-8, 1e-9);
}

TEST_F(RepairWatchTest, TheTimeIsWhenTheLinkCameBack) {
  outage(12, [this] { feed.module.lanes[1].rx_power_mw = 0.8; });
  ASSERT_EQ(records.size(), 1U);
  const double back_s = 1763640000 + 100 * 10 + 12 * 10 + 1;
  EXPECT_NEAR(in_seconds(records[0].at.time_since_epoch()), back_s, 0.01);
}

TEST_F(RepairWatchTest, AnotherSerialIsAReplacedModule) {
  outage(12, [this] { feed.module.serial = "B2"; });
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].action, RepairAction::kModuleReplaced);
  EXPECT_EQ(records[0].serial_before, "A1");
  EXPECT_EQ(records[0].serial_after, "B2");
}

TEST_F(RepairWatchTest, TheSameSerialThatWasOutIsAReseat) {
  feed.pull(feed.t + 1);
  feed.event(PortEventKind::kModuleRemoved, feed.t + 2);
  run(6);
  feed.event(PortEventKind::kModuleInserted, feed.t + 1);
  feed.plug(feed.t + 1);
  run(60);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].action, RepairAction::kModuleReseated);
}

TEST_F(RepairWatchTest, SetDownAndUpIsABounce) {
  feed.event(PortEventKind::kAdminDown, feed.t + 1);
  feed.link.admin_up = false;
  feed.pull(feed.t + 1);
  run(6);
  feed.link.admin_up = true;
  feed.event(PortEventKind::kAdminUp, feed.t + 1);
  feed.plug(feed.t + 2);
  run(60);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].action, RepairAction::kPortBounced);
}

TEST_F(RepairWatchTest, WaitsUntilTheModuleWasReadAgain) {
  feed.module_readable = false;
  outage(12, [this] { feed.module.lanes[1].rx_power_mw = 0.8; });
  EXPECT_TRUE(records.empty()) << "the module was not read yet";
  feed.module_readable = true;
  run(10);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].action, RepairAction::kFibreReseated);
}

TEST(RepairWords, ReadBack) {
  for (const auto action :
       {RepairAction::kPortBounced, RepairAction::kDriverReloaded, RepairAction::kNodeRebooted,
        RepairAction::kFibreReseated, RepairAction::kModuleReseated, RepairAction::kModuleReplaced,
        RepairAction::kFarModuleReplaced})
    EXPECT_EQ(parse_enum<RepairAction>(to_string(action)), action);
  EXPECT_FALSE(parse_enum<RepairAction>("prayed").has_value());
}

}  // namespace
}  // namespace linkhealth
