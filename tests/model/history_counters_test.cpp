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
  ASSERT_FALSE(port_of(history).intervals.empty());
  const Interval& last = port_of(history).intervals.back();
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
  EXPECT_NEAR(port_of(history).intervals.back().ber, 4000 / 425e9, 1e-10);
}

TEST(History, AnyCounterThatGoesDownRebasesAll) {
  History history;
  Feed feed;
  run(history, feed, 5);
  const std::size_t before = port_of(history).intervals.size();
  feed.counters.set("port_rcv_data", 5);
  feed.add("fec_uncorrectable_blocks", 100000);
  run(history, feed, 1);
  EXPECT_EQ(port_of(history).intervals.size(), before);
  run(history, feed, 1);
  EXPECT_EQ(port_of(history).intervals.back().flow(Flow::kUncorrectableBlocks), 0);
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
    return port_of(history).intervals.empty() ? kUnknownValue : port_of(history).intervals.back().lane_bits(0);
  };
  observe({}, 10);
  EXPECT_EQ(observe({}, 14), 4);
  EXPECT_TRUE(std::isnan(observe(5'000'000'000, {})));
  EXPECT_EQ(observe(5'000'000'007, {}), 7);
}

TEST(History, ASaturatedCounterIsNotKnown) {
  Counters before, after;
  before.set("symbol_error", 65000);
  after.set("symbol_error", 65535);
  EXPECT_TRUE(std::isnan(flow_increase(before, after).values[static_cast<std::size_t>(Flow::kSymbolErrors)]));
  after.set("symbol_error", 65534);
  EXPECT_EQ(flow_increase(before, after).values[static_cast<std::size_t>(Flow::kSymbolErrors)], 534);
}

TEST(History, ACounterThatIsNotThereIsNotZero) {
  Counters before, after;
  before.set("port_rcv_data", 1);
  after.set("port_rcv_data", 2);
  const FlowIncrease increase = flow_increase(before, after);
  EXPECT_EQ(increase.values[static_cast<std::size_t>(Flow::kRxOctets)], 4);
  EXPECT_TRUE(std::isnan(increase.values[static_cast<std::size_t>(Flow::kUncorrectableBlocks)]));
}

/// A port whose traffic counter is read each minute and whose error counter is read each ten seconds.
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
  const auto& intervals = port_of(port.history).intervals;
  std::size_t known = 0;
  for (const Interval& interval : intervals) {
    const double octets = interval.flow(Flow::kRxOctets);
    if (std::isnan(octets)) continue;
    ++known;
    EXPECT_NEAR(octets / interval.seconds(), 4.0 * kWordsPerS, 1e4) << "not six times as much";
    EXPECT_LT(interval.utilization, 0.001);
  }
  EXPECT_GE(known, 3U);
  EXPECT_GT(intervals.size(), known) << "where it was not read it is unknown, not zero";
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
  for (const Interval& interval : port_of(history).intervals)
    if (!std::isnan(interval.flow(Flow::kSymbolErrors))) errors += interval.flow(Flow::kSymbolErrors);
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
  for (const Interval& interval : port_of(history).intervals)
    if (!std::isnan(interval.flow(Flow::kSymbolErrors))) errors += interval.flow(Flow::kSymbolErrors);
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
  for (const Interval& interval : port_of(history).intervals)
    if (!std::isnan(interval.flow(Flow::kSymbolErrors))) errors += interval.flow(Flow::kSymbolErrors);
  EXPECT_EQ(errors, 2);
}

TEST(Flows, EachEndOfACounterIsTreatedAsItsOwn) {
  const auto step = [](std::string_view name, std::uint64_t from, std::uint64_t to, Flow flow) {
    Counters before, after;
    before.set(name, from);
    after.set(name, to);
    const FlowIncrease increase = flow_increase(before, after);
    return std::pair(increase.reset, increase.values[static_cast<std::size_t>(flow)]);
  };
  // Wraps at 64 bits: a decrease is a reset (nobody fills 64 bits).
  EXPECT_TRUE(step("netdev_rx_bytes", 100, 5, Flow::kRxOctets).first);
  // Saturates: no increase is known at the end, a decrease is a reset (perfquery -R).
  EXPECT_TRUE(std::isnan(step("symbol_error", 65000, 65535, Flow::kSymbolErrors).second));
  EXPECT_TRUE(step("symbol_error", 65535, 0, Flow::kSymbolErrors).first);
  // Drivers name their congestion and their retries differently.
  for (const char* name : {"np_cnp_sent", "rp_cnp_handled", "cnpHandled", "cnpSent", "RxECNMrkd", "rx_cnp_pkts"})
    EXPECT_EQ(step(name, 100, 500, Flow::kCongestionMarks).second, 400) << name;
  for (const char* name : {"packet_seq_err", "RetransSegs", "Nak Sequence Error", "RTO", "to_retransmits"})
    EXPECT_EQ(step(name, 100, 107, Flow::kRetries).second, 7) << name;
  // Of unknown width: a decrease is a reset.
  EXPECT_TRUE(step("to_retransmits", 0xffffffff, 3, Flow::kRetries).first);
  // A level: it goes down without anything having been reset.
  EXPECT_FALSE(step("outbound_pci_stalled_wr", 40, 0, Flow::kPcieStalls).first);
  // A 32-bit counter that goes on at zero; and one that was reset.
  EXPECT_FALSE(step("link_down_events_phy", 0xffffffff, 1, Flow::kRetries).first);
  EXPECT_TRUE(step("link_down_events_phy", 40, 1, Flow::kRetries).first);
}

// mlx5's queue counters are 32 bits wide: at ten million requests a second one is full every seven minutes. That is no
// reset, which would take the whole interval from all counters of the port.
TEST(Flows, AQueueCounterOfMlx5ThatWentOnAtZeroIsNoReset) {
  Counters before, after;
  before.set("rx_write_requests", 0xfffffff0U);
  after.set("rx_write_requests", 5);
  before.set("fec_uncorrectable_blocks", 1);
  after.set("fec_uncorrectable_blocks", 4);
  before.set("local_ack_timeout_err", 0xfffffffeU);
  after.set("local_ack_timeout_err", 1);
  const FlowIncrease increase = flow_increase(before, after);
  EXPECT_FALSE(increase.reset);
  EXPECT_EQ(increase.values[static_cast<std::size_t>(Flow::kUncorrectableBlocks)], 3);
  EXPECT_EQ(increase.values[static_cast<std::size_t>(Flow::kRetries)], 3);
  // The driver was loaded anew: something else began at zero, too.
  before.set("netdev_rx_bytes", 1'000'000);
  after.set("netdev_rx_bytes", 10);
  EXPECT_TRUE(flow_increase(before, after).reset);
  // bnxt_re and rxe count 64 bits under the same names.
  Counters wide, fallen;
  wide.set("duplicate_request", 0x1'0000'0000U);
  fallen.set("duplicate_request", 5);
  EXPECT_TRUE(flow_increase(wide, fallen).reset);
}

// The same thing by the name that each driver gives it.
TEST(Flows, EachDriversNameCarriesTheMeaning) {
  const auto flow_of = [](std::string_view name, Flow flow) {
    Counters before, after;
    before.set(name, 10);
    after.set(name, 17);
    return flow_increase(before, after).values[static_cast<std::size_t>(flow)];
  };
  for (const char* name : {"np_cnp_sent", "rp_cnp_handled", "np_ecn_marked_roce_packets",      // mlx5, bnxt_re
                           "np_cnp_pkts", "tx_cnp_pkts", "rx_cnp_pkts", "rx_ecn_marked_pkts",  // bnxt_re before
                           "cnpSent", "cnpHandled", "RxECNMrkd"})                              // irdma
    EXPECT_EQ(flow_of(name, Flow::kCongestionMarks), 7) << name;
  for (const char* name : {"packet_seq_err", "to_retransmits", "seq_err_naks_rcvd", "RetransSegs", "tcpRetransSegs",
                           "Nak Sequence Error", "completer_retry_err"})
    EXPECT_EQ(flow_of(name, Flow::kRetries), 7) << name;
  for (const char* name :
       {"rx_out_of_buffer", "RNR received", "rx_dropped.nic", "frames_rx_dropped", "rx_prio3_discards",
        "mac_FramesLostDueToIntMACRcvError", "netdev_rx_missed_errors", "ip4InDiscards"})
    EXPECT_EQ(flow_of(name, Flow::kHostDrops), 7) << name;
  for (const char* name : {"rx_crc_errors_phy", "rx_fcs_err_frames", "rx_crc_errors.nic", "frames_rx_bad_fcs"})
    EXPECT_EQ(flow_of(name, Flow::kFrameErrors), 7) << name;
  EXPECT_EQ(flow_of("rx_corrected_bits", Flow::kCorrectedBits), 7);
  EXPECT_EQ(flow_of("rx_fec_uncorrectable_blocks", Flow::kUncorrectableBlocks), 7);
  EXPECT_EQ(flow_of("rx_pcs_symbol_err", Flow::kSymbolErrors), 7);
  for (const char* name :
       {"frames_rx_stomped_crc", "port_rcv_remote_physical_errors", "rx_icrc_encapsulated", "CRC errors"})
    EXPECT_EQ(flow_of(name, Flow::kForwardedErrors), 7) << name;
  EXPECT_EQ(flow_of("rx_prio3_pause", Flow::kPauseReceived), 7);
  EXPECT_EQ(flow_of("tx_prio7_pause", Flow::kPauseSent), 7);
  for (const char* name : {"excessive_buffer_overrun_errors", "tx_errors_phy"})
    EXPECT_EQ(flow_of(name, Flow::kCardErrors), 7) << name;
  for (const char* name : {"rx_pci_signal_integrity", "res_tx_pci_err"})
    EXPECT_EQ(flow_of(name, Flow::kPcieDamage), 7) << name;
  EXPECT_EQ(flow_of("module_bus_stuck", Flow::kModuleBusErrors), 7);
  EXPECT_EQ(flow_of("module_high_temp", Flow::kModuleHeat), 7);
  EXPECT_EQ(flow_of("link_xoff_rx.nic", Flow::kPauseReceived), 7);
  EXPECT_EQ(flow_of("total_success_recovery_phy", Flow::kLinkRecoveries), 7);
}

TEST(Flows, EveryCounterOfAFlowIsInTheTable) {
  for (const FlowInfo& info : flow_table())
    for (const std::string_view name : info.counters)
      if (!name.empty()) {
        EXPECT_TRUE(find_counter(name)) << name;
      }
}

}  // namespace
}  // namespace linkhealth
