// An InfiniBand port is judged by its own state; its IPoIB interface only has a name.
#include "tests/daemon/sampling/odd_node.h"

namespace linkhealth {
namespace {

using namespace testing;

class Ipoib : public OddNode {
 protected:
  void SetUp() override {
    first = {.netdev = "ib0", .link_layer = "InfiniBand"};
    OddNode::SetUp();
    change([](FakeHost& host) {
      host.remove(Nic{}.pci_dir() + "/infiniband/mlx5_0/ports/1/gid_attrs");
    });
    interface("flags", "0x1002");
    interface("operstate", "down");
    interface("carrier_up_count", "0");
    interface("carrier_down_count", "1");
    change([this](FakeHost& host) { host.set_error(first.netdev_dir() + "/carrier", EINVAL); });
  }
  void interface(const std::string& file, const std::string& text) {
    change([&](FakeHost& host) { host.set(first.netdev_dir() + "/" + file, text + "\n"); });
  }
  void phys_state(const char* state, const char* phys_state) {
    change([&](FakeHost& host) {
      host.set(first.port_dir() + "/state", std::string(state) + "\n");
      host.set(first.port_dir() + "/phys_state", std::string(phys_state) + "\n");
    });
  }
  void next_period() {
    clock.advance(settings.counters_period);
    settle();
  }
};

TEST_F(Ipoib, AnInterfaceThatIsSetDownIsNoLinkThatIsDown) {
  start();
  settle();
  const LinkSample& link = *all.ports.at("mlx5_0/1").link;
  EXPECT_EQ(all.ports.at("mlx5_0/1").id.netdev, "ib0") << "the port answers to its name";
  EXPECT_EQ(link.carrier, true);
  EXPECT_EQ(link.admin_up, std::nullopt);
  EXPECT_EQ(link.speed_mbps, 400'000U);
  EXPECT_FALSE(link.carrier_down_count);
  EXPECT_FALSE(all.ports.at("mlx5_0/1").counters->get("netdev_rx_crc_errors"));
  EXPECT_TRUE(all.ports.at("mlx5_1/1").counters->get("netdev_rx_crc_errors"));
  EXPECT_THAT(gaps(), ::testing::IsEmpty());
}

TEST_F(Ipoib, ItsCarrierIsNotThePorts) {
  start();
  settle();
  for (int i = 2; i < 6; ++i) {  // the partitions of the fabric change
    interface("carrier_down_count", std::to_string(i));
    next_period();
    EXPECT_EQ(count(PortEventKind::kCarrierDown) + count(PortEventKind::kCarrierUp), 0U);
    EXPECT_TRUE(!all.ports.at("mlx5_0/1").link || all.ports.at("mlx5_0/1").link->carrier == true);
  }
  phys_state("1: DOWN", "2: Polling");
  next_period();
  EXPECT_EQ(count(PortEventKind::kCarrierDown), 1U);
  EXPECT_EQ(all.ports.at("mlx5_0/1").link->carrier, false);
  EXPECT_FALSE(all.ports.at("mlx5_0/1").link->speed_mbps);
  phys_state("4: ACTIVE", "5: LinkUp");
  next_period();
  EXPECT_EQ(count(PortEventKind::kCarrierUp), 1U);
}

TEST_F(Ipoib, ComesAndGoesWithoutThePort) {
  start();
  settle();
  for (const bool there : {false, true}) {
    change([&](FakeHost& host) {
      host.remove("/sys/class/net/ib0");
      host.remove(first.netdev_dir());
      if (there) add_netdev(host, first.netdev_dir(), "ib0", 77);
    });
    clock.advance(settings.rescan_period);
    settle();
    EXPECT_EQ(all.ports.at("mlx5_0/1").id.netdev, there ? "ib0" : "");
    EXPECT_EQ(count(PortEventKind::kDeviceGone) + count(PortEventKind::kDeviceAdded), 0U);
    EXPECT_EQ(count(PortEventKind::kCarrierDown) + count(PortEventKind::kCarrierUp), 0U);
  }
}

}  // namespace
}  // namespace linkhealth
