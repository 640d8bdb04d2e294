// VDM: whose a value is that belongs to a data path, and what its numbers mean
// (CMIS 5.4 7.1, 8.27).
#include <gmock/gmock.h>

#include "probes/module/decode.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr unsigned f16(unsigned mantissa, int exponent) {
  return (static_cast<unsigned>(exponent + 24) << 11U) | mantissa;
}

ModuleSample decode(const EepromBuilder& b) { return decode_module(b.image()); }

constexpr unsigned kMediaBerAvg = 13, kHostBerAvg = 14, kMediaFramesMax = 19, kHostFramesTotal = 26,
                   kMediaLtp = 7;

/// Four 100G-DR of two host lanes and one media lane each; VDM instance 1 is of `type` at `place`.
EepromBuilder breakout(unsigned place, unsigned type, unsigned value) {
  auto b = EepromBuilder::cmis_with_vdm({{place, type, value}});
  b.lower().byte(86, 0x0d).byte(87, 0x14).byte(88, 0x21).byte(89, 0x55).byte(90, 0xff);
  b.page(1).byte(176, 0x0f);
  b.page(0x11);
  for (unsigned lane = 0; lane < 8; ++lane) b.byte(206 + lane, 0x10 | ((lane & 6U) << 1U));
  return b;
}

std::vector<std::optional<std::uint32_t>> flagged_lanes(const ModuleSample& m) {
  std::vector<std::optional<std::uint32_t>> lanes;
  for (const VdmFlags& entry : m.vdm.flags) lanes.push_back(entry.lane);
  return lanes;
}

TEST(VdmPlaces, TheSecondDataPathOfABreakoutIsItsMediaLaneNotTheLaneOfItsPlace) {
  auto b = breakout(2, kMediaBerAvg, f16(100, -5));
  b.page(0x2c).byte(128, 0x01);
  EXPECT_THAT(flagged_lanes(decode(b)), ElementsAre(2U)) << "host lanes 3 and 4 feed media lane 2";
  b = breakout(2, kHostBerAvg, f16(100, -5));
  b.page(0x2c).byte(128, 0x01);
  EXPECT_THAT(flagged_lanes(decode(b)), ElementsAre(3U, 4U))
      << "on the host side both of its lanes";
}

TEST(VdmPlaces, ADataPathOfSeveralLanesIsFlaggedOnEach) {
  auto b = EepromBuilder::cmis_with_vdm({{0, kMediaBerAvg, f16(100, -5)}});
  b.page(0x2c).byte(128, 0x01);
  EXPECT_THAT(flagged_lanes(decode(b)), ElementsAre(1U, 2U, 3U, 4U)) << "400G-DR4";
}

TEST(VdmPlaces, EachOfSeveralDataPathsIsKeptAtItsFirstLane) {
  auto b = breakout(2, kMediaBerAvg, f16(100, -5));
  b.page(0x20).byte(130, 6).byte(131, kMediaBerAvg);
  b.page(0x24).u16(130, f16(200, -9));
  const ModuleSample m = decode(b);
  ASSERT_EQ(m.vdm.media_pre_fec_ber_by_lane.size(), 4U) << "as many as there are media lanes";
  EXPECT_NEAR(m.vdm.media_pre_fec_ber_by_lane[1].avg.value_or(0), 1e-3, 1e-9);
  EXPECT_NEAR(m.vdm.media_pre_fec_ber_by_lane[3].avg.value_or(0), 2e-7, 1e-13);
}

/// As many real modules do: all eight places, whatever the data paths are.
TEST(VdmPlaces, AModuleThatListsEachLaneMeansLanes) {
  auto b = EepromBuilder::cmis_with_vdm(
      {{0, kMediaBerAvg, f16(100, -5)}, {1, kMediaBerAvg, f16(200, -9)}});
  b.page(0x2c).byte(128, 0x10);
  EXPECT_THAT(flagged_lanes(decode(b)), ElementsAre(2U));
}

TEST(VdmPlaces, ALanesOwnValueStaysAtItsLane) {
  constexpr unsigned kMediaEsnr = 5;
  auto b = breakout(2, kMediaEsnr, 0x1400);
  b.page(0x2c).byte(128, 0x02);
  EXPECT_THAT(flagged_lanes(decode(b)), ElementsAre(3U)) << "the index is that of a media lane";
}

