#include "model/history/rate_calculator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace linkhealth {
namespace {

using Values = std::vector<std::pair<std::string_view, std::uint64_t>>;

Counters counters(const Values& values) {
  Counters made;
  for (const auto& [name, value] : values) made.set(name, value);
  return made;
}

/// What a port's indicator adds up to.
struct Rated {
  Indicator indicator;
  RateCalculator calculator{};
  double total = 0;
  int known = 0;  ///< readings of which an increase is known
  void read(double t, const Values& values) {
    const Increase increase = calculator.update(counters(values), steady_from_seconds(t));
    const double more = increase.of(indicator);
    if (std::isnan(more)) return;
    total += more;
    ++known;
  }
};

// mlx5: the kernel's statistics come each 10 s, the driver's own of the same frames once a minute.
TEST(RateCalculator, AnEventThatSeveralSourcesReportCountsOnce) {
  Rated frames{Indicator::kFrameErrors}, symbols{Indicator::kSymbolErrors},
      pause{Indicator::kPauseReceived};
  for (int i = 0; i < 40; ++i) {
    const std::uint64_t n = i >= 15 ? 10 : 0;
    Values now{{"mac_FrameCheckSequenceErrors", n},
               {"phy_SymbolErrorDuringCarrier", n},
               {"pause_rx_pause_frames", n}};
    if (i % 6 == 0)
      now.insert(now.end(),
                 {{"rx_crc_errors_phy", n}, {"rx_pcs_symbol_err_phy", n}, {"rx_global_pause", n}});
    for (Rated* one : {&frames, &symbols, &pause}) one->read(10.0 * i, now);
    // The classic counters come on their own, a little later.
    if (i % 3 == 1)
      for (Rated* one : {&frames, &symbols, &pause})
        one->read(10.0 * i + 0.5, {{"port_rcv_errors", n}, {"symbol_error", n}});
  }
  EXPECT_EQ(frames.total, 10);
  EXPECT_EQ(symbols.total, 10);
  EXPECT_EQ(pause.total, 10);
}

// An event that only one source reports counts, unless the other source reported as many since:
// they may be the same.
TEST(RateCalculator, AnEventOfOneSourceOnlyCounts) {
  Rated frames{Indicator::kFrameErrors};
  const auto both = [&](double t, std::uint64_t kernel, std::uint64_t driver) {
    frames.read(t, {{"mac_FrameCheckSequenceErrors", kernel}});
    frames.read(t + 0.1, {{"rx_crc_errors_phy", driver}});
    return frames.total;
  };
  both(0, 0, 0);
  EXPECT_EQ(both(60, 1000, 0), 1000) << "a driver may leave it at zero";
  EXPECT_EQ(both(120, 1000, 7), 1007);
  EXPECT_EQ(both(180, 1003, 9), 1009) << "the three may be of the seven";
  both(240, 1003, 9);
  EXPECT_EQ(both(300, 1008, 9), 1014);
}

TEST(RateCalculator, ARateIsSpreadOverTheTimeSinceItsCounterWasRead) {
  RateCalculator calculator;
  const auto gains = [&](double t, const Values& values) {
    return calculator.update(counters(values), steady_from_seconds(t)).gains;
  };
  EXPECT_TRUE(
      gains(0, {{"netdev_rx_bytes", 0}, {"port_rcv_data", 0}, {"symbol_error", 0}}).empty());
  for (int i = 1; i <= 6; ++i)
    EXPECT_EQ(gains(10 * i, {{"netdev_rx_bytes", 1000U * static_cast<unsigned>(i)}})[0].value,
              1000);
  const auto late = gains(60.1, {{"port_rcv_data", 6U * 300}, {"symbol_error", 60}});
  ASSERT_EQ(late.size(), 2U);
  EXPECT_NEAR(late[0].in_interval(10), 200, 1) << "1200 in each interval, of which 1000 are known";
  EXPECT_EQ(late[1].in_interval(10), 60) << "damage counts whole";
}

/// Readings of one counter.
std::vector<Values> readings(std::string_view name, std::initializer_list<std::uint64_t> values) {
  std::vector<Values> all;
  for (const std::uint64_t value : values) all.push_back({{name, value}});
  return all;
}

struct ResetRow {
  const char* what;
  Indicator indicator;
  std::vector<Values> readings;  ///< 10 s apart
  double total;
};

// A decrease is a reset, as in Prometheus; but one reading alone may be wrong, so that its value is
// no start.
TEST(RateCalculator, ADecreaseIsAResetOfItsSource) {
  using enum Indicator;
  const ResetRow rows[] = {
      {"no reset", kSymbolErrors, readings("symbol_error", {5, 7}), 2},
      {"the reading after a reset is the new start", kSymbolErrors,
       readings("symbol_error", {100, 0, 30, 31}), 1},
      {"a wrong reading counts nothing", kSymbolErrors,
       readings("symbol_error", {100, 0, 100, 104}), 4},
      {"repeated wrong readings count nothing", kSymbolErrors,
       readings("symbol_error", {100, 0, 100, 0, 100}), 0},
      {"others of the source start again, too",
       kSymbolErrors,
       {{{"symbol_error", 2}, {"port_rcv_data", 1'000'000}},
        {{"symbol_error", 50}, {"port_rcv_data", 10}},
        {{"symbol_error", 60}, {"port_rcv_data", 20}},
        {{"symbol_error", 61}, {"port_rcv_data", 30}}},
       1},
      {"also those that were not in that reading",
       kSymbolErrors,
       {{{"symbol_error", 500}, {"port_rcv_data", 1000}},
        {{"port_rcv_data", 3}},
        {{"symbol_error", 600}},
        {{"symbol_error", 601}}},
       1},
      {"other sources go on",
       kFrameErrors,
       {{{"mac_FrameCheckSequenceErrors", 100}, {"port_rcv_errors", 100}},
        {{"mac_FrameCheckSequenceErrors", 107}, {"port_rcv_errors", 0}},
        {{"mac_FrameCheckSequenceErrors", 109}, {"port_rcv_errors", 109}}},
       9},
      {"a saturated register of fewer bits is no reset", kLinkDowns,
       readings("link_downed", {300, 255, 301}), 1},
      {"a saturated counter that was cleared starts again", kFrameErrors,
       readings("port_rcv_errors", {65535, 0, 1, 4}), 3},
  };
  for (const ResetRow& row : rows) {
    Rated rated{row.indicator};
    double t = 0;
    for (const Values& values : row.readings) rated.read(t += 10, values);
    EXPECT_EQ(rated.total, row.total) << row.what;
  }
}

TEST(RateCalculator, AnIndicatorThatWasNotReadIsUnknown) {
  const Increase increase =
      increase_between(counters({{"port_rcv_data", 1}}), counters({{"port_rcv_data", 2}}));
  EXPECT_TRUE(std::isnan(increase.of(Indicator::kUncorrectableBlocks)));
}

TEST(RateCalculator, AWrapIsAResetWhereOthersOfItsSourceWereReset) {
  const Increase increase = increase_between(
      counters({{"rx_write_requests", 1'000'000}, {"local_ack_timeout_err", 0xfffffffeU}}),
      counters({{"rx_write_requests", 10}, {"local_ack_timeout_err", 1}}));
  EXPECT_TRUE(increase.reset.contains(CounterSource::kIbHw));
  EXPECT_TRUE(std::isnan(increase.of(Indicator::kRetries)));
}

TEST(Indicators, ACounterHasOneIndicator) {
  std::map<std::string, int> uses;
  for (const IndicatorInfo& info : indicator_table())
    for (const std::string& name : names_of(info)) {
      EXPECT_EQ(++uses[name], 1) << name;
      EXPECT_TRUE(find_counter(name)) << name;
    }
}

TEST(RateCalculator, HandlesEachEndOfACounter) {
  using enum Indicator;
  struct Row {
    const char* what;
    const char* counter;
    std::uint64_t from, to;
    Indicator indicator;
    std::optional<double> increase;
    bool reset = false;
  };
  const Row rows[] = {
      {"64 bits: nothing fills them", "netdev_rx_bytes", 100, 5, kRxOctets, {}, true},
      {"four octets each", "port_rcv_data", 1, 2, kRxOctets, 4},
      {"saturates", "symbol_error", 65000, 65534, kSymbolErrors, 534},
      {"up to its end", "symbol_error", 0, 65535, kSymbolErrors, 65535},
      {"saturated", "symbol_error", 65535, 65535, kSymbolErrors, {}},
      {"saturated, of eight bits", "link_error_recovery", 255, 255, kLinkRecoveries, {}},
      {"cleared (perfquery -R)", "symbol_error", 65535, 0, kSymbolErrors, {}, true},
      {"of unknown width", "to_retransmits", 0xffffffff, 3, kRetries, {}, true},
      {"a level goes down", "outbound_pci_stalled_wr", 40, 0, kPcieStalls, {}},
      {"and up, without a count", "outbound_pci_stalled_wr", 0, 40, kPcieStalls, {}},
      {"32 bits wrap", "netdev_rx_missed_errors", 0xfffffff0U, 5, kHostDrops, 21},
      {"or are reset", "local_ack_timeout_err", 40, 1, kRetries, {}, true},
      // mlx5's queue counters have 32 bits: at ten million requests a second one is full every
      // seven minutes. bnxt_re and rxe count 64 bits under the same names.
      {"mlx5's queue counters", "local_ack_timeout_err", 0xfffffffeU, 1, kRetries, 3},
      {"bnxt_re's", "duplicate_request", 0x1'0000'0000U, 5, kRetries, {}, true},
  };
  for (const Row& row : rows) {
    const Increase increase =
        increase_between(counters({{row.counter, row.from}}), counters({{row.counter, row.to}}));
    const double value = increase.of(row.indicator);
    EXPECT_EQ(std::isnan(value) ? std::nullopt : std::optional(value), row.increase) << row.what;
    EXPECT_EQ(!increase.reset.empty(), row.reset) << row.what;
  }
}

// The peer sent it because it had no receive work request.
TEST(Indicators, AReceivedRnrNakDoesNotCountForThisHost) {
  for (const char* name : {"rnr_nak_retry_err", "rnr_naks_rcvd", "RNR received", "rcvd_rnr_err"}) {
    const auto id = find_counter(name);
    ASSERT_TRUE(id) << name;
    EXPECT_FALSE(indicator_of(*id)) << name;
  }
}

}  // namespace
}  // namespace linkhealth
