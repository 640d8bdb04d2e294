// CMIS where the module, its driver or a file leaves something out: what is said then, and what is
// not made up.
#include <gmock/gmock.h>

#include "probes/module/decode.h"
#include "probes/module/screen.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

ModuleSample decode(const EepromBuilder& b) { return decode_module(b.image()); }

/// An AEC: a retimer at each end, no light.
EepromBuilder active_copper() {
  auto b = EepromBuilder::cmis();
  b.lower().byte(85, 0x04);
  b.page(0).byte(212, 0x0c).byte(202, 0x42).byte(203, 0x23);
  return b;
}

TEST(CmisActiveCopper, ARetimersReceiverLosesSignalAndLock) {
  auto b = active_copper();
  b.page(1).byte(158, 0x06);  // loss of signal and of lock are offered
  b.page(0x11).byte(147, 0x01).byte(148, 0x02);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.kind, "acc");
  ASSERT_EQ(m.lanes.size(), 8U);
  EXPECT_EQ(m.lanes[0].rx_los, true);
  EXPECT_EQ(m.lanes[0].rx_lol, false);
  EXPECT_EQ(m.lanes[1].rx_lol, true);
  for (const ModuleLane& lane : m.lanes)
    EXPECT_TRUE(!lane.rx_power_mw && !lane.tx_power_mw && !lane.tx_bias_ma);
}

TEST(CmisPassiveCopper, HasNoLanesToSpeakOf) {
  auto b = active_copper();
  b.page(0).byte(212, 0x0a);
  EXPECT_EQ(decode(b).kind, "dac");
  EXPECT_THAT(decode(b).lanes, IsEmpty());
}

TEST(CmisAuxiliary, LimitsStandOnPage02) {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(159, 0x1f).byte(145, 0x05);  // TEC, laser temperature, second supply
  b.lower().u16(18, 0x4000).u16(20, 0x3000).u16(22, 18000);
  b.page(2).limits(144, 0x7000, 0x9000, 0x6000, 0xa000);
  b.page(2).limits(152, 0x5000, 0xfb00, 0x4b00, 0x0000);
  b.page(2).limits(160, 20000, 16000, 19000, 17000);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.laser_temperature_c, 48);
  EXPECT_EQ(m.thresholds.laser_temperature_c, (Limits{-5, 0, 75, 80}));
  EXPECT_NEAR(*m.thresholds.tec_current_percent.high_alarm, 0x7000 * 100.0 / 32767, 1e-9);
  EXPECT_NEAR(*m.thresholds.tec_current_percent.low_warn, -0x6000 * 100.0 / 32767, 1e-9);
  EXPECT_NEAR(*m.thresholds.second_supply_v.low_alarm, 1.6, 1e-9);
}

/// CMIS 5.4 7.1.6: by lane, what the laser's temperature and frequency are away from their targets,
/// and its cooler.
TEST(CmisVdm, OfTheLasersTheLaneThatIsFarthestAwayStandsWithItsSign) {
  const ModuleSample m = decode(EepromBuilder::cmis_with_vdm({{0x00, 2, 0x9999},
                                                              {0x01, 2, 0x0666},
                                                              {0x00, 3, 0xffe2},
                                                              {0x01, 3, 1},
                                                              {0x00, 4, 0x0080},
                                                              {0x01, 4, 0xfd00}}));
  EXPECT_NEAR(m.vdm.tec_current_percent.value_or(0), -80, 0.01);
  EXPECT_EQ(m.vdm.laser_frequency_error_mhz, -300);
  EXPECT_EQ(m.vdm.laser_temperature_c, -3);
}

/// The module's auxiliary monitors measure the temperature itself: neither may hide the other.
TEST(CmisVdm, OfTheLasersIsNotWhatTheAuxiliaryMonitorsSay) {
  auto b = EepromBuilder::cmis_with_vdm({{0x0f, 2, 0xc000}, {0x00, 4, 0x0200}});
  b.page(1).byte(145, 0x01).byte(159, 0x0f);
  b.lower().u16(18, 0x1000).u16(20, 0x2d40);
  const ModuleSample both = decode(b);
  EXPECT_EQ(both.laser_temperature_c, 45.25);
  EXPECT_EQ(both.vdm.laser_temperature_c, 2);
  EXPECT_NEAR(both.tec_current_percent.value_or(0), 12.5, 0.01);
  EXPECT_NEAR(both.vdm.tec_current_percent.value_or(0), -50, 0.01);
  const ModuleSample alone = decode(EepromBuilder::cmis_with_vdm({{0x00, 4, 0x0200}}));
  EXPECT_FALSE(alone.laser_temperature_c) << "2 C from its target is no laser of 2 C";
}

