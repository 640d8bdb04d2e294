// Which losses count: those that the PHY counted, and not those of settings, of ports without a
// cable, of an administrator.
#include <gtest/gtest.h>

#include "model/history.h"
#include "tests/diagnosis/feed.h"

namespace linkhealth {
namespace {

/// One port of mlx5; its PHY counts its falls where a test lets it.
struct PhyPort {
  explicit PhyPort(const char* counter = "link_down_events_phy") : name(counter) {
    feed.counters.set(name, 7);
    run(5);
  }
  const PortHistory& port() const { return *history.find("mlx5_0/1"); }
  void run(int ticks) {
    for (int i = 0; i < ticks; ++i) history.observe(feed.tick());
  }
  /// The carrier goes and comes back between two readings.
  void blink(std::uint64_t times = 1) {
    *feed.link.carrier_down_count += times;
    *feed.link.carrier_up_count += times;
    run(1);
  }

  const char* name;
  History history;
  Feed feed;
};

// linux: mlx5e_switch_priv_channels() takes the carrier away while rings, channels or the MTU
// change.
TEST(PhyCounts, ALossThatThePhyDidNotCountIsOfASetting) {
  for (const char* counter : {"link_down_events_phy", "link_ext_down_count", "link_down_events"}) {
    PhyPort node(counter);
    node.blink(3);
    EXPECT_EQ(node.port().carrier.unplanned_total, 3U) << counter << ": the PHY may be behind";
    node.run(2);
    EXPECT_EQ(node.port().carrier.unplanned_total, 0U) << counter;
    EXPECT_EQ(node.port().carrier.planned_total, 3U) << counter;
    EXPECT_EQ(node.port().carrier.unplanned_losses(node.history.now(), 86400), 0U) << counter;
  }
}

TEST(PhyCounts, ALossThatThePhyCountedStandsAlsoWhenItIsBehind) {
  PhyPort node;
  node.feed.period_s = 1;
  node.blink();
  node.feed.add(node.name, 1);  // a reading later
  node.run(5);
  EXPECT_EQ(node.port().carrier.unplanned_total, 1U);
  node.feed.add(node.name, 1);  // a reading sooner
  node.run(1);
  EXPECT_EQ(node.port().carrier.unplanned_total, 1U);
  node.blink();
  node.run(5);
  EXPECT_EQ(node.port().carrier.unplanned_total, 2U);
}

TEST(PhyCounts, APortThatIsSetDownMayFallOrNot) {
  for (const std::uint64_t fell : {0U, 1U}) {
    PhyPort node;
    node.feed.event(PortEventKind::kAdminDown, node.feed.t + 1);
    node.feed.pull(node.feed.t + 1);
    node.feed.link.admin_up = false;
    node.feed.add(node.name, fell);
    node.run(5);
    EXPECT_EQ(node.port().carrier.unplanned_total, 0U) << fell;
    EXPECT_EQ(node.port().carrier.planned_total, 1U) << fell;
  }
}

TEST(PhyCounts, ACountThatBeginsAnewSaysNothing) {
  PhyPort node;
  node.feed.counters.set(node.name, 0);
  node.run(5);
  EXPECT_EQ(node.port().carrier.unplanned_total + node.port().carrier.planned_total, 0U);
}

// linux: mlx5e_get_link_ext_stats() gives 0 where the register could not be read.
TEST(PhyCounts, ZeroForAsLongAsTheFirmwareDoesNotAnswerIsNoReset) {
  for (const int silent : {1, 2, 7}) {
    PhyPort node("link_ext_down_count");
    node.feed.counters.set(node.name, 0);
    node.run(silent);
    node.feed.counters.set(node.name, 7);
    node.run(5);
    EXPECT_EQ(node.port().carrier.unplanned_total, 0U) << silent;
    node.feed.counters.set(node.name, 0);
    node.run(2);
    node.blink();
    node.run(3);
    EXPECT_EQ(node.port().carrier.unplanned_total, 1U) << "what says nothing excuses nothing";
    node.feed.counters.set(node.name, 8);
    node.run(5);
    EXPECT_EQ(node.port().carrier.unplanned_total, 1U) << silent;
  }
}

TEST(PhyCounts, NeverMindWhereTheCarrierIsNotCounted) {
  History history;
  Feed feed;
  feed.be_infiniband();
  feed.counters.set("link_down_events_phy", 1);
  history.observe(feed.tick());
  feed.counters.set("link_down_events_phy", 9);
  for (int i = 0; i < 5; ++i) history.observe(feed.tick());
  EXPECT_EQ(history.find("mlx5_0/1")->carrier.unplanned_total, 0U)
      << "link_downed is that count there";
}

// Prometheus takes a counter that goes down for one that began anew, and adds all of it again.
TEST(LossesAsExported, NeverGoDownAndNoneIsLost) {
  PhyPort node;
  node.blink(2);
  EXPECT_EQ(node.port().carrier.unplanned_exported, 2U);
  node.run(2);
  EXPECT_EQ(node.port().carrier.unplanned_total, 0U);
  EXPECT_EQ(node.port().carrier.unplanned_exported, 2U);
  node.feed.add(node.name, 3);
  node.blink(3);
  node.run(3);
  EXPECT_EQ(node.port().carrier.unplanned_total, 3U);
  EXPECT_EQ(node.port().carrier.unplanned_exported, 3U) << "what was meant pays for the next";
}

// linux: netif_carrier_event(), by which mlx5e_update_carrier() counts a gain and a loss where
// there was none.
TEST(CarrierCounts, OfMlx5ThatRiseTogetherOnALinkThatIsDownAreNoLosses) {
  for (const bool rise_together : {true, false}) {
    History history;
    Feed feed;
    feed.link.carrier = false;
    feed.link.carrier_up_count = feed.link.carrier_down_count = 0;
    history.observe(feed.tick());
    feed.link.carrier_down_count = 2;
    feed.link.carrier_up_count = rise_together ? 2 : 3;
    history.observe(feed.tick());
    EXPECT_EQ(history.find("mlx5_0/1")->carrier.unplanned_total, rise_together ? 0U : 2U);
  }
}

// An InfiniBand port has no IFF_UP: `ibportstate disable` shows in its physical state.
TEST(DisabledInfiniBandPorts, FallBecauseSomebodyWantsIt) {
  History history;
  Feed feed;
  feed.be_infiniband();
  const auto run = [&](int ticks) {
    for (int i = 0; i < ticks; ++i) history.observe(feed.tick());
  };
  run(40);
  feed.event(PortEventKind::kCarrierDown, feed.t + 1);
  feed.link.carrier = false;
  feed.link.state = "DOWN";
  feed.link.phys_state = "Disabled";
  run(60);  // longer than an intention lasts
  feed.link.phys_state = "Polling";
  run(2);
  const PortHistory& port = *history.find("mlx5_0/1");
  EXPECT_EQ(port.carrier.unplanned_total, 0U);
  EXPECT_EQ(port.carrier.planned_total, 1U);
  EXPECT_TRUE(port.carrier.admin_event_at) << "it was enabled again";
}

TEST(LastDrop, IsTheLastLossThatNobodyMeantHoweverLongAgo) {
  History history;
  Feed feed;
  const auto last = [&] { return history.find("mlx5_0/1")->carrier.last_unplanned_loss_at(); };
  const auto run = [&](int ticks) {
    for (int i = 0; i < ticks; ++i) history.observe(feed.tick());
  };
  run(40);
  EXPECT_FALSE(last()) << "it never fell";
  const WallTime fell = feed.tick().wall_time + from_seconds(1);
  feed.pull(feed.t + 1);
  feed.plug(feed.t + 3);
  run(40);
  ASSERT_TRUE(last());
  EXPECT_EQ(*last(), fell) << "when it fell, not when that was read";
  feed.event(PortEventKind::kAdminDown, feed.t + 1);
  feed.pull(feed.t + 2);
  feed.plug(feed.t + 3);
  run(40);
  EXPECT_EQ(last(), fell) << "an administrator's is none";
  feed.period_s = 3600;
  run(50);
  EXPECT_EQ(history.find("mlx5_0/1")->carrier.unplanned_losses(history.now(), 1e9), 0U)
      << "two days ago";
  EXPECT_EQ(last(), fell);
}

TEST(LastDrop, OutlivesARestart) {
  Feed feed;
  History before;
  before.observe(feed.tick());
  feed.pull(feed.t + 1);
  feed.plug(feed.t + 3);
  before.observe(feed.tick());
  const auto fell = before.find("mlx5_0/1")->carrier.last_unplanned_loss_at();
  ASSERT_TRUE(fell);
  History after;
  after.restore(before.references());
  after.observe(feed.tick());
  EXPECT_EQ(after.find("mlx5_0/1")->carrier.last_unplanned_loss_at(), fell);
  EXPECT_EQ(after.find("mlx5_0/1")->carrier.unplanned_total, 0U)
      << "what is counted begins with the monitor";
}

}  // namespace
}  // namespace linkhealth
