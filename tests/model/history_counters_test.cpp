#include "model/history.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/diagnosis/feed.h"

namespace linkhealth {
namespace {

const PortHistory& port_of(const History& history) { return *history.find("mlx5_0/1"); }

void run(History& history, Feed& feed, int ticks) {
  for (int i = 0; i < ticks; ++i) history.observe(feed.tick());
}

TEST(History, BerIsTheIncreaseOverTheLineRate) {
  History history;
  Feed feed;
  run(history, feed, 12);
  ASSERT_FALSE(port_of(history).counters.intervals.empty());
  const Interval& last = port_of(history).counters.intervals.back();
  EXPECT_TRUE(last.clean);
  EXPECT_NEAR(last.ber, 4000 / 425e9, 1e-12);
}

TEST(History, BitsAreEstimatedFromBlocksWhereTheDriverCountsOnlyThose) {
  History history;
  Feed feed;
  feed.bits_per_s = 0;
  for (int i = 0; i < 3; ++i) {
    feed.counters = Counters();
    feed.counters.set("fec_corrected_blocks", static_cast<std::uint64_t>(1000 + i * 40000));
    history.observe(feed.tick());
  }
  EXPECT_NEAR(port_of(history).counters.intervals.back().ber, 4000 / 425e9, 1e-10);
}

TEST(History, ALinkThatRecoversFromErrorsHasNotFallen) {
  History history;
  Feed feed;
  feed.link.carrier.reset();
  feed.link.carrier_down_count.reset();
  run(history, feed, 5);
  feed.link.phys_state = "LinkErrorRecovery";
  run(history, feed, 1);
  EXPECT_EQ(port_of(history).carrier.up, true);
  EXPECT_EQ(port_of(history).carrier.unplanned_total, 0U)
      << "a recovery that fails downs it, and is counted then";
}

TEST(History, ACounterThatGoesDownRebasesThoseOfItsSourceAndNoOther) {
  History history;
  Feed feed;
  feed.counters.set("symbol_error", 3);
  run(history, feed, 5);
  feed.counters.set("port_rcv_data", 5);
  feed.add("symbol_error", 40);
  feed.add("fec_uncorrectable_blocks", 100000);
  run(history, feed, 1);
  EXPECT_TRUE(
      std::isnan(port_of(history).counters.intervals.back().increase(Indicator::kSymbolErrors)));
  EXPECT_TRUE(
      std::isnan(port_of(history).counters.intervals.back().increase(Indicator::kTxOctets)));
  EXPECT_EQ(port_of(history).counters.intervals.back().increase(Indicator::kUncorrectableBlocks),
            100000);
  run(history, feed, 1);
  EXPECT_TRUE(
      std::isnan(port_of(history).counters.intervals.back().increase(Indicator::kSymbolErrors)))
      << "the reading after a decrease is the new start";
  run(history, feed, 1);
  EXPECT_EQ(port_of(history).counters.intervals.back().increase(Indicator::kSymbolErrors), 0);
}

TEST(History, LinkDownedThatWasReadWronglyIsNoLoss) {
  History history;
  Feed feed;
  feed.be_infiniband();
  const auto losses = [&](std::uint64_t link_downed) {
    feed.counters.set("link_downed", link_downed);
    run(history, feed, 1);
    return port_of(history).carrier.unplanned_total;
  };
  for (int i = 0; i < 5; ++i) losses(3);
  EXPECT_EQ(losses(0), 0U);
  EXPECT_EQ(losses(3), 0U);
  EXPECT_EQ(losses(0), 0U);
  EXPECT_EQ(losses(1), 0U) << "the new start";
  EXPECT_EQ(losses(2), 1U);
}

TEST(History, ThePhysCountThatWasReadWronglyIsNoLoss) {
  History history;
  Feed feed;
  const auto losses = [&](std::uint64_t count) {
    feed.counters.set("link_down_events_phy", count);
    run(history, feed, 1);
    return port_of(history).carrier.unplanned_total;
  };
  for (int i = 0; i < 5; ++i) losses(30);
  losses(0);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(losses(30), 0U);
}

TEST(History, LanesOfAWrongReadingCountNothing) {
  History history;
  Feed feed;
  feed.bits_per_s = 0;
  const auto bits = [&](std::uint64_t lane) {
    feed.counters.set("fec_corrected_bits", 4 * lane);
    feed.fec_lanes.assign(4, FecLane());
    for (FecLane& one : feed.fec_lanes) one.corrected_bits = lane;
    run(history, feed, 1);
    const auto& intervals = port_of(history).counters.intervals;
    return intervals.empty() || intervals.back().lane_bits.empty()
               ? kUnknownValue
               : intervals.back().lane_bits.at(0);
  };
  bits(1000);
  EXPECT_EQ(bits(1004), 4);
  EXPECT_FALSE(bits(0) > 0);
  EXPECT_FALSE(bits(1008) > 0);
  EXPECT_EQ(bits(1010), 2);
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

TEST(History, LanesThatWereCountedInBlocksAreNotTakenFromBits) {
  History history;
  Feed feed;
  feed.bits_per_s = 0;
  feed.fec_lanes.assign(4, FecLane());
  const auto observe = [&](std::optional<std::uint64_t> bits, std::optional<std::uint64_t> blocks) {
    Snapshot snapshot = feed.tick();
    for (FecLane& lane : snapshot.ports.begin()->second.fec_lanes) {
      lane.corrected_bits = bits;
      lane.corrected_blocks = blocks;
    }
    history.observe(snapshot);
    return port_of(history).counters.intervals.empty()
               ? kUnknownValue
               : port_of(history).counters.intervals.back().lane_bits.at(0);
  };
  observe({}, 10);
  EXPECT_EQ(observe({}, 14), 4);
  EXPECT_TRUE(std::isnan(observe(5'000'000'000, {})));
  EXPECT_EQ(observe(5'000'000'007, {}), 7);
}

/// A port whose traffic counter is read each minute and whose error counter is read each ten
/// seconds.
struct SlowTraffic {
  Feed feed;
  History history;
  std::uint64_t octets = 0;
  explicit SlowTraffic() { feed.bits_per_s = 0; }
  void run_minutes(int minutes, std::uint64_t words_per_s) {
    for (int tick = 0; tick < minutes * 6; ++tick) {
      feed.counters = Counters();
      feed.counters.set("fec_uncorrectable_blocks", blocks);
      octets += words_per_s * 10;
      if (tick % 6 == 5) feed.counters.set("port_rcv_data", octets);
      history.observe(feed.tick());
    }
  }
  std::uint64_t blocks = 0;
};

TEST(History, ACounterThatIsReadSeldomGivesTheRateOfItsOwnTime) {
  SlowTraffic port;
  constexpr std::uint64_t kWordsPerS = 1'000'000;
  port.run_minutes(4, kWordsPerS);
  const auto& intervals = port_of(port.history).counters.intervals;
  const auto rate = [&intervals](std::size_t i) {
    return intervals[i].increase(Indicator::kRxOctets) / intervals[i].seconds();
  };
  EXPECT_TRUE(std::isnan(rate(0))) << "before its first reading it is unknown, not zero";
  for (std::size_t i = 5; i < 23; ++i) {
    EXPECT_NEAR(rate(i), 4.0 * kWordsPerS, 1e4)
        << i << ": not six times as much, and in each interval";
    EXPECT_LT(intervals[i].utilization(), 0.001);
  }
  port.feed.counters = Counters();
  port.feed.counters.set("fec_uncorrectable_blocks", port.blocks);
  port.history.observe(port.feed.tick());
  EXPECT_TRUE(std::isnan(intervals.back().increase(Indicator::kRxOctets))) << "not read since";
}

TEST(History, ANetdevAloneDoesNotTellTheLoadOfAPortThatCountsItsOwn) {
  History history;
  Feed feed;
  std::uint64_t words = 0;
  const auto observe = [&](int ticks, bool counts_its_own) {
    for (int tick = 0; tick < ticks; ++tick) {
      feed.counters = Counters();
      feed.counters.set("netdev_tx_bytes", 5000 + static_cast<std::uint64_t>(feed.t));
      words += 62'500'000'000;
      if (counts_its_own && tick % 6 == 5) feed.counters.set("port_xmit_data", words);
      history.observe(feed.tick());
    }
  };
  const auto& intervals = [&history]() -> const auto& {
    return port_of(history).counters.intervals;
  };
  observe(3, false);
  EXPECT_LT(intervals().back().utilization(), 0.001) << "nothing else is there";
  observe(12, true);
  EXPECT_NEAR(intervals().back().utilization(), 0.47, 0.02);
  EXPECT_NEAR(intervals()[intervals().size() - 5].utilization(), 0.47, 0.02) << "told late";
}

TEST(History, DamageThatIsReadSeldomCountsWhole) {
  History history;
  Feed feed;
  for (int tick = 0; tick < 14; ++tick) {
    feed.counters = Counters();
    feed.counters.set("fec_corrected_bits", static_cast<std::uint64_t>(1000 + tick));
    if (tick == 1) feed.counters.set("symbol_error", 0);
    if (tick == 7) feed.counters.set("symbol_error", 60);
    history.observe(feed.tick());
  }
  double errors = 0;
  for (const Interval& interval : port_of(history).counters.intervals)
    if (!std::isnan(interval.increase(Indicator::kSymbolErrors)))
      errors += interval.increase(Indicator::kSymbolErrors);
  EXPECT_EQ(errors, 60);
}

TEST(History, AfterAResetNothingIsComparedWithBefore) {
  History history;
  Feed feed;
  const auto tick = [&](std::uint64_t data, std::optional<std::uint64_t> symbols) {
    feed.counters = Counters();
    feed.counters.set("port_rcv_data", data);
    if (symbols) feed.counters.set("symbol_error", *symbols);
    history.observe(feed.tick());
  };
  tick(1000, 50);
  tick(2000, {});
  tick(10, {});    // the driver was reloaded
  tick(1010, 70);  // 70 since the reload; not 20 since the last reading
  tick(2010, 71);
  double errors = 0;
  for (const Interval& interval : port_of(history).counters.intervals)
    if (!std::isnan(interval.increase(Indicator::kSymbolErrors)))
      errors += interval.increase(Indicator::kSymbolErrors);
  EXPECT_EQ(errors, 1);
}

TEST(History, AfterTheDeviceCameBackCountersThatRestartedAreNotComparedEvenWhenTheyAreHigher) {
  History history;
  Feed feed;
  const auto tick = [&](std::uint64_t data, std::uint64_t symbols) {
    feed.counters = Counters();
    feed.counters.set("port_rcv_data", data);
    feed.counters.set("symbol_error", symbols);
    history.observe(feed.tick());
  };
  tick(1000, 3);
  tick(2000, 3);
  feed.event(PortEventKind::kDeviceGone, feed.t);
  feed.event(PortEventKind::kDeviceAdded, feed.t);
  tick(9000, 60);  // since the driver was loaded: training errors, say
  tick(9500, 62);
  double errors = 0;
  for (const Interval& interval : port_of(history).counters.intervals)
    if (!std::isnan(interval.increase(Indicator::kSymbolErrors)))
      errors += interval.increase(Indicator::kSymbolErrors);
  EXPECT_EQ(errors, 2);
}

// InfiniBand's agent counts no corrected bits, and an idle port no data.
TEST(HistoryCounters, ACardWhoseFirmwareAnswersIsAliveThoughItsPortIsIdle) {
  for (const bool answers : {true, false}) {
    History history;
    Feed feed;
    feed.be_infiniband();
    feed.bits_per_s = 0;
    feed.counters = Counters();
    feed.counters.set(answers ? "symbol_error" : "netdev_rx_packets", 1000);
    history.observe(feed.tick());
    feed.event(PortEventKind::kDeviceFatal, feed.t + 1);
    for (int i = 0; i < 50; ++i) history.observe(feed.tick());
    EXPECT_TRUE(history.find("mlx5_0/1")->device.fatal_at) << "for ten minutes anything may be";
    for (int i = 0; i < 50; ++i) history.observe(feed.tick());
    EXPECT_EQ(history.find("mlx5_0/1")->device.fatal_at.has_value(), !answers);
  }
}

}  // namespace
}  // namespace linkhealth
