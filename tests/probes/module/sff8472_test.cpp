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

TEST(Sff8472, ReadsAWholeModule) {
  const ModuleSample m = decode(EepromBuilder::sff8472());
  EXPECT_EQ(m.kind, "optical");
  EXPECT_EQ(m.type, "10G-LR");
  EXPECT_EQ(m.vendor, "ACME OPTICS");
  EXPECT_EQ(m.date, "2025-03-02");
  EXPECT_EQ(m.wavelength_nm, 1310);
  EXPECT_EQ(m.reach_m, 10000);
  EXPECT_FALSE(m.length_m);
  EXPECT_DOUBLE_EQ(*m.temperature_c, 40);
  EXPECT_DOUBLE_EQ(*m.supply_v, 3.3);
  ASSERT_EQ(m.lanes.size(), 1U);
  EXPECT_DOUBLE_EQ(*m.lanes[0].tx_bias_ma, 30);
  EXPECT_DOUBLE_EQ(*m.lanes[0].rx_power_mw, 0.5);
  EXPECT_EQ(m.lanes[0].rx_los, false);
  EXPECT_DOUBLE_EQ(*m.thresholds.rx_power_mw.low_warn, 0.02);
  EXPECT_EQ(m.checksums_ok, true);
  EXPECT_THAT(m.warnings, IsEmpty());
}

/// Made-up constants: slope 2.0 and offset for the linear ones, a real polynomial for received
/// power.
TEST(Sff8472, AppliesExternalCalibrationToReadingsAndLimits) {
  auto b = EepromBuilder::sff8472();
  b.lower().byte(92, 0x58);
  b.a2().f32(56, 0).f32(60, 0).f32(64, 1e-4F).f32(68, 0.5F).f32(72, 10);
  b.u16(76, 0x0200)
      .u16(78, 100)
      .u16(80, 0x0180)
      .u16(82, 0xff9c)
      .u16(84, 0x0100)
      .u16(86, 0x0200)
      .u16(88, 0x0100);
  b.u16(90, 0).u16(104, 1000);
  const ModuleSample m = decode(b);
  EXPECT_DOUBLE_EQ(*m.temperature_c, 42);
  EXPECT_DOUBLE_EQ(*m.lanes[0].tx_bias_ma, (2 * 15000 + 100) * 0.002);
  EXPECT_DOUBLE_EQ(*m.lanes[0].tx_power_mw, (1.5 * 6000 - 100) * 1e-4);
  EXPECT_NEAR(*m.lanes[0].rx_power_mw, (1e-4 * 1e6 + 0.5 * 1000 + 10) * 1e-4, 1e-9);
  EXPECT_DOUBLE_EQ(*m.thresholds.temperature_c.high_alarm, 77);
}

TEST(Sff8472, DoesNotTrustMissingOrContradictoryCalibration) {
  auto none = EepromBuilder::sff8472();
  none.lower().byte(92, 0x58);
  EXPECT_THAT(decode(none).warnings, Contains(HasSubstr("without calibration constants")));
  EXPECT_DOUBLE_EQ(*decode(none).temperature_c, 40);
  auto both = EepromBuilder::sff8472();
  both.lower().byte(92, 0x78);
  EXPECT_THAT(decode(both).warnings, Contains(HasSubstr("both internally and externally")));
}

TEST(Sff8472, NaNInTheCalibrationIsNoReading) {
  auto b = EepromBuilder::sff8472();
  b.lower().byte(92, 0x58);
  b.a2().fill(56, 20, 0xff).u16(76, 256).u16(80, 256).u16(84, 256).u16(88, 256);
  EXPECT_FALSE(decode(b).lanes[0].rx_power_mw);
}

