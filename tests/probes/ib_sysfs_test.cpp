#include "probes/ib_sysfs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/probes/sysfs_tree.h"

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

Reading read(IbPortReader& reader, IbGroup group) {
  Reading reading;
  reading.status = reader.read(group, reading.sample, reading.gaps);
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
  const auto pma = read(port, IbGroup::kPma);
  EXPECT_FALSE(pma.sample.counters->get("symbol_error"));
  EXPECT_FALSE(pma.sample.counters->get("link_downed"));
  EXPECT_EQ(pma.sample.counters->get("port_xmit_data"), 5U);
  EXPECT_TRUE(pma.gaps.empty());
}

TEST_F(IbSysfs, ReadsTheGroupsSeparately) {
  auto port = reader();
  const auto state = read(port, IbGroup::kState);
  ASSERT_TRUE(state.sample.link);
  EXPECT_EQ(state.sample.link->state, "ACTIVE");
  EXPECT_EQ(state.sample.link->phys_state, "LinkUp");
  EXPECT_EQ(state.sample.link->speed_mbps, 400000U);
  EXPECT_EQ(state.sample.link->lanes, 4U);
  EXPECT_FALSE(state.sample.link->carrier) << "an Ethernet port's carrier is the netdev's business";
  EXPECT_FALSE(state.sample.counters);
  EXPECT_EQ(host_.reads("*/counters/*"), 0U) << "the state costs no firmware command";

  const auto pma = read(port, IbGroup::kPma);
  EXPECT_EQ(pma.sample.counters->get("symbol_error"), 5U);
  EXPECT_EQ(pma.sample.counters->get("port_xmit_data"), 5U);
  EXPECT_EQ(port.costly_reads(), 5U);
  const auto hw = read(port, IbGroup::kHw);
  EXPECT_EQ(hw.sample.counters->get("out_of_sequence"), 9U);
  EXPECT_EQ(hw.sample.counters->get("some_new_counter"), 9U);
  EXPECT_FALSE(hw.sample.counters->get("lifespan"));
  EXPECT_TRUE(hw.gaps.empty());
}

TEST_F(IbSysfs, EveryWholeNumberIsRead) {
  auto port = reader();
  const std::pair<const char*, std::optional<std::uint64_t>> cases[] = {
      {"0\n", 0},
      {"007\n", 7},
      {"9999999999999999999\n", 9'999'999'999'999'999'999U},
      {"18446744073709551615\n", ~std::uint64_t{0}},
      {"5", 5},
      {" 6 \n", 6},
      {"18446744073709551616\n", std::nullopt},
      {"-1\n", std::nullopt},
      {"1 2\n", std::nullopt},
      {"\n", std::nullopt},
      {"8:/\n", std::nullopt},
  };
  for (const auto& [text, value] : cases) {
    fake_.set(counter("symbol_error"), text);
    EXPECT_EQ(read(port, IbGroup::kPma).sample.counters->get("symbol_error"), value) << text;
    fake_.set(counter("symbol_error"), "1\n");
    for (int i = 0; i < 3; ++i) read(port, IbGroup::kPma);  // a file that failed is left alone once
  }
}

TEST_F(IbSysfs, KeptFilesSeeNewValues) {
  auto port = reader();
  read(port, IbGroup::kPma);
  fake_.set(counter("symbol_error"), "6\n");
  EXPECT_EQ(read(port, IbGroup::kPma).sample.counters->get("symbol_error"), 6U);
}

TEST_F(IbSysfs, OddTextAndErrorsOfOneFileAreOneGapAndHideNothing) {
  host_.fail(counter("symbol_error"), EINVAL);
  host_.fail(counter("port_rcv_errors"), EINVAL);
  host_.replace(counter("VL15_dropped"), "N/A (no PMA)\n");
  auto port = reader();
  const auto pma = read(port, IbGroup::kPma);
  EXPECT_EQ(pma.status, ReadStatus::kOk);
  EXPECT_EQ(pma.sample.counters->get("link_downed"), 5U);
  EXPECT_FALSE(pma.sample.counters->get("symbol_error"));
  EXPECT_THAT(pma.gaps, ElementsAre(Gap{"mlx5_0/1", "counters",
                                        "VL15_dropped: text \"N/A (no PMA)\"; "
                                        "port_rcv_errors, symbol_error: EINVAL"}));
}