/// Two banks of four media lanes each; host lanes are counted eight to a bank.
EepromBuilder two_banks() {
  auto b = EepromBuilder::cmis_with_vdm({{0, 5, 0x1400}, {0, 6, 0x1400}});
  b.page(1).byte(142, 0x45);
  b.page(0x11, 1).fill(128, 4, 0x44).byte(132, 0xff).byte(133, 0x0f).fill(206, 8, 0x10);
  for (unsigned lane = 0; lane < 4; ++lane)
    b.u16(154 + 2 * lane, 12000).u16(170 + 2 * lane, 17000).u16(186 + 2 * lane, 7000 + lane);
  b.page(0x20, 1).byte(128, 0).byte(129, 5).byte(130, 0).byte(131, 6);
  b.page(0x24, 1).u16(128, 0x1500).u16(130, 0x1600);
  b.page(0x2c, 1).byte(128, 0x22);
  return b;
}

TEST(VdmPlaces, MediaLanesOfTheSecondBankFollowOnThoseOfTheFirst) {
  const ModuleSample m = decode(two_banks());
  ASSERT_EQ(m.lanes.size(), 8U);
  EXPECT_THAT(m.vdm.media_esnr_db, ElementsAre(20, 0, 0, 0, 21));
  ASSERT_EQ(m.vdm.host_esnr_db.size(), 9U);
  EXPECT_EQ(m.vdm.host_esnr_db[8], 22);
  EXPECT_THAT(flagged_lanes(m), ElementsAre(5U, 9U)) << "of the media side and of the host's";
}

/// The driver gives bank 0 for each: its latched flags are cleared by the first read, and the
/// second has none.
TEST(VdmPlaces, OfABankThatTheDriverIgnoresAreNone) {
  auto b = two_banks();
  b.page(0x11).byte(147, 0x01);
  b.page(0x11, 1);
  for (unsigned lane = 0; lane < 4; ++lane)
    b.u16(154 + 2 * lane, 11000).u16(170 + 2 * lane, 18000).u16(186 + 2 * lane, 8000 + lane);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.lanes.size(), 4U);
  EXPECT_THAT(m.warnings, ::testing::Contains(::testing::HasSubstr("the driver ignores the bank")));
  EXPECT_THAT(flagged_lanes(m), IsEmpty());
  EXPECT_THAT(m.vdm.media_esnr_db, ElementsAre(20));
}

TEST(VdmNumbers, LostFramesAreACountAndMayBeMoreThanOne) {
  const ModuleSample m = decode(EepromBuilder::cmis_with_vdm(
      {{0, kMediaFramesMax, f16(12, 0)}, {0, kHostFramesTotal, f16(2047, 3)}}));
  EXPECT_EQ(m.vdm.media_errored_frames.max, 12.0);
  EXPECT_EQ(m.vdm.host_errored_frames.total, 2'047'000.0);
  const ModuleSample none = decode(EepromBuilder::cmis_with_vdm({{0, kMediaFramesMax, 0xffff}}));
  EXPECT_FALSE(none.vdm.media_errored_frames.max) << "no value";
}

/// "To alarm post-FEC errors the high threshold for FERC should also be 0" (7.1.5.2).
TEST(VdmNumbers, NoFrameMayBeLostIsALimit) {
  auto b = EepromBuilder::cmis_with_vdm(
      {{0, kMediaFramesMax, f16(12, 0)}, {0, kMediaBerAvg, f16(1, -9)}});
  b.page(0x28).limits(128, 0, 0, 0, 0);
  const ModuleSample m = decode(b);
  ASSERT_EQ(m.vdm.thresholds.size(), 1U)
      << "of an error ratio four zeros are a set that is not in use";
  EXPECT_EQ(m.vdm.thresholds[0].name, "media_errored_frames_max");
  EXPECT_EQ(m.vdm.thresholds[0].limits.high_alarm, 0.0);
  EXPECT_FALSE(m.vdm.thresholds[0].limits.low_alarm);
}

TEST(VdmNumbers, ALowLimitAtTheEndOfTheScaleIsNone) {
  auto b = EepromBuilder::cmis_with_vdm({{0, kMediaBerAvg, f16(1, -9)}});
  b.page(0x28).limits(128, f16(24, -5), 0, f16(12, -5), 0);
  const ModuleSample m = decode(b);
  ASSERT_EQ(m.vdm.thresholds.size(), 1U);
  EXPECT_FALSE(m.vdm.thresholds[0].limits.low_alarm) << "a ratio can't fall below 0";
  EXPECT_FALSE(m.vdm.thresholds[0].limits.low_warn);
}

TEST(VdmNumbers, AnEmptyValleyIsTheBestOfAllNotAbsent) {
  const ModuleSample m =
      decode(EepromBuilder::cmis_with_vdm({{0, kMediaLtp, 0xffff}, {1, kMediaLtp, 0x1400}}));
  EXPECT_THAT(m.vdm.media_ltp_db, ElementsAre(0xfffe / 256.0, 20.0));
  EXPECT_THAT(m.warnings, IsEmpty());
}

}  // namespace
}  // namespace linkhealth
