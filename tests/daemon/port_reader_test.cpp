#include "daemon/port_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/probes/fake_driver.h"
#include "tests/probes/mad_fabric.h"
#include "tests/probes/sysfs_tree.h"
#include "tests/support/shared_host.h"

namespace linkhealth {
namespace {

using ::testing::Contains;
using testing::FakeDriver;
using testing::FakeFabric;
using testing::FakeHost;
using testing::LockedHost;
using testing::Nic;
using ::testing::Not;
using testing::SharedHost;

/// An InfiniBand port with its files (symbol_error 5) and its management interface (symbol_error
/// 7).
struct InfiniBandPort : ::testing::Test {
  std::shared_ptr<SharedHost> shared = std::make_shared<SharedHost>();
  FakeFabric fabric;
  SteadyTime now = steady_from_seconds(1000);
  std::optional<PortReader> reader;

  void start() {
    Nic nic;
    nic.link_layer = "InfiniBand";
    InventoryPort port;
    shared->change([&](FakeHost& host) {
      testing::add_nic(host, nic);
      port = take_inventory(host).ports.at(0);
    });
    reader.emplace(std::make_unique<LockedHost>(shared), port, fabric.opener());
  }
  Reading read(int after_s) {
    now += std::chrono::seconds(after_s);
    return reader->read(ReadGroup::kDevice, now);
  }
};

TEST_F(InfiniBandPort, ErrorsComeEachPeriodByTwoMads) {
  start();
  EXPECT_EQ(read(0).sample.counters->get("symbol_error"), 7U);
  fabric.symbol_error = 8;
  EXPECT_EQ(read(10).sample.counters->get("symbol_error"), 8U);
  const Reading quiet = read(10);
  EXPECT_EQ(quiet.sample.counters->get("port_xmit_wait"), 55U)
      << "which mlx5's agent does not offer";
  EXPECT_TRUE(quiet.gaps.empty());
  EXPECT_EQ(quiet.sample.counters->get("out_of_sequence"), 9U) << "hw_counters stay files";
}

TEST_F(InfiniBandPort, TheDevicesCountersAreReadWhereThePortsStayZero) {
  start();
  Nic nic;
  nic.link_layer = "InfiniBand";
  shared->change([&](FakeHost& host) { testing::enter_switch_mode(host, nic); });
  const Reading reading = read(0);
  EXPECT_EQ(reading.sample.counters->get("packet_seq_err"), 12U);
  EXPECT_EQ(reading.sample.counters->get("vport_packet_seq_err"), 0U);
  EXPECT_TRUE(reading.gaps.empty());
}

TEST_F(InfiniBandPort, WithoutTheRightToAskTheFilesSayTheSame) {
  fabric.open_errnum = EACCES;
  start();
  const Reading first = read(0);
  EXPECT_EQ(first.sample.counters->get("symbol_error"), 5U);
  EXPECT_TRUE(first.gaps.empty()) << "nothing is missing";
  EXPECT_EQ(fabric.opened, 1);
  read(5);
  EXPECT_EQ(fabric.opened, 1) << "not before 10 s";
  read(5);
  EXPECT_EQ(fabric.opened, 2);
  read(10);
  EXPECT_EQ(fabric.opened, 2) << "then 20 s";
  fabric.open_errnum = 0;
  EXPECT_EQ(read(10).sample.counters->get("symbol_error"), 7U);
}

TEST_F(InfiniBandPort, WhileTheLinkIsDownTheFilesAreReadAndTheMadsComeBackWithIt) {
  fabric.own_state = 1;
  start();
  EXPECT_EQ(read(0).sample.counters->get("symbol_error"), 5U);
  for (int i = 0; i < 20; ++i) read(10);
  EXPECT_EQ(fabric.opened, 21) << "a link that is down is no failure: no back-off";
  fabric.own_state = 4;
  EXPECT_EQ(read(10).sample.counters->get("symbol_error"), 7U);
}

TEST_F(InfiniBandPort, WhenBothFailItIsAGap) {
  fabric.open_errnum = EACCES;
  start();
  Nic nic;
  shared->change(
      [&](FakeHost& host) { host.set_error(nic.port_dir() + "/counters/symbol_error", EINVAL); });
  const Reading reading = read(0);
  ASSERT_EQ(reading.gaps.size(), 1U);
  EXPECT_EQ(reading.gaps[0].probe, "counters");
}

TEST_F(InfiniBandPort, FilesThatTheDriverDoesNotHaveEndWhatTheReaderBeforeSaidOfThem) {
  fabric.open_errnum = EACCES;
  Nic nic;
  nic.driver = "irdma";  // of mlx5 a port without counters/ is a /sys in part
  shared->change([&](FakeHost& host) {
    testing::add_nic(host, nic);
    host.remove(nic.port_dir() + "/counters");
    host.remove(nic.port_dir() + "/hw_counters");
    reader.emplace(std::make_unique<LockedHost>(shared), take_inventory(host).ports.at(0));
  });
  const PortKey key = reader->port().id.key();
  const Reading reading = read(0);
  EXPECT_TRUE(reading.gaps.empty());
  EXPECT_EQ(reading.gaps_ended,
            (std::vector<Gap>{{key, "counters", ""}, {key, "hw_counters", ""}}));
  EXPECT_TRUE(read(10).gaps_ended.empty()) << "said once";
}

TEST_F(InfiniBandPort, FilesThatAreThereEndTheirGapByTheirValues) {
  start();
  EXPECT_TRUE(read(0).gaps_ended.empty());
}

/// An Ethernet port whose driver has statistics of its own.
struct PortWithDriver : ::testing::Test {
  std::shared_ptr<SharedHost> shared = std::make_shared<SharedHost>();
  FakeDriver driver{{{"rx0_packets", 7}, {"link_down_events_phy", 3}}};
  int errnum = 0;  // of the ioctl
  std::optional<PortReader> reader;
  SteadyTime now = steady_from_seconds(1000);

