// Ports that are more or fewer than their cables: switch mode, LAGs, planes, other network
// namespaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include <algorithm>

#include "probes/netlink/netlink_message.h"
#include "probes/sysfs/inventory.h"
#include "tests/probes/sysfs/inventory_queries.h"
#include "tests/probes/sysfs/sysfs_tree.h"

namespace linkhealth {
namespace {

using testing::add_netdev;
using testing::add_nic;
using testing::add_verbs;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::FailingHost;
using testing::FakeHost;
using testing::keys;
using testing::kRoute;
using testing::Nic;
using testing::port;

TEST(InventoryTopology, InSwitchModePortsWithoutANetdevAreExempt) {
  FakeHost host;
  add_nic(host, Nic{});
  for (const char* number : {"2", "3", "17"}) {
    const std::string port = Nic{}.pci_dir() + "/infiniband/mlx5_0/ports/" + number;
    host.set(port + "/link_layer", "Ethernet\n");
    host.set(port + "/state", "1: DOWN\n");
  }
  const auto inventory = take_inventory(host);
  ASSERT_EQ(inventory.ports.size(), 4U);
  for (const char* key : {"mlx5_0/2", "mlx5_0/3", "mlx5_0/17"})
    EXPECT_EQ(port(inventory, key).exempt_reason,
              "no network interface: a representor's port (switch mode)");
  EXPECT_EQ(port(inventory, "mlx5_0/1").exempt_reason, "");
  EXPECT_EQ(port(inventory, "mlx5_0/1").cabled_ports, 1U)
      << "the device's counters are this port's";
}

TEST(InventoryTopology, SwitchModeRepresentorsAreExempt) {
  FakeHost host;
  add_nic(host, Nic{});
  const std::string dir = Nic{}.pci_dir() + "/net/aaa_rep";
  add_netdev(host, dir, "aaa_rep", 9);
  host.link(dir + "/device", Nic{}.pci_dir());
  host.set(dir + "/phys_port_name", "pf0vf3\n");
  const auto inventory = take_inventory(host);
  EXPECT_EQ(port(inventory, "mlx5_0/1").id.netdev, "ens1np0");
  EXPECT_EQ(port(inventory, "aaa_rep").exempt_reason, "representor of pf0vf3 (switch mode)");
  EXPECT_EQ(port(inventory, "aaa_rep").id.pci, "");
}

TEST(InventoryTopology, RepresentorNames) {
  for (const char* name : {"pf0vf3", "pf1sf88", "c1pf0vf0", "pf0hpf", "pf0"})
    EXPECT_TRUE(is_representor_name(name)) << name;
  for (const char* name :
       {"", "p0", "p0s1", "pf", "pfvf", "pf0vf", "pf0vfx", "c", "c1", "port1", "pf0x"})
    EXPECT_FALSE(is_representor_name(name)) << name;
}

TEST(InventoryTopology, ANameFromAnotherNetworkNamespaceClaimsNoInterfaceHere) {
  FakeHost host;
  add_nic(host, Nic{});
  host.remove("/sys/class/net/ens1np0");
  host.remove(Nic{}.netdev_dir());
  host.set(Nic{}.port_dir() + "/gid_attrs/ndevs/0", "eth0\n");
  add_nic(host, testing::plain_nic("eth0"));
  const auto inventory = take_inventory(host);
  EXPECT_THAT(keys(inventory), ::testing::UnorderedElementsAre("mlx5_0/1", "eth0"));
  EXPECT_EQ(port(inventory, "mlx5_0/1").id.netdev, "");
  EXPECT_EQ(port(inventory, "mlx5_0/1").ifindex, 0);
  EXPECT_EQ(port(inventory, "eth0").exempt_reason, "");
  EXPECT_THAT(inventory.gaps, Contains(Gap{"mlx5_0/1", "netdev_stats",
                                           "its interface is eth0 in another network namespace"}));
}

/// An IPoIB child stands in its parent's directory with the same dev_port, and its iflink is the
/// parent's number (linux: drivers/infiniband/ulp/ipoib/ipoib_main.c ipoib_get_iflink()). A renamed
/// parent sorts behind it.
TEST(InventoryTopology, AnIpoibChildIsNotThePortsInterface) {
  for (const char* child : {"ib0.8001", "pkey1", "zz"}) {
    FakeHost host;
    const Nic nic{
        .netdev = "rail0", .link_layer = "InfiniBand", .ifindex = 4, .phys_port_name = ""};
    add_nic(host, nic);
    host.remove(nic.port_dir() + "/gid_attrs/ndevs/0");  // the GID table of InfiniBand names none
    host.set(nic.netdev_dir() + "/iflink", "4\n");
    const std::string dir = nic.pci_dir() + "/net/" + child;
    add_netdev(host, dir, child, 9);
    host.link(dir + "/device", nic.pci_dir());
    host.set(dir + "/dev_port", "0\n");
    host.set(dir + "/iflink", "4\n");
    EXPECT_EQ(port(take_inventory(host), "mlx5_0/1").id.netdev, "rail0") << child;
    // The parent was moved into a container: the child is the port's interface here.
    host.remove(nic.netdev_dir());
    host.remove("/sys/class/net/rail0");
    EXPECT_EQ(port(take_inventory(host), "mlx5_0/1").id.netdev, child);
  }
}

/// A container with the host's /sys and a network of its own, in which numbers begin at 2, too.
TEST(InventoryTopology, AnotherInterfaceOfTheSameNumberIsNotThePorts) {
  const std::vector<std::byte> own{std::byte{0x0a}, std::byte{0xbc}},
      other{std::byte{0x0a}, std::byte{0xbd}};
  struct {
    const char* name;
    const std::vector<std::byte>& address;
    bool there, ours;
  } const rows[] = {{"ens1np0", own, true, true},
                    {"ens1np0", other, true, false},
                    {"eth0", own, true, false},
                    {"", own, false, false}};
  for (const auto& row : rows) {
    FakeHost host;
    add_nic(host, Nic{.ifindex = 2});
    host.set(Nic{}.netdev_dir() + "/address", "0a:bc\n");
    host.set_responder([&row](int, std::span<const std::byte>) -> Result<std::vector<Bytes>> {
      if (!row.there) return Error{"as the kernel answers", ENODEV};
      ifinfomsg info{};
      info.ifi_index = 2;
      return std::vector<Bytes>{NetlinkBuilder(RTM_NEWLINK, 0)
                                    .header(info)
                                    .put_string(IFLA_IFNAME, row.name)
                                    .put(IFLA_ADDRESS, row.address)
                                    .bytes()};
    });
    const auto inventory = take_inventory(host);
    EXPECT_EQ(port(inventory, "mlx5_0/1").ifindex, row.ours ? 2 : 0) << row.name;
    const Gap gap{"mlx5_0/1", "link_modes",
                  "ens1np0 is in another network namespace than the monitor"};
    EXPECT_EQ(std::ranges::count(inventory.gaps, gap), row.ours ? 0 : 1) << row.name;
  }
}

TEST(InventoryTopology, ABondAboveTheCardMayBeTheGidTablesNetdev) {
  FakeHost host;
  const Nic nic{.dev_port = 7};
  add_nic(host, nic);
  host.set(nic.port_dir() + "/gid_attrs/ndevs/0", "bond0\n");
  add_netdev(host, "/sys/devices/virtual/net/bond0", "bond0", 8);
  host.link("/sys/devices/virtual/net/bond0/lower_ens1np0", nic.netdev_dir());
  EXPECT_EQ(port(take_inventory(host), "mlx5_0/1").id.netdev, "bond0");
}

TEST(InventoryTopology, ThePlanesOfAPortAreOneCable) {
  FakeHost host;
  const Nic nic{.netdev = "", .link_layer = "InfiniBand"};
  add_nic(host, nic);
  const std::string planes = nic.pci_dir() + "/infiniband/smi_0";
  add_verbs(host, planes, "smi_0", "InfiniBand");
  host.set(planes + "/ports/2/link_layer", "InfiniBand\n");
  host.link(planes + "/device", nic.pci_dir());
  EXPECT_EQ(port(take_inventory(host), "smi_0/1").exempt_reason, "")
      << "without ib_uverbs it is not known";
  host.set(nic.pci_dir() + "/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n");
  const auto inventory = take_inventory(host);
  EXPECT_EQ(port(inventory, "mlx5_0/1").exempt_reason, "");
  EXPECT_EQ(port(inventory, "mlx5_0/1").id.pci, nic.pci);
  for (const char* key : {"smi_0/1", "smi_0/2"})
    EXPECT_EQ(port(inventory, key).exempt_reason, "planes of mlx5_0, whose port is watched");
  EXPECT_EQ(port(inventory, "smi_0/1").id.pci, "");
}

class NvSwitches : public ::testing::Test {
 protected:
  NvSwitches() {
    for (const Nic& nic : {bridge, rail}) {
      add_nic(host, nic);
      host.set(nic.pci_dir() + "/vendor", "0x15b3\n");
      host.set(nic.pci_dir() + "/infiniband/" + nic.device + "/node_guid", nic.device + "\n");
    }
    host.set(bridge.pci_dir() + "/vpd",
             std::string("\x82\x0a\0Bridge\x90", 10) + "VAMLX:MODL=CX71:SMDL=SW_MNG");
    host.set(rail.pci_dir() + "/vpd", "VAMLX:MODL=CX75310A");
  }
  FakeHost host;
  FailingHost failing{host};
  Nic bridge{.netdev = "", .link_layer = "InfiniBand"};
  Nic rail{.device = "mlx5_1",
           .netdev = "",
           .pci = "0000:2b:00.0",
           .link_layer = "InfiniBand",
           .ifindex = 3};
};

TEST_F(NvSwitches, TheirManagersAreExempt) {
  const auto inventory = take_inventory(failing);
  EXPECT_EQ(port(inventory, "mlx5_0/1").exempt_reason,
            "manages the machine's NVSwitches (VPD SW_MNG): it has no cable");
  EXPECT_EQ(port(inventory, "mlx5_1/1").exempt_reason, "");
}

TEST_F(NvSwitches, VitalProductDataIsReadOnceForACard) {
  const InventoryWatch watch{{}, nullptr, std::make_shared<NvSwitchManagers>()};
  const auto reason = [&] {
    return port(take_inventory(failing, watch), "mlx5_0/1").exempt_reason;
  };
  failing.fail("*/vpd", ETIMEDOUT);
  EXPECT_EQ(reason(), "") << "an unreadable card is watched, and read again";
  failing.heal();
  const auto before = failing.reads("*/vpd");
  for (int search = 0; search < 3; ++search) EXPECT_NE(reason(), "");
  EXPECT_EQ(failing.reads("*/vpd"), before + 2U);
  host.set(bridge.pci_dir() + "/infiniband/mlx5_0/node_guid", "another card at this address\n");
  host.set(bridge.pci_dir() + "/vpd", "ConnectX-7");
  EXPECT_EQ(reason(), "");
}

TEST_F(NvSwitches, OtherMakersAndEthernetAreNotRead) {
  host.set(bridge.pci_dir() + "/vendor", "0x8086\n");
  host.set(rail.port_dir() + "/link_layer", "Ethernet\n");
  take_inventory(failing);
  EXPECT_EQ(failing.reads("*/vpd"), 0U);
}

TEST(InventoryTopology, TheSecondLinkOfALagIsNoManagementPort) {
  FakeHost host;
  const Nic second{.device = "",
                   .netdev = "ens1f1np1",
                   .pci = "0000:1b:00.1",
                   .ifindex = 3,
                   .phys_port_name = "p1"};
  add_nic(host, Nic{.device = "mlx5_bond_0"});
  add_nic(host, second);
  const std::string bond = "/sys/devices/virtual/net/eno1";
  add_netdev(host, bond, "eno1", 6);
  host.link(bond + "/lower_ens1np0", Nic{}.netdev_dir());
  host.link(bond + "/lower_ens1f1np1", second.netdev_dir());
  host.set("/proc/net/route", kRoute);
  const auto inventory = take_inventory(host);
  EXPECT_THAT(keys(inventory), ElementsAre("mlx5_bond_0/1", "ens1f1np1"));
  EXPECT_EQ(port(inventory, "mlx5_bond_0/1").exempt_reason, "");
  EXPECT_EQ(port(inventory, "mlx5_bond_0/1").id.netdev, "ens1np0");
  EXPECT_EQ(port(inventory, "ens1f1np1").exempt_reason, "");
}

}  // namespace
}  // namespace linkhealth
