// Flags of a module that belong to no value which a person is shown.
#include <gmock/gmock.h>

#include "exporters/module_text.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;

ModuleSample qsfp_dd() {
  ModuleSample m;
  m.form_factor = "QSFP-DD";
  m.serial = "AC0003";
  return m;
}

TEST(ModuleFlagsText, MonitorsOfTheMakersOwnHaveFlagsAndNoValue) {
  ModuleSample m = qsfp_dd();
  m.second_supply_v = 1.753;
  m.second_supply_flags.low_warn = true;
  m.auxiliary_flags.high_alarm = true;
  m.custom_flags.high_warn = true;
  const std::string text = module_text(m, {});
  EXPECT_THAT(text, HasSubstr("  2nd supply   1.75 V\n"));
  EXPECT_THAT(text, HasSubstr("    second supply low warning\n"));
  EXPECT_THAT(text, HasSubstr("    the maker's auxiliary monitor high alarm\n"));
  EXPECT_THAT(text, HasSubstr("    the maker's custom monitor high warning\n"));
}

TEST(ModuleFlagsText, TheSecondOfTwoMonitorsHasALineOfItsOwn) {
  ModuleSample m = qsfp_dd();
  m.tec_current_percent = 12.5;
  m.second_tec_current_percent = -40;
  m.second_laser_temperature_c = 61.5;
  m.second_tec_flags.low_alarm = m.second_laser_temperature_flags.high_warn = true;
  const std::string text = module_text(m, {});
  EXPECT_THAT(text, HasSubstr("  2nd laser    61.5 C\n"));
  EXPECT_THAT(text, HasSubstr("  laser cooler 12.5 % (heats)\n"));
  EXPECT_THAT(text, HasSubstr("  2nd cooler   -40.0 % (cools)\n"));
  EXPECT_THAT(text, HasSubstr("    second laser temperature high warning\n"));
  EXPECT_THAT(text, HasSubstr("    second laser cooler low alarm\n"));
}

TEST(ModuleFlagsText, FlagsWithoutAFieldAreSaidByTheirNames) {
  ModuleSample m = qsfp_dd();
  m.other_flags = {{"cdb_1_complete", {}, true},
                   {"laser_tuning_complete", 1, true},
                   {"laser_tuning_complete", 2, false},
                   {"laser_tuning_complete", 4, true},
                   {"custom_flag_13_0", {}, true}};
  m.vdm.flags = {{"type_100", 3, {true, false, false, false}}};
  const std::string text = module_text(m, {});
  EXPECT_THAT(text, HasSubstr("    cdb 1 complete\n"));
  EXPECT_THAT(text, HasSubstr("    laser tuning complete, lanes 1 4\n"));
  EXPECT_THAT(text, HasSubstr("    the maker's own flag, byte 13 bit 0\n"));
  EXPECT_THAT(text, HasSubstr("    monitor of type 100 low alarm, lane 3\n"));
}

}  // namespace
}  // namespace linkhealth
