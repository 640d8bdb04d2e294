// A fault, an attempt that does not help, and one that does: what the reports say on the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/daemon/engine/story.h"

namespace linkhealth {
namespace {

using testing::HasSubstr;
using testing::Not;

class RepairStory : public testing::Test, protected Story {
 protected:
  explicit RepairStory(EngineSettings with = settings()) : Story(std::move(with)) {}
  void make_dirty() {
    feed.module.lanes[1].rx_power_mw = 0.2;
    feed.bits_per_s = 4'000'000;
  }
  /// A technician pulls the fibre for two minutes; lane 2 then receives `after_mw`.
  void touch_fibre(double after_mw, double bits_per_s) {
    feed.pull(feed.t + 1);
    for (ModuleLane& lane : feed.module.lanes) lane.rx_power_mw = 0;
    run(120);
    feed.receive_mw(0.8);
    feed.module.lanes[1].rx_power_mw = after_mw;
    feed.bits_per_s = bits_per_s;
    feed.plug(feed.t + 1);
  }
  const FaultReport& fault() const { return port().faults.at(0); }
};

TEST_F(RepairStory, FailedStepsAreLeftOutAndSuccessIsProved) {
  run(1800);
  make_dirty();
  run(900);
  ASSERT_FALSE(port().faults.empty());
  EXPECT_EQ(fault().fault, "dirty_connector");
  EXPECT_TRUE(fault().repair.at(0).starts_with("inspect and clean"));
  EXPECT_TRUE(fault().repairs.empty());

  touch_fibre(0.26, 3'000'000);  // a little better, and still dirty
  run(2400);
  ASSERT_FALSE(port().faults.empty());
  ASSERT_EQ(fault().fault, "dirty_connector");
  ASSERT_EQ(fault().repairs.size(), 1U);
  EXPECT_EQ(fault().repairs[0].action, RepairAction::kFibreReseated);
  EXPECT_EQ(fault().repairs[0].outcome, RepairOutcome::kFailed);
  EXPECT_NEAR(*fault().repairs[0].rx_power_before_dbm, -7.0, 0.1);
  EXPECT_NEAR(*fault().repairs[0].rx_power_after_dbm, -5.85, 0.1);
  EXPECT_EQ(fault().repair.at(0), "replace the jumper");

  touch_fibre(0.8, 4000);
  run(3600);
  ASSERT_FALSE(port().faults.empty());
  EXPECT_EQ(fault().state, FaultState::kProving);
  ASSERT_TRUE(fault().proof.has_value());
  EXPECT_GT(fault().proof->needed_s, 1800);
  // What the link showed while it was pulled was the work, not the fault.
  EXPECT_THAT(fault().summary, HasSubstr("lane 2 receives -5.9"));
  EXPECT_EQ(fault().repair.at(0), "replace the jumper");
  for (const Evidence& evidence : fault().evidence) EXPECT_NE(evidence.symptom, "link_down");
  run(7200);
  EXPECT_TRUE(port().faults.empty());
  const FaultReport& closed = all.back().fault;
  EXPECT_EQ(all.back().kind, FaultEventKind::kClosed);
  ASSERT_EQ(closed.repairs.size(), 2U);
  EXPECT_EQ(closed.repairs[1].outcome, RepairOutcome::kHeld);

  make_dirty();
  run(900);
  ASSERT_FALSE(port().faults.empty());
  EXPECT_EQ(fault().past.port_times, 1U) << "a repeat offender";
  EXPECT_TRUE(fault().repairs.empty()) << "another fault, another ladder";
}

TEST_F(RepairStory, WhatIsShownBeforeTheModuleIsReadAgainIsNotTheFault) {
  run(1800);
  make_dirty();
  run(900);
  ASSERT_FALSE(port().faults.empty());
  const double sure = fault().confidence;
  feed.pull(feed.t + 1);
  feed.module_readable = false;
  run(60);
  feed.plug(feed.t + 1);
  run(120);  // there are errors, and nothing is known of the light
  ASSERT_FALSE(port().faults.empty());
  EXPECT_LT(fault().confidence, sure * 0.7) << "else this test shows nothing";
  feed.module_readable = true;
  feed.receive_mw(0.8);
  feed.bits_per_s = 4000;
  run(3600);
  ASSERT_FALSE(port().faults.empty());
  EXPECT_EQ(fault().state, FaultState::kProving);
  EXPECT_THAT(fault().summary, HasSubstr("lane 2 receives"));
  EXPECT_EQ(fault().lanes, std::vector<std::uint32_t>{2});
}

TEST_F(RepairStory, WhatAPulledFibreShowsAfterARestartIsNotTheFault) {
  run(1800);
  make_dirty();
  run(900);
  ASSERT_FALSE(port().faults.empty());
  const std::string summary = fault().summary;
  feed.pull(feed.t + 1);
  feed.receive_mw(0);
  run(60);
  Story after = restarted();
  after.run(60);
  after.feed.receive_mw(0.8);
  after.feed.bits_per_s = 4000;
  after.feed.plug(after.feed.t + 1);
  after.run(3600);
  ASSERT_FALSE(after.port().faults.empty());
  EXPECT_EQ(after.port().faults.at(0).state, FaultState::kProving);
  EXPECT_EQ(after.port().faults.at(0).summary, summary);
}

TEST_F(RepairStory, FallsOfBeforeARepairThatHeldAreNoFlapsAndThoseAfterItAre) {
  feed.period_s = 30;
  run(1800);
  for (int repair = 1; repair <= 6; ++repair) {
    make_dirty();
    run(900);
    touch_fibre(0.8, 4000);
    run(11'000);
    EXPECT_TRUE(port().faults.empty()) << repair;
  }
  EXPECT_EQ(std::ranges::count(all, FaultEventKind::kOpened, &FaultEvent::kind), 6);
  for (const FaultEvent& event : all) EXPECT_EQ(event.fault.fault, "dirty_connector");
  for (int fall = 0; fall < 4; ++fall) {
    pull();
    run(60);
    plug();
    run(1200);
  }
  ASSERT_FALSE(port().faults.empty());
  EXPECT_TRUE(port().faults.at(0).summary.find("flapping") != std::string::npos)
      << port().faults.at(0).summary;
}

TEST_F(RepairStory, ARestartForgetsNoRepair) {
  run(1800);
  make_dirty();
  run(900);
  touch_fibre(0.26, 3'000'000);
  run(2400);
  Engine again(Story::settings());
  again.restore(engine.ledger_state());
  again.restore(engine.references());
  std::shared_ptr<const Report> first;
  for (int i = 0; i < 90; ++i) first = again.step(feed.tick()).report;
  ASSERT_FALSE(first->ports.at(0).faults.empty());
  EXPECT_EQ(first->ports.at(0).faults.at(0).repairs.size(), 1U);
  EXPECT_EQ(first->ports.at(0).faults.at(0).repair.at(0), "replace the jumper");
}

TEST_F(RepairStory, AChangeAfterTheLinkLossIsNotItsCause) {
  const auto summary = [](bool before) {
    Story story(1800);
    if (before) story.set_down();
    story.lose_light();
    story.run(20);
    if (!before) {
      story.feed.event(PortEventKind::kAdminDown, story.feed.t + 1);
      story.feed.event(PortEventKind::kAdminUp, story.feed.t + 2);
    }
    story.run(600);
    EXPECT_FALSE(story.port().faults.empty());
    return story.port().faults.empty() ? std::string() : story.port().faults[0].summary;
  };
  EXPECT_THAT(summary(true), HasSubstr("down since an operator's change"));
  EXPECT_THAT(summary(false), Not(HasSubstr("down since an operator")));
}

TEST_F(RepairStory, AMeterThatReadsDarkWhileDataArrivesShowsNoLoss) {
  run(1800);
  feed.module.lanes[1].rx_power_mw = 0;
  feed.bits_per_s = 4e6;
  run(900);
  ASSERT_FALSE(port().faults.empty());
  EXPECT_EQ(fault().fault, "bad_module");
  EXPECT_THAT(fault().summary, HasSubstr("a lane reports no light but carries data"));
  EXPECT_THAT(fault().summary, Not(HasSubstr("below its baseline")));
}

/// Holds as short as an impatient site or a lab sets them.
class ImpatientRepair : public RepairStory {
 protected:
  ImpatientRepair() : RepairStory(impatient()) { feed.period_s = 1; }
  static EngineSettings impatient() {
    EngineSettings settings = Story::settings();
    for (const auto& [setting, value] :
         {std::pair("down_hold_s", 5), {"signal_hold_s", 10}, {"quiet_s", 20}, {"proof_s", 60}})
      EXPECT_TRUE(settings.setting_table.set("ledger", setting, value).ok()) << setting;
    EXPECT_TRUE(settings.setting_table.set("diagnosis", "ber_window_s", 20).ok());
    return settings;
  }
  /// A restart: the readings of the last minutes are lost.
  void restart() {
    Engine fresh(impatient());
    fresh.restore(engine.ledger_state());
    fresh.restore(engine.references());
    engine = std::move(fresh);
  }
};

TEST_F(ImpatientRepair, ErrorsOfBeforeTheFibreWasMatedAreNotThoseOfNow) {
  run(300);
  make_dirty();
  feed.bits_per_s = 12'000'000;
  run(120);
  ASSERT_EQ(events, "opened:dirty_connector ");
  restart();
  run(20);  // two intervals with errors: too few to say so
  feed.pull(feed.t + 1);
  for (ModuleLane& lane : feed.module.lanes) lane.rx_power_mw = 0;
  run(8);
  feed.receive_mw(0.8);
  feed.bits_per_s = 4000;
  feed.plug(feed.t + 1);
  run(200);
  EXPECT_EQ(events, "opened:dirty_connector proving:dirty_connector closed:dirty_connector ");
}

}  // namespace
}  // namespace linkhealth
