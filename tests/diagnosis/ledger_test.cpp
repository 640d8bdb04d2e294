#include <gtest/gtest.h>

#include "tests/diagnosis/ledger_desk.h"

namespace linkhealth {
namespace {

TEST(Ledger, AFaultOpensAfterItsHoldProvesAndCloses) {
  Desk desk;
  desk.tell(Desk::wrong(kDirty), 30);
  EXPECT_EQ(desk.events, "");
  desk.tell(Desk::wrong(kDirty), 100);
  EXPECT_EQ(desk.events, "opened:dirty_connector ");
  desk.tell(Desk::fine(), 310);
  EXPECT_EQ(desk.events, "opened:dirty_connector proving:dirty_connector ");
  desk.tell(Desk::fine(), 7000);
  EXPECT_EQ(desk.ledger.open("pci/1").size(), 1U);
  desk.tell(Desk::fine(), 300);
  EXPECT_EQ(desk.events, "opened:dirty_connector proving:dirty_connector closed:dirty_connector ");
  EXPECT_TRUE(desk.ledger.open("pci/1").empty());
  ASSERT_EQ(desk.ledger.state().repeats.size(), 1U);
  EXPECT_EQ(desk.ledger.state().repeats[0].times, 1U);
}

TEST(Ledger, ARepairThatDoesNotHoldReopens) {
  Desk desk;
  desk.tell(Desk::wrong(kDirty), 100);
  desk.tell(Desk::fine(), 1000);
  desk.tell(Desk::wrong(kDirty), 10);
  EXPECT_EQ(desk.events,
            "opened:dirty_connector proving:dirty_connector reopened:dirty_connector ");
  EXPECT_EQ(desk.ledger.open("pci/1")[0]->kept.state, FaultState::kOpen);
}

TEST(Ledger, ALinkThatFellAMomentAgoIsNotJudged) {
  Desk desk;
  for (double s = 10; s < 30; s += 10) desk.tell(Desk::wrong(kPulled, true, s), 10);
  EXPECT_EQ(desk.events, "");
  desk.tell(Desk::wrong(kPulled, true, 60), 10);
  EXPECT_EQ(desk.events, "opened:unplugged ");
}

TEST(Ledger, ANameThatMeansDownDoesNotReturnToALinkThatCarries) {
  Desk desk;
  for (double s = 10; s < 100; s += 10) desk.tell(Desk::wrong(kPulled, true, s), 10);
  desk.tell(Desk::fine(), 400);
  ASSERT_EQ(desk.events, "opened:unplugged proving:unplugged ");
  for (int i = 0; i < 10; ++i) {  // now and then another fault shows, never for long
    desk.tell(Desk::wrong(kDirty), 20);
    desk.tell(Desk::fine(), 60);
  }
  EXPECT_EQ(desk.events, "opened:unplugged proving:unplugged ");
  desk.tell(Desk::fine(), 9000);
  EXPECT_EQ(desk.events, "opened:unplugged proving:unplugged closed:unplugged ");
}

TEST(Ledger, WhatAnAdministratorDoesIsSaidAtOnceAndOverAtOnce) {
  Desk desk;
  desk.tell(Desk::wrong(kAdmin, true, 0), 10);
  EXPECT_EQ(desk.events, "opened:admin_down ");
  desk.tell(Desk::fine(), 30);
  EXPECT_EQ(desk.events, "opened:admin_down proving:admin_down closed:admin_down ");
}

TEST(Ledger, UnknownOpensAndClosesNothing) {
  Desk desk;
  desk.tell(PortVerdict{}, 100000);
  EXPECT_EQ(desk.events, "");
  desk.tell(Desk::wrong(kDirty), 100);
  desk.tell(PortVerdict{}, 100000);
  EXPECT_EQ(desk.events, "opened:dirty_connector ");
}

TEST(Ledger, AnotherNameMustLeadForAWhile) {
  Desk desk;
  desk.tell(Desk::wrong(kDirty), 100);
  desk.tell(Desk::wrong(kModule), 230);
  EXPECT_EQ(desk.events, "opened:dirty_connector ");
  desk.tell(Desk::wrong(kModule), 30);
  EXPECT_EQ(desk.events, "opened:dirty_connector closed:dirty_connector opened:bad_module ");
}

TEST(Ledger, AQuarrelOfNamesDoesNotKeepAFaultClosed) {
  Desk desk;
  for (int i = 0; i < 6; ++i) desk.tell(Desk::wrong(i % 2 != 0 ? kDirty : kModule), 10);
  EXPECT_NE(desk.events.find("opened:"), std::string::npos);
}

TEST(Ledger, NoticesWaitLonger) {
  Desk desk;
  desk.tell(Desk::wrong(kCongested), 60);
  EXPECT_EQ(desk.events, "");
  desk.tell(Desk::wrong(kCongested), 30);
  EXPECT_EQ(desk.events, "opened:congestion ");
}

TEST(Ledger, ItWorsensOnceWhenDataAreLost) {
  Desk desk;
  desk.tell(Desk::wrong(kDirty), 100);
  PortVerdict worse = Desk::wrong(kDirty);
  worse.primary->severity = Severity::kCritical;
  desk.tell(worse, 100);
  EXPECT_EQ(desk.events, "opened:dirty_connector worsened:dirty_connector ");
}

TEST(Ledger, TheStateSurvivesARestart) {
  Desk desk;
  desk.tell(Desk::wrong(kDirty), 100);
  desk.tell(Desk::fine(), 1000);
  const LedgerState kept = desk.ledger.state();
  Desk next;
  next.ledger.restore(kept);
  EXPECT_EQ(next.ledger.state(), kept);
  // The new run's steady clock starts anywhere. The time in which nobody watched is no proof.
  next.t = 5000000;
  const auto step = [&next](double after, double wall_s) {
    return next.ledger.update("pci/1", Desk::fine(), steady_from_seconds(5000000 + after),
                              Desk::wall(wall_s));
  };
  EXPECT_TRUE(step(0, 1200).empty());
  EXPECT_TRUE(step(6000, 7200).empty());
  EXPECT_TRUE(step(6500, 7700).empty());
  const auto changes = step(7200, 8400);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].kind, FaultEventKind::kClosed);
  EXPECT_EQ(changes[0].entry.kept.id, kept.faults[0].id);
}

