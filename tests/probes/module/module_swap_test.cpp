// A module that is removed, inserted or exchanged while its pages are read: no sample mixes two
// modules, none is of half a module.
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/probes/module/fake_module.h"

namespace linkhealth {
namespace {

using testing::FakeModule;

/// At which read of a round it happens.
class ModuleSwapTest : public testing::ModuleScheduleTest,
                       public ::testing::WithParamInterface<std::size_t> {
 protected:
  /// `change` happens just before the read of that number; the other module is warmer, so that a
  /// mixture shows.
  void at_read(std::size_t number, const std::function<void(FakeModule&)>& change) {
    module().before_read = [this, number, change, first = reads()](std::size_t made) {
      if (made == first + number) change(module());
    };
  }
  static void exchange(FakeModule& module) {
    module.set_serial("SN000002");
    module.lower[22] = 61;
  }
};

TEST_P(ModuleSwapTest, ExchangedWhileItIsReadNoSampleMixesTheTwo) {
  run_first_rounds();
  at_read(GetParam(), &exchange);
  for (int i = 0; i < 40; ++i) {
    run_for(0.5);
    for (const ModuleRound& round : schedule_.collect_rounds()) {
      ASSERT_TRUE(round.sample);
      const bool old = round.sample->serial == "SN000001";
      EXPECT_EQ(round.sample->temperature_c, old ? 35.0 : 61.0) << round.sample->serial;
      if (!old && round.change == ModuleChange::kSwapped) return;
    }
  }
  FAIL() << "the exchange was never reported";
}

TEST_P(ModuleSwapTest, ExchangedInItsVeryFirstRound) {
  at_read(GetParam(), &exchange);
  run_for(20);
  for (const ModuleRound& round : schedule_.collect_rounds()) {
    ASSERT_TRUE(round.sample);
    EXPECT_EQ(round.sample->serial, "SN000002");
    EXPECT_EQ(round.sample->temperature_c, 61.0);
  }
}

TEST_P(ModuleSwapTest, RemovedWhileItIsReadIsAbsentWithoutValues) {
  run_first_rounds();
  at_read(GetParam(), [](FakeModule& module) { module.all_errno = ENXIO; });
  run_for(25);
  const ModuleRound round = only_round();
  EXPECT_EQ(round.change, ModuleChange::kRemoved);
  ASSERT_TRUE(round.sample);
  EXPECT_EQ(round.sample->present, false);
  EXPECT_EQ(round.sample->serial, "");
  EXPECT_FALSE(round.sample->temperature_c);
}

TEST_P(ModuleSwapTest, InsertedWhileItIsReadIsReadWhole) {
  module().all_errno = ENXIO;
  run_first_rounds();
  // Some drivers answer EIO while the module boots, others nonsense.
  at_read(0, [](FakeModule& module) { module.all_errno = EIO; });
  run_for(40);
  EXPECT_EQ(only_round().gap->reason, "EIO");
  at_read(GetParam(), [](FakeModule& module) { module.all_errno = 0; });
  run_for(600);  // a port that fails is read less and less often
  const ModuleRound round = only_round();
  ASSERT_TRUE(round.sample);
  EXPECT_EQ(round.sample->serial, "SN000001");
  EXPECT_EQ(round.sample->temperature_c, 35.0);
}

INSTANTIATE_TEST_SUITE_P(AtEachRead, ModuleSwapTest, ::testing::Range<std::size_t>(0, 4));

}  // namespace
}  // namespace linkhealth
