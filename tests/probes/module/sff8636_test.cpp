#include <gmock/gmock.h>

#include "probes/module/decode.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ModuleSample decode(const EepromBuilder& b) { return decode_module(b.image()); }

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

TEST(Sff8636, LaneFlagsStandInNibblesWithTheOddLaneHigh) {
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

TEST(Sff8636, APassiveCableWithPlausibleNumbersHasNone) {
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

TEST(Sff8636, AnActiveCopperCableLosesSignalAndLockAndHasNoLight) {
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

TEST(Sff8636, UnreadableLimitsAreNone) {
  auto b = EepromBuilder::sff8636();
  const ModuleSample m = decode(b.without(3));
  EXPECT_TRUE(m.thresholds.empty());
  EXPECT_EQ(m.lanes.size(), 4U);
}

TEST(Sff8636, APage03ThatIsACopyOfPage00IsNone) {
  auto b = EepromBuilder::sff8636();
  ModuleImage image = b.image();
  const auto page00 = *image.whole({kModuleAddressA0, 0, 0, true});
  image.store({kModuleAddressA0, 0, 3, 128, 128}, page00);
  const ModuleSample m = decode_module(image);
  EXPECT_TRUE(m.thresholds.empty());
  EXPECT_THAT(m.warnings, Contains(HasSubstr("page 03h is a copy of page 00h")));
}

TEST(Sff8636, WithoutPage00NothingIsTakenForLight) {
  auto b = EepromBuilder::sff8636();
  const ModuleSample m = decode(b.without(0));
  EXPECT_THAT(m.lanes, IsEmpty());
  EXPECT_EQ(m.kind, "unknown");
}

/// A dump or a first read may break off before the byte that tells a cable.
TEST(Sff8636, APageThatBreaksOffBeforeItsMediumIsNotTakenForLight) {
  auto dac = EepromBuilder::sff8636();
  dac.page(0).byte(147, 0xa0).byte(130, 0x23).byte(192, 0x0b);
  auto named =
      EepromBuilder::sff8636();  // its technology says a laser, only the extended code says copper
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

TEST(Sff8636, OldRevisionsMeasureWhatIsNotZero) {
  auto b = EepromBuilder::sff8636();
  b.lower().byte(1, 0x03).u16(22, 0);
  b.page(0).byte(220, 0x0c);
  const ModuleSample m = decode(b);
  EXPECT_FALSE(m.temperature_c);
  EXPECT_DOUBLE_EQ(*m.supply_v, 3.3);
}

/// Before revision 2.8 a zero of the temperature or the supply says that it is not measured. Where
/// nothing else is either, no receiver is in the dark.
TEST(Sff8636, AnOldModuleWhoseMetersAllReadZeroMeasuresNothing) {
  auto b = EepromBuilder::sff8636();
  b.lower().byte(1, 0x00).fill(22, 36, 0x00);
  ModuleSample m = decode(b);
  ASSERT_EQ(m.lanes.size(), 4U);
  for (const ModuleLane& lane : m.lanes)
    EXPECT_FALSE(lane.rx_power_mw || lane.tx_power_mw || lane.tx_bias_ma);
  EXPECT_THAT(m.warnings, Contains("all readings are zero: nothing is measured"));
  // One with a temperature alone is in the dark, and so is one that offers its light alone.
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

// SFF-8636 2.11 table 6-4: 09h to FFh are reserved. Only a revision says which rule tells what is
// measured.
TEST(Sff8636, ARevisionThatIsReservedIsSaidAndSoIsWhatIsThenNotKnown) {
  for (const unsigned revision : {0x09U, 0xffU}) {
    auto b = EepromBuilder::sff8636();
    b.lower().byte(1, revision);
    EXPECT_EQ(decode(b).temperature_c, 45) << "it says that it measures it";
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
TEST(Sff8636, AModuleThatItsHostHoldsInLowPowerSaysSo) {
  auto b = EepromBuilder::sff8636();
  EXPECT_EQ(decode(b).low_pwr_request_sw, std::nullopt) << "the pin decides, which cannot be read";
  EXPECT_EQ(decode(b).low_pwr_allow_request_hw, true);
  EXPECT_EQ(decode(b).allowed_power_w, std::nullopt) << "class 3 needs no leave";
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

TEST(Sff8636, AModuleOfAHighPowerClassSaysWhetherItMayTakeIt) {
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
  EXPECT_EQ(allowed(0xc0, 0x00), std::nullopt) << "class 4 needs no leave";
}

TEST(Sff8636, AnUnprogrammedLowerPageIsNotBelieved) {
  auto b = EepromBuilder::sff8636();
  b.lower().byte(0, 0);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.vendor, "ACME OPTICS");
  EXPECT_FALSE(m.temperature_c);
  EXPECT_THAT(m.warnings, Contains(HasSubstr("names no form factor")));
}

TEST(Sff8636, ATornPageIsAbsentByteForByte) {
  auto b = EepromBuilder::sff8636();
  ModuleImage image = b.image();
  const auto lower = *image.whole(kLowerPage);
  const std::vector<std::uint8_t> part(lower.begin(), lower.begin() + 37);
  image.forget(kLowerPage);
  image.store(request_of(kLowerPage), part);
  const ModuleSample m = decode_module(image);
  EXPECT_TRUE(m.lanes[0].rx_power_mw);
  EXPECT_FALSE(m.lanes[1].rx_power_mw) << "only one of its two bytes came";
  EXPECT_FALSE(m.lanes[3].tx_bias_ma);
}

}  // namespace
}  // namespace linkhealth
