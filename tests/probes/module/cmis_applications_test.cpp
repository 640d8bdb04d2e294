// CMIS: which lanes a module has, and of what kind, where its host lanes run one application or
// several.
#include <initializer_list>

#include "probes/module/codes.h"
#include "probes/module/screen.h"
#include "tests/probes/module/decoded.h"

namespace linkhealth {
namespace {

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
    EXPECT_EQ(m.type, "1x400G-DR4 + 4x100G-DR") << "with the count of each";
    EXPECT_EQ(m.media_lane_count, 8U);
    ASSERT_EQ(m.lanes.size(), 8U);
    ASSERT_EQ(m.host_lanes.size(), 8U);
    EXPECT_EQ(m.lanes[3].rx_los, false);
    EXPECT_EQ(m.lanes[7].rx_los, true);
    EXPECT_EQ(m.lanes[7].rx_power_mw, 0.01);
    EXPECT_THAT(m.warnings, IsEmpty());
  }
}

/// CMIS 5.4 table 8-58: 01h:174 has the banks after bank 0 in its lower five bits; the others
/// advertise pages.
TEST(CmisApplications, MoreBanksThanFourAreCountedByTheirOwnByte) {
  for (const auto& [byte, banks] :
       {std::pair(0x00U, 1), {0x01U, 2}, {0x03U, 4}, {0x07U, 8}, {0x23U, 4}, {0xe7U, 8}}) {
    auto b = EepromBuilder::cmis();
    b.co_packaged();
    b.page(1).byte(142, 0x07).byte(174, byte);
    EXPECT_EQ(cmis_bank_count(b.image()), banks) << byte;
  }
}

