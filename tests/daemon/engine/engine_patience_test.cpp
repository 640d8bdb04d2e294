// What is said of a good link's bad minute: nothing. What is said of a bad link all the same, and
// when.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/daemon/engine/story.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A link that carried for an hour, then fell; nothing says why.
struct Fallen : Story {
  explicit Fallen(double period_s = 10) {
    feed.period_s = period_s;
    feed.module_readable = false;
    run(3600);
    feed.pull(feed.t + 1);
  }
  void back() { feed.plug(feed.t + 1); }
};

TEST(AFall, OfAMinuteAndAHalfThatNothingExplainsIsNotNamed) {
  for (const double period_s : {10.0, 30.0}) {
    Fallen story(period_s);
    story.run(90);
    story.back();
    story.run(1800);
    EXPECT_EQ(story.events, "") << "a link retrains by itself in up to two minutes";
  }
}

TEST(AFall, ThatStaysIsNamedAfterTwoMinutesThoughNothingExplainsIt) {
  Fallen story;
  story.run(150);
  EXPECT_THAT(story.events, HasSubstr("opened:"));
}

TEST(AFall, WithLightAsBeforeMayBeTraining) {
  Story story(3600);
  story.pull();
  story.run(110);
  story.plug();
  story.run(1800);
  EXPECT_EQ(story.events, "");
}

TEST(AFall, ThatAnOperatorEndsMayTakeAMinuteOfTraining) {
  for (const bool heard : {true, false}) {  // the event may be missed
    Story story;
    story.feed.period_s = 60;
    story.run(7200);
    const auto lanes = story.feed.module.lanes;
    story.set_down();
    for (ModuleLane& lane : story.feed.module.lanes) lane.tx_power_mw = lane.tx_bias_ma = 0;
    story.run(600);
    story.feed.module.lanes = lanes;
    story.feed.link.admin_up = true;
    story.feed.link.down_reason = {"Link training failure", "Remote side is not ready yet"};
    if (heard) story.feed.event(PortEventKind::kAdminUp, story.feed.t + 19);
    story.run(60);  // it trains
    story.feed.link.down_reason = {};
    story.feed.plug(story.feed.t + 4);
    story.run(3600);
    EXPECT_EQ(story.events.rfind("opened:"), 0U)
        << story.events << (heard ? "" : "(the event was missed)");
    EXPECT_THAT(story.events, HasSubstr("closed:admin_down"));
  }
}

TEST(AFall, IntoTheDarkIsNoTraining) {
  Story story(3600);
  story.lose_light();
  story.run(50);
  EXPECT_THAT(story.events, HasSubstr("opened:"));
}

TEST(AFall, OfALinkWithAnOpenFaultNeedsNoPatience) {
  Fallen story;
  story.run(200);
  ASSERT_THAT(story.events, HasSubstr("opened:far_port_down"));
  story.back();
  story.run(600);
  ASSERT_THAT(story.events, HasSubstr("proving:far_port_down"));
  story.pull();
  story.run(60);
  EXPECT_THAT(story.events, HasSubstr("reopened:far_port_down"));
}

/// One lane `db` below the others, from the first reading on.
Story low_lane(double db, double bits_per_s) {
  Story story;
  story.feed.bits_per_s = bits_per_s;
  story.feed.module.lanes[2].rx_power_mw = 0.8 * std::pow(10, -db / 10);
  story.run(3600);
  return story;
}

TEST(LittleLight, WithErrorsFarBelowAnyLimitIsALinkOfLowPower) {
  EXPECT_EQ(low_lane(4, 4000).events, "") << "1e-8: two decibels are left";
}

TEST(LittleLight, WithErrorsToGoWithItIsAFault) {
  EXPECT_THAT(low_lane(4, 4000000).events, HasSubstr("opened:dirty_connector"));
}

TEST(LittleLight, FarBeyondWhatGoodLanesDifferByIsAFaultAnyway) {
  EXPECT_THAT(low_lane(6.5, 4000).events, HasSubstr("opened:"));
}

TEST(LittleLight, AfterAnotherPatchCordIsNoFaultWithoutErrors) {
  for (const double lost_db : {1.3, 2.2, 4.5}) {
    Story story(3600);
    story.pull();
    story.run(20);
    story.plug();
    story.feed.receive_mw(0.8 * std::pow(10, -lost_db / 10));
    story.run(3600);
    EXPECT_EQ(story.events.empty(), lost_db < 3) << lost_db << " dB: " << story.events;
  }
}

