#include "tests/probes/module/decoded.h"

namespace linkhealth {
namespace {

TEST(Sff8636, ReadsAWholeModule) {
  const ModuleSample m = decode(EepromBuilder::sff8636());
  EXPECT_EQ(m.kind, "optical");
  EXPECT_EQ(m.type, "100G-SR4");
  EXPECT_EQ(m.connector, "MPO-12");
  EXPECT_EQ(m.power_class, 3U);
  ASSERT_EQ(m.lanes.size(), 4U);
  EXPECT_DOUBLE_EQ(*m.lanes[3].rx_power_mw, 0.7003);
  EXPECT_DOUBLE_EQ(*m.lanes[0].tx_bias_ma, 7);
  EXPECT_DOUBLE_EQ(*m.thresholds.rx_power_mw.high_alarm, 2.1878);
  EXPECT_DOUBLE_EQ(*m.thresholds.tx_bias_ma.high_alarm, 10);
  EXPECT_THAT(m.warnings, IsEmpty());
}

TEST(Sff8636, LaneFlagsAreInNibblesWithTheOddLaneHigh) {
  auto b = EepromBuilder::sff8636();
  b.lower().byte(3, 0x12).byte(9, 0x48).byte(4, 0x08);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.lanes[1].rx_los, true);
  EXPECT_EQ(m.lanes[0].tx_los, true);
  EXPECT_EQ(m.lanes[3].tx_fault, true);
  EXPECT_EQ(m.lanes[0].rx_power_flags.low_alarm, true);
  EXPECT_EQ(m.lanes[0].rx_power_flags.high_alarm, false);
  EXPECT_EQ(m.lanes[1].rx_power_flags.high_alarm, true);
  EXPECT_EQ(m.lanes[2].rx_power_flags.high_alarm, false);
}

TEST(Sff8636, APassiveCableMeasuresNothing) {
  auto b = EepromBuilder::sff8636();
  b.page(0).byte(147, 0xa0).byte(130, 0x23).byte(146, 2).byte(192, 0x0b).byte(220, 0).u16(186,
                                                                                          0x0608);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.kind, "dac");
  EXPECT_EQ(m.length_m, 2);
  EXPECT_THAT(m.lanes, IsEmpty());
  EXPECT_FALSE(m.temperature_c);
  EXPECT_FALSE(m.wavelength_nm);
}

TEST(Sff8636, AnActiveCopperCableHasSignalAndLockButNoLight) {
  auto b = EepromBuilder::sff8636();
  b.lower().byte(3, 0x05).byte(5, 0x02);
  b.page(0).byte(147, 0xc0).byte(194, 0x30);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.kind, "acc");
  ASSERT_EQ(m.lanes.size(), 4U);
  EXPECT_EQ(m.lanes[0].rx_los, true);
  EXPECT_EQ(m.lanes[1].rx_los, false);
  EXPECT_EQ(m.lanes[1].rx_lol, true);
  EXPECT_FALSE(m.lanes[0].rx_power_mw);
  EXPECT_TRUE(m.thresholds.rx_power_mw.empty());
}

/// A dump or a first read may break off before the byte that distinguishes a cable.
TEST(Sff8636, APageThatBreaksOffBeforeItsMediumIsNotTakenForLight) {
  auto dac = EepromBuilder::sff8636();
  dac.page(0).byte(147, 0xa0).byte(130, 0x23).byte(192, 0x0b);
  auto named = EepromBuilder::sff8636();  // only the extended code names copper
  named.page(0).byte(147, 0x00).byte(130, 0x23).byte(192, 0x0b);
  for (const auto& [module, bytes] : {std::pair{dac, 12}, {named, 60}}) {
    ModuleImage image = module.image();
    const auto page00 = *image.whole(upper_key(0));
    const std::vector<std::uint8_t> part(page00.begin(), page00.begin() + bytes);
    image.forget(upper_key(0));
    image.store(request_of(upper_key(0)), part);
    const ModuleSample m = decode_module(image);
    EXPECT_EQ(m.kind, "unknown") << bytes;
    EXPECT_THAT(m.lanes, IsEmpty()) << bytes;
    EXPECT_TRUE(m.thresholds.rx_power_mw.empty()) << bytes;
    EXPECT_THAT(m.warnings,
                Contains("page 00h was read in part: light is left out, it may be a copper cable"))
        << bytes;
  }
}

