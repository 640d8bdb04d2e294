// hw_counters of a whole device, and whose they are.
#include <gtest/gtest.h>

#include <cerrno>

#include "probes/sysfs/ib_sysfs.h"
#include "tests/probes/sysfs/sysfs_tree.h"

namespace linkhealth {
namespace {

using testing::FakeHost;
using testing::Nic;

struct Reading {
  PortSample sample;
  std::vector<Gap> gaps;
};

class DeviceCounters : public ::testing::Test {
 protected:
  DeviceCounters() { testing::add_nic(fake_, nic_); }

  IbPortReader reader() {
    const auto inventory = take_inventory(fake_);
    return std::move(*IbPortReader::open(fake_, inventory.ports.at(0)));
  }
  static Reading read(IbPortReader& reader) {
    Reading reading;
    EXPECT_EQ(reader.read_hw_counters(reading.sample, reading.gaps), ReadStatus::kOk);
    return reading;
  }

  Nic nic_;
  FakeHost fake_;
};

TEST_F(DeviceCounters, InSwitchModeTheDevicesCountersAreThoseOfItsOnlyCable) {
  testing::enter_switch_mode(fake_, nic_);
  testing::add_second_port(fake_, nic_, "ens1np0r3", "pf0vf3");
  auto port = reader();
  for (int cycle = 0; cycle < 3; ++cycle) {
    const auto seen = read(port);
    EXPECT_EQ(seen.sample.counters->get("vport_packet_seq_err"), 0U);
    EXPECT_EQ(seen.sample.counters->get("packet_seq_err"), 12U);
    EXPECT_EQ(seen.sample.counters->get("np_cnp_sent"), 13U);
    EXPECT_EQ(seen.sample.counters->size(), 5U) << "the age limit is no counter";
    EXPECT_TRUE(seen.gaps.empty());
  }
}

// Without q_counter_other_vport the port has no hw_counters at all.
TEST_F(DeviceCounters, WhereAPortHasNoneTheDevicesCount) {
  testing::enter_switch_mode(fake_, nic_);
  fake_.remove(nic_.port_dir() + "/hw_counters");
  auto port = reader();
  EXPECT_EQ(read(port).sample.counters->get("packet_seq_err"), 12U);
}

TEST_F(DeviceCounters, OfADeviceWithTwoCablesTheSumIsNobodys) {
  testing::enter_switch_mode(fake_, nic_);
  testing::add_second_port(fake_, nic_, "ens1np1", "p1");
  auto port = reader();
  const auto seen = read(port);
  EXPECT_FALSE(seen.sample.counters->get("packet_seq_err"));
  ASSERT_EQ(seen.gaps.size(), 1U);
  EXPECT_EQ(seen.gaps[0].probe, "hw_counters");
  EXPECT_EQ(seen.gaps[0].reason, "counted for the whole device, which has 2 ports");
}

TEST_F(DeviceCounters, WhatCannotBeListedIsAGapOnlyWhereItIsMissed) {
  testing::FailingHost host(fake_);
  host.fail_list("*/mlx5_0/hw_counters", EACCES);
  const auto gaps_of = [&] {
    auto port = std::move(*IbPortReader::open(host, take_inventory(fake_).ports.at(0)));
    return read(port).gaps;
  };
  EXPECT_TRUE(gaps_of().empty());
  testing::enter_switch_mode(fake_, nic_);
  const auto gaps = gaps_of();
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].reason, "hw_counters of the device: EACCES");
}

// mlx4, efa: the port has its own; of what the device has beside them nothing is missed.
TEST_F(DeviceCounters, WhatThePortCountsItselfIsNotTakenFromTheDevice) {
  const std::string device = nic_.pci_dir() + "/infiniband/mlx5_0/hw_counters/";
  for (const char* name : {"out_of_sequence", "submitted_cmds"}) fake_.set(device + name, "70\n");
  auto port = reader();
  const auto seen = read(port);
  EXPECT_EQ(seen.sample.counters->get("submitted_cmds"), 70U);
  EXPECT_EQ(seen.sample.counters->get("out_of_sequence"), 9U);
  testing::add_second_port(fake_, nic_, "ens1np1", "p1");
  auto one_of_two = reader();
  EXPECT_FALSE(read(one_of_two).sample.counters->get("submitted_cmds"));
  EXPECT_TRUE(read(one_of_two).gaps.empty());
}

// What efa counts of its commands stands there, too.
TEST_F(DeviceCounters, OfADeviceThatIsLeftOutTheyAreItsOnlyPorts) {
  fake_.link(nic_.pci_dir() + "/physfn", "/sys/devices/pci0000:1a/0000:1b:00.7");
  fake_.set(nic_.pci_dir() + "/infiniband/mlx5_0/hw_counters/submitted_cmds", "14\n");
  auto port = reader();
  EXPECT_EQ(read(port).sample.counters->get("submitted_cmds"), 14U);
}

TEST_F(DeviceCounters, OfADeviceWithAnotherPortTheyAreNoRepresentors) {
  testing::enter_switch_mode(fake_, nic_);
  testing::add_second_port(fake_, nic_, "ens1np0r3", "pf0vf3");
  const auto inventory = take_inventory(fake_);
  ASSERT_NE(inventory.ports.at(1).exempt_reason, "");
  IbPortReader port = std::move(*IbPortReader::open(fake_, inventory.ports.at(1)));
  const auto seen = read(port);
  EXPECT_FALSE(seen.sample.counters->get("packet_seq_err"));
  EXPECT_TRUE(seen.gaps.empty()) << "they are not expected of it";
}

}  // namespace
}  // namespace linkhealth
