// Which link downs count, how many they were, and which of them were planned.
#include <gtest/gtest.h>

#include <functional>

#include "tests/model/history/one_port.h"

namespace linkhealth {
namespace {

struct Port : OnePort {
  /// The carrier goes and comes back between two readings.
  void blink(std::uint64_t times = 1) {
    *feed.link.carrier_down_count += times;
    *feed.link.carrier_up_count += times;
    run(1);
  }
  /// A snapshot without the link, and with this count of link downs.
  void read_counters_alone(std::uint64_t link_downed) {
    feed.counters.set("link_downed", link_downed);
    OnePort::read([](PortSample& sample) { sample.link.reset(); });
  }
  void fall() {
    feed.event(PortEventKind::kCarrierDown, feed.t + 1);
    feed.link.carrier = false;
  }
  void rise() {
    feed.event(PortEventKind::kCarrierUp, feed.t + 1);
    feed.link.carrier = true;
  }
  /// One tick with this count of link downs. How many unplanned ones are known then.
  std::uint64_t read(const char* counter, std::uint64_t value) {
    feed.counters.set(counter, value);
    run(1);
    return carrier().unplanned_total;
  }
};

TEST(LinkDowns, TheLargestCountOfAllSourcesIsRight) {
  LinkDownCount count;
  using enum LinkDownCount::Source;
  EXPECT_EQ(count.add(kTransitions, 1), 1U);
  EXPECT_EQ(count.add(kPortCounter, 1), 0U) << "the same one";
  EXPECT_EQ(count.add(kPortCounter, 3), 3U);
  EXPECT_EQ(count.add(kTransitions, 1), 0U) << "one of the three";
  EXPECT_EQ(count.add(kTransitions, 1), 1U) << "after them";
  EXPECT_EQ(count.add(kPortCounter, 1), 0U);
}

struct Row {
  const char* what;
  std::function<void(Port&)> story;  ///< after five ticks with a link
  std::uint64_t unplanned, planned;
};

TEST(LinkDowns, EachCountsOnceAndPlannedOnesSeparately) {
  const Row rows[] = {
      {"ten between two readings", [](Port& p) { p.blink(10); }, 10, 0},
      {"an event and the count of the same one",
       [](Port& p) {
         p.feed.pull(p.feed.t + 3);
         p.feed.plug(p.feed.t + 6);
         p.run(1);
       },
       1, 0},
      {"an administrator's, with a late event",
       [](Port& p) {
         p.run(40);
         p.feed.pull(p.feed.t + 1);
         p.run(2);
         EXPECT_EQ(p.carrier().unplanned_total, 1U);
         p.feed.event(PortEventKind::kAdminDown, p.feed.t + 1);
         p.run(1);
       },
       0, 1},
      {"after a reboot",
       [](Port& p) {
         p.run(40);
         p.feed.uptime_s = 20;
         p.feed.link.carrier_down_count = 0;
         p.run(1);
         p.feed.pull(p.feed.t + 1);
         p.run(1);
         EXPECT_TRUE(p.carrier().reboot_at);
       },
       0, 1},
      // linux: netif_carrier_event(), by which mlx5e_update_carrier() counts a gain and a loss
      // where there was none.
      {"mlx5's counts that rise together on a link that is down",
       [](Port& p) {
         p.feed.pull(p.feed.t + 1);
         p.run(1);
         p.blink(2);
       },
       1, 0},
      {"counts that do not rise together",
       [](Port& p) {
         p.feed.pull(p.feed.t + 1);
         p.run(1);
         ++*p.feed.link.carrier_up_count;
         p.blink(2);
       },
       3, 0},
      {"a recovery from errors is no link down",
       [](Port& p) {
         p.feed.link.carrier.reset();
         p.feed.link.carrier_down_count.reset();
         p.feed.link.phys_state = "LinkErrorRecovery";
         p.run(1);
         EXPECT_EQ(p.carrier().up, true);
       },
       0, 0},
  };
  for (const Row& row : rows) {
    Port port;
    port.run(5);
    row.story(port);
    EXPECT_EQ(port.carrier().unplanned_total, row.unplanned) << row.what;
    EXPECT_EQ(port.carrier().planned_total, row.planned) << row.what;
  }
}

// An InfiniBand port has no IFF_UP: `ibportstate disable` shows in its physical state.
TEST(LinkDowns, OfADisabledInfiniBandPortArePlanned) {
  Port port;
  port.feed.be_infiniband();
  port.run(40);
  port.fall();
  port.feed.link.state = "DOWN";
  port.feed.link.phys_state = "Disabled";
  port.run(60);  // longer than an intention lasts
  port.feed.link.phys_state = "Polling";
  port.run(2);
  EXPECT_EQ(port.carrier().unplanned_total, 0U);
  EXPECT_EQ(port.carrier().planned_total, 1U);
  EXPECT_TRUE(port.carrier().admin_event_at) << "it was enabled again";
}

TEST(LinkDowns, TheAdministrativeStateShowsAMissedEvent) {
  Port port;
  port.run(3);
  port.feed.link.admin_up = false;
  port.feed.link.carrier = false;
  port.run(60);
  port.feed.link.admin_up = true;
  port.run(1);
  EXPECT_EQ(port.carrier().admin_event_at, port.history.now());
}

TEST(LinkDowns, ArePlannedAtTheStartWhereTheUptimeIsUnknown) {
  Port port;
  const auto read = [&port] {
    Snapshot snapshot = port.feed.tick();
    snapshot.uptime_s.reset();
    port.history.observe(snapshot);
  };
  read();
  port.feed.pull(port.feed.t + 5);
  read();
  EXPECT_EQ(port.carrier().unplanned_losses(port.history.now(), 3600), 0U);
}

TEST(LinkDowns, AreBounded) {
  Port port;
  port.feed.period_s = 1;
  for (int i = 0; i < 2000; ++i) {
    port.feed.pull(port.feed.t + 0.1);
    port.feed.plug(port.feed.t + 0.2);
    port.run(1);
  }
  EXPECT_LE(port.carrier().losses.size(), 512U);
  EXPECT_EQ(port.carrier().unplanned_total, 2000U);
}

/// InfiniBand has no carrier count: link_downed counts those between readings.
struct InfiniBand : Port {
  InfiniBand() { feed.be_infiniband(); }
  std::uint64_t read(std::uint64_t link_downed) { return Port::read("link_downed", link_downed); }
};

TEST(LinkDowned, CountsLinkDownsBetweenReadings) {
  InfiniBand port;
  for (std::uint64_t downs = 300; downs <= 305; ++downs) port.read(downs);
  EXPECT_EQ(port.carrier().losses.size(), 5U) << "one before each reading";
}

TEST(LinkDowned, AWrongReadingIsNoLinkDown) {
  InfiniBand port;
  for (int i = 0; i < 5; ++i) port.read(3);
  for (const std::uint64_t value : {0U, 3U, 0U, 1U}) EXPECT_EQ(port.read(value), 0U) << value;
  EXPECT_EQ(port.read(2), 1U) << "it was reset, and the link fell since";
}

TEST(LinkDowned, ASaturatedFileBetweenTwoReadingsOfTheAgentIsNone) {
  InfiniBand port;
  port.read(300);
  port.fall();
  EXPECT_EQ(port.read(255), 1U) << "the file has eight bits";
  port.rise();
  EXPECT_EQ(port.read(301), 1U);
  port.read(303);
  EXPECT_EQ(port.read(255), 3U);
  EXPECT_EQ(port.read(310), 10U) << "the agent counts on";
}

/// Counters may come a snapshot before the state of the same link down.
TEST(LinkDowned, ALinkDownThatIsCountedBeforeItIsSeenCountsOnce) {
  InfiniBand port;
  port.read(0);
  port.read_counters_alone(1);
  EXPECT_EQ(port.carrier().unplanned_total, 1U);
  port.fall();
  port.run(1);
  EXPECT_EQ(port.carrier().unplanned_total, 1U) << "the same one";
  port.rise();
  port.run(1);
  port.read_counters_alone(2);  // fell and came back before the link was read
  port.run(1);
  port.fall();
  EXPECT_EQ(port.read(3), 3U) << "another one";
}

/// A port whose PHY counts link downs.
struct PhyPort : Port {
  explicit PhyPort(const char* counter = "link_down_events_phy") : name(counter) {
    feed.counters.set(name, 7);
    run(5);
  }
  const char* name;
};

// linux: mlx5e_switch_priv_channels() takes the carrier away while rings, channels or the MTU
// change.
TEST(PhyCounts, ALossThatThePhyDidNotCountIsPlanned) {
  for (const char* counter : {"link_down_events_phy", "link_ext_down_count", "link_down_events"}) {
    PhyPort port(counter);
    port.blink(3);
    EXPECT_EQ(port.carrier().unplanned_total, 3U) << counter << ": the PHY may be behind";
    port.run(2);
    EXPECT_EQ(port.carrier().unplanned_total, 0U) << counter;
    EXPECT_EQ(port.carrier().planned_total, 3U) << counter;
    EXPECT_EQ(port.carrier().unplanned_losses(port.history.now(), 86400), 0U) << counter;
  }
}

TEST(PhyCounts, ALossThatThePhyCountedIsUnplannedAlsoWithALag) {
  PhyPort port;
  port.feed.period_s = 1;
  port.blink();
  port.feed.add(port.name, 1);  // a reading later
  port.run(20);
  EXPECT_EQ(port.carrier().unplanned_total, 1U);
  port.feed.add(port.name, 1);  // a reading sooner
  port.run(1);
  port.blink();
  port.run(20);
  EXPECT_EQ(port.carrier().unplanned_total, 2U);
}

TEST(PhyCounts, AreIgnoredWhenResetOrReadWrongly) {
  PhyPort port;
  for (const std::uint64_t count : {0U, 7U, 7U, 2U, 2U, 7U})
    EXPECT_EQ(port.read(port.name, count), 0U) << count;
  EXPECT_EQ(port.carrier().planned_total, 0U);
}

// linux: mlx5e_get_link_ext_stats() gives 0 where the register could not be read.
TEST(PhyCounts, ZeroWhileTheFirmwareDoesNotAnswerPlansNothing) {
  for (const int silent : {1, 2, 7}) {
    PhyPort port("link_ext_down_count");
    port.feed.counters.set(port.name, 0);
    port.run(silent);
    port.blink();
    port.run(3);
    EXPECT_EQ(port.carrier().unplanned_total, 1U);
    port.feed.counters.set(port.name, 8);
    port.run(5);
    EXPECT_EQ(port.carrier().unplanned_total, 1U) << silent;
  }
}

// Prometheus takes a counter that decreases for one that was reset, and adds all of it again.
TEST(ExportedLosses, NeverDecreaseAndNoneIsLost) {
  PhyPort port;
  port.blink(2);
  EXPECT_EQ(port.carrier().unplanned_exported, 2U);
  port.run(2);
  EXPECT_EQ(port.carrier().unplanned_total, 0U);
  EXPECT_EQ(port.carrier().unplanned_exported, 2U);
  port.feed.period_s = 1;
  port.feed.add(port.name, 3);
  port.blink(3);
  port.run(9);
  EXPECT_EQ(port.carrier().unplanned_total, 3U);
  EXPECT_EQ(port.carrier().unplanned_exported, 3U) << "compensated at the next one";
}

TEST(LastLoss, IsTheLastUnplannedOneAlsoOverARestart) {
  Port port;
  const auto last = [&] { return port.carrier().last_unplanned_loss_at(); };
  port.run(40);
  EXPECT_FALSE(last()) << "never down";
  const WallTime fell = port.feed.tick().wall_time + from_seconds(1);
  port.feed.pull(port.feed.t + 1);
  port.feed.plug(port.feed.t + 3);
  port.run(40);
  ASSERT_TRUE(last());
  EXPECT_EQ(*last(), fell) << "when it went down, not when that was read";
  port.feed.event(PortEventKind::kAdminDown, port.feed.t + 1);
  port.feed.pull(port.feed.t + 2);
  port.feed.plug(port.feed.t + 3);
  port.run(40);
  EXPECT_EQ(last(), fell) << "an administrator's does not count";
  port.feed.period_s = 3600;
  port.run(50);
  EXPECT_EQ(port.carrier().unplanned_losses(port.history.now(), 1e9), 0U) << "two days ago";
  EXPECT_EQ(last(), fell);
  Port after;
  after.history.restore(port.history.references());
  after.run(1);
  EXPECT_EQ(after.carrier().last_unplanned_loss_at(), fell);
  EXPECT_EQ(after.carrier().unplanned_total, 0U) << "totals count from the monitor's start";
}

}  // namespace
}  // namespace linkhealth
