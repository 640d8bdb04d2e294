#include "model/rate_calculator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
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
TEST(RateCalculator, AnEventThatSeveralSourcesReportAtTheirTimesCountsOnce) {
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

// What only one source sees counts, unless the other reported as much since the last reading of the
// one: then it may be the same, and the smaller sum counts.
TEST(RateCalculator, WhatOneSourceAloneSeesCounts) {
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
      {"counting goes on", kSymbolErrors, {{{"symbol_error", 5}}, {{"symbol_error", 7}}}, 2},
      {"the reading after a reset is the new start",
       kSymbolErrors,
       {{{"symbol_error", 100}},
        {{"symbol_error", 0}},
        {{"symbol_error", 30}},
        {{"symbol_error", 31}}},
       1},
      {"a wrong reading counts nothing",
       kSymbolErrors,
       {{{"symbol_error", 100}},
        {{"symbol_error", 0}},
        {{"symbol_error", 100}},
        {{"symbol_error", 104}}},
       4},
      {"wrong readings again and again count nothing",
       kSymbolErrors,
       {{{"symbol_error", 100}},
        {{"symbol_error", 0}},
        {{"symbol_error", 100}},
        {{"symbol_error", 0}},
        {{"symbol_error", 100}}},
       0},
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
      {"a saturated register of fewer bits is no reset",
       kLinkDowns,
       {{{"link_downed", 300}}, {{"link_downed", 255}}, {{"link_downed", 301}}},
       1},
      {"a counter that was full and cleared starts again",
       kFrameErrors,
       {{{"port_rcv_errors", 65535}},
        {{"port_rcv_errors", 0}},
        {{"port_rcv_errors", 1}},
        {{"port_rcv_errors", 4}}},
       3},
  };
  for (const ResetRow& row : rows) {
    Rated rated{row.indicator};
    double t = 0;
    for (const Values& values : row.readings) rated.read(t += 10, values);
    EXPECT_EQ(rated.total, row.total) << row.what;
  }
}

TEST(RateCalculator, WhatSeemsToHaveWrappedIsResetWithTheRestOfTheCard) {
  const Increase increase = increase_between(
      counters({{"rx_write_requests", 1'000'000}, {"local_ack_timeout_err", 0xfffffffeU}}),
      counters({{"rx_write_requests", 10}, {"local_ack_timeout_err", 1}}));
  EXPECT_TRUE(increase.reset.contains(CounterSource::kIbHw));
  EXPECT_TRUE(std::isnan(increase.of(Indicator::kRetries)));
}

TEST(Indicators, ACounterSaysOneThing) {
  std::map<std::string, int> uses;
  for (const IndicatorInfo& info : indicator_table())
    for (const std::string& name : names_of(info)) EXPECT_EQ(++uses[name], 1) << name;
}

TEST(Indicators, ACounterThatIsNotThereIsNotZero) {
  Counters before, after;
  before.set("port_rcv_data", 1);
  after.set("port_rcv_data", 2);
  const Increase increase = increase_between(before, after);
  EXPECT_EQ(increase.of(Indicator::kRxOctets), 4);
  EXPECT_TRUE(std::isnan(increase.of(Indicator::kUncorrectableBlocks)));
}

