#include "daemon/due.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace linkhealth {
namespace {

using namespace std::chrono_literals;

SteadyTime at_ms(int ms) { return SteadyTime(Milliseconds(ms)); }

TEST(Due, AtOnceAndThenAtWholePeriodsAfterTheBeginning) {
  Due due(1s, at_ms(500));
  EXPECT_TRUE(due.is_due(at_ms(500)));
  due.done(at_ms(500));
  EXPECT_FALSE(due.is_due(at_ms(1499)));
  EXPECT_TRUE(due.is_due(at_ms(1500)));
  due.done(at_ms(1507));
  EXPECT_EQ(due.at, at_ms(2500)) << "a late wake-up is not added up";
  due.done(at_ms(5800));
  EXPECT_EQ(due.at, at_ms(6500)) << "what was missed is not made up for";
}

TEST(Due, WhatIsDueTogetherIsOneWakeUpHoweverLateThatComes) {
  Due each_second(1s, at_ms(0));
  Due each_ten(10s, at_ms(0));
  each_second.done(at_ms(0));
  each_ten.done(at_ms(30));  // what it reads was found a little later
  std::size_t wake_ups = 0, with_both = 0;
  for (SteadyTime now; now < at_ms(100'000);) {
    now = std::min(each_second.at, each_ten.at) + 3ms;
    ++wake_ups;
    with_both += each_second.is_due(now) && each_ten.is_due(now) ? 1 : 0;
    if (each_second.is_due(now)) each_second.done(now);
    if (each_ten.is_due(now)) each_ten.done(now);
  }
  EXPECT_EQ(wake_ups, 100U);
  EXPECT_EQ(with_both, 10U);
}

TEST(Due, SoonerForOnceAndThenInStepAgain) {
  Due due(10s, at_ms(0));
  due.done(at_ms(0));
  due.at = at_ms(4200);
  due.done(at_ms(4200));
  EXPECT_EQ(due.at, at_ms(10'000));
}

TEST(Due, ALookBeforeItsTimePostponesNothing) {
  Due due(1s, at_ms(0));
  due.done(at_ms(0));
  due.done(at_ms(600));
  EXPECT_EQ(due.at, at_ms(1000));
}

TEST(Due, HastenedItCountsAsTheTimeThatWasToCome) {
  Due due(1s, at_ms(0));
  due.done(at_ms(0));
  EXPECT_TRUE(due.hasten(at_ms(300), 1s));
  EXPECT_TRUE(due.is_due(at_ms(300)));
  due.done(at_ms(300));
  EXPECT_EQ(due.at, at_ms(2000)) << "not once more at 1 s";
}

TEST(Due, HoweverOftenItIsHastenedThereIsOneInEachPeriod) {
  Due due(1s, at_ms(0));
  std::size_t times = 0;
  for (int ms = 0; ms < 10'000; ms += 50) {
    due.hasten(at_ms(ms), 1s);
    if (!due.is_due(at_ms(ms))) continue;
    due.done(at_ms(ms));
    ++times;
  }
  EXPECT_EQ(times, 11U) << "that of 10 s is before its time, too";
}

TEST(Due, WhatComesLaterThanTheSlackIsNotHastened) {
  Due due(10s, at_ms(0));
  due.done(at_ms(0));
  EXPECT_FALSE(due.hasten(at_ms(9000), 1s));
  EXPECT_TRUE(due.hasten(at_ms(9001), 1s));
  EXPECT_FALSE(due.hasten(at_ms(9001), 1s)) << "it is due";
  due.done(at_ms(9001));
  EXPECT_EQ(due.at, at_ms(20'000));
}

TEST(Due, WithoutAPeriodItIsAlwaysDue) {
  Due due(0ms, at_ms(0));
  due.done(at_ms(70));
  EXPECT_TRUE(due.is_due(at_ms(70)));
}

}  // namespace
}  // namespace linkhealth
