// The InfiniBand class files of a port: its state, its counters and those of its device.
#include "probes/sysfs/ib_sysfs.h"

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

struct Reading {
  ReadStatus status = ReadStatus::kOk;
  PortSample sample;
  std::vector<Gap> gaps;
  [[nodiscard]] std::optional<std::uint64_t> counter(std::string_view name) const {
    return sample.counters ? sample.counters->get(name) : std::nullopt;
  }
};

using Group = ReadStatus (IbPortReader::*)(PortSample&, std::vector<Gap>&);
constexpr Group kState = &IbPortReader::read_state;
constexpr Group kPma = &IbPortReader::read_port_counters;
constexpr Group kHw = &IbPortReader::read_hw_counters;

Reading read(IbPortReader& reader, Group group) {
  Reading reading;
  reading.status = (reader.*group)(reading.sample, reading.gaps);
  return reading;
}

class IbSysfs : public ::testing::Test {
 protected:
  explicit IbSysfs(Nic nic = {}) : nic_(std::move(nic)) { add_nic(fake_, nic_); }

  IbPortReader reader(std::size_t port = 0, const char* driver = "mlx5_core") {
    auto inventory = take_inventory(fake_);
    inventory.ports.at(port).id.driver = driver;
    return std::move(*IbPortReader::open(host_, inventory.ports.at(port)));
  }
  void put(const std::string& file, const std::string& text) {
    fake_.set(nic_.port_dir() + "/" + file, text + "\n");
  }
  std::string counter(const std::string& name) const {
    return nic_.port_dir() + "/counters/" + name;
  }

  Nic nic_;
  FakeHost fake_;
  FailingHost host_{fake_};
};

TEST_F(IbSysfs, FilesThatADriverFillsWronglyAreNotRead) {
  auto port = reader(0, "bnxt_en");
  const auto pma = read(port, kPma);
  EXPECT_FALSE(pma.counter("symbol_error") || pma.counter("link_downed"));
  EXPECT_EQ(pma.counter("port_xmit_data"), 5U);
  EXPECT_TRUE(pma.gaps.empty());
}

TEST_F(IbSysfs, ReadsTheGroupsSeparately) {
  auto port = reader();
  const auto state = read(port, kState);
  ASSERT_TRUE(state.sample.link);
  EXPECT_EQ(state.sample.link->state, "ACTIVE");
  EXPECT_EQ(state.sample.link->phys_state, "LinkUp");
  EXPECT_EQ(state.sample.link->speed_mbps, 400000U);
  EXPECT_EQ(state.sample.link->lanes, 4U);
  EXPECT_FALSE(state.sample.link->carrier) << "the netdev has the carrier of an Ethernet port";
  EXPECT_FALSE(state.sample.counters);
  const auto pma = read(port, kPma);
  EXPECT_EQ(pma.counter("symbol_error"), 5U);
  EXPECT_EQ(pma.counter("port_xmit_data"), 5U);
  const auto hw = read(port, kHw);
  EXPECT_EQ(hw.counter("out_of_sequence"), 9U);
  EXPECT_EQ(hw.counter("some_new_counter"), 9U);
  EXPECT_FALSE(hw.counter("lifespan"));
  EXPECT_TRUE(hw.gaps.empty());
}

TEST_F(IbSysfs, OddTextAndErrorsOfOneFileAreOneGapAndHideNoOther) {
  host_.fail(counter("symbol_error"), EINVAL);
  host_.fail(counter("port_rcv_errors"), EINVAL);
  host_.replace(counter("VL15_dropped"), "N/A (no PMA)\n");
  auto port = reader();
  const auto pma = read(port, kPma);
  EXPECT_EQ(pma.status, ReadStatus::kOk);
  EXPECT_EQ(pma.counter("link_downed"), 5U);
  EXPECT_FALSE(pma.counter("symbol_error"));
  EXPECT_THAT(pma.gaps, ElementsAre(Gap{"mlx5_0/1", "counters",
                                        "VL15_dropped: text \"N/A (no PMA)\"; "
                                        "port_rcv_errors, symbol_error: EINVAL"}));
}

