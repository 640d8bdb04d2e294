// CMIS where the module, its driver or a file leaves something out, and what the host requested of
// the module.
#include "probes/module/screen.h"
#include "tests/probes/module/decoded.h"

namespace linkhealth {
namespace {

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
  EXPECT_EQ(m.host_lanes.size(), 8U);
  EXPECT_TRUE(m.thresholds.rx_power_mw.empty());
  EXPECT_EQ(m.length_m, 2);
}

TEST(CmisPassiveCopper, HasNoLanes) {
  auto b = active_copper();
  b.page(0).byte(212, 0x0a);
  EXPECT_EQ(decode(b).kind, "dac");
  EXPECT_THAT(decode(b).lanes, IsEmpty());
}

/// Bytes 01h:159 and 145 advertise the auxiliary monitors and what they measure.
TEST(CmisAuxiliary, TheFirstOfEachKindIsRead) {
  struct Row {
    unsigned there, kinds;
    std::optional<double> tec_percent, laser_c;
  };
  const Row rows[] = {
      {0x03, 0x07, {}, {}},  // none is there
      {0x07, 0x00, {}, {}},  // the first is the vendor's own
      {0x07, 0x01, 12.5, {}},   {0x0b, 0x00, {}, 61.5}, {0x0b, 0x02, 48.05, {}},
      {0x13, 0x00, {}, 70.25},  {0x13, 0x04, {}, {}},  // a second supply
      {0x1f, 0x01, 12.5, 61.5},                        // of two laser temperatures the first
  };
  for (const Row& row : rows) {
    auto b = EepromBuilder::cmis();
    b.lower().u16(18, 4096).u16(20, 61 * 256 + 128).u16(22, 70 * 256 + 64);
    b.page(1).byte(159, row.there).byte(145, row.kinds);
    const ModuleSample m = decode(b);
    EXPECT_EQ(m.laser_temperature_c, row.laser_c) << row.there << " " << row.kinds;
    ASSERT_EQ(m.tec_current_percent.has_value(), row.tec_percent.has_value())
        << row.there << " " << row.kinds;
    EXPECT_NEAR(m.tec_current_percent.value_or(0), row.tec_percent.value_or(0), 0.02);
  }
}

TEST(CmisAuxiliary, LimitsStandOnPage02) {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(159, 0x0f).byte(145, 0x01);
  b.lower().u16(18, 0x4000).u16(20, 0x3000);
  b.page(2).limits(144, 0x7000, 0x9000, 0x6000, 0xa000).limits(152, 0x5000, 0xfb00, 0x4b00, 0);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.thresholds.laser_temperature_c, (Limits{-5, 0, 75, 80}));
  EXPECT_NEAR(*m.thresholds.tec_current_percent.low_warn, -0x6000 * 100.0 / 32767, 1e-9);
}

/// Tables 8-111 and 8-131. All of a 400G-DR4: eight host lanes, four of light.
TEST(CmisLoopback, HasItsSideAndItsLanes) {
  struct Row {
    unsigned byte, one_by_one, enables;
    ModuleLoopback loopback;
  };
  const Row rows[] = {{180, 0x30, 0x06, {"media", "output", {2, 3}}},
                      {181, 0x30, 0x06, {"media", "input", {2, 3}}},
                      {182, 0x30, 0x06, {"host", "output", {2, 3}}},
                      {183, 0x30, 0x06, {"host", "input", {2, 3}}},
                      {180, 0x30, 0xff, {"media", "output", {1, 2, 3, 4}}},
                      {181, 0x10, 0x01, {"media", "input", {1, 2, 3, 4}}}};
  for (const Row& row : rows) {
    auto b = EepromBuilder::cmis();
    b.page(0x13).byte(128, row.one_by_one).byte(row.byte, row.enables);
    EXPECT_THAT(decode(b).loopbacks, ElementsAre(row.loopback)) << row.byte;
    b.byte(row.byte, 0);
    EXPECT_THAT(decode(b).loopbacks, IsEmpty());
  }
}

TEST(CmisLoopback, TheSecondBankLoopsItsOwnLanes) {
  auto b = EepromBuilder::cmis();
  b.co_packaged();
  b.page(1).byte(142, 0x25);
  b.page(0x11, 1).fill(128, 4, 0x44).fill(206, 8, 0x10).u16(186, 1234);
  b.page(0x13, 1).byte(128, 0x30).byte(181, 0x01).byte(182, 0x01);
  EXPECT_THAT(decode(b).loopbacks, ElementsAre(ModuleLoopback{"media", "input", {5}},
                                               ModuleLoopback{"host", "output", {9}}));
}

