// Tunable lasers: page 12h of CMIS.
#include <gmock/gmock.h>

#include "probes/module/decode.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

ModuleSample decode(const EepromBuilder& b) { return decode_module(b.image()); }

/// Four media lanes, the first two of them tuned: to 193.1 THz, and to 196.1 with every flag set.
EepromBuilder tunable() {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(155, 0x40);
  const auto mhz = [&](unsigned lane, unsigned value) {
    b.page(0x12).u16(168 + 4 * lane, value >> 16U).u16(170 + 4 * lane, value & 0xffffU);
  };
  mhz(0, 193'100'000);
  mhz(1, 196'100'000);
  mhz(2, 0);
  mhz(3, 0);
  b.page(0x12).byte(230, 0x02).fill(231, 8, 0x01).byte(232, 0x3f);
  return b;
}

/// Of which each flag of page 12h is alike.
LaserTuning laser(double frequency_ghz, bool flags) {
  LaserTuning out;
  out.frequency_ghz = frequency_ghz;
  for (const auto flag : {&LaserTuning::wavelength_unlocked, &LaserTuning::channel_invalid,
                          &LaserTuning::tuning_not_accepted, &LaserTuning::fine_tuning_out_of_range,
                          &LaserTuning::target_power_out_of_range})
    out.*flag = flags;
  return out;
}

TEST(CmisTuning, ATunableLaserSaysWhereItIsAndWhatWentWrong) {
  const ModuleSample m = decode(tunable());
  ASSERT_EQ(m.laser_tuning.size(), 4U);
  EXPECT_EQ(m.laser_tuning[0].frequency_ghz, 193'100);
  EXPECT_EQ(m.laser_tuning[1].frequency_ghz, 196'100);
  EXPECT_EQ(m.laser_tuning[0], laser(193'100, false)) << "tuned: that is no fault";
  EXPECT_EQ(m.laser_tuning[1], laser(196'100, true));
  EXPECT_FALSE(m.laser_tuning[2].frequency_ghz) << "tuned to nothing";
  EXPECT_THAT(m.warnings, IsEmpty());
}

TEST(CmisTuning, EachTuningFlagHasItsOwnBit) {
  constexpr std::optional<bool> LaserTuning::*kByBit[] = {
      nullptr,
      &LaserTuning::wavelength_unlocked,
      &LaserTuning::channel_invalid,
      &LaserTuning::tuning_not_accepted,
      &LaserTuning::fine_tuning_out_of_range,
      &LaserTuning::target_power_out_of_range,
  };
  for (unsigned bit = 1; bit < std::size(kByBit); ++bit) {
    auto b = tunable();
    b.page(0x12).byte(231, 1U << bit);
    const LaserTuning seen = decode(b).laser_tuning.at(0);
    for (unsigned other = 1; other < std::size(kByBit); ++other)
      EXPECT_EQ(seen.*kByBit[other], other == bit) << bit << " " << other;
  }
}

TEST(CmisTuning, TheLasersOfLaterBanksAreOnTheirOwnPage) {
  auto b = tunable();
  b.lower().byte(88, 0x88);  // eight media lanes of one application
  b.page(1).byte(142, 0x05);
  for (unsigned at = 128; at < 132; ++at) b.page(0x11, 1).byte(at, 0x44);
  b.page(0x11, 1).fill(206, 8, 0x10);
  b.page(0x12, 1).u16(168, 192'000'000U >> 16U).u16(170, 192'000'000U & 0xffffU).byte(231, 0x02);
  const ModuleSample m = decode(b);
  ASSERT_EQ(m.lanes.size(), 16U);
  ASSERT_EQ(m.laser_tuning.size(), 16U);
  EXPECT_EQ(m.laser_tuning[8].frequency_ghz, 192'000);
  EXPECT_EQ(m.laser_tuning[8].wavelength_unlocked, true);
  EXPECT_EQ(m.laser_tuning[0].frequency_ghz, 193'100);
}

TEST(CmisTuning, OnlyATunableLaserHasATuning) {
  auto b = tunable();
  b.page(1).byte(155, 0x2f);
  EXPECT_THAT(decode(b).laser_tuning, IsEmpty());
}

TEST(CmisTuning, AFrequencyThatNoLaserHasIsNoNumber) {
  auto b = tunable();
  b.page(0x12).u16(168, 0x2020).u16(170, 0x2020);  // a page that somebody overwrote with blanks
  const ModuleSample m = decode(b);
  EXPECT_FALSE(m.laser_tuning.at(0).frequency_ghz);
  EXPECT_THAT(m.warnings, Contains("laser frequency of lane 1 of 538976 GHz cannot be true"));
}

TEST(CmisTuning, ATuningThatWasNotReadIsSaid) {
  auto b = EepromBuilder::cmis();
  b.page(1).byte(155, 0x40);
  const ModuleSample m = decode(b);
  EXPECT_THAT(m.laser_tuning, IsEmpty());
  EXPECT_THAT(m.warnings,
              Contains("page 12h was not read: what its lasers are tuned to is not known"));
}

}  // namespace
}  // namespace linkhealth