TEST_F(IbSysfs, EveryKindOfBadContentIsAbsentWithAReason) {
  for (const char* bad : {"N/A (no PMA)\n", "", "\n", "garbage\n", "-1\n", "18446744073709551616\n",
                          "5 5\n", "0x5\n", "\x1b[31m\n"}) {
    host_.heal();
    host_.replace(counter("symbol_error"), bad);
    auto port = reader();
    const auto pma = read(port, IbGroup::kPma);
    EXPECT_FALSE(pma.sample.counters->get("symbol_error")) << bad;
    EXPECT_EQ(pma.sample.counters->get("link_downed"), 5U) << bad;
    ASSERT_EQ(pma.gaps.size(), 1U) << bad;
    EXPECT_EQ(pma.gaps[0].reason.find('\x1b'), std::string::npos);
  }
}

TEST_F(IbSysfs, APortInSwitchModeLosesOnlyItself) {
  host_.fail("*/ports/1/*", EINVAL);
  auto port = reader();
  for (const IbGroup group : {IbGroup::kState, IbGroup::kPma, IbGroup::kHw}) {
    const auto reading = read(port, group);
    EXPECT_EQ(reading.status, ReadStatus::kOk);
    EXPECT_FALSE(reading.sample.link);
    EXPECT_FALSE(reading.sample.counters);
    EXPECT_EQ(reading.gaps.size(), 1U);
  }
}

TEST_F(IbSysfs, AFailingFileIsAskedLessAndLessOftenAndComesBack) {
  host_.fail(counter("symbol_error"), EOPNOTSUPP);
  auto port = reader();
  for (int cycle = 0; cycle < 256; ++cycle) {
    const auto pma = read(port, IbGroup::kPma);
    EXPECT_EQ(pma.gaps.size(), 1U) << "unknown stays unknown while the file is left alone";
    EXPECT_EQ(pma.sample.counters->get("link_downed"), 5U);
  }
  EXPECT_LE(host_.reads(counter("symbol_error")), 10U);
  EXPECT_EQ(host_.reads(counter("link_downed")), 256U);
  host_.heal();
  bool back = false;
  for (int cycle = 0; cycle < 64 && !back; ++cycle)
    back = read(port, IbGroup::kPma).sample.counters->get("symbol_error") == 5U;
  EXPECT_TRUE(back);
  EXPECT_TRUE(read(port, IbGroup::kPma).gaps.empty());
}

TEST_F(IbSysfs, UnplugAndReplugMeansRescan) {
  auto port = reader();
  for (const IbGroup group : {IbGroup::kState, IbGroup::kPma, IbGroup::kHw}) read(port, group);
  fake_.remove(nic_.pci_dir());
  add_nic(fake_, nic_);  // the same name again
  for (const IbGroup group : {IbGroup::kState, IbGroup::kPma, IbGroup::kHw}) {
    const auto reading = read(port, group);
    EXPECT_EQ(reading.status, ReadStatus::kGone);
    EXPECT_TRUE(reading.gaps.empty()) << "gone is not blind";
  }
  auto again = reader();
  EXPECT_EQ(read(again, IbGroup::kPma).sample.counters->get("symbol_error"), 5U);
}

TEST_F(IbSysfs, UnplugInTheMiddleOfAReadKeepsWhatWasRead) {
  auto port = reader();
  read(port, IbGroup::kState);
  host_.fail(counter("symbol_error"), ENODEV);
  EXPECT_EQ(read(port, IbGroup::kPma).status, ReadStatus::kOk)
      << "the device answers: only the file is odd";
  host_.fail("*/state", ENODEV);
  host_.heal();
  host_.fail("*", ENODEV);
  EXPECT_EQ(read(port, IbGroup::kPma).status, ReadStatus::kGone);
}

TEST_F(IbSysfs, ARenameIsFollowed) {
  auto port = reader();
  read(port, IbGroup::kPma);
  fake_.rename(nic_.pci_dir() + "/infiniband/mlx5_0", nic_.pci_dir() + "/infiniband/mlx5_9");
  EXPECT_EQ(read(port, IbGroup::kPma).sample.counters->get("symbol_error"), 5U);
}

TEST_F(IbSysfs, DirectoriesThatTheDriverDoesNotOfferAreAbsentNotGaps) {
  fake_.remove(nic_.port_dir() + "/counters");
  fake_.remove(nic_.port_dir() + "/hw_counters");
  auto inventory = take_inventory(fake_);
  inventory.ports.at(0).id.driver = "irdma";
  auto port = std::move(*IbPortReader::open(host_, inventory.ports.at(0)));
  for (const IbGroup group : {IbGroup::kPma, IbGroup::kHw}) {
    const auto seen = read(port, group);
    EXPECT_TRUE(seen.gaps.empty());
    EXPECT_FALSE(seen.sample.counters);
  }
}