/// A driver that ignores the bank repeats the first, lit or dark: OSFP has eight lanes.
TEST(CmisApplications, AFormFactorHasNoMoreLanesThanItsConnector) {
  struct Row {
    unsigned identifier, banks_code;
    int banks;
    std::size_t lanes;
  };
  for (const Row& row : {Row{0x19, 0x01, 1, 8}, Row{0x18, 0x02, 1, 8}, Row{0x21, 0x01, 2, 16},
                         Row{0x21, 0x02, 2, 16}, Row{0x1e, 0x01, 1, 4}, Row{0x1b, 0x00, 1, 2}})
    for (const unsigned light : {0U, 1U, 6000U}) {
      auto b = EepromBuilder::cmis();
      b.lower().byte(0, row.identifier).byte(86, 0x51).byte(87, 0x56).byte(88, 0x88);
      b.page(0).byte(128, row.identifier);
      b.page(1).byte(142, 0x04 | row.banks_code);
      for (const std::uint8_t bank : {std::uint8_t{0}, std::uint8_t{1}}) {
        b.page(0x11, bank).fill(128, 4, 0x44).fill(206, 8, 0x10);
        for (unsigned lane = 0; lane < 8; ++lane) b.u16(186 + 2 * lane, light + bank * light / 9);
      }
      const ModuleSample m = decode(b);
      EXPECT_EQ(cmis_bank_count(b.image()), row.banks) << row.identifier;
      EXPECT_EQ(m.lanes.size(), row.lanes) << row.identifier << " " << light;
      EXPECT_EQ(m.host_lanes.size(), row.lanes) << row.identifier << " " << light;
      EXPECT_EQ(m.media_lane_count, row.lanes) << row.identifier << " " << light;
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
TEST(CmisApplications, AMediaLanesHostSignalIsItsDataPaths) {
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
  b.co_packaged();
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
  b.co_packaged();
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

// --- lane counts that a module leaves to the interface (5.4 tables 8-22 and 8-23)

/// An optical module with one application that leaves both its numbers of lanes to the ids.
ModuleSample optical(unsigned media_type, unsigned host_id, unsigned media_id) {
  auto b = EepromBuilder::cmis();
  b.lower().byte(85, media_type).byte(86, host_id).byte(87, media_id).byte(88, 0x00).byte(89, 0x01);
  b.page(0x11).fill(206, 8, 0);  // a lane in use is one, also where the interface has fewer
  return decode(b);
}

TEST(CmisLaneCounts, AreThoseOfTheInterface) {
  struct Row {
    unsigned media_type, host_id, media_id;
    std::uint32_t media_lanes;
    const char* type;
  };
  constexpr Row kRows[] = {
      {1, 0x11, 0x1a, 8, "400G-SR4.2"},   {1, 0x51, 0x22, 8, "800G-SR4.2"},
      {1, 0x0d, 0x0b, 2, "100G-BiDi"},    {1, 0x06, 0x06, 2, "40G-BiDi"},
      {2, 0x22, 0x91, 4, "400G-DR4 LPO"}, {2, 0x11, 0x1c, 4, "400G-DR4"},
      {2, 0x11, 0x3e, 1, "400G-ZR"},
  };
  for (const Row& row : kRows) {
    const ModuleSample m = optical(row.media_type, row.host_id, row.media_id);
    EXPECT_EQ(m.type, row.type);
    EXPECT_EQ(m.media_lane_count, row.media_lanes) << row.type;
  }
}

/// The column "Lane Count" of SFF-8024 tables 4-5 to 4-7, of every code that has a name.
struct Counts {
  unsigned lanes;
  std::initializer_list<std::uint8_t> codes;
};

TEST(CmisLaneCounts, OfHostInterfacesAreThoseOfTable45) {
  const std::initializer_list<Counts> rows = {
      {1, {0x04, 0x05, 0x0a, 0x14, 0x15, 0x16, 0x18, 0x1e, 0x20, 0x46, 0x4b, 0x4c, 0x80}},
      {2, {0x08, 0x09, 0x0d, 0x1b, 0x1f, 0x21, 0x43, 0x44, 0x45, 0x47, 0x4d, 0x4e, 0x81}},
      {4,
       {0x06, 0x07, 0x0b, 0x0c, 0x0f, 0x17, 0x1a, 0x1c, 0x22, 0x41, 0x42, 0x48, 0x4f, 0x50, 0x57,
        0x82}},
      {8, {0x0e, 0x11, 0x1d, 0x23, 0x49, 0x51, 0x52, 0x58, 0x83}},
      {16, {0x10, 0x55, 0x56}},
      {0, {0x2c, 0x2d, 0x2e, 0x2f, 0x30, 0x31, 0x32, 0x74, 0xa0}},
  };
  std::size_t named = 0, counted = 0;
  for (unsigned code = 0; code < 0xff; ++code)
    if (!host_interface(static_cast<std::uint8_t>(code)).name.empty()) ++named;
  for (const Counts& row : rows)
    for (const std::uint8_t code : row.codes) {
      ++counted;
      EXPECT_EQ(host_interface(code).lanes, row.lanes) << host_interface(code).name;
    }
  EXPECT_EQ(counted, named);
}

TEST(CmisLaneCounts, OfMediaInterfacesAreThoseOfTables46To410) {
  struct Row {
    std::uint8_t media_type;
    unsigned lanes;
    std::initializer_list<std::uint8_t> codes;
  };
  const Row rows[] = {
      {1, 1, {0x02, 0x03, 0x07, 0x0d, 0x1d}},
      {1, 2, {0x06, 0x0b, 0x0c, 0x1b, 0x1e}},
      {1, 4, {0x04, 0x05, 0x09, 0x0a, 0x0e, 0x11, 0x1f}},
      {1, 8, {0x10, 0x12, 0x1a, 0x20, 0x21, 0x22}},
      {1, 10, {0x08}},
      {1, 16, {0x0f, 0x23, 0x24}},
      {2, 1, {0x04, 0x14, 0x15, 0x16, 0x3c, 0x3e, 0x44, 0x46, 0x4a, 0x4d, 0x6c, 0x73}},
      {2, 1, {0x74, 0x7c, 0x7e, 0x8f}},
      {2, 2, {0x75, 0x76, 0x90}},
      {2, 4, {0x09, 0x0d, 0x0f, 0x10, 0x11, 0x13, 0x17, 0x19, 0x1c, 0x1e, 0x34, 0x43}},
      {2, 4, {0x55, 0x6f, 0x77, 0x78, 0x79, 0x7b, 0x91}},
      {2, 8, {0x1a, 0x1b, 0x42, 0x56, 0x57, 0x7f, 0x80, 0x92}},
      {5, 4, {1, 2, 3, 4, 5, 6}},  // twisted pair: all four pairs, at any rate
      {5, 0, {7}},                 // a placeholder
  };
  for (const Row& row : rows)
    for (const std::uint8_t code : row.codes)
      EXPECT_EQ(media_interface(row.media_type, code).lanes, row.lanes)
          << media_interface(row.media_type, code).name;
}

/// SFF-8024 table 4-9: an active cable's interface is that of its host side.
TEST(CmisLaneCounts, OfAnActiveCableAreThoseOfItsHostSide) {
  EXPECT_EQ(optical(4, 0x11, 0x03).media_lane_count, 8U);
}

}  // namespace
}  // namespace linkhealth
