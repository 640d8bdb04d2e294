// A reference that is still young: what came before a fault stays apart from it.
#include "model/history/baseline.h"

#include <gtest/gtest.h>

namespace linkhealth {
namespace {

using Young = Baseline::Young;

struct Light {
  Baseline reference;
  double t = 0;
  void read(double dbm, Young young = Young::kGuardLow) {
    reference.add(steady_from_seconds(t), dbm, 0.7, 3, young);
    t += 30;
  }
};

TEST(YoungReference, AFaultAfterTwoReadingsDoesNotBecomeHalfOfIt) {
  Light light;
  light.read(-1.0);
  light.read(-1.1);
  for (int i = 0; i < 20; ++i) light.read(-5);
  ASSERT_TRUE(light.reference.median());
  EXPECT_NEAR(*light.reference.median(), -1.05, 1e-9);
  EXPECT_FALSE(light.reference.ready()) << "too little to be kept over a restart";
}

TEST(YoungReference, OneOddReadingSaysNothing) {
  Light light;
  light.read(-1.0);
  light.read(-5);
  EXPECT_FALSE(light.reference.median());
  for (int i = 0; i < 3; ++i) light.read(-1.0);
  ASSERT_TRUE(light.reference.ready());
  EXPECT_NEAR(*light.reference.median(), -1.0, 1e-9);
}

TEST(YoungReference, LightThatComesBackShowsThatTheFirstReadingsWereTheFault) {
  Light light;
  light.read(-9);
  light.read(-9);
  for (int i = 0; i < 4; ++i) light.read(-1);
  ASSERT_TRUE(light.reference.median());
  EXPECT_NEAR(*light.reference.median(), -1, 1e-9);
}

TEST(YoungReference, IsReadyWithinHalfAMinuteWhereModulesAreReadOften) {
  Light light;
  for (int i = 0; i < 4; ++i) {
    light.reference.add(steady_from_seconds(i * 10), -1, 0.7, 3, Young::kGuardLow);
  }
  EXPECT_TRUE(light.reference.ready());
}

TEST(YoungReference, AValueThatSettlesIsTakenAsItComes) {
  Light light;
  for (const double warm : {20.0, 30.0, 40.0, 50.0}) light.read(warm, Young::kTakeAll);
  ASSERT_TRUE(light.reference.ready());
  EXPECT_NEAR(*light.reference.median(), 35, 1e-9);
}

TEST(YoungReference, ErrorsThatRiseAtOnceStayOut) {
  Baseline ber;
  for (int i = 0; i < 10; ++i)
    ber.add(steady_from_seconds(i * 10), i < 2 ? -8 : -4, 6, 0.9, Young::kGuardHigh);
  ASSERT_TRUE(ber.lower_quartile());
  EXPECT_NEAR(*ber.lower_quartile(), -8, 1e-9);
}

}  // namespace
}  // namespace linkhealth
