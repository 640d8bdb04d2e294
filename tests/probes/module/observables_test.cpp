// What a module lists itself: limits and flags of VDM (CMIS), the parameters of SFF-8636, the
// statistics of C-CMIS.
#include <gmock/gmock.h>

#include "probes/module/decode.h"
#include "probes/module/read_plan.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr unsigned f16(unsigned mantissa, int exponent) {
  return (static_cast<unsigned>(exponent + 24) << 11U) | mantissa;
}

/// SNR of two lanes with set 2, and BER of the module with set 3.
EepromBuilder with_limits() {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(142, 0x44);
  b.page(0x2f).byte(128, 0x00);
  b.page(0x20).byte(128, 0x10).byte(129, 5).byte(130, 0x11).byte(131, 5).byte(132, 0x2f).byte(133,
                                                                                              15);
  b.page(0x24).u16(128, 0x1600).u16(130, 0x1200).u16(132, f16(3, -6));
  b.page(0x28)
      .limits(136, 0xffff, 0x1100, 0xffff, 0x1300)
      .limits(144, f16(24, -5), 0, f16(12, -5), 0);
  return b;
}

ModuleSample decode(const EepromBuilder& b) { return decode_module(b.image()); }

TEST(VdmLimits, AreTheSetThatTheDescriptorNames) {
  const ModuleSample m = decode(with_limits());
  ASSERT_EQ(m.vdm.thresholds.size(), 2U) << "lanes with the same limits are one entry";
  const VdmLimits& snr = m.vdm.thresholds[0];
  EXPECT_EQ(snr.name, "media_esnr_db");
  EXPECT_FALSE(snr.lane);
  EXPECT_EQ(snr.limits.low_alarm, 17.0);
  EXPECT_EQ(snr.limits.low_warn, 19.0);
  EXPECT_FALSE(snr.limits.high_alarm) << "the end of the scale is no limit";
  const VdmLimits& ber = m.vdm.thresholds[1];
  EXPECT_EQ(ber.name, "media_pre_fec_ber_current");
  EXPECT_NEAR(*ber.limits.high_alarm, 2.4e-4, 1e-12);
  EXPECT_NEAR(*ber.limits.high_warn, 1.2e-4, 1e-12);
}

TEST(VdmLimits, OfLanesThatDifferAreSaidForEachLane) {
  auto b = with_limits();
  b.page(0x20).byte(130, 0x31);
  b.page(0x28).limits(152, 0xffff, 0x1000, 0xffff, 0x1200);
  const ModuleSample m = decode(b);
  ASSERT_EQ(m.vdm.thresholds.size(), 3U);
  EXPECT_EQ(m.vdm.thresholds[0].lane, 1U);
  EXPECT_EQ(m.vdm.thresholds[1].lane, 2U);
  EXPECT_EQ(m.vdm.thresholds[1].limits.low_alarm, 16.0);
}

TEST(VdmLimits, OutOfOrderOrAllZeroAreNone) {
  auto b = with_limits();
  b.page(0x28).limits(136, 0x1000, 0x2000, 0x1100, 0x1200).limits(144, 0, 0, 0, 0);
  const ModuleSample m = decode(b);
  EXPECT_THAT(m.vdm.thresholds, IsEmpty());
  EXPECT_THAT(m.warnings, Contains(HasSubstr("limits of media_esnr_db are not in order")));
}

/// Sixteen lanes: what a descriptor names is a lane of its bank, so both banks have the same
/// descriptors and limits.
TEST(VdmLimits, OfTheSecondBankAreThereAlthoughItsDescriptorsEqualTheFirstBanks) {
  auto b = EepromBuilder::cmis();
  b.lower().byte(86, 0x51).byte(87, 0x56).byte(88, 0x88);
  b.page(1).byte(142, 0x45);
  b.page(0x2f).byte(128, 0x00);
  b.page(0x11, 1).fill(128, 4, 0x44).fill(206, 8, 0x10).u16(186, 1234);
  for (const std::uint8_t bank : {std::uint8_t{0}, std::uint8_t{1}}) {
    for (unsigned lane = 0; lane < 8; ++lane) {
      b.page(0x20, bank).byte(128 + 2 * lane, lane).byte(129 + 2 * lane, 5);
      b.page(0x24, bank).u16(128 + 2 * lane, 0x1400 + 0x100U * bank + lane);
    }
    b.page(0x28, bank).limits(128, 0xffff, 0x1100, 0xffff, 0x1300);
    b.page(0x2c, bank).byte(128, bank == 1 ? 0x0a : 0);
  }
  const ModuleSample m = decode(b);
  ASSERT_EQ(m.vdm.media_esnr_db.size(), 16U);
  EXPECT_DOUBLE_EQ(m.vdm.media_esnr_db[0], 20.0);
  EXPECT_DOUBLE_EQ(m.vdm.media_esnr_db[8], 21.0);
  ASSERT_EQ(m.vdm.flags.size(), 1U);
  EXPECT_EQ(m.vdm.flags[0].lane, 9U);
  EXPECT_THAT(m.warnings, IsEmpty());
}

