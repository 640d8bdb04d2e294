// The module schedule where reads fail, are short or damaged: what is read again, when, and the gap
// meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "probes/sysfs/sysfs_text.h"
#include "tests/probes/module/fake_module.h"

namespace linkhealth {
namespace {

using testing::FakeModule;
using testing::ModuleScheduleTest;

TEST_F(ModuleScheduleTest, WithoutAModuleInterfaceThereIsOneGapAndNoMoreReads) {
  module().all_errno = EOPNOTSUPP;
  run_for(3600);
  EXPECT_EQ(reads(), 1U);
  const ModuleRound round = only_round();
  ASSERT_TRUE(round.gap);
  EXPECT_EQ(*round.gap,
            (Gap{"mlx5_0/1", "module", "EOPNOTSUPP: the driver has no module interface"}));
  EXPECT_FALSE(round.sample);
  EXPECT_FALSE(schedule_.wake_at());
  schedule_.request("mlx5_0/1", now_);  // a link event
  run_for(1);
  EXPECT_EQ(reads(), 2U);
}

TEST_F(ModuleScheduleTest, FailuresAreGapsAndAreReadLessAndLessOften) {
  for (const int errnum : {EBUSY, EIO, ETIMEDOUT, EREMOTEIO}) {
    SCOPED_TRACE(errno_name(errnum));
    restart();
    module().all_errno = errnum;
    run_for(100);  // at 0, 2, 6, 14, 30, 62 s
    EXPECT_EQ(reads(), 6U);
    const ModuleRound round = only_round();
    ASSERT_TRUE(round.gap);
    EXPECT_EQ(round.gap->reason, errno_name(errnum));
    EXPECT_FALSE(round.sample);
    run_for(3600);
    EXPECT_LE(reads(), 6U + 14U);
    module().all_errno = 0;
    run_for(301);
    EXPECT_TRUE(schedule_.collect_rounds().front().sample);
  }
}

TEST_F(ModuleScheduleTest, TheGapNamesTheRemedyOrTheDriversMessage) {
  module().all_errno = EPERM;
  run_for(60);
  EXPECT_EQ(reads(), 1U);
  EXPECT_EQ(only_round().gap->reason, "EPERM: reading modules needs CAP_NET_ADMIN");
  restart();
  module().all_errno = EINVAL;
  module().kernel_words = "bnxt_en: Transceiver module disabled due to current fault\n";
  run_for(1);
  EXPECT_EQ(only_round().gap->reason,
            "EINVAL: bnxt_en: Transceiver module disabled due to current fault");
}

TEST_F(ModuleScheduleTest, ALateFailureKeepsTheIdentity) {
  run_for(5);
  module().all_errno = EBUSY;
  run_for(30);
  module().all_errno = 0;
  run_for(60);
  EXPECT_EQ(schedule_.collect_rounds().front().change, ModuleChange::kNone);
  EXPECT_EQ(reads_of(3), 1U);
}

/// Reading clears them in the module: a round that fails after it has seen one must not lose it.
TEST_F(ModuleScheduleTest, ARoundThatFailsLosesNoFlag) {
  run_first_rounds();
  module().lower[3] = 0x01;        // received light lost, lane 1
  module().page_errno[0] = EBUSY;  // the read that proves the module
  run_for(10);
  EXPECT_EQ(only_round().gap->reason, "EBUSY");
  EXPECT_EQ(module().lower[3], 0) << "the read has cleared it";
  module().page_errno.clear();
  run_for(30);
  const auto flags = only_round().sample->flags;
  ASSERT_EQ(flags.size(), 1U);
  EXPECT_EQ(flags[0].name, "rx_los");
  EXPECT_EQ(flags[0].change_count, 2U) << "set, and cleared since";
}

TEST_F(ModuleScheduleTest, TwoRoundsThatFailLoseNoFlag) {
  run_first_rounds();
  module().lower[3] = 0x01;
  module().page_errno[0] = EBUSY;
  run_for(7);
  EXPECT_EQ(module().lower[3], 0);
  module().all_errno = EBUSY;  // not even the lower page
  run_for(10);
  module() = FakeModule();
  run_for(301);
  const auto flags = only_round().sample->flags;
  ASSERT_EQ(flags.size(), 1U);
  EXPECT_EQ(flags[0].name, "rx_los");
}

TEST_F(ModuleScheduleTest, ARefusedPageIsReadLessAndLessOften) {
  module().page_errno[3] = EIO;
  run_for(0.5);
  const ModuleRound round = only_round();
  ASSERT_TRUE(round.sample);  // everything else is there
  EXPECT_TRUE(round.sample->thresholds.empty());
  EXPECT_THAT(round.sample->warnings, ::testing::Contains("page 03h: EIO"));
  run_for(600);
  EXPECT_LE(reads_of(3), 10U);
  EXPECT_THAT(only_round().sample->warnings, ::testing::Contains("page 03h: EIO"))
      << "reported as long as it is so";
  const std::size_t before = reads_of(3);
  run_for(3100);
  EXPECT_LE(reads_of(3), before + 10) << "once in five minutes";
  module().page_errno.clear();
  run_for(320);
  const ModuleRound healed = only_round();
  EXPECT_FALSE(healed.sample->thresholds.empty());
  EXPECT_THAT(healed.sample->warnings, ::testing::Not(::testing::Contains("page 03h: EIO")));
  module().page_errno[3] = EIO;
  schedule_.request("mlx5_0/1", now_);
  run_for(60);
  module().page_errno.clear();
  schedule_.request("mlx5_0/1", now_);
  run_for(5);
  EXPECT_FALSE(only_round().sample->thresholds.empty()) << "an event is a reason to read it again";
}

/// A bus without an answer is no empty cage: SFP's A2h is an address of its own. With other errors
/// the kernel or the bus may have been busy once; three times in a row it is the page.
TEST_F(ModuleScheduleTest, APageThatFailsDoesNotHideTheModule) {
  for (const auto& [errnum, may_be_busy] : {std::pair{ENXIO, false},
                                            {ENODEV, false},
                                            {EREMOTEIO, false},
                                            {ETIMEDOUT, true},
                                            {EAGAIN, true},
                                            {EBUSY, true},
                                            {EACCES, true},
                                            {ENOMEM, true}}) {
    SCOPED_TRACE(errno_name(errnum));
    restart();
    module().page_errno[3] = errnum;
    run_for(0.5);
    if (may_be_busy) {
      EXPECT_EQ(only_round().gap->reason, errno_name(errnum));
      run_for(60);
    }
    const ModuleRound round = only_round();
    ASSERT_TRUE(round.sample);
    EXPECT_TRUE(round.sample->present);
    EXPECT_EQ(round.sample->serial, "SN000001");
    EXPECT_TRUE(round.sample->temperature_c);
    EXPECT_THAT(round.sample->warnings, ::testing::Contains("page 03h: " + errno_name(errnum)));
    module().page_errno.clear();
    run_for(320);
    EXPECT_FALSE(only_round().sample->thresholds.empty()) << "it passes";
  }
}

TEST_F(ModuleScheduleTest, WithoutItsIdentityPageAModuleIsAGapAndComesBack) {
  for (const int errnum : {EIO, ETIMEDOUT}) {
    restart();
    module().page_errno[0] = errnum;
    run_for(300);
    const ModuleRound round = only_round();
    ASSERT_TRUE(round.gap);
    EXPECT_EQ(round.gap->reason, errno_name(errnum));
    module().page_errno.clear();
    run_for(301);
    EXPECT_EQ(only_round().sample->serial, "SN000001");
  }
}

TEST_F(ModuleScheduleTest, AnEmptyMemoryIsAGapAndIsReadAgain) {
  struct {
    std::uint8_t fill;
    bool whole_page;
    const char* reason;
  } const rows[] = {{0x00, true, "no data: the lower page is all zeros"},
                    {0xff, true, "no data: the lower page is all ones: no answer"},
                    {0x00, false, "no data: no identifier"}};
  for (const auto& row : rows) {
    restart();
    if (row.whole_page) module().lower.fill(row.fill);  // a module that was inserted a second ago
    if (!row.whole_page) module().lower[0] = module().page00[0] = row.fill;
    run_for(1);
    const ModuleRound booting = only_round();
    ASSERT_TRUE(booting.gap);
    EXPECT_EQ(booting.gap->reason, row.reason);
    module() = FakeModule();
    run_for(30);
    EXPECT_EQ(only_round().sample->serial, "SN000001");
  }
}

TEST_F(ModuleScheduleTest, AModuleOfUnknownMapIsWatched) {
  module().lower[0] = 0x0c;  // QSFP of before SFF-8636: nothing in it is read
  run_for(0.5);
  EXPECT_TRUE(only_round().sample->present);
  const std::size_t before = reads();
  for (std::uint8_t celsius = 40; celsius < 46; ++celsius) {
    module().lower[22] = celsius;  // its map may have monitors that are not decoded
    run_for(10);
  }
  EXPECT_EQ(reads(), before + 6) << "once a period";
  for (const ModuleRound& round : schedule_.collect_rounds())
    EXPECT_EQ(round.change, ModuleChange::kNone);
  module().lower[0] = 0x11;
  run_for(11);
  EXPECT_EQ(only_round().change, ModuleChange::kSwapped);
  module() = FakeModule();
  module().lower[0] = 0x0c;
  run_for(30);
  schedule_.collect_rounds();
  module().all_errno = ENODEV;
  run_for(11);
  EXPECT_EQ(only_round().change, ModuleChange::kRemoved);
}

TEST_F(ModuleScheduleTest, WithoutAnIdentityPageItIsWatchedByItsFirstBytes) {
  module().page_errno[0] = EINVAL;
  run_for(30);
  EXPECT_TRUE(only_round().sample->present);
  module().all_errno = ENODEV;
  run_for(11);
  EXPECT_EQ(only_round().change, ModuleChange::kRemoved);
}

TEST_F(ModuleScheduleTest, APageThatDoesNotExistIsReadOnce) {
  module().page_errno[3] = EINVAL;
  run_for(120);
  EXPECT_EQ(reads_of(3), 1U);
  EXPECT_TRUE(only_round().sample);
}

TEST_F(ModuleScheduleTest, ShortReadsAreCompletedAndEnd) {
  module().longest = 20;
  run_for(5);
  const ModuleRound round = only_round();
  ASSERT_TRUE(round.sample);
  EXPECT_EQ(round.sample->serial, "SN000001");
  EXPECT_FALSE(round.sample->thresholds.empty());
  restart();
  module().longest = 0;
  run_for(1);
  EXPECT_EQ(only_round().gap->reason, "no data");
  restart();
  module().longest = 1;
  run_for(100);
  EXPECT_LT(reads(), 200U);
  EXPECT_FALSE(schedule_.collect_rounds().empty());
}

TEST_F(ModuleScheduleTest, LateLimitsAreReadAgain) {
  const auto limits = module().page03;
  module().page03.fill(0);
  run_for(3);
  EXPECT_TRUE(only_round().sample->thresholds.empty());
  module().page03 = limits;
  run_for(20);
  EXPECT_FALSE(only_round().sample->thresholds.empty());
  const std::size_t before = reads_of(3);
  run_for(600);
  EXPECT_EQ(reads_of(3), before) << "they are valid now";
}

TEST_F(ModuleScheduleTest, LateNamesAreReadAgain) {
  module().page00[160 - 128] ^= 0xffU;  // a wrong checksum
  run_for(3);
  schedule_.collect_rounds();
  module().page00[160 - 128] ^= 0xffU;
  run_for(20);
  const ModuleRound round = only_round();
  EXPECT_EQ(round.sample->checksums_ok, true);
  EXPECT_EQ(round.change, ModuleChange::kNone) << "the same module";
}

TEST_F(ModuleScheduleTest, AModuleWhoseChecksumIsAlwaysWrongIsReadAgainSeldom) {
  module().page00[160 - 128] ^= 0xffU;
  run_for(1200);
  const std::size_t after_a_while = reads_of(3);
  EXPECT_LE(after_a_while, 12U);
  run_for(3100);
  EXPECT_LE(reads_of(3), after_a_while + 10) << "each five minutes";
}

}  // namespace
}  // namespace linkhealth