TEST(Sff8472, WithoutConstantsForItTheReceivedPowerIsUnknownAndNotDark) {
  auto b = EepromBuilder::sff8472();
  b.lower().byte(92, 0x58);
  b.a2().fill(56, 20, 0).u16(76, 256).u16(80, 256).u16(84, 256).u16(88, 256).u16(104, 5000);
  const ModuleSample m = decode(b);
  EXPECT_FALSE(m.lanes[0].rx_power_mw);
  EXPECT_TRUE(m.thresholds.rx_power_mw.empty());
  EXPECT_TRUE(m.lanes[0].tx_power_mw);
  EXPECT_THAT(
      m.warnings,
      ElementsAre("externally calibrated, and the constants of the received power are all zero: it "
                  "is left out"));
}

TEST(Sff8472, WhereItsMonitorsCannotBeReadItSaysSo) {
  auto away = EepromBuilder::sff8472();
  ModuleImage image = away.image();
  image.drop({kModuleAddressA2, 0, 0, false});
  EXPECT_THAT(decode_module(image).warnings,
              ElementsAre("A2h was not read: light, limits and flags are not known"));
  away.lower().byte(92, 0x6c);
  EXPECT_THAT(
      decode(away).warnings,
      ElementsAre("its monitors need a change of the bus address, which the kernel does not make"));
  away.lower().byte(92, 0);
  EXPECT_THAT(decode(away).warnings, IsEmpty()) << "it has none";
}

TEST(Sff8472, AnActiveCopperCableSaysThatItLostItsSignal) {
  auto b = EepromBuilder::sff8472();
  b.lower().byte(8, 0x08).byte(2, 0x21).byte(3, 0).byte(18, 3).u16(60, 0x0100);
  b.a2().byte(110, 0x02);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.kind, "acc");
  ASSERT_EQ(m.lanes.size(), 1U);
  EXPECT_EQ(m.lanes[0].rx_los, true);
  EXPECT_FALSE(m.lanes[0].rx_power_mw);
}

/// An SFP28 with clock recovery whose clocks and equalizer of the host's signal have failed.
EepromBuilder with_unlocked_clocks() {
  auto b = EepromBuilder::sff8472();
  b.lower().byte(36, 0x02).byte(64, 0x08).byte(94, 0x09);
  b.a2().byte(58, 0x01).byte(118, 0x10).byte(119, 0x03);
  return b;
}

TEST(Sff8472, AClockThatIsNotLockedIsSaid) {
  auto b = with_unlocked_clocks();
  ModuleLane lane = decode(b).lanes.at(0);
  EXPECT_EQ(lane.rx_lol, true);
  EXPECT_EQ(lane.tx_lol, true);
  EXPECT_EQ(lane.tx_eq_fault, true);
  b.a2().byte(118, 0x0f).byte(119, 0x1d);  // the other bits are of rates and power levels
  lane = decode(b).lanes.at(0);
  EXPECT_EQ(lane.rx_lol, true);
  EXPECT_EQ(lane.tx_lol, false);
  EXPECT_EQ(lane.tx_eq_fault, false);
}

TEST(Sff8472, BitsOfClocksThatAreNotAdvertisedSayNothing) {
  auto none = with_unlocked_clocks();
  none.lower().byte(64, 0);
  none.a2().byte(58, 0);
  const ModuleLane lane = decode(none).lanes.at(0);
  EXPECT_FALSE(lane.rx_lol || lane.tx_lol || lane.tx_eq_fault);
  EXPECT_TRUE(lane.rx_los);
  auto external = with_unlocked_clocks();
  external.lower().byte(92, 0x58);
  EXPECT_TRUE(decode(external).lanes.at(0).rx_lol);
  EXPECT_FALSE(decode(external).lanes.at(0).tx_eq_fault)
      << "byte 58 is part of a calibration constant there";
}