/// Before revision 2.8 a temperature or a supply of zero is not measured. If all meters read zero,
/// the module has none, and no receiver is dark.
TEST(Sff8636, AnOldModuleWhoseMetersAllReadZeroMeasuresNothing) {
  auto b = EepromBuilder::sff8636();
  b.lower().byte(1, 0x03).u16(22, 0);
  b.page(0).byte(220, 0x0c);
  EXPECT_FALSE(decode(b).temperature_c);
  EXPECT_DOUBLE_EQ(*decode(b).supply_v, 3.3);
  b = EepromBuilder::sff8636();
  b.lower().byte(1, 0x00).fill(22, 36, 0x00);
  ModuleSample m = decode(b);
  ASSERT_EQ(m.lanes.size(), 4U);
  for (const ModuleLane& lane : m.lanes)
    EXPECT_FALSE(lane.rx_power_mw || lane.tx_power_mw || lane.tx_bias_ma);
  EXPECT_THAT(m.warnings, Contains("all readings are zero: nothing is measured"));
  // A module with a temperature, or one that advertises its light, is dark.
  b.lower().u16(22, 45 << 8);
  m = decode(b);
  EXPECT_EQ(m.temperature_c, 45);
  EXPECT_EQ(m.lanes.at(0).rx_power_mw, 0);
  EXPECT_THAT(m.warnings, IsEmpty());
  b.lower().byte(1, 0x08).u16(22, 0);
  b.page(0).byte(220, 0x0c);
  m = decode(b);
  EXPECT_EQ(m.lanes.at(0).rx_power_mw, 0);
  EXPECT_THAT(m.warnings, IsEmpty());
}

// SFF-8636 2.11 table 6-4: 09h to FFh are reserved. The revision decides which rule shows what is
// measured.
TEST(Sff8636, AReservedRevisionIsAWarning) {
  for (const unsigned revision : {0x09U, 0xffU}) {
    auto b = EepromBuilder::sff8636();
    b.lower().byte(1, revision);
    EXPECT_EQ(decode(b).temperature_c, 45) << "it advertises the monitor";
    EXPECT_EQ(decode(b).management, "SFF-8636");
    EXPECT_THAT(decode(b).warnings,
                ElementsAre(HasSubstr("is reserved: the memory map's version is not known")));
    b.page(0).byte(220, 0x0c);
    const ModuleSample m = decode(b);
    EXPECT_FALSE(m.temperature_c);
    EXPECT_FALSE(m.supply_v);
  }
  auto old = EepromBuilder::sff8636();
  old.lower().byte(1, 0x02);
  EXPECT_EQ(decode(old).management, "SFF-8436");
}

// SFF-8636 2.11 table 6-10: .0 puts .1 in the place of the pin LPMode.
TEST(Sff8636, LowPowerRequestedByTheHost) {
  auto b = EepromBuilder::sff8636();
  EXPECT_EQ(decode(b).low_pwr_request_sw, std::nullopt) << "the pin decides, which cannot be read";
  EXPECT_EQ(decode(b).low_pwr_allow_request_hw, true);
  EXPECT_EQ(decode(b).allowed_power_w, std::nullopt) << "class 3 needs no permission";
  b.lower().byte(93, 0x03);
  EXPECT_EQ(decode(b).low_pwr_request_sw, true);
  EXPECT_EQ(decode(b).low_pwr_allow_request_hw, false);
  b.lower().byte(93, 0x01);
  EXPECT_EQ(decode(b).low_pwr_request_sw, false);
  b.page(0).byte(147, 0xa0);  // a passive cable has no such control
  EXPECT_EQ(decode(b).low_pwr_request_sw, std::nullopt);
}

/// Tables 6-10 and 6-11: a contact that is programmed as TxDis (99.1, offered by 193.6) holds
/// nothing in low power.
TEST(Sff8636, APinThatSwitchesTheTransmittersOffIsNoLowPowerPin) {
  const auto obeyed = [](unsigned offered, unsigned signals, unsigned power) {
    auto b = EepromBuilder::sff8636();
    b.lower().byte(99, signals).byte(93, power);
    b.page(0).byte(193, offered);
    return decode(b).low_pwr_allow_request_hw;
  };
  EXPECT_EQ(obeyed(0x40, 0x02, 0), false);
  EXPECT_EQ(obeyed(0x40, 0x01, 0), true) << "the other bit is of IntL";
  EXPECT_EQ(obeyed(0x00, 0x02, 0), true) << "reserved where it is not offered";
  EXPECT_EQ(obeyed(0x40, 0x00, 1), false);
}

