// What a coherent module measures (C-CMIS observables of VDM): two rows of one quantity, and
// several lanes.
#include <gtest/gtest.h>

#include "probes/module/decode.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

constexpr unsigned kFineCd = 134, kCoarseCd = 135, kFineSopmd = 137, kCoarseSopmd = 149;
constexpr unsigned kNoValue = 0x8000;

using Rows = std::initializer_list<std::array<unsigned, 3>>;

ModuleSample decode(Rows rows) { return decode_module(EepromBuilder::cmis_with_vdm(rows).image()); }
ModuleCoherent coherent(Rows rows) { return decode(rows).coherent; }

TEST(CoherentRows, TheFineOneStandsWhereBothAreGivenInEitherOrder) {
  const ModuleCoherent fine_first = coherent({{0x00, kFineCd, 35},
                                              {0x00, kCoarseCd, 1},
                                              {0x00, kFineSopmd, 6912},
                                              {0x00, kCoarseSopmd, 69}});
  EXPECT_EQ(fine_first.chromatic_dispersion_ps_per_nm, 35);
  EXPECT_NEAR(*fine_first.sopmd_ps2, 69.12, 1e-9);
  const ModuleCoherent coarse_first = coherent({{0x00, kCoarseSopmd, 69},
                                                {0x00, kCoarseCd, 1},
                                                {0x00, kFineCd, 35},
                                                {0x00, kFineSopmd, 6912}});
  EXPECT_EQ(coarse_first, fine_first);
  EXPECT_EQ(coherent({{0x00, kFineCd, 35}, {0x0f, kCoarseCd, 2}}).chromatic_dispersion_ps_per_nm,
            35)
      << "the coarse one of the whole module is no other lane";
}

