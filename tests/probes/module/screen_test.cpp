// What is taken out of a module's memory, and of which of it people are told.
#include "probes/module/screen.h"

#include <gmock/gmock.h>

#include "probes/module/decode.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

void fill(ModuleImage& image, const ModulePageKey& key, std::uint8_t value) {
  const std::vector<std::uint8_t> half(128, value);
  image.store(
      {key.i2c_address, key.bank, key.page, static_cast<std::uint8_t>(key.upper ? 128 : 0), 128},
      half);
}

/// Pages of applications and of the user are empty in most modules: of them nothing is read.
TEST(Screen, OfAQsfpsPagesThatNothingIsReadFromNothingIsSaid) {
  ModuleImage image = EepromBuilder::sff8636().image();
  fill(image, {kModuleAddressA0, 0, 0x01, true}, 0x00);
  fill(image, {kModuleAddressA0, 0, 0x02, true}, 0xff);
  EXPECT_THAT(decode_module(image).warnings, IsEmpty());
  EXPECT_FALSE(screened(image, nullptr).whole({kModuleAddressA0, 0, 0x01, true}))
      << "left out all the same";
  fill(image, {kModuleAddressA0, 0, 0x03, true}, 0x00);
  EXPECT_THAT(decode_module(image).warnings,
              ElementsAre("page 03h is all zeros: left out",
                          "page 03h was not read: the module's limits are not known"));
}

TEST(Screen, OfAnSfpsPageOfTheUserNothingIsSaid) {
  ModuleImage image = EepromBuilder::sff8472().image();
  fill(image, {kModuleAddressA2, 0, 0, true}, 0xff);
  EXPECT_THAT(decode_module(image).warnings, IsEmpty());
  fill(image, {kModuleAddressA2, 0, 0, false}, 0xff);
  EXPECT_THAT(decode_module(image).warnings,
              ElementsAre("A2h is all ones: nobody answered: left out",
                          "A2h was not read: light, limits and flags are not known"));
}

TEST(Screen, OfAnSfpWithoutMonitorsNobodyMissesA2h) {
  EepromBuilder b = EepromBuilder::sff8472();
  b.lower().byte(92, 0x00);
  ModuleImage image = b.image();
  fill(image, {kModuleAddressA2, 0, 0, false}, 0x00);
  EXPECT_THAT(decode_module(image).warnings, Not(Contains(HasSubstr("A2h"))));
}

TEST(Screen, OfACmisModulesPageOfTheUserNothingIsSaid) {
  ModuleImage image = EepromBuilder::cmis().image();
  fill(image, {kModuleAddressA0, 0, 0x03, true}, 0x00);
  EXPECT_THAT(decode_module(image).warnings, IsEmpty());
  fill(image, {kModuleAddressA0, 0, 0x13, true}, 0xff);
  EXPECT_THAT(decode_module(image).warnings,
              ElementsAre("page 13h is all ones: nobody answered: left out"));
}

}  // namespace
}  // namespace linkhealth
