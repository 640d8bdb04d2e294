// What a module sends its signal over, from the bytes that SFF-8472 and SFF-8636 have for it: copper or light, and over
// which fibre.
#include <gmock/gmock.h>

#include "probes/module/decode.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

ModuleSample decode(const EepromBuilder& b) { return decode_module(b.image()); }

/// An SFP+ cable with active ends (byte 8.3).
EepromBuilder active_cable(unsigned connector, unsigned ethernet, unsigned bytes_60_61, unsigned compliance = 0) {
  auto b = EepromBuilder::sff8472();
  b.lower().byte(2, connector).byte(3, ethernet).byte(8, 0x08).byte(36, compliance).byte(14, 0).byte(15, 0);
  b.byte(18, 7).u16(60, bytes_60_61);
  return b;
}

/// Bytes 60 and 61 of an active cable are bits of copper (byte 61 reserved) or a wavelength: 0400h is no 1024 nm.
TEST(Medium, AnActiveCableIsOfFibreWhereItSpeaksOfLight) {
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
      {0x21, 0x10, 850, 0, "acc"},     // a copper pigtail, whatever a maker copied
      {0x23, 0x10, 850, 0x08, "acc"},  // the extended code says copper
  };
  for (const Row& row : kRows)
    EXPECT_EQ(decode(active_cable(row.connector, row.ethernet, row.bytes_60_61, row.compliance)).kind, row.kind)
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

}  // namespace
}  // namespace linkhealth
