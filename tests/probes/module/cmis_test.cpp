#include "tests/probes/module/decoded.h"

namespace linkhealth {
namespace {

TEST(Cmis, ReadsAWholeModule) {
  const ModuleSample m = decode(EepromBuilder::cmis());
  EXPECT_EQ(m.kind, "optical");
  EXPECT_EQ(m.type, "400G-DR4");
  EXPECT_EQ(m.management, "CMIS 5.0");
  EXPECT_EQ(m.firmware, "1.7");
  EXPECT_EQ(m.state, "ModuleReady");
  EXPECT_EQ(m.reach_m, 5000);
  EXPECT_NEAR(*m.wavelength_nm, 1311, 1e-9);
  EXPECT_EQ(m.max_power_w, 10);
  EXPECT_DOUBLE_EQ(*m.temperature_c, 50);
  EXPECT_DOUBLE_EQ(*m.supply_v, 3.3);
  ASSERT_EQ(m.lanes.size(), 4U);
  ASSERT_EQ(m.host_lanes.size(), 8U);
  EXPECT_EQ(m.host_lanes[7].data_path_state, "Activated");
  EXPECT_DOUBLE_EQ(*m.lanes[0].tx_bias_ma, 18000 * 0.002 * 2) << "01h:160 says x2";
  EXPECT_DOUBLE_EQ(*m.lanes[3].rx_power_mw, 0.8003);
  EXPECT_DOUBLE_EQ(*m.thresholds.tx_bias_ma.high_alarm, 160);
  EXPECT_THAT(m.warnings, IsEmpty());
}

TEST(Cmis, CopperWithEqualizersIsActive) {
  for (const auto& [technology, kind] :
       {std::pair{0x0aU, "dac"}, {0x0bU, "dac"}, {0x0fU, "acc"}, {0x13U, "acc"}, {0x00U, "dac"}}) {
    auto b = EepromBuilder::cmis();
    b.lower().byte(85, 0x03).byte(86, 0x1d).byte(87, 0x01).byte(88, 0x88);
    b.page(0).byte(212, technology).byte(203, 0x23);
    EXPECT_EQ(decode(b).kind, kind) << technology;
  }
}

TEST(Cmis, ALaneCountThatIsLeftToTheInterfaceIsTakenFromIt) {
  for (const unsigned counts :
       {0x00U, 0x80U, 0x04U, 0xf9U}) {  // "defined by the interface", and reserved ones
    auto b = EepromBuilder::cmis();
    b.lower().byte(88, counts);
    const ModuleSample m = decode(b);
    EXPECT_EQ(m.media_lane_count, 4U) << counts;
    EXPECT_EQ(m.lanes.size(), 4U) << counts;
  }
  auto zr = EepromBuilder::cmis();
  zr.lower().byte(87, 0x3e).byte(88, 0x80);
  EXPECT_EQ(decode(zr).media_lane_count, 1U) << "400G-ZR: one wavelength";
}

TEST(Cmis, AFlatModuleHasIdentityOnly) {
  auto b = EepromBuilder::cmis();
  b.lower().byte(2, 0x80).byte(3, 0x0b).byte(85, 0x03).byte(86, 0x1d).byte(87, 0x01).byte(88, 0x88);
  b.page(0).byte(212, 0x0a).byte(202, 0x45).byte(203, 0x23);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.kind, "dac");
  EXPECT_EQ(m.type, "400G-CR8");
  EXPECT_EQ(m.length_m, 5);
  EXPECT_EQ(m.state, "");
  EXPECT_FALSE(m.temperature_c);
  EXPECT_THAT(m.lanes, IsEmpty());
}

EepromBuilder without_light() {
  auto b = EepromBuilder::cmis();
  for (unsigned at = 154; at < 202; at += 2) b.page(0x11).u16(at, 0);
  return b;
}

TEST(Cmis, MetersThatAllReadZeroMeasureNothing) {
  auto b = without_light();
  b.lower().u16(14, 0).u16(16, 0).u16(20, 0);
  b.page(1).byte(159, 0x0b).byte(145, 0x00);  // with a monitor of the laser's temperature
  const ModuleSample m = decode(b);
  EXPECT_FALSE(m.temperature_c);
  EXPECT_FALSE(m.laser_temperature_c);
  EXPECT_FALSE(m.supply_v);
  ASSERT_EQ(m.lanes.size(), 4U);
  for (const ModuleLane& lane : m.lanes)
    EXPECT_FALSE(lane.rx_power_mw || lane.tx_power_mw || lane.tx_bias_ma);
  EXPECT_THAT(m.warnings, Contains("all readings are zero: nothing is measured"));
  // Some modules have a thermometer and nothing else.
  b = without_light();
  b.lower().u16(16, 0);
  const ModuleSample thermometer = decode(b);
  EXPECT_TRUE(thermometer.temperature_c);
  EXPECT_FALSE(thermometer.lanes[0].rx_power_mw);
  EXPECT_THAT(thermometer.warnings,
              Contains("all readings of light and bias are zero: they are not measured"));
  const ModuleSample dark = decode(without_light());
  EXPECT_EQ(dark.lanes[0].rx_power_mw, 0.0);
  EXPECT_EQ(dark.lanes[0].tx_power_mw, 0.0);
  EXPECT_THAT(dark.warnings, IsEmpty());
}

TEST(Cmis, AFaultHasItsCause) {
  auto b = EepromBuilder::cmis();
  b.lower().byte(3, 0x0a).byte(41, 1).byte(8, 0x06);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.state, "ModuleFault");
  EXPECT_EQ(m.fault_cause, "TEC runaway");
  EXPECT_EQ(m.module_firmware_error, true);
  EXPECT_EQ(m.data_path_firmware_error, true);
  b.lower().byte(3, 0x57);
  EXPECT_EQ(decode(b).state, "ModuleReady") << "reserved bits are masked";
}

