#include "model/history/drift.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <random>

namespace linkhealth {
namespace {

/// A value every ten minutes for `days`, by day.
Drift feed(double days, const std::function<double(double)>& value) {
  Drift drift;
  const WallTime start{Milliseconds(1763640000000)};
  for (double t = 0; t < days * 86400; t += 600)
    drift.add(start + from_seconds(t), value(t / 86400));
  return drift;
}

double noise(double sigma) {
  static std::mt19937 engine(7);
  return std::normal_distribution<double>(0, sigma)(engine);
}
double daily(double day) { return std::sin(2 * std::numbers::pi * day); }

TEST(Drift, FindsASlopeUnderNoiseAndADailyCycle) {
  const auto slope =
      feed(20, [](double day) { return -3 - 0.05 * day + 0.3 * daily(day) + noise(0.1); }).slope();
  ASSERT_TRUE(slope);
  EXPECT_NEAR(slope->per_day, -0.05, 0.005);
  EXPECT_LT(slope->low_per_day, -0.05);
  EXPECT_GT(slope->high_per_day, -0.05);
  EXPECT_LT(slope->high_per_day, 0);
  EXPECT_NEAR(slope->level, -4, 0.3);
  EXPECT_NEAR(slope->over_days, 20, 0.6);
}

TEST(Drift, NoiseAndADailyCycleAloneAreNoSlope) {
  int found = 0;
  for (int i = 0; i < 50; ++i)
    found +=
        feed(10, [](double day) { return 50 + 8 * daily(day) + noise(0.5); }).slope().has_value();
  EXPECT_LE(found, 1);
}

TEST(Drift, AWeekIsNeeded) {
  EXPECT_FALSE(feed(6, [](double day) { return day; }).slope());
  EXPECT_TRUE(feed(9, [](double day) { return day; }).slope());
}

TEST(Drift, ForgetsPointsOlderThanFourWeeks) {
  const auto slope = feed(90, [](double day) { return day < 40 ? 100 - day : day; }).slope();
  ASSERT_TRUE(slope);
  EXPECT_NEAR(slope->per_day, 1, 0.01);
  EXPECT_LE(slope->over_days, Drift::kDaysKept);
}

TEST(Drift, SurvivesARestartAndIsBounded) {
  const Drift before = feed(60, [](double day) { return 2 * day + noise(0.1); });
  EXPECT_LE(before.values().size(), 2 * Drift::kDaysKept * Drift::kBinsADay);
  Drift after;
  after.assign(before.values());
  ASSERT_TRUE(before.slope());
  ASSERT_TRUE(after.slope());
  EXPECT_EQ(after.slope()->per_day, before.slope()->per_day);
}

TEST(Drift, IgnoresWrongValuesFromAFile) {
  Drift drift;
  drift.assign({1, 2, 0, 5, -3, 1, 5, std::nan(""), 1e300, 4, 7});
  EXPECT_EQ(drift.values(), (std::vector<double>{1, 2}));
  EXPECT_FALSE(drift.slope());
}

}  // namespace
}  // namespace linkhealth
