// The module schedule with a simulated QSFP28 module: what is read when.
#include "probes/module/module_schedule.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "probes/sysfs/sysfs_text.h"
#include "tests/probes/module/fake_module.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

using testing::ModuleScheduleTest;

TEST_F(ModuleScheduleTest, ReadsIdentityOnceAndMonitorsEachPeriod) {
  run_for(0.5);
  const ModuleRound first = only_round();
  ASSERT_TRUE(first.sample);
  EXPECT_FALSE(first.gap);
  EXPECT_TRUE(first.sample->present);
  EXPECT_EQ(first.sample->serial, "SN000001");
  EXPECT_EQ(first.change, ModuleChange::kNone);
  EXPECT_EQ(first.started_at, steady_from_seconds(1000));
  EXPECT_GT(first.duration_s, 0);
  ASSERT_EQ(first.sample->lanes.size(), 4U);
  ASSERT_TRUE(first.sample->lanes[0].rx_power_mw);
  run_for(60);
  EXPECT_EQ(reads_of(3), 1U);
  EXPECT_EQ(module().reads.front(), (ModulePageRequest{kModuleAddressA0, 0, 0, 0, 128}));
  // Two rounds at once, then one each ten seconds; each reads the monitors and the serial number.
  EXPECT_EQ(reads_of(0), 1U + 7U);
  EXPECT_TRUE(only_round().sample);
}

TEST_F(ModuleScheduleTest, FlagsOfTheFirstRoundAreUnknown) {
  module().lower[3] = 0x0f;
  run_for(0.5);
  EXPECT_FALSE(only_round().sample->lanes[0].rx_los);
  run_for(2);
  EXPECT_EQ(only_round().sample->lanes[0].rx_los, false);
}

TEST_F(ModuleScheduleTest, AFlagOfOneRoundIsNotLost) {
  run_first_rounds();
  module().lower[3] = 0x02;  // lane 2, once: the round that reads it clears it
  run_for(25);
  ASSERT_EQ(module().lower[3], 0);
  const ModuleRound round = only_round();
  EXPECT_EQ(round.sample->lanes[1].rx_los, true);
  EXPECT_EQ(round.sample->lanes[0].rx_los, false);
  run_for(10);
  EXPECT_EQ(only_round().sample->lanes[1].rx_los, false);
}

TEST_F(ModuleScheduleTest, RemembersWhenAFlagWasSetAndClearedAndHowOften) {
  run_for(5);
  EXPECT_TRUE(only_round().sample->flags.empty()) << "nothing changed yet";
  for (int i = 0; i < 2; ++i) {
    module().lower[3] = 0x02;
    run_for(20);
  }
  const auto flags = only_round().sample->flags;
  ASSERT_EQ(flags.size(), 1U);
  EXPECT_EQ(flags[0].name, "rx_los");
  EXPECT_EQ(flags[0].lane, 2U);
  EXPECT_FALSE(flags[0].set);
  EXPECT_EQ(flags[0].change_count, 4U);
  ASSERT_TRUE(flags[0].set_at && flags[0].cleared_at);
  EXPECT_LT(*flags[0].set_at, *flags[0].cleared_at);
  EXPECT_GT(flags[0].set_at->time_since_epoch(), (steady_from_seconds(1025) - SteadyTime()));
}

TEST_F(ModuleScheduleTest, AnotherModuleHasNoPast) {
  run_for(5);
  module().lower[6] = 0x80;
  run_for(11);
  EXPECT_EQ(only_round().sample->flags.front().name, "temperature_high_alarm");
  module().set_serial("SN000002");
  run_for(30);
  EXPECT_TRUE(only_round().sample->flags.empty());
}

TEST_F(ModuleScheduleTest, FlagsOfAModuleThatJustCameUpAreUnknown) {
  run_for(5);
  module().lower[2] = 0x01;  // data not ready
  run_for(11);
  schedule_.collect_rounds();
  module().lower[2] = 0;
  module().lower[3] = 0x0f;
  run_for(9.5);
  const ModuleRound up = only_round();
  EXPECT_EQ(up.sample->lanes[0].rx_los, false) << "the next round's; the first one's was left out";
  EXPECT_TRUE(up.sample->flags.empty());
  module().lower[3] = 0x01;
  run_for(11);
  EXPECT_EQ(only_round().sample->lanes[0].rx_los, true);
}

TEST_F(ModuleScheduleTest, AnEmptyCageIsNoModuleAndIsReadSeldom) {
  module().all_errno = ENODEV;
  run_for(61);
  EXPECT_EQ(reads(), 3U);
  const ModuleRound round = only_round();
  ASSERT_TRUE(round.sample);
  EXPECT_FALSE(round.sample->present);
  EXPECT_FALSE(round.gap);
  EXPECT_EQ(round.change, ModuleChange::kNone);
}

