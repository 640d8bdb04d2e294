// What the module reader remembers of latched flags.
#include "probes/module/module_flags.h"

#include <gmock/gmock.h>

namespace linkhealth {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ModuleSample with_lanes() {
  ModuleSample m;
  m.management = "CMIS 5.0";
  m.state = "ModuleReady";
  m.lanes.resize(4);
  m.host_lanes.resize(8);
  for (ModuleLane& lane : m.lanes) lane.tx_disabled = false;
  for (ModuleHostLane& lane : m.host_lanes) lane.data_path_state = "Activated";
  return m;
}

std::vector<std::string> changed(const ModuleFlagHistory& history) {
  std::vector<std::string> out;
  for (const ModuleFlag& flag : history.list())
    out.push_back(flag.name + " " + std::to_string(flag.lane.value_or(0)) +
                  (flag.set ? " set" : " clear"));
  return out;
}

TEST(ModuleFlags, AreRememberedWithNamesLanesAndTimes) {
  ModuleSample m = with_lanes();
  ModuleFlagHistory history;
  history.update(m, WallTime(Milliseconds(1000)));
  EXPECT_THAT(history.list(), IsEmpty());
  m.lanes[1].rx_los = m.lanes[3].rx_power_flags.low_alarm = true;
  m.lanes[2].tx_los = m.host_lanes[4].tx_los = true;  // of the media lane derived
  m.module_state_changed = m.host_lanes[0].dp_state_changed = m.temperature_flags.high_warn = true;
  history.update(m, WallTime(Milliseconds(2000)));
  m.lanes[1].rx_los = false;
  m.host_lanes[4].tx_los.reset();  // not read
  history.update(m, WallTime(Milliseconds(3000)));
  EXPECT_THAT(
      changed(history),
      ElementsAre("host_dp_state_changed 1 set", "host_tx_los 5 set", "module_state_changed 0 set",
                  "rx_los 2 clear", "rx_power_low_alarm 4 set", "temperature_high_warn 0 set"));
  const ModuleFlag los = history.list()[3];
  EXPECT_EQ(los.change_count, 2U);
  EXPECT_EQ(los.set_at, WallTime(Milliseconds(2000)));
  EXPECT_EQ(los.cleared_at, WallTime(Milliseconds(3000)));
}

TEST(ModuleFlags, AreClearedAndMerged) {
  ModuleSample earlier = with_lanes(), sample = with_lanes();
  earlier.lanes[0].tx_fault = earlier.host_lanes[7].tx_lol = earlier.supply_flags.low_alarm = true;
  sample.lanes[0].tx_fault = false;
  sample.lanes[1].rx_los = true;
  unite_flags(sample, earlier);
  EXPECT_EQ(sample.lanes[0].tx_fault, true);
  EXPECT_EQ(sample.lanes[1].rx_los, true);
  EXPECT_EQ(sample.host_lanes[7].tx_lol, true);
  EXPECT_EQ(sample.supply_flags.low_alarm, true);
  forget_flags(sample);
  EXPECT_EQ(sample, with_lanes());
}

TEST(ModuleFlags, AreOfAStartWhereSomethingCameUp) {
  const ModuleSample up = with_lanes();
  struct Row {
    const char* what;
    void (*take_down)(ModuleSample&);
  };
  constexpr Row kRows[] = {
      {"module", [](ModuleSample& m) { m.state = "ModulePwrUp"; }},
      {"low power", [](ModuleSample& m) { m.low_pwr_request_sw = true; }},
      {"readings", [](ModuleSample& m) { m.data_not_ready = true; }},
      {"laser", [](ModuleSample& m) { m.lanes[2].tx_disabled = true; }},
      {"squelch", [](ModuleSample& m) { m.lanes[2].output_squelch_force_tx = true; }},
      {"data path", [](ModuleSample& m) { m.host_lanes[5].data_path_state = "Init"; }},
      {"application", [](ModuleSample& m) { m.lanes.resize(1); }},
  };
  for (const Row& row : kRows) {
    ModuleSample down = up;
    row.take_down(down);
    EXPECT_TRUE(has_come_up(activity_of(down), activity_of(up))) << row.what;
    if (down.lanes.size() == up.lanes.size()) {
      EXPECT_FALSE(has_come_up(activity_of(up), activity_of(down))) << row.what;
    }
  }
  EXPECT_FALSE(has_come_up(activity_of(up), activity_of(up)));
}

}  // namespace
}  // namespace linkhealth
