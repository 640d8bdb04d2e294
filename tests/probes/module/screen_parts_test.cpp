// Pages that the plan reads in part are screened as whole ones are: what is known of a module must
// not depend on how much of a page was read.
#include <gmock/gmock.h>

#include <array>

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
  image.store(
      {key.i2c_address, key.bank, key.page, static_cast<std::uint8_t>(key.upper ? 128 : 0), 128},
      half);
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
  const ModuleSample whole = without_test_flags(decode_module(memory));
  ASSERT_THAT(whole.warnings, Contains(HasSubstr(std::string(why)))) << part.name;
  for (const int rounds : {1, 2}) {
    const ModuleImage image = as_read(memory, rounds);
    EXPECT_FALSE(image.whole(part.key)) << part.name << " is no part";
    EXPECT_FALSE(ModulePage(screened(image, nullptr), part.key).exists()) << part.name;
    EXPECT_EQ(decode_module(image).warnings, whole.warnings) << part.name;
    EXPECT_TRUE(decode_module(image) == whole)
        << part.name << " is decoded, " << rounds << " rounds";
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
    if (part.key.i2c_address != kModuleAddressA0)
      continue;  // an SFP's page 00h is another device's
    ModuleImage memory = part.module().image();
    put_half(memory, part.key, *memory.whole(page_of_a0(0x00)));
    expect_left_out(part, memory, "is a copy of page 00h: the module does not have it: left out");
  }
}

/// The ratios of 14h, of a driver that answers every bank with bank 0.
TEST(ScreenParts, ACopyOfBank0IsLeftOut) {
  auto b = EepromBuilder::cmis();
  b.page(0x01).byte(142, 0x25);
  b.page(0x13).byte(128, 0x00).byte(183, 0x00);
  b.page(0x14).byte(128, 0x06);
  for (unsigned lane = 0; lane < 4; ++lane) b.page(0x14).u16(240 + 2 * lane, 0x0a15 + lane);
  ModuleImage memory = b.image();
  for (const std::uint8_t page : {std::uint8_t{0x11}, std::uint8_t{0x14}})
    put_half(memory, {kModuleAddressA0, 1, page, true}, *memory.whole(page_of_a0(page)));
  expect_left_out({"14h", EepromBuilder::cmis, {kModuleAddressA0, 1, 0x14, true}}, memory,
                  "page 14h of bank 1 is a copy of bank 0: the driver ignores the bank: left out");
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

/// A maker that has not written its name: zeros or blanks that are the same on another page are no
/// copy.
TEST(ScreenParts, ANamelessModulesControlsAreNoCopyOfItsPage00h) {
  for (const unsigned blank : {0x00U, 0x20U}) {
    auto b = coherent_module();
    b.page(0x00).fill(129, 16, blank);
    b.page(0x10).byte(128, 0x18).fill(
        129, 16, blank);  // two lanes are switched off, as the identifier's bits
    const ModuleImage image = as_read(b.image());
    EXPECT_TRUE(upper_page(screened(image, nullptr), 0x10).exists()) << blank;
    EXPECT_THAT(decode_module(image).warnings, Not(Contains(HasSubstr("copy")))) << blank;
  }
}

/// The lower page as it stood when `page` was selected.
ModuleImage with_copy_of_lower(EepromBuilder b, std::uint8_t page) {
  ModuleImage memory = b.image();
  const auto lower = *memory.whole({kModuleAddressA0, 0, 0, false});
  std::vector<std::uint8_t> copy(lower.begin(), lower.end());
  copy[14] = 0x30;  // it was colder, and a flag was set
  copy[9] = 0x02;
  copy[127] = page;
  put_half(memory, page_of_a0(page), copy);
  return memory;
}

/// The plan reads three quarters of it: the page's own number is in the fourth.
TEST(ScreenParts, ACopyOfTheLowerPageIsLeftOut) {
  const ModuleImage memory = with_copy_of_lower(coherent_module(), 0x2c);
  expect_left_out({"2Ch", coherent_module, page_of_a0(0x2c)}, memory,
                  "page 2ch is a copy of the lower page: left out");
  EXPECT_TRUE(decode_module(as_read(memory)).vdm.flags.empty());
}

/// Another page's number, another module's bytes, too few bytes: then it is no copy.
TEST(ScreenParts, WhatIsNotSurelyTheLowerPageIsKept) {
  const auto is_kept = [](const ModuleImage& memory) {
    return upper_page(screened(memory, nullptr), 0x2c).exists() &&
           upper_page(screened(as_read(memory), nullptr), 0x2c).exists();
  };
  for (const unsigned changed : {0U, 1U, 85U, 86U, 89U}) {
    ModuleImage memory = with_copy_of_lower(coherent_module(), 0x2c);
    memory.store({kModuleAddressA0, 0, 0x2c, static_cast<std::uint8_t>(128 + changed), 1},
                 std::array{std::uint8_t{7}});
    EXPECT_TRUE(is_kept(memory)) << changed;
  }
  ModuleImage other = with_copy_of_lower(coherent_module(), 0x2c);
  other.store({kModuleAddressA0, 0, 0x2c, 255, 1}, std::array{std::uint8_t{0x24}});
  EXPECT_TRUE(upper_page(screened(other, nullptr), 0x2c).exists());
  auto two_groups = coherent_module();
  two_groups.page(0x2f).byte(128, 0x01);
  const ModuleImage read = as_read(with_copy_of_lower(two_groups, 0x2c));
  EXPECT_TRUE(upper_page(screened(read, nullptr), 0x2c).exists()) << "85 to 89 were not read";
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
