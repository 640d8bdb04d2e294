// A search for ports against what is known, without a machine.
#include "daemon/port_search.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace linkhealth {
namespace {

InventoryPort port(const std::string& device, const std::string& pci, const std::string& netdev, int ifindex) {
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
  PortsFound find(std::vector<InventoryPort> ports, std::vector<Gap> gaps = {}, bool incomplete = false) {
    Inventory found;
    found.ports = std::move(ports);
    found.gaps = std::move(gaps);
    found.incomplete = incomplete;
    found.cards = cards;
    PortsFound result = search.compare(std::move(found), std::move(known), now);
    known = std::move(result.ports);
    return result;
  }
  static std::string words(const PortsFound& result) {
    std::string text;
    for (const PortEvent& event : result.events) text += std::string(to_string(event.kind)) + " " + event.port + ";";
    return text;
  }
  static bool says(const PortsFound& in, const std::string& at, const std::string& part) {
    return std::ranges::any_of(
        in.gaps, [&](const Gap& gap) { return gap.port == at && gap.reason.find(part) != std::string::npos; });
  }

  SteadyTime now{Milliseconds(1000)};
  PortSearch search;
  std::optional<std::vector<PciCard>> cards;
  std::map<PortKey, SampledPort> known;
  const InventoryPort one = port("mlx5_0", "0000:1b:00.0", "ens1", 2);
  const InventoryPort two = port("mlx5_1", "0000:1c:00.0", "ens2", 3);
};

TEST_F(DaemonPortSearch, TheFirstSearchIsNoNews) {
  const PortsFound result = find({one, two});
  EXPECT_EQ(words(result), "");
  EXPECT_EQ(result.fresh.size(), 2U);
  EXPECT_EQ(words(find({one, two})), "");
}

TEST_F(DaemonPortSearch, AMissedPortIsUnknownFirstAndGoneAfterThree) {
  find({one, two});
  for (unsigned i = 1; i < PortSearch::kMisses; ++i) {
    const PortsFound result = find({one});
    EXPECT_EQ(words(result), "");
    EXPECT_TRUE(result.again_soon);
    EXPECT_TRUE(known.contains("mlx5_1/1"));
    ASSERT_EQ(result.gaps.size(), 1U);
    EXPECT_EQ(result.gaps[0], (Gap{"mlx5_1/1", "inventory", "not found by the last search"}));
  }
  EXPECT_EQ(words(find({one})), "device_gone mlx5_1/1;");
  EXPECT_FALSE(known.contains("mlx5_1/1"));
}

/// Otherwise `doctor` would say for ever that the port was not found.
TEST_F(DaemonPortSearch, WhatASearchSaidEndsWithTheSearchThatSaysItNoMore) {
  find({one, two});
  find({one});
  EXPECT_TRUE(find({}, {{"", "inventory", "EIO"}}, true).gaps_ended.empty()) << "nothing was searched";
  const PortsFound again = find({one, two}, {{"mlx5_0/1", "netdev_stats", "ens1 is not in this network namespace"}});
  ASSERT_EQ(again.gaps_ended.size(), 1U);
  EXPECT_EQ(again.gaps_ended[0], (Gap{"mlx5_1/1", "inventory", ""}));
  EXPECT_EQ(find({one, two}).gaps_ended, (std::vector<Gap>{{"mlx5_0/1", "netdev_stats", ""}}));
  EXPECT_TRUE(find({one, two}).gaps_ended.empty()) << "once";
}

TEST_F(DaemonPortSearch, APortThatIsFoundAgainHasNoMisses) {
  find({one, two});
  for (int i = 0; i < 10; ++i) {
    find({one});
    EXPECT_EQ(words(find({one, two})), "");
  }
}

TEST_F(DaemonPortSearch, WhoseFilesSayNoSuchDeviceIsGoneAtOnce) {
  find({one, two});
  known.at("mlx5_1/1").gone = true;
  EXPECT_EQ(words(find({one})), "device_gone mlx5_1/1;");
}

TEST_F(DaemonPortSearch, AListThatCantBeReadMakesNothingGoneAndNothingPlain) {
  find({one, two});
  for (int i = 0; i < 10; ++i) {
    const PortsFound result =
        find({port("", "0000:1b:00.0", "ens1", 2)}, {{"", "inventory", "/sys/class/infiniband: I/O error"}}, true);
    EXPECT_EQ(words(result), "");
    EXPECT_EQ(result.gaps.size(), 1U);
  }
  EXPECT_EQ(known.size(), 2U);
}

TEST_F(DaemonPortSearch, ADeviceThatCantBeReadIsUnknownForEver) {
  find({one, two});
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(words(find({one}, {{"mlx5_1", "inventory", "ports: Input/output error"}})), "");
  EXPECT_TRUE(known.contains("mlx5_1/1"));
}

TEST_F(DaemonPortSearch, ARenameIsNeitherGoneNorNewAndKeepsTheCounts) {
  find({port("", "0000:1b:00.0", "eth0", 2)});
  known.at("eth0").netdev.emplace().carrier_down_count = 7;
  const PortsFound result = find({port("", "0000:1b:00.0", "ens1", 2)});
  EXPECT_EQ(words(result), "");
  ASSERT_EQ(result.fresh, (std::vector<PortKey>{"ens1"}));
  EXPECT_FALSE(known.contains("eth0"));
  EXPECT_EQ(known.at("ens1").netdev->carrier_down_count, 7U);
}

TEST_F(DaemonPortSearch, SwappedNamesAreTheSameCards) {
  find({one, two});
  known.at("mlx5_0/1").netdev.emplace().carrier_down_count = 1;
  known.at("mlx5_1/1").netdev.emplace().carrier_down_count = 2;
  const PortsFound result =
      find({port("mlx5_1", "0000:1b:00.0", "ens1", 2), port("mlx5_0", "0000:1c:00.0", "ens2", 3)});
  EXPECT_EQ(words(result), "");
  EXPECT_EQ(known.at("mlx5_1/1").netdev->carrier_down_count, 1U);
  EXPECT_EQ(known.at("mlx5_0/1").netdev->carrier_down_count, 2U);
}

TEST_F(DaemonPortSearch, AReloadedDriverIsGoneAndNew) {
  find({one});
  EXPECT_EQ(words(find({port("mlx5_0", "0000:1b:00.0", "ens1", 9)})), "device_gone mlx5_0/1;device_added mlx5_0/1;");
}

TEST_F(DaemonPortSearch, TheLastPortOfAKindIsTold) {
  find({one, two});
  // The RDMA driver is unloaded: the network interfaces stay.
  PortsFound result = find({port("", "0000:1b:00.0", "ens1", 2), port("", "0000:1c:00.0", "ens2", 3)});
  EXPECT_EQ(words(result), "device_gone mlx5_0/1;device_gone mlx5_1/1;");
  EXPECT_TRUE(says(result, "", "no RDMA port is left, of 2"));
  EXPECT_TRUE(says(result, "ens1", "its network interface is still there"));
  result = find({port("", "0000:1b:00.0", "ens1", 2), port("", "0000:1c:00.0", "ens2", 3)});
  EXPECT_TRUE(says(result, "", "no RDMA port is left")) << "as long as it is so";
  result = find({one, two});
  EXPECT_TRUE(result.gaps.empty());
  EXPECT_EQ(known.at("mlx5_0/1").lost_device, "");
}

TEST_F(DaemonPortSearch, TheSecondMemberOfALagThatIsMadeMissesNothing) {
  find({port("mlx5_0", "0000:1b:00.0", "ens1", 2), port("mlx5_1", "0000:1b:00.1", "ens2", 3)});
  PortsFound result = find({port("mlx5_bond_0", "0000:1b:00.0", "ens1", 2), port("", "0000:1b:00.1", "ens2", 3)});
  EXPECT_TRUE(result.gaps.empty()) << "its RDMA is at the first one now";
  result = find({port("", "0000:1b:00.0", "ens1", 2), port("", "0000:1b:00.1", "ens2", 3)});
  EXPECT_TRUE(says(result, "ens1", "its network interface is still there"));
  EXPECT_TRUE(says(result, "ens2", "its network interface is still there"));
}

TEST_F(DaemonPortSearch, AllPortsGoneIsOneGapOfTheNode) {
  find({one, two});
  for (unsigned i = 0; i < PortSearch::kMisses; ++i) find({});
  const PortsFound result = find({});
  ASSERT_EQ(result.gaps.size(), 1U);
  EXPECT_EQ(result.gaps[0].port, "");
  EXPECT_THAT(result.gaps[0].reason, ::testing::HasSubstr("no port is left, of 2"));
}

TEST_F(DaemonPortSearch, ANodeThatNeverHadAPortMissesNone) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(find({}).gaps.empty());
}

