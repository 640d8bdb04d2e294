// Odd nodes, read by the real probes and threads: what can't be read is a gap, and hides nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <fstream>

#include "daemon/sampler.h"
#include "tests/probes/sysfs_tree.h"
#include "tests/support/manual_clock.h"
#include "tests/support/shared_host.h"

namespace linkhealth {
namespace {

using testing::add_nic;
using testing::FakeHost;
using ::testing::HasSubstr;
using testing::LockedHost;
using testing::ManualClock;
using testing::Nic;
using testing::SharedHost;

/// Threads of this process.
long threads() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Threads:")) return std::stol(line.substr(8));
  return -1;
}

class OddNode : public ::testing::Test {
 protected:
  void SetUp() override {
    second = {.device = "mlx5_1", .netdev = "ens2np0", .pci = "0000:1c:00.0", .ifindex = 3};
    change([&](FakeHost& host) {
      add_nic(host, first);
      add_nic(host, second);
      host.set("/proc/uptime", "86400.25 1000.00\n");
    });
  }
  void TearDown() override { shared->hang(""); }
  template <typename Change>
  void change(Change apply) {
    shared->change(apply);
  }
  void start() {
    sampler = std::make_unique<Sampler>([this] { return std::make_unique<LockedHost>(shared); }, nullptr, clock,
                                        settings, RecordingHeader{});
  }
  void wait(int most_ms = 1'000) const {
    std::vector<pollfd> wanted;
    for (const int fd : sampler->wake_fds()) wanted.push_back({fd, POLLIN, 0});
    ::poll(wanted.data(), wanted.size(), most_ms);
  }
  void take(const std::optional<Snapshot>& snapshot) {
    if (!snapshot) return;
    for (const auto& [key, sample] : snapshot->ports) {
      PortSample& port = all.ports[key];
      port.id = sample.id;
      if (sample.link) port.link = sample.link;
      if (sample.pcie) port.pcie = sample.pcie;
      if (!sample.counters) continue;
      if (!port.counters) port.counters.emplace();
      port.counters->merge(*sample.counters);
    }
    std::erase_if(all.ports, [&](const auto& entry) { return !snapshot->ports.contains(entry.first); });
    all.events.insert(all.events.end(), snapshot->events.begin(), snapshot->events.end());
    all.gaps.insert(all.gaps.end(), snapshot->gaps.begin(), snapshot->gaps.end());
  }
  /// Polls until nothing is under way; `all` has what came since.
  void settle() {
    all = Snapshot{};
    do {
      take(sampler->poll());
      if (!sampler->settled()) wait();
    } while (!sampler->settled());
    take(sampler->poll());
  }
  bool has_gap(const PortKey& port, const std::string& probe, const std::string& part) const {
    return std::any_of(all.gaps.begin(), all.gaps.end(), [&](const Gap& gap) {
      return gap.port == port && gap.probe == probe && gap.reason.find(part) != std::string::npos;
    });
  }
  bool neighbour_is_whole() const {
    const auto at = all.ports.find("mlx5_1/1");
    if (at == all.ports.end()) return false;
    const PortSample& port = at->second;
    return port.link && port.link->carrier == true && port.pcie && port.counters &&
           port.counters->get("symbol_error") == 5U && port.counters->get("out_of_sequence") == 9U;
  }
  std::size_t count(PortEventKind kind) const {
    return static_cast<std::size_t>(std::count_if(all.events.begin(), all.events.end(),
                                                  [kind](const PortEvent& event) { return event.kind == kind; }));
  }
  /// Goes on for a few link periods until there is such an event, and gives their number.
  std::size_t settle_until(PortEventKind kind) {
    for (int i = 0; i < 10; ++i) {
      settle();
      if (count(kind) > 0) return count(kind);
      clock.advance(settings.link_period);
    }
    return 0;
  }
  std::size_t open_files() {
    std::size_t open = 0;
    change([&](FakeHost& host) { open = host.open_files(); });
    return open;
  }