TEST_F(ModuleScheduleTest, RemovalAndInsertionAreChanges) {
  run_first_rounds();
  module().all_errno = ENXIO;
  run_for(11);
  EXPECT_EQ(only_round().change, ModuleChange::kRemoved);
  module().all_errno = 0;
  schedule_.request("mlx5_0/1", now_);
  run_for(1.0);
  const ModuleRound back = only_round();
  EXPECT_EQ(back.change, ModuleChange::kInserted);
  EXPECT_EQ(reads_of(3), 2U);  // the identity is read again
}

TEST_F(ModuleScheduleTest, AnotherSerialNumberIsASwap) {
  run_first_rounds();
  module().set_serial("SN000002");
  run_for(11);
  const ModuleRound round = only_round();
  EXPECT_EQ(round.change, ModuleChange::kSwapped);
  ASSERT_TRUE(round.sample);
  EXPECT_EQ(round.sample->serial, "SN000002");
}

TEST_F(ModuleScheduleTest, ASwapIsReportedThoughTheNewModuleBootsFirst) {
  run_first_rounds();
  module().set_serial("SN000002");
  module().before_read = [this](std::size_t) {
    // Only the last read of a round is of the upper half of page 00h: it sees another serial. All
    // after it fail.
    const ModulePageRequest& last = module().reads.back();
    if (last.page == 0 && last.offset >= 128) module().all_errno = EIO;
  };
  run_for(11);
  module().before_read = nullptr;
  for (const ModuleRound& round : schedule_.collect_rounds())
    EXPECT_EQ(round.change, ModuleChange::kNone);
  module().all_errno = 0;
  schedule_.request("mlx5_0/1", now_);
  run_for(5);
  const ModuleRound round = only_round();
  EXPECT_EQ(round.change, ModuleChange::kSwapped);
  ASSERT_TRUE(round.sample);
  EXPECT_EQ(round.sample->serial, "SN000002");
  run_for(11);
  EXPECT_EQ(only_round().change, ModuleChange::kNone) << "once";
}

TEST_F(ModuleScheduleTest, WithoutASerialNumberAnotherPartIsASwap) {
  module().set_serial("");
  run_first_rounds();
  module().all_errno = EIO;  // removed
  run_for(60);
  schedule_.collect_rounds();
  module().all_errno = 0;
  module().page00[168 - 128] = 'X';  // the part number
  schedule_.request("mlx5_0/1", now_);
  run_for(5);
  const ModuleRound round = only_round();
  EXPECT_EQ(round.change, ModuleChange::kSwapped);
  EXPECT_EQ(round.sample->part_number.front(), 'X');
}

TEST_F(ModuleScheduleTest, ASwapIsSeenAfterAFailedIdentityCheck) {
  run_first_rounds();
  module().page_errno[0] = EIO;  // only the last read of a round is of page 00h
  run_for(10);
  EXPECT_TRUE(only_round().gap);
  module().page_errno.clear();
  module().set_serial("SN000002");
  const std::size_t limits_read = reads_of(3);
  run_for(11);
  EXPECT_EQ(only_round().change, ModuleChange::kSwapped);
  EXPECT_EQ(reads_of(3), limits_read + 1) << "the limits are the new module's";
}

TEST_F(ModuleScheduleTest, ASlowModuleIsReadLessOften) {
  module().delay = Milliseconds{1500};
  run_for(60);
  const std::size_t after_a_minute = reads();
  run_for(240);
  EXPECT_EQ(reads(), after_a_minute);  // 6 s of reading, 300 s of pause
  schedule_.request("mlx5_0/1", now_);
  run_for(1);
  EXPECT_EQ(reads(), after_a_minute);  // not even for a storm of events
  run_for(300);
  EXPECT_GT(reads(), after_a_minute);
}

TEST_F(ModuleScheduleTest, OtherProcessesGetTheLockBetweenTwoReads) {
  const auto read = schedule_.next(now_);
  ASSERT_TRUE(read);
  const SteadyTime ended = now_ + Milliseconds{400};
  schedule_.done(*read, module().read(read->page), ended - now_, ended, wall());
  EXPECT_FALSE(schedule_.next(ended + Milliseconds{399}));
  EXPECT_EQ(schedule_.wake_at(), ended + Milliseconds{400});
  EXPECT_TRUE(schedule_.next(ended + Milliseconds{400}));
}