TEST(Indicators, EachEndOfACounterIsTreatedAsItsOwn) {
  const auto step = [](std::string_view name, std::uint64_t from, std::uint64_t to,
                       Indicator indicator) {
    Counters before, after;
    before.set(name, from);
    after.set(name, to);
    const Increase increase = increase_between(before, after);
    return std::pair(!increase.reset.empty(), increase.of(indicator));
  };
  // Wraps at 64 bits: a decrease is a reset (nobody fills 64 bits).
  EXPECT_TRUE(step("netdev_rx_bytes", 100, 5, Indicator::kRxOctets).first);
  // Saturates: the step to the end counts, at the end no increase is known, a decrease is a reset
  // (perfquery -R).
  EXPECT_EQ(step("symbol_error", 65000, 65534, Indicator::kSymbolErrors).second, 534);
  EXPECT_EQ(step("symbol_error", 0, 65535, Indicator::kSymbolErrors).second, 65535);
  EXPECT_TRUE(std::isnan(step("symbol_error", 65535, 65535, Indicator::kSymbolErrors).second));
  EXPECT_EQ(step("link_error_recovery", 250, 255, Indicator::kLinkRecoveries).second, 5);
  EXPECT_TRUE(std::isnan(step("link_error_recovery", 255, 255, Indicator::kLinkRecoveries).second));
  EXPECT_TRUE(step("symbol_error", 65535, 0, Indicator::kSymbolErrors).first);
  // Drivers name their congestion and their retries differently.
  for (const char* name :
       {"np_cnp_sent", "rp_cnp_handled", "cnpHandled", "cnpSent", "RxECNMrkd", "rx_cnp_pkts"})
    EXPECT_EQ(step(name, 100, 500, Indicator::kCongestionMarks).second, 400) << name;
  for (const char* name :
       {"packet_seq_err", "RetransSegs", "Nak Sequence Error", "RTO", "to_retransmits"})
    EXPECT_EQ(step(name, 100, 107, Indicator::kRetries).second, 7) << name;
  // Of unknown width: a decrease is a reset.
  EXPECT_TRUE(step("to_retransmits", 0xffffffff, 3, Indicator::kRetries).first);
  // A level, in percent: it goes down without anything having been reset, and up without anything
  // having been counted.
  EXPECT_FALSE(step("outbound_pci_stalled_wr", 40, 0, Indicator::kPcieStalls).first);
  EXPECT_TRUE(std::isnan(step("outbound_pci_stalled_wr", 0, 40, Indicator::kPcieStalls).second));
  // A 32-bit counter that goes on at zero; and one that was reset.
  EXPECT_FALSE(step("link_down_events_phy", 0xffffffff, 1, Indicator::kRetries).first);
  EXPECT_TRUE(step("link_down_events_phy", 40, 1, Indicator::kRetries).first);
}

// mlx5's queue counters are 32 bits wide: at ten million requests a second one is full every seven
// minutes. That is no reset, which would take the whole interval from all counters of the port.
TEST(Indicators, AQueueCounterOfMlx5ThatWentOnAtZeroIsNoReset) {
  Counters before, after;
  before.set("rx_write_requests", 0xfffffff0U);
  after.set("rx_write_requests", 5);
  before.set("fec_uncorrectable_blocks", 1);
  after.set("fec_uncorrectable_blocks", 4);
  before.set("local_ack_timeout_err", 0xfffffffeU);
  after.set("local_ack_timeout_err", 1);
  const Increase increase = increase_between(before, after);
  EXPECT_TRUE(increase.reset.empty());
  EXPECT_EQ(increase.of(Indicator::kUncorrectableBlocks), 3);
  EXPECT_EQ(increase.of(Indicator::kRetries), 3);
  // The driver was loaded anew: something else began at zero, too.
  before.set("netdev_rx_bytes", 1'000'000);
  after.set("netdev_rx_bytes", 10);
  EXPECT_FALSE(increase_between(before, after).reset.empty());
  // bnxt_re and rxe count 64 bits under the same names.
  Counters wide, fallen;
  wide.set("duplicate_request", 0x1'0000'0000U);
  fallen.set("duplicate_request", 5);
  EXPECT_FALSE(increase_between(wide, fallen).reset.empty());
}

