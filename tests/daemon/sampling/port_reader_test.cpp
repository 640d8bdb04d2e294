#include "daemon/sampling/port_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/probes/sysfs/sysfs_tree.h"
#include "tests/support/shared_host.h"

namespace linkhealth {
namespace {

using testing::FakeHost;
using testing::LockedHost;
using testing::Nic;
using testing::SharedHost;

struct InfiniBandPort : ::testing::Test {
  std::shared_ptr<SharedHost> shared = std::make_shared<SharedHost>();
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
    reader.emplace(std::make_unique<LockedHost>(shared), port);
  }
  Reading read(int after_s) {
    now += std::chrono::seconds(after_s);
    return reader->read(ReadGroup::kDevice, now);
  }
};

TEST_F(InfiniBandPort, TheDevicesCountersAreReadWhereThePortsStayZero) {
  start();
  Nic nic;
  nic.link_layer = "InfiniBand";
  shared->change([&](FakeHost& host) { testing::enter_switch_mode(host, nic); });
  const Reading reading = read(0);
  EXPECT_EQ(reading.sample.counters->get("packet_seq_err"), 12U);
  EXPECT_EQ(reading.sample.counters->get("vport_packet_seq_err"), 0U);
  EXPECT_TRUE(reading.sources.empty());
}

TEST_F(InfiniBandPort, AFileThatFailsIsTheReasonOfItsSource) {
  start();
  Nic nic;
  shared->change(
      [&](FakeHost& host) { host.set_error(nic.port_dir() + "/counters/symbol_error", EINVAL); });
  const Reading reading = read(0);
  EXPECT_EQ(reading.sources,
            (SourceReports{{SourceId::kCounters, {SourceState::kOk, "symbol_error: EINVAL"}}}))
      << "a part of them";
}

TEST_F(InfiniBandPort, FilesThatTheDriverDoesNotHaveAreNoProblem) {
  Nic nic;
  nic.driver = "irdma";  // of mlx5 a port without counters/ is a /sys in part
  shared->change([&](FakeHost& host) {
    testing::add_nic(host, nic);
    host.remove(nic.port_dir() + "/counters");
    host.remove(nic.port_dir() + "/hw_counters");
    reader.emplace(std::make_unique<LockedHost>(shared), take_inventory(host).ports.at(0));
  });
  EXPECT_TRUE(read(0).sources.empty());
}

}  // namespace
}  // namespace linkhealth
