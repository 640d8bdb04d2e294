// An action is in the engine and on the disk before it is answered: a kill -9 right after loses
// nothing.
#include "daemon/api/engine_actions.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "config/config.h"
#include "daemon/history_keeper.h"
#include "tests/diagnosis/feed.h"
#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

class EngineActionsTest : public ::testing::Test {
 protected:
  static EngineSettings settings() {
    EngineSettings settings;
    settings.node = "node";
    settings.setting_table = SettingTable(diagnosis_setting_groups());
    return settings;
  }
  EngineActions actions_of(Engine& engine) {
    return {engine,
            deciding_,
            {[this](const LedgerState& state) { return keeper_.save(state, WallTime()); },
             [this](const std::string& line) { log_ += line + "\n"; }}};
  }
  void break_link(Engine& engine) {
    for (int i = 0; i < 180; ++i) engine.step(feed_.tick());
    feed_.pull(feed_.t + 1);
    feed_.receive_mw(0);
    for (int i = 0; i < 12; ++i) report_ = engine.step(feed_.tick()).report;
  }
  /// The state that a start after a kill reads: the files as they are now.
  LedgerState after_a_kill() {
    const test::TempDirectory copy;
    for (const auto& file : std::filesystem::directory_iterator(temp_.path()))
      std::filesystem::copy(file.path(), copy.path());
    const HistoryKeeper next(history_settings(SettingTable(history_setting_groups()), copy.path()),
                             WallTime(), quiet_);
    return next.saved().ledger;
  }
  void SetUp() override { keeper_.start({}); }

  test::TempDirectory temp_;
  Log quiet_{LogLevel::kError, false};
  HistoryKeeper keeper_{history_settings(SettingTable(history_setting_groups()), temp_.path()),
                        WallTime(), quiet_};
  std::mutex deciding_;
  std::string log_;
  Feed feed_;
  std::shared_ptr<const Report> report_;
};

TEST_F(EngineActionsTest, AnAnsweredActionSurvivesAKill) {
  Engine engine(settings());
  break_link(engine);
  EngineActions actions = actions_of(engine);
  const WallTime until = report_->at + std::chrono::hours(2);
  ASSERT_TRUE(actions.acknowledge("mlx5_0/1", "ann", "jumper ordered", until));
  Maintenance work;
  work.by = "bob";
  work.since = report_->at;
  work.until = until;
  ASSERT_TRUE(actions.begin_maintenance("", work));
  EXPECT_EQ(actions.storage_error(), "");
  // The next engine knows only the database.
  Engine next(settings());
  next.restore(after_a_kill());
  const auto report = next.step(feed_.tick()).report;
  ASSERT_EQ(report->ports.at(0).faults.size(), 1U);
  ASSERT_TRUE(report->ports.at(0).faults[0].acknowledged.has_value());
  EXPECT_EQ(report->ports.at(0).faults[0].acknowledged->by, "ann");
  EXPECT_EQ(report->ports.at(0).faults[0].acknowledged->until, until);
  ASSERT_TRUE(report->ports.at(0).maintenance.has_value());
  EXPECT_EQ(report->ports.at(0).maintenance->by, "bob");
}

TEST_F(EngineActionsTest, ASecondAcknowledgementIsRefusedAndTheFirstStays) {
  Engine engine(settings());
  break_link(engine);
  EngineActions actions = actions_of(engine);
  ASSERT_TRUE(actions.acknowledge("mlx5_0/1", "ann", "", std::nullopt));
  EXPECT_FALSE(actions.acknowledge("mlx5_0/1", "bob", "", std::nullopt));
  EXPECT_FALSE(actions.end_maintenance("mlx5_0/1", "bob"));
  ASSERT_TRUE(actions.withdraw_acknowledgement("mlx5_0/1", "bob"));
  EXPECT_EQ(log_,
            "mlx5_0/1: far_port_down acknowledged by ann\nmlx5_0/1: acknowledgement of "
            "far_port_down withdrawn by bob\n");
}

TEST_F(EngineActionsTest, AFailedWriteIsReported) {
  Engine engine(settings());
  break_link(engine);
  EngineActions actions(engine, deciding_,
                        {[](const LedgerState&) { return Result<void>(Error{"disk full"}); },
                         [](const std::string&) {}});
  ASSERT_TRUE(actions.acknowledge("mlx5_0/1", "ann", "", std::nullopt));
  EXPECT_EQ(actions.storage_error(), "disk full");
}

}  // namespace
}  // namespace linkhealth