// mlx5 shows one of them among the netdev's counters too: bad frames were lost with it.
TEST(Indicators, TheMissedPacketsOfMlx5GoOnAtZeroToo) {
  Counters before, after;
  before.set("netdev_rx_missed_errors", 0xfffffff0U);
  after.set("netdev_rx_missed_errors", 5);
  before.set("netdev_rx_packets", 1'000);
  after.set("netdev_rx_packets", 2'000);
  before.set("netdev_rx_crc_errors", 1);
  after.set("netdev_rx_crc_errors", 4);
  const Increase increase = increase_between(before, after);
  EXPECT_TRUE(increase.reset.empty());
  EXPECT_EQ(increase.of(Indicator::kHostDrops), 21);
  EXPECT_EQ(increase.of(Indicator::kFrameErrors), 3);
  // The driver was loaded anew.
  after.set("netdev_rx_packets", 7);
  EXPECT_FALSE(increase_between(before, after).reset.empty());
  EXPECT_TRUE(std::isnan(increase_between(before, after).of(Indicator::kHostDrops)));
  // Drivers that count 64 bits.
  after.set("netdev_rx_packets", 2'000);
  before.set("netdev_rx_missed_errors", 0x1'0000'0000U);
  EXPECT_FALSE(increase_between(before, after).reset.empty());
}

// The same thing by the name that each driver gives it.
TEST(Indicators, EachDriversNameCarriesTheMeaning) {
  const auto increase_of = [](std::string_view name, Indicator indicator) {
    Counters before, after;
    before.set(name, 10);
    after.set(name, 17);
    return increase_between(before, after).of(indicator);
  };
  for (const char* name :
       {"np_cnp_sent", "rp_cnp_handled", "np_ecn_marked_roce_packets",      // mlx5, bnxt_re
        "np_cnp_pkts", "tx_cnp_pkts", "rx_cnp_pkts", "rx_ecn_marked_pkts",  // bnxt_re before
        "cnpSent", "cnpHandled", "RxECNMrkd"})                              // irdma
    EXPECT_EQ(increase_of(name, Indicator::kCongestionMarks), 7) << name;
  for (const char* name : {"packet_seq_err", "to_retransmits", "seq_err_naks_rcvd", "RetransSegs",
                           "tcpRetransSegs", "Nak Sequence Error", "completer_retry_err"})
    EXPECT_EQ(increase_of(name, Indicator::kRetries), 7) << name;
  for (const char* name :
       {"rx_out_of_buffer", "RNR sent", "send_rnr_err", "rx_dropped.nic", "frames_rx_dropped",
        "rx_prio3_discards", "rx_discard_packets_cos7", "mac_FramesLostDueToIntMACRcvError",
        "netdev_rx_missed_errors", "ip4InDiscards"})
    EXPECT_EQ(increase_of(name, Indicator::kHostDrops), 7) << name;
  for (const char* name :
       {"rx_crc_errors_phy", "rx_fcs_err_frames", "rx_crc_errors.nic", "frames_rx_bad_fcs"})
    EXPECT_EQ(increase_of(name, Indicator::kFrameErrors), 7) << name;
  EXPECT_EQ(increase_of("rx_corrected_bits", Indicator::kCorrectedBits), 7);
  EXPECT_EQ(increase_of("rx_fec_uncorrectable_blocks", Indicator::kUncorrectableBlocks), 7);
  EXPECT_EQ(increase_of("rx_pcs_symbol_err", Indicator::kSymbolErrors), 7);
  for (const char* name : {"frames_rx_stomped_crc", "port_rcv_remote_physical_errors",
                           "rx_icrc_encapsulated", "CRC errors"})
    EXPECT_EQ(increase_of(name, Indicator::kForwardedErrors), 7) << name;
  for (const char* name : {"rx_prio3_pause", "rx_pfc_frames", "rx_pfc_ena_frames_pri3",
                           "rx_priority_3_xoff.nic", "link_xoff_rx.nic", "frames_rx_pripause"})
    EXPECT_EQ(increase_of(name, Indicator::kPauseReceived), 7) << name;
  for (const char* name : {"tx_prio7_pause", "tx_pfc_frames", "tx_pfc_ena_frames_pri7",
                           "tx_priority_7_xoff.nic", "link_xoff_tx.nic", "frames_tx_pripause"})
    EXPECT_EQ(increase_of(name, Indicator::kPauseSent), 7) << name;
  EXPECT_EQ(increase_of("excessive_buffer_overrun_errors", Indicator::kCardErrors), 7);
  for (const char* name : {"rx_pci_signal_integrity", "res_tx_pci_err"})
    EXPECT_EQ(increase_of(name, Indicator::kPcieDamage), 7) << name;
  EXPECT_EQ(increase_of("module_bus_stuck", Indicator::kModuleBusErrors), 7);
  for (const char* name : {"mac_OctetsReceivedOK", "ip4InOctets", "rx_bytes", "rdma_rx_bytes"})
    EXPECT_EQ(increase_of(name, Indicator::kRxOctets), 7) << name;
  for (const char* name : {"mac_OctetsTransmittedOK", "ip4OutOctets", "tx_bytes", "rdma_tx_bytes"})
    EXPECT_EQ(increase_of(name, Indicator::kTxOctets), 7) << name;
  EXPECT_EQ(increase_of("module_high_temp", Indicator::kModuleHeat), 7);
  EXPECT_EQ(increase_of("link_xoff_rx.nic", Indicator::kPauseReceived), 7);
  EXPECT_EQ(increase_of("total_success_recovery_phy", Indicator::kLinkRecoveries), 7);
}

// The peer sent it, because it had no receive work request: a slow receiver would accuse all its
// senders.
TEST(Indicators, AnRnrNakThatWasReceivedSaysNothingOfThisHost) {
  for (const char* name : {"rnr_nak_retry_err", "rnr_naks_rcvd", "RNR received", "rcvd_rnr_err"}) {
    const auto id = find_counter(name);
    ASSERT_TRUE(id) << name;
    EXPECT_FALSE(indicator_of(*id)) << name;
  }
}

TEST(Indicators, EveryCounterOfAFlowIsInTheTable) {
  for (const IndicatorInfo& info : indicator_table())
    for (const std::string& name : names_of(info)) EXPECT_TRUE(find_counter(name)) << name;
}

}  // namespace
}  // namespace linkhealth
