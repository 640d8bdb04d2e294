// Lengths that a byte cannot hold.
#include <gmock/gmock.h>

#include "probes/module/decode.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ModuleSample decode(const EepromBuilder& b) { return decode_module(b.image()); }

TEST(Lengths, AReachWithTheFourthMultiplierIsSaidToBeLeftOut) {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(132, 0xc5);
  EXPECT_EQ(decode(b).reach_m, std::nullopt);
  EXPECT_THAT(decode(b).warnings, ElementsAre("the reach has a multiplier that is reserved: it is left out"));
  b.byte(132, 0xc0);
  EXPECT_THAT(decode(b).warnings, IsEmpty()) << "a length of 0 is none, whatever its multiplier";
}

TEST(Lengths, ACableThatIsLongerThanItsByteCanSayIsSaidToBe) {
  auto cmis = EepromBuilder::cmis();
  cmis.lower().byte(85, 0x04);
  cmis.page(0).byte(202, 0xff).byte(203, 0x23);
  EXPECT_EQ(decode(cmis).length_m, std::nullopt);
  EXPECT_THAT(decode(cmis).warnings, ElementsAre("the cable is longer than 6300 m, the most that its byte can say"));
  auto qsfp = EepromBuilder::sff8636();
  qsfp.page(0).byte(130, 0x23).byte(192, 0x01).byte(146, 0xff);
  EXPECT_EQ(decode(qsfp).length_m, std::nullopt);
  EXPECT_THAT(decode(qsfp).warnings, ElementsAre("the cable is longer than 254 m, the most that its byte can say"));
  auto sfp = EepromBuilder::sff8472();
  sfp.lower().byte(2, 0x21).byte(3, 0).byte(8, 0x04).byte(18, 0xff);
  EXPECT_EQ(decode(sfp).length_m, std::nullopt);
  EXPECT_THAT(decode(sfp).warnings, ElementsAre("the cable is longer than 254 m, the most that its byte can say"));
}

TEST(Lengths, AReachThatIsLongerThanItsByteCanSayIsSaidToBe) {
  auto qsfp = EepromBuilder::sff8636();
  qsfp.page(0).byte(142, 0xff);
  EXPECT_THAT(decode(qsfp).warnings, ElementsAre("the reach is longer than 254 km, the most that its byte can say"));
  auto sfp = EepromBuilder::sff8472();
  sfp.lower().byte(14, 0xff).byte(15, 0xff);
  EXPECT_EQ(decode(sfp).reach_m, std::nullopt) << "25.4 km is not what it is made for";
  EXPECT_THAT(decode(sfp).warnings, ElementsAre("the reach is longer than 254 km, the most that its byte can say"));
}

}  // namespace
}  // namespace linkhealth