TEST_F(ModuleScheduleTest, OneBadPortHidesNoOther) {
  schedule_.set_ports({{"mlx5_0/1", 7}, {"mlx5_1/1", 8}, {"mlx5_2/1", 9}}, now_);
  modules_["mlx5_0/1"].all_errno = EIO;
  modules_["mlx5_1/1"].all_errno = ENODEV;
  bool interrupted = false;
  modules_["mlx5_2/1"].before_read = [&](std::size_t) {
    interrupted = interrupted || !schedule_.has_rounds();
  };
  run_for(3);
  EXPECT_FALSE(interrupted) << "a round is finished before the next begins";
  std::map<PortKey, ModuleRound> rounds;
  for (const ModuleRound& round : schedule_.collect_rounds()) rounds[round.port] = round;
  EXPECT_TRUE(rounds.at("mlx5_0/1").gap);
  EXPECT_FALSE(rounds.at("mlx5_1/1").sample->present);
  EXPECT_TRUE(rounds.at("mlx5_2/1").sample->present);
}

TEST_F(ModuleScheduleTest, APortThatLeavesDuringItsReadIsForgotten) {
  const auto read = schedule_.next(now_);
  ASSERT_TRUE(read);
  schedule_.set_ports({}, now_);
  schedule_.done(*read, module().read(read->page), Milliseconds(0), now_, wall());
  EXPECT_TRUE(schedule_.collect_rounds().empty());
  EXPECT_FALSE(schedule_.wake_at());
}

TEST_F(ModuleScheduleTest, ANewDeviceUnderTheOldNameStartsFresh) {
  run_for(5);
  schedule_.set_ports({{"mlx5_0/1", 70}}, now_);
  run_for(1);
  EXPECT_EQ(reads_of(3), 2U);
}

/// CMIS 5.4 7.1.3.2, 8.5: they may be others then.
TEST(ModuleLimits, AreReadAgainWhenADataPathHasComeUpOrAnotherApplicationRuns) {
  ModuleSchedule schedule{ModuleTiming{}};
  SteadyTime now = steady_from_seconds(1000);
  schedule.set_ports({{"mlx5_0/1", 7}}, now);
  std::size_t limit_reads = 0;
  std::optional<ModuleSample> last;
  const auto read_for_a_minute = [&](const EepromBuilder& module) {
    const ModuleImage image = module.image();
    for (const SteadyTime until = now + from_seconds(60); now <= until;) {
      const auto read = schedule.next(now);
      if (!read) {
        now = std::min(std::max(schedule.wake_at().value_or(until), now), until) + Milliseconds{1};
        continue;
      }
      if (read->page.page == 0x02) ++limit_reads;
      const auto bytes = ModulePage(image, read->page.key())
                             .raw(read->page.offset, read->page.length)
                             .value_or(std::string(read->page.length, '\0'));
      now += Milliseconds{5};
      schedule.done(*read, std::vector<std::uint8_t>(bytes.begin(), bytes.end()), Milliseconds{5},
                    now, WallTime());
    }
    for (ModuleRound& round : schedule.collect_rounds()) last = std::move(round.sample);
  };
  auto module = EepromBuilder::cmis();
  module.lower().byte(90, 0x4b).byte(91, 0x14).byte(92, 0x11).byte(93, 0xff).byte(94, 0xff);
  module.page(0x11).fill(128, 4, 0x11);  // deactivated, as after an insertion
  read_for_a_minute(module);
  EXPECT_EQ(limit_reads, 1U) << "what does not change is read once";
  module.page(0x11).fill(128, 4, 0x44);
  module.page(2).limits(128, 80 << 8, 0xfb00, 70 << 8, 0);
  read_for_a_minute(module);
  EXPECT_EQ(limit_reads, 2U);
  EXPECT_EQ(last->thresholds.temperature_c.high_alarm, 80.0);
  module.page(0x11).fill(206, 8, 0x20);
  read_for_a_minute(module);
  EXPECT_EQ(limit_reads, 3U);
  read_for_a_minute(module);
  EXPECT_EQ(limit_reads, 3U) << "once for each time";
}

TEST(ErrnoName, IsTheKernelsWord) {
  EXPECT_EQ(errno_name(0), "not readable");
  EXPECT_EQ(errno_name(EBUSY), "EBUSY");
  EXPECT_EQ(errno_name(9999), "errno 9999");
#if __GLIBC_PREREQ(2, 32)
  for (int number = 1; number < 150; ++number)
    if (const char* name = strerrorname_np(number)) {
      EXPECT_EQ(errno_name(number), name);
    }
#endif
}

}  // namespace
}  // namespace linkhealth
