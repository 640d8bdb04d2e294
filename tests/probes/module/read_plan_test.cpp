#include "probes/module/read_plan.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "probes/module/decode.h"
#include "tests/probes/module/planned_reads.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

std::vector<ModulePageKey> first_round(const EepromBuilder& b) {
  ModuleImage image;
  return read_all(b.image(), image);
}
std::vector<ModulePageKey> second_round(const EepromBuilder& b) {
  ModuleImage image;
  read_all(b.image(), image);
  EXPECT_TRUE(next_reads(image).empty()) << "nothing twice";
  image = without_monitors(image);
  return read_all(b.image(), image);
}
bool has(const std::vector<ModulePageKey>& made, const ModulePageKey& key) {
  return std::ranges::find(made, key) != made.end();
}

TEST(ReadPlan, AnEmptyCageIsReadOnce) {
  EXPECT_THAT(next_reads(ModuleImage{}), ElementsAre(kLowerPage));
  ModuleImage nothing, floating, bus;
  EXPECT_EQ(read_all(ModuleImage{}, nothing).size(), 1U);
  bus.store(request_of(kLowerPage), std::vector<std::uint8_t>(128, 0xff));
  EXPECT_EQ(read_all(bus, floating).size(), 1U);
}

TEST(ReadPlan, ConstantPagesAreReadOnce) {
  auto cmis = EepromBuilder::cmis_with_vdm({{0, 5, 0x1600}});
  cmis.page(1).byte(142, 0x64);
  cmis.page(0x13).byte(128, 0x30);
  EXPECT_THAT(first_round(cmis),
              UnorderedElementsAre(kLowerPage, upper_key(0x00), upper_key(0x01), upper_key(0x02),
                                   upper_key(0x10), upper_key(0x11), upper_key(0x13),
                                   upper_key(0x20), upper_key(0x24), upper_key(0x2f)));
  EXPECT_THAT(second_round(cmis),
              UnorderedElementsAre(kLowerPage, upper_key(0x10), upper_key(0x11), upper_key(0x13),
                                   upper_key(0x24), upper_key(0x2f)));
  auto qsfp = EepromBuilder::sff8636();
  qsfp.lower().byte(2, 0);
  EXPECT_THAT(first_round(qsfp), ElementsAre(kLowerPage, upper_key(0x00), upper_key(0x03)));
  EXPECT_THAT(second_round(qsfp), ElementsAre(kLowerPage));
  EXPECT_THAT(first_round(EepromBuilder::sff8472()), ElementsAre(kLowerPage, kA2Page));
  EXPECT_THAT(second_round(EepromBuilder::sff8472()), ElementsAre(kA2Page));
}

TEST(ReadPlan, AbsentPagesAreNotRead) {
  auto flat = EepromBuilder::cmis();
  flat.lower().byte(2, 0x80);
  EXPECT_THAT(first_round(flat), ElementsAre(kLowerPage, upper_key(0x00)));
  auto flat_qsfp = EepromBuilder::sff8636();
  flat_qsfp.lower().byte(2, 0x04);
  EXPECT_THAT(first_round(flat_qsfp), ElementsAre(kLowerPage, upper_key(0x00)));
  auto copper = EepromBuilder::sff8636();
  copper.page(0).byte(147, 0xa0);
  EXPECT_THAT(first_round(copper), ElementsAre(kLowerPage, upper_key(0x00)));
  for (const unsigned type : {0x00U, 0x6cU}) {  // no monitors; address change required
    auto none = EepromBuilder::sff8472();
    none.lower().byte(92, type);
    EXPECT_THAT(first_round(none), ElementsAre(kLowerPage));
  }
}

TEST(ReadPlan, VdmOnlyWhereAdvertisedAndUsed) {
  auto b = EepromBuilder::cmis_with_vdm({{0, 5, 0x1600}});
  b.page(0x2f).byte(128, 0x01);
  b.page(0x21).byte(128, 0);
  const auto made = first_round(b);
  EXPECT_TRUE(has(made, upper_key(0x24)));
  EXPECT_TRUE(has(made, upper_key(0x21)));
  EXPECT_FALSE(has(made, upper_key(0x25))) << "group 2 has no descriptor";
  EXPECT_FALSE(has(made, upper_key(0x22)));
  ModuleImage copy = b.image();
  copy.store(request_of(upper_key(0x2f)), *copy.whole(upper_key(0)));
  ModuleImage image;
  EXPECT_FALSE(has(read_all(copy, image), upper_key(0x20))) << "2Fh is a copy of page 00h";
}

