// PCI addresses that change at a reboot because a device was added or dropped out: what is
// remembered goes with the card that the GUID names.
#include <gmock/gmock.h>

#include "tests/daemon/engine/node_story.h"

namespace linkhealth {
namespace {

using ::testing::SizeIs;

constexpr const char* kNone = "";  // a card that is not there

/// Three cards; the kernel names them in the order of their addresses.
class Renumbered : public ::testing::Test {
 protected:
  Renumbered() { equip(node); }

  void equip(Node& of) {
    of.change = [this](std::size_t card, PortSample& port) {
      PortId& id = port.id;
      id.guid = guids.at(card);
      id.pci = places.at(card);
      id.device = "mlx5_" + std::to_string(place_of(card));
      if (card == sick && port.module) port.module->lanes[1].rx_power_mw = 0.2;
    };
  }
  void start_over(std::size_t cards) {
    node = Node(cards);
    equip(node);
    sick = 99;
    places = {"0000:1b:00.0", "0000:2b:00.0", "0000:3b:00.0"};
    places.resize(cards);
  }
  std::size_t place_of(std::size_t card) const {
    std::size_t before = 0;
    for (const std::string& place : places)
      before += place < places[card] && place != kNone ? 1 : 0;
    return before;
  }
  std::string name_of(std::size_t card) const {
    return "mlx5_" + std::to_string(place_of(card)) + "/1";
  }

  /// Long enough for references, then the second card's connector gets dirty.
  void fall_sick() {
    node.run(1800);
    sick = 1;
    node.run(600);
    fault_id = node.port(name_of(1))->faults.at(0).id;
  }
  void reboot(std::vector<std::string> to) {
    places = std::move(to);
    node.feed.t += 200;
    node.feed.uptime_s = 40;
    node.events.clear();
  }
  /// The daemon, too, which then knows what its memory kept.
  void reboot_with_daemon(std::vector<std::string> to) {
    Node next(node.count);
    next.feed.t = node.feed.t;
    next.engine.restore(node.engine.ledger_state());
    next.engine.restore(node.engine.references());
    node = std::move(next);
    equip(node);
    reboot(std::move(to));
  }
  /// The second card has the same fault under its new name, and no other card has one.
  void expect_it_stays_with_the_card() {
    for (std::size_t card = 0; card < node.count; ++card) {
      if (places[card] == kNone) continue;
      const PortReport* port = node.port(name_of(card));
      ASSERT_NE(port, nullptr) << card;
      ASSERT_THAT(port->faults, SizeIs(card == 1 ? 1 : 0)) << port->port;
      if (card != 1) {
        EXPECT_EQ(port->health, Health::kHealthy) << port->port;
        continue;
      }
      EXPECT_EQ(port->faults[0].id, fault_id);
      EXPECT_EQ(port->faults[0].fault, "dirty_connector");
      EXPECT_EQ(port->faults[0].state, FaultState::kOpen) << "its light is as low as before";
    }
    EXPECT_THAT(node.events, SizeIs(0)) << "nothing has changed";
  }

  std::vector<std::string> guids{"0290:fbe6:5496:b900", "0290:fbe6:5496:b901",
                                 "0290:fbe6:5496:b902"};
  std::vector<std::string> places{"0000:1b:00.0", "0000:2b:00.0", "0000:3b:00.0"};
  std::size_t sick = 99;
  std::string fault_id;
  Node node{3};
};

const std::vector<std::string> kShifted{"0000:2b:00.0", "0000:3b:00.0", "0000:4b:00.0"};
const std::vector<std::string> kSwapped{"0000:2b:00.0", "0000:1b:00.0", "0000:3b:00.0"};
const std::vector<std::string> kTurned{"0000:2b:00.0", "0000:3b:00.0", "0000:1b:00.0"};

TEST_F(Renumbered, MemoryGoesWithTheCard) {
  for (const auto& to : {kShifted, kSwapped, kTurned})
    for (const bool daemon_restarts : {false, true}) {
      start_over(3);
      fall_sick();
      daemon_restarts ? reboot_with_daemon(to) : reboot(to);
      node.run(1800);
      expect_it_stays_with_the_card();
    }
}

/// The sick one's driver takes longer: another card has its address meanwhile.
TEST_F(Renumbered, ACardThatComesLateFindsItsMemory) {
  for (const bool restart : {false, true}) {
    start_over(3);
    fall_sick();
    restart ? reboot_with_daemon(kShifted) : reboot(kShifted);
    for (const std::size_t count : {std::size_t{1}, std::size_t{3}}) {
      node.count = count;  // the first alone, then all
      node.run(count == 1 ? 60 : 1800);
    }
    expect_it_stays_with_the_card();
  }
}

TEST_F(Renumbered, RepairsAndMaintenanceGoWithTheCard) {
  fall_sick();
  Maintenance work;
  work.by = "ada";
  work.since = WallTime(Milliseconds(1763640000000)) + from_seconds(node.feed.t);
  ASSERT_TRUE(node.engine.begin_maintenance(name_of(1), work));
  reboot_with_daemon(kShifted);
  node.run(60);
  EXPECT_TRUE(node.port(name_of(1))->maintenance);
  EXPECT_FALSE(node.port(name_of(0))->maintenance);
  EXPECT_EQ(node.engine.ledger_state().maintenance.at(0).port, "0000:3b:00.0/1");
  EXPECT_EQ(node.engine.ledger_state().faults.at(0).port, "0000:3b:00.0/1");
}

TEST_F(Renumbered, WithoutAGuidOrWithOneForTwoMemoryStaysAtTheAddress) {
  for (const char* guid : {"", "0000:0000:0000:0000", "0290:fbe6:5496:b900"}) {
    start_over(2);
    guids = {guid, guid};
    fall_sick();
    reboot_with_daemon({"0000:2b:00.0", "0000:1b:00.0"});
    node.run(60);
    ASSERT_THAT(node.engine.ledger_state().faults, SizeIs(1));
    EXPECT_EQ(node.engine.ledger_state().faults[0].port, "0000:2b:00.0/1") << guid;
  }
}

/// The card of the first address is dead and off the bus, and the second one, which is sick, has
/// its address.
TEST_F(Renumbered, TheOneThatLostItsAddressIsStillMissed) {
  fall_sick();
  const std::string stable = "0290:fbe6:5496:b900/1";
  reboot({kNone, "0000:1b:00.0", "0000:2b:00.0"});
  node.gone = {0};
  node.run(900);
  ASSERT_NE(node.port(stable), nullptr) << "known by its GUID: its address is another's";
  ASSERT_THAT(node.port(stable)->faults, SizeIs(1));
  EXPECT_EQ(node.port(stable)->faults[0].fault, "nic_fault");
  EXPECT_EQ(node.port("mlx5_0/1")->faults.at(0).id, fault_id);
  EXPECT_THAT(node.port("mlx5_1/1")->faults, SizeIs(0));
}

}  // namespace
}  // namespace linkhealth
