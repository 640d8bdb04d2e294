#include "probes/module/image.h"

#include <gtest/gtest.h>

namespace linkhealth {
namespace {

TEST(ModuleImage, AShortReadStaysShort) {
  ModuleImage image;
  const std::uint8_t two[] = {0x12, 0x34};
  image.store({kModuleAddressA0, 0, 0, 20, 8}, two);
  const ModulePage lower = lower_page(image);
  EXPECT_EQ(lower.u16(20), 0x1234);
  EXPECT_FALSE(lower.u16(21));
  EXPECT_FALSE(lower.byte(22));
  EXPECT_FALSE(lower.byte(148)) << "the upper half is another page";
}

TEST(ModuleImage, AnAnswerWithNothingIsAnswered) {
  ModuleImage image;
  EXPECT_FALSE(image.answered(upper_key(3)));
  image.store(request_of(upper_key(3)), {});
  EXPECT_TRUE(image.answered(upper_key(3)));
  EXPECT_FALSE(upper_page(image, 3).exists());
  image.forget(upper_key(3));
  EXPECT_FALSE(image.answered(upper_key(3)));
}

TEST(ModuleImage, KnowsTheKernelsRules) {
  EXPECT_TRUE(is_valid({kModuleAddressA0, 0, 0x11, 128, 128}));
  EXPECT_FALSE(is_valid({kModuleAddressA0, 0, 0, 100, 29})) << "across the middle";
  EXPECT_FALSE(is_valid({kModuleAddressA0, 0, 0, 0, 0}));
  EXPECT_FALSE(is_valid({kModuleAddressA0, 0, 1, 0, 16})) << "the lower half belongs to page 0";
  EXPECT_FALSE(is_valid({kModuleAddressA0, 0, 0, 200, 100}));
  EXPECT_FALSE(is_valid({0x80, 0, 0, 0, 16}));
}

TEST(ModuleImage, ABrokenRequestIsNotStored) {
  ModuleImage image;
  const std::uint8_t bytes[200] = {};
  image.store({kModuleAddressA0, 0, 0, 100, 200}, bytes);
  EXPECT_TRUE(image.empty());
}

}  // namespace
}  // namespace linkhealth
