#include "model/history/signal_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace linkhealth {
namespace {

using testing::DoubleNear;
using testing::IsEmpty;
using testing::SizeIs;
using enum Signal;

constexpr std::int64_t kStart_s = 1'763'640'000;  // a whole number of 600 s

LinkSample link(bool carrier, std::optional<std::uint32_t> speed_mbps = {},
                const std::string& fec = "") {
  LinkSample sample;
  sample.carrier = carrier;
  sample.speed_mbps = speed_mbps;
  sample.fec = fec;
  return sample;
}

/// Snapshots, second by second.
class SignalCollectorTest : public testing::Test {
 protected:
  PortSample& sample() {
    PortSample& port = snapshot_.ports["mlx5_0/1"];
    port.id.device = "mlx5_0";
    port.id.pci = "0000:1b:00.0";
    return port;
  }
  std::vector<SignalRow> at(int second) {
    snapshot_.taken_at = SteadyTime(std::chrono::seconds(100 + second));
    snapshot_.wall_time = WallTime(std::chrono::seconds(kStart_s + second));
    report_.ports.resize(1);
    report_.ports[0].port = "mlx5_0/1";
    auto rows = collector_.add(snapshot_, report_);
    snapshot_.ports.clear();
    return rows;
  }
  void counters(std::uint64_t uncorrectable, std::uint64_t corrected_bits) {
    sample().counters.emplace();
    sample().counters->set("fec_uncorrectable_blocks", uncorrectable);
    sample().counters->set("fec_corrected_bits", corrected_bits);
  }

  Snapshot snapshot_;
  Report report_;
  SignalCollector collector_;
};

TEST_F(SignalCollectorTest, ACardThatWasAddedAgainCountsFromZero) {
  const auto read = [&](int second, std::uint64_t correctable, std::uint64_t blocks) {
    counters(blocks, 1000);
    sample().pcie.emplace();
    sample().pcie->aer_correctable = correctable;
    return at(second);
  };
  read(0, 3, 5);
  snapshot_.events = {{snapshot_.taken_at, "mlx5_0/1", PortEventKind::kDeviceAdded, ""}};
  read(1, 40, 4000);
  snapshot_.events.clear();
  read(2, 41, 4001);
  const auto rows = read(12, 41, 4001);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].values[kPcieErrors], 1);
  EXPECT_EQ(rows[0].values[kUncorrectableBlocks], 1);
}

TEST_F(SignalCollectorTest, AStepEndsWithTheFirstSnapshotOfTheNext) {
  sample().link = link(true, 400000);
  EXPECT_THAT(at(3), IsEmpty());
  sample().link = link(false);
  EXPECT_THAT(at(9), IsEmpty());
  sample().link = link(true);
  const auto rows = at(10);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].port, "0000:1b:00.0/1") << "the stable key";
  EXPECT_EQ(rows[0].at_s, kStart_s);
  EXPECT_EQ(rows[0].values[kCarrierUp], 0) << "down in some of it";
  EXPECT_EQ(rows[0].values[kSpeed], 400000);
  EXPECT_TRUE(std::isnan(rows[0].values[kTemperature])) << "never seen";
  const auto last = collector_.finish();
  ASSERT_THAT(last, SizeIs(1));
  EXPECT_EQ(last[0].values[kCarrierUp], 1);
}

TEST_F(SignalCollectorTest, AValueThatWasNotReadInAStepIsUnknown) {
  sample().module.emplace().temperature_c = 51;
  at(0);
  sample().link.emplace().carrier = true;
  at(10);
  const auto rows = at(20);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_TRUE(std::isnan(rows[0].values[kTemperature]))
      << "the report still has the last value; this step has none";
  EXPECT_THAT(at(30), IsEmpty()) << "nothing was seen";
}

TEST_F(SignalCollectorTest, CountersAreIncreasesAndTheFirstReadingHasNone) {
  counters(1000, 5'000'000);
  sample().link = link(true);
  at(0);
  counters(1002, 5'000'100);
  auto rows = at(10);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_TRUE(std::isnan(rows[0].values[kUncorrectableBlocks]))
      << "from nothing to 1000 is no increase";
  rows = at(20);
  EXPECT_EQ(rows.at(0).values[kUncorrectableBlocks], 2);
  counters(1, 10);
  sample().link = link(true);
  at(20);
  rows = at(30);
  EXPECT_TRUE(std::isnan(rows.at(0).values[kUncorrectableBlocks]))
      << "a reset is not an increase of any size";
  counters(2, 15);
  at(30);  // the new start
  counters(5, 25);
  at(40);
  EXPECT_EQ(at(50).at(0).values[kUncorrectableBlocks], 3);
}

