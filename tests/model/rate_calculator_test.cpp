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

/// What a port's flow adds up to.
struct Metered {
  RateCalculator meter;
  Indicator flow;
  double total = 0;
  int known = 0;
  void read(double t, const Values& values) {
    const double more = meter.take(counters(values), steady_from_seconds(t), 10)
                            .values[static_cast<std::size_t>(flow)];
    if (std::isnan(more)) return;
    total += more;
    ++known;
  }
};

// mlx5: the kernel's statistics come each 10 s, the driver's own of the same frames once a minute.
TEST(RateCalculator, OneEventThatSeveralSourcesTellAtTheirTimesCountsOnce) {
  Metered frames{{}, Indicator::kFrameErrors};
  Metered symbols{{}, Indicator::kSymbolErrors};
  Metered pause{{}, Indicator::kPauseReceived};
  for (int i = 0; i < 40; ++i) {
    const std::uint64_t n = i >= 15 ? 10 : 0;
    Values now{{"mac_FrameCheckSequenceErrors", n},
               {"phy_SymbolErrorDuringCarrier", n},
               {"pause_rx_pause_frames", n}};
    if (i % 6 == 0)
      now.insert(now.end(),
                 {{"rx_crc_errors_phy", n}, {"rx_pcs_symbol_err_phy", n}, {"rx_global_pause", n}});
    for (Metered* flow : {&frames, &symbols, &pause}) flow->read(10.0 * i, now);
    // The classic counters come on their own, a little later.
    if (i % 3 == 1)
      for (Metered* flow : {&frames, &symbols, &pause})
        flow->read(10.0 * i + 0.5, {{"port_rcv_errors", n}, {"symbol_error", n}});
  }
  EXPECT_EQ(frames.total, 10);
  EXPECT_EQ(symbols.total, 10);
  EXPECT_EQ(pause.total, 10);
}

// What only one source sees counts, unless the other told as much since the last reading of the
// one: then it may be the same, and the smaller sum is said.
TEST(RateCalculator, WhatOneSourceAloneSeesCounts) {
  Metered frames{{}, Indicator::kFrameErrors};
  const auto both = [&](double t, std::uint64_t kernel, std::uint64_t driver) {
    frames.read(t, {{"mac_FrameCheckSequenceErrors", kernel}});
    frames.read(t + 0.1, {{"rx_crc_errors_phy", driver}});
  };
  both(0, 0, 0);
  both(60, 1000, 0);  // a driver may leave it at zero
  EXPECT_EQ(frames.total, 1000);
  both(120, 1000, 7);
  EXPECT_EQ(frames.total, 1007);
  both(180, 1003, 9);  // the three may be of the seven
  EXPECT_EQ(frames.total, 1009);
  both(240, 1003, 9);
  both(300, 1008, 9);
  EXPECT_EQ(frames.total, 1014);
}

TEST(RateCalculator, OfSourcesThatTellARateTheLargerOneCountsInAnInterval) {
  RateCalculator meter;
  const auto rate = [&](double t, const Values& values) {
    return meter.take(counters(values), steady_from_seconds(t), 10)
        .rates[static_cast<std::size_t>(Indicator::kRxOctets)];
  };
  rate(0, {{"netdev_rx_bytes", 0}});
  rate(0.1, {{"port_rcv_data", 0}});
  double last = 0;
  for (int i = 1; i <= 6; ++i) {
    meter.begin_interval();
    last = rate(10 * i, {{"netdev_rx_bytes", 1000U * static_cast<unsigned>(i)}});
    EXPECT_EQ(last, 1000);
  }
  EXPECT_NEAR(last + rate(60.1, {{"port_rcv_data", 6U * 300}}), 1200, 3)
      << "of one interval, not of six, nor of both";
}

TEST(RateCalculator, RatesOfDifferentEventsAreAddedInAnInterval) {
  RateCalculator meter;
  const auto rate = [&](double t, const Values& values) {
    return meter.take(counters(values), steady_from_seconds(t), 10)
        .rates[static_cast<std::size_t>(Indicator::kCongestionMarks)];
  };
  rate(0, {{"np_cnp_sent", 0}, {"rp_cnp_handled", 0}});
  rate(0.1, {{"np_ecn_marked_roce_packets", 0}});
  meter.begin_interval();
  EXPECT_EQ(rate(10, {{"np_cnp_sent", 30}, {"rp_cnp_handled", 5}}), 35);
  EXPECT_EQ(rate(10.1, {{"np_ecn_marked_roce_packets", 7}}), 7);
}