/// CMIS 5.4 table 8-180 has these by lane only: of the whole module, it is known whose it is only
/// where there is one.
TEST(CmisVdm, ASignalToNoiseRatioOfTheWholeModuleIsThatOfItsOnlyLaneOrIsSaidToBeLeftOut) {
  auto b = EepromBuilder::cmis_with_vdm({{0x0f, 5, 0x1380}, {0x0f, 7, 0x2000}, {0x0f, 8, 0x2100}});
  const ModuleSample several = decode(b);
  EXPECT_THAT(several.vdm.media_esnr_db, IsEmpty());
  EXPECT_THAT(several.warnings,
              Contains("media_esnr_db is of the whole module, not of a lane: left out"));
  EXPECT_THAT(several.warnings,
              Contains("media_ltp_db is of the whole module, not of a lane: left out"));
  EXPECT_THAT(several.warnings,
              Contains("host_ltp_db is of the whole module, not of a lane: left out"));
  b.lower().byte(88, 0x81);
  const ModuleSample one = decode(b);
  ASSERT_EQ(one.media_lane_count, 1U);
  EXPECT_THAT(one.vdm.media_esnr_db, ElementsAre(19.5));
  EXPECT_THAT(one.vdm.media_ltp_db, ElementsAre(32));
  EXPECT_THAT(one.vdm.host_ltp_db, IsEmpty());
}

/// CMIS 5.4 8.17: page 14h may be banked, and each bank is of up to eight lanes.
TEST(Cmis, SnrOfPage14OfLaterBanksIsOfTheirLanes) {
  auto b = EepromBuilder::cmis();
  b.lower().byte(86, 0x51).byte(87, 0x56).byte(88, 0x88);
  b.page(1).byte(142, 0x25);
  b.page(0x11, 1).fill(128, 4, 0x44).fill(206, 8, 0x10).u16(186, 1234);
  b.page(0x14, 1).byte(128, 0x06).byte(241, 0x15).byte(254, 0x80).byte(255, 0x13).byte(209, 0x14);
  const ModuleSample second = decode(b);
  ASSERT_EQ(second.vdm.media_esnr_db.size(), 16U);
  EXPECT_EQ(second.vdm.media_esnr_db[0], 0) << "bank 0 does not say";
  EXPECT_EQ(second.vdm.media_esnr_db[8], 21);
  EXPECT_EQ(second.vdm.media_esnr_db[15], 19.5);
  ASSERT_EQ(second.vdm.host_esnr_db.size(), 9U);
  EXPECT_EQ(second.vdm.host_esnr_db[8], 20);
  b.page(0x14).byte(128, 0x06).byte(241, 0x16);
  const ModuleSample both = decode(b);
  EXPECT_EQ(both.vdm.media_esnr_db.at(0), 22);
  EXPECT_EQ(both.vdm.media_esnr_db.at(8), 21);
  b.page(0x14, 1).byte(128, 0x01);
  EXPECT_EQ(decode(b).vdm.media_esnr_db.size(), 1U) << "the second bank's selector is its own";
}

constexpr unsigned kAvg = 13, kMax = 11, kHostAvg = 14;

TEST(CmisVdm, AnErrorRatioOfZeroOfASideThatReceivesNothingIsNone) {
  auto b = EepromBuilder::cmis_with_vdm({{0x0f, kAvg, 0}, {0x0f, kMax, 0}, {0x0f, kHostAvg, 0}});
  b.page(1).byte(158, 0x06);
  EXPECT_EQ(decode(b).vdm.media_pre_fec_ber.avg, 0) << "a link may be perfect";
  b.page(0x11).byte(147, 0x0f);
  const ModuleSample dark = decode(b);
  EXPECT_TRUE(dark.vdm.media_pre_fec_ber.empty());
  EXPECT_EQ(dark.vdm.host_pre_fec_ber.avg, 0) << "the host's side goes on";
  b.page(0x11).byte(147, 0x07);
  EXPECT_EQ(decode(b).vdm.media_pre_fec_ber.avg, 0) << "one lane receives";
  b.lower().byte(3, 0x02);  // low power
  EXPECT_TRUE(decode(b).vdm.media_pre_fec_ber.empty());
  EXPECT_TRUE(decode(b).vdm.host_pre_fec_ber.empty());
}

