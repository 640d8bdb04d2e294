// A search for ports compared with the ports that are known, and with those of an earlier run.
#include "daemon/sampling/port_inventory_diff.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/startup_log.h"

namespace linkhealth {
namespace {

InventoryPort searched_port(const std::string& device, const std::string& pci,
                            const std::string& netdev, int ifindex) {
  InventoryPort made;
  made.id.device = device.empty() ? netdev : device;
  made.id.verbs = !device.empty();
  made.id.netdev = netdev;
  made.id.pci = pci;
  made.ifindex = ifindex;
  if (ifindex != 0) made.sysfs_netdev_dir = "/sys/class/net/" + netdev;
  return made;
}

class DaemonPortSearch : public ::testing::Test {
 protected:
  PortsFound find(std::vector<InventoryPort> ports, std::vector<Gap> gaps = {},
                  bool incomplete = false) {
    Inventory found;
    found.ports = std::move(ports);
    found.gaps = std::move(gaps);
    found.incomplete = incomplete;
    found.cards = cards;
    PortsFound result = search.compare(std::move(found), std::move(known), now);
    known = std::move(result.ports);
    return result;
  }
  /// As many searches as make a missing port gone; the last one's result.
  PortsFound find_often(const std::vector<InventoryPort>& ports) {
    for (unsigned i = 1; i < PortInventoryDiff::kMisses; ++i) find(ports);
    return find(ports);
  }
  static std::string events(const PortsFound& result) {
    std::string text;
    for (const PortEvent& event : result.events)
      text += std::string(to_string(event.kind)) + " " + event.port + ";";
    return text;
  }
  static bool has_gap(const PortsFound& in, const std::string& at, const std::string& part) {
    return std::ranges::any_of(in.gaps, [&](const Gap& gap) {
      return gap.port == at && gap.reason.find(part) != std::string::npos;
    });
  }

