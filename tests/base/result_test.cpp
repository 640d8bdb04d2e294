#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace linkhealth {
namespace {

TEST(Result, HoldsAValueOrTheReason) {
  const Result<int> good = 7;
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good, 7);
  const Result<int> bad = errno_error("reading state", ENODEV);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message, "reading state: No such device");
  EXPECT_EQ(bad.error().errnum, ENODEV);
}

TEST(Result, MovesItsValueOut) {
  Result<std::string> text = std::string(100, 'x');
  const std::string taken = *std::move(text);
  EXPECT_EQ(taken.size(), 100U);
}

TEST(Result, WithoutAValueIsDoneOrTheReason) {
  EXPECT_TRUE(Result<void>().ok());
  EXPECT_EQ(Result<void>(Error{"no", 0}).error().message, "no");
}

}  // namespace
}  // namespace linkhealth