TEST_F(IbSysfs, APortInSwitchModeLosesOnlyItself) {
  host_.fail("*/ports/1/*", EINVAL);
  auto port = reader();
  for (const Group group : {kState, kPma, kHw}) {
    const auto reading = read(port, group);
    EXPECT_EQ(reading.status, ReadStatus::kOk);
    EXPECT_FALSE(reading.sample.link || reading.sample.counters);
    EXPECT_EQ(reading.gaps.size(), 1U);
  }
}

TEST_F(IbSysfs, AnUnpluggedPortIsGoneEvenIfItsNameComesBack) {
  auto port = reader();
  const auto inventory = take_inventory(fake_);
  for (const Group group : {kState, kPma, kHw}) read(port, group);
  fake_.remove(nic_.pci_dir());
  EXPECT_EQ(IbPortReader::open(host_, inventory.ports.at(0)).error().errnum, ENOENT);
  EXPECT_EQ(IbPortReader::open(host_, InventoryPort{}).error().errnum, ENOENT);
  add_nic(fake_, nic_);
  for (const Group group : {kState, kPma, kHw}) {
    const auto reading = read(port, group);
    EXPECT_EQ(reading.status, ReadStatus::kGone);
    EXPECT_TRUE(reading.gaps.empty()) << "gone is no gap";
  }
  auto again = reader();
  EXPECT_EQ(read(again, kPma).counter("symbol_error"), 5U);
}

TEST_F(IbSysfs, OneFileOfAGoneDeviceIsOddAndAllFilesAreAnUnplug) {
  auto port = reader();
  read(port, kState);
  host_.fail(counter("symbol_error"), ENODEV);
  EXPECT_EQ(read(port, kPma).status, ReadStatus::kOk);
  host_.heal();
  host_.fail("*", ENODEV);
  EXPECT_EQ(read(port, kPma).status, ReadStatus::kGone);
}

TEST_F(IbSysfs, ARenameIsFollowed) {
  auto port = reader();
  read(port, kPma);
  fake_.rename(nic_.pci_dir() + "/infiniband/mlx5_0", nic_.pci_dir() + "/infiniband/mlx5_9");
  EXPECT_EQ(read(port, kPma).counter("symbol_error"), 5U);
}

// The kernel makes the directory of counters for every port of mlx5: without it /sys was mounted in
// part.
TEST_F(IbSysfs, AMissingDirectoryIsAGapOnlyWhereTheDriverAlwaysHasIt) {
  fake_.remove(nic_.port_dir() + "/counters");
  fake_.remove(nic_.port_dir() + "/hw_counters");
  auto irdma = reader(0, "irdma");
  for (const Group group : {kPma, kHw}) {
    const auto seen = read(irdma, group);
    EXPECT_TRUE(seen.gaps.empty());
    EXPECT_FALSE(seen.sample.counters);
  }
  auto mlx5 = reader();
  EXPECT_THAT(read(mlx5, kPma).gaps, ElementsAre(Gap{"mlx5_0/1", "counters", "counters: ENOENT"}));
}

/// ionic has the directory, and nothing in it.
TEST_F(IbSysfs, AnEmptyDirectoryIsAGapOnlyWhereTheDriverAlwaysFillsIt) {
  fake_.remove(nic_.port_dir() + "/counters");
  fake_.make_dir(nic_.port_dir() + "/counters");
  for (const char* driver : {"ionic", "irdma"}) {
    auto without = reader(0, driver);
    EXPECT_TRUE(read(without, kPma).gaps.empty()) << driver;
  }
  auto mlx5 = reader();
  EXPECT_THAT(read(mlx5, kPma).gaps,
              ElementsAre(Gap{"mlx5_0/1", "counters", "the counters directory is empty"}));
}

