// Odd nodes: unplugged, renamed, hung, large. A source that can't be read is reported, the others
// are read.
#include <fstream>

#include "tests/daemon/sampling/sampler_fixture.h"
#include "tests/support/rounds.h"

namespace linkhealth {
namespace {

using namespace testing;
using ::testing::HasSubstr;

/// Threads of this process.
long threads() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Threads:")) return std::stol(line.substr(8));
  return -1;
}

class OddNode : public SamplerFixture {
 protected:
  /// Goes on for a few link periods until there is such an event, and gives their number.
  std::size_t settle_until(PortEventKind kind) {
    for (int i = 0; i < 10; ++i) {
      settle();
      if (count(kind) > 0) return count(kind);
      clock.advance(settings.link_period);
    }
    return 0;
  }
  std::size_t open_dirs() {
    std::size_t open = 0;
    change([&](FakeHost& host) { open = host.open_dirs(); });
    return open;
  }
};

TEST_F(OddNode, WithoutAnyDeviceIsQuiet) {
  shared = std::make_shared<SharedHost>();
  change([](FakeHost& host) { host.make_dir("/sys/class/net/lo"); });
  start();
  settle();
  EXPECT_TRUE(all.ports.empty());
  EXPECT_THAT(gaps(), ::testing::IsEmpty());
}

TEST_F(OddNode, WithoutSysReportsThatNothingIsReadable) {
  shared = std::make_shared<SharedHost>();
  start();
  settle();
  EXPECT_THAT(gaps(), ::testing::Contains(" inventory: /sys/class/net: ENOENT"));
}

TEST_F(OddNode, WithoutInfinibandClassWatchesItsEthernetPorts) {
  change([&](FakeHost& host) {
    host.remove("/sys/class/infiniband");
    for (const Nic* nic : {&first, &second}) host.remove(nic->pci_dir() + "/infiniband");
  });
  start();
  settle();
  EXPECT_TRUE(all.ports.contains("ens1np0"));
  EXPECT_TRUE(all.ports.at("ens1np0").link);
  EXPECT_THAT(gaps(), ::testing::IsEmpty());
}

/// A container with a part of /sys: the RDMA device stands at its card, and nothing lists it.
TEST_F(OddNode, WithAPartOfSysReportsTheRdmaDevicesThatItMisses) {
  change([&](FakeHost& host) { host.remove("/sys/class/infiniband"); });
  start();
  settle();
  EXPECT_TRUE(all.ports.at("ens1np0").link);
  EXPECT_TRUE(has_gap("ens1np0", "inventory",
                      "mlx5_0 is its RDMA device, and /sys/class/infiniband does not list it"));
}

TEST_F(OddNode, OfVirtualFunctionsOnlyIsReadLikeAnyOther) {
  change([&](FakeHost& host) {
    for (const Nic* nic : {&first, &second}) {
      host.set(nic->pci_dir() + "/vendor", "0x15b3\n");
      host.set(nic->pci_dir() + "/device", "0x101e\n");
    }
  });
  start();
  settle();
  ASSERT_EQ(all.ports.size(), 2U);
  for (const auto& [key, port] : all.ports) EXPECT_TRUE(is_of_provider(port.id));
  EXPECT_THAT(gaps(), ::testing::IsEmpty());
}

TEST_F(OddNode, AListThatFailsLaterRemovesNoPort) {
  FakeHost inner;
  FailingHost host(inner);
  add_nic(inner, first);
  add_nic(inner, second);
  Inventory found = take_inventory(host);
  EXPECT_FALSE(found.incomplete);
  host.fail_list("/sys/class/infiniband", EIO);
  found = take_inventory(host);
  EXPECT_TRUE(found.incomplete);
  host.heal();
  host.fail_list("/sys/class/net", EACCES);
  EXPECT_TRUE(take_inventory(host).incomplete);
}

TEST_F(OddNode, UnpluggedInTheMiddleOfAReadAndReplugged) {
  start();
  settle();
  for (int round = 0; round < test::rounds(5, 100); ++round) {
    remove_card(second);
    clock.advance(settings.counters_period);  // the files are gone in the middle of the cycle
    EXPECT_EQ(settle_until(PortEventKind::kDeviceGone), 1U) << round;
    EXPECT_EQ(sampler->inventory().size(), 1U);
    change([&](FakeHost& host) { add_nic(host, second); });
    clock.advance(settings.rescan_period);
    EXPECT_EQ(settle_until(PortEventKind::kDeviceAdded), 1U) << round;
    settle();
    settle_after(settings.counters_period);
    EXPECT_TRUE(neighbour_is_whole()) << round;
  }
}

TEST_F(OddNode, ARenamedNetdevKeepsItsPort) {
  start();
  settle();
  change([&](FakeHost& host) {
    const std::string from = first.netdev_dir();
    host.rename(from, first.pci_dir() + "/net/eth9");
    host.remove("/sys/class/net/ens1np0");
    host.link("/sys/class/net/eth9", first.pci_dir() + "/net/eth9");
    host.set(first.port_dir() + "/gid_attrs/ndevs/0", "eth9\n");
    host.set(first.pci_dir() + "/net/eth9/carrier_down_count", "3\n");  // it fell meanwhile
    host.set(first.pci_dir() + "/net/eth9/carrier_up_count", "4\n");
  });
  settle_after(settings.rescan_period);
  clock.advance(settings.counters_period);
  Snapshot before = std::move(all);
  settle();
  all.events.insert(all.events.end(), before.events.begin(), before.events.end());
  ASSERT_TRUE(all.ports.contains("mlx5_0/1"));
  EXPECT_EQ(all.ports.at("mlx5_0/1").id.netdev, "eth9");
  EXPECT_EQ(count(PortEventKind::kDeviceGone), 0U);
  EXPECT_EQ(count(PortEventKind::kDeviceAdded), 0U);
  EXPECT_EQ(count(PortEventKind::kCarrierDown), 1U) << "no event around the rename is lost";
}

TEST_F(OddNode, AHungReadCostsOneThreadAndNoMoreOverThousandsOfPolls) {
  start();
  settle();
  const long threads_before = threads();
  const std::size_t files_before = open_dirs();
  shared->hang(first.port_dir() + "/counters");
  std::size_t named = 0;
  std::size_t whole = 0;
  for (int i = 0; i < 3'000; ++i) {
    clock.advance(settings.counters_period);
    all = Snapshot{};
    const auto second_is_read = [&] {
      return all.ports.contains("mlx5_1/1") && all.ports.at("mlx5_1/1").counters;
    };
    // The first two only bring the hang to light: a clock that a test moves does not go on by
    // itself.
    for (int tries = 0; tries < (i < 2 ? 3 : 1'000) && !second_is_read(); ++tries) {
      poll();
      if (!second_is_read()) wait(i < 2 ? 20 : 1'000);
    }
    named += has_gap("mlx5_0/1", "counters", "no answer within 5 s") ? 1U : 0U;
    whole += second_is_read() ? 1U : 0U;
  }
  EXPECT_GE(named, 2'990U);
  EXPECT_GE(whole, 2'998U);
  EXPECT_LE(threads(), threads_before + 1) << "a port takes one thread at most";
  EXPECT_LE(open_dirs(), files_before + 32);
  // It answers again: the port is whole, nothing is left of it.
  shared->hang("");
  for (int i = 0;
       i < 100 && !(all.ports.contains("mlx5_0/1") && all.ports.at("mlx5_0/1").counters &&
                    !has_gap("mlx5_0/1", "counters", "no answer"));
       ++i) {
    settle_after(settings.counters_period);
  }
  EXPECT_TRUE(all.ports.at("mlx5_0/1").counters);
  EXPECT_FALSE(has_gap("mlx5_0/1", "counters", "no answer"));
}

TEST_F(OddNode, AHungDiscoveryDelaysNothingElse) {
  start();
  settle();
  shared->hang("phys_port_name");  // answered under RTNL, which a module read may hold
  set(second.port_dir() + "/counters/symbol_error", "6");
  clock.advance(settings.rescan_period);
  bool named = false;
  bool others = false;
  for (int i = 0; i < 200 && !(named && others); ++i) {
    all = Snapshot{};
    poll();
    wait(100);
    clock.advance(settings.read_patience);
    poll();
    named = named || has_gap("", "inventory", "no answer within");
    others = others || (all.ports.contains("mlx5_1/1") && all.ports.at("mlx5_1/1").counters &&
                        all.ports.at("mlx5_1/1").counters->get("symbol_error") == 6U);
  }
  EXPECT_TRUE(named);
  EXPECT_TRUE(others);
}

TEST_F(OddNode, ADiscoveryThatHangsAtTheStartIsReportedAndEndsLater) {
  shared->hang("phys_port_name");
  start();
  EXPECT_FALSE(sampler->poll()) << "nothing was read yet";
  EXPECT_EQ(sampler->until_due(), settings.read_patience);
  bool named = false;
  for (int i = 0; i < 200 && !named; ++i) {
    wait(50);
    clock.advance(settings.read_patience);
    poll();
    named = has_gap("", "inventory", "no answer within");
  }
  EXPECT_TRUE(named);
  EXPECT_EQ(count(PortEventKind::kMonitorStart), 1U) << "with the first snapshot";
  EXPECT_TRUE(all.ports.empty());
  shared->hang("");
  settle_after(
      settings.link_period);  // its first look may still be ahead of the thread that was let go
  EXPECT_TRUE(neighbour_is_whole());
  settle_after(settings.link_period);
  EXPECT_FALSE(has_gap("", "inventory", "no answer within"));
}

TEST_F(OddNode, ADeviceThatHangsAtTheStartIsNamedAndHidesNoOther) {
  const std::string hung = "no answer within 5 s of mlx5_0";
  shared->hang(first.port_dir() + "/link_layer");
  start();
  EXPECT_FALSE(sampler->poll());
  for (int i = 0; i < 200 && !neighbour_is_whole(); ++i) {
    wait(50);
    if (sampler->inventory().empty()) clock.advance(settings.read_patience);
    poll();
  }
  EXPECT_TRUE(neighbour_is_whole());
  EXPECT_TRUE(has_gap("", "inventory", hung));
  EXPECT_EQ(count(PortEventKind::kMonitorStart), 1U);
  EXPECT_EQ(all.ports.size(), 1U) << "its netdev is no port of its own meanwhile";
  // It is not asked again while its read is out, and named with each snapshot.
  const long threads_before = threads();
  for (int i = 0; i < 20; ++i) {
    clock.advance(settings.rescan_period);
    all = Snapshot{};
    for (int tries = 0; tries < 100 && !neighbour_is_whole(); ++tries) {
      poll();
      if (!neighbour_is_whole()) wait(20);
    }
    EXPECT_TRUE(has_gap("", "inventory", hung)) << i;
  }
  EXPECT_LE(threads(), threads_before + 1);
  shared->hang("");
  settle_after(settings.link_period);
  settle_after(std::chrono::minutes(1));
  settle_after(settings.counters_period);
  EXPECT_EQ(all.ports.size(), 2U) << "a discovery follows soon after it answers";
  EXPECT_TRUE(all.ports.contains("mlx5_0/1") && all.ports.at("mlx5_0/1").counters);
  EXPECT_FALSE(has_gap("", "inventory", "no answer within"));
}

TEST_F(OddNode, AKnownPortStaysWhileADiscoveryHangsAtItsDevice) {
  start();
  settle();
  shared->hang(second.port_dir() + "/link_layer");
  all = Snapshot{};
  for (int i = 0; i < 200 && !has_gap("", "inventory", "of mlx5_1"); ++i) {
    clock.advance(i == 0 ? settings.rescan_period : settings.read_patience);
    poll();
    wait(50);
    poll();
  }
  EXPECT_TRUE(has_gap("", "inventory", "no answer within 5 s of mlx5_1"));
  for (int i = 0; i < 200 && !has_gap("mlx5_1/1", "inventory", "the device cannot be read"); ++i) {
    clock.advance(settings.link_period);
    poll();
    wait(20);
  }
  EXPECT_TRUE(has_gap("mlx5_1/1", "inventory", "the device cannot be read"));
  EXPECT_EQ(sampler->inventory().size(), 2U);
  EXPECT_EQ(count(PortEventKind::kDeviceGone), 0U);
}

TEST_F(OddNode, AListedDeviceThatAnswersEnodevKeepsTheLoopIdle) {
  start();
  settle();
  change([&](FakeHost& host) {
    host.set_error(first.port_dir() + "/state", ENODEV);
    host.set_error(first.netdev_dir() + "/flags", ENODEV);
  });
  clock.advance(settings.counters_period);
  for (int i = 0; i < 50; ++i) {
    sampler->poll();
    wait(20);
  }
  EXPECT_GT(*sampler->until_due(), Milliseconds(0)) << "nothing is due at this time";
}

TEST_F(OddNode, SixtyFourPortsInBoundedDescriptorsAndThreads) {
  change([&](FakeHost& host) {
    for (int i = 2; i < 64; ++i) {
      const std::string number = std::to_string(i);
      add_nic(host, {.device = "mlx5_" + number,
                     .netdev = "ens" + std::to_string(i + 1) + "np0",
                     .pci = "0001:" + std::to_string(i + 20) + ":00.0",
                     .ifindex = i + 10});
    }
  });
  const long threads_before = threads();
  start();
  settle();
  EXPECT_EQ(all.ports.size(), 64U);
  const std::size_t files = open_dirs();
  EXPECT_LE(files, 64U * 4) << "of a port";
  EXPECT_TRUE(neighbour_is_whole());
  for (int i = 0; i < 50; ++i) {
    settle_after(settings.rescan_period);
  }
  EXPECT_EQ(open_dirs(), files) << "nothing grows";
  // The worker, and one that took over its queue when the clock ran away from a slow read.
  EXPECT_LE(threads(), threads_before + 2);
  EXPECT_EQ(all.ports.size(), 64U);
  for (const auto& [key, port] : all.ports)
    EXPECT_TRUE(port.link && port.counters) << key << " was not read";
}

}  // namespace
}  // namespace linkhealth
