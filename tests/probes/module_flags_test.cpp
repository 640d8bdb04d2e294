// Flags that say that a state changed: each start raises them, so only what is no start counts.
#include "probes/module_flags.h"

#include <gmock/gmock.h>

namespace linkhealth {
namespace {

ModuleSample with_data_path(const char* state) {
  ModuleSample m;
  m.state = "ModuleReady";
  m.host_lanes.resize(2);
  m.host_lanes[0].data_path_state = "Activated";
  m.host_lanes[1].data_path_state = state;
  return m;
}

TEST(ModuleFlags, WhatChangedIsKeptAsAFlagAndForgottenWithAStart) {
  ModuleSample m = with_data_path("Activated");
  m.state_changed = true;
  m.abnormal_firmware = false;
  m.host_lanes[0].data_path_changed = true;
  m.host_lanes[1].rx_output_changed = true;
  ModuleFlagHistory history;
  history.take(m, WallTime());
  std::vector<std::string> names;
  for (const ModuleFlag& flag : history.list()) names.push_back(flag.name);
  EXPECT_THAT(names,
              ::testing::ElementsAre("host_data_path_changed", "host_rx_output_changed", "module_state_changed"));
  forget_flags(m);
  EXPECT_EQ(m.host_lanes[0].data_path_changed, std::nullopt);
  EXPECT_EQ(m.state_changed, std::nullopt);
}

TEST(ModuleFlags, ADataPathThatComesUpRaisesThemByItself) {
  const ModuleCalm up = calm_of(with_data_path("Activated"));
  const ModuleCalm in_part = calm_of(with_data_path("Init"));
  EXPECT_TRUE(has_just_come_up(in_part, up));
  EXPECT_FALSE(has_just_come_up(up, in_part)) << "one that falls keeps its flags";
  EXPECT_FALSE(has_just_come_up(up, up)) << "nor does one lose them that fell and came back between two reads";
}

/// C-CMIS page 33h: set, cleared and counted as all others, of media lane 1.
TEST(ModuleFlags, ThoseOfACoherentLaneAreRememberedAndForgottenWithTheRest) {
  ModuleSample m;
  ModuleFlagHistory history;
  for (const bool set : {false, true, false, true}) {
    m.coherent_flags.rx_demodulator_lol = set;
    history.take(m, WallTime(Milliseconds(1000)));
  }
  const auto flags = history.list();
  ASSERT_EQ(flags.size(), 1U);
  EXPECT_EQ(flags[0].name, "coherent_rx_demodulator_lol");
  EXPECT_EQ(flags[0].lane, 1U);
  EXPECT_EQ(flags[0].change_count, 3U);
  EXPECT_TRUE(flags[0].set_at && flags[0].cleared_at);
  ModuleSample later;
  later.coherent_flags.rx_demodulator_lol = false;
  unite_flags(later, m);
  EXPECT_EQ(later.coherent_flags.rx_demodulator_lol, true) << "seen by a read that nobody saw";
  forget_flags(m);
  EXPECT_TRUE(m.coherent_flags.empty()) << "latched at an unknown time";
}

}  // namespace
}  // namespace linkhealth
