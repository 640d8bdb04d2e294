// What the PCI bus shows of network cards.
#include "probes/sysfs/pci_bus.h"

#include <gtest/gtest.h>

#include "tests/support/fake_host.h"

namespace linkhealth {
namespace {

using linkhealth::testing::FakeHost;

void add(FakeHost& host, const std::string& address, const char* pci_class,
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
  add(host, "0000:3b:00.0", "0x020700");
  add(host, "0000:1b:00.0", "0x020000", "mlx5_core");
  add(host, "0000:00:1f.0", "0x060100");
  add(host, "0000:1b:00.2", "0x020000", "mlx5_core");
  host.make_dir("/sys/bus/pci/devices/0000:1b:00.2/physfn");
  const auto cards = network_cards(host);
  ASSERT_TRUE(cards);
  ASSERT_EQ(cards->size(), 2U) << "no bridge, no virtual function";
  EXPECT_EQ(cards->at(0), (PciCard{"0000:1b:00.0", "mlx5_core", 8, 16}));
  EXPECT_EQ(pci_words(cards, "0000:1b:00.0"),
            "on the PCI bus with the driver mlx5_core, 8 of 16 lanes");
  EXPECT_EQ(pci_words(cards, "0000:3b:00.0"), "on the PCI bus without a driver, 8 of 16 lanes");
  EXPECT_EQ(pci_words(cards, "0000:9b:00.0"), "not on the PCI bus");
}

TEST(PciBus, ABusThatCannotBeListedSaysNothing) {
  FakeHost host;
  EXPECT_EQ(pci_words(network_cards(host), "0000:1b:00.0"), "");
  EXPECT_EQ(pci_words(std::vector<PciCard>(), ""), "") << "a port without an address";
}

}  // namespace
}  // namespace linkhealth