TEST(CoherentRows, TheCoarseOneStandsWhereTheFineOneHasNoValue) {
  EXPECT_EQ(
      coherent({{0x00, kFineCd, kNoValue}, {0x00, kCoarseCd, 1500}}).chromatic_dispersion_ps_per_nm,
      30'000);
  EXPECT_EQ(coherent({{0x00, kCoarseCd, 0xffff}}).chromatic_dispersion_ps_per_nm, -20);
  EXPECT_EQ(coherent({{0x00, kFineSopmd, 0xffff}, {0x00, kCoarseSopmd, 700}}).sopmd_ps2, 700);
  EXPECT_EQ(coherent({{0x00, kFineCd, 35}, {0x01, kFineCd, kNoValue}, {0x01, kCoarseCd, 3}})
                .chromatic_dispersion_ps_per_nm,
            60)
      << "lane 2 is told by its coarse row alone";
}

/// Two entries of one name and lane with different bits would be "set, cleared" at every read
/// (ModuleFlagHistory).
TEST(CoherentRows, OfOneLaneHaveOneEntryOfLimitsAndOfFlags) {
  auto b = EepromBuilder::cmis_with_vdm(
      {{0x00, kCoarseCd, 1}, {0x10, kFineCd, 35}, {0x21, kCoarseCd, 4}});
  b.page(0x28).limits(128, 100, 0xff9c, 80, 0xffb0).limits(136, 2000, 0xf830, 1600, 0xf9c0);
  b.limits(144, 50, 0xffce, 40, 0xffd8);
  b.page(0x2c).byte(128, 0x24).byte(129, 0x01);  // lane 1: coarse HW, fine LA; lane 2: HA
  const ModuleSample m = decode_module(b.image());
  const std::string name = "coherent_chromatic_dispersion_ps_per_nm";
  ASSERT_EQ(m.vdm.flags.size(), 2U);
  EXPECT_EQ(m.vdm.flags[0], (VdmFlags{name, 1, {true, false, true, false}}));
  EXPECT_EQ(m.vdm.flags[1], (VdmFlags{name, 2, {false, false, false, true}}));
  ASSERT_EQ(m.vdm.thresholds.size(), 2U);
  EXPECT_EQ(m.vdm.thresholds[0], (VdmLimits{name, 1, {-2000, -1600, 1600, 2000}}))
      << "the fine row's";
  EXPECT_EQ(m.vdm.thresholds[1], (VdmLimits{name, 2, {-1000, -800, 800, 1000}}));
}

TEST(CoherentLanes, TheLowestOfWhatShouldBeHighStands) {
  const ModuleCoherent c = coherent({{0x00, 139, 200},
                                     {0x01, 139, 339},
                                     {0x00, 140, 180},
                                     {0x01, 140, 150},
                                     {0x00, 147, 200},
                                     {0x01, 147, 160},
                                     {0x00, 143, 0xfc18},
                                     {0x01, 143, 0xfe0c},
                                     {0x00, 144, 0xfe0c},
                                     {0x01, 144, 0xf830},
                                     {0x00, 145, 0xfe0c},
                                     {0x01, 145, 0xf448}});
  EXPECT_NEAR(*c.osnr_db, 20, 1e-9);
  EXPECT_NEAR(*c.esnr_db, 15, 1e-9);
  EXPECT_NEAR(*c.mer_db, 16, 1e-9);
  EXPECT_NEAR(*c.tx_power_dbm, -10, 1e-9);
  EXPECT_NEAR(*c.rx_total_power_dbm, -20, 1e-9);
  EXPECT_NEAR(*c.rx_signal_power_dbm, -30, 1e-9);
}

TEST(CoherentLanes, TheLargestOfWhatShouldBeSmallStandsWithItsSign) {
  const ModuleCoherent c = coherent({{0x00, kFineCd, 0xfed4},
                                     {0x01, kFineCd, 50},
                                     {0x00, 141, 10},
                                     {0x01, 141, 0xf060},
                                     {0x00, 136, 900},
                                     {0x01, 136, 100},
                                     {0x00, 138, 5},
                                     {0x01, 138, 25},
                                     {0x00, 146, 40},
                                     {0x01, 146, 4},
                                     {0x00, 142, 0x4000},
                                     {0x01, 142, 0x1000}});
  EXPECT_EQ(c.chromatic_dispersion_ps_per_nm, -300);
  EXPECT_EQ(c.carrier_frequency_offset_mhz, -4000);
  EXPECT_NEAR(*c.dgd_ps, 9, 1e-9);
  EXPECT_NEAR(*c.pdl_db, 2.5, 1e-9);
  EXPECT_EQ(c.sop_rate_krad_per_s, 40);
  EXPECT_NEAR(*c.evm_percent, 25, 0.01);
}

/// A margin that is used up goes below zero.
TEST(CoherentMargins, AndTheQFactorAreReadAndTheLowestStands) {
  const ModuleCoherent c = coherent({{0x00, 150, 41},
                                     {0x01, 150, 0xfffb},
                                     {0x00, 151, 107},
                                     {0x01, 151, 63},
                                     {0x00, 152, 42},
                                     {0x01, 152, 0xfffe}});
  EXPECT_NEAR(c.snr_margin_db.value_or(99), -0.5, 1e-9);
  EXPECT_NEAR(c.q_factor_db.value_or(99), 6.3, 1e-9);
  EXPECT_NEAR(c.q_margin_db.value_or(99), -0.2, 1e-9);
  EXPECT_TRUE(
      coherent({{0x00, 150, kNoValue}, {0x00, 151, 0xffff}, {0x00, 152, kNoValue}}).empty());
}

TEST(CoherentLanes, TheBiasNearestToAnEndOfItsRangeStands) {
  const ModuleCoherent c = coherent(
      {{0x00, 128, 0x0800}, {0x01, 128, 0x9000}, {0x00, 129, 0x7000}, {0x01, 129, 0xf000}});
  EXPECT_NEAR(*c.modulator_bias_xi_percent, 3.1, 0.1);
  EXPECT_NEAR(*c.modulator_bias_xq_percent, 93.8, 0.1);
}

}  // namespace
}  // namespace linkhealth