TEST(VdmFlags, ANibbleForEachInstanceLowOneFirst) {
  auto b = with_limits();
  b.page(0x2c).byte(128, 0xa0).byte(129, 0x01);  // instance 2: LA and LW; instance 3: HA
  const ModuleSample m = decode(b);
  ASSERT_EQ(m.vdm.flags.size(), 2U);
  EXPECT_EQ(m.vdm.flags[0], (VdmFlags{"media_esnr_db", 2, {true, true, false, false}}));
  EXPECT_EQ(m.vdm.flags[1].name, "media_pre_fec_ber_current");
  EXPECT_FALSE(m.vdm.flags[1].lane);
  EXPECT_EQ(m.vdm.flags[1].flags.high_alarm, true);
}

TEST(VdmFlags, OfAnUnusedDescriptorAreNoneAndOfAnUnknownOneByItsNumber) {
  auto b = with_limits();
  b.page(0x20).byte(134, 0).byte(135, 101).byte(137, 0);
  b.page(0x2c).byte(129, 0xf0).byte(130, 0x0f);
  const ModuleSample m = decode(b);
  ASSERT_EQ(m.vdm.flags.size(), 1U);
  EXPECT_EQ(m.vdm.flags[0].name, "type_101");
  EXPECT_EQ(m.vdm.flags[0].lane, 1U);
}

TEST(VdmFlags, TheSecondGroupHasTheSecondQuarter) {
  auto b = with_limits();
  b.page(0x2f).byte(128, 0x01);
  b.page(0x21).byte(128, 0x0f).byte(129, 16);
  b.page(0x25).u16(128, f16(1, -9));
  b.page(0x2c).byte(160, 0x04);
  const ModuleSample m = decode(b);
  ASSERT_EQ(m.vdm.flags.size(), 1U);
  EXPECT_EQ(m.vdm.flags[0].name, "host_pre_fec_ber_current");
  EXPECT_EQ(m.vdm.flags[0].flags.high_warn, true);
}

TEST(Vdm, InPowerSavingHasLimitsAndWhatWasLatchedBeforeButNoValues) {
  auto b = with_limits();
  b.page(0x2f).byte(144, 0x40);
  b.page(0x2c).byte(128, 0x0f);
  const ModuleSample m = decode(b);
  EXPECT_FALSE(m.vdm.thresholds.empty());
  EXPECT_EQ(m.vdm.flags.size(), 1U) << "our read has cleared it";
  EXPECT_THAT(m.vdm.media_esnr_db, IsEmpty());
}

/// Parameter 1: SNR of lane 2 with set 3; parameter 2: average BER of the module; 3: TEC current;
/// 4: a maker's own.
EepromBuilder with_parameters() {
  auto b = EepromBuilder::sff8636();
  b.lower().byte(2, 0);
  b.page(0).byte(195, 0x0b);
  b.page(0x20).u16(152, 0x1380).u16(154, f16(5, -7)).u16(156, 0xff9c).u16(158, 1234);
  b.page(0x20).u16(200, 0x2501).u16(202, 0x0004).u16(204, 0x0006).u16(206, 0x00c8);
  b.page(0x21).limits(144, 0xffff, 0x1000, 0xffff, 0x1200);
  return b;
}

TEST(Sff8636Parameters, AreValuesLimitsAndFlags) {
  auto b = with_parameters();
  b.page(0x20).byte(128, 0x58);  // parameter 1: low alarm and low warning; parameter 2: high alarm
  const ModuleSample m = decode(b);
  ASSERT_EQ(m.vdm.media_esnr_db.size(), 2U);
  EXPECT_EQ(m.vdm.media_esnr_db[1], 19.5) << "the example of SFF-8636 6.7.4.1";
  EXPECT_NEAR(*m.vdm.media_pre_fec_ber.avg, 5e-7, 1e-15);
  EXPECT_NEAR(*m.tec_current_ma, -10, 1e-9);
  ASSERT_EQ(m.vdm.thresholds.size(), 1U);
  EXPECT_EQ(m.vdm.thresholds[0].limits.low_alarm, 16.0);
  ASSERT_EQ(m.vdm.flags.size(), 2U);
  EXPECT_EQ(m.vdm.flags[0], (VdmFlags{"media_esnr_db", 2, {true, true, false, false}}));
  EXPECT_EQ(m.vdm.flags[1].flags.high_alarm, true);
}

