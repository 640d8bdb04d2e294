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

class DaemonSampler : public testing::SamplerFixture {
 protected:
  /// Gives the first card's netdev a driver with statistics of its own; no other has any.
  void add_driver() {
    change([&](FakeHost& host) {
      host.set_ethtool(
          [this](const std::string& netdev, std::span<std::byte> command) -> Result<bool> {
            if (netdev != first.netdev) return Error{"it has none", EOPNOTSUPP};
            if (driver_errnum != 0) return Error{"refused", driver_errnum};
            return driver(command);
          });
    });
  }

  FakeDriver driver{{{"rx0_packets", 7}, {"link_down_events_phy", 3}}};
  int driver_errnum = 0;  ///< to be changed under the host's lock
};

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
  EXPECT_EQ(count(PortEventKind::kMonitorStart), 1U);
}

TEST_F(DaemonSampler, PublishesNothingWhenNothingIsDueOrNew) {
  start();
  settle();
  clock.advance(settings.link_period);
  EXPECT_FALSE(sampler->poll()) << "the link was read, and is as it was";
  EXPECT_LE(*sampler->until_due(), settings.link_period);
}

TEST_F(DaemonSampler, EverySnapshotHasTheLastDurationOfEachProbe) {
  start();
  settle();
  set(first.netdev_dir() + "/carrier_down_count", "3");
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
  set(first.netdev_dir() + "/carrier_down_count", "12");
  set(first.netdev_dir() + "/carrier_up_count", "13");
  const Snapshot seen = settle_after(settings.link_period);
  EXPECT_EQ(count(PortEventKind::kCarrierDown), 10U);
  EXPECT_EQ(count(PortEventKind::kCarrierUp), 10U);
  EXPECT_EQ(seen.ports.at("mlx5_0/1").link->carrier, true) << "though every read saw the port up";
}

TEST_F(DaemonSampler, ALinkThatGoesDownKeepsNoSpeed) {
  start();
  settle();
  set(first.netdev_dir() + "/carrier", "0");
  set(first.netdev_dir() + "/carrier_down_count", "3");
  set_verbs_state("1: DOWN", "3: Disabled");
  const Snapshot seen = settle_after(settings.link_period);
  const auto& link = seen.ports.at("mlx5_0/1").link;
  ASSERT_TRUE(link);
  EXPECT_EQ(link->carrier, false);
  EXPECT_EQ(link->state, "DOWN");
  EXPECT_FALSE(link->speed_mbps);
  EXPECT_EQ(count(PortEventKind::kCarrierDown), 1U);
}

TEST_F(DaemonSampler, AnAdministrativeDownIsAnEventOfItsOwn) {
  start();
  settle();
  change([&](FakeHost& host) {
    host.set(first.netdev_dir() + "/flags", "0x1002\n");
    host.set_error(first.netdev_dir() + "/carrier", EINVAL);
  });
  const Snapshot seen = settle_after(settings.link_period);
  EXPECT_EQ(count(PortEventKind::kAdminDown), 1U);
  EXPECT_EQ(seen.ports.at("mlx5_0/1").link->admin_up, false);
}

TEST_F(DaemonSampler, AReadThatCameBackIsNoGap) {
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

TEST(DaemonSamplerSettings, FollowTheConfiguration) {
  SettingTable table(sampler_setting_groups());
  EXPECT_EQ(sampler_settings(table).link_period, SamplerSettings().link_period);
  EXPECT_EQ(sampler_settings(table).read_patience, SamplerSettings().read_patience);
  ASSERT_TRUE(table.set("sampling", "module_period_s", 2.5));
  EXPECT_EQ(sampler_settings(table).module_period, Milliseconds(2500));
  EXPECT_EQ(module_timing(sampler_settings(table)).period, Milliseconds(2500));
  EXPECT_EQ(module_timing(sampler_settings(table)).absent_period, Milliseconds(120'000))
      << "an empty cage seldom";
}

TEST_F(DaemonSampler, ACopiedTreeIsReadWithoutKernelRequests) {
  shared->become_copied_tree();
  start();
  EXPECT_THAT(sampler->sources(), IsEmpty());
  Snapshot seen = settle();
  EXPECT_EQ(seen.ports.at("mlx5_0/1").counters->get("symbol_error"), 5U);
  EXPECT_EQ(seen.uptime_s, std::nullopt) << "a copy does not show the uptime of its node";
  EXPECT_EQ(sampler->wake_fds().size(), 1U) << "the worker's";
  int requests = 0;
  change([&](FakeHost& host) {
    host.set_responder([&](int, std::span<const std::byte>) -> Result<std::vector<Bytes>> {
      ++requests;
      return Error{"no kernel", EOPNOTSUPP};
    });
    host.set(first.port_dir() + "/counters/symbol_error", "6\n");
  });
  seen = settle_after(settings.counters_period);
  EXPECT_EQ(seen.ports.at("mlx5_0/1").counters->get("symbol_error"), 6U);
  EXPECT_EQ(requests, 0);
  EXPECT_THAT(gaps(), IsEmpty()) << "what nothing can answer is not missed";
}

TEST_F(DaemonSampler, ADriversOwnStatisticsComeWithTheCountersAndTheirFailureEnds) {
  add_driver();
  start();
  const Snapshot seen = settle();
  EXPECT_EQ(seen.ports.at("mlx5_0/1").counters->get("link_down_events_phy"), 3U);
  EXPECT_FALSE(seen.ports.at("mlx5_1/1").counters->get("link_down_events_phy"));
  EXPECT_THAT(gaps(), Not(Contains(HasSubstr("driver_stats")))) << "one without misses nothing";
  change([&](FakeHost&) { driver_errnum = EIO; });
  settle_after(settings.counters_period);
  EXPECT_THAT(gaps(), Contains("mlx5_0/1 driver_stats: EIO"));
  change([&](FakeHost&) { driver_errnum = 0; });
  settle_after(settings.counters_period);
  EXPECT_THAT(gaps(), Not(Contains(HasSubstr("driver_stats"))));
}

TEST_F(DaemonSampler, AFailureDuringAResetEndsWhenTheCardIsFoundAgain) {
  add_driver();
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
  change([&](FakeHost&) { driver_errnum = ENODEV; });
  ASSERT_TRUE(look(1)->blind_to(SourceId::kDriverStats));
  change([&](FakeHost& host) {  // the driver created its interface again
    driver_errnum = 0;
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
