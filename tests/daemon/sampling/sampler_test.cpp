#include "daemon/sampling/sampler.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "model/history/history.h"
#include "tests/daemon/sampling/sampler_fixture.h"
#include "tests/probes/netlink/fake_driver.h"

namespace linkhealth {
namespace {

using testing::add_nic;
using ::testing::Contains;
using testing::FakeDriver;
using testing::FakeHost;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using DaemonSampler = testing::SamplerFixture;

/// A driver with statistics of its own, which refuses while `errnum` is not 0. To be changed under
/// the host's lock.
struct FailingDriver {
  FakeDriver driver{{{"rx0_packets", 7}, {"link_down_events_phy", 3}}};
  int errnum = 0;
};

/// `netdev` has it, no other has any.
std::shared_ptr<FailingDriver> give_driver(testing::SharedHost& shared, const std::string& netdev) {
  auto made = std::make_shared<FailingDriver>();
  shared.change([&](FakeHost& host) {
    host.set_ethtool(
        [made, netdev](const std::string& asked, std::span<std::byte> command) -> Result<bool> {
          if (asked != netdev) return Error{"it has none", EOPNOTSUPP};
          if (made->errnum != 0) return Error{"refused", made->errnum};
          return made->driver(command);
        });
  });
  return made;
}

TEST_F(DaemonSampler, ReadsEveryGroupOfEveryPort) {
  start();
  const Snapshot seen = settle();
  ASSERT_EQ(seen.ports.size(), 2U);
  const PortSample& port = seen.ports.at("mlx5_0/1");
  ASSERT_TRUE(port.link && port.counters && port.pcie);
  EXPECT_EQ(port.link->carrier, true);
  EXPECT_EQ(port.link->state, "ACTIVE");
  EXPECT_EQ(port.link->speed_mbps, 400000U);
  EXPECT_EQ(port.link->carrier_down_count, 2U);
  EXPECT_EQ(port.counters->get("symbol_error"), 5U);
  EXPECT_EQ(port.counters->get("out_of_sequence"), 9U);
  EXPECT_EQ(port.counters->get("netdev_rx_crc_errors"), 7U);
  EXPECT_EQ(port.pcie->width, 16U);
  EXPECT_EQ(seen.uptime_s, in_seconds(clock.steady().time_since_epoch()))
      << "as the kernel's monotonic clock has it";
  EXPECT_EQ(count(seen, PortEventKind::kMonitorStart), 1U);
}

TEST_F(DaemonSampler, SaysNothingWhenNothingIsDueOrNew) {
  start();
  settle();
  clock.advance(settings.link_period);
  EXPECT_FALSE(sampler->poll()) << "the link was read, and is as it was";
  EXPECT_LE(*sampler->until_due(), settings.link_period);
}

TEST_F(DaemonSampler, EverySnapshotTellsHowLongEachProbeTookLast) {
  start();
  settle();
  shared->change(
      [&](FakeHost& host) { host.set(first.netdev_dir() + "/carrier_down_count", "3\n"); });
  clock.advance(settings.link_period);
  const auto snapshot = sampler->poll();
  ASSERT_TRUE(snapshot);
  std::vector<std::string> probes;
  for (const ProbeTiming& timing : snapshot->timings) probes.push_back(timing.probe);
  EXPECT_THAT(probes, ::testing::IsSupersetOf({"counters", "ethtool", "link"}));
  EXPECT_EQ(std::set<std::string>(probes.begin(), probes.end()).size(), probes.size())
      << "each once";
}

TEST_F(DaemonSampler, TenFlapsBetweenTwoReadsAreTen) {
  start();
  settle();
  shared->change([&](FakeHost& host) {
    host.set(first.netdev_dir() + "/carrier_down_count", "12\n");
    host.set(first.netdev_dir() + "/carrier_up_count", "13\n");
  });
  clock.advance(settings.link_period);
  const Snapshot seen = settle();
  EXPECT_EQ(count(seen, PortEventKind::kCarrierDown), 10U);
  EXPECT_EQ(count(seen, PortEventKind::kCarrierUp), 10U);
  EXPECT_EQ(seen.ports.at("mlx5_0/1").link->carrier, true) << "though every read saw the port up";
}

TEST_F(DaemonSampler, ALinkThatFallsKeepsNoSpeedOfItsPast) {
  start();
  settle();
  shared->change([&](FakeHost& host) {
    host.set(first.netdev_dir() + "/carrier", "0\n");
    host.set(first.netdev_dir() + "/carrier_down_count", "3\n");
    host.set(first.port_dir() + "/state", "1: DOWN\n");
    host.set(first.port_dir() + "/phys_state", "3: Disabled\n");
  });
  clock.advance(settings.link_period);
  const Snapshot seen = settle();
  const auto& link = seen.ports.at("mlx5_0/1").link;
  ASSERT_TRUE(link);
  EXPECT_EQ(link->carrier, false);
  EXPECT_EQ(link->state, "DOWN");
  EXPECT_FALSE(link->speed_mbps);
  EXPECT_EQ(count(seen, PortEventKind::kCarrierDown), 1U);
}

TEST_F(DaemonSampler, AnAdministratorsDownIsAnEventOfItsOwn) {
  start();
  settle();
  shared->change([&](FakeHost& host) {
    host.set(first.netdev_dir() + "/flags", "0x1002\n");
    host.set_error(first.netdev_dir() + "/carrier", EINVAL);
  });
  clock.advance(settings.link_period);
  const Snapshot seen = settle();
  EXPECT_EQ(count(seen, PortEventKind::kAdminDown), 1U);
  EXPECT_EQ(seen.ports.at("mlx5_0/1").link->admin_up, false);
}

TEST_F(DaemonSampler, ADeviceThatGoesAndComesIsFoundAgain) {
  start();
  settle();
  shared->change([&](FakeHost& host) {
    host.remove(second.pci_dir());
    host.remove("/sys/class/net/" + second.netdev);
    host.remove("/sys/class/infiniband/" + second.device);
  });
  clock.advance(settings.counters_period);
  settle();
  Snapshot seen = settle();
  EXPECT_FALSE(seen.ports.contains("mlx5_1/1"));
  shared->change([&](FakeHost& host) { add_nic(host, second); });
  clock.advance(settings.rescan_period);
  seen = settle();
  EXPECT_EQ(count(seen, PortEventKind::kDeviceAdded), 1U);
  ASSERT_TRUE(seen.ports.contains("mlx5_1/1"));
  EXPECT_TRUE(seen.ports.at("mlx5_1/1").counters);
}

TEST_F(DaemonSampler, AHungDeviceIsNamedAndHidesNoOther) {
  start();
  settle();
  shared->hang(first.port_dir() + "/counters");
  shared->change(
      [&](FakeHost& host) { host.set(second.port_dir() + "/counters/symbol_error", "6\n"); });
  clock.advance(settings.counters_period);
  sampler->poll();  // hands the reads to the worker
  bool named = false;
  bool others = false;
  for (int tries = 0; tries < 200 && !(named && others); ++tries) {
    clock.advance(settings.read_patience);
    wait();
    const auto snapshot = sampler->poll();
    if (!snapshot) continue;
    add(snapshot, ever);
    named = named || std::ranges::count(gaps(), "mlx5_0/1 counters: no answer within 5 s") > 0;
    const auto& counters = snapshot->ports.at("mlx5_1/1").counters;
    others = others || (counters && counters->get("symbol_error") == 6U);
  }
  EXPECT_TRUE(named);
  EXPECT_TRUE(others);
}

TEST_F(DaemonSampler, AReadThatCameBackIsNoGapAnyMore) {
  start();
  History history;
  history.observe(settle());
  const auto becomes = [&](bool blind) {
    const auto is_blind = [&] {
      return history.find("mlx5_0/1")->blind_to(SourceId::kEthtool) != nullptr;
    };
    for (int tries = 0; tries < 50 && is_blind() != blind; ++tries) {
      clock.advance(settings.read_patience);
      wait();
      if (const auto snapshot = sampler->poll()) history.observe(*snapshot);
    }
    return is_blind() == blind;
  };
  shared->hang(first.netdev_dir() + "/speed");
  EXPECT_TRUE(becomes(true));
  shared->hang("");
  EXPECT_TRUE(becomes(false));
}

TEST(DaemonSamplerSettings, FollowTheKnobs) {
  KnobTable knobs(sampler_knob_groups());
  EXPECT_EQ(sampler_settings(knobs).link_period, SamplerSettings().link_period);
  EXPECT_EQ(sampler_settings(knobs).read_patience, SamplerSettings().read_patience);
  ASSERT_TRUE(knobs.set("sampling", "module_period_s", 2.5));
  EXPECT_EQ(sampler_settings(knobs).module_period, Milliseconds(2500));
  EXPECT_EQ(module_timing(sampler_settings(knobs)).period, Milliseconds(2500));
  EXPECT_EQ(module_timing(sampler_settings(knobs)).absent_period, Milliseconds(120'000))
      << "an empty cage seldom";
}

TEST_F(DaemonSampler, ACopiedTreeIsReadAndNotAskedWhatOnlyAKernelAnswers) {
  shared->become_copied_tree();
  start();
  EXPECT_THAT(sampler->sources(), IsEmpty());
  Snapshot seen = settle();
  EXPECT_EQ(seen.ports.at("mlx5_0/1").counters->get("symbol_error"), 5U);
  EXPECT_EQ(seen.uptime_s, std::nullopt) << "of the machine it was copied from nobody knows";
  EXPECT_EQ(sampler->wake_fds().size(), 1U) << "the worker's";
  int requests = 0;
  shared->change([&](FakeHost& host) {
    host.set_responder([&](int, std::span<const std::byte>) -> Result<std::vector<Bytes>> {
      ++requests;
      return Error{"no kernel", EOPNOTSUPP};
    });
    host.set(first.port_dir() + "/counters/symbol_error", "6\n");
  });
  clock.advance(settings.counters_period);
  seen = settle();
  EXPECT_EQ(seen.ports.at("mlx5_0/1").counters->get("symbol_error"), 6U);
  EXPECT_EQ(requests, 0);
  EXPECT_THAT(gaps(), IsEmpty()) << "what nothing can answer is not missed";
}

TEST_F(DaemonSampler, ADriversOwnStatisticsComeWithTheCountersAndTheirFailureEnds) {
  const auto driver = give_driver(*shared, first.netdev);
  start();
  const Snapshot seen = settle();
  EXPECT_EQ(seen.ports.at("mlx5_0/1").counters->get("link_down_events_phy"), 3U);
  EXPECT_FALSE(seen.ports.at("mlx5_1/1").counters->get("link_down_events_phy"));
  EXPECT_THAT(gaps(), Not(Contains(HasSubstr("driver_stats")))) << "one without misses nothing";
  shared->change([&](FakeHost&) { driver->errnum = EIO; });
  clock.advance(settings.counters_period);
  settle();
  EXPECT_THAT(gaps(), Contains("mlx5_0/1 driver_stats: EIO"));
  shared->change([&](FakeHost&) { driver->errnum = 0; });
  clock.advance(settings.counters_period);
  settle();
  EXPECT_THAT(gaps(), Not(Contains(HasSubstr("driver_stats"))));
}

TEST_F(DaemonSampler, WhatACardDidNotAnswerInItsResetIsNoGapOnceItIsFoundAnew) {
  const auto driver = give_driver(*shared, first.netdev);
  History history;
  const auto look = [&](int attempts) {
    for (int i = 0; i < attempts; ++i) {
      clock.advance(settings.counters_period);
      history.observe(settle());
    }
    return history.find("mlx5_0/1");
  };
  start();
  ASSERT_TRUE(look(1)->latest.counters->get("link_down_events_phy"));
  shared->change([&](FakeHost&) { driver->errnum = ENODEV; });
  ASSERT_TRUE(look(1)->blind_to(SourceId::kDriverStats));
  shared->change([&](FakeHost& host) {  // the driver made its interface anew
    driver->errnum = 0;
    host.set(first.netdev_dir() + "/ifindex", "9\n");
  });
  clock.advance(settings.rescan_period);
  const PortHistory* port = look(2);
  EXPECT_FALSE(port->blind_to(SourceId::kDriverStats));
  look(static_cast<int>(std::chrono::minutes(6) / settings.counters_period));
  EXPECT_TRUE(port->latest.counters->get("link_down_events_phy")) << "what is read is believed";
}

}  // namespace
}  // namespace linkhealth
