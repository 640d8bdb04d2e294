// The first name is a name that stands, and its number is the evidence's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/daemon/engine/story.h"

namespace linkhealth {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Whose module is read each so many seconds, later than its errors begin.
struct SlowModule : Story {
  explicit SlowModule(double every_s) : every(every_s) {}
  void run_slowly(double seconds) {
    for (const double end = feed.t + seconds; feed.t < end;) {
      feed.module_readable = std::fmod(feed.t + feed.period_s, every) < feed.period_s;
      run(feed.period_s);
    }
  }
  double every;
};

class FirstName : public testing::TestWithParam<double> {};

TEST_P(FirstName, IsNotABadModuleForLightThatWasReadBeforeTheErrors) {
  SlowModule story(GetParam());
  story.run_slowly(3600 + 20);  // read 20 s ago
  story.soil_lane_2();
  story.run_slowly(900);
  ASSERT_FALSE(story.all.empty());
  EXPECT_THAT(story.events, Not(HasSubstr("bad_module")));
  EXPECT_EQ(story.port().faults.front().fault, "dirty_connector");
}
INSTANTIATE_TEST_SUITE_P(ReadEach, FirstName, testing::Values(60.0, 120.0, 300.0));

TEST(FirstNameLight, AModuleIsAskedForWhenErrorsBegin) {
  Story story(3600);
  story.feed.module_readable = false;
  story.soil_lane_2();
  std::vector<PortKey> asked;
  for (int i = 0; i < 20; ++i)
    for (const PortKey& port : story.engine.step(story.feed.tick()).unread_modules)
      asked.push_back(port);
  EXPECT_EQ(asked, std::vector<PortKey>{"mlx5_0/1"}) << "once";
}

TEST(FirstNameLight, OfALinkThatFellNoReadingFromBeforeCounts) {
  Story story(3600);
  story.feed.module_readable = false;
  story.pull();
  story.run(120);
  for (const SymptomVerdict& row : story.port().symptoms)
    if (row.symptom == "light_there" || row.symptom == "light_low" || row.symptom == "no_light") {
      EXPECT_EQ(row.verdict, "unknown") << row.symptom;
    }
  EXPECT_FALSE(story.port().figures.worst_rx_power_dbm) << "nothing old is drawn as now";
}

// A signal that died is no port that somebody set down.
TEST(BeforeTheFall, SecondsOfLossAreKept) {
  for (const double lost_s : {0.05, 2.0}) {
    Story story(3600);
    story.pull();
    story.feed.add("fec_uncorrectable_blocks",
                   static_cast<std::uint64_t>(lost_s * 400e9 * 1.0625 / 5440));
    story.run(120);
    const auto& symptoms = story.port().symptoms;
    const auto row = std::ranges::find(symptoms, "errors_before_fall", &SymptomVerdict::symptom);
    EXPECT_EQ(row->verdict == "present", lost_s > 1) << lost_s;
  }
}

TEST(TheNumber, DoesNotRiseBecauseTheFaultIsOpen) {
  Story story(3600);
  story.lose_light();
  story.run(100);
  ASSERT_EQ(story.all.size(), 1U) << story.events;
  const double first = story.all.front().fault.confidence;
  story.run(200);
  ASSERT_FALSE(story.port().faults.empty());
  const FaultReport& fault = story.port().faults.front();
  EXPECT_NEAR(fault.confidence, first, 0.02);
  ASSERT_FALSE(fault.differential.empty());
  EXPECT_EQ(fault.differential.front().confidence, fault.confidence);
}

TEST(TheNumber, OfNamesThatCannotBeToldApartIsToldTogether) {
  Story story(3600);
  story.lose_light();
  story.run(200);
  const FaultReport& fault = story.port().faults.at(0);
  ASSERT_TRUE(fault.undecided.has_value());
  double sum = 0;
  for (const Candidate& name : fault.undecided->names) sum += name.confidence;
  EXPECT_GT(fault.undecided->names.size(), 1U);
  EXPECT_GT(sum, 0.85);
  EXPECT_LE(sum, 1.0 + 1e-9);
  EXPECT_EQ(fault.repair.front(), fault.undecided->test);
  for (const std::string& step : fault.repair) EXPECT_THAT(step, Not(HasSubstr("not touch")));
  EXPECT_THAT(fault.summary, HasSubstr(" or "));
}

TEST(TheNumber, WhatTheFarEndSaysItselfClearsTheCable) {
  Story story(3600);
  story.lose_light();
  for (int i = 0; i < 12; ++i) {
    Snapshot snapshot = story.feed.tick();
    PeerSample peer;
    peer.system = "leaf-1";
    peer.port = "17";
    peer.source = "mad";
    peer.link = LinkSample{};
    peer.link->admin_up = false;
    peer.link->phys_state = "Disabled";
    peer.age_s = peer.link_age_s = 0;
    snapshot.ports.at(story.feed.key).peer = peer;
    story.report = story.engine.step(snapshot).report;
  }
  const FaultReport& fault = story.port().faults.at(0);
  EXPECT_EQ(fault.fault, "far_port_down");
  EXPECT_FALSE(fault.undecided);
  EXPECT_THAT(fault.repair.front(), HasSubstr("do not touch the cable"));
}

/// A lane that gets darker by `db` within six hours, without an error.
Story creeping(double db, bool remated) {
  Story story(6 * 3600);
  for (int i = 1; i <= 24; ++i) {
    if (remated && i == 12) {
      story.pull();
      story.run(120);
      story.plug();
    }
    story.feed.module.lanes[2].rx_power_mw = 0.8 * std::pow(10, -db * i / 240);
    story.run(900);
  }
  return story;
}

TEST(SmallButSure, ALaneThatGetsDarkerByItselfIsTold) {
  for (const double db : {1.8, 2.4}) {
    const Story story = creeping(db, false);
    EXPECT_EQ(story.events, "opened:dirty_connector ") << db;
    EXPECT_EQ(story.port().faults.at(0).severity, Severity::kNotice) << db;
  }
  EXPECT_EQ(creeping(1.0, false).events, "") << "noise and temperature";
}

TEST(SmallButSure, ALossThatCameWithAPatchCordIsNone) {
  EXPECT_THAT(creeping(1.8, true).events, Not(HasSubstr("dirty")));
}

// Counters that are not read for a while, or that are read seldom, change no name.
TEST(Unknown, IsNotAbsent) {
  Story story(3600);
  story.soil_lane_2();
  story.run(600);
  const std::string before = story.events;
  for (int i = 0; i < 4; ++i) {
    story.feed.readable = false;
    story.run(300);
    story.feed.readable = true;
    story.run(300);
  }
  EXPECT_EQ(story.events, before);
}

class Cadence : public testing::TestWithParam<double> {};
TEST_P(Cadence, DecidesNoName) {
  Story story;
  story.feed.period_s = GetParam();
  story.run(6 * 3600);
  story.soil_lane_2();
  story.run(5400);
  ASSERT_FALSE(story.port().faults.empty());
  EXPECT_EQ(story.port().faults.front().fault, "dirty_connector");
  EXPECT_EQ(story.events, "opened:dirty_connector ");
}
INSTANTIATE_TEST_SUITE_P(Seconds, Cadence,
                         testing::Values(10.0, 59.8, 60.2, 239.8, 240.2, 299.8, 300.2));

}  // namespace
}  // namespace linkhealth