TEST(Ledger, AStepOfTheClockAgesNoFaultOfThisRun) {
  constexpr double kYears = 2e8;
  Desk desk;
  desk.tell(Desk::wrong(kDirty), 110);
  ASSERT_EQ(desk.events, "opened:dirty_connector ");
  const WallTime opened = desk.ledger.open("pci/1")[0]->kept.opened_at;
  desk.ledger.update("pci/1", Desk::wrong(kDirty), steady_from_seconds(desk.t + 10),
                     Desk::wall(desk.t + 40));
  EXPECT_EQ(desk.ledger.open("pci/1")[0]->kept.opened_at, opened) << "half a minute is no step";
  desk.ledger.update("pci/1", Desk::wrong(kDirty), steady_from_seconds(desk.t + 20),
                     Desk::wall(desk.t + 20 + kYears));
  EXPECT_EQ(desk.ledger.open("pci/1")[0]->kept.opened_at, opened + from_seconds(kYears));
  desk.ledger.update("pci/1", Desk::wrong(kDirty), steady_from_seconds(desk.t + 30),
                     Desk::wall(desk.t + 30));
  EXPECT_EQ(desk.ledger.open("pci/1")[0]->kept.opened_at, opened) << "and back";
}

TEST(Ledger, AStepOfTheClockMovesTheBeginningOfAProof) {
  Desk desk;
  desk.tell(Desk::wrong(kDirty), 110);
  desk.tell(Desk::fine(), 600);
  const auto proving = desk.ledger.open("pci/1")[0]->kept.proving_since;
  ASSERT_TRUE(proving);
  desk.ledger.update("pci/1", Desk::fine(), steady_from_seconds(desk.t + 10),
                     Desk::wall(desk.t + 10 + 9000));
  EXPECT_EQ(desk.ledger.open("pci/1")[0]->kept.proving_since, *proving + from_seconds(9000));
}

TEST(Ledger, AStepOfTheClockLeavesWhatAnEarlierRunOpened) {
  Desk before;
  before.tell(Desk::wrong(kDirty), 110);
  Desk desk;
  desk.ledger.restore(before.ledger.state());
  for (const double wall_s : {-1e9, 300.0, 310.0})  // the node boots in 1994
    desk.ledger.update("pci/1", Desk::wrong(kDirty), steady_from_seconds(desk.t += 10),
                       Desk::wall(wall_s));
  EXPECT_EQ(desk.ledger.open("pci/1")[0]->kept.opened_at,
            before.ledger.open("pci/1")[0]->kept.opened_at);
}

TEST(Ledger, AnotherVersionsFaultIsLeftOut) {
  Desk desk;
  LedgerState state;
  state.faults.emplace_back();
  state.faults[0].port = "pci/1";
  state.faults[0].fault = "moon_phase";
  desk.ledger.restore(state);
  EXPECT_TRUE(desk.ledger.open("pci/1").empty());
}

