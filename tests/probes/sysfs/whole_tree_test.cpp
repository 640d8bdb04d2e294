// All file probes together: on a realistic copied /sys tree, and on this machine's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "probes/live_host.h"
#include "probes/sysfs/ib_sysfs.h"
#include "probes/sysfs/inventory.h"
#include "probes/sysfs/netdev_sysfs.h"
#include "probes/sysfs/pcie.h"

namespace linkhealth {
namespace {

namespace fs = std::filesystem;

/// Reads all of every port; a reader that can't be opened is a test failure.
std::map<PortKey, PortSample> read_all(Host& host, const Inventory& inventory,
                                       std::vector<Gap>& gaps) {
  std::map<PortKey, PortSample> samples;
  for (const auto& port : inventory.ports) {
    PortSample& sample = samples[port.id.key()];
    if (!port.sysfs_port_dir.empty()) {
      auto reader = IbPortReader::open(host, port);
      EXPECT_TRUE(reader) << port.id.key();
      if (!reader) continue;
      EXPECT_EQ(reader->read_state(sample, gaps), ReadStatus::kOk);
      EXPECT_EQ(reader->read_port_counters(sample, gaps), ReadStatus::kOk);
      EXPECT_EQ(reader->read_hw_counters(sample, gaps), ReadStatus::kOk);
    }
    if (!port.sysfs_netdev_dir.empty()) {
      auto reader = NetdevReader::open(host, port);
      EXPECT_TRUE(reader) << port.id.key();
      if (!reader) continue;
      EXPECT_EQ(reader->read_link(sample.link, gaps), ReadStatus::kOk);
      EXPECT_EQ(reader->read_statistics(sample, gaps), ReadStatus::kOk);
    }
    read_pcie(host, port, sample, gaps);
  }
  return samples;
}

class CopiedTree : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string script = LINKHEALTH_SHARED "/tools/make-fake-sysfs.py";
    if (!fs::exists(script)) GTEST_SKIP() << script << " is not there";
    std::string name = fs::temp_directory_path() / "linkhealth-tree-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    top_ = name;
    const std::string command =
        "python3 '" + script + "' --root '" + (top_ / "sys").string() + "' " + GetParam();
    ASSERT_EQ(std::system((command + " > /dev/null").c_str()), 0);
  }
  void TearDown() override {
    if (!top_.empty()) fs::remove_all(top_);
  }
  fs::path top_;
};

TEST_P(CopiedTree, IsReadWhole) {
  const bool infiniband = std::string(GetParam()).find("--ib") != std::string::npos;
  for (const fs::path& root : {top_, top_ / "sys"}) {
    LiveHost host(root);
    const auto inventory = take_inventory(host);
    ASSERT_EQ(inventory.ports.size(), 10U);
    EXPECT_TRUE(inventory.gaps.empty());
    std::vector<Gap> gaps;
    const auto samples = read_all(host, inventory, gaps);
    for (const auto& gap : gaps)
      ADD_FAILURE() << gap.port << " " << gap.probe << ": " << gap.reason;
    const PortSample& first = samples.at("mlx5_0/1");
    EXPECT_EQ(first.link->state, "ACTIVE");
    EXPECT_EQ(first.link->speed_mbps, 400000U);
    EXPECT_EQ(first.link->lanes, 4U);
    EXPECT_EQ(first.link->carrier, true);
    EXPECT_EQ(first.counters->size(), 21U + 31U + 24U)
        << "counters, hw_counters without lifespan, statistics";
    EXPECT_EQ(first.pcie->speed_gtps, 32.0);
    EXPECT_EQ(first.pcie->aer_correctable, 0U);
    EXPECT_EQ(samples.at("mlx5_9/1").link->speed_mbps, 200000U);
    const PortId& id = inventory.ports[0].id;
    EXPECT_EQ(id.key(), "mlx5_0/1");
    EXPECT_EQ(id.pci, "0000:12:00.0");
    EXPECT_EQ(id.netdev, infiniband ? "ibp0s0" : "ens1np0");
    EXPECT_EQ(id.link_layer, infiniband ? "InfiniBand" : "Ethernet");
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, CopiedTree, ::testing::Values("", "--ib"));

TEST(ThisMachine, IsReadWithoutFailure) {
  LiveHost host;
  const auto inventory = take_inventory(host);
  std::vector<Gap> gaps;
  const auto samples = read_all(host, inventory, gaps);
  EXPECT_EQ(samples.size(), inventory.ports.size());
  for (const auto& port : inventory.ports) {
    EXPECT_NE(port.id.netdev, "lo");
    EXPECT_FALSE(port.id.key().empty());
  }
}

}  // namespace
}  // namespace linkhealth