TEST_F(DaemonPortSearch, ACardThatIsLentToAVirtualMachineIsNotGone) {
  find({one, two});
  cards = {PciCard{"0000:1b:00.0", "mlx5_core", {}, {}}, PciCard{"0000:1c:00.0", "vfio-pci", {}, {}}};
  for (unsigned i = 0; i < 2 * PortSearch::kMisses; ++i) {
    const PortsFound result = find({one});
    EXPECT_EQ(words(result), "");
    EXPECT_TRUE(result.gaps.empty());
    EXPECT_FALSE(result.again_soon) << "nobody waits for it";
    ASSERT_TRUE(known.contains("mlx5_1/1"));
    EXPECT_EQ(known.at("mlx5_1/1").port.id.exempt, "lent by vfio-pci: a virtual machine or a program has the card");
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
  for (unsigned i = 1; i < PortSearch::kMisses; ++i) EXPECT_EQ(words(find({one})), "");
  EXPECT_EQ(words(find({one})), "device_gone mlx5_1/1;");
}

TEST_F(DaemonPortSearch, AnInterfaceThatWasMovedToAnotherNamespaceIsNotGone) {
  find({one, two});
  known.at("mlx5_1/1").moved = true;
  known.at("mlx5_1/1").gone = true;
  EXPECT_EQ(words(find({one})), "");
  EXPECT_EQ(known.at("mlx5_1/1").port.id.exempt, "its interface went to another network namespace");
  find({one, two});
  EXPECT_TRUE(known.at("mlx5_1/1").watched()) << "it came back";
  EXPECT_FALSE(known.at("mlx5_1/1").moved);
}

class RememberedPorts : public DaemonPortSearch {
 protected:
  void SetUp() override {
    lost.guid = "b83f:d203:0012:0002";
    search.remember({lost});
    cards = {PciCard{"0000:1b:00.0", "mlx5_core", {}, {}}};
  }
  PortId lost = two.id;
  std::string after_some_searches(const std::vector<InventoryPort>& ports) {
    std::string all;
    for (unsigned i = 0; i < 2 * PortSearch::kMisses; ++i) all += words(find(ports));
    return all;
  }
};

TEST_F(RememberedPorts, OneWhoseCardIsNotOnTheBusIsGone) {
  EXPECT_TRUE(find({one}).again_soon);
  EXPECT_EQ(after_some_searches({one}), "device_gone mlx5_1/1;") << "once";
}

TEST_F(RememberedPorts, OneWhoseCardHasNoDriverIsGone) {
  cards->push_back(PciCard{"0000:1c:00.0", "", {}, {}});
  EXPECT_EQ(after_some_searches({one}), "device_gone mlx5_1/1;");
}

TEST_F(RememberedPorts, OneWhoseCardSomebodyUsesIsNot) {
  cards->push_back(PciCard{"0000:1c:00.0", "mlx5_core", {}, {}});
  EXPECT_EQ(after_some_searches({one}), "") << "its interface may be in a container";
}

TEST_F(RememberedPorts, OneThatIsThereOrAtAnotherAddressIsNot) {
  EXPECT_EQ(after_some_searches({one, two}), "");
  InventoryPort elsewhere = port("mlx5_1", "0000:9c:00.0", "ens2", 3);
  elsewhere.id.guid = lost.guid;
  known.clear();
  search = PortSearch();
  search.remember({lost});
  EXPECT_EQ(after_some_searches({one, elsewhere}), "");
}

TEST_F(RememberedPorts, WhereTheBusCantBeListedNobodyKnows) {
  cards.reset();
  EXPECT_EQ(after_some_searches({one}), "");
}

/// What was lost while nobody looked, or was told already by an earlier run.
class LostOverARestart : public DaemonPortSearch {
 protected:
  void SetUp() override {
    one.id.guid = "b83f:d203:0012:0001";
    two.id.guid = "b83f:d203:0012:0002";
    cards = {PciCard{"0000:1b:00.0", "mlx5_core", {}, {}}, PciCard{"0000:1c:00.0", "mlx5_core", {}, {}}};
    search.remember({one.id, two.id});
  }
  /// The last of as many searches as it takes.
  PortsFound settle(const std::vector<InventoryPort>& ports) {
    for (unsigned i = 1; i < PortSearch::kMisses; ++i) {
      const PortsFound early = find(ports);
      EXPECT_TRUE(early.gaps.empty() && early.again_soon) << "at a boot the driver may be on its way";
    }
    PortsFound result = find(ports);
    EXPECT_FALSE(result.again_soon);
    return result;
  }
  /// Of the ports as they are known now the memory gives back the label, the address and the GUID.
  void restart() {
    std::vector<PortId> kept;
    for (const auto& [key, port] : known) kept.push_back(port.port.id);
    known.clear();
    search = PortSearch();
    search.remember(kept);
  }

  InventoryPort one = DaemonPortSearch::one;
  InventoryPort two = DaemonPortSearch::two;
  const InventoryPort plain_one = port("", "0000:1b:00.0", "ens1", 2);
  const InventoryPort plain_two = port("", "0000:1c:00.0", "ens2", 3);
};

TEST_F(LostOverARestart, TheRdmaDriverIsMissed) {
  for (const PortsFound& result : {settle({plain_one, plain_two}), find({plain_one, plain_two})}) {
    EXPECT_EQ(words(result), "");
    EXPECT_TRUE(says(result, "", "no RDMA port is left, of 2"));
    EXPECT_TRUE(says(result, "ens1", "its network interface is still there"));
    EXPECT_TRUE(says(result, "ens2", "its network interface is still there"));
  }
  const PortsFound back = find({one, two});
  EXPECT_TRUE(back.gaps.empty());
  EXPECT_EQ(back.gaps_ended.size(), 2U);
  EXPECT_TRUE(find({one, two}).gaps.empty());
}

/// The buses were numbered anew: a plain card has the address that an RDMA card had.
TEST_F(LostOverARestart, APlainPortHasLostNoGuidThatAnotherHas) {
  InventoryPort moved_on = port("mlx5_0", "0000:2b:00.0", "ens3", 4);
  moved_on.id.guid = one.id.guid;
  find({plain_one, moved_on, two});
  EXPECT_EQ(known.at("ens1").port.id.guid, "");
}

TEST_F(LostOverARestart, OneRdmaDeviceIsMissed) {
  const PortsFound result = settle({one, plain_two});
  ASSERT_EQ(result.gaps.size(), 1U);
  EXPECT_TRUE(says(result, "ens2", "its network interface is still there"));
}

TEST_F(LostOverARestart, ItIsToldByTheNextRunToo) {
  settle({plain_one, plain_two});
  for (int i = 0; i < 3; ++i) {
    restart();
    EXPECT_TRUE(says(settle({plain_one, plain_two}), "", "no RDMA port is left, of 2"));
  }
}

TEST_F(LostOverARestart, WhatWasLostWhileRunningIsToldByTheNextRun) {
  find({one, two});
  EXPECT_TRUE(says(find({plain_one, plain_two}), "", "no RDMA port is left, of 2"));
  EXPECT_TRUE(find({plain_one, plain_two}).fresh.empty()) << "the same ports";
  restart();
  const PortsFound result = settle({plain_one, plain_two});
  EXPECT_TRUE(says(result, "", "no RDMA port is left, of 2"));
  EXPECT_TRUE(says(result, "ens1", "its network interface is still there"));
}

/// An operator may have unloaded RDMA for good.
TEST_F(LostOverARestart, ItEndsAfterAWeekAndIsForgotten) {
  settle({plain_one, plain_two});
  now += PortSearch::kRememberedFor;
  EXPECT_EQ(find({plain_one, plain_two}).gaps_ended.size(), 2U);
  const PortsFound result = find({plain_one, plain_two});
  EXPECT_TRUE(result.gaps.empty());
  EXPECT_EQ(words(result), "");
  EXPECT_EQ(known.at("ens1").port.id.guid, "") << "or a restart would tell it again";
}

TEST_F(LostOverARestart, AllPortsAreMissedThoughTheirCardsHaveADriver) {
  const PortsFound result = settle({});
  EXPECT_EQ(words(result), "");
  ASSERT_EQ(result.gaps.size(), 1U);
  EXPECT_TRUE(says(result, "", "no port is left, of 2"));
  EXPECT_TRUE(says(find({}), "", "no port is left, of 2")) << "as long as it is so";
  EXPECT_TRUE(find({one}).gaps.empty());
}

TEST_F(LostOverARestart, AllPortsAreMissedWhereTheBusCantBeListed) {
  cards.reset();
  const PortsFound result = settle({});
  EXPECT_EQ(words(result), "");
  EXPECT_TRUE(says(result, "", "no port is left, of 2"));
}

TEST_F(LostOverARestart, PulledCardsAreToldAsBeforeAndOnce) {
  cards->clear();
  const PortsFound result = settle({});
  EXPECT_EQ(words(result), "device_gone mlx5_0/1;device_gone mlx5_1/1;");
  EXPECT_TRUE(says(result, "", "no port is left, of 2"));
  EXPECT_EQ(words(find({})), "");
}

TEST_F(LostOverARestart, CardsThatAreLentAreNotMissed) {
  cards = {PciCard{"0000:1b:00.0", "vfio-pci", {}, {}}, PciCard{"0000:1c:00.0", "vfio-pci", {}, {}}};
  EXPECT_TRUE(settle({}).gaps.empty());
}

/// Two links of mlx5 as a LAG have one verbs device, at the first one's function.
TEST_F(LostOverARestart, TheSecondMemberOfALagMissesNothing) {
  search = PortSearch();
  two.id.pci = "0000:1b:00.1";
  search.remember({one.id, two.id});
  EXPECT_TRUE(settle({one, port("", "0000:1b:00.1", "ens2", 3)}).gaps.empty());
}

TEST_F(LostOverARestart, AListThatCantBeReadMissesNothingAndForgetsNothing) {
  const std::vector<Gap> why = {{"", "inventory", "/sys/class/infiniband: I/O error"}};
  for (unsigned i = 0; i < PortSearch::kMisses; ++i) {
    const PortsFound result = find({}, why, true);
    EXPECT_EQ(result.gaps, why);
  }
  EXPECT_TRUE(says(settle({plain_one, plain_two}), "", "no RDMA port is left, of 2"));
}

}  // namespace
}  // namespace linkhealth