// A /sys of which a part was not mounted: the kernel makes the directory for every port of these.
TEST_F(IbSysfs, WithoutTheDirectoryThatADriverAlwaysHasTheCountersAreAGap) {
  fake_.remove(nic_.port_dir() + "/counters");
  auto port = reader();
  const auto gaps = read(port, IbGroup::kPma).gaps;
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0], (Gap{"mlx5_0/1", "counters", "counters: ENOENT"}));
  EXPECT_TRUE(port.offers_counters());
}

TEST_F(IbSysfs, DirectoriesThatCannotBeReadAreGaps) {
  host_.fail_list("*counters", EACCES);
  auto port = reader();
  const auto gaps = read(port, IbGroup::kPma).gaps;
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].probe, "counters");
  EXPECT_TRUE(gaps[0].reason.starts_with("counters: ")) << gaps[0].reason;
  const auto hw_gaps = read(port, IbGroup::kHw).gaps;
  ASSERT_EQ(hw_gaps.size(), 1U);
  EXPECT_EQ(hw_gaps[0].probe, "hw_counters");
}

TEST_F(IbSysfs, ADirectoryThatCanBeReadAgainIsNoGap) {
  host_.fail_list("*counters", EMFILE);
  auto port = reader();
  ASSERT_EQ(read(port, IbGroup::kHw).gaps.size(), 1U);
  host_.heal();
  const auto healed = read(port, IbGroup::kHw);
  EXPECT_TRUE(healed.gaps.empty());
  EXPECT_TRUE(healed.sample.counters && !healed.sample.counters->empty());
}

TEST_F(IbSysfs, OpeningAPortThatIsGoneIsAnError) {
  const auto inventory = take_inventory(fake_);
  fake_.remove(nic_.pci_dir());
  EXPECT_EQ(IbPortReader::open(host_, inventory.ports.at(0)).error().errnum, ENOENT);
  EXPECT_EQ(IbPortReader::open(host_, InventoryPort{}).error().errnum, ENOENT);
}

TEST_F(IbSysfs, DescriptorsAreBoundedAndClosed) {
  {
    auto port = reader();
    for (int cycle = 0; cycle < 3; ++cycle)
      for (const IbGroup group : {IbGroup::kState, IbGroup::kPma, IbGroup::kHw}) read(port, group);
    EXPECT_EQ(fake_.open_files(), 3U + 5U + 2U);
  }
  EXPECT_EQ(fake_.open_files(), 0U);
}

TEST_F(IbSysfs, ReadsWithinABudgetAndErrorsMoreOften) {
  // node_exporter's infiniband collector reads these: each is a firmware command on mlx5.
  const char* const names[] = {"VL15_dropped",
                               "excessive_buffer_overrun_errors",
                               "link_downed",
                               "link_error_recovery",
                               "local_link_integrity_errors",
                               "multicast_rcv_packets",
                               "multicast_xmit_packets",
                               "port_rcv_constraint_errors",
                               "port_rcv_data",
                               "port_rcv_errors",
                               "port_rcv_packets",
                               "port_rcv_remote_physical_errors",
                               "port_rcv_switch_relay_errors",
                               "port_xmit_constraint_errors",
                               "port_xmit_data",
                               "port_xmit_discards",
                               "port_xmit_packets",
                               "port_xmit_wait",
                               "symbol_error",
                               "unicast_rcv_packets",
                               "unicast_xmit_packets"};
  for (const char* name : names) fake_.set(counter(name), "5\n");
  auto port = reader();
  const auto read_at = [&](int seconds) {
    Reading reading;
    reading.status =
        port.read_due(2, SteadyTime(std::chrono::seconds(seconds)), reading.sample, reading.gaps);
    return reading;
  };
  const Reading first = read_at(0);
  ASSERT_TRUE(first.sample.counters);
  for (const char* name : names)
    EXPECT_TRUE(find_counter(name) && first.sample.counters->get(name))
        << name << ": every counter has a first value";
  EXPECT_EQ(port.costly_reads(), std::size(names));
  constexpr int kCycles = 60;
  std::map<std::string, int> times;
  for (int cycle = 1; cycle <= kCycles; ++cycle) {
    const Reading next = read_at(cycle * 10);
    if (!next.sample.counters) continue;
    EXPECT_LE(next.sample.counters->size(), 2U);
    for (const char* name : names)
      if (next.sample.counters->get(name)) ++times[name];
  }
  EXPECT_LE(port.costly_reads() - std::size(names), 2U * kCycles) << "2 a cycle instead of 21";
  for (const char* name : names) EXPECT_GE(times[name], 2) << name << ": none starves";
  EXPECT_GT(times["symbol_error"], times["port_rcv_errors"]);
  EXPECT_GT(times["port_rcv_errors"], times["multicast_rcv_packets"]);
  EXPECT_TRUE(first.gaps.empty());
}

