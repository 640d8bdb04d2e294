#include "tests/probes/module/decoded.h"

namespace linkhealth {
namespace {

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

TEST(Sff8472, WithoutReadableMonitorsThereIsAWarning) {
  auto away = EepromBuilder::sff8472();
  ModuleImage image = away.image();
  image.forget(kA2Page);
  EXPECT_THAT(decode_module(image).warnings,
              ElementsAre("A2h was not read: light, limits and flags are not known"));
  away.lower().byte(92, 0x6c);
  EXPECT_THAT(
      decode(away).warnings,
      ElementsAre("its monitors need a change of the bus address, which the kernel does not make"));
  away.lower().byte(92, 0);
  EXPECT_THAT(decode(away).warnings, IsEmpty()) << "it has none";
  EXPECT_FALSE(decode(away).temperature_c);
  EXPECT_THAT(decode(away).lanes, IsEmpty());
  auto empty = EepromBuilder::sff8472();
  empty.a2().fill(0, 128, 0);
  const ModuleSample m = decode_module(empty.image(false));
  EXPECT_FALSE(m.supply_v);
  EXPECT_THAT(m.lanes, IsEmpty());
  EXPECT_THAT(m.warnings, Contains("A2h is all zeros: left out"));
}

TEST(Sff8472, NoLightIsZeroAndInvalidReadingsAreAbsent) {
  auto b = EepromBuilder::sff8472();
  b.a2().u16(104, 0).byte(110, 0x02);
  EXPECT_EQ(decode(b).lanes[0].rx_power_mw, 0);
  EXPECT_EQ(decode(b).lanes[0].rx_los, true);
  b.a2().byte(110, 0x01);
  const ModuleSample m = decode(b);
  EXPECT_FALSE(m.temperature_c || m.lanes[0].rx_power_mw);
  EXPECT_EQ(m.data_not_ready, true);
}

TEST(Sff8472, AnActiveCopperCableHasLossOfSignal) {
  auto b = EepromBuilder::sff8472();
  b.lower().byte(8, 0x08).byte(2, 0x21).byte(3, 0).byte(18, 3).u16(60, 0x0100);
  b.a2().byte(110, 0x02);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.kind, "acc");
  ASSERT_EQ(m.lanes.size(), 1U);
  EXPECT_EQ(m.lanes[0].rx_los, true);
  EXPECT_FALSE(m.lanes[0].rx_power_mw);
}

/// An SFP28 with clock recovery; the bits were in byte 115 before revision 12.0.
TEST(Sff8472, LossOfLockIsReadWhereAdvertised) {
  struct Row {
    unsigned options, revision;
    std::optional<bool> rx_lol;
  };
  for (const Row& row : {Row{0x08, 7, {}}, {0x08, 8, true}, {0x08, 10, true}, {0x00, 8, {}}}) {
    auto b = EepromBuilder::sff8472();
    b.lower().byte(36, 0x02).byte(64, row.options).byte(94, row.revision);
    b.a2().byte(119, 0x03);
    const ModuleLane lane = decode(b).lanes.at(0);
    EXPECT_EQ(lane.rx_lol, row.rx_lol) << row.revision;
    EXPECT_EQ(lane.tx_lol, row.rx_lol) << row.revision;
  }
}

/// Old optics of 1 and 2 Gb/s: raw registers are no readings.
TEST(Sff8472, AnExternallyCalibratedModuleHasNoReadings) {
  auto b = EepromBuilder::sff8472();
  b.lower().byte(92, 0x58);
  const ModuleSample m = decode(b);
  EXPECT_FALSE(m.temperature_c);
  EXPECT_THAT(m.lanes, IsEmpty());
  EXPECT_THAT(m.warnings, ElementsAre("externally calibrated: its readings are left out"));
  b.lower().byte(92, 0x78);
  EXPECT_EQ(decode(b).temperature_c, 40) << "internally as well";
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
  EXPECT_THAT(m.warnings, Contains("bias limits are all ones: the module gives none"));
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

TEST(Sff8472, OddTextIsCleanedAndWrongChecksumsReported) {
  auto b = EepromBuilder::sff8472();
  b.lower().fill(68, 16, 0x81).byte(43, 0x1b).text(84, 8, "151610");
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.serial, "");
  EXPECT_EQ(m.part_number, "ACM?-10G-LR");
  EXPECT_EQ(m.date, "");
  EXPECT_THAT(m.warnings, Contains("serial number is not text: left out"));
  EXPECT_THAT(m.warnings, Contains("date code \"151610\" is no date: left out"));
  const ModuleSample wrong = decode_module(EepromBuilder::sff8472().image(false));
  EXPECT_EQ(wrong.checksums_ok, false);
  EXPECT_EQ(wrong.vendor, "ACME OPTICS") << "the rest is decoded";
  // The upper half of A0h is the maker's own, and mostly empty.
  for (const unsigned filler : {0x00U, 0xffU}) {
    auto own = EepromBuilder::sff8472();
    own.page(0).fill(128, 128, filler);
    EXPECT_THAT(decode(own).warnings, IsEmpty()) << filler;
  }
}

/// A0h advertises which status bits and flags of A2h exist.
TEST(Sff8472, AStatusBitThatIsNotAdvertisedIsUnknown) {
  auto b = EepromBuilder::sff8472();
  b.lower().byte(64, 0).byte(65, 0).byte(93, 0).byte(94, 10);
  b.a2().byte(110, 0xc6).byte(112, 0xff).byte(113, 0xff).byte(115, 0xff).byte(116, 0xff).byte(117,
                                                                                              0xff);
  b.a2().byte(118, 0xff).byte(119, 0xff);
  const ModuleSample m = decode(b);
  const ModuleLane& lane = m.lanes.at(0);
  EXPECT_FALSE(lane.rx_los || lane.tx_fault || lane.tx_disabled || lane.rx_lol || lane.tx_lol);
  for (const AlarmFlags& flags : {lane.rx_power_flags, lane.tx_power_flags, lane.tx_bias_flags,
                                  m.temperature_flags, m.supply_flags})
    EXPECT_TRUE(flags.empty());
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

/// SFF-8472 12.4.3 table 8-3.
TEST(Sff8472, TheHighestPowerLevelHasItsWattsInA2h) {
  auto b = EepromBuilder::sff8472();
  b.lower().byte(64, 0x60);
  b.a2().byte(66, 40);
  EXPECT_EQ(decode(b).max_power_w, 4.0);
  b.byte(66, 0);
  EXPECT_EQ(decode(b).max_power_w, std::nullopt) << "it does not state it";
}

/// 2.5GBASE-T modules have no Ethernet bit and the connector of their cage's cousins.
TEST(Sff8472, FibreChannelsMediaTellWire) {
  struct Row {
    unsigned media;
    std::string_view kind, media_type;
  };
  for (const Row& row : {Row{0x40, "unknown", "BASE-T"},
                         {0x80, "dac", "copper"},
                         {0x20, "dac", "copper"},
                         {0x0c, "optical", ""},
                         {0x41, "optical", ""}}) {
    auto b = EepromBuilder::sff8472();
    b.lower().byte(3, 0).byte(6, 0).byte(9, row.media).byte(12, 31).u16(60, 0);
    b.lower().byte(14, 0).byte(15, 0);
    const ModuleSample m = decode(b);
    EXPECT_EQ(m.kind, row.kind) << row.media;
    if (row.kind == "optical") continue;
    EXPECT_EQ(m.media_type, row.media_type) << row.media;
    EXPECT_FALSE(m.reach_m || m.wavelength_nm);
    for (const ModuleLane& lane : m.lanes) EXPECT_FALSE(lane.rx_power_mw) << "no dark light";
  }
  auto light = EepromBuilder::sff8472();
  light.lower().byte(9, 0x40);
  EXPECT_EQ(decode(light).kind, "optical") << "10G-LR of 1310 nm is not wire";
}

TEST(Sff8472, AFlagOfALimitThatIsNotThereIsNone) {
  auto b = EepromBuilder::sff8472();
  b.lower().byte(93, 0xf0);
  b.a2().limits(32, 0, 0, 0, 0).byte(112, 0xaa).byte(113, 0x80);
  const ModuleSample m = decode(b);
  EXPECT_TRUE(m.lanes.at(0).rx_power_flags.empty());
  EXPECT_EQ(m.temperature_flags.high_alarm, true) << "its limits are there";
  EXPECT_EQ(m.lanes.at(0).tx_bias_flags.high_alarm, true);
  b.a2().limits(0, 0x7fff, 0xf600, 0x4600, 0xf800);
  EXPECT_FALSE(decode(b).temperature_flags.high_alarm) << "nothing passes the end of a scale";
}

TEST(Sff8472, FlagsAndStatesOfOnesAreNone) {
  auto b = EepromBuilder::sff8472();
  b.lower().byte(93, 0xf0).byte(65, 0x1a);
  b.a2().byte(110, 0xff).byte(112, 0xff).byte(113, 0xff).byte(116, 0xff).byte(117, 0xff);
  const ModuleSample m = decode(b);
  EXPECT_TRUE(m.temperature_flags.empty() && m.supply_flags.empty());
  const ModuleLane& lane = m.lanes.at(0);
  EXPECT_TRUE(lane.rx_power_flags.empty() && lane.tx_bias_flags.empty());
  EXPECT_FALSE(lane.rx_los || lane.tx_fault || lane.tx_disabled || m.data_not_ready);
  EXPECT_TRUE(lane.rx_power_mw) << "its readings are good";
}

}  // namespace
}  // namespace linkhealth