TEST(Cmis, TheRevisionDecidesWhatIsReserved) {
  auto b = EepromBuilder::cmis();
  EXPECT_EQ(decode(b).host_lanes[0].rx_output_valid, true);
  b.lower().byte(1, 0x40);
  EXPECT_FALSE(decode(b).host_lanes[0].rx_output_valid) << "reserved before revision 5";
  b.lower().byte(1, 0x05);  // an SFF-8636 revision: seen in DACs with a CMIS identifier
  EXPECT_EQ(decode(b).management, "CMIS");
  EXPECT_THAT(decode(b).warnings, Contains("CMIS revision 05h does not exist"));
}

TEST(Cmis, NothingIsMeasuredThatIsNotAdvertised) {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(159, 0x01).byte(160, 0x04).byte(157, 0).byte(158, 0);
  const ModuleSample m = decode(b);
  EXPECT_TRUE(m.temperature_c);
  EXPECT_FALSE(m.supply_v);
  EXPECT_TRUE(m.lanes[0].rx_power_mw);
  EXPECT_FALSE(m.lanes[0].tx_power_mw);
  EXPECT_FALSE(m.lanes[0].rx_los);
  EXPECT_TRUE(m.thresholds.tx_power_mw.empty());
  const ModuleSample unread = decode(b.without(1));
  EXPECT_FALSE(unread.temperature_c);
  EXPECT_THAT(unread.lanes, IsEmpty());
}

TEST(Cmis, AReservedBiasMultiplierMakesTheBiasUnknown) {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(160, 0x1f);
  const ModuleSample m = decode(b);
  EXPECT_FALSE(m.lanes[0].tx_bias_ma);
  EXPECT_TRUE(m.lanes[0].tx_power_mw);
  EXPECT_TRUE(m.thresholds.tx_bias_ma.empty());
  EXPECT_THAT(m.warnings,
              ElementsAre("the bias has a reserved scale: it and its limits are left out"));
  b.page(1).byte(160, 0x1e);
  EXPECT_THAT(decode(b).warnings, IsEmpty()) << "there is no bias";
}