TEST_F(IbSysfs, OfTwoThatAreEquallyOverdueTheOneOfDamageComesFirst) {
  for (const char* name : {"port_rcv_data", "port_rcv_errors"}) fake_.set(counter(name), "5\n");
  auto port = reader();
  Reading first;
  port.read_due(1, SteadyTime(), first.sample, first.gaps);
  Reading next;
  port.read_due(3, SteadyTime(std::chrono::seconds(30)), next.sample, next.gaps);
  EXPECT_EQ(next.sample.counters->get("symbol_error"), 5U) << "the most overdue";
  EXPECT_EQ(next.sample.counters->get("port_rcv_errors"), 5U);
  EXPECT_FALSE(next.sample.counters->get("port_rcv_data"));
}

TEST_F(IbSysfs, ADirectoryThatCouldNotBeListedOnceIsListedAgain) {
  host_.fail_list("*counters", EMFILE);
  auto port = reader();
  Reading failed;
  port.read_due(2, SteadyTime(), failed.sample, failed.gaps);
  EXPECT_EQ(failed.gaps.size(), 1U);
  host_.heal();
  Reading healed;
  port.read_due(2, SteadyTime(std::chrono::seconds(10)), healed.sample, healed.gaps);
  EXPECT_TRUE(healed.gaps.empty());
  EXPECT_EQ(healed.sample.counters->get("symbol_error"), 5U);
}

TEST_F(IbSysfs, AfterHoursInSwitchModeTheCountersAreBackInMinutes) {
  const char* const names[] = {"symbol_error", "link_downed",
                               "VL15_dropped"};  // turns of 20, 30 and 120 s
  for (const char* name : names) {
    fake_.set(counter(name), "5\n");
    host_.fail(counter(name), EINVAL);
  }
  auto port = reader();
  std::map<std::string, int> back_s;
  bool said = true;
  constexpr int kHealed = 3 * 3600;
  for (int now = 0; now < kHealed + 1200; now += 10) {
    if (now == kHealed) host_.heal();
    Reading reading;
    reading.status =
        port.read_due(2, SteadyTime(std::chrono::seconds(now)), reading.sample, reading.gaps);
    for (const char* name : names)
      if (reading.sample.counters && reading.sample.counters->get(name))
        back_s.emplace(name, now - kHealed);
    said = !reading.gaps.empty();
  }
  for (const char* name : names) {
    ASSERT_TRUE(back_s.contains(name)) << name;
    EXPECT_LE(back_s[name], 600) << name;
  }
  EXPECT_FALSE(said);
}

TEST_F(IbSysfs, WhatFailsAmongErrorsAndAmongTrafficIsOneGap) {
  fake_.set(counter("port_rcv_data"), "5\n");
  host_.fail(counter("symbol_error"), EINVAL);
  host_.fail(counter("port_rcv_data"), EIO);
  for (const std::size_t budget : {0, 2}) {
    auto port = reader();
    Reading reading;
    port.read_due(budget, SteadyTime(), reading.sample, reading.gaps);
    EXPECT_THAT(reading.gaps, ElementsAre(Gap{"mlx5_0/1", "counters",
                                              "port_rcv_data: EIO; symbol_error: EINVAL"}));
  }
}

TEST_F(IbSysfs, WithoutABudgetEveryFileIsReadEachTime) {
  auto port = reader();
  Reading reading;
  port.read_due(0, SteadyTime(), reading.sample, reading.gaps);
  const auto all = port.costly_reads();
  port.read_due(0, SteadyTime(std::chrono::seconds(1)), reading.sample, reading.gaps);
  EXPECT_EQ(port.costly_reads(), 2 * all) << "whatever is due";
  EXPECT_GT(all, 0U);
}

}  // namespace
}  // namespace linkhealth
