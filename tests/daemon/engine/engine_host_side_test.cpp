// What a module says of this host, of its own comings and goings, and of cages that are not its
// own.
#include <gtest/gtest.h>

#include "tests/daemon/engine/node_story.h"

namespace linkhealth {
namespace {

std::string opened(const Node& node, const PortKey& port) {
  std::string names;
  for (const FaultEvent& event : node.events)
    if (event.port == port && event.kind == FaultEventKind::kOpened)
      names += event.fault.fault + " ";
  return names;
}

// --- what the host told the module

TEST(AHeldModule, IsASettingWithItsUndoing) {
  struct Row {
    void (*hold)(ModuleSample&);
    const char* says;
    const char* undo;
  };
  for (const Row& row :
       {Row{[](ModuleSample& m) { m.state = "ModuleLowPwr", m.low_pwr_request_sw = true; },
            "low power", "power-mode-policy high"},
        Row{[](ModuleSample& m) {
              m.state = "ModuleLowPwr", m.low_pwr_request_sw = false;
              m.low_pwr_allow_request_hw = true;
            },
            "pin", "ip link set ens1np0 up"},
        Row{[](ModuleSample& m) { m.allowed_power_w = 3.5, m.max_power_w = 4.5; }, "power class",
            "power class"},
        Row{[](ModuleSample& m) { m.lanes[2].tx_disabled = true; },
            "disabled the module's transmitters", "up"},
        Row{[](ModuleSample& m) {
              m.host_lanes.resize(8);
              for (ModuleHostLane& lane : m.host_lanes) lane.dp_deinit = true;
            },
            "deactivated the module's data path", "down, then up"}}) {
    Story story(1200);
    for (ModuleLane& lane : story.feed.module.lanes) lane.tx_disabled = false;
    story.run(300);
    story.lose_light();
    row.hold(story.feed.module);
    for (ModuleLane& lane : story.feed.module.lanes) lane.tx_power_mw = lane.tx_bias_ma = 0;
    story.run(600);
    EXPECT_EQ(story.events, "opened:settings_mismatch ") << row.says;
    ASSERT_FALSE(story.port().faults.empty()) << row.says;
    const FaultReport& fault = story.port().faults.front();
    EXPECT_NE(fault.summary.find(row.says), std::string::npos) << fault.summary;
    EXPECT_NE(fault.repair.front().find(row.undo), std::string::npos) << fault.repair.front();
  }
}

/// A module that carried under the same words, and a port that is set down.
TEST(AHeldModule, ThatCarriedSoIsNotHeld) {
  Story story(0);
  story.feed.module.allowed_power_w = 3.5, story.feed.module.max_power_w = 4.5;
  story.run(1200);
  story.lose_light();
  story.run(600);
  EXPECT_EQ(story.events.find("settings_mismatch"), std::string::npos) << story.events;
  Story down(1200);
  down.set_down();
  down.feed.module.state = "ModuleLowPwr", down.feed.module.low_pwr_request_sw = true;
  for (ModuleLane& lane : down.feed.module.lanes) lane.tx_disabled = lane.tx_los = true;
  down.run(600);
  EXPECT_EQ(down.events, "opened:admin_down ");
}

// --- the signal from the host

void host_goes_silent(Story& story, bool lost) {
  story.pull();
  for (ModuleLane& lane : story.feed.module.lanes) lane.tx_los = lost, lane.tx_lol = true;
}

TEST(ASilentHost, IsThisNodesAndNotTheFarEnds) {
  for (const bool lost : {true, false}) {
    Story story(0);
    for (ModuleLane& lane : story.feed.module.lanes) lane.tx_los = lane.tx_lol = false;
    story.run(1200);
    host_goes_silent(story, lost);
    story.run(600);
    EXPECT_EQ(story.events, "opened:nic_fault ");
    ASSERT_FALSE(story.port().faults.empty());
    EXPECT_NE(story.port().faults.front().repair.at(1).find("reseat this module"),
              std::string::npos);
  }
}

/// Flags that are latched from the fall, and a port that trains in vain without light.
TEST(ASilentHost, IsNotReadFromOneReadingOrWithoutLight) {
  Story once(1200);
  host_goes_silent(once, true);
  once.run(10);
  for (ModuleLane& lane : once.feed.module.lanes) lane.tx_los = lane.tx_lol = false;
  once.run(600);
  EXPECT_EQ(once.events.find("nic_fault"), std::string::npos) << once.events;
  Story dark(1200);
  host_goes_silent(dark, false);
  dark.feed.receive_mw(0);
  dark.run(600);
  EXPECT_EQ(dark.events.find("nic_fault"), std::string::npos) << dark.events;
}

// --- a module that leaves and comes back

void drop_out(Story& story, double out_s, const std::string& back) {
  Feed& feed = story.feed;
  const ModuleSample module = feed.module;
  feed.event(PortEventKind::kModuleRemoved, feed.t + 0.6);
  feed.pull(feed.t + 0.1);
  feed.module = ModuleSample{};
  feed.module.present = false;
  story.run(out_s);
  feed.module = module;
  feed.module.serial = back;
  feed.event(PortEventKind::kModuleInserted, feed.t + 1);
  feed.plug(feed.t + 8);
}

TEST(ADropOut, OfTheSameModuleAgainAndAgainIsTheModules) {
  for (const double apart_s : {900.0, 3300.0}) {
    Story story(3600);
    for (int i = 0; i < 5; ++i) {
      drop_out(story, 20, "A1");
      story.run(apart_s);
    }
    const bool often = apart_s < 1200;  // more than twice an hour is critical
    EXPECT_EQ(story.events, often ? "opened:bad_module worsened:bad_module " : "opened:bad_module ")
        << apart_s;
    ASSERT_FALSE(story.port().faults.empty());
    EXPECT_NE(story.port().faults.front().repair.front().find("reseat this module"),
              std::string::npos);
  }
}

TEST(ADropOut, ByAHandIsNone) {
  Story once(3600);
  drop_out(once, 20, "A1");
  once.run(7200);
  EXPECT_EQ(once.events, "");
  Story swaps(3600);
  for (const char* serial : {"B2", "C3", "D4"}) {
    drop_out(swaps, 30, serial);
    swaps.run(1500);
  }
  EXPECT_EQ(swaps.events.find("bad_module"), std::string::npos) << swaps.events;
  Story rare(3600);
  for (int i = 0; i < 3; ++i) {
    drop_out(rare, 20, "A1");
    rare.run(9000);
  }
  EXPECT_EQ(rare.events, "") << "hours apart: work at the rack";
}

// --- a cage that could not be read once

TEST(AnEmptyCage, ThatOnceCannotBeReadStaysUnused) {
  Story story(0);
  Feed& feed = story.feed;
  feed.link.carrier = false;
  feed.link.state = "DOWN";
  feed.link.phys_state = "Disabled";
  feed.link.carrier_up_count = 3, feed.link.carrier_down_count = 4;  // before the start
  feed.module = ModuleSample{};
  feed.module.present = false;
  story.run(1800);
  EXPECT_FALSE(story.port().latest.id.exempt.empty() && story.port().exempt.empty());
  const ModuleSample empty = feed.module;
  for (const double failing_s : {10.0, 1800.0}) {
    feed.module = ModuleSample{};
    feed.gaps = {{"mlx5_0/1", "module", "EIO"}};
    story.run(failing_s);
    feed.gaps.clear();
    feed.module = empty;
    story.run(1800);
    EXPECT_EQ(story.events, "") << failing_s;
    EXPECT_TRUE(story.port().faults.empty());
  }
}

TEST(AnEmptyCage, ThatIsFoundAfterwardsEndsItsFault) {
  Story story(0);
  Feed& feed = story.feed;
  feed.link.carrier = false;
  feed.link.state = "DOWN";
  feed.link.carrier_up_count = 3, feed.link.carrier_down_count = 4;
  feed.module_readable = false;
  feed.gaps = {{"mlx5_0/1", "module", "EIO"}};
  story.run(3600);
  feed.gaps.clear();
  feed.module_readable = true;
  feed.module = ModuleSample{};
  feed.module.present = false;
  story.run(600);
  EXPECT_TRUE(story.port().faults.empty());
  EXPECT_FALSE(story.port().exempt.empty());
}

// --- a module of two ports

Node twin() {
  Node node(2);
  node.change = [](std::size_t, PortSample& port) {
    if (port.module) port.module->serial = "TWIN";
    if (port.link) port.link->lanes = 2;
  };
  node.run(2000);
  return node;
}

TEST(ATwinModule, WithALaserThatLostSixDecibelsIsToldOnce) {
  Node node = twin();
  node.feed.module.lanes[2].tx_power_mw = 0.25;
  node.run(3000);
  EXPECT_EQ(opened(node, "mlx5_0/1"), "failing_transmitter ");
  EXPECT_EQ(opened(node, "mlx5_1/1"), "");
}

TEST(ATwinModule, WithAMeterThatIsStuckIsToldOnce) {
  Node node = twin();
  node.feed.module.lanes[1].rx_power_mw = 0;
  node.run(3000);
  EXPECT_EQ(opened(node, "mlx5_0/1"), "bad_module ");
  EXPECT_EQ(opened(node, "mlx5_1/1"), "");
}

TEST(ATwinModule, WithAnotherPatchCordIsHealthy) {
  Node node = twin();
  node.feed.module.lanes[2].rx_power_mw = 0.55;
  node.feed.module.lanes[1].tx_power_mw = 0.8;
  node.run(3000);
  EXPECT_TRUE(node.events.empty());
}

// --- the module of another cage

TEST(AnotherCagesModule, IsDoubted) {
  for (const std::uint32_t lanes : {1U, 4U}) {
    Node node(2);
    node.change = [lanes](std::size_t i, PortSample& port) {
      port.id.pci = "0000:1b:00." + std::to_string(i);
      if (port.link) port.link->lanes = lanes;
      if (port.module) {
        port.module->serial = "SAME";
        port.module->form_factor = lanes == 1 ? "SFP" : "QSFP28";
      }
      if (i == 1 && port.link) {
        port.link->carrier = false;
        port.link->state = "DOWN";
        port.link->carrier_up_count = 0;
        port.link->carrier_down_count = 0;
      }
    };
    node.run(3600);
    EXPECT_FALSE(node.port("mlx5_1/1")->latest.module) << lanes;
    EXPECT_TRUE(node.port("mlx5_0/1")->latest.module);
    EXPECT_TRUE(node.port("mlx5_0/1")->faults.empty());
  }
}

/// A split module, both ends of one cable in a card, and makers that repeat a serial number.
TEST(AnotherCagesModule, IsNotOneThatIsShared) {
  struct Row {
    const char* form_factor;
    const char* kind;
    std::uint32_t lanes;
    double other_c;
  };
  for (const Row& row : {Row{"QSFP28", "optical", 2, 50}, Row{"QSFP28", "aoc", 4, 50},
                         Row{"SFP", "optical", 1, 43}}) {
    Node node(2);
    node.change = [row](std::size_t i, PortSample& port) {
      port.id.pci = "0000:1b:00." + std::to_string(i);
      if (port.link) port.link->lanes = row.lanes;
      if (port.module) {
        port.module->serial = "SAME";
        port.module->form_factor = row.form_factor;
        port.module->kind = row.kind;
        if (i == 1) port.module->temperature_c = row.other_c;
      }
      if (i == 1 && port.link) port.link->carrier = false;
    };
    node.run(1200);
    EXPECT_TRUE(node.port("mlx5_1/1")->latest.module) << row.form_factor << " " << row.kind;
  }
}

}  // namespace
}  // namespace linkhealth
