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
  explicit IbSysfs(const Nic& nic = {}) : nic_(nic) { add_nic(fake_, nic_); }

  IbPortReader reader() {
    const auto inventory = take_inventory(fake_);
    return std::move(*IbPortReader::open(host_, inventory.ports.at(0)));
  }
  std::string counter(const std::string& name) const {
    return nic_.port_dir() + "/counters/" + name;
  }

  Nic nic_;
  FakeHost fake_;
  FailingHost host_{fake_};
};

TEST_F(IbSysfs, FilesThatADriverFillsWronglyAreNotRead) {
  auto inventory = take_inventory(fake_);
  inventory.ports.at(0).id.driver = "bnxt_en";
  auto port = std::move(*IbPortReader::open(host_, inventory.ports.at(0)));
  const auto pma = read(port, kPma);
  EXPECT_FALSE(pma.sample.counters->get("symbol_error"));
  EXPECT_FALSE(pma.sample.counters->get("link_downed"));
  EXPECT_EQ(pma.sample.counters->get("port_xmit_data"), 5U);
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
  EXPECT_FALSE(state.sample.link->carrier) << "an Ethernet port's carrier is the netdev's business";
  EXPECT_FALSE(state.sample.counters);
  const auto pma = read(port, kPma);
  EXPECT_EQ(pma.sample.counters->get("symbol_error"), 5U);
  EXPECT_EQ(pma.sample.counters->get("port_xmit_data"), 5U);
  const auto hw = read(port, kHw);
  EXPECT_EQ(hw.sample.counters->get("out_of_sequence"), 9U);
  EXPECT_EQ(hw.sample.counters->get("some_new_counter"), 9U);
  EXPECT_FALSE(hw.sample.counters->get("lifespan"));
  EXPECT_TRUE(hw.gaps.empty());
}

TEST_F(IbSysfs, OddTextAndErrorsOfOneFileAreOneGapAndHideNothing) {
  host_.fail(counter("symbol_error"), EINVAL);
  host_.fail(counter("port_rcv_errors"), EINVAL);
  host_.replace(counter("VL15_dropped"), "N/A (no PMA)\n");
  auto port = reader();
  const auto pma = read(port, kPma);
  EXPECT_EQ(pma.status, ReadStatus::kOk);
  EXPECT_EQ(pma.sample.counters->get("link_downed"), 5U);
  EXPECT_FALSE(pma.sample.counters->get("symbol_error"));
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
    EXPECT_FALSE(reading.sample.link);
    EXPECT_FALSE(reading.sample.counters);
    EXPECT_EQ(reading.gaps.size(), 1U);
  }
}

TEST_F(IbSysfs, UnplugAndReplugMeansRescan) {
  auto port = reader();
  for (const Group group : {kState, kPma, kHw}) read(port, group);
  fake_.remove(nic_.pci_dir());
  add_nic(fake_, nic_);  // the same name again
  for (const Group group : {kState, kPma, kHw}) {
    const auto reading = read(port, group);
    EXPECT_EQ(reading.status, ReadStatus::kGone);
    EXPECT_TRUE(reading.gaps.empty()) << "gone is not blind";
  }
  auto again = reader();
  EXPECT_EQ(read(again, kPma).sample.counters->get("symbol_error"), 5U);
}

TEST_F(IbSysfs, UnplugInTheMiddleOfAReadKeepsWhatWasRead) {
  auto port = reader();
  read(port, kState);
  host_.fail(counter("symbol_error"), ENODEV);
  EXPECT_EQ(read(port, kPma).status, ReadStatus::kOk) << "the device answers: only the file is odd";
  host_.fail("*/state", ENODEV);
  host_.heal();
  host_.fail("*", ENODEV);
  EXPECT_EQ(read(port, kPma).status, ReadStatus::kGone);
}

TEST_F(IbSysfs, ARenameIsFollowed) {
  auto port = reader();
  read(port, kPma);
  fake_.rename(nic_.pci_dir() + "/infiniband/mlx5_0", nic_.pci_dir() + "/infiniband/mlx5_9");
  EXPECT_EQ(read(port, kPma).sample.counters->get("symbol_error"), 5U);
}

TEST_F(IbSysfs, DirectoriesThatTheDriverDoesNotOfferAreAbsentNotGaps) {
  fake_.remove(nic_.port_dir() + "/counters");
  fake_.remove(nic_.port_dir() + "/hw_counters");
  auto inventory = take_inventory(fake_);
  inventory.ports.at(0).id.driver = "irdma";
  auto port = std::move(*IbPortReader::open(host_, inventory.ports.at(0)));
  for (const Group group : {kPma, kHw}) {
    const auto seen = read(port, group);
    EXPECT_TRUE(seen.gaps.empty());
    EXPECT_FALSE(seen.sample.counters);
  }
}

// A /sys of which a part was not mounted: the kernel makes the directory for every port of these.
TEST_F(IbSysfs, WithoutTheDirectoryThatADriverAlwaysHasTheCountersAreAGap) {
  fake_.remove(nic_.port_dir() + "/counters");
  auto port = reader();
  const auto gaps = read(port, kPma).gaps;
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0], (Gap{"mlx5_0/1", "counters", "counters: ENOENT"}));
}

TEST_F(IbSysfs, DirectoriesThatCannotBeReadAreGaps) {
  host_.fail_list("*counters", EACCES);
  auto port = reader();
  const auto gaps = read(port, kPma).gaps;
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].probe, "counters");
  EXPECT_TRUE(gaps[0].reason.starts_with("counters: ")) << gaps[0].reason;
  const auto hw_gaps = read(port, kHw).gaps;
  ASSERT_EQ(hw_gaps.size(), 1U);
  EXPECT_EQ(hw_gaps[0].probe, "hw_counters");
}

TEST_F(IbSysfs, ADirectoryThatCanBeReadAgainIsNoGap) {
  host_.fail_list("*counters", EMFILE);
  auto port = reader();
  ASSERT_EQ(read(port, kHw).gaps.size(), 1U);
  host_.heal();
  const auto healed = read(port, kHw);
  EXPECT_TRUE(healed.gaps.empty());
  EXPECT_TRUE(healed.sample.counters && !healed.sample.counters->empty());
}

TEST_F(IbSysfs, OpeningAPortThatIsGoneIsAnError) {
  const auto inventory = take_inventory(fake_);
  fake_.remove(nic_.pci_dir());
  EXPECT_EQ(IbPortReader::open(host_, inventory.ports.at(0)).error().errnum, ENOENT);
  EXPECT_EQ(IbPortReader::open(host_, InventoryPort{}).error().errnum, ENOENT);
}

}  // namespace
}  // namespace linkhealth
