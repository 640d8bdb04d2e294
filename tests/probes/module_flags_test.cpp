// Flags that say that a state changed: each start raises them, so only what is no start counts.
#include "probes/module_flags.h"

#include <gmock/gmock.h>

#include "probes/module/decode.h"

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
  EXPECT_THAT(names, ::testing::ElementsAre("host_data_path_changed", "host_rx_output_changed",
                                            "module_state_changed"));
  forget_flags(m);
  EXPECT_EQ(m.host_lanes[0].data_path_changed, std::nullopt);
  EXPECT_EQ(m.state_changed, std::nullopt);
}

TEST(ModuleFlags, ADataPathThatComesUpRaisesThemByItself) {
  const ModuleCalm up = calm_of(with_data_path("Activated"));
  const ModuleCalm in_part = calm_of(with_data_path("Init"));
  EXPECT_TRUE(has_just_come_up(in_part, up));
  EXPECT_FALSE(has_just_come_up(up, in_part)) << "one that falls keeps its flags";
  EXPECT_FALSE(has_just_come_up(up, up))
      << "nor does one lose them that fell and came back between two reads";
}

/// Two ports in one cage: what one of them does takes no flag from the other, nor from the module.
TEST(ModuleFlags, OnlyTheLanesThatComeUpForgetTheirs) {
  ModuleSample m;
  m.lanes.resize(4);
  m.host_lanes.resize(8);
  for (std::size_t i = 0; i < 8; ++i)
    m.host_lanes[i].data_path_state = i < 4 ? "Init" : "Activated";
  const ModuleCalm before = calm_of(m);
  for (ModuleHostLane& lane : m.host_lanes) {
    lane.data_path_state = "Activated";
    lane.tx_lol = true;
  }
  for (ModuleLane& lane : m.lanes) lane.rx_los = true;
  m.module_firmware_error = m.temperature_flags.high_alarm = true;
  m.vdm.flags.push_back({"supply", {}, {true, {}, {}, {}}});
  for (const char* name : {"media_snr", "host_snr"})
    for (const std::uint32_t lane : {1U, 4U})
      m.vdm.flags.push_back({name, lane, {true, {}, {}, {}}});
  forget_flags_of_what_came_up(m, before, calm_of(m));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(m.lanes[i].rx_los.has_value(), i >= 2) << i;
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(m.host_lanes[i].tx_lol.has_value(), i >= 4) << i;
  EXPECT_EQ(m.module_firmware_error, true);
  EXPECT_EQ(m.temperature_flags.high_alarm, true);
  list_set_flags(m);
  std::vector<std::string> vdm;
  for (const VdmFlags& entry : m.vdm.flags)
    vdm.push_back(entry.name + std::to_string(entry.lane.value_or(0)));
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
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(m.lanes[i].rx_power_flags.low_alarm.has_value(), i != 2) << i;
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

std::vector<std::string> set_in(const ModuleFlagHistory& history) {
  std::vector<std::string> out;
  for (const ModuleFlag& flag : history.list())
    if (flag.set) out.push_back(flag.name + " " + std::to_string(flag.lane.value_or(0)));
  return out;
}

/// Sixteen lanes in two banks, flags of either side on the last.
ModuleSample two_banks() {
  ModuleSample m;
  m.bank_count = 2;
  m.lanes.resize(16);
  m.host_lanes.resize(16);
  for (ModuleLane& lane : m.lanes) lane.tx_disabled = false;
  for (ModuleHostLane& lane : m.host_lanes) lane.data_path_state = "Activated";
  m.lanes[2].rx_los = m.lanes[14].rx_power_flags.low_alarm = m.host_lanes[15].tx_lol = true;
  m.other_flags = {{"laser_tuning_complete", 15, true}};
  return m;
}

/// What is set on a lane that goes out of use is over; of a bank that was not read nothing is
/// known.
TEST(ModuleFlags, OfALaneThatGoesOutOfUseAreClearedAndOfAPageThatFailsAreNot) {
  ModuleFlagHistory history;
  history.take(two_banks(), WallTime(Milliseconds(1000)));
  const auto all = set_in(history);
  ASSERT_THAT(all, ::testing::ElementsAre("host_tx_lol 16", "laser_tuning_complete 15", "rx_los 3",
                                          "rx_power_low_alarm 15"));
  ModuleSample unread = two_banks();
  unread.other_flags.clear();
  unread.lanes.resize(8);
  unread.host_lanes.resize(8);
  history.take(unread, WallTime(Milliseconds(2000)));
  EXPECT_EQ(set_in(history), all) << "the second bank was not read";
  unread.lanes.clear();
  unread.host_lanes.clear();
  history.take(unread, WallTime(Milliseconds(2500)));
  EXPECT_EQ(set_in(history), all) << "neither was";
  ModuleSample half = two_banks();
  half.other_flags.clear();
  for (std::size_t i = 8; i < 16; ++i) {
    half.lanes[i] = ModuleLane{};
    half.host_lanes[i].data_path_state = "Deactivated";
  }
  history.take(half, WallTime(Milliseconds(3000)));
  EXPECT_THAT(set_in(history), ::testing::ElementsAre("host_tx_lol 16", "rx_los 3"));
  half.host_lanes.resize(12);
  half.lanes.resize(8);
  history.take(half, WallTime(Milliseconds(4000)));
  history.take(half, WallTime(Milliseconds(5000)));
  EXPECT_THAT(set_in(history), ::testing::ElementsAre("rx_los 3"))
      << "it has no host lane 16 any more";
  for (const ModuleFlag& flag : history.list()) EXPECT_LE(flag.change_count, 2U) << flag.name;
  EXPECT_EQ(history.list()[0].cleared_at, WallTime(Milliseconds(4000)));
}

/// They are of no link, and over when something runs over the lane.
TEST(ModuleFlags, OfAnUnusedLaneEndWhenItIsUsed) {
  ModuleSample half = two_banks();
  half.lanes[14] = ModuleLane{};
  half.other_flags = {{"unused_rx_los", 15, true}};
  ModuleFlagHistory history;
  history.take(half, WallTime());
  history.take(half, WallTime());
  EXPECT_THAT(set_in(history),
              ::testing::ElementsAre("host_tx_lol 16", "rx_los 3", "unused_rx_los 15"));
  ModuleSample all = two_banks();
  all.lanes[14] = ModuleLane{};
  all.lanes[14].tx_disabled = false;
  all.other_flags.clear();
  history.take(all, WallTime());
  EXPECT_THAT(set_in(history), ::testing::ElementsAre("host_tx_lol 16", "rx_los 3"));
}

/// A plug that sends back what comes has no media lanes for us.
TEST(ModuleFlags, AStartOfTheHostsSideIsTheMediaSidesWhereThatHasNoLanes) {
  ModuleSample m;
  m.host_lanes.resize(2);
  m.host_lanes[0].data_path_state = "Activated";
  m.host_lanes[1].data_path_state = "Init";
  const ModuleCalm before = calm_of(m);
  m.host_lanes[1].data_path_state = "Activated";
  m.other_flags = {{"media_rx_los", 1, true}, {"media_rx_los", 2, true}};
  forget_flags_of_what_came_up(m, before, calm_of(m));
  EXPECT_THAT(m.other_flags, ::testing::ElementsAre(OtherFlag{"media_rx_los", 1, true}));
}

/// Of a round that ended early, whose pages the next one could not read.
TEST(ModuleFlags, AreUnitedAlsoWhereTheirLanesWereNotRead) {
  ModuleSample earlier, sample;
  earlier.lanes.resize(8);
  earlier.host_lanes.resize(8);
  earlier.laser_tuning.resize(8);
  earlier.lanes[1].rx_los = earlier.host_lanes[4].tx_los =
      earlier.laser_tuning[2].wavelength_unlocked = true;
  unite_flags(sample, earlier);
  ModuleFlagHistory history;
  history.take(sample, WallTime());
  EXPECT_THAT(set_in(history),
              ::testing::ElementsAre("host_tx_los 5", "laser_wavelength_unlocked 3", "rx_los 2"));
}

TEST(ModuleFlags, OfVdmThatWereNotReadAreNotCleared) {
  ModuleSample m;
  m.vdm.flags = {{"media_esnr_db", 1, {true, false, false, false}}};
  ModuleFlagHistory history;
  history.take(m, WallTime());
  m.vdm.flags = {{"media_esnr_db", 1, {}}};
  history.take(m, WallTime());
  EXPECT_TRUE(history.list().at(0).set) << "the page of flags did not answer";
  m.vdm.flags = {{"media_esnr_db", 1, {false, false, false, false}}};
  history.take(m, WallTime());
  EXPECT_FALSE(history.list().at(0).set);
  m.vdm.flags = {{"media_esnr_db", 1, {true, false, false, false}}};
  history.take(m, WallTime());
  m.vdm.flags = {{"media_ltp_db", 1, {false, false, false, false}}};
  history.take(m, WallTime());
  EXPECT_FALSE(history.list().at(0).set) << "the module measures something else now";
}

TEST(ModuleFlags, TheOthersAreRememberedUnitedAndForgotten) {
  ModuleSample m;
  m.lanes.resize(2);
  m.other_flags = {{"cdb_1_complete", {}, true},
                   {"laser_tuning_complete", 1, false},
                   {"laser_tuning_complete", 2, true}};
  ModuleFlagHistory history;
  history.take(m, WallTime());
  ModuleSample later = m;
  later.other_flags = {{"cdb_1_complete", {}, false}, {"laser_tuning_complete", 1, true}};
  history.take(later, WallTime());
  ASSERT_EQ(history.list().size(), 3U);
  EXPECT_FALSE(history.list()[0].set);
  EXPECT_EQ(history.list()[0].change_count, 2U);
  EXPECT_TRUE(history.list()[1].set);
  EXPECT_TRUE(history.list()[2].set) << "of lane 2 nothing was read";
  unite_flags(later, m);
  EXPECT_THAT(later.other_flags,
              ::testing::ElementsAre(OtherFlag{"cdb_1_complete", {}, true},
                                     OtherFlag{"laser_tuning_complete", 1, true},
                                     OtherFlag{"laser_tuning_complete", 2, true}));
  m.lanes[1].tx_disabled = true;
  const ModuleCalm before = calm_of(m);
  m.lanes[1].tx_disabled = false;
  forget_flags_of_what_came_up(m, before, calm_of(m));
  EXPECT_THAT(m.other_flags, ::testing::ElementsAre(OtherFlag{"cdb_1_complete", {}, true},
                                                    OtherFlag{"laser_tuning_complete", 1, false}));
  list_set_flags(m);
  EXPECT_THAT(m.other_flags, ::testing::ElementsAre(OtherFlag{"cdb_1_complete", {}, true}));
  forget_flags(m);
  EXPECT_TRUE(m.other_flags.empty());
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
