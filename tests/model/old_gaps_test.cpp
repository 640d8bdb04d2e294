// Recordings of before: the states of sources that are made of gaps, and what they make unknown.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/history.h"
#include "tests/diagnosis/feed.h"

namespace linkhealth {
namespace {

void observe(History& history, Feed& feed, const char* source) {
  feed.gaps.clear();
  if (source != nullptr) feed.gaps.push_back({"mlx5_0/1", source, "the device does not answer"});
  history.observe(feed.tick());
}

const SourceStatus* status_of(const History& history, const char* source) {
  const auto& sources = history.find("mlx5_0/1")->latest.sources;
  if (!sources) return nullptr;
  const auto at = sources->find(*find_source(source));
  return at == sources->end() ? nullptr : &at->second;
}
bool is_blind(const History& history, const char* source) {
  return history.find("mlx5_0/1")->blind_to(*find_source(source)) != nullptr;
}

TEST(OldGaps, WhatAFeedSaysInEverySnapshotIsOverWhenItSaysItNoMore) {
  History history;
  Feed feed;
  observe(history, feed, "verbs_events");
  observe(history, feed, "verbs_events");
  EXPECT_TRUE(is_blind(history, "verbs_events"));
  observe(history, feed, nullptr);
  EXPECT_FALSE(is_blind(history, "verbs_events"))
      << "a device that was slow to open is not blind for an hour";
}

TEST(OldGaps, WhatIsTriedAgainLaterStandsMeanwhile) {
  History history;
  Feed feed;
  observe(history, feed, "fec");
  observe(history, feed, nullptr);
  EXPECT_TRUE(is_blind(history, "fec"));
}

TEST(OldGaps, WhatNobodyRepeatsForAnHourIsOver) {
  History history;
  Feed feed;
  observe(history, feed, "fec");
  feed.gaps.clear();
  for (const double end = feed.t + 600; feed.t < end;) history.observe(feed.tick());
  EXPECT_TRUE(is_blind(history, "fec")) << "it is read again only now and then";
  for (const double end = feed.t + 7200; feed.t < end;) history.observe(feed.tick());
  EXPECT_FALSE(is_blind(history, "fec"));
}

TEST(OldGaps, ASourceThatAnswersAgainIsOk) {
  History history;
  Feed feed;
  observe(history, feed, "fec");
  feed.gaps_ended = {{"mlx5_0/1", "fec", ""}, {"nobody/1", "fec", ""}, {"mlx5_0/1", "pause", ""}};
  observe(history, feed, nullptr);
  EXPECT_FALSE(is_blind(history, "fec"));
}

TEST(OldGaps, SensorsThatAnswerAgainAreOk) {
  History history;
  Feed feed;
  const auto read_pcie = [&](bool with_sensors) {
    Snapshot snapshot = feed.tick();
    snapshot.ports.begin()->second.pcie.emplace().width = 16;
    std::vector<Gap> gaps;
    if (!with_sensors) gaps.push_back({"mlx5_0/1", "hwmon", "temp1_input: EAGAIN"});
    feed.convert(snapshot, gaps);
    history.observe(snapshot);
  };
  read_pcie(false);
  read_pcie(false);
  ASSERT_TRUE(is_blind(history, "hwmon"));
  observe(history, feed, nullptr);
  EXPECT_TRUE(is_blind(history, "hwmon")) << "nothing of PCIe was read";
  read_pcie(true);
  EXPECT_FALSE(is_blind(history, "hwmon"));
}

TEST(OldGaps, WhatIsReadForTheWholeNodeIsReadAgainAlsoForAPortThatHasNoneOfIt) {
  History history;
  Feed feed;
  observe(history, feed, nullptr);
  const auto observe_node = [&](std::vector<Gap> gaps, std::vector<Gap> ended) {
    Snapshot snapshot = feed.tick();
    feed.convert(snapshot, std::move(gaps), std::move(ended));
    history.observe(snapshot);
  };
  for (const char* source : {"devlink", "netdev_stats"}) {
    observe_node({{"", source, "EBUSY"}}, {});
    EXPECT_TRUE(is_blind(history, source));
    observe_node({}, {{"", source, ""}});
    EXPECT_FALSE(is_blind(history, source));
  }
  observe_node({{"", "netdev_stats", "EBUSY"}}, {});
  observe_node({{"mlx5_0/1", "netdev_stats", "its interface is elsewhere"}}, {});
  observe_node({}, {{"", "netdev_stats", ""}});
  EXPECT_TRUE(is_blind(history, "netdev_stats"))
      << "that is of the port, and said by the search for ports";
}

TEST(OldGaps, CountersOfTheInterfaceDoNotEndTheBlindnessOfVerbs) {
  History history;
  Feed feed;
  observe(history, feed, nullptr);
  const auto blind_after = [&](const char* counter) {
    for (int i = 0; i < 30; ++i) {
      Snapshot snapshot = feed.tick();
      PortSample& port = snapshot.ports.begin()->second;
      port.counters.emplace().set(counter, static_cast<std::uint64_t>(i));
      feed.convert(snapshot, {{"mlx5_0/1", "counters", "EIO"}});
      history.observe(snapshot);
    }
    return is_blind(history, "counters");
  };
  EXPECT_TRUE(blind_after("netdev_rx_bytes"));
  EXPECT_FALSE(blind_after("symbol_error")) << "a part of them is read";
  EXPECT_EQ(status_of(history, "counters")->reason, "EIO") << "the other part is still said";
}

TEST(OldGaps, AFileThatFailsInATurnOfItsOwnIsAPartUntilNothingElseComes) {
  History history;
  Feed feed;
  const auto is_blind_after_turn = [&](bool with_others) {
    Snapshot snapshot = feed.tick();
    PortSample& port = snapshot.ports.begin()->second;
    port.counters.reset();
    if (with_others) port.counters.emplace().set("link_downed", 1);
    feed.convert(snapshot, {{"mlx5_0/1", "counters", "symbol_error: EINVAL"}});
    history.observe(snapshot);
    return is_blind(history, "counters");
  };
  for (int i = 0; i < 30; ++i)
    EXPECT_FALSE(is_blind_after_turn(i % 5 == 0)) << "between others it alone is due";
  is_blind_after_turn(true);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(is_blind_after_turn(false));
  EXPECT_TRUE(is_blind_after_turn(false)) << "for a minute nothing else came";
  EXPECT_EQ(status_of(history, "counters")->since, history.now()) << "from now on";
  EXPECT_FALSE(is_blind_after_turn(true));
}

/// What is still held of a port's counters after `port_gap` (of `where`, "" for the node) has stood
/// for six minutes, while everything else was read.
class HistoryTotals : public ::testing::Test {
 protected:
  void read_all_for_a_minute() {
    for (int i = 0; i < 6; ++i) step(kAll, nullptr, "");
  }
  void fail_for_six_minutes(const char* probe, const std::vector<std::string>& read,
                            const char* where = "mlx5_0/1") {
    read_all_for_a_minute();
    for (int i = 0; i < 36; ++i) step(read, probe, where);
  }
  [[nodiscard]] bool holds(const char* counter) const {
    return history.find("mlx5_0/1")->latest.counters->get(counter).has_value();
  }
  void step(const std::vector<std::string>& read, const char* probe, const char* where,
            const char* why = "EIO") {
    Snapshot snapshot = feed.tick();
    auto& counters = snapshot.ports.begin()->second.counters.emplace();
    for (const std::string& name : read) counters.set(name, 9);
    if (probe != nullptr) feed.convert(snapshot, {{where, probe, why}});
    history.observe(snapshot);
  }

