// Rows of the specifications' tables that were decoded wrongly once: SFF-8636 2.11,
// SFF-8472 12.4.3, SFF-8024 4.13, CMIS 5.4.
#include "tests/probes/module/decoded.h"

namespace linkhealth {
namespace {

// --- SFF-8636

/// Table 6-28: only the alarms are required.
TEST(SpecSff8636, WarningLimitsAreOptional) {
  auto b = EepromBuilder::sff8636();
  b.page(3)
      .limits(128, 75 << 8, 0xfb00, 0, 0)
      .limits(144, 36300, 29700, 0, 0)
      .limits(184, 5000, 0, 0, 0);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.thresholds.temperature_c, (Limits{-5, std::nullopt, std::nullopt, 75}));
  EXPECT_EQ(m.thresholds.supply_v, (Limits{2.97, std::nullopt, std::nullopt, 3.63}));
  EXPECT_EQ(m.thresholds.tx_bias_ma, (Limits{std::nullopt, std::nullopt, std::nullopt, 10}))
      << "nothing is below 0";
  EXPECT_THAT(m.warnings, IsEmpty());
}

/// Table 6-5: there are four host lanes, also where one media lane carries them all.
TEST(SpecSff8636, EachHostLaneHasItsOwnState) {
  auto b = EepromBuilder::sff8636();
  b.lower().byte(3, 0xe0).byte(5, 0x40);
  b.page(0).byte(192, 0x26).byte(195, 0x0a).byte(194, 0x30);  // 100G-FR1
  const ModuleSample m = decode(b);
  ASSERT_EQ(m.lanes.size(), 1U);
  EXPECT_EQ(m.lanes[0].tx_los, true) << "one of those that feed it";
  ASSERT_EQ(m.host_lanes.size(), 4U);
  EXPECT_EQ(m.host_lanes[0].tx_los, false);
  for (const std::size_t lane : {1U, 2U, 3U}) EXPECT_EQ(m.host_lanes[lane].tx_los, true) << lane;
  EXPECT_EQ(m.host_lanes[2].tx_lol, true);
  EXPECT_EQ(m.host_lanes[3].tx_lol, false);
  EXPECT_THAT(decode(EepromBuilder::sff8636()).host_lanes, IsEmpty())
      << "of four media lanes each is one";
}

/// 6.2.9, 6.3.2, tables 6-4 and 6-16: bit 129.5 was reserved before revision 2.10; class 8 states
/// its watts in byte 107, and modules of the other classes may.
TEST(SpecSff8636, PowerClassAndStatedWatts) {
  struct {
    unsigned revision, tenths, extended, control;
    unsigned power_class;
    double max_power_w;
  } const rows[] = {{8, 90, 0xfc, 0, 8, 9.0}, {7, 0, 0xfc, 5, 4, 3.5},
                    {8, 0, 0xfc, 5, 4, 3.5},  // class 8 without its watts is none
                    {8, 40, 0xed, 5, 8, 4.0}, {8, 29, 0xcc, 0, 4, 2.9},
                    {8, 42, 0xce, 0, 6, 4.2}, {8, 0, 0xcc, 0, 4, 3.5},
                    {8, 36, 0xcc, 0, 4, 3.5},  // more than its class may be
                    {8, 3, 0xcc, 0, 4, 3.5},   // 2.8, of the same code, had no such byte
                    {7, 29, 0xcc, 0, 4, 3.5}};
  for (const auto& row : rows) {
    auto b = EepromBuilder::sff8636();
    b.lower().byte(1, row.revision).byte(107, row.tenths).byte(93, row.control);
    b.page(0).byte(129, row.extended);
    const ModuleSample m = decode(b);
    EXPECT_EQ(m.power_class, row.power_class) << row.revision << " " << row.tenths;
    EXPECT_EQ(m.max_power_w, row.max_power_w) << row.revision << " " << row.tenths;
    if (row.control == 5) {
      EXPECT_EQ(m.allowed_power_w, std::nullopt) << row.tenths;
    }
  }
}

/// 6.3.23: byte 192 has its meaning by itself.
TEST(SpecSff8636, Byte192DecidesTheKindWithoutBit131) {
  for (const auto& [code, kind] :
       {std::pair(0x01U, "aoc"), {0x18U, "aoc"}, {0x08U, "acc"}, {0x0bU, "dac"}}) {
    auto b = EepromBuilder::sff8636();
    b.page(0).byte(131, 0).byte(192, code);
    EXPECT_EQ(decode(b).kind, kind) << code;
  }
}

TEST(SpecSff8636, ACodeOfAFamilyIsNamedByTheConnector) {
  struct Row {
    unsigned code, connector;
    const char* type;
    std::uint32_t lanes;
  };
  constexpr Row kRows[] = {{0x29, 0x0c, "400G-SR4", 4}, {0x29, 0x07, "100G-SR1", 1},
                           {0x42, 0x07, "50G-FR", 1},   {0x2a, 0x0c, "400G-DR4-2", 4},
                           {0x2a, 0x07, "100G-FR1", 1}, {0x45, 0x07, "50G-LR", 1}};
  for (const Row& row : kRows) {
    auto b = EepromBuilder::sff8636();
    b.page(0).byte(192, row.code).byte(130, row.connector);
    EXPECT_EQ(decode(b).type, row.type) << row.code;
    EXPECT_EQ(decode(b).media_lane_count, row.lanes) << row.code;
  }
}

/// Table 6-17.
TEST(SpecSff8636, FourLanesOf10GAreNamed) {
  for (const auto& [bit, type] : {std::pair(4U, "4x10G-SR"), {5U, "4x10G-LR"}, {6U, "4x10G-LRM"}}) {
    auto b = EepromBuilder::sff8636();
    b.page(0).byte(131, 1U << bit).byte(192, 0).byte(164, 4);
    EXPECT_EQ(decode(b).type, type);
    EXPECT_EQ(decode(b).media_type, bit == 5 ? "single-mode" : "multimode");
  }
}

TEST(SpecSff8636, AnActiveCopperCableHasLimitsOfItsTemperature) {
  auto b = EepromBuilder::sff8636();
  b.lower().byte(2, 0);
  b.page(0).byte(147, 0xc0).byte(130, 0x23);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.kind, "acc");
  EXPECT_FALSE(m.thresholds.temperature_c.empty());
  EXPECT_TRUE(m.thresholds.rx_power_mw.empty());
}