TEST_F(SignalCollectorTest, TheErrorRatioIsThatOfTheStep) {
  report_.ports.resize(1);
  report_.ports[0].latest.link = link(true, 100000, "RS544");
  sample().link = link(true);
  counters(0, 0);
  at(0);
  counters(0, 1062);
  at(10);
  EXPECT_THAT(at(20).at(0).values[kPreFecBer], DoubleNear(1.0e-9, 1e-12));
}

TEST_F(SignalCollectorTest, UnevenReadingsMakeNoPeak) {
  report_.ports.resize(1);
  report_.ports[0].latest.link = link(true, 100000, "RS544");
  sample().link = link(true);
  counters(0, 0);
  at(0);
  std::vector<SignalRow> rows;
  // Each second 1062 bits. The reading of the sixth second came late, and the next one at its time.
  const auto milliseconds = [&](int ms, std::uint64_t bits) {
    sample().link = link(true);
    counters(0, bits);
    snapshot_.taken_at = SteadyTime(Milliseconds(100'000 + ms));
    snapshot_.wall_time = WallTime(Milliseconds(kStart_s * 1000 + ms));
    for (SignalRow& row : collector_.add(snapshot_, report_)) rows.push_back(row);
    snapshot_.ports.clear();
  };
  for (int second = 1; second <= 5; ++second)
    milliseconds(1000 * second, 1062U * static_cast<unsigned>(second));
  milliseconds(6990, 1062 * 6);
  milliseconds(7000, 1062 * 7);
  for (int second = 8; second <= 19; ++second)
    milliseconds(1000 * second, 1062U * static_cast<unsigned>(second));
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_THAT(rows[0].values[kPreFecBer], DoubleNear(1.0e-8, 0.3e-8));
}

TEST_F(SignalCollectorTest, ARareReadingIsARateOverItsWholeTime) {
  sample().link = link(true);
  counters(0, 0);
  sample().counters->set("port_rcv_data", 0);
  at(0);
  std::vector<SignalRow> rows;
  for (int second = 10; second <= 110; second += 10) {
    sample().link = link(true);
    counters(0, 0);
    if (second == 100)
      sample().counters->set("port_rcv_data",
                             100 * 250'000'000ULL);  // words of four octets: 8 Gb/s
    for (SignalRow& row : at(second)) rows.push_back(row);
  }
  double most = 0;
  for (const SignalRow& row : rows) most = std::fmax(most, row.values[kRxTraffic]);
  EXPECT_NEAR(most, 8000, 1);
}

TEST_F(SignalCollectorTest, EarlierCarrierLossesAreNotOfThisStep) {
  report_.ports.resize(1);
  report_.ports[0].figures.involuntary_downs_total =
      report_.ports[0].figures.involuntary_downs_told = 7;
  sample().link.emplace().carrier = true;
  at(0);
  report_.ports[0].figures.involuntary_downs_total =
      report_.ports[0].figures.involuntary_downs_told = 9;
  sample().link.emplace().carrier = true;
  EXPECT_EQ(at(10).at(0).values[kCarrierDowns], 0);
  EXPECT_EQ(collector_.finish().at(0).values[kCarrierDowns], 2);
}

TEST_F(SignalCollectorTest, HasTheWorstLaneAndEachLane) {
  ModuleSample& module = sample().module.emplace();
  module.lanes.resize(2);
  module.lanes[0].rx_power_mw = 1.0;
  module.lanes[1].rx_power_mw = 0;
  module.lanes[1].tx_bias_ma = 70;
  at(0);
  const auto rows = at(10);
  EXPECT_EQ(rows.at(0).values[kRxPower], -40) << "no light";
  EXPECT_EQ(rows.at(0).values[kRxPowerLane1], 0);
  EXPECT_EQ(rows.at(0).values[kTxBias], 70);
  EXPECT_TRUE(std::isnan(rows.at(0).values[kTxBiasLane1])) << "lane 1 gave none";
}

TEST(SignalFoldTest, ALongerStepAggregatesShorterOnes) {
  SignalFold fold;
  for (int i = 0; i < 6; ++i) {
    SignalValues values;
    values[kTemperature] = 50 + i % 3;
    values[kCarrierDowns] = i;
    values[kRxTraffic] = i;
    fold.add(values);
  }
  fold.add(SignalValues());
  EXPECT_EQ(fold.values()[kTemperature], 52) << "the highest";
  EXPECT_EQ(fold.values()[kCarrierDowns], 15) << "the sum";
  EXPECT_DOUBLE_EQ(fold.values()[kRxTraffic], 2.5) << "the mean";
  EXPECT_TRUE(std::isnan(fold.values()[kSupply]));
}

}  // namespace
}  // namespace linkhealth