TEST(Ledger, IdsNameNodePortFaultAndTime) {
  Desk desk;
  desk.tell(Desk::wrong(kDirty), 50);
  EXPECT_EQ(desk.ledger.open("pci/1")[0]->kept.id, "node:pci/1:dirty_connector:1763640040");
}

TEST(Ledger, TheTimeWhileNobodyLookedIsNoQuiet) {
  Desk desk;
  desk.tell(Desk::wrong(kDirty), 100);
  Desk next;  // the node was away for an hour; the first looks of the new run come before a module
              // was read
  next.ledger.restore(desk.ledger.state());
  next.t = desk.t + 3600;
  next.tell(Desk::fine(), 60);
  EXPECT_EQ(next.events, "") << "not \"proving\", and \"reopened\" a moment later";
  next.tell(Desk::wrong(kDirty), 100);
  EXPECT_EQ(next.events, "");
  next.tell(Desk::fine(), 310);
  EXPECT_EQ(next.events, "proving:dirty_connector ");
}

PortVerdict worked_on(PortVerdict verdict) {
  verdict.maintenance = true;
  return verdict;
}

TEST(Ledger, NothingOpensInMaintenanceAndHoldsBeginWhenItEnds) {
  Desk desk;
  desk.tell(worked_on(Desk::wrong(kPulled, true, 500)), 2000);
  EXPECT_EQ(desk.events, "");
  EXPECT_TRUE(desk.ledger.open("pci/1").empty());
  desk.tell(Desk::wrong(kDirty), 30);
  EXPECT_EQ(desk.events, "");
  desk.tell(Desk::wrong(kDirty), 30);
  EXPECT_EQ(desk.events, "opened:dirty_connector ");
}

TEST(Ledger, InMaintenanceAnOpenFaultGoesOnQuietly) {
  Desk desk;
  desk.tell(Desk::wrong(kDirty), 100);
  desk.events.clear();
  PortVerdict worse = Desk::wrong(kDirty);
  worse.primary->severity = Severity::kCritical;
  desk.tell(worked_on(worse), 100);
  desk.tell(worked_on(Desk::wrong(kPulled, true, 500)), 1000);  // a rival that would win
  EXPECT_EQ(desk.events, "");
  EXPECT_EQ(desk.ledger.open("pci/1")[0]->kept.fault, "dirty_connector");
  desk.tell(worked_on(Desk::fine()), 400);
  EXPECT_EQ(desk.events, "proving:dirty_connector ")
      << "a repair proves itself also while the window is open";
  desk.tell(worked_on(worse), 20);
  EXPECT_EQ(desk.events, "proving:dirty_connector ");
  desk.tell(worse, 20);
  EXPECT_EQ(desk.events, "proving:dirty_connector worsened:dirty_connector ");
}

TEST(Ledger, AnIdlePortProvesNothingAboutItsTraffic) {
  Desk desk;
  desk.tell(Desk::wrong(kCongested), 400);
  ASSERT_EQ(desk.events, "opened:congestion ");
  PortVerdict idle = Desk::fine();
  idle.idle = true;
  desk.tell(idle, 20000);
  EXPECT_EQ(desk.events, "opened:congestion ");
  desk.tell(Desk::fine(), 2000);
  EXPECT_EQ(desk.events, "opened:congestion proving:congestion closed:congestion ");
}

TEST(Ledger, AProofOfTrafficWaitsWhileThereIsNone) {
  Desk desk;
  desk.tell(Desk::wrong(kCongested), 400);
  desk.tell(Desk::fine(), 600);  // the job's last minutes were good
  ASSERT_EQ(desk.events, "opened:congestion proving:congestion ");
  PortVerdict idle = Desk::fine();
  idle.idle = true;
  const auto begun = desk.ledger.proof(*desk.ledger.open("pci/1").at(0))->since;
  desk.tell(idle, 20000);
  EXPECT_EQ(desk.events, "opened:congestion proving:congestion ")
      << "the end of a job is no repair";
  EXPECT_EQ(desk.ledger.proof(*desk.ledger.open("pci/1").at(0))->since - begun,
            std::chrono::seconds(20000));
  for (int i = 0; i < 30; ++i) {  // bursts: the time with load is what counts
    desk.tell(Desk::fine(), 10);
    desk.tell(idle, 10);
  }
  EXPECT_EQ(desk.events, "opened:congestion proving:congestion ");
  desk.tell(Desk::fine(), 600);
  EXPECT_EQ(desk.events, "opened:congestion proving:congestion closed:congestion ");
}

