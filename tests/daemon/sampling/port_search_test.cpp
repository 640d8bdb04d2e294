// A search for ports against what is known, without a machine.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/daemon/sampling/port_search_fixture.h"

namespace linkhealth {
namespace {

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
    const PortsFound result = find({searched_port("", "0000:1b:00.0", "ens1", 2)},
                                   {{"", "inventory", "/sys/class/infiniband: I/O error"}}, true);
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
  find({searched_port("", "0000:1b:00.0", "eth0", 2)});
  known.at("eth0").netdev.emplace().carrier_down_count = 7;
  const PortsFound result = find({searched_port("", "0000:1b:00.0", "ens1", 2)});
  EXPECT_EQ(words(result), "");
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
  EXPECT_EQ(words(result), "");
  EXPECT_EQ(known.at("mlx5_1/1").netdev->carrier_down_count, 1U);
  EXPECT_EQ(known.at("mlx5_0/1").netdev->carrier_down_count, 2U);
}

TEST_F(DaemonPortSearch, AReloadedDriverIsGoneAndNew) {
  find({one});
  EXPECT_EQ(words(find({searched_port("mlx5_0", "0000:1b:00.0", "ens1", 9)})),
            "device_gone mlx5_0/1;device_added mlx5_0/1;");
}

TEST_F(DaemonPortSearch, TheLastPortOfAKindIsTold) {
  find({one, two});
  // The RDMA driver is unloaded: the network interfaces stay.
  PortsFound result = find(
      {searched_port("", "0000:1b:00.0", "ens1", 2), searched_port("", "0000:1c:00.0", "ens2", 3)});
  EXPECT_EQ(words(result), "device_gone mlx5_0/1;device_gone mlx5_1/1;");
  EXPECT_TRUE(says(result, "", "no RDMA port is left, of 2"));
  EXPECT_TRUE(says(result, "ens1", "its network interface is still there"));
  result = find(
      {searched_port("", "0000:1b:00.0", "ens1", 2), searched_port("", "0000:1c:00.0", "ens2", 3)});
  EXPECT_TRUE(says(result, "", "no RDMA port is left")) << "as long as it is so";
  result = find({one, two});
  EXPECT_TRUE(result.gaps.empty());
  EXPECT_EQ(known.at("mlx5_0/1").lost_device, "");
}

TEST_F(DaemonPortSearch, TheSecondMemberOfALagThatIsMadeMissesNothing) {
  find({searched_port("mlx5_0", "0000:1b:00.0", "ens1", 2),
        searched_port("mlx5_1", "0000:1b:00.1", "ens2", 3)});
  PortsFound result = find({searched_port("mlx5_bond_0", "0000:1b:00.0", "ens1", 2),
                            searched_port("", "0000:1b:00.1", "ens2", 3)});
  EXPECT_TRUE(result.gaps.empty()) << "its RDMA is at the first one now";
  result = find(
      {searched_port("", "0000:1b:00.0", "ens1", 2), searched_port("", "0000:1b:00.1", "ens2", 3)});
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

TEST_F(DaemonPortSearch, PortsThatGoOneAfterTheOtherWentTogether) {
  find({one, two});
  now += std::chrono::hours(1);
  for (unsigned i = 0; i < PortSearch::kMisses; ++i) find({two});
  now += Milliseconds(5'000);
  for (unsigned i = 0; i < PortSearch::kMisses; ++i) find({});
  EXPECT_TRUE(says(find({}), "", "no port is left, of 2"))
      << "a driver that goes takes them along one by one";
  now += std::chrono::hours(1);
  EXPECT_TRUE(says(find({}), "", "no port is left, of 2")) << "as long as it is so";
}

TEST_F(DaemonPortSearch, APortThatWentLongBeforeIsNotMissedWithTheLast) {
  find({one, two});
  for (unsigned i = 0; i < PortSearch::kMisses; ++i) find({two});
  now += std::chrono::minutes(10);
  find({two});
  for (unsigned i = 0; i < PortSearch::kMisses; ++i) find({});
  EXPECT_TRUE(says(find({}), "", "no port is left, of 1"));
}

TEST_F(DaemonPortSearch, ANodeThatNeverHadAPortMissesNone) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(find({}).gaps.empty());
}

TEST_F(DaemonPortSearch, ACardThatIsLentToAVirtualMachineIsNotGone) {
  find({one, two});
  cards = {PciCard{"0000:1b:00.0", "mlx5_core", {}, {}},
           PciCard{"0000:1c:00.0", "vfio-pci", {}, {}}};
  for (unsigned i = 0; i < 2 * PortSearch::kMisses; ++i) {
    const PortsFound result = find({one});
    EXPECT_EQ(words(result), "");
    EXPECT_TRUE(result.gaps.empty());
    EXPECT_FALSE(result.again_soon) << "nobody waits for it";
    ASSERT_TRUE(known.contains("mlx5_1/1"));
    EXPECT_EQ(known.at("mlx5_1/1").port.id.exempt,
              "lent by vfio-pci: a virtual machine or a program has the card");
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

}  // namespace
}  // namespace linkhealth