TEST(LittleLight, AfterAnotherPatchCordIsAFaultWithErrors) {
  Story story(3600);
  story.pull();
  story.run(20);
  story.plug();
  story.feed.receive_mw(0.5);
  story.feed.bits_per_s = 4e6;
  story.run(900);
  EXPECT_THAT(story.events, HasSubstr("opened:damaged_fiber"));
}

/// Falls for ten seconds, so often, so far apart.
Story story_of_flaps(std::size_t times, double apart_s) {
  Story story;
  story.feed.period_s = 30;
  story.run(3600);
  for (std::size_t i = 0; i < times; ++i) {
    story.pull();
    story.feed.plug(story.feed.t + 11);
    story.run(apart_s);
  }
  return story;
}
std::string events_of_flaps(std::size_t times, double apart_s) {
  return story_of_flaps(times, apart_s).events;
}

TEST(Flaps, AFewHoursApartAreWhatGoodLinksDo) {
  EXPECT_EQ(events_of_flaps(3, 15000), "");
  EXPECT_EQ(events_of_flaps(4, 15000), "");
}

TEST(Flaps, NearEachOtherOrAllDayAreAFault) {
  EXPECT_THAT(events_of_flaps(3, 600), HasSubstr("opened:bad_module"));
  EXPECT_THAT(events_of_flaps(5, 15000), HasSubstr("opened:bad_module"));
}

TEST(Flaps, OftenAreCriticalAlsoWhileTheLinkIsUp) {
  for (const auto& [apart_s, severity] :
       {std::pair(600.0, Severity::kCritical), {15000.0, Severity::kWarning}}) {
    const Story story = story_of_flaps(5, apart_s);
    ASSERT_EQ(story.port().latest.link->carrier, true);
    ASSERT_FALSE(story.port().faults.empty());
    EXPECT_EQ(story.port().faults.at(0).severity, severity) << apart_s;
  }
}

TEST(AFall, AfterADriverReloadMayTakeThreeMinutes) {
  Story story(3600);
  story.feed.event(PortEventKind::kDeviceGone, story.feed.t + 1);
  story.lose_light();
  story.run(20);
  story.feed.event(PortEventKind::kDeviceAdded, story.feed.t + 1);
  story.run(150);
  EXPECT_EQ(story.events, "");
  story.run(120);
  EXPECT_THAT(story.events, HasSubstr("opened:"));
}

TEST(AModulesPageOfZeros, IsNoReading) {
  Story story;
  story.feed.period_s = 60;
  story.feed.module.supply_v = 3.3;
  story.run(600);
  const ModuleSample good = story.feed.module;
  for (int i = 0; i < 3; ++i) {
    story.feed.module.temperature_c = story.feed.module.supply_v = 0;
    for (ModuleLane& lane : story.feed.module.lanes)
      lane.rx_power_mw = lane.tx_power_mw = lane.tx_bias_ma = 0;
    story.run(60);
    story.feed.module = good;
    story.run(120);
  }
  EXPECT_EQ(story.events, "");
}

TEST(ABusyModule, ThatThenFailsOnceIsNotBlind) {
  Story story;
  story.feed.period_s = 60;
  story.run(3600);
  story.feed.module_readable = false;
  story.feed.gaps = {{story.feed.key, "module", "EBUSY"}};
  story.run(1200);
  story.feed.gaps = {{story.feed.key, "module", "EIO"}};
  story.run(600);
  EXPECT_EQ(story.events, "");
  story.run(600);
  EXPECT_EQ(story.events, "opened:monitor_blind ") << "a quarter of an hour of its own";
}

/// All lanes alike, 3 dB below what such modules receive; one of them has the errors.
TEST(LittleLight, OnAllLanesDoesNotExplainTheErrorsOfOne) {
  Story story;
  story.feed.module.type = "400G-SR8";
  story.feed.receive_mw(0.36);
  story.feed.module.lanes[0].rx_power_mw = 0.34;
  story.feed.fec_lanes.resize(4);
  story.feed.bits_per_s = 4e7;
  story.feed.bad_fec_lane = 2;
  story.run(1800);
  EXPECT_THAT(story.events, HasSubstr("opened:bad_module"));
}

/// A far port that was down, proves itself, and then something else is wrong with the link that
/// carries.
TEST(ALinkThatCarries, DoesNotReopenAFaultOfADownLink) {
  Story story(3600);
  story.lose_light();
  story.run(300);
  ASSERT_THAT(story.events, HasSubstr("opened:far_port_down"));
  story.plug();
  story.feed.receive_mw(0.4);
  story.feed.bits_per_s = 4e6;
  story.run(3600);
  EXPECT_THAT(story.events, Not(HasSubstr("reopened:far_port_down")));
  EXPECT_THAT(story.events, HasSubstr("closed:far_port_down opened:d"));
  story.events.clear();
  story.feed.bits_per_s = 4000;
  story.feed.receive_mw(0.8);
  story.run(20000);
  EXPECT_THAT(story.events, HasSubstr("closed:"));
}

