// The medium of a module, from the bytes of SFF-8472, SFF-8636 and CMIS: copper or light, and which
// fibre.
#include "tests/probes/module/decoded.h"

namespace linkhealth {
namespace {

/// An SFP+ cable with active ends (byte 8.3).
EepromBuilder active_cable(unsigned connector, unsigned ethernet, unsigned bytes_60_61,
                           unsigned compliance = 0) {
  auto b = EepromBuilder::sff8472();
  b.lower()
      .byte(2, connector)
      .byte(3, ethernet)
      .byte(8, 0x08)
      .byte(36, compliance)
      .byte(14, 0)
      .byte(15, 0);
  b.byte(18, 7).u16(60, bytes_60_61);
  return b;
}

/// Bytes 60 and 61 of an active cable are bits of copper (byte 61 reserved) or a wavelength: 0400h
/// is no 1024 nm.
TEST(Medium, AnActiveCableIsOfFibreWhereItNamesLight) {
  struct Row {
    unsigned connector, ethernet, bytes_60_61, compliance;
    const char* kind;
  };
  constexpr Row kRows[] = {
      {0x23, 0x10, 0x0000, 0, "aoc"},  // 10G-SR
      {0x23, 0x20, 0x0000, 0, "aoc"},  // 10G-LR
      {0x23, 0x00, 850, 0, "aoc"},       {0x00, 0x00, 1310, 0, "aoc"},
      {0x0b, 0x00, 0x0000, 0, "aoc"},     // an optical pigtail
      {0x23, 0x00, 0x0000, 0x18, "aoc"},  // the extended code
      {0x23, 0x00, 0x0000, 0, "acc"},    {0x23, 0x00, 0x0400, 0, "acc"},
      {0x23, 0x00, 0x0100, 0, "acc"},    {0x23, 0x00, 0x0c00, 0, "acc"},
      {0x23, 0x00, 0x0c01, 0, "acc"},  // 3073 nm is none
      {0x21, 0x10, 850, 0, "acc"},     // a copper pigtail, although a maker copied the rest
      {0x23, 0x10, 850, 0x08, "acc"},  // the extended code names copper
  };
  for (const Row& row : kRows)
    EXPECT_EQ(
        decode(active_cable(row.connector, row.ethernet, row.bytes_60_61, row.compliance)).kind,
        row.kind)
        << row.connector << " " << row.ethernet << " " << row.bytes_60_61 << " " << row.compliance;
}

TEST(Medium, AnActiveOpticalCableHasLight) {
  const ModuleSample m = decode(active_cable(0x23, 0x10, 850));
  EXPECT_EQ(m.type, "10G-AOC");
  EXPECT_EQ(m.length_m, 7);
  EXPECT_EQ(m.wavelength_nm, 850);
  ASSERT_EQ(m.lanes.size(), 1U);
  EXPECT_TRUE(m.lanes[0].rx_power_mw && m.lanes[0].tx_power_mw && m.lanes[0].tx_bias_ma);
  EXPECT_FALSE(m.thresholds.rx_power_mw.empty());
  EXPECT_EQ(decode(active_cable(0x0b, 0, 0)).type, "10G-AOC");
  EXPECT_EQ(decode(active_cable(0x0b, 0, 0)).wavelength_nm, std::nullopt);
}

/// CMIS 5.4 table 8-20: 00h is undefined, 40h to 8Fh are the maker's own. Lanes and
/// light must not be left out silently.
TEST(Medium, ACmisModuleOfUndefinedMediaTypeIsOpticalWhereItMeasuresLight) {
  for (const unsigned media : {0x00U, 0x40U, 0x8fU}) {
    auto b = EepromBuilder::cmis();
    b.lower().byte(85, media);
    const ModuleSample m = decode(b);
    EXPECT_EQ(m.kind, "optical") << media;
    EXPECT_EQ(m.lanes.size(), 4U) << media;
    EXPECT_TRUE(m.lanes.at(0).rx_power_mw) << media;
    EXPECT_THAT(m.warnings, Contains(HasSubstr("it measures light, so it is taken for optical")));
    b.page(1).byte(160, 0);
    EXPECT_EQ(decode(b).kind, "unknown") << media;
    EXPECT_THAT(decode(b).warnings,
                Contains(HasSubstr("the kind of module is not known: its media type is")));
  }
  auto b = EepromBuilder::cmis();
  b.lower().byte(85, 0x05);
  EXPECT_EQ(decode(b).kind, "unknown") << "BASE-T";
}

/// SFF-8636 table 6-21, byte 164.
TEST(Medium, AQsfpThatNamesOnlyInfiniBandHasAType) {
  auto b = EepromBuilder::sff8636();
  b.page(0).byte(131, 0).byte(192, 0).byte(164, 0x1f);
  EXPECT_EQ(decode(b).type, "InfiniBand EDR");
  b.byte(164, 0);
  EXPECT_EQ(decode(b).type, "");
}

/// Values of one byte, each of which makes a module one of this fibre.
struct FibreRow {
  const char* media_type;
  unsigned offset;
  std::vector<unsigned> values;
};

/// Byte 3 (10G), 6 (1G) and 36 name the type; without a name the lengths show the fibre.
TEST(Medium, TheFibreOfAnSfp) {
  const FibreRow rows[] = {
      {"single-mode", 3, {0x80, 0x20}},  // ER, LR
      {"multimode", 3, {0x40, 0x10}},    // LRM, SR
      {"single-mode", 6, {0x02}},
      {"multimode", 6, {0x01}},
      {"", 6, {0x80}},  // PX: no name here, and no length
      {"single-mode", 36, {0x03, 0x25, 0x37, 0x45, 0x2c}},
      {"multimode", 36, {0x02, 0x28, 0x36}},
      {"single-mode", 14, {40}},
      {"single-mode", 15, {100}},
      {"multimode", 16, {8}},
      {"multimode", 17, {3}},
      {"multimode", 18, {40}},
      {"multimode", 19, {30}},
  };
  for (const FibreRow& row : rows)
    for (const unsigned value : row.values) {
      auto b = EepromBuilder::sff8472();
      b.lower().byte(3, 0).fill(14, 6, 0).byte(row.offset, value);
      EXPECT_EQ(decode(b).media_type, row.media_type) << row.offset << " " << value;
    }
  // 1000BASE-LX goes some way over multimode fibre too: its name goes before its lengths.
  auto b = EepromBuilder::sff8472();
  b.lower().byte(3, 0).byte(6, 0x02).byte(14, 0).byte(15, 0).byte(16, 55);
  EXPECT_EQ(decode(b).media_type, "single-mode");
  b.byte(6, 0x80).byte(14, 10);
  EXPECT_EQ(decode(b).media_type, "") << "one for either fibre";
}

TEST(Medium, TheFibreOfAQsfp) {
  const FibreRow rows[] = {
      {"multimode", 192, {0x02, 0x05, 0x11, 0x1f, 0x20, 0x21, 0x41, 0x3a}},
      {"single-mode", 192, {0x03, 0x04, 0x06, 0x07, 0x17, 0x1a, 0x22, 0x25, 0x47, 0x4c}},
      {"multimode", 131, {0x04}},
      {"single-mode", 131, {0x02}},
      {"", 131, {0x00}},
      {"single-mode", 142, {2}},
      {"multimode", 143, {50}},
      {"multimode", 144, {50}},
      {"multimode", 146, {50}},
  };
  for (const FibreRow& row : rows)
    for (const unsigned value : row.values) {
      auto b = EepromBuilder::sff8636();
      b.page(0).byte(131, 0).fill(142, 5, 0).byte(192, 0).byte(row.offset, value);
      if (row.offset == 192) b.byte(131, 0x80);
      EXPECT_EQ(decode(b).media_type, row.media_type) << row.offset << " " << value;
    }
}

/// Hardly any active cable states its fibre: 850 nm is of multimode fibre.
TEST(Medium, TheFibreOfAnActiveOpticalCableByItsLight) {
  auto qsfp = EepromBuilder::sff8636();
  qsfp.page(0).byte(130, 0x23).byte(131, 0x80).byte(192, 0x01).byte(147, 0x00).fill(142, 5, 0).byte(
      146, 20);
  EXPECT_EQ(decode(qsfp).kind, "aoc");
  EXPECT_EQ(decode(qsfp).media_type, "multimode");
  qsfp.byte(147, 0x10);
  EXPECT_EQ(decode(qsfp).media_type, "") << "1310 nm: a length of 146 is metres of cable";
  EXPECT_EQ(decode(active_cable(0x23, 0, 850)).media_type, "multimode");
  EXPECT_EQ(decode(active_cable(0x23, 0, 1310)).media_type, "");
  EXPECT_EQ(decode(active_cable(0x23, 0x10, 0)).media_type, "") << "18 is metres of cable";
}

}  // namespace
}  // namespace linkhealth
