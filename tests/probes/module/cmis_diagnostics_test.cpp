// CMIS page 13h: which side and which lanes are looped; and what a module's case may be.
#include <gmock/gmock.h>

#include "probes/module/decode.h"
#include "probes/module/read_plan.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

ModuleSample decode(const EepromBuilder& b) { return decode_module(b.image()); }

/// Tables 8-111 and 8-131. All of a 400G-DR4: eight host lanes, four of light.
TEST(CmisLoopback, SaysItsSideAndItsLanes) {
  struct Row {
    unsigned byte;
    const char *side, *at;
  };
  for (const Row& row : {Row{180, "media", "output"},
                         {181, "media", "input"},
                         {182, "host", "output"},
                         {183, "host", "input"}}) {
    auto b = EepromBuilder::cmis();
    b.page(0x13).byte(128, 0x30).byte(row.byte, 0x06);
    const ModuleSample m = decode(b);
    EXPECT_EQ(m.looped, true);
    EXPECT_THAT(m.loopbacks, ElementsAre(ModuleLoopback{row.side, row.at, {2, 3}})) << row.byte;
  }
}

TEST(CmisLoopback, OfAModuleThatCannotLoopLanesOneByOneIsOfAll) {
  auto b = EepromBuilder::cmis();
  b.page(0x13).byte(128, 0x10).byte(181, 0x01).byte(183, 0x01);
  EXPECT_THAT(decode(b).loopbacks, ElementsAre(ModuleLoopback{"media", "input", {1, 2, 3, 4}},
                                               ModuleLoopback{"host", "input", {1}}));
}

TEST(CmisLoopback, OfLanesThatTheSideDoesNotHaveIsNobodys) {
  auto b = EepromBuilder::cmis();
  b.page(0x13).byte(128, 0x30).byte(180, 0xf0);
  EXPECT_THAT(decode(b).loopbacks, IsEmpty());
  EXPECT_EQ(decode(b).looped, false);
  b.byte(180, 0xff);
  EXPECT_THAT(decode(b).loopbacks, ElementsAre(ModuleLoopback{"media", "output", {1, 2, 3, 4}}));
}

TEST(CmisLoopback, OfADriverThatIgnoresTheBankIsOfTheFirst) {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(142, 0x25);
  b.page(0x13).byte(128, 0x30).byte(180, 0x01);
  b.page(0x13, 1).byte(128, 0x30).byte(180, 0x01);
  EXPECT_THAT(decode(b).loopbacks, ElementsAre(ModuleLoopback{"media", "output", {1}}))
      << "bank 1 has no page 11h";
}

/// A page whose tests did not answer is not asked for them in each round because another byte of it
/// did.
TEST(CmisTests, ThatDidNotAnswerAreNotAskedAnew) {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(142, 0x20);
  ModuleImage image = b.image();
  const ModulePageRequest tests{kModuleAddressA0, 0, 0x13, 144, 40};
  image.store({kModuleAddressA0, 0, 0x13, 128, 1}, std::vector<std::uint8_t>{0x30});
  EXPECT_THAT(next_reads(image, ReadScope::kMonitors), Contains(tests));
  image.store(tests, {});
  EXPECT_THAT(next_reads(without_monitors(image), ReadScope::kMonitors), Not(Contains(tests)));
  image.store(tests, std::vector<std::uint8_t>(40, 0));
  EXPECT_THAT(next_reads(without_monitors(image), ReadScope::kMonitors), Contains(tests));
}

TEST(CmisLoopback, ThatIsOffIsNone) {
  auto b = EepromBuilder::cmis();
  b.page(0x13).byte(128, 0x30);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.looped, false);
  EXPECT_THAT(m.loopbacks, IsEmpty());
  EXPECT_EQ(decode(EepromBuilder::cmis()).looped, std::nullopt) << "no page 13h";
}

TEST(CmisLoopback, OfTheSecondBankIsOfItsLanes) {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(142, 0x25);
  b.page(0x11, 1).fill(128, 4, 0x44).fill(206, 8, 0x10).u16(186, 1234);
  b.page(0x13).byte(128, 0x30).byte(181, 0x08);
  b.page(0x13, 1).byte(128, 0x30).byte(181, 0x01).byte(182, 0x01);
  EXPECT_THAT(decode(b).loopbacks, ElementsAre(ModuleLoopback{"media", "input", {4, 5}},
                                               ModuleLoopback{"host", "output", {9}}));
}

/// What the module can do never changes; what is switched on does.
TEST(CmisLoopback, WhetherLanesAreLoopedOneByOneIsReadOnce) {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(142, 0x24);
  b.page(0x13).byte(128, 0x30);
  ModuleImage image = b.image();
  image.forget({kModuleAddressA0, 0, 0x13, 128, 128});
  const ModulePageRequest can{kModuleAddressA0, 0, 0x13, 128, 1},
      on{kModuleAddressA0, 0, 0x13, 144, 40};
  EXPECT_THAT(next_reads(image, ReadScope::kIdentity), Contains(can));
  EXPECT_THAT(next_reads(image, ReadScope::kMonitors), Contains(on));
  image.store(can, std::vector<std::uint8_t>{0x30});
  image.store(on, std::vector<std::uint8_t>(40, 0));
  const ModuleImage next = without_monitors(image);
  EXPECT_EQ(upper_page(next, 0x13).byte(128), 0x30);
  EXPECT_THAT(next_reads(next, ReadScope::kMonitors), Contains(on));
}

/// Table 8-50.
TEST(CmisCase, TheTemperaturesThatItIsMadeForAreSaid) {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(146, 70).byte(147, 0xfb);
  EXPECT_EQ(decode(b).case_temperature_max_c, 70);
  EXPECT_EQ(decode(b).case_temperature_min_c, -5);
  EXPECT_THAT(decode(b).warnings, IsEmpty());
}

TEST(CmisCase, TemperaturesThatAreNotSpecifiedOrCannotBeAreNone) {
  const ModuleSample unsaid = decode(EepromBuilder::cmis());
  EXPECT_EQ(unsaid.case_temperature_max_c, std::nullopt);
  EXPECT_THAT(unsaid.warnings, IsEmpty());
  auto unfilled = EepromBuilder::cmis();
  unfilled.page(1).byte(146, 0xff).byte(147, 0xff);
  EXPECT_EQ(decode(unfilled).case_temperature_max_c, std::nullopt);
  EXPECT_THAT(decode(unfilled).warnings, IsEmpty());
  for (const auto& [most, least] : {std::pair(0U, 70U), {0xffU, 0x10U}, {70U, 70U}}) {
    auto b = EepromBuilder::cmis();
    b.page(1).byte(146, most).byte(147, least);
    const ModuleSample m = decode(b);
    EXPECT_EQ(m.case_temperature_max_c, std::nullopt);
    EXPECT_EQ(m.case_temperature_min_c, std::nullopt);
    EXPECT_THAT(m.warnings, Contains(HasSubstr("temperatures of its case")));
  }
}

}  // namespace
}  // namespace linkhealth