  SteadyTime now{Milliseconds(1000)};
  PortInventoryDiff search;
  std::optional<std::vector<PciCard>> cards;
  std::map<PortKey, SampledPort> known;
  InventoryPort one = searched_port("mlx5_0", "0000:1b:00.0", "ens1", 2);
  InventoryPort two = searched_port("mlx5_1", "0000:1c:00.0", "ens2", 3);
  const InventoryPort plain_one = searched_port("", "0000:1b:00.0", "ens1", 2);
  const InventoryPort plain_two = searched_port("", "0000:1c:00.0", "ens2", 3);
};

TEST_F(DaemonPortSearch, TheFirstSearchHasNoEvents) {
  const PortsFound result = find({one, two});
  EXPECT_EQ(events(result), "");
  EXPECT_EQ(result.fresh.size(), 2U);
  EXPECT_EQ(events(find({one, two})), "");
}

TEST_F(DaemonPortSearch, AMissedPortIsUnknownFirstAndGoneAfterThree) {
  find({one, two});
  for (unsigned i = 1; i < PortInventoryDiff::kMisses; ++i) {
    const PortsFound result = find({one});
    EXPECT_EQ(events(result), "");
    EXPECT_TRUE(result.again_soon);
    EXPECT_TRUE(known.contains("mlx5_1/1"));
    ASSERT_EQ(result.gaps.size(), 1U);
    EXPECT_EQ(result.gaps[0], (Gap{"mlx5_1/1", "inventory", "not found by the last scan"}));
  }
  EXPECT_EQ(events(find({one})), "device_gone mlx5_1/1;");
  EXPECT_FALSE(known.contains("mlx5_1/1"));
}

TEST_F(DaemonPortSearch, APortThatIsFoundAgainHasNoMisses) {
  find({one, two});
  for (int i = 0; i < 10; ++i) {
    find({one});
    EXPECT_EQ(events(find({one, two})), "");
  }
}

TEST_F(DaemonPortSearch, APortWhoseFilesAnswerEnodevIsGoneAtOnce) {
  find({one, two});
  known.at("mlx5_1/1").gone = true;
  EXPECT_EQ(events(find({one})), "device_gone mlx5_1/1;");
}

TEST_F(DaemonPortSearch, AListThatCannotBeReadRemovesNoPort) {
  find({one, two});
  for (int i = 0; i < 10; ++i) {
    const PortsFound result =
        find({plain_one}, {{"", "inventory", "/sys/class/infiniband: I/O error"}}, true);
    EXPECT_EQ(events(result), "");
    EXPECT_EQ(result.gaps.size(), 1U);
  }
  EXPECT_EQ(known.size(), 2U);
}

TEST_F(DaemonPortSearch, ADeviceThatCannotBeReadIsNeverGone) {
  find({one, two});
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(events(find({one}, {{"mlx5_1", "inventory", "ports: Input/output error"}})), "");
  EXPECT_TRUE(known.contains("mlx5_1/1"));
}

TEST_F(DaemonPortSearch, ARenameIsNeitherGoneNorNewAndKeepsTheCounts) {
  find({searched_port("", "0000:1b:00.0", "eth0", 2)});
  known.at("eth0").netdev.emplace().carrier_down_count = 7;
  const PortsFound result = find({plain_one});
  EXPECT_EQ(events(result), "");
  ASSERT_EQ(result.fresh, (std::vector<PortKey>{"ens1"}));
  EXPECT_FALSE(known.contains("eth0"));
  EXPECT_EQ(known.at("ens1").netdev->carrier_down_count, 7U);
}

TEST_F(DaemonPortSearch, SwappedNamesAreTheSameCards) {
  find({one, two});
  known.at("mlx5_0/1").netdev.emplace().carrier_down_count = 1;
  known.at("mlx5_1/1").netdev.emplace().carrier_down_count = 2;
  const PortsFound result = find({searched_port("mlx5_1", "0000:1b:00.0", "ens1", 2),
                                  searched_port("mlx5_0", "0000:1c:00.0", "ens2", 3)});
  EXPECT_EQ(events(result), "");
  EXPECT_EQ(known.at("mlx5_1/1").netdev->carrier_down_count, 1U);
  EXPECT_EQ(known.at("mlx5_0/1").netdev->carrier_down_count, 2U);
}

TEST_F(DaemonPortSearch, AReloadedDriverIsGoneAndNew) {
  find({one});
  EXPECT_EQ(events(find({searched_port("mlx5_0", "0000:1b:00.0", "ens1", 9)})),
            "device_gone mlx5_0/1;device_added mlx5_0/1;");
}

TEST_F(DaemonPortSearch, TheLossOfTheLastPortOfAKindIsAGap) {
  find({one, two});
  // The RDMA driver is unloaded: the network interfaces stay.
  PortsFound result = find({plain_one, plain_two});
  EXPECT_EQ(events(result), "device_gone mlx5_0/1;device_gone mlx5_1/1;");
  EXPECT_TRUE(has_gap(result, "", "no RDMA port left of 2"));
  EXPECT_TRUE(has_gap(result, "ens1", "its network interface is still there"));
  result = find({plain_one, plain_two});
  EXPECT_TRUE(has_gap(result, "", "no RDMA port left")) << "as long as it is so";
  result = find({one, two});
  EXPECT_TRUE(result.gaps.empty());
  EXPECT_EQ(known.at("mlx5_0/1").lost_device, "");
}

TEST_F(DaemonPortSearch, TheSecondMemberOfANewLagMissesNothing) {
  find({searched_port("mlx5_0", "0000:1b:00.0", "ens1", 2),
        searched_port("mlx5_1", "0000:1b:00.1", "ens2", 3)});
  PortsFound result = find({searched_port("mlx5_bond_0", "0000:1b:00.0", "ens1", 2),
                            searched_port("", "0000:1b:00.1", "ens2", 3)});
  EXPECT_TRUE(result.gaps.empty()) << "its RDMA is at the first one now";
  result = find({plain_one, searched_port("", "0000:1b:00.1", "ens2", 3)});
  EXPECT_TRUE(has_gap(result, "ens1", "its network interface is still there"));
  EXPECT_TRUE(has_gap(result, "ens2", "its network interface is still there"));
}

TEST_F(DaemonPortSearch, AllPortsGoneIsOneGapOfTheNode) {
  find({one, two});
  find_often({});
  const PortsFound result = find({});
  ASSERT_EQ(result.gaps.size(), 1U);
  EXPECT_EQ(result.gaps[0].port, "");
  EXPECT_THAT(result.gaps[0].reason, ::testing::HasSubstr("no port left of 2"));
}

TEST_F(DaemonPortSearch, PortsThatGoOneAfterTheOtherCountTogether) {
  find({one, two});
  now += std::chrono::hours(1);
  find_often({two});
  now += Milliseconds(5'000);
  find_often({});
  EXPECT_TRUE(has_gap(find({}), "", "no port left of 2"))
      << "a driver that goes takes them along one by one";
  now += std::chrono::hours(1);
  EXPECT_TRUE(has_gap(find({}), "", "no port left of 2")) << "as long as it is so";
}

TEST_F(DaemonPortSearch, APortThatWentLongBeforeDoesNotCount) {
  find({one, two});
  find_often({two});
  now += std::chrono::minutes(10);
  find({two});
  find_often({});
  EXPECT_TRUE(has_gap(find({}), "", "no port left of 1"));
}

TEST_F(DaemonPortSearch, ANodeThatNeverHadAPortMissesNone) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(find({}).gaps.empty());
}

TEST_F(DaemonPortSearch, ACardThatIsLentToAVirtualMachineIsNotGone) {
  find({one, two});
  cards = {PciCard{"0000:1b:00.0", "mlx5_core", {}, {}},
           PciCard{"0000:1c:00.0", "vfio-pci", {}, {}}};
  for (unsigned i = 0; i < 2 * PortInventoryDiff::kMisses; ++i) {
    const PortsFound result = find({one});
    EXPECT_EQ(events(result), "");
    EXPECT_TRUE(result.gaps.empty());
    EXPECT_FALSE(result.again_soon) << "no search is due for it";
    ASSERT_TRUE(known.contains("mlx5_1/1"));
    EXPECT_EQ(known.at("mlx5_1/1").port.id.exempt,
              "lent by vfio-pci: a virtual machine or a program has taken the card");
    EXPECT_FALSE(known.at("mlx5_1/1").watched());
    EXPECT_FALSE(known.at("mlx5_1/1").is_counted());
  }
  find({one, two});
  EXPECT_TRUE(known.at("mlx5_1/1").watched()) << "it was given back";
}

TEST_F(DaemonPortSearch, ACardThatLosesItsLenderIsGone) {
  find({one, two});
  cards = {PciCard{"0000:1c:00.0", "vfio-pci", {}, {}}};
  find({one});
  cards = {PciCard{"0000:1c:00.0", "", {}, {}}};
  for (unsigned i = 1; i < PortInventoryDiff::kMisses; ++i) EXPECT_EQ(events(find({one})), "");
  EXPECT_EQ(events(find({one})), "device_gone mlx5_1/1;");
}

TEST_F(DaemonPortSearch, AnInterfaceThatWasMovedToAnotherNamespaceIsNotGone) {
  find({one, two});
  known.at("mlx5_1/1").moved = true;
  known.at("mlx5_1/1").gone = true;
  EXPECT_EQ(events(find({one})), "");
  EXPECT_EQ(known.at("mlx5_1/1").port.id.exempt,
            "its interface was moved to another network namespace");
  find({one, two});
  EXPECT_TRUE(known.at("mlx5_1/1").watched()) << "it came back";
  EXPECT_FALSE(known.at("mlx5_1/1").moved);
}

class RememberedPorts : public DaemonPortSearch {
 protected:
  void SetUp() override {
    lost.guid = "b83f:d203:0012:0002";
    search.remember({{lost}});
    cards = {PciCard{"0000:1b:00.0", "mlx5_core", {}, {}}};
  }
  PortId lost = two.id;
  void forget_all() {
    known.clear();
    search = PortInventoryDiff();
    search.remember({{lost}});
  }
  std::string after_some_searches(const std::vector<InventoryPort>& ports) {
    std::string all;
    for (unsigned i = 0; i < 2 * PortInventoryDiff::kMisses; ++i) all += events(find(ports));
    return all;
  }
};

TEST_F(RememberedPorts, IsGoneWhereItsCardIsNotOnTheBusOrHasNoDriver) {
  EXPECT_TRUE(find({one}).again_soon);
  EXPECT_EQ(after_some_searches({one}), "device_gone mlx5_1/1;") << "once";
  forget_all();
  cards->push_back(PciCard{"0000:1c:00.0", "", {}, {}});
  EXPECT_EQ(after_some_searches({one}), "device_gone mlx5_1/1;");
}

TEST_F(RememberedPorts, IsNotGoneWhereItsCardHasADriverOrTheBusCannotBeListed) {
  cards->push_back(PciCard{"0000:1c:00.0", "mlx5_core", {}, {}});
  EXPECT_EQ(after_some_searches({one}), "") << "its interface may be in a container";
  forget_all();
  cards.reset();
  EXPECT_EQ(after_some_searches({one}), "");
}

TEST_F(RememberedPorts, IsNotGoneWhereItIsFoundAlsoAtAnotherAddress) {
  EXPECT_EQ(after_some_searches({one, two}), "");
  InventoryPort elsewhere = searched_port("mlx5_1", "0000:9c:00.0", "ens2", 3);
  elsewhere.id.guid = lost.guid;
  forget_all();
  EXPECT_EQ(after_some_searches({one, elsewhere}), "");
}

/// Ports that were lost between two runs, or in an earlier run.
class LostOverARestart : public DaemonPortSearch {
 protected:
  void SetUp() override {
    one.id.guid = "b83f:d203:0012:0001";
    two.id.guid = "b83f:d203:0012:0002";
    cards = {PciCard{"0000:1b:00.0", "mlx5_core", {}, {}},
             PciCard{"0000:1c:00.0", "mlx5_core", {}, {}}};
    search.remember({{one.id}, {two.id}});
  }
  /// The last of as many searches as it takes.
  PortsFound settle(const std::vector<InventoryPort>& ports) {
    for (unsigned i = 1; i < PortInventoryDiff::kMisses; ++i) {
      const PortsFound early = find(ports);
      EXPECT_TRUE(early.gaps.empty() && early.again_soon)
          << "at a boot the driver may be on its way";
    }
    PortsFound result = find(ports);
    EXPECT_FALSE(result.again_soon);
    return result;
  }
  /// The next run remembers the ports as they are known now, each last seen `unseen` ago.
  void restart(Milliseconds unseen = {}) {
    std::vector<RememberedPort> kept;
    for (const auto& [key, port] : known) kept.push_back({port.port.id, unseen});
    restart_with(kept);
  }
  void restart_with(const std::vector<RememberedPort>& kept) {
    known.clear();
    search = PortInventoryDiff();
    search.remember(kept);
  }
};

TEST_F(LostOverARestart, TheRdmaDriverIsMissed) {
  for (const PortsFound& result : {settle({plain_one, plain_two}), find({plain_one, plain_two})}) {
    EXPECT_EQ(events(result), "");
    EXPECT_TRUE(has_gap(result, "", "no RDMA port left of 2"));
    EXPECT_TRUE(has_gap(result, "ens1", "its network interface is still there"));
    EXPECT_TRUE(has_gap(result, "ens2", "its network interface is still there"));
  }
  const PortsFound back = find({one, two});
  EXPECT_TRUE(back.gaps.empty());
  EXPECT_TRUE(find({one, two}).gaps.empty());
}

/// After a renumbering of the buses a plain card has the address of an RDMA card.
TEST_F(LostOverARestart, APlainPortHasNotLostTheGuidOfAnotherPort) {
  InventoryPort moved_on = searched_port("mlx5_0", "0000:2b:00.0", "ens3", 4);
  moved_on.id.guid = one.id.guid;
  find({plain_one, moved_on, two});
  EXPECT_EQ(known.at("ens1").port.id.guid, "");
}

TEST_F(LostOverARestart, OneRdmaDeviceIsMissed) {
  const PortsFound result = settle({one, plain_two});
  ASSERT_EQ(result.gaps.size(), 1U);
  EXPECT_TRUE(has_gap(result, "ens2", "its network interface is still there"));
}

TEST_F(LostOverARestart, ALossIsReportedByEachLaterRun) {
  find({one, two});
  EXPECT_TRUE(has_gap(find({plain_one, plain_two}), "", "no RDMA port left of 2"));
  EXPECT_TRUE(find({plain_one, plain_two}).fresh.empty()) << "the same ports";
  for (int i = 0; i < 3; ++i) {
    restart();
    const PortsFound result = settle({plain_one, plain_two});
    EXPECT_TRUE(has_gap(result, "", "no RDMA port left of 2"));
    EXPECT_TRUE(has_gap(result, "ens1", "its network interface is still there"));
  }
}

/// An operator may have unloaded RDMA for good.
TEST_F(LostOverARestart, ALossIsReportedForAWeek) {
  settle({plain_one, plain_two});
  now += PortInventoryDiff::kRememberedFor;
  find({plain_one, plain_two});
  const PortsFound result = find({plain_one, plain_two});
  EXPECT_TRUE(result.gaps.empty());
  EXPECT_EQ(events(result), "");
  EXPECT_EQ(known.at("ens1").port.id.guid, "") << "otherwise a restart would report it again";
}

/// The week begins when the device was last seen, not with each run.
TEST_F(LostOverARestart, TheWeekGoesOnOverRestarts) {
  constexpr std::chrono::hours kDay(24);
  settle({plain_one, plain_two});
  restart(6 * kDay);
  EXPECT_TRUE(has_gap(settle({plain_one, plain_two}), "", "no RDMA port left of 2"));
  now += kDay - std::chrono::seconds(1);
  EXPECT_TRUE(
      has_gap(find({plain_one, plain_two}), "ens1", "its network interface is still there"));
  now += std::chrono::seconds(1);
  EXPECT_TRUE(find({plain_one, plain_two}).gaps.empty());
  restart(7 * kDay);
  const PortsFound over = find({plain_one, plain_two});
  EXPECT_TRUE(over.gaps.empty() && !over.again_soon) << "nothing is waited for";
}

TEST_F(LostOverARestart, EachDeviceHasAWeekOfItsOwn) {
  restart_with({{one.id, std::chrono::hours(24 * 7)}, {two.id, std::chrono::hours(24)}});
  const PortsFound result = settle({plain_one, plain_two});
  EXPECT_EQ(known.at("ens1").port.id.guid, "") << "it is lost for good";
  EXPECT_FALSE(has_gap(result, "ens1", "its network interface is still there"));
  EXPECT_TRUE(has_gap(result, "ens2", "its network interface is still there"));
  EXPECT_TRUE(has_gap(result, "", "no RDMA port left of 1"));
}

PortReferences kept_port(std::optional<WallTime> verbs_seen_at) {
  PortReferences kept;
  kept.port = "0000:1b:00.0/1";
  kept.label = "ens1";
  kept.guid = "b83f:d203:0012:0001";
  kept.seen_at = WallTime(std::chrono::hours(24 * 100));
  kept.linked_at = kept.seen_at;
  kept.verbs_seen_at = verbs_seen_at;
  return kept;
}

TEST(PortsToMiss, AreAsOldAsTheirRdmaDevice) {
  const WallTime now(std::chrono::hours(24 * 101));
  struct {
    std::optional<WallTime> verbs_seen_at;
    Milliseconds unseen;
  } const rows[] = {{now - std::chrono::hours(24 * 6), std::chrono::hours(24 * 6)},
                    {std::nullopt, std::chrono::hours(24)},  // of a release that did not keep it
                    {now + std::chrono::hours(24), {}}};     // the clock was set back
  for (const auto& row : rows) {
    const auto missed = ports_to_miss({{kept_port(row.verbs_seen_at)}}, now);
    ASSERT_EQ(missed.size(), 1U);
    EXPECT_EQ(missed[0].id.guid, "b83f:d203:0012:0001");
    EXPECT_EQ(missed[0].unseen, row.unseen);
  }
}

TEST(ModulesBefore, AreThoseWithASerial) {
  PortReferences with = kept_port({});
  with.serial = "SN000001";
  PortReferences without = kept_port({});
  without.port = "0000:2c:00.0/1";
  EXPECT_EQ(modules_before({{with, without}}),
            (std::map<std::string, std::string>{{"0000:1b:00.0/1", "SN000001"}}));
}

TEST_F(LostOverARestart, AllPortsAreMissedAlsoWhereTheBusCannotBeListed) {
  const PortsFound result = settle({});
  EXPECT_EQ(events(result), "");
  ASSERT_EQ(result.gaps.size(), 1U) << "though the cards have a driver";
  EXPECT_TRUE(has_gap(result, "", "no port left of 2"));
  EXPECT_TRUE(has_gap(find({}), "", "no port left of 2")) << "as long as it is so";
  EXPECT_TRUE(find({one}).gaps.empty());
  restart_with({{one.id}, {two.id}});
  cards.reset();
  const PortsFound without_bus = settle({});
  EXPECT_EQ(events(without_bus), "");
  EXPECT_TRUE(has_gap(without_bus, "", "no port left of 2"));
}

TEST_F(LostOverARestart, RemovedCardsAreReportedOnce) {
  cards->clear();
  const PortsFound result = settle({});
  EXPECT_EQ(events(result), "device_gone mlx5_0/1;device_gone mlx5_1/1;");
  EXPECT_TRUE(has_gap(result, "", "no port left of 2"));
  EXPECT_EQ(events(find({})), "");
}

TEST_F(LostOverARestart, CardsThatAreLentAreNotMissed) {
  cards = {PciCard{"0000:1b:00.0", "vfio-pci", {}, {}},
           PciCard{"0000:1c:00.0", "vfio-pci", {}, {}}};
  EXPECT_TRUE(settle({}).gaps.empty());
}

/// Two links of mlx5 as a LAG have one verbs device, at the first one's function.
TEST_F(LostOverARestart, TheSecondMemberOfALagMissesNothing) {
  two.id.pci = "0000:1b:00.1";
  restart_with({{one.id}, {two.id}});
  EXPECT_TRUE(settle({one, searched_port("", "0000:1b:00.1", "ens2", 3)}).gaps.empty());
}

TEST_F(LostOverARestart, AListThatCannotBeReadKeepsTheRememberedPorts) {
  const std::vector<Gap> why = {{"", "inventory", "/sys/class/infiniband: I/O error"}};
  for (unsigned i = 0; i < PortInventoryDiff::kMisses; ++i) {
    const PortsFound result = find({}, why, true);
    EXPECT_EQ(result.gaps, why);
  }
  EXPECT_TRUE(has_gap(settle({plain_one, plain_two}), "", "no RDMA port left of 2"));
}

}  // namespace
}  // namespace linkhealth
