#include "probes/sysfs/pcie.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/probes/sysfs/sysfs_tree.h"

namespace linkhealth {
namespace {

using testing::add_nic;
using ::testing::ElementsAre;
using testing::FailingHost;
using testing::FakeHost;
using testing::Nic;

class Pcie : public ::testing::Test {
 protected:
  Pcie() {
    add_nic(fake_, nic_);
    port_ = take_inventory(fake_).ports.at(0);
  }
  void put(const std::string& file, const std::string& text) {
    fake_.set(nic_.pci_dir() + "/" + file, text + "\n");
  }
  void put_bridge(const std::string& file, const std::string& text) {
    fake_.set(nic_.bridge_dir() + "/" + file, text + "\n");
  }
  const PcieSample& read() {
    read_pcie(host_, port_, sample_, gaps_);
    static const PcieSample kNone;
    return sample_.pcie ? *sample_.pcie : kNone;
  }

  Nic nic_;
  FakeHost fake_;
  FailingHost host_{fake_};
  InventoryPort port_;
  PortSample sample_;
  std::vector<Gap> gaps_;
};

TEST(PcieParse, Texts) {
  EXPECT_EQ(parse_link_speed("32.0 GT/s PCIe"), 32.0);
  EXPECT_EQ(parse_link_speed("2.5 GT/s"), 2.5);
  for (const char* bad : {"", "Unknown", "32", "GT/s", " GT/s", "-8 GT/s", "nan GT/s"})
    EXPECT_FALSE(parse_link_speed(bad)) << bad;
  EXPECT_EQ(parse_link_width("16"), 16U);
  for (const char* bad : {"", "0", "255", "x16", "-1"}) EXPECT_FALSE(parse_link_width(bad)) << bad;
  EXPECT_EQ(parse_aer_total("RxErr 1\nBadTLP 2\nTOTAL_ERR_COR 3\n"), 3U);
  for (const char* bad : {"", "RxErr 1\n", "TOTAL_ERR_COR", "TOTAL_ERR_COR x", "TOTAL_ERR_COR \n"})
    EXPECT_FALSE(parse_aer_total(bad)) << bad;
}

TEST_F(Pcie, ReadsLinkAndErrors) {
  put("aer_dev_correctable", "RxErr 4\nTOTAL_ERR_COR 4");
  port_.numa_node = -1;
  const PcieSample& pcie = read();
  EXPECT_EQ(pcie.speed_gtps, 32.0);
  EXPECT_EQ(pcie.width, 16U);
  EXPECT_EQ(pcie.aer_correctable, 4U);
  EXPECT_FALSE(pcie.aer_fatal) << "no AER file: absent, not zero";
  EXPECT_EQ(pcie.slot, "");
  EXPECT_FALSE(pcie.numa_node || pcie.nic_temperature_c) << "the board names none";
  std::string text;
  for (int i = 0; i < 24; ++i) text += "PoisonTLPBlocked 18446744073709551615\n";
  put("aer_dev_fatal", text + "TOTAL_ERR_FATAL 5");
  EXPECT_EQ(read().aer_fatal, 5U) << "behind many lines of errors";
  EXPECT_TRUE(gaps_.empty());
}

TEST_F(Pcie, TheMaximumIsThatOfTheSlowerEnd) {
  put_bridge("max_link_speed", "64.0 GT/s PCIe");
  EXPECT_EQ(read().max_speed_gtps, 32.0) << "a faster slot does not raise the card";
  put("current_link_speed", "16.0 GT/s PCIe");
  put("current_link_width", "8");
  put_bridge("max_link_speed", "16.0 GT/s PCIe");
  put_bridge("max_link_width", "8");
  EXPECT_EQ(read().max_speed_gtps, 16.0) << "a slower slot is no degraded card";
  EXPECT_EQ(read().max_width, 8U);
}

/// A BlueField: root port, the card's switch (upstream and downstream port), the function.
TEST_F(Pcie, TheSlotsLinkCountsOfACardWithItsOwnSwitch) {
  const std::string root = "/sys/devices/pci0000:c9/0000:c9:01.0";
  const std::string upstream = root + "/0000:ca:00.0";
  const std::string function = upstream + "/0000:cb:00.0/0000:cc:00.0";
  const auto link = [&](const std::string& of, const char* vendor, const char* speed,
                        const char* width) {
    fake_.set(of + "/vendor", vendor);
    fake_.set(of + "/current_link_speed", speed);
    fake_.set(of + "/current_link_width", width);
    fake_.set(of + "/max_link_speed", "32.0 GT/s PCIe\n");
    fake_.set(of + "/max_link_width", "16\n");
  };
  link(root, "0x8086\n", "2.5 GT/s PCIe\n", "8\n");
  link(upstream, "0x15b3\n", "2.5 GT/s PCIe\n", "8\n");
  link(upstream + "/0000:cb:00.0", "0x15b3\n", "32.0 GT/s PCIe\n", "16\n");
  link(function, "0x15b3\n", "32.0 GT/s PCIe\n", "16\n");
  fake_.set(upstream + "/aer_dev_correctable", "TOTAL_ERR_COR 7\n");
  fake_.set(function + "/aer_dev_correctable", "TOTAL_ERR_COR 2\n");
  port_.sysfs_pci_dir = function;
  port_.id.pci = "0000:cc:00.0";
  read_pcie(host_, port_, sample_, gaps_);
  ASSERT_TRUE(sample_.pcie);
  EXPECT_EQ(sample_.pcie->speed_gtps, 2.5);
  EXPECT_EQ(sample_.pcie->width, 8U);
  EXPECT_EQ(sample_.pcie->max_width, 16U);
  EXPECT_EQ(sample_.pcie->aer_correctable, 9U) << "of both ends of the card";
  fake_.set(upstream + "/vendor", "0x1000\n");  // a switch of the board
  fake_.set(upstream + "/0000:cb:00.0/vendor", "0x1000\n");
  read_pcie(host_, port_, sample_, gaps_);
  EXPECT_EQ(sample_.pcie->width, 16U);
}

/// Root port, a switch of the board (upstream and downstream port), the card.
TEST_F(Pcie, TheNarrowestLinkAboveASwitchIsNamedWhereItHoldsTheCardBack) {
  const std::string root = "/sys/devices/pci0000:c9/0000:c9:01.0";
  const std::string upstream = root + "/0000:ca:00.0";
  const std::string downstream = upstream + "/0000:cb:00.0";
  const std::string card = downstream + "/0000:cc:00.0";
  const auto link = [&](const std::string& of, const char* speed, const char* width,
                        const char* max_speed) {
    fake_.set(of + "/vendor", of == card ? "0x14e4\n" : "0x10b5\n");
    fake_.set(of + "/current_link_speed", std::string(speed) + " GT/s PCIe\n");
    fake_.set(of + "/current_link_width", std::string(width) + "\n");
    fake_.set(of + "/max_link_speed", std::string(max_speed) + " GT/s PCIe\n");
    fake_.set(of + "/max_link_width", "16\n");
  };
  for (const auto& of : {downstream, card}) link(of, "16.0", "16", "16.0");
  port_.sysfs_pci_dir = card;
  port_.id.pci = "0000:cc:00.0";
  const auto above = [&] {
    sample_.pcie.reset();
    read_pcie(host_, port_, sample_, gaps_);
    return sample_.pcie ? sample_.pcie->above : std::nullopt;
  };
  for (const auto& of : {root, upstream}) link(of, "16.0", "4", "16.0");
  EXPECT_EQ(above(), (PcieLink{"0000:ca:00.0", 16, 16, 4, 16}));
  EXPECT_TRUE(sample_.pcie->lowest().is_narrow());
  EXPECT_FALSE((PcieLink{"", sample_.pcie->speed_gtps, sample_.pcie->max_speed_gtps,
                         sample_.pcie->width, sample_.pcie->max_width})
                   .is_low());
  for (const auto& of : {root, upstream}) link(of, "16.0", "16", "16.0");
  EXPECT_FALSE(above()) << "as fast as both of its ends can";
  link(root, "16.0", "16", "16.0");
  link(upstream, "16.0", "16", "32.0");
  EXPECT_FALSE(above()) << "a Gen 5 switch below a Gen 4 root port";
  for (const auto& of : {root, upstream}) link(of, "16.0", "16", "32.0");
  EXPECT_FALSE(above()) << "below its best, and the card needs no more";
  fake_.remove(root + "/max_link_speed");
  link(upstream, "8.0", "16", "32.0");
  EXPECT_FALSE(above()) << "what the root port can do is not known";
  EXPECT_TRUE(gaps_.empty());
}

TEST_F(Pcie, BadContentIsAGap) {
  host_.replace("*/current_link_speed", "Unknown\n");
  host_.fail("*/0000:1b:00.0/max_link_width", EINVAL);
  put("aer_dev_fatal", "garbage");
  read_pcie(host_, port_, sample_, gaps_);
  EXPECT_FALSE(sample_.pcie->speed_gtps);
  EXPECT_EQ(sample_.pcie->width, 16U);
  EXPECT_THAT(gaps_,
              ElementsAre(Gap{"mlx5_0/1", "pcie",
                              "current_link_speed: text \"Unknown\"; max_link_width: EINVAL; "
                              "aer_dev_fatal: text \"garbage\""}));
}

/// A conventional PCI device has none of the four files; a /sys in part has no file at all.
TEST_F(Pcie, AConventionalPciCardHasNoGap) {
  for (const char* name :
       {"current_link_speed", "current_link_width", "max_link_speed", "max_link_width"})
    fake_.remove(nic_.pci_dir() + "/" + name);
  read();
  EXPECT_EQ(gaps_.size(), 1U) << "no file of the card is there";
  gaps_.clear();
  put("vendor", "0x8086");
  read();
  EXPECT_FALSE(sample_.pcie);
  EXPECT_TRUE(gaps_.empty());
  put("max_link_width", "16");
  read();
  EXPECT_EQ(gaps_.size(), 1U) << "it has one of them, so it has all";
}

TEST_F(Pcie, EachReadGivesThePresentValues) {
  put("aer_dev_fatal", "TOTAL_ERR_FATAL 0");
  for (const char* file : {"max_link_speed", "current_link_speed"})
    put_bridge(file, "64.0 GT/s PCIe");
  EXPECT_EQ(read().bridge_speed_gtps, 64.0);
  put("current_link_speed", "8.0 GT/s PCIe");
  put("aer_dev_fatal", "TOTAL_ERR_FATAL 3");
  EXPECT_EQ(read().speed_gtps, 8.0);
  EXPECT_EQ(read().aer_fatal, 3U);
}

TEST_F(Pcie, AGoneFunctionIsAGapUntilItIsBack) {
  host_.fail("*/0000:1b:00.0/current_link_*", ENODEV);
  EXPECT_FALSE(read().speed_gtps);
  EXPECT_THAT(gaps_, ElementsAre(Gap{"mlx5_0/1", "pcie",
                                     "current_link_speed: ENODEV; current_link_width: ENODEV"}));
  host_.heal();
  EXPECT_EQ(read().speed_gtps, 32.0);
  fake_.remove(nic_.pci_dir());
  sample_ = {};
  gaps_.clear();
  read();
  EXPECT_FALSE(sample_.pcie);
  EXPECT_EQ(gaps_.size(), 1U);
  gaps_.clear();
  read_pcie(host_, InventoryPort{}, sample_, gaps_);
  EXPECT_FALSE(sample_.pcie) << "a virtual port";
  EXPECT_TRUE(gaps_.empty());
}

TEST_F(Pcie, BridgeSlotNodeAndTemperature) {
  put_bridge("current_link_speed", "16.0 GT/s PCIe");
  put_bridge("current_link_width", "8");
  put_bridge("max_link_width", "16");
  port_.slot = "4";
  for (const auto& [file, text] : {std::pair{"temp1_input", "61500"},
                                   {"temp1_crit", "105000"},
                                   {"temp1_label", "asic"},
                                   {"temp2_input", "70000"},
                                   {"temp2_label", "Module0"},
                                   {"temp3_input", "72000"},
                                   {"temp3_label", "sensor64"}})
    put(std::string("hwmon/hwmon3/") + file, text);
  const PcieSample& pcie = read();
  EXPECT_EQ(pcie.bridge_speed_gtps, 16.0);
  EXPECT_EQ(pcie.bridge_width, 8U);
  EXPECT_EQ(pcie.slot, "4");
  EXPECT_EQ(pcie.numa_node, 1U);
  EXPECT_EQ(pcie.nic_temperature_c, 61.5) << "the sensors of modules are not the NIC's";
  EXPECT_EQ(pcie.nic_critical_temperature_c, 105.0);
  EXPECT_TRUE(gaps_.empty());
  put("hwmon/hwmon3/temp1_input", "999999999");
  put("hwmon/hwmon3/temp4_input", "50000");
  fake_.set_error(nic_.pci_dir() + "/hwmon/hwmon3/temp5_input", EIO);
  EXPECT_EQ(read().nic_temperature_c, 50.0) << "out of range is no temperature";
  EXPECT_THAT(gaps_, ElementsAre(Gap{"mlx5_0/1", "hwmon",
                                     "temp1_input: text \"999999999\"; temp5_input: EIO"}));
}

}  // namespace
}  // namespace linkhealth