TEST(CmisVdm, WhatWasCountedStaysWhenTheLightGoes) {
  auto b = EepromBuilder::cmis_with_vdm({{0x0f, kAvg, 0x8064}, {0x0f, kMax, 0}});
  b.page(1).byte(158, 0x06);
  b.page(0x11).byte(147, 0x0f);
  EXPECT_TRUE(decode(b).vdm.media_pre_fec_ber.avg);
  EXPECT_FALSE(decode(b).vdm.media_pre_fec_ber.max);
}

/// Sixteen lanes whose second bank says what the first does.
EepromBuilder two_banks(unsigned rx_power_raw) {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(142, 0x05);
  for (const std::uint8_t bank : {std::uint8_t{0}, std::uint8_t{1}}) {
    b.page(0x10, bank);
    b.page(0x11, bank).fill(128, 128, 0).fill(128, 4, 0x44).fill(206, 8, 0x10);
    for (unsigned lane = 0; lane < 8; ++lane) b.u16(186 + 2 * lane, rx_power_raw);
  }
  return b;
}

TEST(CmisBanks, AModuleThatIsDarkIsNotADriverThatIgnoresTheBank) {
  for (const unsigned raw : {0U, 1U}) {
    const ModuleSample m = decode(two_banks(raw));
    EXPECT_EQ(m.lanes.size(), 8U) << "four media lanes a bank";
    EXPECT_EQ(m.host_lanes.size(), 16U);
    EXPECT_THAT(m.warnings, Not(Contains(HasSubstr("bank")))) << raw;
  }
}

TEST(CmisBanks, TheSameLightTwiceIs) {
  const ModuleSample m = decode(two_banks(8000));
  EXPECT_THAT(
      m.warnings,
      Contains("page 11h of bank 1 is a copy of bank 0: the driver ignores the bank: left out"));
  EXPECT_EQ(m.lanes.size(), 4U);
}

/// 2 x (8 host lanes to 4 media lanes): lanes 5 to 8 of the first bank are not there, the second
/// bank's four are.
TEST(CmisBanks, LanesThatTheFirstBankDoesNotHaveAreNotTheSecondBanks) {
  auto b = two_banks(1);
  b.page(0).byte(210, 0xf2);
  b.page(0x11, 1).u16(186, 1234).u16(188, 1234);
  const ModuleSample m = decode(b);
  ASSERT_EQ(m.lanes.size(), 8U);
  EXPECT_EQ(m.lanes[1], ModuleLane{});
  for (const unsigned lane : {4U, 5U})
    EXPECT_DOUBLE_EQ(m.lanes[lane].rx_power_mw.value_or(0), 0.1234) << lane;
}

TEST(CmisBanks, AWarningNamesTheLaneAsItIsNumbered) {
  auto b = two_banks(1);
  b.page(0x11, 1).u16(186, 0xffff);
  EXPECT_THAT(decode(b).warnings, Contains(HasSubstr("lane 5")));
}

// osfp-2x400g-fr4 of the corpus has it: no lane at all would be there.
TEST(CmisLanes, AMaskOfAllLanesIsNone) {
  auto b = EepromBuilder::cmis();
  b.page(0).byte(210, 0xff);
  EXPECT_TRUE(decode(b).lanes[3].rx_power_mw);
  b.page(0x11).byte(130, 0x11).byte(131, 0x11).fill(210, 4, 0);
  const ModuleSample m = decode(b);
  EXPECT_TRUE(m.lanes[1].rx_power_mw);
  EXPECT_EQ(m.lanes[2], ModuleLane{}) << "nothing runs over it, whatever the mask says";
}

TEST(CmisLanes, SnrThatCannotBeIsNone) {
  constexpr auto kSaid = "a signal-to-noise ratio of more than 60 dB cannot be true: left out";
  auto b = EepromBuilder::cmis();
  b.page(0x14).byte(128, 0x06).fill(240, 8, 0xff);
  EXPECT_THAT(decode(b).vdm.media_esnr_db, IsEmpty());
  EXPECT_THAT(decode(b).warnings, ElementsAre(kSaid));
  b.page(0x14).byte(242, 0x80).byte(243, 0x15).byte(244, 0x00).byte(245, 0x80);
  EXPECT_THAT(decode(b).vdm.media_esnr_db, ElementsAre(0.0, 21.5)) << "a lane keeps its place";
  const ModuleSample vdm =
      decode(EepromBuilder::cmis_with_vdm({{0, 5, 0x8000}, {1, 5, 0x1580}, {2, 5, 0xfffe}}));
  EXPECT_THAT(vdm.vdm.media_esnr_db, ElementsAre(0.0, 21.5));
  EXPECT_THAT(vdm.warnings, ElementsAre(kSaid));
}

