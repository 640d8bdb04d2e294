// Pages that the plan reads in part are screened as whole ones are: what is known of a module must not depend on how
// much of a page was read.
#include <gmock/gmock.h>

#include "probes/module/decode.h"
#include "probes/module/screen.h"
#include "tests/probes/module/planned_reads.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr ModulePageKey kA2{kModuleAddressA2, 0, 0, false};

ModulePageKey page_of_a0(std::uint8_t page) { return {kModuleAddressA0, 0, page, true}; }

/// With everything that the plan reads of a CMIS module: three groups of VDM, tunable, coherent.
EepromBuilder coherent_module() {
  auto b = EepromBuilder::cmis();
  b.page(0x01).byte(142, 0x74).byte(155, 0x40);
  b.page(0x10).byte(130, 0x00);
  b.page(0x12).byte(231, 0x00);
  b.page(0x13).byte(128, 0x30).byte(180, 0x00);
  b.page(0x2f).byte(128, 0x02);
  for (const std::uint8_t page : {std::uint8_t{0x20}, std::uint8_t{0x21}, std::uint8_t{0x22}}) {
    b.page(page).byte(128, 0x00).byte(129, page == 0x20 ? 5 : 9);
    b.page(static_cast<std::uint8_t>(page + 4)).u16(128, 0x1600);
    b.page(static_cast<std::uint8_t>(page + 8)).limits(128, 0x3000, 0x1000, 0x2800, 0x1200);
  }
  b.page(0x2c).byte(128, 0x00);
  b.page(0x34).byte(128, 0x00);
  b.page(0x35).byte(129, 0x01);
  return b;
}

EepromBuilder qsfp_with_parameters() {
  auto b = EepromBuilder::sff8636();
  b.lower().byte(2, 0x00);
  b.page(0x00).byte(195, 0x0b);
  b.page(0x20).u16(152, 0x1600).byte(200, 0x10).byte(201, 0x05);
  b.page(0x21).limits(128, 0x3000, 0x1000, 0x2800, 0x1200);
  return b;
}

EepromBuilder tunable_sfp() {
  auto b = EepromBuilder::sff8472();
  b.lower().byte(65, 0x5a);
  b.a2_tunable().byte(128, 0x02).u16(144, 12);
  return b;
}

void put_half(ModuleImage& image, const ModulePageKey& key, std::span<const std::uint8_t> half) {
  image.store({key.i2c_address, key.bank, key.page, static_cast<std::uint8_t>(key.upper ? 128 : 0), 128}, half);
}

void fill_half(ModuleImage& image, const ModulePageKey& key, std::uint8_t value) {
  put_half(image, key, std::vector<std::uint8_t>(128, value));
}

struct PartCase {
  std::string_view name;
  EepromBuilder (*module)();
  ModulePageKey key;
};
const PartCase kParts[] = {
    {"A2h", EepromBuilder::sff8472, kA2},
    {"A2h page 02h", tunable_sfp, kTunablePage},
    {"SFF-8636 20h", qsfp_with_parameters, page_of_a0(0x20)},
    {"10h", coherent_module, page_of_a0(0x10)},
    {"12h", coherent_module, page_of_a0(0x12)},
    {"13h", coherent_module, page_of_a0(0x13)},
    {"2Ch", coherent_module, page_of_a0(0x2c)},
    {"2Fh", coherent_module, page_of_a0(0x2f)},
    {"34h", coherent_module, page_of_a0(0x34)},
    {"35h", coherent_module, page_of_a0(0x35)},
};