/// The clocks' bits stood in byte 115 before; the equalizer's was reserved until 12.4.
TEST(Sff8472, BitsOfClocksAreReadFromTheRevisionOnThatHasThemThere) {
  struct Row {
    unsigned revision;
    bool clocks, equalizer;
  };
  for (const Row& row : {Row{0, false, false},
                         {7, false, false},
                         {8, true, false},
                         {9, true, true},
                         {10, true, true}}) {
    auto b = with_unlocked_clocks();
    b.lower().byte(94, row.revision);
    const ModuleLane lane = decode(b).lanes.at(0);
    EXPECT_EQ(lane.rx_lol.has_value(), row.clocks) << row.revision;
    EXPECT_EQ(lane.tx_lol.has_value(), row.clocks) << row.revision;
    EXPECT_EQ(lane.tx_eq_fault.has_value(), row.equalizer) << row.revision;
  }
}

TEST(Sff8472, ACopperCableHasNoLight) {
  auto b = EepromBuilder::sff8472();
  b.lower().byte(8, 0x04).byte(2, 0x21).byte(3, 0).byte(18, 3).u16(60, 0x0100);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.kind, "dac");
  EXPECT_EQ(m.length_m, 3);
  EXPECT_FALSE(m.wavelength_nm) << "bytes 60-61 of a cable are bits";
  EXPECT_THAT(m.lanes, IsEmpty());
  EXPECT_FALSE(m.temperature_c);
  EXPECT_TRUE(m.thresholds.empty());
}

TEST(Sff8472, WithoutDdmNothingIsMeasured) {
  auto b = EepromBuilder::sff8472();
  b.lower().byte(92, 0);
  const ModuleSample m = decode(b);
  EXPECT_FALSE(m.temperature_c);
  EXPECT_THAT(m.lanes, IsEmpty());
}

TEST(Sff8472, AllOnesAndZeroLimitsAreNoNumbers) {
  auto b = EepromBuilder::sff8472();
  b.a2().u16(96, 0xffff).limits(32, 0, 0, 0, 0).limits(24, 1, 2, 3, 4);
  b.a2().limits(16, 0xffff, 0xffff, 0xffff, 0xffff);
  const ModuleSample m = decode(b);
  EXPECT_FALSE(m.temperature_c) << "-0.004 C is ffffh";
  EXPECT_TRUE(m.thresholds.rx_power_mw.empty());
  EXPECT_TRUE(m.thresholds.tx_power_mw.empty());
  EXPECT_THAT(m.warnings, Contains(HasSubstr("temperature reads ffffh")));
  EXPECT_THAT(m.warnings, Contains("Rx power limits are all zero: the module gives none"));
  EXPECT_THAT(m.warnings, Contains(HasSubstr("Tx power limits are not in order")));
  EXPECT_TRUE(m.thresholds.tx_bias_ma.empty());
  EXPECT_THAT(m.warnings, Contains("bias limits are all ones: nobody has written any"));
}

TEST(Sff8472, NoLightIsZeroNotAbsent) {
  auto b = EepromBuilder::sff8472();
  b.a2().u16(104, 0).byte(110, 0x02);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.lanes[0].rx_power_mw, 0);
  EXPECT_EQ(m.lanes[0].rx_los, true);
}

TEST(Sff8472, ALossOfSignalMayBeInvertedOrMeaningless) {
  for (const auto& [options, los] : {std::pair{0x02U, std::optional(true)},
                                     {0x04U, std::optional(false)},
                                     {0x06U, std::optional<bool>()}}) {
    auto b = EepromBuilder::sff8472();
    b.lower().byte(65, options);
    b.a2().byte(110, 0x02);
    EXPECT_EQ(decode(b).lanes[0].rx_los, los) << options;
  }
}

TEST(Sff8472, CopperIsMeasuredInMetresAndNamedByItsRate) {
  auto cable = EepromBuilder::sff8472();
  cable.lower().byte(2, 0x21).byte(3, 0).byte(6, 0x04).byte(8, 0x04).byte(12, 103).byte(
      18, 3);  // 1000BASE-CX, passive
  EXPECT_EQ(decode(cable).type, "10G-CR");
  EXPECT_EQ(decode(cable).length_m, 3);
  cable.lower().byte(12, 12);
  EXPECT_EQ(decode(cable).type, "1G-CX");
}