  const std::vector<std::string> kAll = {
      "symbol_error",         "out_of_sequence",   "netdev_rx_crc_errors",
      "link_down_events_phy", "netdev_multicast",  "rmon_etherStatsPkts64Octets",
      "a_card_s_own",         "devlink_fw_errors", "fec_hist_0to0"};
  std::vector<std::string> all_but(const std::vector<std::string>& without) const {
    std::vector<std::string> rest;
    for (const std::string& name : kAll)
      if (std::find(without.begin(), without.end(), name) == without.end()) rest.push_back(name);
    return rest;
  }
  History history;
  Feed feed;
};

TEST_F(HistoryTotals, OfHwCountersEndThoughTheInterfaceHasCountersThatTheTableDoesNotKnow) {
  fail_for_six_minutes("hw_counters", all_but({"out_of_sequence", "a_card_s_own"}));
  EXPECT_FALSE(holds("out_of_sequence"));
  EXPECT_FALSE(holds("a_card_s_own"));
  for (const std::string& name : all_but({"out_of_sequence", "a_card_s_own"}))
    EXPECT_TRUE(holds(name.c_str())) << name;
}

TEST_F(HistoryTotals, OfADriverEndAlone) {
  fail_for_six_minutes("driver_stats", all_but({"link_down_events_phy"}));
  EXPECT_FALSE(holds("link_down_events_phy"));
  for (const std::string& name : all_but({"link_down_events_phy"}))
    EXPECT_TRUE(holds(name.c_str())) << name;
}

TEST_F(HistoryTotals, ThatTheTableDoesNotKnowEndWithTheirOwnSource) {
  fail_for_six_minutes("ethtool_stats", all_but({"rmon_etherStatsPkts64Octets"}));
  EXPECT_FALSE(holds("rmon_etherStatsPkts64Octets"));
  fail_for_six_minutes("fec", all_but({"fec_hist_0to0"}));
  EXPECT_FALSE(holds("fec_hist_0to0"));
  EXPECT_TRUE(holds("a_card_s_own"));
}

TEST_F(HistoryTotals, OfTheWholeNodeEndOnEachPort) {
  const std::vector<std::string> netdev = {"netdev_multicast", "netdev_rx_crc_errors"};
  fail_for_six_minutes("netdev_stats", all_but(netdev), "");
  for (const std::string& name : netdev) EXPECT_FALSE(holds(name.c_str())) << name;
  EXPECT_TRUE(holds("symbol_error"));
  read_all_for_a_minute();
  for (const std::string& name : netdev)
    EXPECT_TRUE(holds(name.c_str())) << "and they come back: " << name;
  EXPECT_FALSE(is_blind(history, "netdev_stats"));
  fail_for_six_minutes("devlink", all_but({"devlink_fw_errors"}), "");
  EXPECT_FALSE(holds("devlink_fw_errors"));
}

/// A port has one reader: while a read of it hangs, nothing else of it is read, and only that one
/// has a gap.
TEST_F(HistoryTotals, OfAPortOfWhichAReadHangsEndAll) {
  const std::vector<std::string> of_node = {"netdev_rx_crc_errors", "netdev_multicast",
                                            "devlink_fw_errors"};
  for (const char* probe : {"ethtool", "counters", "driver_stats", "pcie"}) {
    read_all_for_a_minute();
    for (int i = 0; i < 36; ++i) step(of_node, probe, "mlx5_0/1", "no answer within 5 s");
    for (const std::string& name : kAll)
      EXPECT_EQ(holds(name.c_str()), std::ranges::find(of_node, name) != of_node.end())
          << probe << ", " << name;
    feed.gaps_ended = {{"mlx5_0/1", probe, ""}};
    history.observe(feed.tick());
    EXPECT_FALSE(is_blind(history, probe));
  }
}

/// Without its family of requests nothing is asked through ethtool.
TEST_F(HistoryTotals, OfEthtoolEndWithoutItsFamilyAndOthersStand) {
  const std::vector<std::string> by_ethtool = {"rmon_etherStatsPkts64Octets", "fec_hist_0to0"};
  fail_for_six_minutes("ethtool", all_but(by_ethtool));
  for (const std::string& name : kAll)
    EXPECT_NE(holds(name.c_str()), std::ranges::find(by_ethtool, name) != by_ethtool.end()) << name;
}

TEST_F(HistoryTotals, OfHwCountersStandWhereTheOtherDirectoryIsRefused) {
  fail_for_six_minutes("counters", all_but({"symbol_error"}));
  EXPECT_FALSE(holds("symbol_error"));
  EXPECT_TRUE(holds("out_of_sequence"));
}

/// A fall makes the meter forget what its source said before. Files that take turns come back one
/// by one.
TEST_F(HistoryTotals, OfFilesThatTakeTurnsStandThoughOneOfThemFell) {
  const std::vector<std::string> kFiles = {"symbol_error", "link_downed", "port_rcv_errors"};
  for (int i = 0; i < 120; ++i) step(kFiles, "counters", "mlx5_0/1", "VL15_dropped: EINVAL");
  Snapshot snapshot = feed.tick();
  snapshot.ports.begin()->second.counters.emplace().set("symbol_error", 2);
  feed.convert(snapshot, {{"mlx5_0/1", "counters", "VL15_dropped: EINVAL"}});
  history.observe(snapshot);
  for (const std::string& name : kFiles) EXPECT_TRUE(holds(name.c_str())) << name;
}

/// A port without counters/ whose read hung once: what is read of it since is not old, whatever
/// still says so.
TEST_F(HistoryTotals, ThatAreReadStandThoughTheGapOfAnotherDoes) {
  for (int i = 0; i < 60; ++i)
    step({"out_of_sequence"}, i == 10 ? "counters" : nullptr, "mlx5_0/1", "no answer within 5 s");
  ASSERT_TRUE(is_blind(history, "counters"));
  EXPECT_TRUE(holds("out_of_sequence"));
}

/// Its source begins anew again and again, and its file is never read.
TEST_F(HistoryTotals, OfAFileThatFailsEndThoughItsSourceBeginsAnew) {
  const auto turn = [this](std::uint64_t value, bool with_all) {
    Snapshot snapshot = feed.tick();
    auto& counters = snapshot.ports.begin()->second.counters.emplace();
    counters.set("symbol_error", value);
    if (with_all) counters.set("link_downed", 1);
    if (!with_all) feed.convert(snapshot, {{"mlx5_0/1", "counters", "link_downed: EINVAL"}});
    history.observe(snapshot);
  };
  turn(50, true);
  for (int i = 0; i < 100; ++i) turn(i % 30 < 15 ? 40 : 3, false);
  EXPECT_TRUE(holds("symbol_error"));
  EXPECT_FALSE(holds("link_downed"));
}

TEST_F(HistoryTotals, OfOneFileOfHwCountersEndWhenTheyAreOld) {
  for (const char* name : {"out_of_sequence", "rx_icrc_encapsulated"})
    ASSERT_TRUE(find_counter(name));
  for (int i = 0; i < 6; ++i) step({"out_of_sequence", "rx_icrc_encapsulated"}, nullptr, "");
  for (int i = 0; i < 100; ++i) step({"out_of_sequence"}, "hw_counters", "mlx5_0/1");
  EXPECT_FALSE(holds("rx_icrc_encapsulated"));
  EXPECT_TRUE(holds("out_of_sequence"));
}

}  // namespace
}  // namespace linkhealth
