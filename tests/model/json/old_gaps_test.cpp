// Old recordings: states of sources from gaps.
#include <gtest/gtest.h>

#include <vector>

#include "model/history/history.h"
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

TEST(OldGaps, AGapOfAnEventSourceEndsWithItsReports) {
  History history;
  Feed feed;
  observe(history, feed, "verbs_events");
  observe(history, feed, "verbs_events");
  EXPECT_TRUE(is_blind(history, "verbs_events"));
  observe(history, feed, nullptr);
  EXPECT_FALSE(is_blind(history, "verbs_events"))
      << "a device that was slow to open is not blind for an hour";
}

TEST(OldGaps, AGapOfARareReadLasts) {
  History history;
  Feed feed;
  observe(history, feed, "fec");
  observe(history, feed, nullptr);
  EXPECT_TRUE(is_blind(history, "fec"));
}

TEST(OldGaps, AGapThatIsNotRepeatedEndsAfterAnHour) {
  History history;
  Feed feed;
  observe(history, feed, "fec");
  feed.gaps.clear();
  for (const double end = feed.t + 600; feed.t < end;) history.observe(feed.tick());
  EXPECT_TRUE(is_blind(history, "fec")) << "it is read again only now and then";
  for (const double end = feed.t + 7200; feed.t < end;) history.observe(feed.tick());
  EXPECT_FALSE(is_blind(history, "fec"));
}

TEST(OldGaps, AnEndedGapIsOk) {
  History history;
  Feed feed;
  observe(history, feed, "fec");
  feed.gaps_ended = {{"mlx5_0/1", "fec", ""}, {"nobody/1", "fec", ""}, {"mlx5_0/1", "pause", ""}};
  observe(history, feed, nullptr);
  EXPECT_FALSE(is_blind(history, "fec"));
}

TEST(OldGaps, AGapOfSensorsEndsWithAReading) {
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

TEST(OldGaps, AGapOfTheWholeNodeEndsForAllPorts) {
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
  EXPECT_TRUE(is_blind(history, "netdev_stats")) << "a gap of the port itself";
}

TEST(OldGaps, CountersOfTheInterfaceDoNotEndAGapOfVerbsCounters) {
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
  EXPECT_EQ(status_of(history, "counters")->reason, "EIO") << "the other part is still missing";
}

TEST(OldGaps, AFileThatFailsIsAPartUntilNothingElseIsRead) {
  History history;
  Feed feed;
  feed.bits_per_s = 0;  // no counter but the one of this test
  feed.gaps = {{"mlx5_0/1", "counters", "symbol_error: EINVAL"}};
  const auto is_blind_after_turn = [&](bool with_others) {
    feed.counters = {};
    if (with_others) feed.counters.set("link_downed", 1);
    history.observe(feed.tick());
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

}  // namespace
}  // namespace linkhealth
