// What the daemon stores of its steps, and the events that it announces.
#include "daemon/history_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.h"
#include "exporters/json/json.h"
#include "tests/storage/history/history_example.h"
#include "tests/support/report_builder.h"
#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class HistoryKeeperTest : public testing::Test {
 protected:
  /// A daemon from start to end with these events, one in each step of ten seconds.
  void live(const std::vector<FaultEvent>& events) {
    HistoryKeeper keeper(settings_, history_time(0), log_);
    known_ = keeper.saved().ledger;
    keeper.start([this](const FaultEvent& event) { announced_.push_back(event_id(event)); });
    for (const FaultEvent& event : events) {
      at_s_ += 10;
      Snapshot snapshot;
      snapshot.wall_time = history_time(at_s_);
      snapshot.ports["mlx5_3/1"].id = dirty_port().latest.id;
      snapshot.ports["mlx5_3/1"].link.emplace().carrier = true;
      snapshot.ports["mlx5_3/1"].module = dirty_port().latest.module;
      Report report;
      report.ports = {dirty_port()};
      LedgerState ledger;
      ledger.faults = history_ledger(static_cast<int>(at_s_)).faults;
      keeper.add_step(snapshot, report, {event}, ledger, [] { return ReferenceState(); });
    }
    keeper.finish(ReferenceState{{{kHistoryPort, "AC1", "", history_time(0), 1, 1, {}}}},
                  history_time(at_s_));
  }
  FaultEvent event(FaultEventKind kind) {
    FaultEvent event = example_event(kind);
    event.at += std::chrono::seconds(at_s_ + 10 * ++made_);
    return event;
  }

  TempDirectory temp_;
  HistorySettings settings_ =
      history_settings(SettingTable(history_setting_groups()), temp_.path());
  Log log_{LogLevel::kError, false};
  LedgerState known_;
  std::vector<std::string> announced_;
  std::int64_t at_s_ = 0;
  int made_ = 0;
};

TEST_F(HistoryKeeperTest, TheNextRunKnowsTheEventsOfThisOne) {
  const FaultEvent opened = event(FaultEventKind::kOpened), closed = event(FaultEventKind::kClosed);
  live({opened, closed});
  HistoryKeeper next(settings_, history_time(100), log_);
  const auto all = next.earlier_events(1000);
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(event_json_line(all[0]), event_json_line(opened)) << "whole, oldest first";
  EXPECT_EQ(event_json_line(all[1]), event_json_line(closed));
  EXPECT_THAT(next.earlier_events(1), SizeIs(1));
}

TEST_F(HistoryKeeperTest, EachEventIsAnnouncedOnceAndTheStateIsThereAfterARestart) {
  const FaultEvent opened = event(FaultEventKind::kOpened), closed = event(FaultEventKind::kClosed);
  live({opened, closed});
  EXPECT_THAT(announced_, ElementsAre(event_id(opened), event_id(closed)));
  live({});
  EXPECT_THAT(announced_, SizeIs(2)) << "nothing is announced twice";
  EXPECT_EQ(known_.faults, history_ledger(20).faults);
}

TEST_F(HistoryKeeperTest, SignalsIdentitiesAndReferencesAreKept) {
  live({event(FaultEventKind::kOpened), event(FaultEventKind::kClosed)});
  const auto store = HistoryStore::open(settings_, history_time(30));
  const std::string stable = dirty_port().latest.id.stable_key();
  const auto timeline = store->timeline({stable, history_time(30), 3600});
  ASSERT_TRUE(timeline.ok());
  EXPECT_NE(timeline->find(Signal::kRxPower), nullptr);
  EXPECT_THAT(timeline->find(Signal::kCarrierUp)->values, ElementsAre(1, 1, testing::IsNan()));
  EXPECT_THAT(timeline->identities, testing::Not(IsEmpty()));
  EXPECT_THAT(store->saved().references.ports, SizeIs(1));
}

TEST(HistorySettingsTest, FollowTheConfiguration) {
  SettingTable table(history_setting_groups());
  ASSERT_TRUE(table.set("database", "signals", 0));
  ASSERT_TRUE(table.set("database", "max_mb", 250));
  const HistorySettings settings = history_settings(table, "/var/lib/linkhealth");
  EXPECT_FALSE(settings.signals);
  EXPECT_EQ(settings.max_bytes, 250'000'000);
}

TEST(HistorySettingsTest, ASwitchTakesOnAndOff) {
  const auto config =
      load_config("database: {signals: off}", "test.yaml", history_setting_groups());
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_FALSE(history_settings(config->setting_table, "").signals);
  EXPECT_TRUE(load_config("database: {signals: on}", "test.yaml", history_setting_groups()).ok());
  EXPECT_FALSE(load_config("database: {max_mb: on}", "test.yaml", history_setting_groups()).ok());
}

}  // namespace
}  // namespace linkhealth
