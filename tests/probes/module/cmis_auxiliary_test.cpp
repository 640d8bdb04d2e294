// CMIS's auxiliary monitors of the lower page: three, each of which may be one of two things, and
// the maker's custom one.
#include <gtest/gtest.h>

#include "probes/module/decode.h"
#include "tests/support/eeprom_builder.h"

namespace linkhealth {
namespace {

ModuleSample decode(const EepromBuilder& b) { return decode_module(b.image()); }

/// Byte 01h:159 says which of the three are there, 01h:145 what each of them is.
TEST(CmisAuxiliary, AuxiliaryMonitorsAreWhatTheModuleSaysTheyAre) {
  struct Row {
    unsigned there, kinds;
    std::optional<double> tec_percent, laser_c;
    AlarmFlags tec, laser;
  };
  constexpr AlarmFlags kNone{};
  constexpr AlarmFlags kHighAlarm{
      .low_alarm = false, .low_warn = false, .high_warn = false, .high_alarm = true};
  constexpr AlarmFlags kLowAlarm{
      .low_alarm = true, .low_warn = false, .high_warn = false, .high_alarm = false};
  constexpr AlarmFlags kHighWarn{
      .low_alarm = false, .low_warn = false, .high_warn = true, .high_alarm = false};
  const Row rows[] = {
      {0x03, 0x07, {}, {}, kNone, kNone},               // none is there
      {0x07, 0x00, {}, {}, kNone, kNone},               // the first is none of the two
      {0x07, 0x01, 50.0, {}, kHighAlarm, kNone},        // the first is the TEC
      {0x0b, 0x00, {}, 61.5, kNone, kLowAlarm},         // the second is the laser's temperature
      {0x0b, 0x02, 48.05, {}, kLowAlarm, kNone},        // … or the TEC
      {0x13, 0x00, {}, 70.25, kNone, kHighWarn},        // the third is the laser's temperature
      {0x13, 0x04, {}, {}, kNone, kNone},               // … or a second supply
      {0x1f, 0x01, 50.0, 61.5, kHighAlarm, kLowAlarm},  // all three: the first of each
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(::testing::PrintToString(row.there) + " " + ::testing::PrintToString(row.kinds));
    auto b = EepromBuilder::cmis();
    b.lower()
        .u16(18, 16384)
        .u16(20, 61 * 256 + 128)
        .u16(22, 70 * 256 + 64)
        .byte(10, 0x21)
        .byte(11, 0x04);
    b.page(1).byte(159, row.there).byte(145, row.kinds);
    const ModuleSample m = decode(b);
    ASSERT_EQ(m.tec_current_percent.has_value(), row.tec_percent.has_value());
    EXPECT_NEAR(m.tec_current_percent.value_or(0), row.tec_percent.value_or(0), 0.01);
    EXPECT_EQ(m.laser_temperature_c, row.laser_c);
    EXPECT_EQ(m.tec_flags, row.tec);
    EXPECT_EQ(m.laser_temperature_flags, row.laser);
  }
}

/// Of two monitors of one kind each keeps its value, its limits and its flags.
TEST(CmisAuxiliary, TwoAuxiliaryMonitorsOfOneKind) {
  auto b = EepromBuilder::cmis();
  b.lower().u16(18, 16384).u16(20, 0x10000 - 16384).byte(10, 0x28);
  b.page(1).byte(159, 0x0f).byte(145, 0x03);
  b.page(2).limits(144, 30000, 0, 29000, 100).limits(152, 20000, 0, 19000, 100);
  const ModuleSample coolers = decode(b);
  EXPECT_NEAR(coolers.tec_current_percent.value_or(0), 50, 0.01);
  EXPECT_NEAR(coolers.second_tec_current_percent.value_or(0), -50, 0.01);
  EXPECT_EQ(coolers.tec_flags.low_warn, true);
  EXPECT_EQ(coolers.tec_flags.low_alarm, false);
  EXPECT_EQ(coolers.second_tec_flags.low_alarm, true);
  EXPECT_EQ(coolers.second_tec_flags.low_warn, false);
  EXPECT_NEAR(coolers.thresholds.tec_current_percent.high_alarm.value_or(0), 91.6, 0.1);
  EXPECT_NEAR(coolers.thresholds.second_tec_current_percent.high_alarm.value_or(0), 61.0, 0.1);
  b.lower().u16(20, 55 << 8).u16(22, 60 << 8).byte(10, 0x10).byte(11, 0x04);
  b.page(1).byte(159, 0x1b).byte(145, 0x00);
  const ModuleSample lasers = decode(b);
  EXPECT_EQ(lasers.laser_temperature_c, 55);
  EXPECT_EQ(lasers.second_laser_temperature_c, 60);
  EXPECT_EQ(lasers.laser_temperature_flags.high_alarm, true);
  EXPECT_EQ(lasers.second_laser_temperature_flags.high_warn, true);
  EXPECT_EQ(lasers.second_laser_temperature_flags.high_alarm, false);
}

TEST(CmisAuxiliary, OtherMonitorsOfTheLowerPage) {
  auto b = EepromBuilder::cmis();
  b.lower().u16(22, 17500).u16(24, 0xc936).byte(10, 0x01).byte(11, 0x84);
  b.page(1).byte(159, 0x37).byte(145, 0x04);
  const ModuleSample m = decode(b);
  EXPECT_NEAR(m.second_supply_v.value_or(0), 1.75, 1e-9);
  EXPECT_EQ(m.second_supply_flags.high_warn, true);
  EXPECT_EQ(m.auxiliary_flags.high_alarm, true) << "the first auxiliary one is the maker's own";
  EXPECT_EQ(m.custom_flags.low_warn, true);
  EXPECT_EQ(m.custom_flags.high_alarm, false);
  b.page(1).byte(159, 0x03);
  const ModuleSample none = decode(b);
  EXPECT_FALSE(none.second_supply_v);
  EXPECT_TRUE(none.second_supply_flags.empty() && none.auxiliary_flags.empty() &&
              none.custom_flags.empty());
}

/// A module whose meters all read zero measures no laser's temperature either.
TEST(CmisAuxiliary, OfAModuleThatMeasuresNothingAreNone) {
  auto b = EepromBuilder::cmis();
  b.lower().u16(14, 0).u16(16, 0).u16(20, 0).u16(22, 0);
  b.page(1).byte(159, 0x1b).byte(145, 0x00);
  EXPECT_EQ(decode(b).second_laser_temperature_c, 0) << "its lanes measure";
  b.page(0x11).fill(154, 48, 0);
  EXPECT_FALSE(decode(b).laser_temperature_c);
  EXPECT_FALSE(decode(b).second_laser_temperature_c);
}

}  // namespace
}  // namespace linkhealth