  PortWithDriver() {
    InventoryPort port;
    shared->change([&](FakeHost& host) {
      testing::add_nic(host, Nic());
      port = take_inventory(host).ports.at(0);
      host.set_ethtool([this](const std::string&, std::span<std::byte> command) -> Result<bool> {
        if (errnum != 0) return Error{"refused", errnum};
        return driver(command);
      });
    });
    reader.emplace(std::make_unique<LockedHost>(shared), port);
  }
  Reading read(int after_s) {
    now += std::chrono::seconds(after_s);
    return reader->read(ReadGroup::kKernel, now);
  }
};

TEST_F(PortWithDriver, ASourceThatFailedAndAnswersAgainEndsItsGap) {
  errnum = EIO;
  const Reading failed = read(0);
  ASSERT_EQ(failed.gaps.size(), 1U);
  EXPECT_EQ(failed.gaps[0].probe, "driver_stats");
  const Gap ended{reader->port().id.key(), "driver_stats", ""};
  EXPECT_THAT(failed.gaps_ended, Not(Contains(ended)));
  errnum = 0;
  EXPECT_THAT(read(5).gaps_ended, Not(Contains(ended))) << "not asked yet";
  const Reading healed = read(5);
  EXPECT_THAT(healed.gaps_ended, Contains(ended));
  EXPECT_EQ(healed.sample.counters->get("link_down_events_phy"), 3U);
  EXPECT_TRUE(read(10).gaps_ended.empty()) << "said once";
}

TEST_F(PortWithDriver, TheFirstGoodReadOfANewReaderEndsWhatTheOneBeforeItMayHaveSaid) {
  EXPECT_THAT(read(0).gaps_ended, Contains(Gap{reader->port().id.key(), "driver_stats", ""}));
  EXPECT_TRUE(read(10).gaps_ended.empty()) << "said once";
}

}  // namespace
}  // namespace linkhealth
