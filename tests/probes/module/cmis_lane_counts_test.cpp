// CMIS: how many lanes there are where a module leaves the number to the interface (5.4 tables 8-22
// and 8-23).
#include <gmock/gmock.h>

#include <initializer_list>

#include "probes/module/codes.h"
#include "probes/module/decode.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

ModuleSample decode(const EepromBuilder& b) { return decode_module(b.image()); }

/// An optical module with one application that leaves both its numbers of lanes to the ids.
ModuleSample optical(unsigned media_type, unsigned host_id, unsigned media_id) {
  auto b = EepromBuilder::cmis();
  b.lower().byte(85, media_type).byte(86, host_id).byte(87, media_id).byte(88, 0x00).byte(89, 0x01);
  b.page(0x11).fill(206, 8, 0);  // a lane in use is one, whatever the interface says
  return decode(b);
}

TEST(CmisLaneCounts, AreThoseOfTheInterfaceWhereItsNameDoesNotSayThem) {
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
    if (!host_interface_name(static_cast<std::uint8_t>(code)).empty()) ++named;
  for (const Counts& row : rows)
    for (const std::uint8_t code : row.codes) {
      ++counted;
      EXPECT_EQ(host_interface_lanes(code), row.lanes) << host_interface_name(code);
    }
  EXPECT_EQ(counted, named);
}

TEST(CmisLaneCounts, OfMediaInterfacesAreThoseOfTables46And47) {
  constexpr std::uint8_t kMultimode = 1, kSingleMode = 2;
  const std::initializer_list<Counts> multimode = {
      {1, {0x02, 0x03, 0x07, 0x0d, 0x1d}},
      {2, {0x06, 0x0b, 0x0c, 0x1b, 0x1e}},
      {4, {0x04, 0x05, 0x09, 0x0a, 0x0e, 0x11, 0x1f}},
      {8, {0x10, 0x12, 0x1a, 0x20, 0x21, 0x22}},
      {10, {0x08}},
      {16, {0x0f, 0x23, 0x24}},
  };
  for (const Counts& row : multimode)
    for (const std::uint8_t code : row.codes)
      EXPECT_EQ(media_interface_lanes(kMultimode, code), row.lanes)
          << media_interface_name(kMultimode, code);
  const std::initializer_list<Counts> single_mode = {
      {1,
       {0x04, 0x14, 0x15, 0x16, 0x3c, 0x3e, 0x44, 0x46, 0x4a, 0x4d, 0x6c, 0x73, 0x74, 0x7c, 0x7e,
        0x8f}},
      {2, {0x75, 0x76, 0x90}},
      {4,
       {0x09, 0x0d, 0x0f, 0x10, 0x11, 0x13, 0x17, 0x19, 0x1c, 0x1e, 0x34, 0x43, 0x55, 0x6f, 0x77,
        0x78, 0x79, 0x7b, 0x91}},
      {8, {0x1a, 0x1b, 0x42, 0x56, 0x57, 0x7f, 0x80, 0x92}},
  };
  for (const Counts& row : single_mode)
    for (const std::uint8_t code : row.codes)
      EXPECT_EQ(media_interface_lanes(kSingleMode, code), row.lanes)
          << media_interface_name(kSingleMode, code);
}

/// All four pairs, at any rate.
TEST(CmisLaneCounts, OfTwistedPairAreThoseOfTable410) {
  constexpr std::uint8_t kBaseT = 5;
  for (std::uint8_t code = 1; code <= 6; ++code)
    EXPECT_EQ(media_interface_lanes(kBaseT, code), 4U) << unsigned{code};
  EXPECT_EQ(media_interface_lanes(kBaseT, 7), 0U) << "a placeholder";
}

/// SFF-8024 table 4-9: an active cable's interface is that of its host side.
TEST(CmisLaneCounts, AnActiveCableHasThoseOfItsHostSide) {
  EXPECT_EQ(optical(4, 0x11, 0x03).media_lane_count, 8U);
}

}  // namespace
}  // namespace linkhealth
