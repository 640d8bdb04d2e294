// Tunable SFPs: A2h page 02h of SFF-8690 rev 1.5.
#include <gmock/gmock.h>

#include "probes/module/decode.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

ModuleSample decode(const EepromBuilder& b) { return decode_module(b.image()); }

/// 96 channels of 50 GHz from 191.35 to 196.1 THz, tuned to the 36th by its number: 193.1 THz.
EepromBuilder tunable() {
  auto b = EepromBuilder::sff8472();
  b.lower().byte(64, 0x14).byte(65, 0x5a).u16(60, 1548);
  b.a2_tunable()
      .byte(128, 0x02)
      .u16(132, 191)
      .u16(134, 3500)
      .u16(136, 196)
      .u16(138, 1000)
      .u16(140, 500)
      .u16(144, 36);
  return b;
}

TEST(Sff8690, ATunableLaserSaysWhereItIsTunedTo) {
  const ModuleSample m = decode(tunable());
  ASSERT_EQ(m.laser_tuning.size(), 1U);
  LaserTuning calm;
  calm.frequency_ghz = 193'100;
  calm.tuning = calm.wavelength_unlocked = calm.channel_invalid = calm.cooler_fault = false;
  EXPECT_EQ(m.laser_tuning[0], calm);
  EXPECT_EQ(m.wavelength_nm, 1552.524) << "and not the 1548 nm of A0h";
  EXPECT_FALSE(m.vdm.laser_frequency_error_mhz) << "0: nobody fills the register, or there is none";
  EXPECT_THAT(m.warnings, IsEmpty());
}