TEST(Sff8472, WhatIsNotReadyIsNotRead) {
  auto b = EepromBuilder::sff8472();
  b.a2().byte(110, 0x01);
  const ModuleSample m = decode(b);
  EXPECT_FALSE(m.temperature_c);
  EXPECT_FALSE(m.lanes[0].rx_power_mw);
  EXPECT_EQ(m.data_not_ready, true);
}

TEST(Sff8472, OddTextIsCleanedOrLeftOut) {
  auto b = EepromBuilder::sff8472();
  b.lower().fill(68, 16, 0x81).byte(43, 0x1b).text(84, 8, "151610");
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.serial, "");
  EXPECT_EQ(m.part_number, "ACM?-10G-LR");
  EXPECT_EQ(m.date, "");
  EXPECT_THAT(m.warnings, Contains("serial number is not text: left out"));
  EXPECT_THAT(m.warnings, Contains("date code \"151610\" is no date: left out"));
}

TEST(Sff8472, AWrongChecksumIsSaidAndTheRestDecoded) {
  const auto b = EepromBuilder::sff8472();
  const ModuleSample m = decode_module(b.image(false));
  EXPECT_EQ(m.checksums_ok, false);
  EXPECT_EQ(m.vendor, "ACME OPTICS");
}

TEST(Sff8472, AnEmptyA2IsAbsent) {
  auto b = EepromBuilder::sff8472();
  b.a2().fill(0, 128, 0);
  ModuleImage image = b.image(false);
  const ModuleSample m = decode_module(image);
  EXPECT_FALSE(m.supply_v);
  EXPECT_THAT(m.lanes, IsEmpty());
  EXPECT_THAT(m.warnings, Contains("A2h is all zeros: left out"));
}

/// The upper half of A0h is the maker's own, and mostly empty: neither zeros nor ones say anything.
TEST(Sff8472, AnEmptyMakersAreaIsNoWarning) {
  for (const unsigned filler : {0x00U, 0xffU}) {
    auto b = EepromBuilder::sff8472();
    b.page(0).fill(128, 128, filler);
    EXPECT_THAT(decode_module(b.image()).warnings, IsEmpty()) << filler;
  }
}

TEST(Sff8472, TheCoolerIsReadWhereItIs) {
  auto b = EepromBuilder::sff8472();
  EXPECT_FALSE(decode(b).tec_current_ma) << "0: there is none";
  b.a2().limits(48, 1000, 0xfc18, 900, 0xfc7c).u16(108, 0xff9c).byte(113, 0x04).byte(117, 0x08);
  const ModuleSample m = decode(b);
  EXPECT_NEAR(*m.tec_current_ma, -10, 1e-9);
  EXPECT_NEAR(*m.thresholds.tec_current_ma.low_alarm, -100, 1e-9);
  EXPECT_EQ(
      m.tec_flags,
      (AlarmFlags{.low_alarm = true, .low_warn = false, .high_warn = true, .high_alarm = false}));
}

/// Bytes 40 to 55 and 108, and bits 3 and 2 of 113 and 117, were reserved until 11.4: an older
/// module's say nothing.
TEST(Sff8472, TheCoolerIsReadFromTheRevisionOnThatHasIt) {
  for (unsigned revision = 0; revision <= 10; ++revision) {
    auto b = EepromBuilder::sff8472();
    b.lower().byte(94, revision);
    b.a2().limits(48, 1000, 0xfc18, 900, 0xfc7c).u16(108, 0xff9c).byte(113, 0x04).byte(117, 0x08);
    const ModuleSample m = decode(b);
    EXPECT_EQ(m.tec_current_ma.has_value(), revision >= 7) << revision;
    EXPECT_EQ(m.thresholds.tec_current_ma.empty(), revision < 7) << revision;
    EXPECT_EQ(m.tec_flags.any(), revision >= 7) << revision;
    EXPECT_TRUE(m.temperature_c) << "what was there from the beginning stays";
  }
}