TEST_F(IbSysfs, CountersOfWhichTheTableKnowsNoneSaySo) {
  fake_.remove(nic_.port_dir() + "/hw_counters");
  put("hw_counters/SwLinkUp,32", "1");
  put("hw_counters/RcvHdrOvr24", "0");
  auto port = reader(0, "hfi1");
  const auto hw = read(port, kHw);
  EXPECT_EQ(hw.counter("RcvHdrOvr24"), 0U);
  EXPECT_THAT(hw.gaps, ElementsAre(Gap{"mlx5_0/1", "hw_counters",
                                       "none of the driver's 2 counters is known to linkhealth: "
                                       "they are shown but not judged"}));
  put("hw_counters/rx_rdma_ecn_pkts", "7");
  auto ionic = reader(0, "ionic");
  EXPECT_TRUE(read(ionic, kHw).gaps.empty());
}

TEST_F(IbSysfs, ADirectoryThatCannotBeListedIsAGapUntilItCan) {
  host_.fail_list("*counters", EMFILE);
  auto port = reader();
  EXPECT_THAT(read(port, kPma).gaps, ElementsAre(Gap{"mlx5_0/1", "counters", "counters: EMFILE"}));
  EXPECT_THAT(read(port, kHw).gaps,
              ElementsAre(Gap{"mlx5_0/1", "hw_counters", "hw_counters: EMFILE"}));
  host_.heal();
  for (const Group group : {kPma, kHw}) {
    const auto healed = read(port, group);
    EXPECT_TRUE(healed.gaps.empty());
    EXPECT_TRUE(healed.sample.counters && !healed.sample.counters->empty());
  }
}

// --- hw_counters of a whole device, and to which port they belong

TEST_F(IbSysfs, InSwitchModeTheDevicesCountersAreThoseOfItsOnlyCable) {
  testing::enter_switch_mode(fake_, nic_);
  testing::add_second_port(fake_, nic_, "ens1np0r3", "pf0vf3");
  auto port = reader();
  for (int cycle = 0; cycle < 3; ++cycle) {
    const auto seen = read(port, kHw);
    EXPECT_EQ(seen.counter("vport_packet_seq_err"), 0U);
    EXPECT_EQ(seen.counter("packet_seq_err"), 12U);
    EXPECT_EQ(seen.counter("np_cnp_sent"), 13U);
    EXPECT_EQ(seen.sample.counters->size(), 5U) << "the age limit is no counter";
    EXPECT_TRUE(seen.gaps.empty());
  }
  auto representor = reader(1);
  const auto seen = read(representor, kHw);
  EXPECT_FALSE(seen.counter("packet_seq_err"));
  EXPECT_TRUE(seen.gaps.empty()) << "they are not expected of it";
  // Without q_counter_other_vport the port has no hw_counters at all.
  fake_.remove(nic_.port_dir() + "/hw_counters");
  auto without = reader();
  EXPECT_EQ(read(without, kHw).counter("packet_seq_err"), 12U);
}

TEST_F(IbSysfs, TheSumOfADeviceWithTwoCablesBelongsToNoPort) {
  testing::enter_switch_mode(fake_, nic_);
  testing::add_second_port(fake_, nic_, "ens1np1", "p1");
  auto port = reader();
  const auto seen = read(port, kHw);
  EXPECT_FALSE(seen.counter("packet_seq_err"));
  EXPECT_THAT(seen.gaps, ElementsAre(Gap{"mlx5_0/1", "hw_counters",
                                         "counted for the whole device, which has 2 ports"}));
}

TEST_F(IbSysfs, AnUnreadableDeviceIsAGapOnlyWhereThePortLacksItsCounters) {
  host_.fail_list("*/mlx5_0/hw_counters", EACCES);
  auto port = reader();
  EXPECT_TRUE(read(port, kHw).gaps.empty());
  testing::enter_switch_mode(fake_, nic_);
  auto lacking = reader();
  EXPECT_THAT(read(lacking, kHw).gaps,
              ElementsAre(Gap{"mlx5_0/1", "hw_counters", "hw_counters of the device: EACCES"}));
}