TEST(Sff8636, AHighPowerClassNeedsPermission) {
  const auto allowed = [](unsigned extended_identifier, unsigned control) {
    auto b = EepromBuilder::sff8636();
    b.page(0).byte(129, extended_identifier);
    b.lower().byte(107, 90);
    b.lower().byte(93, control);
    return decode(b).allowed_power_w;
  };
  EXPECT_EQ(allowed(0xc2, 0x00), 3.5) << "class 6";
  EXPECT_EQ(allowed(0xc2, 0x04), std::nullopt) << "as much as it needs";
  EXPECT_EQ(allowed(0x20, 0x00), 3.5) << "class 8";
  EXPECT_EQ(allowed(0x20, 0x04), 5.0) << "as much as class 7";
  EXPECT_EQ(allowed(0x20, 0x08), std::nullopt);
  EXPECT_EQ(allowed(0xc0, 0x00), std::nullopt) << "class 4 needs no permission";
}

TEST(Sff8636, MissingPagesAndBytesAreAbsent) {
  auto b = EepromBuilder::sff8636();
  ModuleImage image = b.image();
  const auto lower = *image.whole(kLowerPage);
  const std::vector<std::uint8_t> part(lower.begin(), lower.begin() + 37);
  image.forget(kLowerPage);
  image.store(request_of(kLowerPage), part);
  const ModuleSample torn = decode_module(image);
  EXPECT_TRUE(torn.lanes[0].rx_power_mw);
  EXPECT_FALSE(torn.lanes[1].rx_power_mw) << "only one of its two bytes came";
  EXPECT_FALSE(torn.lanes[3].tx_bias_ma);
  const ModuleSample no_limits = decode(EepromBuilder(b).without(3));
  EXPECT_TRUE(no_limits.thresholds.empty());
  EXPECT_EQ(no_limits.lanes.size(), 4U);
  const ModuleSample no_identity = decode(EepromBuilder(b).without(0));
  EXPECT_THAT(no_identity.lanes, IsEmpty()) << "it may be copper";
  EXPECT_EQ(no_identity.kind, "unknown");
  ModuleImage copy = b.image();
  copy.store(request_of(upper_key(3)), *copy.whole(upper_key(0)));
  EXPECT_TRUE(decode_module(copy).thresholds.empty());
  EXPECT_THAT(decode_module(copy).warnings, Contains(HasSubstr("page 03h is a copy of page 00h")));
  b.lower().byte(0, 0);
  const ModuleSample unprogrammed = decode(b);
  EXPECT_EQ(unprogrammed.vendor, "ACME OPTICS");
  EXPECT_FALSE(unprogrammed.temperature_c);
  EXPECT_THAT(unprogrammed.warnings, Contains(HasSubstr("names no form factor")));
}

TEST(Sff8636, FlagsOfOnesAreNone) {
  auto b = EepromBuilder::sff8636();
  b.lower().fill(3, 12, 0xff);
  const ModuleSample m = decode(b);
  EXPECT_TRUE(m.temperature_flags.empty() && m.supply_flags.empty());
  for (const ModuleLane& lane : m.lanes) {
    EXPECT_TRUE(lane.rx_power_flags.empty() && lane.tx_bias_flags.empty());
    EXPECT_FALSE(lane.rx_los || lane.rx_lol || lane.tx_los || lane.tx_lol || lane.tx_fault);
    EXPECT_TRUE(lane.rx_power_mw);
  }
  b.lower().fill(6, 9, 0);
  EXPECT_EQ(decode(b).lanes.at(0).rx_los, true) << "all lanes without a signal can be";
}

TEST(Sff8636, AFlagOfALimitThatIsNotThereIsNone) {
  auto b = EepromBuilder::sff8636();
  b.lower().byte(9, 0xa5).byte(11, 0x55);
  b.page(3).limits(176, 0, 0, 0, 0);
  const ModuleSample m = decode(b);
  EXPECT_TRUE(m.lanes.at(0).rx_power_flags.empty());
  EXPECT_EQ(m.lanes.at(0).tx_bias_flags.low_alarm, true);
  b.without(3);
  EXPECT_EQ(decode(b).lanes.at(0).rx_power_flags.high_alarm, true)
      << "limits that were not read may be there";
}

TEST(Sff8636, TwistedPairByFibreChannelsMedia) {
  auto b = EepromBuilder::sff8636();
  b.page(0).byte(131, 0).byte(137, 0x40).byte(147, 0).u16(186, 0).byte(192, 0);
  EXPECT_EQ(decode(b).kind, "unknown");
  EXPECT_EQ(decode(b).media_type, "copper");
  b.byte(137, 0x44);
  EXPECT_EQ(decode(b).kind, "optical");
}

}  // namespace
}  // namespace linkhealth
