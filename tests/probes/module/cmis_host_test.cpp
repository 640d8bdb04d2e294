// CMIS: what the host asked of the module, and what became of it (pages 10h and 11h, lower byte 8,
// page 01h).
#include <gtest/gtest.h>

#include "probes/module/decode.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

ModuleSample decode(const EepromBuilder& b) { return decode_module(b.image()); }

TEST(CmisHost, ADataPathThatTheHostTookDownSaysSo) {
  auto b = EepromBuilder::cmis();
  EXPECT_EQ(decode(b).host_lanes[1].dp_deinit, false);
  b.page(0x10).byte(128, 0x02);
  EXPECT_EQ(decode(b).host_lanes[1].dp_deinit, true);
  EXPECT_EQ(decode(b).host_lanes[0].dp_deinit, false);
  b.lower().byte(1, 0x30);
  EXPECT_EQ(decode(b).host_lanes[1].dp_deinit, std::nullopt)
      << "CMIS 3.0 has the opposite sense there";
}

TEST(CmisHost, AnOutputThatTheHostSwitchedOffSaysSoWhereItCan) {
  auto b = EepromBuilder::cmis();
  b.page(0x10).byte(138, 0x01);
  EXPECT_EQ(decode(b).host_lanes[0].rx_output_disabled, std::nullopt) << "not offered";
  b.page(1).byte(156, 0x02);
  EXPECT_EQ(decode(b).host_lanes[0].rx_output_disabled, true);
  EXPECT_EQ(decode(b).host_lanes[1].rx_output_disabled, false);
}

TEST(CmisHost, AConfigurationThatWasRefusedSaysWhy) {
  auto b = EepromBuilder::cmis();
  b.page(0x11).byte(202, 0x31).byte(203, 0x7c).byte(204, 0xd9).byte(205, 0x00);
  const ModuleSample m = decode(b);
  constexpr const char* kWords[] = {
      "Success",          "RejectedInvalidAppSel", "InProgress", "RejectedPartialDataPath",
      "RejectedReserved", "RejectedCustom",        "",           ""};
  for (std::size_t i = 0; i < std::size(kWords); ++i)
    EXPECT_EQ(m.host_lanes[i].config_status, kWords[i]) << i;
}

TEST(CmisHost, TheLightsOutputIsValidFromCmis5On) {
  auto b = EepromBuilder::cmis();
  b.page(0x11).byte(133, 0x0e);
  EXPECT_EQ(decode(b).lanes[0].tx_output_valid, false);
  EXPECT_EQ(decode(b).lanes[1].tx_output_valid, true);
  b.lower().byte(1, 0x41);
  EXPECT_EQ(decode(b).lanes[0].tx_output_valid, std::nullopt) << "reserved, and reads 0";
}

TEST(CmisHost, AChangeOfStateIsLatched) {
  auto b = EepromBuilder::cmis();
  b.lower().byte(8, 0x01);
  b.page(0x11).byte(134, 0x01);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.module_state_changed, true);
  EXPECT_EQ(m.host_lanes[0].dp_state_changed, true);
  EXPECT_EQ(m.host_lanes[1].dp_state_changed, false);
}

/// CMIS 5.4 8.2.9.
TEST(CmisHost, FirmwareThatIsNotValidIsSaidToBe) {
  auto b = EepromBuilder::cmis();
  b.lower().u16(39, 0xffff);
  EXPECT_EQ(decode(b).firmware, "invalid");
  b.u16(39, 0);
  EXPECT_EQ(decode(b).firmware, "") << "it has none";
  b.byte(2, 0x80).u16(39, 0x0203);  // flat
  EXPECT_EQ(decode(b).firmware, "2.3");
  b.u16(39, 0xffff);
  EXPECT_EQ(decode(b).firmware, "") << "memory that nobody wrote";
}

}  // namespace
}  // namespace linkhealth