TEST(Cmis, LaneFlagsAndStates) {
  auto b = EepromBuilder::cmis();
  b.page(0x11).byte(128, 0x24).byte(131, 0xa4).byte(136, 0x04).byte(147, 0x02).byte(150, 0x08).byte(
      213, 0x08);
  b.page(0x10).byte(130, 0x01);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.host_lanes[0].data_path_state, "Activated");
  EXPECT_EQ(m.host_lanes[1].data_path_state, "Init");
  EXPECT_EQ(m.host_lanes[7].data_path_state, "unknown");
  EXPECT_EQ(m.host_lanes[7].in_use, false);
  EXPECT_EQ(m.host_lanes[2].tx_los, true);
  EXPECT_EQ(m.lanes[1].tx_los, true) << "host lanes 3 and 4 feed media lane 2";
  EXPECT_EQ(m.lanes[0].tx_los, false);
  EXPECT_EQ(m.lanes[1].rx_los, true);
  EXPECT_EQ(m.lanes[3].rx_power_flags.low_alarm, true);
  EXPECT_EQ(m.lanes[0].tx_disabled, true);
}

TEST(Cmis, UnusedLanesHaveNoReadings) {
  auto b = EepromBuilder::cmis();
  b.page(0x11).byte(130, 0x11).byte(131, 0x11).fill(210, 4, 0).u16(190, 0).u16(192, 0).byte(147,
                                                                                            0x0c);
  ModuleSample m = decode(b);
  ASSERT_EQ(m.lanes.size(), 4U);
  EXPECT_TRUE(m.lanes[1].rx_power_mw) << "host lanes 3 and 4 carry";
  EXPECT_EQ(m.lanes[2], ModuleLane{})
      << "the module's other half is not used: its darkness is no fault";
  EXPECT_EQ(m.lanes[3], ModuleLane{});
  b.page(0x11).fill(210, 4, 0x10);  // used by another port, which is switched off
  EXPECT_EQ(decode(b).lanes[2], ModuleLane{});
  b.page(0x11).fill(128, 4, 0x11).fill(206, 8, 0);
  m = decode(b);
  EXPECT_TRUE(m.lanes[0].rx_power_mw)
      << "of every lane: the module was not set up yet, its light counts";
  b = EepromBuilder::cmis();
  b.page(0).byte(210, 0xf4);
  EXPECT_EQ(decode(b).lanes[2], ModuleLane{}) << "the module does not have it";
  EXPECT_TRUE(decode(b).lanes[3].rx_power_mw);
}

TEST(Cmis, BanksHoldTheLanesAboveEight) {
  auto b = EepromBuilder::cmis();
  b.co_packaged();
  b.lower().byte(87, 0x56).byte(86, 0x51).byte(88, 0x88);
  b.page(1).byte(142, 0x05);
  b.page(0x11, 1).fill(128, 4, 0x44).fill(206, 8, 0x10).u16(186 + 14, 1234);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.bank_count, 2U);
  ASSERT_EQ(m.lanes.size(), 16U);
  EXPECT_DOUBLE_EQ(*m.lanes[15].rx_power_mw, 0.1234);
  b = EepromBuilder::cmis();
  b.co_packaged();
  b.page(1).byte(142, 0x06);
  EXPECT_THAT(decode(b).warnings, Contains(HasSubstr("page 11h of bank 2 was not read")));
}

TEST(Cmis, FlagsOfOnesOrWithoutALimitAreNone) {
  auto ones = EepromBuilder::cmis();
  ones.page(0x11).fill(134, 20, 0xff);
  for (const ModuleLane& lane : decode(ones).lanes)
    EXPECT_FALSE(lane.rx_los || lane.rx_power_flags.high_alarm || lane.tx_fault);
  auto b = EepromBuilder::cmis();
  b.page(0x11).byte(149, 0x01).byte(143, 0x01);
  EXPECT_EQ(decode(b).lanes.at(0).rx_power_flags.high_alarm, true);
  b.page(2).limits(192, 0, 0, 0, 0);
  EXPECT_TRUE(decode(b).lanes.at(0).rx_power_flags.empty());
  EXPECT_EQ(decode(b).lanes.at(0).tx_bias_flags.high_alarm, true);
}

}  // namespace
}  // namespace linkhealth
