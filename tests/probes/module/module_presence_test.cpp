// The module schedule where the driver reports no cable: an empty cage is not read again, and a
// module without its fibre is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/probes/module/fake_module.h"

namespace linkhealth {
namespace {

using testing::ModuleScheduleTest;

class ModulePresenceTest : public ModuleScheduleTest {
 protected:
  void set_no_cable(bool no_cable) { schedule_.set_ports({{"mlx5_0/1", 7, no_cable}}, now_); }
  static constexpr double kDay = 86'400;
};

TEST_F(ModulePresenceTest, AnEmptyCageIsReadSeldomWhileTheDriverReportsNoCable) {
  module().all_errno = ENODEV;
  run_for(1);
  EXPECT_FALSE(only_round().sample->present);
  set_no_cable(true);
  run_for(4);
  EXPECT_EQ(reads(), 2U) << "once more: it may mean the fibre of a module that was put in";
  run_for(3600);
  EXPECT_LE(reads(), 2U + 12U) << "each five minutes";
  module().all_errno = 0;
  run_for(301);
  EXPECT_TRUE(only_round().sample->present)
      << "one without its fibre, which neither driver nor link report";
}

TEST_F(ModulePresenceTest, ACageThatOnlyFailsIsEmptyWhereTheDriverReportsNoCable) {
  set_no_cable(true);
  module().all_errno = EIO;
  run_for(1);
  EXPECT_EQ(only_round().gap->reason, "EIO") << "one failed read proves nothing";
  run_for(kDay);
  EXPECT_EQ(reads(), 2U) << "each is a line in the kernel's log";
  EXPECT_FALSE(schedule_.wake_at());
  set_no_cable(true);  // repeated with each search for ports
  run_for(kDay);
  EXPECT_EQ(reads(), 2U);
  const ModuleRound round = only_round();
  ASSERT_TRUE(round.sample);
  EXPECT_FALSE(round.sample->present);
}

TEST_F(ModulePresenceTest, WithoutTheDriversReportACageThatFailsIsNotEmpty) {
  module().all_errno = EIO;
  run_for(kDay);
  EXPECT_FALSE(only_round().sample);
  EXPECT_GT(reads(), 100U);
}

TEST_F(ModulePresenceTest, AnInsertedModuleIsReadWhenTheDriverReportsIt) {
  set_no_cable(true);
  module().all_errno = EIO;
  run_for(60);
  schedule_.collect_rounds();
  module().all_errno = 0;
  set_no_cable(false);
  run_for(1);
  const ModuleRound round = only_round();
  ASSERT_TRUE(round.sample);
  EXPECT_EQ(round.sample->serial, "SN000001");
  EXPECT_EQ(round.change, ModuleChange::kInserted);
}

TEST_F(ModulePresenceTest, AnEventIsAReasonToRead) {
  set_no_cable(true);
  module().all_errno = ENODEV;
  run_for(60);
  module().all_errno = 0;
  schedule_.request("mlx5_0/1", now_);
  run_for(1);
  EXPECT_TRUE(schedule_.collect_rounds().back().sample->present);
}

TEST_F(ModulePresenceTest, ARemovedModuleIsSeenWhenTheDriverReportsIt) {
  run_for(30);
  schedule_.collect_rounds();
  module().all_errno = EIO;
  set_no_cable(true);
  run_for(4);
  const ModuleRound round = only_round();
  ASSERT_TRUE(round.sample);
  EXPECT_FALSE(round.sample->present);
  EXPECT_EQ(round.change, ModuleChange::kRemoved);
}

// A driver may mean the fibre: the module's own light is what the technician needs then.
TEST_F(ModulePresenceTest, AModuleThatAnswersIsRead) {
  set_no_cable(true);
  run_for(61);
  EXPECT_TRUE(only_round().sample->present);
  const std::size_t before = reads();
  run_for(60);
  EXPECT_GT(reads(), before + 6);
  module().all_errno = EIO;
  run_for(60);
  EXPECT_FALSE(only_round().sample) << "it did answer: a failure is no empty cage";
  module().all_errno = ENODEV;
  run_for(300);
  EXPECT_FALSE(only_round().sample->present);
  module().all_errno = 0;
  run_for(300);
  EXPECT_TRUE(only_round().sample->present) << "for the next one the driver reports nothing new";
}

// The report comes during a round that began with the module still in.
TEST_F(ModulePresenceTest, AModuleRemovedInARoundDoesNotCountAsAnswering) {
  run_first_rounds();
  const std::size_t begun = reads();
  module().before_read = [this, begun](std::size_t made) {
    if (made != begun + 1) return;
    module().all_errno = EIO;
    set_no_cable(true);
  };
  run_for(20);
  module().before_read = {};
  const ModuleRound round = only_round();
  ASSERT_TRUE(round.sample);
  EXPECT_FALSE(round.sample->present);
  EXPECT_EQ(round.change, ModuleChange::kRemoved);
  const std::size_t looked = reads();
  run_for(kDay);
  EXPECT_EQ(reads(), looked);
}

TEST_F(ModulePresenceTest, AnEventDuringARoundIsNotLost) {
  set_no_cable(true);
  module().all_errno = ENODEV;
  module().before_read = [this](std::size_t made) {
    if (made == 0) schedule_.request("mlx5_0/1", now_);
  };
  run_for(60);
  EXPECT_EQ(reads(), 2U);
}

TEST_F(ModulePresenceTest, AModuleThatBootsAfterAnEventIsReadTwice) {
  set_no_cable(true);
  module().all_errno = EIO;
  run_for(60);
  schedule_.collect_rounds();
  schedule_.request("mlx5_0/1", now_);  // it was put in, and does not answer yet
  run_for(1);
  module().all_errno = 0;
  run_for(5);
  EXPECT_EQ(schedule_.collect_rounds().back().change, ModuleChange::kInserted);
}

TEST_F(ModulePresenceTest, AModuleUnderMaintenanceIsNotRead) {
  run_first_rounds();
  schedule_.set_ports({{"mlx5_0/1", 7, false, true}}, now_);
  const std::size_t before = reads();
  schedule_.request("mlx5_0/1", now_);
  run_for(3600);
  EXPECT_EQ(reads(), before);
  module().lower[3] = 0x01;  // it was reset for its new firmware, and lost the light meanwhile
  module().page03[0] = 80;   // which has another limit
  schedule_.set_ports({{"mlx5_0/1", 7}}, now_);
  run_for(0.5);
  const ModuleRound round = only_round();
  EXPECT_EQ(round.change, ModuleChange::kNone);
  EXPECT_EQ(round.sample->thresholds.temperature_c.high_alarm, 80.0);
  EXPECT_EQ(round.sample->lanes[0].rx_los, std::nullopt) << "latched at an unknown time";
  schedule_.set_ports({{"mlx5_0/1", 7, false, true}}, now_);
  module().all_errno = ENODEV;
  run_for(60);
  schedule_.set_ports({{"mlx5_0/1", 7}}, now_);
  run_for(1);
  EXPECT_EQ(only_round().change, ModuleChange::kRemoved);
}

}  // namespace
}  // namespace linkhealth