TEST(SpecSff8636, TxDisableCountsWhereItIsThere) {
  auto b = EepromBuilder::sff8636();
  b.lower().byte(86, 0x01);
  b.page(0).byte(195, 0x1a);
  EXPECT_EQ(decode(b).lanes[0].tx_disabled, true);
  b.byte(195, 0x0a);
  EXPECT_EQ(decode(b).lanes[0].tx_disabled, std::nullopt);
}

// --- SFF-8472

/// SFF-8024 table 4-4.
TEST(SpecSff8472, TwistedPairIsNoCableOfTheModule) {
  for (const unsigned code : {0x16U, 0x1cU, 0x1dU, 0x1eU}) {
    auto b = EepromBuilder::sff8472();
    b.lower().byte(2, 0).byte(3, 0).byte(36, code).u16(60, 0);
    EXPECT_EQ(decode(b).kind, "unknown") << code;
    EXPECT_EQ(decode(b).media_type, "BASE-T") << code;
  }
}

/// Table 9-11: an externally calibrated module has a constant at the place of the watts. Table 10-1
/// calls 118.0 and 118.1 optional: a module without them reads as one whose host enabled nothing.
TEST(SpecSff8472, ConstantsAndMissingBitsAreNoPower) {
  auto b = EepromBuilder::sff8472();
  b.lower().byte(64, 0x60).byte(92, 0x58);
  b.a2().byte(66, 0x5a);
  EXPECT_EQ(decode(b).max_power_w, std::nullopt);
  b.lower().byte(64, 0x22);
  b.a2().byte(118, 0);
  EXPECT_EQ(decode(b).max_power_w, 2.0);
  EXPECT_EQ(decode(b).allowed_power_w, std::nullopt);
}