TEST(RateCalculator, ARateOfLongerThanAnIntervalIsToldWithItsTime) {
  RateCalculator meter;
  const auto late = [&](double t, const Values& values) {
    return meter.take(counters(values), steady_from_seconds(t), 10).late;
  };
  EXPECT_TRUE(late(0, {{"rx_prio3_pause", 0}, {"symbol_error", 0}}).empty());
  const std::vector<LateRate> minute = late(60, {{"rx_prio3_pause", 6000}, {"symbol_error", 60}});
  ASSERT_EQ(minute.size(), 1U) << "damage counts whole, once";
  EXPECT_EQ(minute[0].flow, Indicator::kPauseReceived);
  EXPECT_EQ(minute[0].per_s, 100);
  EXPECT_EQ(minute[0].since, steady_from_seconds(0));
  EXPECT_TRUE(late(70, {{"rx_prio3_pause", 7000}}).empty()) << "read in each interval";
  EXPECT_TRUE(late(700, {{"rx_prio3_pause", 70000}}).empty())
      << "a burst, or all the time: nobody knows";
}

TEST(RateCalculator, WhatSeemsToHaveGoneRoundBeginsAnewWithTheRestOfTheCard) {
  RateCalculator meter;
  meter.take(counters({{"netdev_rx_bytes", 1'000'000}, {"local_ack_timeout_err", 0xfffffffeU}}),
             SteadyTime{});
  const Increase increase =
      meter.take(counters({{"netdev_rx_bytes", 10}, {"local_ack_timeout_err", 1}}),
                 SteadyTime{} + from_seconds(10));
  EXPECT_TRUE(increase.reset.has(CounterSource::kIbHw));
  EXPECT_TRUE(std::isnan(increase.values[static_cast<std::size_t>(Indicator::kRetries)]));
}

TEST(RateCalculator, TheNextReadingOfASourceThatBeganAnewCountsFromThere) {
  Metered symbols{{}, Indicator::kSymbolErrors};
  symbols.read(0, {{"symbol_error", 500}, {"port_rcv_data", 1000}});
  symbols.read(10, {{"port_rcv_data", 3}});  // perfquery -R
  symbols.read(20, {{"symbol_error", 600}});
  EXPECT_EQ(symbols.known, 0) << "600 since it was cleared, not 100 since it was read";
  symbols.read(30, {{"symbol_error", 601}});
  EXPECT_EQ(symbols.total, 1);
}

// A torn read, or a driver that had its cache filled anew: what was there before is not counted
// again.
TEST(RateCalculator, ACounterThatIsBackAtTheNextReadingWasReadWrongly) {
  Metered symbols{{}, Indicator::kSymbolErrors};
  symbols.read(0, {{"symbol_error", 100}, {"port_rcv_errors", 5}});
  for (double t = 10; t < 100; t += 20) {
    symbols.read(t, {{"symbol_error", 0}, {"port_rcv_errors", 5}});
    symbols.read(t + 10, {{"symbol_error", 100}, {"port_rcv_errors", 5}});
  }
  EXPECT_EQ(symbols.total, 0);
  EXPECT_EQ(symbols.known, 5) << "unknown while nobody knows, and nothing then";
  symbols.read(110, {{"symbol_error", 99}});
  symbols.read(120, {{"symbol_error", 104}});
  EXPECT_EQ(symbols.total, 4) << "what came meanwhile counts";
  symbols.read(130, {{"symbol_error", 105}});
  EXPECT_EQ(symbols.total, 5);
}

TEST(RateCalculator, TheOthersOfItsSourceLoseNothingByIt) {
  Metered frames{{}, Indicator::kFrameErrors};
  frames.read(0, {{"symbol_error", 100}, {"port_rcv_errors", 5}});
  frames.read(10, {{"symbol_error", 0}, {"port_rcv_errors", 7}});
  frames.read(20, {{"symbol_error", 100}, {"port_rcv_errors", 10}});
  EXPECT_EQ(frames.total, 5);
}

