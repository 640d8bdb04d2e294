// One counter rises under load and nothing else is wrong: what the engine makes of each.
#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "tests/daemon/story.h"

namespace linkhealth {
namespace {

struct Row {
  const char* counter;
  double per_s;
  const char* layer;
  const char* faults;  ///< any of them
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.counter; }

/// A link at half its rate, read once a minute.
struct Loaded : Story {
  Loaded() {
    feed.period_s = 60;
    for (const char* quiet : {"out_of_buffer", "packet_seq_err", "port_xmit_discards", "phy_SymbolErrorDuringCarrier"})
      feed.counters.set(quiet, 3);
  }
  void carry(double seconds, const char* layer, const std::function<void(Feed&)>& meanwhile = nullptr) {
    for (const double end = feed.t + seconds; feed.t < end;) {
      const auto words = static_cast<std::uint64_t>(6.25e9 * feed.period_s);
      feed.add("port_rcv_data", words);
      feed.add("port_xmit_data", words);
      if (meanwhile) meanwhile(feed);
      Snapshot snapshot = feed.tick();
      snapshot.ports.begin()->second.id.link_layer = layer;
      const Engine::Step step = engine.step(snapshot);
      report = step.report;
      for (const FaultEvent& event : step.events)
        events += std::string(to_string(event.kind)) + ":" + event.fault.fault + " ";
    }
  }
  [[nodiscard]] std::string named() const {
    std::string text;
    for (const auto& port : report->ports)
      for (const auto& fault : port.faults) text += fault.fault;
    return text;
  }
};

class OneCounter : public testing::TestWithParam<Row> {};

TEST_P(OneCounter, ThatRisesUnderLoadIsNamed) {
  const Row& row = GetParam();
  Loaded story;
  story.feed.counters.set(row.counter, 1);
  story.carry(1800, row.layer);
  EXPECT_EQ(story.events, "");
  story.carry(7200, row.layer, [&row, owed = 0.0](Feed& feed) mutable {
    owed += row.per_s * feed.period_s;
    const auto whole = static_cast<std::uint64_t>(owed);
    feed.add(row.counter, whole);
    owed -= static_cast<double>(whole);
  });
  ASSERT_NE(story.named(), "");
  EXPECT_NE(std::string(row.faults).find(story.named()), std::string::npos) << story.named();
}

constexpr Row kRows[] = {
    {"mac_FrameCheckSequenceErrors", 0.3, "Ethernet", "loss_elsewhere"},
    {"netdev_rx_crc_errors", 0.3, "Ethernet", "loss_elsewhere"},
    {"rx_icrc_encapsulated", 0.3, "Ethernet", "loss_elsewhere"},
    {"port_rcv_remote_physical_errors", 0.3, "InfiniBand", "loss_elsewhere"},
    {"pause_tx_pause_frames", 150, "Ethernet", "host_bottleneck"},
    {"tx_prio3_pause", 150, "Ethernet", "host_bottleneck"},
    {"rx_prio3_pause", 90, "Ethernet", "congestion"},
    {"rx_prio3_discards", 5, "Ethernet", "host_bottleneck"},
    {"netdev_rx_missed_errors", 3, "Ethernet", "host_bottleneck"},
    {"outbound_pci_stalled_wr_events", 0.8, "Ethernet", "host_bottleneck pcie_degraded"},
    {"port_xmit_discards", 2, "InfiniBand", "congestion"},
    {"port_rcv_errors", 0.5, "InfiniBand", "bad_module dirty_connector"},
    {"excessive_buffer_overrun_errors", 0.02, "InfiniBand", "nic_fault"},
    {"tx_errors_phy", 0.1, "Ethernet", "nic_fault"},
    {"rx_pci_signal_integrity", 0.05, "Ethernet", "pcie_degraded"},
    {"res_tx_pci_err", 0.05, "Ethernet", "pcie_degraded"},
    {"module_bus_stuck", 0.005, "Ethernet", "bad_module"},
    {"module_high_temp", 0.005, "Ethernet", "module_overheated"},
};
INSTANTIATE_TEST_SUITE_P(Counters, OneCounter, testing::ValuesIn(kRows),
                         [](const auto& each) { return std::string(each.param.counter); });

TEST(OneCounter, APeakOfFiveMinutesIsNothing) {
  for (const Row& row : kRows) {
    if (std::string_view(row.counter).starts_with("module_")) continue;
    Loaded story;
    story.feed.counters.set(row.counter, 1);
    story.carry(3600, row.layer);
    story.carry(180, row.layer, [&row](Feed& feed) { feed.add(row.counter, 3); });
    story.carry(3600, row.layer);
    EXPECT_EQ(story.events, "") << row.counter;
  }
}

TEST(OneCounter, BadFramesBesideLostCodewordsAreDamageDoneHere) {
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

TEST(OneCounter, LateWordOfTheSameFramesIsNoNews) {
  Loaded story;
  story.feed.period_s = 10;
  for (const char* name : {"mac_FrameCheckSequenceErrors", "netdev_rx_crc_errors", "rx_crc_errors_phy"})
    story.feed.counters.set(name, 1);
  story.carry(1800, "Ethernet");
  int tick = 0;
  story.carry(7200, "Ethernet", [&tick](Feed& feed) {
    const int of_minute = tick++ % 6;
    if (of_minute == 0) feed.add("fec_uncorrectable_blocks", 10);
    if (of_minute == 0) feed.add("mac_FrameCheckSequenceErrors", 10);
    if (of_minute == 2) feed.add("netdev_rx_crc_errors", 10);
    if (of_minute == 5) feed.add("rx_crc_errors_phy", 10);  // the driver's own are read once a minute
  });
  EXPECT_EQ(story.events.find("loss_elsewhere"), std::string::npos) << story.events;
  EXPECT_NE(story.named(), "");
}

}  // namespace
}  // namespace linkhealth
