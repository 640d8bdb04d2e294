// What the engine makes of ports that go: one alone, all at once, the last one, and names that swap
// at a reboot.
#include <gmock/gmock.h>

#include "tests/daemon/engine/node_story.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;

TEST(PortsThatGo, OneAloneIsItsCard) {
  Node node(4);
  node.run(600);
  node.gone = {2};
  node.run(120);
  EXPECT_TRUE(node.events.empty()) << "a driver reload takes as long";
  node.run(200);
  ASSERT_EQ(node.events.size(), 1U);
  EXPECT_EQ(node.events[0].fault.fault, "nic_fault");
  EXPECT_EQ(node.events[0].port, "mlx5_2/1");
}

TEST(PortsThatGo, AllAtOnceAreOneMatterAndNoCable) {
  Node node(8);
  node.run(600);
  node.gone = {0, 1, 2, 3, 4, 5, 6, 7};
  node.run(1800);
  ASSERT_EQ(node.events.size(), 1U);
  EXPECT_EQ(node.events[0].fault.fault, "nic_fault");
  EXPECT_EQ(node.events[0].fault.end, End::kNode);
  EXPECT_THAT(node.events[0].fault.summary,
              HasSubstr("all 8 ports of this node disappeared together"));
  for (std::size_t i = 1; i < node.report->ports.size(); ++i) {
    ASSERT_EQ(node.report->ports[i].faults.size(), 1U) << node.report->ports[i].port;
    EXPECT_EQ(node.report->ports[i].faults.front().id, node.events[0].fault.id);
    EXPECT_EQ(node.report->ports[i].faults.front().ports.size(), 8U);
    EXPECT_NE(node.report->ports[i].health, Health::kHealthy);
  }
  // They come back: the one finding proves itself and closes, nothing else is said.
  node.gone.clear();
  node.run(6000);  // 5 min without symptoms, 15 min of proof
  EXPECT_EQ(node.events.back().kind, FaultEventKind::kClosed);
  EXPECT_EQ(node.events.size(), 3U);
  for (const PortReport& port : node.report->ports)
    EXPECT_EQ(port.health, Health::kHealthy) << port.port;
}

TEST(PortsThatGo, APortOfAnotherDriverThatStaysChangesNothing) {
  Node node(9);
  node.change = [](std::size_t i, PortSample& port) {
    if (i == 8) port.id.driver = "ionic";
  };
  node.run(600);
  node.gone = {0, 1, 2, 3, 4, 5, 6, 7};
  node.run(1800);
  ASSERT_EQ(node.events.size(), 1U);
  EXPECT_EQ(node.events[0].fault.fault, "nic_fault");
  EXPECT_THAT(node.events[0].fault.summary,
              HasSubstr("all 8 ports of mlx5_core disappeared together"));
  EXPECT_EQ(node.report->ports[8].health, Health::kHealthy);
}

TEST(PortsThatGo, TheLastOneIsReported) {
  Node node(1);
  node.run(600);
  node.gone = {0};
  node.run(600);
  ASSERT_EQ(node.events.size(), 1U);
  EXPECT_EQ(node.events[0].fault.fault, "nic_fault");
}

TEST(PortsThatGo, AShortReloadOfTheDriverIsNothing) {
  Node node(4);
  node.run(600);
  node.gone = {0, 1, 2, 3};
  node.run(100);
  node.gone.clear();
  node.run(3600);
  EXPECT_TRUE(node.events.empty());
}

TEST(PortsThatGo, AnUnexpectedPortMayDisappear) {
  Node node(2);
  node.feed.link.carrier = false;
  node.feed.link.carrier_up_count = 0;
  node.feed.link.speed_mbps.reset();
  node.run(600);
  for (const PortReport& port : node.report->ports) EXPECT_EQ(port.health, Health::kExempt);
  node.gone = {1};
  node.run(3600);
  EXPECT_TRUE(node.events.empty());
}

TEST(PortsThatGo, AnOpenFaultFollowsThePciAddressWhenNamesSwapAtAReboot) {
  Node node(2);
  node.run(1800);
  // Dirt on mlx5_1 alone.
  for (std::uint64_t i = 0; i < 120; ++i) {
    Snapshot snapshot = node.tick();
    PortSample& dirty = snapshot.ports.at("mlx5_1/1");
    for (ModuleLane& lane : dirty.module->lanes) lane.rx_power_mw = 0.1;
    dirty.counters->set("fec_corrected_bits", 1'000'000'000ULL + 4'000'000'000ULL * i);
    node.step(snapshot);
  }
  ASSERT_EQ(node.report->ports[1].faults.size(), 1U);
  const LedgerState kept = node.engine.ledger_state();
  const std::string id = node.report->ports[1].faults[0].id;
  Engine after(Story::settings());  // the node has booted, and the kernel named the devices the
                                    // other way round
  after.restore(kept);
  Snapshot snapshot = node.tick();
  std::swap(snapshot.ports.at("mlx5_0/1").id.pci, snapshot.ports.at("mlx5_1/1").id.pci);
  const auto report = after.step(snapshot).report;
  ASSERT_EQ(report->ports[0].faults.size(), 1U) << "mlx5_0 is the card now that was mlx5_1";
  EXPECT_EQ(report->ports[0].faults[0].id, id);
  EXPECT_TRUE(report->ports[1].faults.empty());
}

TEST(PortsThatGo, HistoryFollowsThePciAddressWhenNamesSwapWhileItRuns) {
  Node node(2);
  node.run(600);
  Snapshot fall = node.tick();
  fall.events.push_back({fall.taken_at, "mlx5_1/1", PortEventKind::kCarrierDown, ""});
  fall.events.push_back({fall.taken_at, "mlx5_1/1", PortEventKind::kCarrierUp, ""});
  fall.ports.at("mlx5_1/1").link->carrier_down_count = 1;
  node.engine.step(fall);
  Snapshot swapped = node.tick();
  std::swap(swapped.ports.at("mlx5_0/1").id.pci, swapped.ports.at("mlx5_1/1").id.pci);
  swapped.ports.at("mlx5_0/1").link->carrier_down_count = 1;
  const auto report = node.engine.step(swapped).report;
  EXPECT_EQ(report->ports[0].figures.involuntary_downs_total, 1U);
  EXPECT_EQ(report->ports[1].figures.involuntary_downs_total, 0U);
}

TEST(PortsThatGo, AFaultOfAPortThatNeverComesBackStaysInTheLedgerAndClosesWhenItComes) {
  Node node(1);
  node.run(600);
  node.gone = {0};
  node.run(600);
  ASSERT_EQ(node.events.size(), 1U);
  Engine after(Story::settings());
  after.restore(node.engine.ledger_state());
  node.engine = std::move(after);
  node.run(600);  // still gone: nothing is said again, nothing is lost
  EXPECT_EQ(node.events.size(), 1U);
  EXPECT_EQ(node.engine.ledger_state().faults.size(), 1U);
  node.gone.clear();
  node.run(100000);
  EXPECT_EQ(node.events.back().kind, FaultEventKind::kClosed)
      << "every raise has a reachable clear";
}

}  // namespace
}  // namespace linkhealth