/// SFF-8636 6.3.12 and SFF-8472 6.5, 6.6, CMIS 5.4 table 8-45.
TEST(SpecLengths, AreTheLongestThatAModuleStates) {
  auto qsfp = EepromBuilder::sff8636();
  qsfp.page(0).byte(142, 0).byte(146, 50).byte(147, 0x00);
  EXPECT_EQ(decode(qsfp).reach_m, 100.0);
  qsfp.byte(147, 0x40);
  EXPECT_EQ(decode(qsfp).reach_m, std::nullopt) << "1310 nm DFB: byte 146 is a cable's";
  auto sfp = EepromBuilder::sff8472();
  sfp.lower().byte(2, 0x21).byte(3, 0).byte(8, 0x04).byte(18, 0xff).byte(19, 0x9e);
  EXPECT_EQ(decode(sfp).length_m, 300.0) << "10 times 30 m";
  auto cmis = EepromBuilder::cmis();
  cmis.page(1).byte(132, 0xc5);
  EXPECT_EQ(decode(cmis).reach_m, 250e3) << "5 times 50 km";
  cmis.byte(137, 0x80);
  EXPECT_EQ(decode(cmis).reach_m, 1000e3);
  cmis.byte(132, 0xc0);
  EXPECT_EQ(decode(cmis).reach_m, std::nullopt) << "0 is none with any multiplier";
}

/// 33000 times 1e-4 is 3.3000000000000003; 33000 over 1e4 is the double that is nearest to 3.3.
TEST(SpecNumbers, AreTheNearestToWhatTheModuleStates) {
  auto cmis = EepromBuilder::cmis();
  cmis.page(0).byte(202, 0x03).byte(203, 0x23);
  cmis.page(1).u16(138, 26047);
  cmis.page(0x11).u16(186, 1234).u16(170, 15201);
  const ModuleSample m = decode(cmis);
  EXPECT_EQ(m.supply_v, 3.3);
  EXPECT_EQ(m.wavelength_nm, 1302.35);
  EXPECT_EQ(m.length_m, 0.3);
  EXPECT_EQ(m.lanes[0].rx_power_mw, 0.1234);
  EXPECT_EQ(m.lanes[0].tx_bias_ma, 60.804) << "twice 2 uA";
  EXPECT_EQ(m.thresholds.supply_v.high_warn, 3.465);
}

// --- CMIS

/// Table 8-50: with 01h:151.0 one lane's bit of TxDisable is all lanes'.
TEST(SpecCmis, SquelchAndDisableOfALane) {
  auto b = EepromBuilder::cmis();
  b.page(0x10).byte(132, 0x02);
  EXPECT_EQ(decode(b).lanes[1].output_squelch_force_tx, std::nullopt) << "not offered: reserved";
  b.page(1).byte(155, 0x08);
  EXPECT_EQ(decode(b).lanes[1].output_squelch_force_tx, true);
  EXPECT_EQ(decode(b).lanes[0].output_squelch_force_tx, false);
  EXPECT_EQ(decode(b).lanes[1].tx_disabled, false);
  b.page(0x10).byte(130, 0x01);
  EXPECT_EQ(decode(b).lanes[3].tx_disabled, false);
  b.page(1).byte(151, 0x01);
  for (const ModuleLane& lane : decode(b).lanes) EXPECT_EQ(lane.tx_disabled, true);
}

/// SFF-8024 tables 4-8, 4-9 and 4-12.
TEST(SpecCmis, LoopbackPlugsAndFibreFaces) {
  for (const auto& [media, interface] : {std::pair(0x03U, 0xbfU), {0x03U, 0xc0U}, {0x04U, 0xbfU}}) {
    auto b = EepromBuilder::cmis();
    b.lower().byte(85, media).byte(87, interface);
    EXPECT_EQ(decode(b).type, "loopback plug");
    EXPECT_EQ(decode(b).kind, "unknown");
  }
  for (const auto& [code, face] : {std::pair(0U, ""), {1U, "UPC"}, {2U, "APC"}, {3U, ""}}) {
    auto b = EepromBuilder::cmis();
    b.lower().byte(61, code);
    EXPECT_EQ(decode(b).fibre_face, face);
  }
}

}  // namespace
}  // namespace linkhealth