TEST(Ledger, ANodeThatStaysIdleIsNotBlamedForEver) {
  Desk desk;
  desk.tell(Desk::wrong(kCongested), 400);
  PortVerdict idle = Desk::fine();
  idle.idle = true;
  desk.tell(idle, 86000);
  EXPECT_EQ(desk.events, "opened:congestion ");
  desk.tell(idle, 3000);
  EXPECT_EQ(desk.events, "opened:congestion proving:congestion closed:congestion ");
}

PortVerdict fine_at(double rate_bps) {
  PortVerdict verdict = Desk::fine();
  verdict.rate_bps = rate_bps;
  return verdict;
}

TEST(LedgerProof, ItsLengthFollowsFromTheRateAndTheClaim) {
  Desk desk;
  desk.tell(Desk::wrong(kDirty), 100);
  desk.tell(fine_at(850e9), 320);
  const auto proof = desk.ledger.proof(*desk.ledger.open("pci/1").at(0));
  ASSERT_TRUE(proof.has_value());
  EXPECT_NEAR(proof->needed_s, 3 / (1e-15 * 850e9), 1) << "800G: 3529 s";
  EXPECT_NEAR(*proof->ber_bound, 1e-15, 1e-18);
  desk.tell(fine_at(850e9), 3500);
  EXPECT_EQ(desk.ledger.open("pci/1").size(), 1U);
  desk.tell(fine_at(850e9), 60);
  EXPECT_TRUE(desk.ledger.open("pci/1").empty());
}

TEST(LedgerProof, ASlowLinkProvesAWeakerBoundAndSaysSo) {
  Desk desk;
  desk.tell(Desk::wrong(kDirty), 100);
  desk.tell(fine_at(25e9), 320);
  const auto proof = desk.ledger.proof(*desk.ledger.open("pci/1").at(0));
  ASSERT_TRUE(proof.has_value());
  EXPECT_EQ(proof->needed_s, 7200) << "not the 33 hours of 1e-15";
  EXPECT_NEAR(*proof->ber_bound, 3 / (25e9 * 7200), 1e-18);
}

TEST(LedgerProof, ADropOrALostBlockBeginsItAnew) {
  Desk desk;
  desk.tell(Desk::wrong(kDirty), 100);
  desk.tell(Desk::fine(), 7000);
  PortVerdict dropped = Desk::fine();
  dropped.link_down_events = 1;
  desk.tell(dropped, 1000);
  EXPECT_EQ(desk.ledger.open("pci/1").size(), 1U) << "one drop is no symptom, but no proof either";
  PortVerdict lost = dropped;
  lost.lost_data = true;
  desk.tell(dropped, 6000);
  desk.tell(lost, 10);
  desk.tell(dropped, 7100);
  EXPECT_EQ(desk.ledger.open("pci/1").size(), 1U);
  desk.tell(dropped, 200);
  EXPECT_TRUE(desk.ledger.open("pci/1").empty()) << "every raise has a reachable clear";
}

TEST(LedgerPast, CountsByPortModuleAndCable) {
  Desk desk;
  const auto with_parts = [](PortVerdict verdict) {
    verdict.module = "A1";
    verdict.cable = "A1 - B2";
    return verdict;
  };
  for (int i = 0; i < 2; ++i) {
    desk.tell(with_parts(Desk::wrong(kDirty)), 100);
    desk.tell(with_parts(Desk::fine()), 8000);
  }
  desk.tell(with_parts(Desk::wrong(kCongested)), 600);
  desk.tell(with_parts(Desk::fine()), 8000);
  const FaultPast past = desk.ledger.past("pci/1");
  EXPECT_EQ(past.port_times, 3U);
  EXPECT_EQ(past.module_times, 2U) << "congestion says nothing about a module";
  EXPECT_EQ(past.cable_times, 2U);
  EXPECT_TRUE(past.last_closed_at.has_value());
}

TEST(LedgerPast, IsKeptOverARestart) {
  Desk desk;
  PortVerdict wrong = Desk::wrong(kDirty), fine = Desk::fine();
  wrong.module = fine.module = "A1";
  desk.tell(wrong, 100);
  desk.tell(fine, 8000);
  Desk after;
  after.ledger.restore(desk.ledger.state());
  after.tell(fine, 10);
  EXPECT_EQ(after.ledger.past("pci/1").module_times, 1U);
}

}  // namespace
}  // namespace linkhealth
