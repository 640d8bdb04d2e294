// Intervals of counters and the bit error ratio.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/model/history/one_port.h"

namespace linkhealth {
namespace {

struct Counted : OnePort {
  [[nodiscard]] const auto& intervals() const { return port().counters.intervals; }
  [[nodiscard]] double newest(Indicator indicator) const {
    return intervals().back().increase(indicator);
  }
  /// Of all intervals.
  [[nodiscard]] double sum(Indicator indicator) const {
    double total = 0;
    for (const Interval& interval : intervals())
      if (const double value = interval.increase(indicator); !std::isnan(value)) total += value;
    return total;
  }
  /// One tick with nothing but these counters.
  void read(std::initializer_list<std::pair<std::string_view, std::uint64_t>> values) {
    feed.bits_per_s = 0;
    feed.counters = Counters();
    for (const auto& [name, value] : values) feed.counters.set(name, value);
    run(1);
  }
};

TEST(CounterHistory, TheErrorRatioIsTheIncreaseOverTheLineRate) {
  Counted bits;
  bits.run(12);
  EXPECT_TRUE(bits.intervals().back().clean);
  EXPECT_NEAR(bits.intervals().back().ber, 4000 / 425e9, 1e-12);
  Counted blocks;  // of a driver that counts only those
  for (const std::uint64_t count : {1000U, 41000U, 81000U})
    blocks.read({{"fec_corrected_blocks", count}});
  EXPECT_NEAR(blocks.intervals().back().ber, 4000 / 425e9, 1e-10);
}

TEST(CounterHistory, IsBounded) {
  Counted port;
  port.feed.period_s = 1;
  port.run(5000);
  EXPECT_LE(port.intervals().size(), 512U);
}

TEST(CounterHistory, AResetOfOneSourceDoesNotAffectAnother) {
  Counted port;
  port.feed.counters.set("symbol_error", 3);
  port.run(5);
  port.feed.counters.set("port_rcv_data", 5);
  port.feed.add("symbol_error", 40);
  port.feed.add("fec_uncorrectable_blocks", 100000);
  port.run(1);
  EXPECT_TRUE(std::isnan(port.newest(Indicator::kSymbolErrors)));
  EXPECT_TRUE(std::isnan(port.newest(Indicator::kTxOctets)));
  EXPECT_EQ(port.newest(Indicator::kUncorrectableBlocks), 100000);
  port.run(1);
  EXPECT_TRUE(std::isnan(port.newest(Indicator::kSymbolErrors))) << "the new start";
  port.run(1);
  EXPECT_EQ(port.newest(Indicator::kSymbolErrors), 0);
}

TEST(CounterHistory, ADeviceThatWasAddedAgainCountsFromItsFirstReading) {
  Counted port;
  port.read({{"port_rcv_data", 1000}, {"symbol_error", 3}});
  port.read({{"port_rcv_data", 2000}, {"symbol_error", 3}});
  port.feed.event(PortEventKind::kDeviceGone, port.feed.t);
  port.feed.event(PortEventKind::kDeviceAdded, port.feed.t);
  port.read({{"port_rcv_data", 9000}, {"symbol_error", 60}});  // since the driver was loaded
  port.read({{"port_rcv_data", 9500}, {"symbol_error", 62}});
  EXPECT_EQ(port.sum(Indicator::kSymbolErrors), 2);
}

/// The newest interval's errors of lane 1, after a reading of four lanes like this one.
double lane_errors(Counted& port, const FecLane& lane) {
  port.feed.bits_per_s = 0;
  port.feed.fec_lanes.assign(4, lane);
  port.run(1);
  const bool known = !port.intervals().empty() && !port.intervals().back().lane_bits.empty();
  return known ? port.intervals().back().lane_bits[0] : kUnknownValue;
}

TEST(CounterHistory, LanesCountFromReadingToReading) {
  Counted port;
  const auto bits = [&port](std::uint64_t count) { return lane_errors(port, {count, {}, {}}); };
  bits(1000);
  EXPECT_EQ(bits(1004), 4);
  EXPECT_FALSE(bits(0) > 0);
  EXPECT_FALSE(bits(1008) > 0) << "the reading between was wrong, or this is the new start";
  EXPECT_EQ(bits(1010), 2);
}

TEST(CounterHistory, BlocksOfLanesAreNotComparedWithBits) {
  Counted port;
  lane_errors(port, {{}, 10, {}});
  EXPECT_EQ(lane_errors(port, {{}, 14, {}}), 4);
  EXPECT_TRUE(std::isnan(lane_errors(port, {5'000'000'000, {}, {}})));
  EXPECT_EQ(lane_errors(port, {5'000'000'007, {}, {}}), 7);
}

/// Old recordings have counters that are read each minute.
TEST(CounterHistory, ARareReadingIsSpreadWhereItIsARateAndDamageCountsWhole) {
  Counted port;
  for (std::uint64_t minute = 0; minute < 4; ++minute) {
    for (int i = 0; i < 5; ++i) port.read({{"fec_uncorrectable_blocks", 0}});
    port.read({{"fec_uncorrectable_blocks", 0},
               {"port_rcv_data", 60'000'000 * minute},
               {"symbol_error", 60 * minute}});
  }
  EXPECT_TRUE(std::isnan(port.intervals()[0].increase(Indicator::kRxOctets)))
      << "before its first reading it is unknown, not zero";
  for (std::size_t i = 5; i < 23; ++i) {
    EXPECT_NEAR(port.intervals()[i].increase(Indicator::kRxOctets), 4 * 1e7, 1e5) << i;
    EXPECT_LT(port.intervals()[i].utilization(), 0.001);
  }
  EXPECT_EQ(port.newest(Indicator::kSymbolErrors), 60);
  EXPECT_EQ(port.sum(Indicator::kSymbolErrors), 180);
  port.read({{"fec_uncorrectable_blocks", 0}});
  EXPECT_TRUE(std::isnan(port.newest(Indicator::kRxOctets))) << "not read since";
}

TEST(CounterHistory, WithoutAFecModeTheLanesAndTheCountersShowIt) {
  struct Row {
    std::uint32_t speed_mbps, lanes;
    const char* reported;
    bool corrects;
    const char* fec;
  };
  constexpr Row kRows[] = {
      {400000, 4, "", false, "RS544"},  {100000, 2, "", false, "RS544"},
      {100000, 4, "", true, "RS528"},   {25000, 1, "", false, ""},  // it may run without
      {25000, 1, "RS", false, "RS528"}, {100000, 4, "Off", true, "Off"},
  };
  for (const Row& row : kRows) {
    Counted port;
    port.feed.link.speed_mbps = row.speed_mbps;
    port.feed.link.lanes = row.lanes;
    port.feed.link.fec = row.reported;
    port.feed.bits_per_s = row.corrects ? 100 : 0;
    port.run(4);
    EXPECT_EQ(port.port().fec(), row.fec) << row.speed_mbps << " " << row.reported;
  }
}

}  // namespace
}  // namespace linkhealth
