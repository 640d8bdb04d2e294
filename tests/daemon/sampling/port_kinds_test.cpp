// Ports of which only some sources count: exempt ports, InfiniBand ports with an IPoIB interface,
// and RoCE ports whose interface is in another network namespace.
#include "tests/daemon/sampling/sampler_fixture.h"

namespace linkhealth {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PortKinds : public SamplerFixture {
 protected:
  const PortSample& port() const { return all.ports.at("mlx5_0/1"); }
  const LinkSample& link() const { return *port().link; }
  void next_period() { settle_after(settings.counters_period); }
  std::size_t carrier_events() const {
    return count(PortEventKind::kCarrierDown) + count(PortEventKind::kCarrierUp);
  }
  void remove_interface() {
    change([this](FakeHost& host) {
      host.remove("/sys/class/net/" + first.netdev);
      host.remove(first.netdev_dir());
    });
  }
};

/// mlx5_0 is a virtual function, which is exempt; mlx5_1 is watched.
class ExemptPort : public PortKinds {
 protected:
  void SetUp() override {
    PortKinds::SetUp();
    change([this](FakeHost& host) { host.link(first.pci_dir() + "/physfn", second.pci_dir()); });
  }
};

TEST_F(ExemptPort, OnlyItsVerbsFilesAreRead) {
  start();
  settle();
  EXPECT_THAT(port().id.exempt, HasSubstr("virtual function"));
  ASSERT_TRUE(port().counters);
  EXPECT_EQ(port().counters->get("symbol_error"), 5U);
  EXPECT_EQ(port().counters->get("out_of_sequence"), 9U);
  EXPECT_FALSE(port().counters->get("netdev_rx_crc_errors")) << "node_exporter exports these";
  ASSERT_TRUE(port().link);
  EXPECT_EQ(link().state, "ACTIVE");
  EXPECT_EQ(link().phys_state, "LinkUp");
  EXPECT_EQ(link().speed_mbps, 400'000U);
  EXPECT_FALSE(port().pcie);
  EXPECT_TRUE(neighbour_is_whole());
  EXPECT_THAT(gaps(), IsEmpty());
}

TEST_F(ExemptPort, IsReadAtTheCountersPeriodAndNotWhenItsLinkChanges) {
  start();
  settle();
  set(first.port_dir() + "/phys_state", "2: Polling");
  set(first.netdev_dir() + "/carrier_down_count", "3");
  settle_after(settings.link_period);
  EXPECT_EQ(count(PortEventKind::kCarrierDown), 1U);
  ASSERT_TRUE(port().link);
  EXPECT_EQ(link().phys_state, "LinkUp");
  next_period();
  EXPECT_EQ(link().phys_state, "Polling");
}

TEST_F(ExemptPort, WithoutVerbsFilesNothingIsRead) {
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

TEST_F(ExemptPort, OfALentCardNothingIsRead) {
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
  settle_after(settings.rescan_period);
  EXPECT_EQ(count(PortEventKind::kDeviceGone), 0U);
  next_period();
  EXPECT_THAT(all.ports.at("mlx5_1/1").id.exempt, HasSubstr("lent by vfio-pci"));
  EXPECT_FALSE(all.ports.at("mlx5_1/1").counters);
  EXPECT_FALSE(has_gap("mlx5_1/1", "counters", ""));
}

/// The state of an InfiniBand port is that of its verbs files; its IPoIB interface gives a name
/// only.
class IpoibPort : public PortKinds {
 protected:
  void SetUp() override {
    first = {.netdev = "ib0", .link_layer = "InfiniBand"};
    PortKinds::SetUp();
    change([this](FakeHost& host) {
      host.remove(Nic{}.pci_dir() + "/infiniband/mlx5_0/ports/1/gid_attrs");
      host.set_error(first.netdev_dir() + "/carrier", EINVAL);
    });
    for (const auto& [file, text] : {std::pair("flags", "0x1002"),
                                     {"operstate", "down"},
                                     {"carrier_up_count", "0"},
                                     {"carrier_down_count", "1"}})
      set(first.netdev_dir() + "/" + file, text);
    start();
    settle();
  }
};

TEST_F(IpoibPort, AnInterfaceThatIsAdministrativelyDownIsNoLinkThatIsDown) {
  EXPECT_EQ(port().id.netdev, "ib0") << "the port answers to its name";
  EXPECT_EQ(link().carrier, true);
  EXPECT_EQ(link().admin_up, std::nullopt);
  EXPECT_EQ(link().speed_mbps, 400'000U);
  EXPECT_FALSE(link().carrier_down_count);
  EXPECT_FALSE(port().counters->get("netdev_rx_crc_errors"));
  EXPECT_TRUE(all.ports.at("mlx5_1/1").counters->get("netdev_rx_crc_errors"));
  EXPECT_THAT(gaps(), IsEmpty());
}

TEST_F(IpoibPort, TheInterfacesCarrierIsNotThePorts) {
  for (int i = 2; i < 6; ++i) {  // the partitions of the fabric change
    set(first.netdev_dir() + "/carrier_down_count", std::to_string(i));
    next_period();
    EXPECT_EQ(carrier_events(), 0U);
    EXPECT_TRUE(!port().link || link().carrier == true);
  }
  set_verbs_state("1: DOWN", "2: Polling");
  next_period();
  EXPECT_EQ(count(PortEventKind::kCarrierDown), 1U);
  EXPECT_EQ(link().carrier, false);
  EXPECT_FALSE(link().speed_mbps);
  set_verbs_state("4: ACTIVE", "5: LinkUp");
  next_period();
  EXPECT_EQ(count(PortEventKind::kCarrierUp), 1U);
}

TEST_F(IpoibPort, TheInterfaceComesAndGoesWithoutThePort) {
  for (const bool exists : {false, true}) {
    remove_interface();
    if (exists) change([&](FakeHost& host) { add_netdev(host, first.netdev_dir(), "ib0", 77); });
    settle_after(settings.rescan_period);
    EXPECT_EQ(port().id.netdev, exists ? "ib0" : "");
    EXPECT_EQ(count(PortEventKind::kDeviceGone) + count(PortEventKind::kDeviceAdded), 0U);
    EXPECT_EQ(carrier_events(), 0U);
  }
}

/// The verbs states of a RoCE port are those of its interface, also in another network namespace.
class PodPort : public PortKinds {};

TEST_F(PodPort, VerbsGivesTheCarrierWhereTheInterfaceCannotBeRead) {
  remove_interface();
  start();
  settle();
  EXPECT_EQ(link().carrier, true);
  EXPECT_EQ(link().speed_mbps, 400'000U);
  EXPECT_TRUE(has_gap("mlx5_0/1", "netdev_stats", "ens1np0 is not in this network namespace"));
  set_verbs_state("1: DOWN", "3: Disabled");
  next_period();
  EXPECT_EQ(link().carrier, false);
  EXPECT_EQ(count(PortEventKind::kCarrierDown), 1U);
  next_period();
  EXPECT_EQ(count(PortEventKind::kCarrierDown), 0U);
  set_verbs_state("4: ACTIVE", "5: LinkUp");
  next_period();
  EXPECT_EQ(link().carrier, true);
  EXPECT_EQ(count(PortEventKind::kCarrierUp), 1U);
}

TEST_F(PodPort, TheInterfaceGivesTheCarrierWhereItCanBeReadAndKeepsItWhenItGoes) {
  start();
  settle();
  set_verbs_state("1: DOWN", "3: Disabled");
  next_period();
  EXPECT_EQ(link().phys_state, "Disabled");
  EXPECT_EQ(link().carrier, true);
  EXPECT_EQ(count(PortEventKind::kCarrierDown), 0U);
  set_verbs_state("4: ACTIVE", "5: LinkUp");
  next_period();
  remove_interface();
  settle_after(settings.rescan_period);
  EXPECT_EQ(link().carrier, true);
  EXPECT_EQ(count(PortEventKind::kCarrierDown), 0U);
}

}  // namespace
}  // namespace linkhealth
