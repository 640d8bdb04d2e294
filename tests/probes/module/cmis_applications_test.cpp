// CMIS: which lanes a module has, and of what kind, where its host lanes run one application or
// several.
#include <gmock/gmock.h>

#include "probes/module/decode.h"
#include "probes/module/screen.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

using ::testing::IsEmpty;

ModuleSample decode(const EepromBuilder& b) { return decode_module(b.image()); }

/// Host lanes 1 to 4 carry a 400G-DR4, 5 to 8 a 100G-DR each. `starts`: where the first application
/// could begin.
EepromBuilder mixed(unsigned starts) {
  auto b = EepromBuilder::cmis();
  b.lower().byte(86, 0x4f).byte(87, 0x1c).byte(88, 0x44).byte(89, starts);
  b.byte(90, 0x4b).byte(91, 0x14).byte(92, 0x11).byte(93, 0xff).byte(94, 0xff);
  b.page(1).byte(176, starts).byte(177, 0xff);
  b.page(0x11)
      .fill(206, 4, 0x10)
      .byte(210, 0x28)
      .byte(211, 0x2a)
      .byte(212, 0x2c)
      .byte(213, 0x2e)
      .byte(147, 0xf0);
  for (unsigned lane = 4; lane < 8; ++lane) b.u16(186 + 2 * lane, 100);
  return b;
}

TEST(CmisApplications, LanesOfASecondApplicationAreLanesOfTheModule) {
  for (const unsigned starts : {0x01U, 0x11U}) {
    const ModuleSample m = decode(mixed(starts));
    EXPECT_EQ(m.media_lane_count, 8U);
    ASSERT_EQ(m.lanes.size(), 8U);
    ASSERT_EQ(m.host_lanes.size(), 8U);
    EXPECT_EQ(m.lanes[3].rx_los, false);
    EXPECT_EQ(m.lanes[7].rx_los, true);
    EXPECT_EQ(m.lanes[7].rx_power_mw, 0.01);
    EXPECT_THAT(m.warnings, IsEmpty());
  }
}

/// The count stands before each: a reader of "400G-DR4 + …" would take all of it for one port of
/// 400 Gb/s.
TEST(CmisApplications, SeveralAreNamedWithHowManyOfEachThereAre) {
  for (const unsigned starts : {0x01U, 0x11U}) {
    const ModuleSample m = decode(mixed(starts));
    EXPECT_EQ(m.type, "1x400G-DR4 + 4x100G-DR");
  }
}

/// CMIS 5.4 table 8-58: 01h:174 has the banks beside bank 0 in its lower five bits; the others
/// advertise pages.
TEST(CmisApplications, MoreBanksThanFourAreCountedByTheirOwnByte) {
  for (const auto& [byte, banks] :
       {std::pair(0x00U, 1), {0x01U, 2}, {0x03U, 4}, {0x07U, 8}, {0x23U, 4}, {0xe7U, 8}}) {
    auto b = EepromBuilder::cmis();
    b.page(1).byte(142, 0x07).byte(174, byte);
    EXPECT_EQ(cmis_bank_count(b.image()), banks) << byte;
  }
}

TEST(CmisApplications, TheFirstLaneInUseMayBeAnyLane) {
  auto b = mixed(0x01);
  b.page(0x11).fill(206, 4, 0x00);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.type, "8x100G-DR") << "as the module would carry it on all its lanes";
  EXPECT_EQ(m.lanes.size(), 8U);
}

/// A data path that begins in the second half has its lanes there, not in the first.
TEST(CmisApplications, LanesAreCountedUpToTheLastThatCanBeUsed) {
  auto b = mixed(0x10);
  b.lower().byte(90, 0xff);
  b.page(0x11).fill(206, 4, 0x00).fill(210, 4, 0x10);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.type, "400G-DR4");
  ASSERT_EQ(m.host_lanes.size(), 8U);
  EXPECT_EQ(m.host_lanes[7].in_use, true);
  ASSERT_EQ(m.lanes.size(), 8U);
  EXPECT_EQ(m.lanes[0], ModuleLane{}) << "nothing runs on it";
  EXPECT_EQ(m.lanes[7].rx_los, true);
}

/// Media lane 5 stands behind host lane 7 alone, and 1 to 4 behind two host lanes less than that
/// each.
TEST(CmisApplications, TheHostsSignalIsThatOfTheDataPath) {
  auto b = EepromBuilder::cmis();
  b.lower().byte(86, 0x4d).byte(87, 0x76).byte(88, 0x42).byte(
      89, 0x01);  // four host lanes, two of light
  b.byte(90, 0x4b).byte(91, 0x14).byte(92, 0x11).byte(93, 0xf0).byte(94, 0xff);  // one and one
  b.page(1).byte(176, 0x01).byte(177, 0x3c);
  b.page(0x11)
      .fill(206, 4, 0x10)
      .fill(210, 4, 0x20)
      .byte(136, 0x44);  // host lanes 3 and 7 have no signal
  const ModuleSample m = decode(b);
  ASSERT_EQ(m.lanes.size(), 6U);
  EXPECT_EQ(m.host_lanes.size(), 8U);
  constexpr bool kLost[] = {false, true, false, false, true, false};
  for (std::size_t lane = 0; lane < 6; ++lane)
    EXPECT_EQ(m.lanes[lane].tx_los, kLost[lane]) << lane + 1;
}

TEST(CmisApplications, AnotherBankMayRunAnotherApplication) {
  auto b = mixed(0x11);
  b.page(1).byte(142, 0x05);
  b.page(0x11).fill(206, 8, 0x10);
  b.page(0x11, 1).fill(128, 4, 0x44).fill(206, 8, 0x20).u16(186, 1234);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.type, "2x400G-DR4 + 8x100G-DR");
  EXPECT_EQ(m.host_lanes.size(), 16U);
  ASSERT_EQ(m.lanes.size(), 16U);
  EXPECT_DOUBLE_EQ(m.lanes[8].rx_power_mw.value_or(0), 0.1234);
}

/// Half of each bank: the lanes of the second begin at the ninth all the same.
TEST(CmisApplications, NoBankIsCutOffBehindLanesThatAreNotUsed) {
  auto b = mixed(0x01);
  b.lower().byte(90, 0xff);
  b.page(1).byte(142, 0x05);
  b.page(0x11).fill(210, 4, 0);
  b.page(0x11, 1).fill(128, 4, 0x44).fill(206, 4, 0x10).byte(136, 0x08).u16(186, 1234);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.type, "2x400G-DR4");
  ASSERT_EQ(m.host_lanes.size(), 12U);
  ASSERT_EQ(m.lanes.size(), 8U);
  EXPECT_DOUBLE_EQ(m.lanes[4].rx_power_mw.value_or(0), 0.1234);
  EXPECT_EQ(m.lanes[7].tx_los, true);
  EXPECT_EQ(m.lanes[3].tx_los, false);
}

}  // namespace
}  // namespace linkhealth