// mlx4, efa: the port has its own; the device's other counters are not missed.
TEST_F(IbSysfs, ThePortsOwnCounterGoesBeforeTheDevices) {
  const std::string device = nic_.pci_dir() + "/infiniband/mlx5_0/hw_counters/";
  for (const char* name : {"out_of_sequence", "submitted_cmds"}) fake_.set(device + name, "70\n");
  auto port = reader();
  EXPECT_EQ(read(port, kHw).counter("submitted_cmds"), 70U);
  EXPECT_EQ(read(port, kHw).counter("out_of_sequence"), 9U);
  testing::add_second_port(fake_, nic_, "ens1np1", "p1");
  auto one_of_two = reader();
  EXPECT_FALSE(read(one_of_two, kHw).counter("submitted_cmds"));
  EXPECT_TRUE(read(one_of_two, kHw).gaps.empty());
}

// efa counts its commands there, too.
TEST_F(IbSysfs, AnExemptDevicesCountersAreItsOnlyPorts) {
  fake_.link(nic_.pci_dir() + "/physfn", "/sys/devices/pci0000:1a/0000:1b:00.7");
  fake_.set(nic_.pci_dir() + "/infiniband/mlx5_0/hw_counters/submitted_cmds", "14\n");
  auto port = reader();
  EXPECT_EQ(read(port, kHw).counter("submitted_cmds"), 14U);
}

// --- state, phys_state and rate

class IbState : public IbSysfs {
 protected:
  explicit IbState(Nic nic = {}) : IbSysfs(std::move(nic)) { port_.emplace(reader()); }
  /// `speed_mbps`: as ethtool reported it.
  Reading read(std::optional<std::uint32_t> speed_mbps = std::nullopt) {
    Reading seen;
    seen.sample.link.emplace().speed_mbps = speed_mbps;
    EXPECT_EQ(port_->read_state(seen.sample, seen.gaps), ReadStatus::kOk);
    return seen;
  }
  LinkSample link() { return *read().sample.link; }

  std::optional<IbPortReader> port_;
};

/// In another network namespace than this one: its netdev is not visible.
struct IbStateOfAPod : IbState {
  IbStateOfAPod() : IbState(Nic{.netdev = ""}) {}
};

TEST_F(IbStateOfAPod, TheCarrierIsTheDriversState) {
  EXPECT_EQ(link().carrier, true);
  put("state", "1: DOWN");
  put("phys_state", "3: Disabled");
  EXPECT_EQ(link().carrier, false);
  EXPECT_EQ(link().admin_up, std::nullopt) << "it may be administratively down or not";
  fake_.set_error(nic_.port_dir() + "/phys_state", EIO);
  EXPECT_EQ(link().carrier, false);
  put("state", "4: ACTIVE");
  EXPECT_EQ(link().carrier, true);
  fake_.set_error(nic_.port_dir() + "/state", EIO);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(link().carrier, std::nullopt);
}

/// A virtual function's state, or efa's, is no cable's.
TEST_F(IbStateOfAPod, AnExemptPortHasNoCarrier) {
  InventoryPort port = take_inventory(fake_).ports.at(0);
  port.exempt_reason = "virtual function of 0000:1b:00.0";
  Reading seen;
  EXPECT_EQ(IbPortReader::open(host_, port)->read_state(seen.sample, seen.gaps), ReadStatus::kOk);
  EXPECT_EQ(seen.sample.link->carrier, std::nullopt);
}

TEST(IbStateParse, States) {
  EXPECT_EQ(parse_state("4: ACTIVE"), "ACTIVE");
  EXPECT_EQ(parse_state("4: PortConfigurationTraining"), "PortConfigurationTraining");
  for (const char* bad : {"", "ACTIVE", "4:", "4: ", "x: ACTIVE", "7: <unknown>", "N/A (no PMA)"})
    EXPECT_FALSE(parse_state(bad)) << bad;
}