TEST(CmisState, AModuleThatObeysTheLowPowerPinSaysSo) {
  auto b = EepromBuilder::cmis();
  EXPECT_EQ(decode(b).low_power_pin_obeyed, false);
  b.lower().byte(3, 0x02).byte(26, 0x40);
  EXPECT_EQ(decode(b).low_power_pin_obeyed, true);
  EXPECT_EQ(decode(b).low_power_requested, false);
}

TEST(CmisPages, HaveNames) {
  EXPECT_EQ(page_name({kModuleAddressA0, 0, 0x11, true}, ModuleMap::kCmis), "page 11h");
  EXPECT_EQ(page_name({kModuleAddressA0, 1, 0x11, true}, ModuleMap::kCmis), "page 11h of bank 1");
  EXPECT_EQ(page_name({kModuleAddressA0, 0, 0, false}, ModuleMap::kCmis), "the lower page");
  EXPECT_EQ(page_name({kModuleAddressA2, 0, 0, false}, ModuleMap::kSff8472), "A2h");
  EXPECT_EQ(page_name({kModuleAddressA0, 0, 0, true}, ModuleMap::kSff8472), "A0h, upper half");
}

TEST(CmisPages, OneThatIsMissingIsSaid) {
  const auto without = [](EepromBuilder b, std::uint8_t page) {
    return decode(b.without(page)).warnings;
  };
  EXPECT_THAT(without(EepromBuilder::cmis(), 0x02),
              ElementsAre("page 02h was not read: the module's limits are not known"));
  const auto vdm = EepromBuilder::cmis_with_vdm({{0x0f, kAvg, 0}});
  EXPECT_THAT(without(vdm, 0x2f),
              ElementsAre("page 2fh was not read: the module's VDM values are not known"));
  EXPECT_THAT(without(vdm, 0x24),
              ElementsAre("page 24h was not read: its VDM values are not known"));
  EXPECT_THAT(decode(vdm).warnings, IsEmpty());
}

/// CMIS 5.4 7.1.3.2: the end of the scale, which nothing can pass, stands where a limit is missing.
TEST(CmisUnknown, ALimitThatIsMissingIsNoneAndTheOthersAreLimits) {
  auto b = EepromBuilder::cmis();
  b.page(2).limits(128, 0x7fff, 0x8000, 70 << 8, 0).limits(184, 0xffff, 5000, 35000, 10000);
  b.page(2).limits(192, 0xffff, 0x0000, 28184, 2041);
  ModuleThresholds limits = decode(b).thresholds;
  EXPECT_EQ(limits.temperature_c, (Limits{std::nullopt, 0, 70, std::nullopt}));
  EXPECT_EQ(limits.tx_bias_ma, (Limits{20, 40, 140, std::nullopt}));
  EXPECT_EQ(limits.rx_power_mw, (Limits{std::nullopt, 0.2041, 2.8184, std::nullopt}));
  EXPECT_THAT(decode(b).warnings, IsEmpty());
  b.page(2).limits(192, 0xffff, 3000, 28184, 2041);
  EXPECT_TRUE(decode(b).thresholds.rx_power_mw.empty()) << "the low ones are not in order";
  EXPECT_THAT(decode(b).warnings, Contains(HasSubstr("Rx power limits are not in order")));
}

/// Table 8-64: 7FFFh is all that the cooler can do, a number like others.
TEST(CmisUnknown, ACoolersLimitOfAllItsCurrentIsANumber) {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(159, 0x07).byte(145, 0x01);
  b.page(2).limits(144, 0x7fff, 0x8001, 0x72a0, 0x8d00);
  EXPECT_EQ(decode(b).thresholds.tec_current_percent.high_alarm, 100);
}

/// The older maps have no such rule: a low limit of zero is one there.
TEST(CmisUnknown, AQsfpsLimitAtTheEndOfTheScaleIsANumber) {
  auto b = EepromBuilder::sff8636();
  b.page(3).limits(184, 5000, 0, 4500, 0);
  EXPECT_EQ(decode(b).thresholds.tx_bias_ma, (Limits{0, 0, 9, 10}));
}

}  // namespace
}  // namespace linkhealth
