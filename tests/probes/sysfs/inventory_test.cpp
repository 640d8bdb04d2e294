#include "probes/sysfs/inventory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/probes/sysfs/inventory_queries.h"
#include "tests/probes/sysfs/sysfs_tree.h"

namespace linkhealth {
namespace {

using testing::add_netdev;
using testing::add_nic;
using testing::add_verbs;
using ::testing::ElementsAre;
using testing::FailingHost;
using testing::FakeHost;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using testing::keys;
using testing::kRoute;
using testing::Nic;
using testing::plain_nic;
using testing::port;
using testing::second_nic;
using ::testing::UnorderedElementsAre;

TEST(Inventory, JoinsVerbsDeviceNetdevPciAndDriver) {
  FakeHost host;
  add_nic(host, Nic{});
  host.set("/sys/bus/pci/slots/4/address", "0000:1b:00\n");
  const auto inventory = take_inventory(host);
  EXPECT_TRUE(inventory.gaps.empty());
  ASSERT_EQ(inventory.ports.size(), 1U);
  const InventoryPort& found = inventory.ports[0];
  EXPECT_EQ(found.id, (PortId{"mlx5_0", 1, "ens1np0", "0000:1b:00.0", "mlx5_core",
                              "b83f:d203:0012:3456", "Ethernet", "pf", true, ""}));
  EXPECT_EQ(found.ifindex, 2);
  EXPECT_EQ(found.sysfs_port_dir, Nic{}.port_dir());
  EXPECT_EQ(found.sysfs_netdev_dir, Nic{}.netdev_dir());
  EXPECT_EQ(found.sysfs_pci_dir, Nic{}.pci_dir());
  EXPECT_EQ(found.slot, "4");
  EXPECT_EQ(found.numa_node, 1);
  EXPECT_EQ(found.exempt_reason, "");
}

TEST(Inventory, ACopyWithoutBusTakesTheDriverFromTheUevent) {
  FakeHost host;
  add_nic(host, Nic{});
  host.remove(Nic{}.pci_dir() + "/driver");
  host.set(Nic{}.pci_dir() + "/uevent",
           "PCI_CLASS=20000\nPCI_ID=15B3:1021\nDRIVER=mlx5_core\nPCI_SLOT_NAME=0000:1b:00.0\n");
  EXPECT_EQ(take_inventory(host).ports.at(0).id.driver, "mlx5_core");
  host.set(Nic{}.pci_dir() + "/uevent", "PCI_CLASS=20000\nPCI_ID=15B3:1021\n");
  EXPECT_EQ(take_inventory(host).ports.at(0).id.driver, "") << "no driver is bound";
}

TEST(Inventory, TheSlotIsThatOfTheCardsOwnSwitch) {
  FakeHost host;
  add_nic(host, Nic{});
  host.set("/sys/bus/pci/slots/5/address", "0000:1a:01\n");
  EXPECT_EQ(take_inventory(host).ports.at(0).slot, "5");
  host.set("/sys/bus/pci/slots/4/address", "0000:1b:00\n");
  EXPECT_EQ(take_inventory(host).ports.at(0).slot, "4") << "the nearest";
}

TEST(Inventory, NoDeviceAtAllIsNoGap) {
  FakeHost host;
  host.make_dir("/sys/class/net/lo");
  const auto inventory = take_inventory(host);
  EXPECT_TRUE(inventory.ports.empty());
  EXPECT_TRUE(inventory.gaps.empty());
  EXPECT_FALSE(inventory.incomplete);
}

// A container without /sys, or with a part of it: that is no node without ports.
TEST(Inventory, AMissingSysIsAGap) {
  FakeHost host;
  const Gap gap{"", "inventory", "/sys/class/net: ENOENT"};
  const auto nothing = take_inventory(host);
  EXPECT_THAT(nothing.gaps, ElementsAre(gap));
  EXPECT_TRUE(nothing.incomplete) << "earlier ports are not gone";
  add_nic(host, Nic{});
  host.remove("/sys/class/net");
  const auto part = take_inventory(host);
  EXPECT_THAT(part.gaps, ::testing::Contains(gap));
  EXPECT_EQ(part.ports.size(), 1U);
  EXPECT_FALSE(part.incomplete) << "the RDMA devices can come and go";
}

TEST(Inventory, OneUnreadableDeviceNeverHidesTheOthers) {
  FakeHost fake;
  add_nic(fake, Nic{});
  const Nic second = second_nic();
  add_nic(fake, second);
  fake.link("/sys/class/infiniband/mlx5_2", "/sys/devices/gone");  // unplugged meanwhile
  FailingHost host(fake);
  host.fail_list("/sys/class/infiniband", EACCES);
  EXPECT_THAT(take_inventory(host).gaps,
              ElementsAre(Gap{"", "inventory", "/sys/class/infiniband: EACCES"}));
  host.heal();
  host.fail_list(Nic{}.pci_dir() + "/infiniband/mlx5_0/ports", EIO);
  host.fail(second.port_dir() + "/link_layer", EINVAL);
  const auto inventory = take_inventory(host);
  EXPECT_THAT(keys(inventory), ElementsAre("mlx5_1/1"))
      << "mlx5_0's netdev is no plain Ethernet port now";
  EXPECT_EQ(port(inventory, "mlx5_1/1").id.netdev, "ens2np0");
  EXPECT_THAT(inventory.gaps, ElementsAre(Gap{"mlx5_0", "inventory", "ports: EIO"},
                                          Gap{"mlx5_1/1", "inventory", "link_layer: EINVAL"},
                                          Gap{"mlx5_2", "inventory", "device: ENOENT"}));
}

TEST(Inventory, VirtualFunctionsAreExemptWithTheirParent) {
  FakeHost host;
  add_nic(host, Nic{});
  Nic function{.device = "mlx5_1",
               .netdev = "ens1v0",
               .pci = "0000:1b:00.2",
               .ifindex = 3,
               .phys_port_name = ""};
  add_nic(host, function);
  host.link(function.pci_dir() + "/physfn", "../0000:1b:00.0");
  const auto inventory = take_inventory(host);
  EXPECT_EQ(port(inventory, "mlx5_0/1").exempt_reason, "");
  EXPECT_EQ(port(inventory, "mlx5_1/1").exempt_reason, "virtual function of 0000:1b:00.0");
  EXPECT_EQ(port(inventory, "mlx5_1/1").id.function, "vf");
}

TEST(Inventory, AGuestRecognisesAVirtualFunctionByItsPciId) {
  FakeHost host;
  add_nic(host, Nic{});
  const auto reason_for = [&host](const char* vendor, const char* device) {
    host.set(Nic{}.pci_dir() + "/vendor", std::string(vendor) + "\n");
    host.set(Nic{}.pci_dir() + "/device", std::string(device) + "\n");
    const InventoryPort port = take_inventory(host).ports.at(0);
    return port.exempt_reason + port.id.function;
  };
  for (const auto& [vendor, device] : {std::pair{"0x15b3", "0x101e"},
                                       {"0x15b3", "0xa2d3"},
                                       {"0x14e4", "0x1819"},
                                       {"0x1dd8", "0x1003"},
                                       {"0x8086", "0x145c"}})
    EXPECT_EQ(reason_for(vendor, device), "vf") << device << ": its link is judged here";
  for (const auto& [vendor, device] : {std::pair{"0x15b3", "0x1021"},
                                       {"0x14e4", "0x1760"},
                                       {"0x1dd8", "0x1002"},
                                       {"0x8086", "0x1452"},
                                       {"0x8086", ""}})
    EXPECT_EQ(reason_for(vendor, device), "pf") << device;
}

/// A subfunction of the NIC, as mlx5 makes it.
void add_subfunction(FakeHost& host) {
  const std::string dir = Nic{}.pci_dir() + "/mlx5_core.sf.2";
  add_verbs(host, dir + "/infiniband/mlx5_5", "mlx5_5", "Ethernet");
  host.link(dir + "/infiniband/mlx5_5/device", dir);
}

TEST(Inventory, ASubfunctionDoesNotTakeItsParentsHistory) {
  FakeHost host;
  add_nic(host, Nic{});
  add_subfunction(host);
  const auto inventory = take_inventory(host);
  EXPECT_EQ(port(inventory, "mlx5_5/1").exempt_reason, "subfunction of 0000:1b:00.0");
  EXPECT_EQ(port(inventory, "mlx5_0/1").id.stable_key(), "0000:1b:00.0/1");
  EXPECT_EQ(port(inventory, "mlx5_5/1").id.stable_key(), "mlx5_5/1");
}

TEST(Inventory, NothingTakesThePlaceOfADeviceThatIsLeftOut) {
  FakeHost fake;
  add_nic(fake, Nic{});
  add_nic(fake, plain_nic());
  fake.set("/proc/net/route", kRoute);
  add_subfunction(fake);
  std::vector<std::string> entered;
  InventoryWatch watch{
      {"mlx5_0"}, [&](const std::string& device) { entered.push_back(device); }, nullptr};
  const auto inventory = take_inventory(fake, watch);
  EXPECT_THAT(keys(inventory), UnorderedElementsAre("mlx5_5/1", "eno1"))
      << "its netdev does not become a plain port";
  EXPECT_EQ(port(inventory, "mlx5_5/1").id.stable_key(), "mlx5_5/1")
      << "its subfunction does not take its place";
  EXPECT_NE(port(inventory, "eno1").exempt_reason, "") << "the node still has RDMA ports";
  EXPECT_THAT(inventory.gaps,
              ElementsAre(Gap{"mlx5_0", "inventory", "left out: its files do not respond"}));
  EXPECT_THAT(entered, IsSupersetOf({"mlx5_0", "mlx5_5", "eno1", ""}));
  watch.left_out = {"eno1"};
  EXPECT_THAT(keys(take_inventory(fake, watch)), UnorderedElementsAre("mlx5_0/1", "mlx5_5/1"));
}

TEST(Inventory, DevPortDistinguishesTwoPortsOfOneFunction) {
  FakeHost host;
  add_nic(host, Nic{.device = "mlx4_0", .netdev = "ens1", .driver = "mlx4_core"});
  const std::string second = Nic{}.pci_dir() + "/net/ens1d1";
  add_netdev(host, second, "ens1d1", 3);
  host.set(second + "/dev_port", "1\n");
  host.set(Nic{}.pci_dir() + "/infiniband/mlx4_0/ports/2/link_layer", "InfiniBand\n");
  const auto inventory = take_inventory(host);
  EXPECT_THAT(keys(inventory), ElementsAre("mlx4_0/1", "mlx4_0/2"));
  EXPECT_EQ(inventory.ports[0].id.netdev, "ens1");
  EXPECT_EQ(inventory.ports[1].id.netdev, "ens1d1");
  EXPECT_EQ(inventory.ports[1].id.link_layer, "InfiniBand");
}

TEST(Inventory, APortMayHaveNoNetdev) {
  FakeHost host;
  add_nic(host, Nic{.netdev = "", .link_layer = "InfiniBand"});
  add_nic(host, Nic{.device = "rdmap0s6", .netdev = "", .pci = "0000:06:00.0", .driver = "efa"});
  const auto inventory = take_inventory(host);
  EXPECT_EQ(port(inventory, "mlx5_0/1").id.netdev, "");
  EXPECT_EQ(port(inventory, "mlx5_0/1").id.link_layer, "InfiniBand");
  EXPECT_EQ(port(inventory, "mlx5_0/1").ifindex, 0);
  EXPECT_EQ(port(inventory, "rdmap0s6/1").exempt_reason, "") << "its link is judged here";
  EXPECT_TRUE(is_of_provider(port(inventory, "rdmap0s6/1").id));
}

TEST(Inventory, SoftRoceIsAPortOfItsLowerNetdev) {
  FakeHost host;
  const std::string net = "/sys/devices/platform/simoptics/net/so0";
  add_netdev(host, net, "so0", 4);
  host.link(net + "/device", "/sys/devices/platform/simoptics");
  const std::string rxe = "/sys/devices/virtual/infiniband/rxe0";
  add_verbs(host, rxe, "rxe0", "Ethernet");
  host.set(rxe + "/parent", "so0\n");
  const auto inventory = take_inventory(host);
  ASSERT_THAT(keys(inventory), ElementsAre("rxe0/1"));
  EXPECT_EQ(inventory.ports[0].id.netdev, "so0");
  EXPECT_EQ(inventory.ports[0].id.driver, "rdma_rxe");
  EXPECT_EQ(inventory.ports[0].id.function, "virtual");
  EXPECT_EQ(inventory.ports[0].id.pci, "");
  EXPECT_EQ(inventory.ports[0].exempt_reason, "");
}

TEST(Inventory, TheBusDecidesWhatIsPlainEthernetNotTheName) {
  FakeHost host;
  add_nic(host, Nic{.device = "", .netdev = "eth0", .driver = "ice"});
  for (const char* name : {"lo", "bond0", "veth1", "eth0.100", "br0", "tun0"})
    add_netdev(host, std::string("/sys/devices/virtual/net/") + name, name, 20);
  const std::string usb = "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-1/net/usb0";
  add_netdev(host, usb, "usb0", 30);
  host.link(usb + "/device", "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-1");
  const auto inventory = take_inventory(host);
  ASSERT_THAT(keys(inventory), ElementsAre("eth0"));
  EXPECT_FALSE(inventory.ports[0].id.verbs);
  EXPECT_EQ(inventory.ports[0].id.driver, "ice");
  EXPECT_EQ(inventory.ports[0].id.pci, "0000:1b:00.0");
}

TEST(Inventory, TheManagementPortIsExemptWhereTheNodeHasRdmaPorts) {
  FakeHost host;
  add_nic(host, Nic{});
  add_nic(host, plain_nic());
  const auto without_routes = take_inventory(host);
  EXPECT_EQ(port(without_routes, "eno1").exempt_reason, "");
  ASSERT_EQ(without_routes.gaps.size(), 1U);
  EXPECT_THAT(without_routes.gaps[0].reason, HasSubstr("default route"));
  host.set("/proc/net/route", kRoute);
  const auto inventory = take_inventory(host);
  EXPECT_EQ(port(inventory, "eno1").exempt_reason,
            "management port: carries the default route and has no RDMA device");
  EXPECT_EQ(port(inventory, "mlx5_0/1").exempt_reason, "");
  FakeHost bonded;
  add_nic(bonded, Nic{});
  add_nic(bonded, plain_nic("eno2"));
  const std::string bond = "/sys/devices/virtual/net/eno1";
  add_netdev(bonded, bond, "eno1", 6);
  bonded.link(bond + "/lower_eno2", Nic{}.netdev_dir());
  bonded.link(bond + "/lower_eno1", bond);  // a loop must end
  bonded.set("/proc/net/route", kRoute);
  EXPECT_THAT(port(take_inventory(bonded), "eno2").exempt_reason, HasSubstr("management port"));
}

TEST(Inventory, ARailWithTheDefaultRouteAndANodeWithoutRdmaAreWatched) {
  FakeHost rail;
  add_nic(rail, Nic{.netdev = "eno1"});
  rail.set("/proc/net/route", kRoute);
  EXPECT_EQ(take_inventory(rail).ports.at(0).exempt_reason, "");
  FakeHost plain;
  add_nic(plain, Nic{.device = "", .netdev = "eno1", .driver = "tg3"});
  plain.set("/proc/net/route", kRoute);
  EXPECT_EQ(take_inventory(plain).ports.at(0).exempt_reason, "");
}

TEST(Inventory, DefaultRoutes) {
  const std::string zeros(32, '0');
  const std::string v6 = zeros + " 00 " + zeros +
                         " 00 fe800000000000000000000000000001 00000400 1 0 00000003 eth6\n" +
                         zeros + " 00 " + zeros + " 00 " + zeros + " ffffffff 1 0 00200200 lo\n" +
                         zeros + " 40 " + zeros + " 00 " + zeros + " 00000100 1 0 00000001 eth7\n";
  EXPECT_THAT(default_route_netdevs(kRoute, v6), ElementsAre("eno1", "eth6"));
  EXPECT_THAT(default_route_netdevs("", ""), ElementsAre());
  EXPECT_THAT(default_route_netdevs("garbage\n\x01 00000000\n\n", "0 0 0\n"), ElementsAre());
  EXPECT_THAT(default_route_netdevs("x\t00000000\t0\t0201\t0\t0\t0\t00000000\n", ""), ElementsAre())
      << "unreachable";
}

TEST(Inventory, PciAddresses) {
  EXPECT_EQ(pci_address_in("/sys/devices/pci0000:1a/0000:1a:01.0/0000:1b:00.0/net/eth0"),
            "0000:1b:00.0");
  EXPECT_EQ(pci_address_in("/sys/devices/pci10000:00/10000:01:00.0"), "10000:01:00.0");
  EXPECT_EQ(pci_address_in("/sys/devices/platform/simoptics/net/so0"), "");
  EXPECT_EQ(pci_address_in(""), "");
}

TEST(Inventory, TwoDevicesSwappedKeepTheirStableKeys) {
  FakeHost before, after;
  Nic first, second = second_nic();
  add_nic(before, first);
  add_nic(before, second);
  std::swap(first.device, second.device);
  std::swap(first.netdev, second.netdev);
  add_nic(after, first);
  add_nic(after, second);
  const auto a = take_inventory(before);
  const auto b = take_inventory(after);
  EXPECT_EQ(port(a, "mlx5_0/1").id.stable_key(), port(b, "mlx5_1/1").id.stable_key());
  EXPECT_EQ(a.ports[0].id.pci, b.ports[0].id.pci) << "the order follows the hardware";
}

TEST(Inventory, SixtyFourPortsInStableOrder) {
  FakeHost host;
  for (int i = 63; i >= 0; --i) {
    const std::string number = std::to_string(i);
    add_nic(host, Nic{.device = "mlx5_" + number,
                      .netdev = "eth" + number,
                      .pci = "0000:" + std::to_string(10 + i) + ":00.0",
                      .ifindex = i + 2});
  }
  const auto inventory = take_inventory(host);
  ASSERT_EQ(inventory.ports.size(), 64U);
  EXPECT_EQ(inventory.ports[2].id.key(), "mlx5_2/1");
  EXPECT_EQ(inventory.ports[63].id.key(), "mlx5_63/1");
  EXPECT_TRUE(inventory.gaps.empty());
}

void add_card(FakeHost& host, const std::string& address, const char* pci_class,
              const char* driver = nullptr) {
  const std::string dir = "/sys/bus/pci/devices/" + address;
  host.set(dir + "/class", std::string(pci_class) + "\n");
  host.set(dir + "/current_link_width", "8\n");
  host.set(dir + "/max_link_width", "16\n");
  if (driver != nullptr) {
    host.make_dir(std::string("/sys/bus/pci/drivers/") + driver);
    host.link(dir + "/driver", std::string("/sys/bus/pci/drivers/") + driver);
  }
}

TEST(PciBus, NetworkCardsWithTheirDriverAndWidth) {
  FakeHost host;
  add_card(host, "0000:3b:00.0", "0x020700");
  add_card(host, "0000:1b:00.0", "0x020000", "mlx5_core");
  host.make_dir("/sys/bus/pci/devices/0000:1b:00.0/net");  // all in other network namespaces
  add_card(host, "0000:00:1f.0", "0x060100");
  add_card(host, "0000:1b:00.2", "0x020000", "mlx5_core");
  host.make_dir("/sys/bus/pci/devices/0000:1b:00.2/physfn");
  const auto cards = network_cards(host);
  ASSERT_TRUE(cards);
  ASSERT_EQ(cards->size(), 2U) << "no bridge, no virtual function";
  EXPECT_EQ(cards->at(0), (PciCard{"0000:1b:00.0", "mlx5_core", 8, 16}));
  EXPECT_EQ(describe_on_pci_bus(cards, "0000:1b:00.0"),
            "on the PCI bus with the driver mlx5_core, 8 of 16 lanes");
  EXPECT_EQ(describe_on_pci_bus(cards, "0000:3b:00.0"),
            "on the PCI bus without a driver, 8 of 16 lanes");
  EXPECT_EQ(describe_on_pci_bus(cards, "0000:9b:00.0"), "not on the PCI bus");
}

TEST(PciBus, ACardWithItsDriverAndWithoutAPortIsMissedByName) {
  FakeHost host;
  add_nic(host, Nic{});
  add_card(host, "0000:65:01.0", "0x020700", "mlx5_core");
  add_card(host, "0000:66:00.0", "0x020000", "bnxt_en");
  host.make_dir("/sys/bus/pci/devices/0000:66:00.0/net");  // of a pod
  add_card(host, "0000:67:00.0", "0x020000", "vfio-pci");  // lent to a virtual machine
  add_card(host, "0000:68:00.0", "0x020000", "cxgb4");     // of its functions one has the ports
  const auto gaps = take_inventory(host).gaps;
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].probe, "pci_bus");
  EXPECT_EQ(gaps[0].reason,
            "0000:65:01.0 is on the PCI bus with the driver mlx5_core, which created no port, 8 of "
            "16 lanes");
  host.make_dir("/sys/bus/pci/devices/0000:65:01.0/infiniband");
  EXPECT_TRUE(take_inventory(host).gaps.empty());
}

TEST(PciBus, ABusThatCannotBeListedGivesNoText) {
  FakeHost host;
  EXPECT_EQ(describe_on_pci_bus(network_cards(host), "0000:1b:00.0"), "");
  EXPECT_EQ(describe_on_pci_bus(std::vector<PciCard>(), ""), "") << "a port without an address";
}

}  // namespace
}  // namespace linkhealth