/// Sixteen lanes whose second bank reads as the first.
EepromBuilder two_banks(unsigned rx_power_raw) {
  auto b = EepromBuilder::cmis();
  b.co_packaged();
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

TEST(CmisBanks, TheSameLightTwiceIsADriverThatIgnoresTheBank) {
  const ModuleSample m = decode(two_banks(8000));
  EXPECT_THAT(
      m.warnings,
      Contains("page 11h of bank 1 is a copy of bank 0: the driver ignores the bank: left out"));
  EXPECT_EQ(m.lanes.size(), 4U);
}

/// 2 x (8 host lanes to 4 media lanes): lanes 5 to 8 of the first bank are not there, the second
/// bank's four are.
TEST(CmisBanks, MissingLanesOfTheFirstBankAreNotTheSecondBanks) {
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
  EXPECT_EQ(m.lanes[2], ModuleLane{}) << "no application runs over it";
}

TEST(CmisState, TheLowPowerPinMayBeObeyed) {
  auto b = EepromBuilder::cmis();
  EXPECT_EQ(decode(b).low_pwr_allow_request_hw, false);
  b.lower().byte(3, 0x02).byte(26, 0x40);
  EXPECT_EQ(decode(b).low_pwr_allow_request_hw, true);
  EXPECT_EQ(decode(b).low_pwr_request_sw, false);
}

TEST(CmisPages, HaveNames) {
  EXPECT_EQ(page_name({kModuleAddressA0, 0, 0x11, true}, ModuleMap::kCmis), "page 11h");
  EXPECT_EQ(page_name({kModuleAddressA0, 1, 0x11, true}, ModuleMap::kCmis), "page 11h of bank 1");
  EXPECT_EQ(page_name({kModuleAddressA0, 0, 0, false}, ModuleMap::kCmis), "the lower page");
  EXPECT_EQ(page_name({kModuleAddressA2, 0, 0, false}, ModuleMap::kSff8472), "A2h");
  EXPECT_EQ(page_name({kModuleAddressA0, 0, 0, true}, ModuleMap::kSff8472), "A0h, upper half");
}

TEST(CmisPages, AMissingOneIsAWarning) {
  const auto without = [](EepromBuilder b, std::uint8_t page) {
    return decode(b.without(page)).warnings;
  };
  EXPECT_THAT(without(EepromBuilder::cmis(), 0x02),
              ElementsAre("page 02h was not read: the module's limits are not known"));
  const auto vdm = EepromBuilder::cmis_with_vdm({{0x0f, 13, 0}});
  EXPECT_THAT(without(vdm, 0x2f), ElementsAre("page 2fh was not read: VDM values are not known"));
  EXPECT_THAT(without(vdm, 0x24),
              ElementsAre("page 24h was not read: its VDM values are not known"));
  EXPECT_THAT(decode(vdm).warnings, IsEmpty());
}

/// CMIS 5.4 7.1.3.2: the end of the scale, which nothing can pass, stands where a limit is missing.
TEST(CmisUnknown, OneLimitMayBeMissing) {
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

// --- what the host requested (pages 10h and 11h, lower byte 8, page 01h)

TEST(CmisHost, ADataPathThatTheHostDeinitialised) {
  auto b = EepromBuilder::cmis();
  EXPECT_EQ(decode(b).host_lanes[1].dp_deinit, false);
  b.page(0x10).byte(128, 0x02);
  EXPECT_EQ(decode(b).host_lanes[1].dp_deinit, true);
  EXPECT_EQ(decode(b).host_lanes[0].dp_deinit, false);
  b.lower().byte(1, 0x30);
  EXPECT_EQ(decode(b).host_lanes[1].dp_deinit, std::nullopt)
      << "CMIS 3.0 has the opposite sense there";
}

TEST(CmisHost, AnOutputThatTheHostSwitchedOffIsKnownWhereOffered) {
  auto b = EepromBuilder::cmis();
  b.page(0x10).byte(138, 0x01);
  EXPECT_EQ(decode(b).host_lanes[0].rx_output_disabled, std::nullopt) << "not offered";
  b.page(1).byte(156, 0x02);
  EXPECT_EQ(decode(b).host_lanes[0].rx_output_disabled, true);
  EXPECT_EQ(decode(b).host_lanes[1].rx_output_disabled, false);
}

TEST(CmisHost, TheStatusOfAConfiguration) {
  auto b = EepromBuilder::cmis();
  b.page(0x11).byte(202, 0x31).byte(203, 0x7c).byte(204, 0xd9).byte(205, 0x00);
  const ModuleSample m = decode(b);
  constexpr const char* kWords[] = {
      "Success",          "RejectedInvalidAppSel", "InProgress", "RejectedPartialDataPath",
      "RejectedReserved", "RejectedCustom",        "",           ""};
  for (std::size_t i = 0; i < std::size(kWords); ++i)
    EXPECT_EQ(m.host_lanes[i].config_status, kWords[i]) << i;
}

TEST(CmisHost, TheTxOutputStatusExistsFromCmis5On) {
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
TEST(CmisHost, InvalidFirmware) {
  auto b = EepromBuilder::cmis();
  b.lower().u16(39, 0xffff);
  EXPECT_EQ(decode(b).firmware, "invalid");
  b.u16(39, 0);
  EXPECT_EQ(decode(b).firmware, "") << "it has none";
  b.byte(2, 0x80).u16(39, 0x0203);  // flat
  EXPECT_EQ(decode(b).firmware, "2.3");
  b.u16(39, 0xffff);
  EXPECT_EQ(decode(b).firmware, "") << "unwritten memory";
}

}  // namespace
}  // namespace linkhealth