/// In the first round and in one that follows on it.
void expect_left_out(const PartCase& part, const ModuleImage& memory, std::string_view why) {
  const ModuleSample whole = decode_module(memory);
  ASSERT_THAT(whole.warnings, Contains(HasSubstr(std::string(why)))) << part.name;
  for (const int rounds : {1, 2}) {
    const ModuleImage image = as_read(memory, rounds);
    EXPECT_FALSE(image.whole(part.key)) << part.name << " is no part";
    EXPECT_FALSE(ModulePage(screened(image, nullptr), part.key).exists()) << part.name;
    EXPECT_EQ(decode_module(image).warnings, whole.warnings) << part.name;
    EXPECT_TRUE(decode_module(image) == whole) << part.name << " is decoded, " << rounds << " rounds";
  }
}

TEST(ScreenParts, AGoodModuleIsTheSameReadInPart) {
  for (const PartCase& part : kParts) {
    const ModuleImage memory = part.module().image();
    const ModuleImage image = as_read(memory);
    EXPECT_TRUE(ModulePage(screened(image, nullptr), part.key).exists()) << part.name;
    EXPECT_TRUE(decode_module(image) == decode_module(memory)) << part.name;
  }
}

TEST(ScreenParts, OnesAreLeftOut) {
  for (const PartCase& part : kParts) {
    ModuleImage memory = part.module().image();
    fill_half(memory, part.key, 0xff);
    expect_left_out(part, memory, "is all ones: nobody answered: left out");
  }
}

TEST(ScreenParts, ACopyOfPage00hIsLeftOut) {
  for (const PartCase& part : kParts) {
    if (part.key.i2c_address != kModuleAddressA0) continue;  // an SFP's page 00h is another device's
    ModuleImage memory = part.module().image();
    put_half(memory, part.key, *memory.whole(page_of_a0(0x00)));
    expect_left_out(part, memory, "is a copy of page 00h: the module does not have it: left out");
  }
}

TEST(ScreenParts, AnSfpsMonitorsThatAreZerosAreLeftOut) {
  ModuleImage memory = EepromBuilder::sff8472().image();
  fill_half(memory, kA2, 0x00);
  expect_left_out(kParts[0], memory, "A2h is all zeros: left out");
}

/// Controls that nobody has set, no flag, no test.
TEST(ScreenParts, ZerosThatMeanSomethingAreKept) {
  constexpr std::uint8_t kMayBeZeros[] = {0x10, 0x12, 0x13, 0x2c, 0x34, 0x35};
  for (const std::uint8_t page : kMayBeZeros) {
    ModuleImage memory = coherent_module().image();
    fill_half(memory, page_of_a0(page), 0x00);
    const ModuleImage image = as_read(memory);
    EXPECT_TRUE(ModulePage(screened(image, nullptr), page_of_a0(page)).exists()) << unsigned{page};
    EXPECT_TRUE(decode_module(image) == decode_module(memory)) << unsigned{page};
  }
}

/// A maker that has not written its name: zeros or blanks that are the same on another page are no copy.
TEST(ScreenParts, ANamelessModulesControlsAreNoCopyOfItsPage00h) {
  for (const unsigned blank : {0x00U, 0x20U}) {
    auto b = coherent_module();
    b.page(0x00).fill(129, 16, blank);
    b.page(0x10).byte(128, 0x18).fill(129, 16, blank);  // two lanes are switched off, as the identifier's bits
    const ModuleImage image = as_read(b.image());
    EXPECT_TRUE(upper_page(screened(image, nullptr), 0x10).exists()) << blank;
    EXPECT_THAT(decode_module(image).warnings, Not(Contains(HasSubstr("copy")))) << blank;
  }
}

/// One byte of 13h says whether lanes are looped one by one, and all of them may be.
TEST(ScreenParts, AFewBytesAreTooShortToBeJudged) {
  auto b = coherent_module();
  b.page(0x13).byte(128, 0xff);
  ModuleImage image;
  read_all(b.image(), image, ReadScope::kIdentity);
  EXPECT_EQ(upper_page(screened(image, nullptr), 0x13).byte(128), 0xff);
  EXPECT_FALSE(identity_is_doubtful(image));
}

}  // namespace
}  // namespace linkhealth