TEST(RateCalculator, WhatStaysLowerHasBegunAnew) {
  Metered symbols{{}, Indicator::kSymbolErrors};
  symbols.read(0, {{"symbol_error", 100}});
  symbols.read(10, {{"symbol_error", 0}});
  symbols.read(20, {{"symbol_error", 30}});
  EXPECT_EQ(symbols.total, 30);
  symbols.read(30, {{"symbol_error", 130}});
  EXPECT_EQ(symbols.total, 130);
  symbols.read(40, {{"symbol_error", 20}});
  symbols.read(50, {{"symbol_error", 10}});
  symbols.read(60, {{"symbol_error", 12}});
  EXPECT_EQ(symbols.total, 132) << "twice in a row";
}

// A card that was set up anew, with more errors than before at once: its other counters are lower
// still.
TEST(RateCalculator, OneThatIsHigherBeganAnewWithTheRestOfItsSource) {
  Metered symbols{{}, Indicator::kSymbolErrors};
  symbols.read(0, {{"symbol_error", 2}, {"port_rcv_data", 1'000'000}});
  symbols.read(10, {{"symbol_error", 0}, {"port_rcv_data", 10}});
  symbols.read(20, {{"symbol_error", 50}, {"port_rcv_data", 5'000}});
  EXPECT_EQ(symbols.total, 50);
}

// Of files that take turns the one that fell is not among the next ones.
TEST(RateCalculator, AFallIsSettledByTheNextReadingOfWhatFell) {
  for (const double later : {30.0, 300.0}) {
    Metered symbols{{}, Indicator::kSymbolErrors};
    symbols.read(0, {{"symbol_error", 100}, {"port_rcv_errors", 5}});
    symbols.read(10, {{"symbol_error", 0}});
    symbols.read(20, {{"port_rcv_errors", 5}});
    EXPECT_TRUE(symbols.meter.doubted());
    symbols.read(20 + later, {{"symbol_error", 100}});
    EXPECT_EQ(symbols.total, later < 100 ? 0 : 100) << "in minutes they may have come";
    EXPECT_FALSE(symbols.meter.doubted());
  }
}

TEST(RateCalculator, ACounterThatWasFullSaysNothingByAWrongReading) {
  Metered frames{{}, Indicator::kFrameErrors};
  frames.read(0, {{"port_rcv_errors", 65535}});
  frames.read(10, {{"port_rcv_errors", 0}});
  frames.read(20, {{"port_rcv_errors", 65535}});
  EXPECT_EQ(frames.known, 0);
  frames.read(30, {{"port_rcv_errors", 0}});  // somebody cleared it
  frames.read(40, {{"port_rcv_errors", 3}});
  EXPECT_EQ(frames.total, 3);
}

/// Files take turns: one is read for the first time since while another's fall is in doubt.
TEST(RateCalculator, WhatCameInTheTimeOfDoubtIsNotLost) {
  Metered frames{{}, Indicator::kFrameErrors};
  frames.read(0, {{"symbol_error", 5}, {"port_rcv_errors", 10}});
  frames.read(40, {{"symbol_error", 0}});
  frames.read(60, {{"port_rcv_errors", 17}});
  frames.read(61, {{"symbol_error", 5}});
  frames.read(90, {{"port_rcv_errors", 19}});
  EXPECT_EQ(frames.total, 9);
}

TEST(RateCalculator, WhatAnotherSourceToldMeanwhileIsNotCountedTwice) {
  Metered frames{{}, Indicator::kFrameErrors};
  frames.read(0, {{"mac_FrameCheckSequenceErrors", 100}, {"port_rcv_errors", 100}});
  frames.read(10, {{"mac_FrameCheckSequenceErrors", 107}, {"port_rcv_errors", 0}});
  frames.read(20, {{"mac_FrameCheckSequenceErrors", 109}, {"port_rcv_errors", 109}});
  EXPECT_EQ(frames.total, 9);
}

TEST(Flows, ACounterSaysOneThing) {
  std::map<std::string, int> uses;
  for (const IndicatorInfo& info : indicator_table())
    for (const std::string& name : names_of(info)) EXPECT_EQ(++uses[name], 1) << name;
}

TEST(Flows, ACounterThatIsNotThereIsNotZero) {
  Counters before, after;
  before.set("port_rcv_data", 1);
  after.set("port_rcv_data", 2);
  const Increase increase = increase_between(before, after);
  EXPECT_EQ(increase.values[static_cast<std::size_t>(Indicator::kRxOctets)], 4);
  EXPECT_TRUE(
      std::isnan(increase.values[static_cast<std::size_t>(Indicator::kUncorrectableBlocks)]));
}

TEST(Flows, EachEndOfACounterIsTreatedAsItsOwn) {
  const auto step = [](std::string_view name, std::uint64_t from, std::uint64_t to,
                       Indicator flow) {
    Counters before, after;
    before.set(name, from);
    after.set(name, to);
    const Increase increase = increase_between(before, after);
    return std::pair(static_cast<bool>(increase.reset),
                     increase.values[static_cast<std::size_t>(flow)]);
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
TEST(Flows, AQueueCounterOfMlx5ThatWentOnAtZeroIsNoReset) {
  Counters before, after;
  before.set("rx_write_requests", 0xfffffff0U);
  after.set("rx_write_requests", 5);
  before.set("fec_uncorrectable_blocks", 1);
  after.set("fec_uncorrectable_blocks", 4);
  before.set("local_ack_timeout_err", 0xfffffffeU);
  after.set("local_ack_timeout_err", 1);
  const Increase increase = increase_between(before, after);
  EXPECT_FALSE(increase.reset);
  EXPECT_EQ(increase.values[static_cast<std::size_t>(Indicator::kUncorrectableBlocks)], 3);
  EXPECT_EQ(increase.values[static_cast<std::size_t>(Indicator::kRetries)], 3);
  // The driver was loaded anew: something else began at zero, too.
  before.set("netdev_rx_bytes", 1'000'000);
  after.set("netdev_rx_bytes", 10);
  EXPECT_TRUE(increase_between(before, after).reset);
  // bnxt_re and rxe count 64 bits under the same names.
  Counters wide, fallen;
  wide.set("duplicate_request", 0x1'0000'0000U);
  fallen.set("duplicate_request", 5);
  EXPECT_TRUE(increase_between(wide, fallen).reset);
}

// mlx5 shows one of them among the netdev's counters too: bad frames were lost with it.
TEST(Flows, TheMissedPacketsOfMlx5GoOnAtZeroToo) {
  Counters before, after;
  before.set("netdev_rx_missed_errors", 0xfffffff0U);
  after.set("netdev_rx_missed_errors", 5);
  before.set("netdev_rx_packets", 1'000);
  after.set("netdev_rx_packets", 2'000);
  before.set("netdev_rx_crc_errors", 1);
  after.set("netdev_rx_crc_errors", 4);
  const Increase increase = increase_between(before, after);
  EXPECT_FALSE(increase.reset);
  EXPECT_EQ(increase.values[static_cast<std::size_t>(Indicator::kHostDrops)], 21);
  EXPECT_EQ(increase.values[static_cast<std::size_t>(Indicator::kFrameErrors)], 3);
  // The driver was loaded anew.
  after.set("netdev_rx_packets", 7);
  EXPECT_TRUE(increase_between(before, after).reset);
  EXPECT_TRUE(std::isnan(
      increase_between(before, after).values[static_cast<std::size_t>(Indicator::kHostDrops)]));
  // Drivers that count 64 bits.
  after.set("netdev_rx_packets", 2'000);
  before.set("netdev_rx_missed_errors", 0x1'0000'0000U);
  EXPECT_TRUE(increase_between(before, after).reset);
}

// The same thing by the name that each driver gives it.
TEST(Flows, EachDriversNameCarriesTheMeaning) {
  const auto flow_of = [](std::string_view name, Indicator flow) {
    Counters before, after;
    before.set(name, 10);
    after.set(name, 17);
    return increase_between(before, after).values[static_cast<std::size_t>(flow)];
  };
  for (const char* name :
       {"np_cnp_sent", "rp_cnp_handled", "np_ecn_marked_roce_packets",      // mlx5, bnxt_re
        "np_cnp_pkts", "tx_cnp_pkts", "rx_cnp_pkts", "rx_ecn_marked_pkts",  // bnxt_re before
        "cnpSent", "cnpHandled", "RxECNMrkd"})                              // irdma
    EXPECT_EQ(flow_of(name, Indicator::kCongestionMarks), 7) << name;
  for (const char* name : {"packet_seq_err", "to_retransmits", "seq_err_naks_rcvd", "RetransSegs",
                           "tcpRetransSegs", "Nak Sequence Error", "completer_retry_err"})
    EXPECT_EQ(flow_of(name, Indicator::kRetries), 7) << name;
  for (const char* name :
       {"rx_out_of_buffer", "RNR sent", "send_rnr_err", "rx_dropped.nic", "frames_rx_dropped",
        "rx_prio3_discards", "rx_discard_packets_cos7", "mac_FramesLostDueToIntMACRcvError",
        "netdev_rx_missed_errors", "ip4InDiscards"})
    EXPECT_EQ(flow_of(name, Indicator::kHostDrops), 7) << name;
  for (const char* name :
       {"rx_crc_errors_phy", "rx_fcs_err_frames", "rx_crc_errors.nic", "frames_rx_bad_fcs"})
    EXPECT_EQ(flow_of(name, Indicator::kFrameErrors), 7) << name;
  EXPECT_EQ(flow_of("rx_corrected_bits", Indicator::kCorrectedBits), 7);
  EXPECT_EQ(flow_of("rx_fec_uncorrectable_blocks", Indicator::kUncorrectableBlocks), 7);
  EXPECT_EQ(flow_of("rx_pcs_symbol_err", Indicator::kSymbolErrors), 7);
  for (const char* name : {"frames_rx_stomped_crc", "port_rcv_remote_physical_errors",
                           "rx_icrc_encapsulated", "CRC errors"})
    EXPECT_EQ(flow_of(name, Indicator::kForwardedErrors), 7) << name;
  for (const char* name : {"rx_prio3_pause", "rx_pfc_frames", "rx_pfc_ena_frames_pri3",
                           "rx_priority_3_xoff.nic", "link_xoff_rx.nic", "frames_rx_pripause"})
    EXPECT_EQ(flow_of(name, Indicator::kPauseReceived), 7) << name;
  for (const char* name : {"tx_prio7_pause", "tx_pfc_frames", "tx_pfc_ena_frames_pri7",
                           "tx_priority_7_xoff.nic", "link_xoff_tx.nic", "frames_tx_pripause"})
    EXPECT_EQ(flow_of(name, Indicator::kPauseSent), 7) << name;
  EXPECT_EQ(flow_of("excessive_buffer_overrun_errors", Indicator::kCardErrors), 7);
  for (const char* name : {"rx_pci_signal_integrity", "res_tx_pci_err"})
    EXPECT_EQ(flow_of(name, Indicator::kPcieDamage), 7) << name;
  EXPECT_EQ(flow_of("module_bus_stuck", Indicator::kModuleBusErrors), 7);
  for (const char* name : {"mac_OctetsReceivedOK", "ip4InOctets", "rx_bytes", "rdma_rx_bytes"})
    EXPECT_EQ(flow_of(name, Indicator::kRxOctets), 7) << name;
  for (const char* name : {"mac_OctetsTransmittedOK", "ip4OutOctets", "tx_bytes", "rdma_tx_bytes"})
    EXPECT_EQ(flow_of(name, Indicator::kTxOctets), 7) << name;
  EXPECT_EQ(flow_of("module_high_temp", Indicator::kModuleHeat), 7);
  EXPECT_EQ(flow_of("link_xoff_rx.nic", Indicator::kPauseReceived), 7);
  EXPECT_EQ(flow_of("total_success_recovery_phy", Indicator::kLinkRecoveries), 7);
}

// The peer sent it, because it had no receive work request: a slow receiver would accuse all its
// senders.
TEST(Flows, AnRnrNakThatWasReceivedSaysNothingOfThisHost) {
  for (const char* name : {"rnr_nak_retry_err", "rnr_naks_rcvd", "RNR received", "rcvd_rnr_err"}) {
    const auto id = find_counter(name);
    ASSERT_TRUE(id) << name;
    EXPECT_FALSE(indicator_uses()[*id].used) << name;
  }
}

TEST(Flows, EveryCounterOfAFlowIsInTheTable) {
  for (const IndicatorInfo& info : indicator_table())
    for (const std::string& name : names_of(info)) EXPECT_TRUE(find_counter(name)) << name;
}

}  // namespace
}  // namespace linkhealth