TEST(Sff8636Parameters, OnlyWhereAdvertised) {
  auto b = with_parameters();
  b.page(0).byte(195, 0x0a);
  EXPECT_TRUE(decode(b).vdm.empty());
  b = with_parameters();
  b.lower().byte(2, 0x04);
  EXPECT_TRUE(decode(b).vdm.empty()) << "flat memory has no such page";
}

EepromBuilder coherent() {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(142, 0x14);
  b.page(0x35)
      .u16(128, 0xffff)
      .u16(130, 0xfffe)
      .u16(132, 0xffff)
      .u16(134, 0xfffb)
      .u16(136, 0)
      .u16(138, 4);
  b.page(0x35).u16(158, 361).u16(160, 350).u16(162, 370);
  b.page(0x35).u16(182, 0xfc18).u16(184, 0xfbb4).u16(186, 0xfc7c);
  b.page(0x34).u16(132, 0x1000).u16(150, 0x0010).u16(170, 99).u16(178, 2);
  return b;
}

TEST(CoherentStatistics, AreAverageMinimumAndMaximum) {
  const ModuleSample m = decode(coherent());
  const CoherentStatistics& c = m.coherent_statistics;
  EXPECT_EQ(c.chromatic_dispersion_ps_per_nm.avg, -2);
  EXPECT_EQ(c.chromatic_dispersion_ps_per_nm.min, -5);
  EXPECT_EQ(c.chromatic_dispersion_ps_per_nm.max, 4);
  EXPECT_NEAR(*c.osnr_db.min, 35.0, 1e-9);
  EXPECT_NEAR(*c.tx_power_dbm.avg, -10, 1e-9);
  EXPECT_NEAR(*c.tx_power_dbm.min, -11, 1e-9);
  EXPECT_TRUE(c.esnr_db.empty()) << "all zero: not offered";
  EXPECT_EQ(c.rx_bits, 0x10000000U);
  EXPECT_EQ(c.rx_corrected_bits, 16U);
  EXPECT_EQ(c.rx_frames, 99U);
  EXPECT_EQ(c.rx_uncorrectable_frames, 2U);
  EXPECT_THAT(m.warnings, IsEmpty());
}

TEST(CoherentStatistics, ThatCannotBeTrueAreLeftOut) {
  auto b = coherent();
  b.page(0x35).u16(160, 380);
  b.page(0x34).u16(144, 0x7fff);
  const ModuleSample m = decode(b);
  EXPECT_TRUE(m.coherent_statistics.osnr_db.empty());
  EXPECT_FALSE(m.coherent_statistics.rx_bits);
  EXPECT_THAT(m.warnings, Contains("statistics of OSNR are not in order: left out"));
}

TEST(CoherentStatistics, OnlyWhereAdvertised) {
  auto b = coherent();
  b.page(1).byte(142, 0x04);
  EXPECT_TRUE(decode(b).coherent_statistics.empty());
}

/// CMIS 5.4 table 8-180: 100 uV a bit, that of 12 V 250 uV.
TEST(VdmSupplies, InsideTheModuleAreRead) {
  const ModuleSample m = decode(EepromBuilder::cmis_with_vdm({{0x0f, 77, 26'010},
                                                              {0x0f, 78, 17'970},
                                                              {0x0f, 79, 12'030},
                                                              {0x0f, 80, 9'010},
                                                              {0x0f, 81, 7'490},
                                                              {0x0f, 82, 7'510},
                                                              {0x0f, 83, 48'040}}));
  EXPECT_NEAR(*m.vdm.vcc2p6_v, 2.601, 1e-9);
  EXPECT_NEAR(*m.vdm.vcc1p8_v, 1.797, 1e-9);
  EXPECT_NEAR(*m.vdm.vcc1p2_v, 1.203, 1e-9);
  EXPECT_NEAR(*m.vdm.vcc0p9_v, 0.901, 1e-9);
  EXPECT_NEAR(*m.vdm.vcc0p7a_v, 0.749, 1e-9);
  EXPECT_NEAR(*m.vdm.vcc0p7b_v, 0.751, 1e-9);
  EXPECT_NEAR(*m.vdm.vcc12_v, 12.01, 1e-9);
  EXPECT_EQ(m.lanes.size(), 4U) << "they are of the module, and make no lane";
}

TEST(VdmSupplies, WithoutAValueStayAbsent) {
  const ModuleSample m =
      decode(EepromBuilder::cmis_with_vdm({{0x0f, 78, 0}, {0x0f, 83, 0xffff}, {0x0f, 84, 0xfe00}}));
  EXPECT_TRUE(m.vdm.empty());
}

}  // namespace
}  // namespace linkhealth