/// Each bit of status and each flag of A2h is taken only where a bit of A0h says that it is kept.
TEST(Sff8472, AStatusBitThatIsNotAdvertisedIsNotKnown) {
  auto b = EepromBuilder::sff8472();
  b.lower().byte(64, 0).byte(65, 0).byte(93, 0).byte(94, 10);
  b.a2().byte(110, 0xc6).byte(112, 0xff).byte(113, 0xff).byte(115, 0xff).byte(116, 0xff).byte(117,
                                                                                              0xff);
  b.a2().byte(118, 0xff).byte(119, 0xff);
  const ModuleSample m = decode(b);
  const ModuleLane& lane = m.lanes.at(0);
  EXPECT_FALSE(lane.rx_los || lane.tx_fault || lane.tx_disabled || lane.rx_lol || lane.tx_lol ||
               lane.tx_eq_fault);
  EXPECT_FALSE(lane.rx_power_flags.any() || lane.tx_power_flags.any() || lane.tx_bias_flags.any());
  EXPECT_FALSE(m.temperature_flags.any() || m.supply_flags.any() || m.tec_flags.any());
  EXPECT_TRUE(lane.rx_power_mw);
  struct Row {
    unsigned byte, bits;
    std::optional<bool> ModuleLane::*field;
  };
  for (const Row& row : {Row{93, 0x10, &ModuleLane::rx_los},
                         {93, 0x20, &ModuleLane::tx_fault},
                         {93, 0x40, &ModuleLane::tx_disabled},
                         {64, 0x08, &ModuleLane::rx_lol},
                         {64, 0x08, &ModuleLane::tx_lol}}) {
    auto one = b;
    one.lower().byte(row.byte, row.bits);
    EXPECT_EQ(decode(one).lanes.at(0).*row.field, true) << row.byte << " " << row.bits;
  }
}

// A2h 106 is a wavelength on a tunable module (A0h 65.6), a temperature on the others;
// revision 11.4 brought it.
TEST(Sff8472, ACooledLaserHasATemperature) {
  auto b = EepromBuilder::sff8472();
  b.a2().u16(106, 45 << 8).limits(40, 60 << 8, 20 << 8, 55 << 8, 25 << 8).byte(113, 0x20);
  const ModuleSample m = decode_module(b.image());
  EXPECT_EQ(m.laser_temperature_c, 45);
  EXPECT_EQ(m.thresholds.laser_temperature_c, (Limits{20, 25, 55, 60}));
  EXPECT_EQ(m.laser_temperature_flags.high_alarm, true);
  EXPECT_EQ(m.laser_temperature_flags.low_alarm, false);
  for (const auto& [offset, value] : {std::pair{65U, 0x40U}, {94U, 0x06U}}) {
    auto other = b;
    other.lower().byte(offset, value);
    EXPECT_FALSE(decode_module(other.image()).laser_temperature_c) << offset;
  }
  b.a2().u16(106, 0);
  EXPECT_EQ(decode_module(b.image()).laser_temperature_c, 0)
      << "it has limits, so that it is there";
  b.limits(40, 0, 0, 0, 0);
  EXPECT_FALSE(decode_module(b.image()).laser_temperature_c) << "it measures none";
}

/// SFF-8472 12.4.3 table 8-3.
TEST(Sff8472, TheHighestPowerLevelHasItsWattsInA2h) {
  auto b = EepromBuilder::sff8472();
  b.lower().byte(64, 0x60);
  b.a2().byte(66, 40);
  EXPECT_EQ(decode(b).max_power_w, 4.0);
  b.byte(66, 0);
  EXPECT_EQ(decode(b).max_power_w, std::nullopt) << "it does not say";
}

}  // namespace
}  // namespace linkhealth