  std::shared_ptr<SharedHost> shared = std::make_shared<SharedHost>();
  ManualClock clock;
  SamplerSettings settings;
  Nic first, second;
  std::unique_ptr<Sampler> sampler;
  Snapshot all;
};

// ------------------------------------------------------------------------------------------- one odd port, the table
struct Oddity {
  const char* name;
  void (*make)(FakeHost&, const Nic&);
  const char* probe;   ///< the gap that says it; "": none, the thing is just not offered
  const char* reason;  ///< part of it
};
void PrintTo(const Oddity& oddity, std::ostream* out) { *out << oddity.name; }

constexpr Oddity kOddities[] = {
    {"SwitchModeAnswersEinvalToEveryCounter",
     [](FakeHost& host, const Nic& nic) {
       for (const char* name : {"symbol_error", "link_downed", "port_rcv_errors", "VL15_dropped", "port_xmit_data"})
         host.set_error(nic.port_dir() + "/counters/" + name, EINVAL);
     },
     "counters", "Invalid argument"},
    {"NoPmaText",
     [](FakeHost& host, const Nic& nic) { host.set(nic.port_dir() + "/counters/link_downed", "N/A (no PMA)\n"); },
     "counters", "link_downed: text \"N/A (no PMA)\""},
    {"GarbageText",
     [](FakeHost& host, const Nic& nic) { host.set(nic.port_dir() + "/counters/link_downed", "\x1b[31m12abc\xff"); },
     "counters", "link_downed: text"},
    {"EmptyCounter", [](FakeHost& host, const Nic& nic) { host.set(nic.port_dir() + "/counters/link_downed", ""); },
     "counters", "link_downed: empty"},
    {"CounterLargerThan64Bits",
     [](FakeHost& host, const Nic& nic) {
       host.set(nic.port_dir() + "/counters/link_downed", "99999999999999999999999\n");
     },
     "counters", "link_downed: text"},
    {"NegativeCounter",
     [](FakeHost& host, const Nic& nic) { host.set(nic.port_dir() + "/counters/link_downed", "-5\n"); }, "counters",
     "link_downed: text"},
    {"NoCountersDirectory", [](FakeHost& host, const Nic& nic) { host.remove(nic.port_dir() + "/counters"); }, "", ""},
    {"NoHwCountersDirectory", [](FakeHost& host, const Nic& nic) { host.remove(nic.port_dir() + "/hw_counters"); }, "",
     ""},
    {"EmptyCountersDirectory",
     [](FakeHost& host, const Nic& nic) {
       host.remove(nic.port_dir() + "/counters");
       host.make_dir(nic.port_dir() + "/counters");
     },
     "counters", "the counters directory is empty"},
    {"NoPermissionForCounters",
     [](FakeHost& host, const Nic& nic) { host.set_error(nic.port_dir() + "/counters/symbol_error", EACCES); },
     "counters", "symbol_error: Permission denied"},
    {"HwCountersFail",
     [](FakeHost& host, const Nic& nic) { host.set_error(nic.port_dir() + "/hw_counters/out_of_sequence", EIO); },
     "hw_counters", "out_of_sequence: Input/output error"},
    {"NoStateFile", [](FakeHost& host, const Nic& nic) { host.remove(nic.port_dir() + "/state"); }, "link",
     "state: No such file or directory"},
    {"GarbageState", [](FakeHost& host, const Nic& nic) { host.set(nic.port_dir() + "/state", "?? what\n"); }, "link",
     "state: text"},
    {"NoLinkLayer", [](FakeHost& host, const Nic& nic) { host.remove(nic.port_dir() + "/link_layer"); }, "inventory",
     "link_layer: No such file"},
    {"NetdevInAnotherNamespace",
     [](FakeHost& host, const Nic& nic) {
       host.remove(nic.netdev_dir());
       host.remove("/sys/class/net/" + nic.netdev);
     },
     "", ""},
    {"NoPciAttributes",
     [](FakeHost& host, const Nic& nic) {
       for (const char* which : {"current_link_speed", "current_link_width", "max_link_speed", "max_link_width"})
         host.remove(nic.pci_dir() + "/" + which);
     },
     "pcie", "current_link_speed: No such file or directory"},
    {"VirtualFunction", [](FakeHost& host, const Nic& nic) { host.link(nic.pci_dir() + "/physfn", "../0000:1c:00.0"); },
     "", ""},
};

class OddPort : public OddNode, public ::testing::WithParamInterface<Oddity> {};

TEST_P(OddPort, IsSaidAndHidesNoOther) {
  change([&](FakeHost& host) { GetParam().make(host, first); });
  start();
  settle();
  EXPECT_TRUE(all.ports.contains("mlx5_0/1"));
  EXPECT_TRUE(neighbour_is_whole());
  if (*GetParam().probe != '\0') {
    EXPECT_TRUE(has_gap("mlx5_0/1", GetParam().probe, GetParam().reason)) << ::testing::PrintToString(all.gaps.size());
  } else {
    for (const Gap& gap : all.gaps) ADD_FAILURE() << gap.port << " " << gap.probe << ": " << gap.reason;
  }
  for (const Gap& gap : all.gaps) {
    EXPECT_NE(gap.port, "mlx5_1/1") << gap.reason;
    EXPECT_TRUE(std::all_of(gap.reason.begin(), gap.reason.end(), [](unsigned char c) { return c >= ' '; }))
        << "nothing that a terminal obeys";
  }
}
INSTANTIATE_TEST_SUITE_P(Table, OddPort, ::testing::ValuesIn(kOddities),
                         [](const auto& test) { return std::string(test.param.name); });

// ------------------------------------------------------------------------------------------------------- odd nodes
TEST_F(OddNode, WithoutAnyDeviceIsQuiet) {
  shared = std::make_shared<SharedHost>();
  start();
  settle();
  EXPECT_TRUE(all.ports.empty());
  EXPECT_TRUE(all.gaps.empty()) << all.gaps.front().reason;
}

TEST_F(OddNode, WithoutInfinibandClassWatchesItsEthernetPorts) {
  change([&](FakeHost& host) { host.remove("/sys/class/infiniband"); });
  start();
  settle();
  EXPECT_TRUE(all.ports.contains("ens1np0"));
  EXPECT_TRUE(all.ports.at("ens1np0").link);
  EXPECT_TRUE(all.gaps.empty()) << all.gaps.front().reason;
}

TEST_F(OddNode, OfVirtualFunctionsOnlyJudgesNothing) {
  change([&](FakeHost& host) {
    for (const Nic* nic : {&first, &second}) {
      host.set(nic->pci_dir() + "/vendor", "0x15b3\n");
      host.set(nic->pci_dir() + "/device", "0x101e\n");
    }
  });
  start();
  settle();
  ASSERT_EQ(all.ports.size(), 2U);
  for (const auto& [key, port] : all.ports) EXPECT_THAT(port.id.exempt, HasSubstr("virtual function"));
  EXPECT_TRUE(all.gaps.empty());
}

TEST_F(OddNode, AListThatFailsLaterMakesNoPortGo) {
  testing::FakeHost inner;
  testing::FailingHost host(inner);
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

// --------------------------------------------------------------------------------------------- unplug, replug, rename
TEST_F(OddNode, UnpluggedInTheMiddleOfAReadAndReplugged) {
  start();
  settle();
  for (int round = 0; round < 5; ++round) {
    change([&](FakeHost& host) {
      host.remove(second.pci_dir());
      host.remove("/sys/class/net/" + second.netdev);
      host.remove("/sys/class/infiniband/" + second.device);
    });
    clock.advance(settings.counters_period);  // the kept files answer ENODEV in the middle of the cycle
    EXPECT_EQ(settle_until(PortEventKind::kDeviceGone), 1U) << round;
    EXPECT_EQ(sampler->inventory().size(), 1U);
    change([&](FakeHost& host) { add_nic(host, second); });
    clock.advance(settings.rescan_period);
    EXPECT_EQ(settle_until(PortEventKind::kDeviceAdded), 1U) << round;
    settle();
    clock.advance(settings.pcie_period);
    settle();
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
  clock.advance(settings.rescan_period);
  settle();
  clock.advance(settings.counters_period);
  Snapshot before = std::move(all);
  settle();
  all.events.insert(all.events.end(), before.events.begin(), before.events.end());
  ASSERT_TRUE(all.ports.contains("mlx5_0/1"));
  EXPECT_EQ(all.ports.at("mlx5_0/1").id.netdev, "eth9");
  EXPECT_EQ(count(PortEventKind::kDeviceGone), 0U);
  EXPECT_EQ(count(PortEventKind::kDeviceAdded), 0U);
  EXPECT_EQ(count(PortEventKind::kCarrierDown), 1U) << "what happened around the rename is not lost";
}

// ------------------------------------------------------------------------------------------------ hangs, and for long
TEST_F(OddNode, AHungReadCostsOneThreadAndNoMoreOverThousandsOfPolls) {
  start();
  settle();
  const long threads_before = threads();
  const std::size_t files_before = open_files();
  shared->hang(first.port_dir() + "/counters");
  std::size_t named = 0;
  std::size_t whole = 0;
  for (int i = 0; i < 3'000; ++i) {
    clock.advance(settings.counters_period);
    all = Snapshot{};
    take(sampler->poll());
    wait(i < 10 ? 1'000 : 20);
    take(sampler->poll());
    named += has_gap("mlx5_0/1", "counters", "no answer within 5 s") ? 1U : 0U;
    whole += all.ports.contains("mlx5_1/1") && all.ports.at("mlx5_1/1").counters ? 1U : 0U;
  }
  EXPECT_GT(named, 2'000U);
  EXPECT_GT(whole, 2'000U);
  EXPECT_LE(threads(), threads_before + 1) << "one thread is lost to the port, whatever is asked of it";
  EXPECT_LE(open_files(), files_before + 32);
  // It answers again: the port is whole, nothing is left of it.
  shared->hang("");
  for (int i = 0; i < 100 && !(all.ports.contains("mlx5_0/1") && all.ports.at("mlx5_0/1").counters &&
                               !has_gap("mlx5_0/1", "counters", "no answer"));
       ++i) {
    clock.advance(settings.counters_period);
    settle();
  }
  EXPECT_TRUE(all.ports.at("mlx5_0/1").counters);
  EXPECT_FALSE(has_gap("mlx5_0/1", "counters", "no answer"));
}

TEST_F(OddNode, AHungSearchDelaysNothingElse) {
  start();
  settle();
  shared->hang("phys_port_name");  // answered under RTNL, which a module read may hold
  change([&](FakeHost& host) { host.set(second.port_dir() + "/counters/symbol_error", "6\n"); });
  clock.advance(settings.rescan_period);
  bool named = false;
  bool others = false;
  for (int i = 0; i < 200 && !(named && others); ++i) {
    all = Snapshot{};
    take(sampler->poll());
    wait(100);
    clock.advance(settings.read_patience);
    take(sampler->poll());
    named = named || has_gap("", "inventory", "no answer within");
    others = others || (all.ports.contains("mlx5_1/1") && all.ports.at("mlx5_1/1").counters &&
                        all.ports.at("mlx5_1/1").counters->get("symbol_error") == 6U);
  }
  EXPECT_TRUE(named);
  EXPECT_TRUE(others);
}

TEST_F(OddNode, ADeviceThatIsListedButAnswersEnodevDoesNotKeepUsBusy) {
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
  EXPECT_GT(*sampler->until_due(), Milliseconds(0)) << "without time going on there is nothing more to do";
}

// ------------------------------------------------------------------------------------------------------ a large node
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
  const std::size_t files = open_files();
  EXPECT_LE(files, 64U * 40) << "kept files of a port";
  for (int i = 0; i < 50; ++i) {
    clock.advance(settings.rescan_period);
    settle();
  }
  EXPECT_EQ(open_files(), files) << "nothing grows";
  EXPECT_LE(threads(), threads_before + 1);
  EXPECT_TRUE(neighbour_is_whole());
}

}  // namespace
}  // namespace linkhealth
