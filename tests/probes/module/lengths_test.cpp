// Lengths that a byte cannot hold, and numbers as close to what a module says as a double can be.
#include <gmock/gmock.h>

#include "probes/module/decode.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ModuleSample decode(const EepromBuilder& b) { return decode_module(b.image()); }

/// CMIS 5.4 table 8-45.
TEST(Lengths, AReachWithTheFourthMultiplierTakesThatOfTheNextByte) {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(132, 0xc5);
  EXPECT_EQ(decode(b).reach_m, 250e3) << "5 times 50 km";
  b.byte(137, 0x80);
  EXPECT_EQ(decode(b).reach_m, 1000e3);
  b.byte(132, 0xc0);
  EXPECT_EQ(decode(b).reach_m, std::nullopt) << "a length of 0 is none, whatever its multiplier";
}

TEST(Lengths, AKilometreOfAQsfpMayBeLess) {
  auto b = EepromBuilder::sff8636();
  b.page(0).byte(142, 1);
  EXPECT_EQ(decode(b).reach_m, 1000.0);
  EXPECT_THAT(
      decode(b).warnings,
      ElementsAre("whether the reach is less than 1 km is not known: its byte cannot say less"));
}

/// SFF-8636 6.3.12: byte 146 is of OM4 only where an 850 nm VCSEL can be parted from its fibre;
/// else it is a cable's.
TEST(Lengths, TheLengthOfACableIsNoReachOfAnotherLaser) {
  auto b = EepromBuilder::sff8636();
  b.page(0).byte(142, 0).byte(146, 50).byte(147, 0x00);
  EXPECT_EQ(decode(b).reach_m, 100.0);
  b.byte(147, 0x40);
  EXPECT_EQ(decode(b).reach_m, std::nullopt) << "1310 nm DFB";
}

TEST(Lengths, ACableThatIsLongerThanItsByteCanSayIsSaidToBe) {
  auto cmis = EepromBuilder::cmis();
  cmis.lower().byte(85, 0x04);
  cmis.page(0).byte(202, 0xff).byte(203, 0x23);
  EXPECT_EQ(decode(cmis).length_m, std::nullopt);
  EXPECT_THAT(decode(cmis).warnings,
              ElementsAre("the cable is longer than 6300 m, the most that its byte can say"));
  auto qsfp = EepromBuilder::sff8636();
  qsfp.page(0).byte(130, 0x23).byte(192, 0x01).byte(146, 0xff);
  EXPECT_EQ(decode(qsfp).length_m, std::nullopt);
  EXPECT_THAT(decode(qsfp).warnings,
              ElementsAre("the cable is longer than 254 m, the most that its byte can say"));
  auto sfp = EepromBuilder::sff8472();
  sfp.lower().byte(2, 0x21).byte(3, 0).byte(8, 0x04).byte(18, 0xff);
  EXPECT_EQ(decode(sfp).length_m, std::nullopt);
  EXPECT_THAT(decode(sfp).warnings,
              ElementsAre("the cable is longer than 254 m, the most that its byte can say"));
}

TEST(Lengths, AReachThatIsLongerThanItsByteCanSayIsSaidToBe) {
  auto qsfp = EepromBuilder::sff8636();
  qsfp.page(0).byte(142, 0xff);
  EXPECT_THAT(decode(qsfp).warnings,
              ElementsAre("the reach is longer than 254 km, the most that its byte can say"));
  auto sfp = EepromBuilder::sff8472();
  sfp.lower().byte(14, 0xff).byte(15, 0xff);
  EXPECT_EQ(decode(sfp).reach_m, std::nullopt) << "25.4 km is not what it is made for";
  EXPECT_THAT(decode(sfp).warnings,
              ElementsAre("the reach is longer than 254 km, the most that its byte can say"));
}

/// SFF-8472 6.5 and 6.6: what byte 18 can't say, byte 19 can.
TEST(Lengths, ACableThatIsLongerThanOneByteCanSayHasItInTheNext) {
  auto sfp = EepromBuilder::sff8472();
  sfp.lower().byte(2, 0x21).byte(3, 0).byte(8, 0x04).byte(18, 0xff).byte(19, 0x9e);
  EXPECT_EQ(decode(sfp).length_m, 300.0) << "10 times 30 m";
  EXPECT_THAT(decode(sfp).warnings, IsEmpty());
  sfp.byte(19, 0x5e);
  EXPECT_EQ(decode(sfp).length_m, std::nullopt) << "30 m are not more than 254";
  EXPECT_THAT(decode(sfp).warnings,
              ElementsAre("the cable is longer than 254 m, the most that its byte can say"));
}

