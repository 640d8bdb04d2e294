// Pages that are removed though their read succeeded, and which of them are reported.
#include "probes/module/screen.h"

#include <array>

#include "tests/probes/module/decoded.h"
#include "tests/probes/module/planned_reads.h"

namespace linkhealth {
namespace {

void put(ModuleImage& image, const ModulePageKey& key, std::span<const std::uint8_t> half) {
  image.store(request_of(key), half);
}
void fill(ModuleImage& image, const ModulePageKey& key, std::uint8_t value) {
  put(image, key, std::vector<std::uint8_t>(128, value));
}

/// With every page that is read of a CMIS module.
EepromBuilder cmis_with_all() {
  auto b = EepromBuilder::cmis_with_vdm({{0, 5, 0x1600}});
  b.page(0x01).byte(142, 0x64);
  b.page(0x13).byte(128, 0x30);
  return b;
}

struct PageCase {
  std::string_view name;
  EepromBuilder (*module)();
  ModulePageKey key;
};
const PageCase kPages[] = {
    {"A2h", EepromBuilder::sff8472, kA2Page},
    {"SFF-8636 03h", EepromBuilder::sff8636, upper_key(0x03)},
    {"10h", cmis_with_all, upper_key(0x10)},
    {"11h", cmis_with_all, upper_key(0x11)},
    {"13h", cmis_with_all, upper_key(0x13)},
    {"24h", cmis_with_all, upper_key(0x24)},
    {"2Fh", cmis_with_all, upper_key(0x2f)},
};

/// In a dump, in the first round of reads and in one that follows on it.
void expect_left_out(const PageCase& page, const ModuleImage& memory, std::string_view why) {
  for (const ModuleImage& image : {memory, as_read(memory, 1), as_read(memory, 2)}) {
    EXPECT_EQ(screened(image, nullptr).half(page.key), nullptr) << page.name;
    EXPECT_THAT(decode_module(image).warnings, Contains(HasSubstr(std::string(why)))) << page.name;
  }
}

TEST(Screen, OnesAreLeftOut) {
  for (const PageCase& page : kPages) {
    ModuleImage memory = page.module().image();
    EXPECT_NE(screened(memory, nullptr).half(page.key), nullptr) << page.name;
    fill(memory, page.key, 0xff);
    expect_left_out(page, memory, "is all ones: no answer: left out");
  }
}

TEST(Screen, ACopyOfPage00hIsLeftOut) {
  for (const PageCase& page : kPages) {
    if (page.key.i2c_address != kModuleAddressA0) continue;
    ModuleImage memory = page.module().image();
    put(memory, page.key, *memory.whole(upper_key(0x00)));
    expect_left_out(page, memory, "is a copy of page 00h: the module does not have it: left out");
  }
}

// --- A2h

ModuleImage sfp_with_a2(std::span<const std::uint8_t> half) {
  ModuleImage memory = EepromBuilder::sff8472().image();
  put(memory, kA2Page, half);
  return memory;
}

TEST(Screen, AnA2hThatIsA0hIsLeftOut) {
  const ModuleImage own = EepromBuilder::sff8472().image();
  const auto a0 = *own.whole(kLowerPage);
  std::vector<std::uint8_t> half(a0.begin(), a0.end());
  expect_left_out(kPages[0], sfp_with_a2(half), "A2h is a copy of A0h");
  for (std::size_t at = 96; at < 128; ++at) half[at] = static_cast<std::uint8_t>(at * 37);
  expect_left_out(kPages[0], sfp_with_a2(half), "A2h is a copy of A0h");
  // The A0h of another cage: another maker and serial number.
  auto other = EepromBuilder::sff8472();
  other.lower().text(20, 16, "ANOTHER").text(68, 16, "Z9").byte(18, 7);
  const ModuleImage theirs = other.image();
  expect_left_out(kPages[0], sfp_with_a2(*theirs.whole(kLowerPage)), "A2h is an A0h");
}

/// A bus that floats reads ones of which some are lost.
TEST(Screen, AnA2hThatDisprovesItselfIsLeftOut) {
  for (unsigned seed = 1; seed < 200; ++seed) {
    std::vector<std::uint8_t> half(128, 0xff);
    unsigned state = seed;
    for (std::uint8_t& byte : half) {
      state = state * 1103515245U + 12345U;
      if ((state >> 16U) % 3 == 0)
        byte = static_cast<std::uint8_t>(0xff - (1U << (state >> 20U) % 4));
    }
    half[98] = 0xfe;  // a supply of 6.5 V
    half[95] = 0;     // of no such page the sum
    expect_left_out(kPages[0], sfp_with_a2(half),
                    "A2h has a wrong checksum, impossible limits and impossible readings");
  }
}

/// Rebranded and cheap modules: one thing alone is wrong.
TEST(Screen, AnA2hWithOneFaultIsBelieved) {
  auto b = EepromBuilder::sff8472();
  b.a2().byte(60, 0x55);
  EXPECT_NE(screened(b.image(false), nullptr).half(kA2Page), nullptr) << "a wrong checksum";
  auto blank = EepromBuilder::sff8472();
  blank.a2().fill(0, 40, 0).byte(60, 0x55);
  EXPECT_NE(screened(blank.image(false), nullptr).half(kA2Page), nullptr)
      << "… without limits, its readings possible";
  auto no_supply = EepromBuilder::sff8472();
  no_supply.a2().u16(98, 0).byte(60, 0x55);
  EXPECT_NE(screened(no_supply.image(false), nullptr).half(kA2Page), nullptr)
      << "… without a supply, its limits possible";
}

// --- who it is

TEST(Screen, AnIdentityWithWrongSumsAndNoTextNamesNothing) {
  auto sfp = EepromBuilder::sff8472();
  sfp.lower().fill(20, 16, 0x9c).fill(40, 16, 0).fill(68, 16, 0x01).byte(6, 0x08);
  const ModuleSample m = decode_module(sfp.image(false));
  EXPECT_EQ(m.kind, "unknown");
  EXPECT_EQ(m.type, "");
  EXPECT_FALSE(m.max_power_w);
  EXPECT_FALSE(m.reach_m);
  EXPECT_THAT(m.warnings, Contains(HasSubstr("A0h has wrong checksums and no text")));
  auto qsfp = EepromBuilder::sff8636();
  qsfp.page(0).fill(148, 16, 0x91).fill(168, 16, 0xff).fill(196, 16, 0x02);
  EXPECT_EQ(decode_module(qsfp.image(false)).kind, "unknown");
  auto cmis = EepromBuilder::cmis();
  cmis.page(0).fill(129, 16, 0xe0).fill(148, 16, 0).fill(166, 16, 0x03).byte(222, 0x77);
  EXPECT_EQ(decode_module(cmis.image(false)).kind, "unknown");
}

TEST(Screen, AnIdentityWithOneRightSumOrATextIsBelieved) {
  auto text = EepromBuilder::sff8472();
  text.lower().byte(63, 0x55).byte(95, 0x55);
  EXPECT_EQ(decode_module(text.image(false)).kind, "optical") << "rebranded";
  auto blank = EepromBuilder::sff8472();
  blank.lower().fill(20, 16, 0x20).fill(40, 16, 0x20).fill(68, 16, 0x20);
  EXPECT_EQ(decode_module(blank.image()).kind, "optical") << "no name, sums right";
}

/// Controls that are not set, no loopback: zeros by right.
TEST(Screen, ZerosAreLeftOutWhereTheyAreInvalid) {
  ModuleImage sfp = EepromBuilder::sff8472().image();
  fill(sfp, kA2Page, 0x00);
  expect_left_out(kPages[0], sfp, "A2h is all zeros: left out");
  for (const std::uint8_t page : {std::uint8_t{0x10}, std::uint8_t{0x13}, std::uint8_t{0x24}}) {
    ModuleImage memory = cmis_with_all().image();
    fill(memory, upper_key(page), 0x00);
    EXPECT_NE(screened(memory, nullptr).half(upper_key(page)), nullptr) << unsigned{page};
  }
}

/// A vendor that has not written its name: zeros or blanks that are the same on another page are no
/// copy.
TEST(Screen, BlankNamesMakeNoCopyOfPage00h) {
  for (const unsigned blank : {0x00U, 0x20U}) {
    auto b = cmis_with_all();
    b.page(0x00).fill(129, 93, blank);
    b.page(0x10).byte(128, 0x18).fill(129, 93, blank);
    EXPECT_THAT(decode_module(b.image()).warnings, Not(Contains(HasSubstr("copy")))) << blank;
  }
}

/// The lower page as it was when `page` was selected.
ModuleImage with_copy_of_lower(std::uint8_t page) {
  ModuleImage memory = cmis_with_all().image();
  const auto lower = *memory.whole(kLowerPage);
  std::vector<std::uint8_t> copy(lower.begin(), lower.end());
  copy[14] = 0x30;  // it was colder, and a flag was set
  copy[9] = 0x02;
  copy[127] = page;
  put(memory, upper_key(page), copy);
  return memory;
}

TEST(Screen, ACopyOfTheLowerPageIsLeftOut) {
  expect_left_out({"24h", cmis_with_all, upper_key(0x24)}, with_copy_of_lower(0x24),
                  "page 24h is a copy of the lower page: left out");
  // The identifier, the revision, the media type, the first application, the page's own number.
  for (const unsigned changed : {0U, 1U, 85U, 86U, 89U, 127U}) {
    ModuleImage memory = with_copy_of_lower(0x24);
    memory.store({kModuleAddressA0, 0, 0x24, static_cast<std::uint8_t>(128 + changed), 1},
                 std::array{std::uint8_t{7}});
    EXPECT_NE(screened(memory, nullptr).half(upper_key(0x24)), nullptr) << changed;
  }
}

TEST(Screen, AFewBytesProveNothing) {
  ModuleImage memory = cmis_with_all().image();
  memory.forget(upper_key(0x13));
  memory.store({kModuleAddressA0, 0, 0x13, 128, 8}, std::vector<std::uint8_t>(8, 0xff));
  EXPECT_NE(screened(memory, nullptr).half(upper_key(0x13)), nullptr);
}

/// Pages of applications and of the user are empty in most modules: they are not decoded.
TEST(Screen, EmptyPagesThatAreNotDecodedAreNotReported) {
  ModuleImage qsfp = EepromBuilder::sff8636().image();
  fill(qsfp, upper_key(0x01), 0x00);
  fill(qsfp, upper_key(0x02), 0xff);
  EXPECT_THAT(decode_module(qsfp).warnings, IsEmpty());
  fill(qsfp, upper_key(0x03), 0x00);
  EXPECT_THAT(decode_module(qsfp).warnings,
              ElementsAre("page 03h is all zeros: left out",
                          "page 03h was not read: the module's limits are not known"));
  ModuleImage sfp = EepromBuilder::sff8472().image();
  fill(sfp, {kModuleAddressA2, 0, 0, true}, 0xff);
  EXPECT_THAT(decode_module(sfp).warnings, IsEmpty());
  fill(sfp, kA2Page, 0xff);
  EXPECT_THAT(decode_module(sfp).warnings,
              ElementsAre("A2h is all ones: no answer: left out",
                          "A2h was not read: light, limits and flags are not known"));
  EepromBuilder no_monitors = EepromBuilder::sff8472();
  no_monitors.lower().byte(92, 0x00);
  ModuleImage none = no_monitors.image();
  fill(none, kA2Page, 0x00);
  EXPECT_THAT(decode_module(none).warnings, Not(Contains(HasSubstr("A2h"))));
  ModuleImage cmis = EepromBuilder::cmis().image();
  fill(cmis, upper_key(0x03), 0x00);
  EXPECT_THAT(decode_module(cmis).warnings, IsEmpty());
}

/// INF-8074's DWDM-SFP (0Bh): an SFF-8472 module where both checksums prove it.
TEST(Screen, ADwdmSfpIsAnSfpWhereItsChecksumsProveIt) {
  auto b = EepromBuilder::sff8472();
  b.lower().byte(0, 0x0b);
  const ModuleSample m = decode_module(b.image());
  EXPECT_EQ(m.form_factor, "DWDM-SFP");
  EXPECT_EQ(m.serial, "AC0001");
  EXPECT_EQ(m.lanes.size(), 1U);
  EXPECT_THAT(decode_module(b.image(false)).warnings,
              ElementsAre("DWDM-SFP: its memory map is not known"));
}

}  // namespace
}  // namespace linkhealth
