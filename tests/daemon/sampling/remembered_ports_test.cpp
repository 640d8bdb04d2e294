// What an earlier run had and this one does not find.
#include <gmock/gmock.h>

#include <chrono>

#include "daemon/watched.h"
#include "tests/daemon/sampling/port_search_fixture.h"

namespace linkhealth {
namespace {

class RememberedPorts : public DaemonPortSearch {
 protected:
  void SetUp() override {
    lost.guid = "b83f:d203:0012:0002";
    search.remember({{lost}});
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
  InventoryPort elsewhere = searched_port("mlx5_1", "0000:9c:00.0", "ens2", 3);
  elsewhere.id.guid = lost.guid;
  known.clear();
  search = PortSearch();
  search.remember({{lost}});
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
    cards = {PciCard{"0000:1b:00.0", "mlx5_core", {}, {}},
             PciCard{"0000:1c:00.0", "mlx5_core", {}, {}}};
    search.remember({{one.id}, {two.id}});
  }
  /// The last of as many searches as it takes.
  PortsFound settle(const std::vector<InventoryPort>& ports) {
    for (unsigned i = 1; i < PortSearch::kMisses; ++i) {
      const PortsFound early = find(ports);
      EXPECT_TRUE(early.gaps.empty() && early.again_soon)
          << "at a boot the driver may be on its way";
    }
    PortsFound result = find(ports);
    EXPECT_FALSE(result.again_soon);
    return result;
  }
  /// Of the ports as they are known now the memory gives back the label, the address, the GUID, and
  /// how old that is.
  void restart(Milliseconds unseen = {}) {
    std::vector<RememberedPort> kept;
    for (const auto& [key, port] : known) kept.push_back({port.port.id, unseen});
    known.clear();
    search = PortSearch();
    search.remember(kept);
  }

  InventoryPort one = DaemonPortSearch::one;
  InventoryPort two = DaemonPortSearch::two;
  const InventoryPort plain_one = searched_port("", "0000:1b:00.0", "ens1", 2);
  const InventoryPort plain_two = searched_port("", "0000:1c:00.0", "ens2", 3);
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
  EXPECT_TRUE(find({one, two}).gaps.empty());
}

/// The buses were numbered anew: a plain card has the address that an RDMA card had.
TEST_F(LostOverARestart, APlainPortHasLostNoGuidThatAnotherHas) {
  InventoryPort moved_on = searched_port("mlx5_0", "0000:2b:00.0", "ens3", 4);
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
  find({plain_one, plain_two});
  const PortsFound result = find({plain_one, plain_two});
  EXPECT_TRUE(result.gaps.empty());
  EXPECT_EQ(words(result), "");
  EXPECT_EQ(known.at("ens1").port.id.guid, "") << "or a restart would tell it again";
}

/// The week is one from when the device was last seen, not one of each run.
TEST_F(LostOverARestart, TheWeekGoesOnOverRestarts) {
  constexpr std::chrono::hours kDay(24);
  settle({plain_one, plain_two});
  restart(6 * kDay);
  EXPECT_TRUE(says(settle({plain_one, plain_two}), "", "no RDMA port is left, of 2"));
  now += kDay - std::chrono::seconds(1);
  EXPECT_TRUE(says(find({plain_one, plain_two}), "ens1", "its network interface is still there"));
  now += std::chrono::seconds(1);
  EXPECT_TRUE(find({plain_one, plain_two}).gaps.empty());
  restart(7 * kDay);
  const PortsFound over = find({plain_one, plain_two});
  EXPECT_TRUE(over.gaps.empty() && !over.again_soon) << "nothing is waited for";
}

TEST_F(LostOverARestart, EachDeviceHasAWeekOfItsOwn) {
  search = PortSearch();
  search.remember({{one.id, std::chrono::hours(24 * 7)}, {two.id, std::chrono::hours(24)}});
  const PortsFound result = settle({plain_one, plain_two});
  EXPECT_EQ(known.at("ens1").port.id.guid, "") << "it is lost for good";
  EXPECT_FALSE(says(result, "ens1", "its network interface is still there"));
  EXPECT_TRUE(says(result, "ens2", "its network interface is still there"));
  EXPECT_TRUE(says(result, "", "no RDMA port is left, of 1"));
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
  cards = {PciCard{"0000:1b:00.0", "vfio-pci", {}, {}},
           PciCard{"0000:1c:00.0", "vfio-pci", {}, {}}};
  EXPECT_TRUE(settle({}).gaps.empty());
}

/// Two links of mlx5 as a LAG have one verbs device, at the first one's function.
TEST_F(LostOverARestart, TheSecondMemberOfALagMissesNothing) {
  search = PortSearch();
  two.id.pci = "0000:1b:00.1";
  search.remember({{one.id}, {two.id}});
  EXPECT_TRUE(settle({one, searched_port("", "0000:1b:00.1", "ens2", 3)}).gaps.empty());
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