/// The kernel prints Omni-Path's two further states as unknown.
TEST(IbStateParse, PhysicalStatesOfOmniPath) {
  EXPECT_EQ(parse_phys_state("9: <unknown>"), "Offline");
  EXPECT_EQ(parse_phys_state("11: <unknown>"), "Test");
  EXPECT_EQ(parse_phys_state("5: LinkUp"), "LinkUp");
  EXPECT_EQ(parse_phys_state("2: Polling"), "Polling");
  EXPECT_FALSE(parse_phys_state("10: <unknown>"));
  EXPECT_FALSE(has_link(*parse_phys_state("9: <unknown>")));
}

TEST(IbStateParse, Rates) {
  struct {
    const char* text;
    std::uint32_t speed_mbps, lanes;
  } const rows[] = {{"400 Gb/sec (4X NDR)", 400000, 4}, {"2.5 Gb/sec (1X SDR)", 2500, 1},
                    {"25 Gb/sec (1X EDR)", 25000, 1},   {"10 Gb/sec (4X)", 10000, 4},
                    {"200 Gb/sec (2X NDR)", 200000, 2}, {"56 Gb/sec (4X FDR)", 56000, 4},
                    {"800 Gb/sec (4X XDR)", 800000, 4}};
  for (const auto& row : rows) {
    const auto rate = parse_rate(row.text);
    ASSERT_TRUE(rate) << row.text;
    EXPECT_EQ(rate->speed_mbps, row.speed_mbps) << row.text;
    EXPECT_EQ(rate->lanes, row.lanes) << row.text;
  }
  for (const char* bad :
       {"", "400", "400 Gb/sec", "400 Gb/sec (", "400 Gb/sec (X)", "400 Gb/sec (4X NDR",
        "-1 Gb/sec (4X)", "0 Gb/sec (4X)", "400 Gb/sec (0X)", "nan Gb/sec (4X)",
        "1e300 Gb/sec (4X)", "400 Gb/sec (4)x"})
    EXPECT_FALSE(parse_rate(bad)) << bad;
}

TEST_F(IbState, ARateIsReadOnlyWhereTheSpeedIsUnknown) {
  put("rate", "200 Gb/sec (2X NDR)");
  EXPECT_EQ(link().speed_mbps, 200000U);
  host_.fail("*/rate", EIO, 1);
  EXPECT_EQ(read().gaps.size(), 1U);
  const Reading known = read(100000U);
  EXPECT_EQ(known.sample.link->speed_mbps, 100000U);
  EXPECT_TRUE(known.gaps.empty()) << "a rate that is not needed is not missing";
  EXPECT_EQ(host_.reads("*/rate"), 2U);
  EXPECT_EQ(link().speed_mbps, 200000U) << "at once, when it is needed again";
  put("phys_state", "2: Polling");
  EXPECT_FALSE(link().speed_mbps);
  EXPECT_EQ(host_.reads("*/rate"), 3U);
}

struct IbStateOfInfiniBand : IbState {
  IbStateOfInfiniBand() : IbState(Nic{.netdev = "", .link_layer = "InfiniBand"}) {}
};

TEST_F(IbStateOfInfiniBand, CarrierIsThePhysicalState) {
  EXPECT_EQ(link().carrier, true);
  put("phys_state", "6: LinkErrorRecovery");
  EXPECT_EQ(link().phys_state, "LinkErrorRecovery");
  EXPECT_EQ(link().carrier, true) << "a link that recovers from errors is not down";
  EXPECT_EQ(link().speed_mbps, 400000U);
  put("state", "1: DOWN");
  put("phys_state", "2: Polling");
  put("rate", "10 Gb/sec (4X SDR)");
  EXPECT_EQ(link().carrier, false);
  EXPECT_FALSE(link().speed_mbps) << "the rate of a link that trains means nothing";
}

}  // namespace
}  // namespace linkhealth
