#include "daemon/rate_limit.h"

#include <gtest/gtest.h>

namespace linkhealth {
namespace {

SteadyTime at(int ms) { return SteadyTime(Milliseconds(ms)); }

TEST(RateLimitTest, ABurstAndThenOneInEachInterval) {
  RateLimit limit({100, 2}, at(0));
  EXPECT_TRUE(limit.take(at(0)));
  EXPECT_TRUE(limit.take(at(0)));
  EXPECT_FALSE(limit.take(at(0)));
  EXPECT_FALSE(limit.take(at(99)));
  EXPECT_TRUE(limit.take(at(100)));
  EXPECT_FALSE(limit.take(at(150)));
  EXPECT_TRUE(limit.take(at(200)));
}

TEST(RateLimitTest, RestSavesNoMoreThanTheBurst) {
  RateLimit limit({100, 2}, at(0));
  EXPECT_TRUE(limit.take(at(100'000)));
  EXPECT_TRUE(limit.take(at(100'000)));
  EXPECT_FALSE(limit.take(at(100'000)));
}

TEST(RateLimitTest, BelowAMillisecond) {
  RateLimit limit({0.25, 4}, at(0));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(limit.take(at(0)));
  EXPECT_FALSE(limit.take(at(0)));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(limit.take(at(1)));
  EXPECT_FALSE(limit.take(at(1)));
}

}  // namespace
}  // namespace linkhealth