/// 5.2: channel number = 1 + (desired frequency - first frequency) / grid spacing, which may be
/// negative.
TEST(Sff8690, AGridMayGoDown) {
  auto b = tunable();
  b.a2_tunable()
      .u16(132, 196)
      .u16(134, 1000)
      .u16(136, 191)
      .u16(138, 3500)
      .u16(140, 0x10000 - 500)
      .u16(144, 61);
  EXPECT_EQ(decode(b).laser_tuning.at(0).frequency_ghz, 193'100);
  b.u16(144, 96);
  EXPECT_EQ(decode(b).laser_tuning.at(0).frequency_ghz, 191'350);
}

/// 5.2: 799Bh is 1556.55 nm, which is 192.6 THz.
TEST(Sff8690, AWavelengthThatWasSetIsThatOfTheNearestChannel) {
  auto b = tunable();
  b.a2_tunable().byte(128, 0x01).u16(146, 0x799b);
  const ModuleSample m = decode(b);
  EXPECT_EQ(m.laser_tuning.at(0).frequency_ghz, 192'600)
      << "its channel counts only where it is advertised";
  EXPECT_NEAR(m.wavelength_nm.value_or(0), 1556.555, 0.001);
  b.u16(146, 20 * 1310);
  EXPECT_FALSE(decode(b).laser_tuning.at(0).frequency_ghz) << "no channel of its";
  EXPECT_FALSE(decode(b).wavelength_nm);
  EXPECT_THAT(decode(b).warnings,
              ElementsAre("laser wavelength 1310.00 nm is that of none of its 96 channels"));
  EXPECT_THAT(decode(b.u16(146, 0)).warnings, IsEmpty()) << "none was set";
}

TEST(Sff8690, AChannelAndAWavelengthThatDoNotAgreeSayNothing) {
  auto b = tunable();
  b.a2_tunable().byte(128, 0x03).u16(146, 20 * 1552.5);
  EXPECT_EQ(decode(b).laser_tuning.at(0).frequency_ghz, 193'100);
  b.u16(146, 20 * 1550);
  const ModuleSample m = decode(b);
  EXPECT_FALSE(m.laser_tuning.at(0).frequency_ghz);
  EXPECT_FALSE(m.wavelength_nm);
  EXPECT_THAT(
      m.warnings,
      ElementsAre("its channel and its wavelength are set to different ones: what the laser is "
                  "tuned to is not known"));
}

/// Table 5-3: then nothing that the host sets here says where it is.
TEST(Sff8690, ALaserThatItsMakerTunesHisOwnWayIsNowhereThatIsKnown) {
  for (const unsigned ways : {0x10U, 0x00U, 0x14U}) {
    auto b = tunable();
    b.a2_tunable().byte(128, ways).u16(146, 0x799b);
    const ModuleSample m = decode(b);
    EXPECT_FALSE(m.laser_tuning.at(0).frequency_ghz);
    EXPECT_FALSE(m.wavelength_nm);
    EXPECT_THAT(m.warnings, ElementsAre("A2h page 02h advertises no channel and no wavelength to "
                                        "set: what its laser is tuned to is not known"));
  }
}

TEST(Sff8690, AChannelThatItHasNotIsNoFrequency) {
  auto b = tunable();
  b.a2_tunable().u16(144, 97).byte(172, 0x10);
  const ModuleSample m = decode(b);
  EXPECT_FALSE(m.laser_tuning.at(0).frequency_ghz);
  EXPECT_EQ(m.laser_tuning.at(0).channel_invalid, true);
  EXPECT_THAT(m.warnings, ElementsAre("laser channel 97 is none of its 96"));
  b.u16(144, 0);
  EXPECT_FALSE(decode(b).laser_tuning.at(0).frequency_ghz) << "none was set";
}

/// Tables 5-7 and 5-8.
TEST(Sff8690, EachStateHasItsOwnBit) {
  struct Row {
    unsigned live, latched;
    std::optional<bool> LaserTuning::*field;
  };
  constexpr Row kRows[] = {
      {0x20, 0, &LaserTuning::wavelength_unlocked},
      {0, 0x20, &LaserTuning::wavelength_unlocked},
      {0x40, 0, &LaserTuning::cooler_fault},
      {0, 0x40, &LaserTuning::cooler_fault},
      {0, 0x10, &LaserTuning::channel_invalid},
      {0x10, 0, &LaserTuning::tuning},
      {0x80, 0, &LaserTuning::tuning},  // it looks for its channel itself
  };
  for (const Row& row : kRows) {
    auto b = tunable();
    b.a2_tunable().byte(168, row.live).byte(172, row.latched);
    const LaserTuning laser = decode(b).laser_tuning.at(0);
    for (const auto field : {&LaserTuning::wavelength_unlocked, &LaserTuning::cooler_fault,
                             &LaserTuning::channel_invalid, &LaserTuning::tuning})
      EXPECT_EQ(laser.*field, field == row.field) << row.live << " " << row.latched;
  }
  auto rest = tunable();
  rest.a2_tunable().byte(168, 0x0f).byte(
      172, 0x8f);  // a new channel, a request to dither, and what is reserved
  EXPECT_EQ(decode(rest).laser_tuning, decode(tunable()).laser_tuning);
}

TEST(Sff8690, WhileItIsBeingTunedItIsNowhere) {
  auto b = tunable();
  b.a2_tunable().byte(168, 0x10).u16(152, 30);
  const ModuleSample m = decode(b);
  EXPECT_FALSE(m.laser_tuning.at(0).frequency_ghz);
  EXPECT_FALSE(m.wavelength_nm);
  EXPECT_FALSE(m.vdm.laser_frequency_error_mhz);
}

/// SFF-8472 table 8-3, A0h 64.2.
TEST(Sff8690, OnlyACooledLaserHasACoolerThatCanFail) {
  auto b = tunable();
  b.lower().byte(64, 0x10);
  b.a2_tunable().byte(168, 0x40).byte(172, 0x40);
  EXPECT_FALSE(decode(b).laser_tuning.at(0).cooler_fault);
}

/// Table 5-6: tenths of a gigahertz.
TEST(Sff8690, HowFarItIsFromItsChannelIsSaid) {
  auto b = tunable();
  b.a2_tunable().u16(152, 0xffff);
  EXPECT_EQ(decode(b).vdm.laser_frequency_error_mhz, -100);
  b.u16(152, 25);
  EXPECT_EQ(decode(b).vdm.laser_frequency_error_mhz, 2500);
  b.u16(152, 0x7fff);
  EXPECT_FALSE(decode(b).vdm.laser_frequency_error_mhz);
  EXPECT_THAT(decode(b).warnings,
              ElementsAre("laser frequency error of 3276.7 GHz cannot be true"));
}

TEST(Sff8690, WhereItsPageIsNotKnownItsWavelengthIsNotEither) {
  auto b = EepromBuilder::sff8472();
  b.lower().byte(65, 0x5a);
  EXPECT_THAT(decode(b).laser_tuning, IsEmpty());
  EXPECT_FALSE(decode(b).wavelength_nm) << "1310 nm are of A0h";
  EXPECT_THAT(decode(b).warnings,
              ElementsAre("A2h page 02h was not read: what its laser is tuned to is not known"));
  auto empty = tunable();
  empty.a2_tunable().fill(128, 128, 0xff);
  EXPECT_THAT(decode(empty).warnings,
              ElementsAre("A2h page 02h is all ones: nobody answered: left out",
                          "A2h page 02h was not read: what its laser is tuned to is not known"));
}

/// A driver or a module that ignores the page gives the user's memory.
TEST(Sff8690, AnotherPageIsNotTakenForIt) {
  const auto users = [](std::initializer_list<std::pair<unsigned, unsigned>> words) {
    auto b = tunable();
    for (const auto& [offset, value] : words) b.a2_tunable().u16(offset, value);
    return decode(b);
  };
  const std::initializer_list<std::pair<unsigned, unsigned>> kOdd[] = {
      {{132, 0}, {134, 0}, {136, 0}, {138, 0}, {140, 0}},  // nothing
      {{132, 0x2020}},                                     // text
      {{134, 10'000}},                                     // more than a terahertz of gigahertz
      {{140, 0}},                                          // no grid
      {{140, 0x10000 - 500}},                              // one that goes away from the last
      {{136, 400}, {140, 1}},                              // more channels than have a number
  };
  for (const auto& odd : kOdd) {
    EXPECT_THAT(users(odd).laser_tuning, IsEmpty());
    EXPECT_FALSE(users(odd).wavelength_nm);
    EXPECT_THAT(
        users(odd).warnings,
        ElementsAre("A2h page 02h names no channels: what its laser is tuned to is not known"));
  }
}

TEST(Sff8690, OnlyATunableLaserHasATuning) {
  auto b = tunable();
  b.lower().byte(65, 0x1a);
  EXPECT_THAT(decode(b).laser_tuning, IsEmpty());
  EXPECT_EQ(decode(b).wavelength_nm, 1548);
}

}  // namespace
}  // namespace linkhealth
