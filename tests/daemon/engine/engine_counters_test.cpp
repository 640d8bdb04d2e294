// One counter rises under load and nothing else is wrong: what the engine makes of each.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <ostream>

#include "tests/daemon/engine/story.h"

namespace linkhealth {
namespace {

struct Row {
  const char* counter;
  double per_s;
  const char* layer;
  const char* faults;  ///< any of them
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.counter; }

/// Of a snapshot, which counters are there.
using Reads = std::function<bool(const CounterInfo& counter, int tick)>;

/// A link at half its rate, read once a minute.
struct Loaded : Story {
  Reads reads;  ///< empty: each counter each time
  int ticks = 0;

  Loaded() {
    feed.period_s = 60;
    for (const char* quiet :
         {"out_of_buffer", "packet_seq_err", "port_xmit_discards", "phy_SymbolErrorDuringCarrier"})
      feed.counters.set(quiet, 3);
  }
  void carry(double seconds, const char* layer,
             const std::function<void(Feed&)>& meanwhile = nullptr) {
    for (const double end = feed.t + seconds; feed.t < end;) {
      const auto words = static_cast<std::uint64_t>(6.25e9 * feed.period_s);
      feed.add("port_rcv_data", words);
      feed.add("port_xmit_data", words);
      if (meanwhile) meanwhile(feed);
      Snapshot snapshot = feed.tick();
      snapshot.ports.begin()->second.id.link_layer = layer;
      if (reads) snapshot.ports.begin()->second.counters = read_now();
      const Engine::Step step = engine.step(snapshot);
      report = step.report;
      for (const FaultEvent& event : step.events)
        events += std::string(to_string(event.kind)) + ":" + event.fault.fault + " ";
    }
  }
  /// 2 h of `row` after half an hour of load alone.
  void rise(const Row& row) {
    feed.counters.set(row.counter, 1);
    carry(1800, row.layer);
    EXPECT_EQ(events, "");
    carry(7200, row.layer, [&row, owed = 0.0](Feed& fed) mutable {
      owed += row.per_s * fed.period_s;
      const auto whole = static_cast<std::uint64_t>(owed);
      fed.add(row.counter, whole);
      owed -= static_cast<double>(whole);
    });
    ASSERT_NE(named(), "");
    EXPECT_NE(std::string(row.faults).find(named()), std::string::npos) << named();
  }
  [[nodiscard]] Counters read_now() {
    Counters due;
    for (const auto& [id, value] : feed.counters.known())
      if (reads(known_counters()[id], ticks)) due.set(known_counters()[id].name, value);
    ++ticks;
    return due;
  }
  [[nodiscard]] std::string named() const {
    std::string text;
    for (const auto& port : report->ports)
      for (const auto& fault : port.faults) text += fault.fault;
    return text;
  }
};

/// Drivers' own statistics come once a minute, each classic file in its turn, all others each ten
/// seconds; the netdev does not count what RDMA carries, as with mlx5.
struct AtSlowPeriods : Loaded {
  AtSlowPeriods() {
    feed.period_s = 10;
    feed.counters.set("netdev_rx_bytes", 5);
    feed.counters.set("netdev_tx_bytes", 5);
    reads = [](const CounterInfo& counter, int tick) {
      if (counter.source == CounterSource::kEthtoolDriver) return tick % 6 == 5;
      if (counter.source != CounterSource::kIbPort) return true;
      const int turn = static_cast<int>(counter.name.size()) % 6;
      return counter.place == CounterPlace::kTraffic ? tick % 12 == turn : tick % 6 == turn;
    };
  }
};

class OneCounter : public testing::TestWithParam<Row> {};

TEST_P(OneCounter, ThatRisesUnderLoadIsNamed) { Loaded().rise(GetParam()); }

TEST_P(OneCounter, ThatIsReadAtItsOwnPeriodIsNamedToo) { AtSlowPeriods().rise(GetParam()); }

constexpr Row kRows[] = {
    {"mac_FrameCheckSequenceErrors", 0.3, "Ethernet", "loss_elsewhere"},
    {"netdev_rx_crc_errors", 0.3, "Ethernet", "loss_elsewhere"},
    {"rx_icrc_encapsulated", 0.3, "Ethernet", "loss_elsewhere"},
    {"port_rcv_remote_physical_errors", 0.3, "InfiniBand", "loss_elsewhere"},
    {"pause_tx_pause_frames", 150, "Ethernet", "host_bottleneck"},
    {"tx_prio3_pause", 150, "Ethernet", "host_bottleneck"},
    {"rx_prio3_pause", 90, "Ethernet", "congestion"},
    {"rx_pfc_ena_frames_pri3", 90, "Ethernet", "congestion"},
    {"rx_priority_3_xoff.nic", 90, "Ethernet", "congestion"},
    {"frames_rx_pripause", 90, "Ethernet", "congestion"},
    {"tx_pfc_frames", 150, "Ethernet", "host_bottleneck"},
    {"tx_priority_3_xoff.nic", 150, "Ethernet", "host_bottleneck"},
    {"frames_tx_pripause", 150, "Ethernet", "host_bottleneck"},
    {"rx_prio3_buf_discard", 5, "Ethernet", "host_bottleneck"},
    {"rx_prio3_discards", 5, "Ethernet", "host_bottleneck"},
    {"netdev_rx_missed_errors", 3, "Ethernet", "host_bottleneck"},
    {"outbound_pci_stalled_wr_events", 0.8, "Ethernet", "host_bottleneck pcie_degraded"},
    {"port_xmit_discards", 2, "InfiniBand", "congestion"},
    {"port_rcv_errors", 0.5, "InfiniBand", "bad_module dirty_connector"},
    {"excessive_buffer_overrun_errors", 0.02, "InfiniBand", "nic_fault"},
    {"rx_pci_signal_integrity", 0.05, "Ethernet", "pcie_degraded"},
    {"res_tx_pci_err", 0.05, "Ethernet", "pcie_degraded"},
    {"module_bus_stuck", 0.005, "Ethernet", "bad_module"},
    {"module_high_temp", 0.005, "Ethernet", "module_overheated"},
};
INSTANTIATE_TEST_SUITE_P(Counters, OneCounter, testing::ValuesIn(kRows), [](const auto& each) {
  std::string name = each.param.counter;
  std::ranges::replace(name, '.', '_');
  return name;
});

void has_a_peak(const Row& row, Loaded story) {
  if (std::string_view(row.counter).starts_with("module_")) return;
  story.feed.counters.set(row.counter, 1);
  story.carry(3600, row.layer);
  int times = 3;
  story.carry(180, row.layer, [&row, &times](Feed& feed) {
    if (times-- > 0) feed.add(row.counter, 3);
  });
  story.carry(3600, row.layer);
  EXPECT_EQ(story.events, "") << row.counter;
}
TEST(OneCounter, APeakOfThreeMinutesIsNothing) {
  for (const Row& row : kRows) {
    has_a_peak(row, Loaded());
    has_a_peak(row, AtSlowPeriods());
  }
}

TEST(OneCounter, FramesLongerThanTheMtuBreakNoCard) {
  Loaded story;
  story.feed.counters.set("tx_errors_phy", 1);
  story.carry(7200, "Ethernet", [](Feed& feed) { feed.add("tx_errors_phy", 6); });
  EXPECT_EQ(story.events, "");
}

/// Before Linux 5.18 mlx5 had no ETHTOOL_A_FEC_STATS: bits and symbols come once a minute, by its
/// own names.
TEST(OneCounter, AnErrorRatioThatComesOnceAMinuteIsJudged) {
  AtSlowPeriods story;
  story.feed.bits_per_s = 0;
  story.feed.counters = Counters();
  story.feed.counters.set("rx_corrected_bits_phy", 1);
  story.feed.counters.set("rx_pcs_symbol_err_phy", 1);
  const auto bits = [](std::uint64_t per_tick) {
    return [per_tick](Feed& feed) { feed.add("rx_corrected_bits_phy", per_tick); };
  };
  story.carry(3600, "Ethernet", bits(40'000));
  EXPECT_EQ(story.events, "");
  story.carry(3600, "Ethernet", [&bits](Feed& feed) {
    bits(1'600'000'000)(feed);  // 4e-4
    feed.add("rx_pcs_symbol_err_phy", 5);
  });
  EXPECT_NE(story.named(), "") << story.events;
}

TEST(OneCounter, BadFramesWithLostCodewordsAreDamageOnThisLink) {
  Loaded story;
  story.feed.counters.set("mac_FrameCheckSequenceErrors", 1);
  story.carry(1800, "Ethernet");
  story.carry(7200, "Ethernet", [](Feed& feed) {
    feed.add("fec_uncorrectable_blocks", 3);
    feed.add("mac_FrameCheckSequenceErrors", 3);
  });
  EXPECT_EQ(story.events.find("loss_elsewhere"), std::string::npos) << story.events;
  EXPECT_NE(story.named(), "");
}

TEST(OneCounter, CountersThatAreReadLaterAddNoFault) {
  Loaded story;
  story.feed.period_s = 10;
  for (const char* name :
       {"mac_FrameCheckSequenceErrors", "netdev_rx_crc_errors", "rx_crc_errors_phy"})
    story.feed.counters.set(name, 1);
  story.carry(1800, "Ethernet");
  int tick = 0;
  story.carry(7200, "Ethernet", [&tick](Feed& feed) {
    const int of_minute = tick++ % 6;
    if (of_minute == 0) feed.add("fec_uncorrectable_blocks", 10);
    if (of_minute == 0) feed.add("mac_FrameCheckSequenceErrors", 10);
    if (of_minute == 2) feed.add("netdev_rx_crc_errors", 10);
    if (of_minute == 5)
      feed.add("rx_crc_errors_phy", 10);  // the driver's own are read once a minute
  });
  EXPECT_EQ(story.events.find("loss_elsewhere"), std::string::npos) << story.events;
  EXPECT_NE(story.named(), "");
}

}  // namespace
}  // namespace linkhealth
