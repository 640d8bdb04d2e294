// A port that the inventory leaves out is judged by nobody; what its verbs files count is shown.
#include "tests/daemon/sampling/odd_node.h"

namespace linkhealth {
namespace {

using namespace testing;

/// mlx5_0 is a virtual function; mlx5_1 is watched.
class ExemptPorts : public OddNode {
 protected:
  void SetUp() override {
    OddNode::SetUp();
    change([this](FakeHost& host) { host.link(first.pci_dir() + "/physfn", second.pci_dir()); });
  }
  void phys_state(const char* words) {
    change([&](FakeHost& host) {
      host.set(first.port_dir() + "/phys_state", std::string(words) + "\n");
    });
  }
  const PortSample& port() const { return all.ports.at("mlx5_0/1"); }
};

TEST_F(ExemptPorts, TheirVerbsFilesAreReadAndNothingElse) {
  start();
  settle();
  EXPECT_THAT(port().id.exempt, ::testing::HasSubstr("virtual function"));
  ASSERT_TRUE(port().counters);
  EXPECT_EQ(port().counters->get("symbol_error"), 5U);
  EXPECT_EQ(port().counters->get("out_of_sequence"), 9U);
  EXPECT_FALSE(port().counters->get("netdev_rx_crc_errors"))
      << "of the interface, which others export";
  ASSERT_TRUE(port().link);
  EXPECT_EQ(port().link->state, "ACTIVE");
  EXPECT_EQ(port().link->phys_state, "LinkUp");
  EXPECT_EQ(port().link->speed_mbps, 400'000U);
  EXPECT_FALSE(port().pcie);
  EXPECT_TRUE(neighbour_is_whole());
  EXPECT_THAT(gaps(), ::testing::IsEmpty());
}

TEST_F(ExemptPorts, AreReadAtTheCountersPeriodAndNotWhenTheirLinkChanges) {
  start();
  settle();
  phys_state("2: Polling");
  change([this](FakeHost& host) { host.set(first.netdev_dir() + "/carrier_down_count", "3\n"); });
  clock.advance(settings.link_period);
  settle();
  EXPECT_EQ(count(PortEventKind::kCarrierDown), 1U);
  ASSERT_TRUE(port().link);
  EXPECT_EQ(port().link->phys_state, "LinkUp") << "no read for a link that nobody judges";
  clock.advance(settings.counters_period);
  settle();
  EXPECT_EQ(port().link->phys_state, "Polling");
}

TEST_F(ExemptPorts, WithoutVerbsFilesNothingIsRead) {
  change([this](FakeHost& host) {
    const Nic plain{
        .device = "", .netdev = "ens3", .pci = "0000:1d:00.0", .driver = "ice", .ifindex = 4};
    add_nic(host, plain);
    host.link(plain.pci_dir() + "/physfn", second.pci_dir());
  });
  start();
  settle();
  EXPECT_NE(all.ports.at("ens3").id.exempt, "");
  EXPECT_FALSE(all.ports.at("ens3").counters);
}

TEST_F(ExemptPorts, OfOneThatIsLentNothingIsRead) {
  start();
  settle();
  change([this](FakeHost& host) {
    host.remove("/sys/class/infiniband/" + second.device);
    host.remove("/sys/class/net/" + second.netdev);
    host.remove(second.pci_dir() + "/infiniband");
    host.remove(second.pci_dir() + "/net");
    host.make_dir("/sys/bus/pci/drivers/vfio-pci");
    host.link(second.pci_dir() + "/driver", "/sys/bus/pci/drivers/vfio-pci");
    host.set(second.pci_dir() + "/class", "0x020000\n");
  });
  clock.advance(settings.rescan_period);
  settle();
  EXPECT_EQ(count(PortEventKind::kDeviceGone), 0U);
  clock.advance(settings.counters_period);
  settle();
  EXPECT_THAT(all.ports.at("mlx5_1/1").id.exempt, ::testing::HasSubstr("lent by vfio-pci"));
  EXPECT_FALSE(all.ports.at("mlx5_1/1").counters);
  EXPECT_FALSE(has_gap("mlx5_1/1", "counters", ""));
}

}  // namespace
}  // namespace linkhealth
