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

/// Two ports in one cage: what one of them does takes no flag from the other, nor from the module.
TEST(ModuleFlags, OnlyTheLanesThatComeUpForgetTheirs) {
  ModuleSample m;
  m.lanes.resize(4);
  m.host_lanes.resize(8);
  for (std::size_t i = 0; i < 8; ++i) m.host_lanes[i].data_path_state = i < 4 ? "Init" : "Activated";
  const ModuleCalm before = calm_of(m);
  for (ModuleHostLane& lane : m.host_lanes) {
    lane.data_path_state = "Activated";
    lane.tx_lol = true;
  }
  for (ModuleLane& lane : m.lanes) lane.rx_los = true;
  m.module_firmware_error = m.temperature_flags.high_alarm = true;
  m.vdm.flags.push_back({"supply", {}, {true, {}, {}, {}}});
  for (const char* name : {"media_snr", "host_snr"})
    for (const std::uint32_t lane : {1U, 4U}) m.vdm.flags.push_back({name, lane, {true, {}, {}, {}}});
  forget_flags_of_what_came_up(m, before, calm_of(m));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(m.lanes[i].rx_los.has_value(), i >= 2) << i;
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(m.host_lanes[i].tx_lol.has_value(), i >= 4) << i;
  EXPECT_EQ(m.module_firmware_error, true);
  EXPECT_EQ(m.temperature_flags.high_alarm, true);
  leave_out_unknown(m);
  std::vector<std::string> vdm;
  for (const VdmFlags& entry : m.vdm.flags) vdm.push_back(entry.name + std::to_string(entry.lane.value_or(0)));
  EXPECT_THAT(vdm, ::testing::ElementsAre("supply0", "media_snr4")) << "host lane 4 came up";
}

TEST(ModuleFlags, WhatIsForgottenOfVdmIsNotCleared) {
  ModuleSample m;
  m.lanes.resize(2);
  m.lanes[0].tx_disabled = true;
  m.vdm.media_esnr_db = {20.0, 20.0};
  m.vdm.flags = {{"media_snr", 1, {true, {}, {}, {}}}, {"media_snr", 2, {true, {}, {}, {}}}};
  const ModuleCalm before = calm_of(m);
  ModuleFlagHistory history;
  history.take(m, WallTime());
  m.lanes[0].tx_disabled = false;
  m.vdm.flags.pop_back();
  forget_flags_of_what_came_up(m, before, calm_of(m));
  history.take(m, WallTime());
  const auto flags = history.list();
  ASSERT_EQ(flags.size(), 2U);
  EXPECT_TRUE(flags[0].set) << "of lane 1, which came up, nothing is known";
  EXPECT_FALSE(flags[1].set);
}

TEST(ModuleFlags, ALaserThatComesOnForgetsTheFlagsOfItsLane) {
  ModuleSample m;
  m.lanes.resize(4);
  m.lanes[2].tx_disabled = true;
  const ModuleCalm before = calm_of(m);
  m.lanes[2].tx_disabled = false;
  for (ModuleLane& lane : m.lanes) lane.rx_power_flags.low_alarm = true;
  forget_flags_of_what_came_up(m, before, calm_of(m));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(m.lanes[i].rx_power_flags.low_alarm.has_value(), i != 2) << i;
}

TEST(ModuleFlags, AModuleThatComesUpForgetsAllOfThem) {
  ModuleSample m;
  m.state = "ModulePwrUp";
  const ModuleCalm before = calm_of(m);
  m.state = "ModuleReady";
  m.module_firmware_error = true;
  forget_flags_of_what_came_up(m, before, calm_of(m));
  EXPECT_EQ(m.module_firmware_error, std::nullopt);
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