TEST(ReadPlan, EveryBankOfLanes) {
  auto b = EepromBuilder::cmis();
  b.co_packaged();
  b.page(1).byte(142, 0x06);
  const auto made = first_round(b);
  for (std::uint8_t bank = 0; bank < 4; ++bank) EXPECT_TRUE(has(made, upper_key(0x11, bank)));
  EXPECT_FALSE(has(made, upper_key(0x11, 4)));
}

TEST(ReadPlan, AMissingPageIsNotReadAgain) {
  auto b = EepromBuilder::cmis();
  b.without(0x10);
  EXPECT_TRUE(has(first_round(b), upper_key(0x10)));
  EXPECT_FALSE(has(second_round(b), upper_key(0x10)));
}

TEST(ReadPlan, TheIdentityIsPartAndSerialNumber) {
  EXPECT_FALSE(identity_request(ModuleImage{}));
  const auto holds = [](const ModuleImage& image, unsigned first, unsigned last) {
    const auto request = identity_request(image);
    return request && request->length <= 48 && request->offset <= first &&
           request->offset + request->length > last;
  };
  EXPECT_TRUE(holds(EepromBuilder::cmis().image(), 148, 181));
  EXPECT_TRUE(holds(EepromBuilder::sff8636().image(), 168, 211));
  EXPECT_TRUE(holds(EepromBuilder::sff8472().image(), 40, 83));
  ModuleImage unread;
  unread.store(request_of(kLowerPage), std::vector<std::uint8_t>(128, 0x11));
  EXPECT_EQ(identity_request(unread), (ModulePageRequest{kModuleAddressA0, 0, 0, 0, 2}));
}

// --- random bytes: the plan ends, the decoders are total, and no number leaves its bounds

void check(const ModuleSample& m) {
  EXPECT_TRUE(!m.temperature_c || (*m.temperature_c >= -60 && *m.temperature_c <= 150));
  EXPECT_TRUE(!m.supply_v || (*m.supply_v >= 2 && *m.supply_v <= 4.5));
  EXPECT_TRUE(m.kind != "dac" || m.lanes.empty());
  for (const ModuleLane& lane : m.lanes)
    for (const auto& value : {lane.rx_power_mw, lane.tx_power_mw, lane.tx_bias_ma})
      EXPECT_TRUE(!value || (m.kind != "acc" && std::isfinite(*value) && *value >= 0));
  for (const char c : m.vendor + m.serial + m.part_number) EXPECT_TRUE(c >= 0x20 && c <= 0x7e);
}

TEST(RandomModules, StayInBounds) {
  std::mt19937 random(20261121);
  constexpr std::uint8_t kIdentifiers[] = {0x03, 0x11, 0x18, 0x0d, 0x00, 0xff, 0x80, 0x1a};
  for (int run = 0; run < 2000; ++run) {
    ModuleImage image;
    int rounds = 0;
    for (auto batch = next_reads(image); !batch.empty(); batch = next_reads(image)) {
      ASSERT_LT(++rounds, 20);
      for (const ModulePageKey& key : batch) {
        ASSERT_TRUE(is_valid(request_of(key)));
        std::vector<std::uint8_t> bytes(random() % 8 == 0 ? random() % 128 : 128);
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
        if (key == kLowerPage && !bytes.empty())
          bytes[0] = kIdentifiers[static_cast<std::size_t>(run) % 8];
        image.store(request_of(key), bytes);
      }
    }
    check(decode_module(image));
  }
}

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

TEST(ModuleImage, AnEmptyAnswerIsAnAnswer) {
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
  ModuleImage image;
  const std::uint8_t bytes[200] = {};
  image.store({kModuleAddressA0, 0, 0, 100, 200}, bytes);
  EXPECT_TRUE(image.empty());
}

}  // namespace
}  // namespace linkhealth