/// A link without FEC, with a 16-bit error counter that is never cleared.
struct SixteenBits : Story {
  explicit SixteenBits(std::string which, std::string link_layer = "Ethernet")
      : counter(std::move(which)) {
    feed.link_layer = std::move(link_layer);
    feed.link.fec = "Off";
    feed.link.speed_mbps = 100000;
    feed.bits_per_s = 0;
    feed.counters = Counters();
  }
  void count(double seconds, std::uint64_t per_tick) {
    for (double t = 0; t < seconds; t += feed.period_s) {
      errors = std::min<std::uint64_t>(errors + per_tick, 0xFFFF);
      feed.counters.set("symbol_error", 0);
      feed.counters.set("port_rcv_errors", 0);
      feed.counters.set(counter, errors);
      feed.add("port_rcv_data", 1'000'000);
      run(feed.period_s);
    }
  }
  std::string counter;
  std::uint64_t errors = 0;
};

TEST(FullCounter, NeitherHoldsNorEndsAFault) {
  SixteenBits story("symbol_error");
  story.count(1800, 0);
  story.count(1200, 400);
  ASSERT_THAT(story.events, HasSubstr("opened:"));
  story.count(3 * 3600, 400);  // full after 27 minutes
  EXPECT_THAT(story.events, Not(HasSubstr("proving:")));
  story.errors = 0;  // the counter is cleared, and the link is good
  story.count(6 * 3600, 0);
  EXPECT_THAT(story.events, HasSubstr("closed:"));
}

// The worse the link, the sooner its counter says nothing any more: it was healthy for ever.
TEST(FullCounter, ThatFillsBeforeItsErrorsCanLastIsAFault) {
  for (const auto& [counter, per_tick] :
       {std::pair("port_rcv_errors", 600), {"port_rcv_errors", 2000}, {"symbol_error", 33000}}) {
    SCOPED_TRACE(counter + std::string(" ") + std::to_string(per_tick));
    SixteenBits story(counter, "InfiniBand");
    story.count(1800, 0);
    ASSERT_EQ(story.port().health, Health::kHealthy);
    story.count(3600, static_cast<std::uint64_t>(per_tick));
    EXPECT_THAT(story.events, HasSubstr("opened:"));
    story.count(3 * 3600, static_cast<std::uint64_t>(per_tick));
    EXPECT_THAT(story.events, Not(HasSubstr("proving:"))) << "nothing says that it ended";
  }
}

// What is full says neither that there are errors nor that there are none.
TEST(FullCounter, ThatWasFullFromTheStartIsUnknownAndAGap) {
  for (const char* counter : {"symbol_error", "port_rcv_errors"}) {
    SCOPED_TRACE(counter);
    SixteenBits story(counter, "InfiniBand");
    story.errors = 0xFFFF;
    story.count(1800, 0);
    EXPECT_EQ(story.port().health, Health::kUnknown);
    EXPECT_EQ(story.events, "");
    ASSERT_EQ(story.port().gaps.size(), 1U);
    EXPECT_EQ(story.port().gaps[0].probe, "counters");
    EXPECT_THAT(story.port().gaps[0].reason, HasSubstr(std::string(counter) + " is saturated"));
    story.errors = 0;
    story.count(1800, 0);
    EXPECT_EQ(story.port().health, Health::kHealthy);
    EXPECT_TRUE(story.port().gaps.empty());
  }
}

// Of these others say how the link is; what they would have said is not known, and that is said.
TEST(FullCounter, OfRecoveriesLossesOrTheCardIsAGapAndNoVerdict) {
  const struct {
    const char* counter;
    std::uint64_t full;
  } rows[] = {{"link_error_recovery", 255},
              {"link_downed", 255},
              {"local_link_integrity_errors", 15},
              {"excessive_buffer_overrun_errors", 15},
              {"port_rcv_remote_physical_errors", 65535}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.counter);
    SixteenBits story(row.counter, "InfiniBand");
    story.errors = row.full;
    story.count(1800, 0);
    ASSERT_EQ(story.port().gaps.size(), 1U);
    EXPECT_THAT(story.port().gaps[0].reason, HasSubstr(std::string(row.counter) + " is saturated"));
    EXPECT_EQ(story.port().health, Health::kHealthy);
    EXPECT_EQ(story.events, "");
  }
}

}  // namespace
}  // namespace linkhealth
