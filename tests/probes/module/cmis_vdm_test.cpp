// CMIS VDM: values by type, lane and bank, what is no value, and the monitors of coherent modules
// (CMIS 5.4 7.1, 8.27; C-CMIS).
#include "tests/probes/module/decoded.h"

namespace linkhealth {
namespace {

using Rows = std::initializer_list<std::array<unsigned, 3>>;
constexpr unsigned kMediaEsnr = 5, kMediaLtp = 7, kMediaBerMax = 11, kMediaBerAvg = 13,
                   kHostBerAvg = 14, kMediaFramesMax = 19, kHostFramesTotal = 26;

constexpr unsigned f16(unsigned mantissa, int exponent) {
  return (static_cast<unsigned>(exponent + 24) << 11U) | mantissa;
}

ModuleSample decode(Rows rows) { return decode(EepromBuilder::cmis_with_vdm(rows)); }

TEST(CmisVdm, TheTypeDecidesNotThePosition) {
  const ModuleSample m = decode({{0x01, 5, 0x1600},
                                 {0x00, 5, 0x1580},
                                 {0x0f, 15, f16(100, -8)},
                                 {0x0f, 9, f16(200, -10)},
                                 {0x0f, 16, f16(5, -12)},
                                 {0x0f, 31, 7},
                                 {0x00, 7, 0x2000},
                                 {0x00, 101, 0x1234}});
  EXPECT_THAT(m.vdm.media_esnr_db, ElementsAre(21.5, 22.0));
  EXPECT_EQ(m.vdm.media_pre_fec_ber.current, 1e-6);
  EXPECT_EQ(m.vdm.media_pre_fec_ber.min, 2e-8);
  EXPECT_FALSE(m.vdm.media_pre_fec_ber.max);
  EXPECT_EQ(m.vdm.host_pre_fec_ber.current, 5e-12);
  EXPECT_EQ(m.vdm.media_fec_tail_symbols.avg, 7);
  EXPECT_THAT(m.vdm.media_ltp_db, ElementsAre(32.0));
  EXPECT_THAT(decode({{0, 5, 0x1600}, {1, 5, 0}, {2, 5, 0x1600}, {3, 5, 0x1500}}).vdm.media_esnr_db,
              ElementsAre(22.0, 0.0, 22.0, 21.0))
      << "a lane without a value keeps its place";
}

TEST(CmisVdm, TheWorstOfSeveralCounts) {
  const ModuleSample m = decode({{0x00, 15, f16(100, -8)},
                                 {0x04, 15, f16(300, -8)},
                                 {0x00, 9, f16(3, -9)},
                                 {0x04, 9, f16(2, -9)},
                                 {0x00, kMediaFramesMax, f16(12, 0)},
                                 {0x00, kHostFramesTotal, f16(2047, 3)},
                                 {0x00, 3, 0xffe2},
                                 {0x01, 3, 1},
                                 {0x0f, 1, 12}});
  EXPECT_EQ(m.vdm.media_pre_fec_ber.current, 3e-6);
  EXPECT_EQ(m.vdm.media_pre_fec_ber.min, 2e-9);
  EXPECT_EQ(m.vdm.media_errored_frames.max, 12.0) << "a count";
  EXPECT_EQ(m.vdm.host_errored_frames.total, 2'047'000.0);
  EXPECT_EQ(m.vdm.laser_frequency_error_mhz, -300) << "with its sign";
  EXPECT_EQ(m.vdm.laser_age_percent, 12);
}

TEST(CmisVdm, NoValueIsAbsent) {
  const ModuleSample m = decode({{0x00, 5, 0},
                                 {0x0f, 15, f16(5, -1)},
                                 {0x0f, 33, 0xffff},
                                 {0x0f, 3, 0x8000},
                                 {0x0f, kMediaFramesMax, 0xffff},
                                 {0x0f, 141, 0x8000}});
  EXPECT_TRUE(m.vdm.empty()) << "a BER of 0.5 is no value";
  EXPECT_TRUE(m.coherent.empty());
}

/// 7.1.4.2: FFFFh means that nothing lies between the levels.
TEST(CmisVdm, AnEmptyValleyIsTheBestValue) {
  const ModuleSample m = decode({{0, kMediaLtp, 0xffff}, {1, kMediaLtp, 0x1400}});
  EXPECT_THAT(m.vdm.media_ltp_db, ElementsAre(0xfffe / 256.0, 20.0));
  EXPECT_THAT(m.warnings, IsEmpty());
}

TEST(CmisVdm, AnImpossibleSignalToNoiseRatioIsLeftOut) {
  const ModuleSample m =
      decode({{0, kMediaEsnr, 0x8000}, {1, kMediaEsnr, 0x1580}, {2, kMediaEsnr, 0xfffe}});
  EXPECT_THAT(m.vdm.media_esnr_db, ElementsAre(0.0, 21.5));
  EXPECT_THAT(m.warnings, ElementsAre(HasSubstr("more than 60 dB")));
}

/// Table 8-180 has these by lane only.
TEST(CmisVdm, ARatioOfTheWholeModuleIsThatOfItsOnlyLane) {
  auto b = EepromBuilder::cmis_with_vdm({{0x0f, 5, 0x1380}, {0x0f, 7, 0x2000}});
  EXPECT_THAT(decode(b).vdm.media_esnr_db, IsEmpty());
  EXPECT_THAT(decode(b).warnings, ElementsAre(HasSubstr("a ratio is of the whole module")));
  b.lower().byte(88, 0x81);
  EXPECT_THAT(decode(b).vdm.media_esnr_db, ElementsAre(19.5));
  EXPECT_THAT(decode(b).vdm.media_ltp_db, ElementsAre(32));
}

TEST(CmisVdm, IsReadOnlyWhereOfferedAndAwake) {
  auto b = EepromBuilder::cmis_with_vdm({{0x00, 5, 0x1600}});
  b.page(0x2f).byte(144, 0x80);
  EXPECT_EQ(decode(b).vdm.frozen, true);
  b.page(0x2f).byte(144, 0x40);
  EXPECT_TRUE(decode(b).vdm.empty()) << "power saving";
  b.page(0x2f).byte(144, 0);
  EXPECT_FALSE(decode(b).vdm.empty());
  b.page(1).byte(142, 0x04);
  EXPECT_TRUE(decode(b).vdm.empty());
}

TEST(CmisVdm, AZeroErrorRatioWithoutReceptionIsNone) {
  auto b = EepromBuilder::cmis_with_vdm(
      {{0x0f, kMediaBerAvg, 0}, {0x0f, kMediaBerMax, f16(1, -9)}, {0x0f, kHostBerAvg, 0}});
  b.page(1).byte(158, 0x06);
  EXPECT_EQ(decode(b).vdm.media_pre_fec_ber.avg, 0) << "a link may be perfect";
  b.page(0x11).byte(147, 0x0f);
  const ModuleSample dark = decode(b);
  EXPECT_FALSE(dark.vdm.media_pre_fec_ber.avg);
  EXPECT_TRUE(dark.vdm.media_pre_fec_ber.max) << "what was counted stays";
  EXPECT_EQ(dark.vdm.host_pre_fec_ber.avg, 0) << "the host's side goes on";
  b.page(0x11).byte(147, 0x07);
  EXPECT_EQ(decode(b).vdm.media_pre_fec_ber.avg, 0) << "one lane receives";
  b.lower().byte(3, 0x02);  // low power
  EXPECT_FALSE(decode(b).vdm.media_pre_fec_ber.avg);
  EXPECT_FALSE(decode(b).vdm.host_pre_fec_ber.avg);
}

/// Two banks of four media lanes each; host lanes are counted eight to a bank.
EepromBuilder two_banks() {
  auto b = EepromBuilder::cmis_with_vdm({{0, 5, 0x1400}, {0, 6, 0x1400}});
  b.co_packaged();
  b.page(1).byte(142, 0x45);
  b.page(0x11, 1).fill(128, 4, 0x44).byte(132, 0xff).byte(133, 0x0f).fill(206, 8, 0x10);
  for (unsigned lane = 0; lane < 4; ++lane)
    b.u16(154 + 2 * lane, 12000).u16(170 + 2 * lane, 17000).u16(186 + 2 * lane, 7000 + lane);
  b.page(0x20, 1).byte(128, 0).byte(129, 5).byte(130, 0).byte(131, 6);
  b.page(0x24, 1).u16(128, 0x1500).u16(130, 0x1600);
  return b;
}

TEST(CmisVdm, LanesOfTheSecondBankFollowOnThoseOfTheFirst) {
  const ModuleSample m = decode(two_banks());
  ASSERT_EQ(m.lanes.size(), 8U);
  EXPECT_THAT(m.vdm.media_esnr_db, ElementsAre(20, 0, 0, 0, 21));
  ASSERT_EQ(m.vdm.host_esnr_db.size(), 9U);
  EXPECT_EQ(m.vdm.host_esnr_db[8], 22);
}

TEST(CmisVdm, ABankThatTheDriverIgnoresHasNone) {
  auto b = two_banks();
  b.page(0x11, 1);
  for (unsigned lane = 0; lane < 4; ++lane)
    b.u16(154 + 2 * lane, 11000).u16(170 + 2 * lane, 18000).u16(186 + 2 * lane, 8000 + lane);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.lanes.size(), 4U);
  EXPECT_THAT(m.warnings, Contains(HasSubstr("the driver ignores the bank")));
  EXPECT_THAT(m.vdm.media_esnr_db, ElementsAre(20));
}

TEST(CmisCoherent, TheWorstLaneCounts) {
  const ModuleCoherent c = decode({{0x00, 134, 0xfed4},
                                   {0x01, 134, 50},
                                   {0x00, 136, 900},
                                   {0x01, 136, 100},
                                   {0x00, 138, 5},
                                   {0x01, 138, 25},
                                   {0x00, 139, 302},
                                   {0x01, 139, 339},
                                   {0x00, 140, 180},
                                   {0x01, 140, 150},
                                   {0x00, 141, 10},
                                   {0x01, 141, 0xf060},
                                   {0x00, 143, 0xfc18},
                                   {0x01, 143, 0xfe0c},
                                   {0x00, 144, 0xfe0c},
                                   {0x01, 144, 0xfb4d},
                                   {0x00, 145, 0xfe0c},
                                   {0x01, 145, 0xf448}})
                               .coherent;
  EXPECT_EQ(c.chromatic_dispersion_ps_per_nm, -300) << "with its sign";
  EXPECT_EQ(c.dgd_ps, 9);
  EXPECT_EQ(c.pdl_db, 2.5);
  EXPECT_EQ(c.osnr_db, 30.2);
  EXPECT_EQ(c.esnr_db, 15);
  EXPECT_EQ(c.carrier_frequency_offset_mhz, -4000);
  EXPECT_EQ(c.tx_power_dbm, -10);
  EXPECT_EQ(c.rx_total_power_dbm, -12.03);
  EXPECT_EQ(c.rx_signal_power_dbm, -30);
}

}  // namespace
}  // namespace linkhealth
