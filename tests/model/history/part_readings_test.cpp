// What can't be read any more is not known.
#include <gtest/gtest.h>

#include "model/history/history.h"
#include "tests/diagnosis/feed.h"

namespace linkhealth {
namespace {

const PortHistory& port_of(const History& history) { return *history.find("mlx5_0/1"); }

void run(History& history, Feed& feed, int ticks) {
  for (int i = 0; i < ticks; ++i) history.observe(feed.tick());
}

/// A total that stands still looks like a link without errors.
TEST(PartReadings, OfCountersThatCannotBeReadForMinutesAreUnknown) {
  History history;
  Feed feed;
  history.observe(feed.tick());
  const auto known = [&](const char* name) {
    return history.find("mlx5_0/1")->latest.counters->get(name).has_value();
  };
  const auto blind = [&](double seconds) {
    for (const double end = feed.t + seconds; feed.t < end;) {
      Snapshot snapshot = feed.tick();
      snapshot.ports["mlx5_0/1"].counters.emplace().set("netdev_rx_bytes", 7);
      feed.convert(snapshot, {{"mlx5_0/1", "fec", "EIO"}});
      history.observe(snapshot);
    }
  };
  blind(290);
  EXPECT_TRUE(known("fec_uncorrectable_blocks"));
  blind(30);
  EXPECT_FALSE(known("fec_uncorrectable_blocks"));
  EXPECT_TRUE(known("netdev_rx_bytes")) << "another source";
  Snapshot snapshot = feed.tick();
  feed.convert(snapshot, {}, {{"mlx5_0/1", "fec", ""}});
  history.observe(snapshot);
  EXPECT_TRUE(known("fec_uncorrectable_blocks"));
}

TEST(PartReadings, OfStandardStatisticsAndOfOneFileAreUnknownToo) {
  History history;
  Feed feed;
  feed.link_layer = "InfiniBand";
  feed.counters.set("mac_FrameCheckSequenceErrors", 7);
  feed.counters.set("pause_rx_pause_frames", 9);
  feed.counters.set("symbol_error", 5);
  history.observe(feed.tick());
  const auto known = [&](const char* name) {
    return history.find("mlx5_0/1")->latest.counters->get(name).has_value();
  };
  for (const double end = feed.t + 1000; feed.t < end;) {
    Snapshot snapshot = feed.tick();
    Counters& now = snapshot.ports["mlx5_0/1"].counters.emplace();
    now.set("port_rcv_data", 7);
    now.set("pause_rx_pause_frames", 9);
    feed.convert(snapshot, {{"mlx5_0/1", "ethtool_stats", "EIO"},
                            {"mlx5_0/1", "counters", "symbol_error: text \"N/A\""}});
    history.observe(snapshot);
  }
  EXPECT_FALSE(known("mac_FrameCheckSequenceErrors"));
  EXPECT_TRUE(known("pause_rx_pause_frames")) << "another question";
  EXPECT_FALSE(known("symbol_error")) << "one file of many";
  EXPECT_TRUE(known("port_rcv_data"));
}

TEST(History, LanesThatCanNotBeReadAnyMoreAreNotKnown) {
  History history;
  Feed feed;
  feed.fec_lanes.assign(4, FecLane());
  for (FecLane& one : feed.fec_lanes) one.corrected_bits = 1;
  run(history, feed, 5);
  EXPECT_EQ(port_of(history).latest.fec_lanes.size(), 4U);
  feed.fec_lanes.clear();
  feed.bits_per_s = 0;
  run(history, feed, 60);
  EXPECT_EQ(port_of(history).latest.fec_lanes.size(), 4U)
      << "nothing failed: a driver may give them seldom";
  for (int i = 0; i < 40; ++i) {
    feed.gaps = {{feed.key, "fec", "EIO"}};
    run(history, feed, 1);
  }
  EXPECT_TRUE(port_of(history).latest.fec_lanes.empty())
      << "totals that stand still look like a link without errors";
}

/// It comes with the link's state (ETHTOOL_MSG_LINKSTATE_GET), not with the statistics.
TEST(History, TheCountOfTheLinksFallsEndsWithItsOwnSource) {
  for (const char* probe : {"down_reason", "ethtool_stats"}) {
    History history;
    Feed feed;
    feed.counters.set("link_ext_down_count", 7);
    run(history, feed, 5);
    Counters others;
    for (const auto& [id, value] : feed.counters.known())
      if (known_counters()[id].name != "link_ext_down_count") others.set(id, value);
    if (probe == std::string_view("down_reason")) feed.counters = others;
    feed.bits_per_s = 0;
    for (int i = 0; i < 40; ++i) {
      feed.gaps = {{feed.key, probe, "EIO"}};
      run(history, feed, 1);
    }
    const bool known = port_of(history).latest.counters->get("link_ext_down_count").has_value();
    EXPECT_EQ(known, probe == std::string_view("ethtool_stats")) << probe;
  }
}

}  // namespace
}  // namespace linkhealth
