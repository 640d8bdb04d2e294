// A young baseline stays free of a fault that follows.
#include "model/history/baseline.h"

#include <gtest/gtest.h>

namespace linkhealth {
namespace {

using Young = Baseline::Young;

struct Light {
  Baseline baseline;
  double t = 0;
  void read(double dbm, Young young = Young::kGuardLow) {
    baseline.add(steady_from_seconds(t), dbm, 0.7, 3, young);
    t += 30;
  }
};

TEST(YoungBaseline, AFaultAfterTwoReadingsStaysOut) {
  Light light;
  light.read(-1.0);
  light.read(-1.1);
  for (int i = 0; i < 20; ++i) light.read(-5);
  ASSERT_TRUE(light.baseline.median());
  EXPECT_NEAR(*light.baseline.median(), -1.05, 1e-9);
  EXPECT_FALSE(light.baseline.ready()) << "too young to be saved";
}

TEST(YoungBaseline, OneOddReadingIsIgnored) {
  Light light;
  light.read(-1.0);
  light.read(-5);
  EXPECT_FALSE(light.baseline.median());
  for (int i = 0; i < 3; ++i) light.read(-1.0);
  ASSERT_TRUE(light.baseline.ready());
  EXPECT_NEAR(*light.baseline.median(), -1.0, 1e-9);
}

TEST(YoungBaseline, HigherLightReplacesTheFirstReadings) {
  Light light;
  light.read(-9);
  light.read(-9);
  for (int i = 0; i < 4; ++i) light.read(-1);
  ASSERT_TRUE(light.baseline.median());
  EXPECT_NEAR(*light.baseline.median(), -1, 1e-9);
}

TEST(YoungBaseline, IsReadyWithinHalfAMinuteWhereModulesAreReadOften) {
  Light light;
  for (int i = 0; i < 4; ++i) {
    light.baseline.add(steady_from_seconds(i * 10), -1, 0.7, 3, Young::kGuardLow);
  }
  EXPECT_TRUE(light.baseline.ready());
}

TEST(YoungBaseline, AcceptsAllReadingsOfAValueThatSettles) {
  Light light;
  for (const double warm : {20.0, 30.0, 40.0, 50.0}) light.read(warm, Young::kTakeAll);
  ASSERT_TRUE(light.baseline.ready());
  EXPECT_NEAR(*light.baseline.median(), 35, 1e-9);
}

TEST(YoungBaseline, AnEarlyRiseOfErrorsStaysOut) {
  Baseline ber;
  for (int i = 0; i < 10; ++i)
    ber.add(steady_from_seconds(i * 10), i < 2 ? -8 : -4, 6, 0.9, Young::kGuardHigh);
  ASSERT_TRUE(ber.lower_quartile());
  EXPECT_NEAR(*ber.lower_quartile(), -8, 1e-9);
}

}  // namespace
}  // namespace linkhealth
