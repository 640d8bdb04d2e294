// CMIS 5.4 8.14.8: which fibre carries a lane.
#include <gmock/gmock.h>

#include "probes/module/decode.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Numbers = std::vector<std::optional<std::uint32_t>>;

ModuleSample decode(const EepromBuilder& b) { return decode_module(b.image()); }

Numbers of(const ModuleSample& m, std::optional<std::uint32_t> ModuleLane::*field) {
  Numbers out;
  for (const ModuleLane& lane : m.lanes) out.push_back(lane.*field);
  return out;
}

/// 400G-DR4 with four lanes; the bytes of lanes 1 to 4, sent and received.
EepromBuilder with_map(std::array<unsigned, 4> tx, std::array<unsigned, 4> rx) {
  auto b = EepromBuilder::cmis();
  b.page(0x11);
  for (unsigned i = 0; i < 4; ++i) b.byte(240 + i, tx.at(i)).byte(248 + i, rx.at(i));
  return b;
}

TEST(CmisFibres, OfParallelLanesAreTheFibresAndNoWavelengths) {
  const ModuleSample m = decode(with_map({0x11, 0x22, 0x33, 0x44}, {0x14, 0x13, 0x12, 0x11}));
  EXPECT_THAT(of(m, &ModuleLane::tx_fibre), ElementsAre(1U, 2U, 3U, 4U));
  EXPECT_THAT(of(m, &ModuleLane::rx_fibre), ElementsAre(4U, 3U, 2U, 1U));
  EXPECT_EQ(m.lanes[1].tx_wavelength, std::nullopt) << "each fibre has but one";
  EXPECT_EQ(m.lanes[1].rx_wavelength, std::nullopt);
  EXPECT_THAT(m.warnings, IsEmpty());
}

TEST(CmisFibres, OfLanesThatShareAFibreTheWavelengthsAreSaidToo) {
  const ModuleSample m = decode(with_map({0x11, 0x21, 0x31, 0x41}, {0x12, 0x22, 0x11, 0x21}));
  EXPECT_THAT(of(m, &ModuleLane::tx_fibre), ElementsAre(1U, 1U, 1U, 1U));
  EXPECT_THAT(of(m, &ModuleLane::tx_wavelength), ElementsAre(1U, 2U, 3U, 4U));
  EXPECT_THAT(of(m, &ModuleLane::rx_fibre), ElementsAre(2U, 2U, 1U, 1U));
  EXPECT_THAT(of(m, &ModuleLane::rx_wavelength), ElementsAre(1U, 2U, 1U, 2U));
}

TEST(CmisFibres, OfWhichNothingIsSaidAreNone) {
  const ModuleSample none = decode(EepromBuilder::cmis());
  EXPECT_THAT(of(none, &ModuleLane::tx_fibre),
              ElementsAre(std::nullopt, std::nullopt, std::nullopt, std::nullopt));
  EXPECT_THAT(none.warnings, IsEmpty());
  const ModuleSample alone = decode(with_map({0x01, 0x01, 0x01, 0x01}, {0x10, 0x20, 0x30, 0x40}));
  EXPECT_THAT(of(alone, &ModuleLane::tx_fibre), ElementsAre(1U, 1U, 1U, 1U))
      << "which wavelength is not said";
  EXPECT_EQ(alone.lanes[0].tx_wavelength, std::nullopt);
  EXPECT_THAT(alone.warnings, IsEmpty());
  const ModuleSample part = decode(with_map({0x01, 0x00, 0x30, 0x04}, {0, 0, 0, 0}));
  EXPECT_THAT(of(part, &ModuleLane::tx_fibre), ElementsAre(1U, std::nullopt, std::nullopt, 4U));
}

/// Two lanes at one place, and numbers that are reserved: then nothing of that direction is
/// believed.
TEST(CmisFibres, ThatCannotBeTrueAreLeftOutWithAWord) {
  for (const auto& bad : {std::array<unsigned, 4>{0x11, 0x12, 0x12, 0x14},
                          {0x11, 0x12, 0x13, 0x19},
                          {0x91, 0x12, 0x13, 0x14},
                          {0xff, 0xff, 0xff, 0xff}}) {
    const ModuleSample m = decode(with_map(bad, {0x11, 0x12, 0x13, 0x14}));
    EXPECT_EQ(m.lanes[0].tx_fibre, std::nullopt);
    EXPECT_EQ(m.lanes[3].rx_fibre, 4U);
    EXPECT_THAT(m.warnings, ElementsAre("which fibre a lane sends on cannot be true: left out"));
  }
}

TEST(CmisFibres, OfLanesThatAreNotThereAreNotRead) {
  auto b = with_map({0x11, 0x12, 0x13, 0x14}, {0x11, 0x12, 0x13, 0x14});
  b.byte(244, 0x11).byte(252, 0xff);
  EXPECT_EQ(decode(b).lanes[3].rx_fibre, 4U);
  b.page(0).byte(210, 0x08);
  EXPECT_EQ(decode(b).lanes[3], ModuleLane{});
}

/// The numbers end at eight.
TEST(CmisFibres, OfSeveralBanksAreNotRead) {
  auto b = with_map({0x11, 0x12, 0x13, 0x14}, {0x11, 0x12, 0x13, 0x14});
  b.page(1).byte(142, 0x05);
  EXPECT_EQ(decode(b).lanes[0].tx_fibre, std::nullopt);
}

}  // namespace
}  // namespace linkhealth