/// SFF-8472 6.1 to 6.6, SFF-8636 6.3.8 to 6.3.12: FFh is more than the byte can say.
TEST(Lengths, AReachIsNotTheLongestThatASmallerByteSays) {
  struct Row {
    unsigned offset, value, other, other_value;
    std::optional<double> reach_m;
    const char* most;
  };
  const auto check = [](EepromBuilder b, const Row& row) {
    b.byte(row.offset, row.value).byte(row.other, row.other_value);
    EXPECT_EQ(decode(b).reach_m, row.reach_m) << row.offset << " " << row.other;
    const std::string warning =
        "the reach is longer than " + std::string(row.most) + ", the most that its byte can say";
    EXPECT_EQ(decode(b).warnings, row.reach_m ? ModuleSample().warnings : std::vector{warning})
        << row.offset;
  };
  auto sfp = EepromBuilder::sff8472();
  sfp.lower().fill(14, 6, 0);
  for (const Row& row :
       {Row{15, 0xff, 16, 8, std::nullopt, "25.4 km"}, Row{15, 0xff, 14, 50, 50e3, ""},
        Row{19, 0xff, 16, 8, std::nullopt, "2540 m"}, Row{18, 0xff, 19, 30, std::nullopt, "2540 m"},
        Row{16, 0xff, 14, 10, 10e3, ""}})
    check(sfp, row);
  auto qsfp = EepromBuilder::sff8636();
  qsfp.page(0);
  for (const Row& row :
       {Row{146, 0xff, 143, 50, std::nullopt, "508 m"},
        Row{143, 0xff, 144, 50, std::nullopt, "508 m"}, Row{145, 0xff, 143, 200, 400.0, ""},
        Row{144, 0xff, 142, 0, std::nullopt, "254 m"}})
    check(qsfp, row);
  auto twisted = EepromBuilder::sff8472();
  twisted.lower().byte(2, 0x22).byte(3, 0).byte(6, 0x08).fill(14, 6, 0).byte(18, 100);
  EXPECT_EQ(decode(twisted).reach_m, 100.0);
}

/// 33000 times 1e-4 is 3.3000000000000003; 33000 over 1e4 is the double that is nearest to 3.3. And
/// so of each scale.
TEST(Numbers, AreTheNearestToWhatTheModuleSays) {
  auto cmis = EepromBuilder::cmis();
  cmis.lower().u16(22, 17600);
  cmis.page(0).byte(202, 0x03).byte(203, 0x23);
  cmis.page(1).byte(159, 0x13).byte(145, 0x04).u16(138, 26047);
  cmis.page(0x11).u16(186, 1234).u16(170, 15201);
  const ModuleSample m = decode(cmis);
  EXPECT_EQ(m.supply_v, 3.3);
  EXPECT_EQ(m.second_supply_v, 1.76);
  EXPECT_EQ(m.wavelength_nm, 1302.35);
  EXPECT_EQ(m.length_m, 0.3);
  EXPECT_EQ(m.lanes[0].rx_power_mw, 0.1234);
  EXPECT_EQ(m.lanes[0].tx_bias_ma, 60.804) << "twice 2 uA";
  EXPECT_EQ(m.thresholds.supply_v.high_warn, 3.465);
  auto qsfp = EepromBuilder::sff8636();
  qsfp.lower().byte(107, 123);
  qsfp.page(0).byte(129, 0x20);
  EXPECT_EQ(decode(qsfp).supply_v, 3.3);
  EXPECT_EQ(decode(qsfp).max_power_w, 12.3);
  auto sfp = EepromBuilder::sff8472();
  sfp.lower().byte(94, 0x0a);
  sfp.a2().u16(108, 0xfffd);
  EXPECT_EQ(decode(sfp).supply_v, 3.3);
  EXPECT_EQ(decode(sfp).tec_current_ma, -0.3);
}

TEST(Numbers, ThatAModuleListsItselfAreTheNearestToo) {
  const ModuleSample m = decode(EepromBuilder::cmis_with_vdm({{0x0f, 139, 302},
                                                              {0x0f, 144, 0xfb4d},
                                                              {0x0f, 78, 18007},
                                                              {0x0f, 83, 48032},
                                                              {0x0f, 15, (14U << 11U) | 7U}}));
  EXPECT_EQ(m.coherent.osnr_db, 30.2);
  EXPECT_EQ(m.coherent.rx_total_power_dbm, -12.03);
  EXPECT_EQ(m.vdm.vcc1p8_v, 1.8007);
  EXPECT_EQ(m.vdm.vcc12_v, 12.008);
  EXPECT_EQ(m.vdm.media_pre_fec_ber.current, 7e-10);
}

}  // namespace
}  // namespace linkhealth
