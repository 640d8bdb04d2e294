#include <gtest/gtest.h>

#include "tests/diagnosis/ledger_bench.h"

namespace linkhealth {
namespace {

TEST(Ledger, AFaultOpensAfterItsHoldProvesAndCloses) {
  LedgerBench bench;
  bench.judge(LedgerBench::wrong(kDirty), 30);
  EXPECT_EQ(bench.events, "");
  bench.judge(LedgerBench::wrong(kDirty), 100);
  EXPECT_EQ(bench.events, "opened:dirty_connector ");
  EXPECT_EQ(bench.kept().id, "node:pci/1:dirty_connector:1763640040");
  bench.judge(LedgerBench::fine(), 310);
  EXPECT_EQ(bench.events, "opened:dirty_connector proving:dirty_connector ");
  bench.judge(LedgerBench::fine(), 7000);
  EXPECT_FALSE(bench.nothing_open());
  bench.judge(LedgerBench::fine(), 300);
  EXPECT_EQ(bench.events, "opened:dirty_connector proving:dirty_connector closed:dirty_connector ");
  EXPECT_TRUE(bench.nothing_open());
  ASSERT_EQ(bench.ledger.state().repeats.size(), 1U);
  EXPECT_EQ(bench.ledger.state().repeats[0].times, 1U);
}

TEST(Ledger, AFaultAfterTheClockWasSetBackIsAnotherOne) {
  LedgerBench bench(kDirty);
  const std::string first = bench.kept().id;
  bench.judge(LedgerBench::fine(), 40'000);  // another matter by now
  ASSERT_TRUE(bench.nothing_open());
  const WallTime same_second = LedgerBench::wall(40);
  while (bench.nothing_open())
    bench.ledger.update("pci/1", LedgerBench::wrong(kDirty), steady_from_seconds(bench.t += 10),
                        same_second);
  EXPECT_EQ(first, "node:pci/1:dirty_connector:1763640040");
  EXPECT_EQ(bench.kept().id, "node:pci/1:dirty_connector:1763640041");
}

TEST(Ledger, ARepairThatDoesNotHoldReopens) {
  LedgerBench bench(kDirty);
  bench.judge(LedgerBench::fine(), 1000);
  bench.judge(LedgerBench::wrong(kDirty), 10);
  EXPECT_EQ(bench.events,
            "opened:dirty_connector proving:dirty_connector reopened:dirty_connector ");
  EXPECT_EQ(bench.kept().state, FaultState::kOpen);
}

TEST(Ledger, ALinkThatFellAMomentAgoIsNotJudged) {
  LedgerBench bench;
  for (double s = 10; s < 30; s += 10) bench.judge(LedgerBench::wrong(kPulled, true, s), 10);
  EXPECT_EQ(bench.events, "");
  bench.judge(LedgerBench::wrong(kPulled, true, 60), 10);
  EXPECT_EQ(bench.events, "opened:unplugged ");
}

TEST(Ledger, ANameThatMeansDownDoesNotReturnToALinkThatCarries) {
  LedgerBench bench;
  for (double s = 10; s < 100; s += 10) bench.judge(LedgerBench::wrong(kPulled, true, s), 10);
  bench.judge(LedgerBench::fine(), 400);
  ASSERT_EQ(bench.events, "opened:unplugged proving:unplugged ");
  for (int i = 0; i < 10; ++i) {  // now and then another fault shows, never for long
    bench.judge(LedgerBench::wrong(kDirty), 20);
    bench.judge(LedgerBench::fine(), 60);
  }
  EXPECT_EQ(bench.events, "opened:unplugged proving:unplugged ");
  bench.judge(LedgerBench::fine(), 9000);
  EXPECT_EQ(bench.events, "opened:unplugged proving:unplugged closed:unplugged ");
}

TEST(Ledger, AnAdministrativeDownOpensAndClosesAtOnce) {
  LedgerBench bench;
  bench.judge(LedgerBench::wrong(kAdmin, true, 0), 10);
  EXPECT_EQ(bench.events, "opened:admin_down ");
  bench.judge(LedgerBench::fine(), 30);
  EXPECT_EQ(bench.events, "opened:admin_down proving:admin_down closed:admin_down ");
}

TEST(Ledger, UnknownOpensAndClosesNothing) {
  LedgerBench bench;
  bench.judge(PortVerdict{}, 100000);
  EXPECT_EQ(bench.events, "");
  bench.judge(LedgerBench::wrong(kDirty), 100);
  bench.judge(PortVerdict{}, 100000);
  EXPECT_EQ(bench.events, "opened:dirty_connector ");
}

TEST(Ledger, AnotherNameMustLeadForAWhile) {
  LedgerBench bench(kDirty);
  bench.judge(LedgerBench::wrong(kModule), 230);
  EXPECT_EQ(bench.events, "opened:dirty_connector ");
  bench.judge(LedgerBench::wrong(kModule), 30);
  EXPECT_EQ(bench.events, "opened:dirty_connector closed:dirty_connector opened:bad_module ");
}

TEST(Ledger, ANameThatTheEvidenceHasLeftGoesSoon) {
  LedgerBench bench(kDirty);
  PortVerdict other = LedgerBench::wrong(kModule);
  other.primary->confidence = 0.95;
  other.open_confidence = 0.02;
  bench.judge(other, 20);
  EXPECT_EQ(bench.events, "opened:dirty_connector ");
  bench.judge(other, 10);
  EXPECT_EQ(bench.events, "opened:dirty_connector closed:dirty_connector opened:bad_module ");
}

TEST(Ledger, AModuleThatIsSwappedGivesAnOpenFaultNoOtherName) {
  LedgerBench bench(kModule);
  PortVerdict out = LedgerBench::wrong(fault_of(FaultId::kModuleMissing), true, 100);
  out.primary->confidence = 0.99;
  out.module_out = true;
  bench.judge(out, 90);
  EXPECT_EQ(bench.events, "opened:bad_module ");
  bench.judge(out, 300);
  EXPECT_TRUE(bench.events.ends_with("opened:module_missing "));
}

TEST(Ledger, TheConfidenceOfAnOpenNameIsTheEvidencesWhileAnotherLeads) {
  LedgerBench bench(kDirty);
  PortVerdict other = LedgerBench::wrong(kModule);
  other.open_confidence = 0.3;
  bench.judge(other, 20);
  EXPECT_DOUBLE_EQ(bench.kept().confidence, 0.3);
}

TEST(Ledger, AQuarrelOfNamesDoesNotKeepAFaultClosed) {
  LedgerBench bench;
  for (int i = 0; i < 6; ++i) bench.judge(LedgerBench::wrong(i % 2 != 0 ? kDirty : kModule), 10);
  EXPECT_NE(bench.events.find("opened:"), std::string::npos);
}

TEST(Ledger, NoticesWaitLonger) {
  LedgerBench bench;
  bench.judge(LedgerBench::wrong(kCongested), 60);
  EXPECT_EQ(bench.events, "");
  bench.judge(LedgerBench::wrong(kCongested), 30);
  EXPECT_EQ(bench.events, "opened:congestion ");
}

TEST(Ledger, ItWorsensOnceWhenDataAreLost) {
  LedgerBench bench(kDirty);
  PortVerdict worse = LedgerBench::wrong(kDirty);
  worse.primary->severity = Severity::kCritical;
  bench.judge(worse, 100);
  EXPECT_EQ(bench.events, "opened:dirty_connector worsened:dirty_connector ");
}

TEST(Ledger, TheStateSurvivesARestart) {
  LedgerBench bench(kDirty);
  bench.judge(LedgerBench::fine(), 1000);
  const LedgerState kept = bench.ledger.state();
  LedgerBench next;
  next.ledger.restore(kept);
  EXPECT_EQ(next.ledger.state(), kept);
  // The new run's steady clock starts anywhere. The downtime is no proof.
  next.t = 5000000;
  const auto step = [&next](double after, double wall_s) {
    return next.ledger.update("pci/1", LedgerBench::fine(), steady_from_seconds(5000000 + after),
                              LedgerBench::wall(wall_s));
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
  LedgerBench bench;
  bench.judge(LedgerBench::wrong(kDirty), 110);
  ASSERT_EQ(bench.events, "opened:dirty_connector ");
  const WallTime opened = bench.kept().opened_at;
  bench.ledger.update("pci/1", LedgerBench::wrong(kDirty), steady_from_seconds(bench.t + 10),
                      LedgerBench::wall(bench.t + 40));
  EXPECT_EQ(bench.kept().opened_at, opened) << "half a minute is no step";
  bench.ledger.update("pci/1", LedgerBench::wrong(kDirty), steady_from_seconds(bench.t + 20),
                      LedgerBench::wall(bench.t + 20 + kYears));
  EXPECT_EQ(bench.kept().opened_at, opened + from_seconds(kYears));
  bench.ledger.update("pci/1", LedgerBench::wrong(kDirty), steady_from_seconds(bench.t + 30),
                      LedgerBench::wall(bench.t + 30));
  EXPECT_EQ(bench.kept().opened_at, opened) << "and back";
}

TEST(Ledger, AStepOfTheClockMovesTheBeginningOfAProof) {
  LedgerBench bench;
  bench.judge(LedgerBench::wrong(kDirty), 110);
  bench.judge(LedgerBench::fine(), 600);
  const auto proving = bench.kept().proving_since;
  ASSERT_TRUE(proving);
  bench.ledger.update("pci/1", LedgerBench::fine(), steady_from_seconds(bench.t + 10),
                      LedgerBench::wall(bench.t + 10 + 9000));
  EXPECT_EQ(bench.kept().proving_since, *proving + from_seconds(9000));
}

TEST(Ledger, AStepOfTheClockLeavesWhatAnEarlierRunOpened) {
  LedgerBench before;
  before.judge(LedgerBench::wrong(kDirty), 110);
  LedgerBench bench;
  bench.ledger.restore(before.ledger.state());
  for (const double wall_s : {-1e9, 300.0, 310.0})  // the node boots in 1994
    bench.ledger.update("pci/1", LedgerBench::wrong(kDirty), steady_from_seconds(bench.t += 10),
                        LedgerBench::wall(wall_s));
  EXPECT_EQ(bench.kept().opened_at, before.kept().opened_at);
}

TEST(Ledger, AnotherVersionsFaultIsLeftOut) {
  LedgerBench bench;
  LedgerState state;
  state.faults.emplace_back();
  state.faults[0].port = "pci/1";
  state.faults[0].fault = "moon_phase";
  bench.ledger.restore(state);
  EXPECT_TRUE(bench.nothing_open());
}

TEST(Ledger, TheDaemonsDowntimeIsNoQuietTime) {
  LedgerBench bench(kDirty);
  LedgerBench next;  // the node was away for an hour; the first looks of the new run come before a
                     // module was read
  next.ledger.restore(bench.ledger.state());
  next.t = bench.t + 3600;
  next.judge(LedgerBench::fine(), 60);
  EXPECT_EQ(next.events, "") << "not \"proving\", and \"reopened\" a moment later";
  next.judge(LedgerBench::wrong(kDirty), 100);
  EXPECT_EQ(next.events, "");
  next.judge(LedgerBench::fine(), 310);
  EXPECT_EQ(next.events, "proving:dirty_connector ");
}

PortVerdict worked_on(PortVerdict verdict) {
  verdict.maintenance = true;
  return verdict;
}

TEST(Ledger, NothingOpensInMaintenanceAndHoldsBeginWhenItEnds) {
  LedgerBench bench;
  bench.judge(worked_on(LedgerBench::wrong(kPulled, true, 500)), 2000);
  EXPECT_EQ(bench.events, "");
  EXPECT_TRUE(bench.nothing_open());
  bench.judge(LedgerBench::wrong(kDirty), 30);
  EXPECT_EQ(bench.events, "");
  bench.judge(LedgerBench::wrong(kDirty), 30);
  EXPECT_EQ(bench.events, "opened:dirty_connector ");
}

TEST(Ledger, InMaintenanceAnOpenFaultGoesOnQuietly) {
  LedgerBench bench(kDirty);
  bench.events.clear();
  PortVerdict worse = LedgerBench::wrong(kDirty);
  worse.primary->severity = Severity::kCritical;
  bench.judge(worked_on(worse), 100);
  bench.judge(worked_on(LedgerBench::wrong(kPulled, true, 500)), 1000);  // a rival that would win
  EXPECT_EQ(bench.events, "");
  EXPECT_EQ(bench.kept().fault, "dirty_connector");
  bench.judge(worked_on(LedgerBench::fine()), 400);
  EXPECT_EQ(bench.events, "proving:dirty_connector ")
      << "a repair proves itself also while the window is open";
  bench.judge(worked_on(worse), 20);
  EXPECT_EQ(bench.events, "proving:dirty_connector ");
  bench.judge(worse, 20);
  EXPECT_EQ(bench.events, "proving:dirty_connector worsened:dirty_connector ");
}

TEST(Ledger, AnIdlePortProvesNothingAboutItsTraffic) {
  LedgerBench bench;
  bench.judge(LedgerBench::wrong(kCongested), 400);
  ASSERT_EQ(bench.events, "opened:congestion ");
  PortVerdict idle = LedgerBench::fine();
  idle.idle = true;
  bench.judge(idle, 20000);
  EXPECT_EQ(bench.events, "opened:congestion ");
  bench.judge(LedgerBench::fine(), 2000);
  EXPECT_EQ(bench.events, "opened:congestion proving:congestion closed:congestion ");
}

TEST(Ledger, AProofOfTrafficWaitsWhileThereIsNone) {
  LedgerBench bench;
  bench.judge(LedgerBench::wrong(kCongested), 400);
  bench.judge(LedgerBench::fine(), 600);  // the job's last minutes were good
  ASSERT_EQ(bench.events, "opened:congestion proving:congestion ");
  PortVerdict idle = LedgerBench::fine();
  idle.idle = true;
  const auto begun = bench.ledger.proof(*bench.ledger.open("pci/1").at(0))->since;
  bench.judge(idle, 20000);
  EXPECT_EQ(bench.events, "opened:congestion proving:congestion ")
      << "the end of a job is no repair";
  EXPECT_EQ(bench.ledger.proof(*bench.ledger.open("pci/1").at(0))->since - begun,
            std::chrono::seconds(20000));
  for (int i = 0; i < 30; ++i) {  // bursts: the time with load is what counts
    bench.judge(LedgerBench::fine(), 10);
    bench.judge(idle, 10);
  }
  EXPECT_EQ(bench.events, "opened:congestion proving:congestion ");
  bench.judge(LedgerBench::fine(), 600);
  EXPECT_EQ(bench.events, "opened:congestion proving:congestion closed:congestion ");
}

TEST(Ledger, ANodeThatStaysIdleIsNotBlamedForEver) {
  LedgerBench bench;
  bench.judge(LedgerBench::wrong(kCongested), 400);
  PortVerdict idle = LedgerBench::fine();
  idle.idle = true;
  bench.judge(idle, 86000);
  EXPECT_EQ(bench.events, "opened:congestion ");
  bench.judge(idle, 3000);
  EXPECT_EQ(bench.events, "opened:congestion proving:congestion closed:congestion ");
}

PortVerdict fine_at(double rate_bps) {
  PortVerdict verdict = LedgerBench::fine();
  verdict.rate_bps = rate_bps;
  return verdict;
}

TEST(LedgerProof, ItsLengthFollowsFromTheRateAndTheClaim) {
  LedgerBench bench(kDirty);
  bench.judge(fine_at(850e9), 320);
  const auto proof = bench.ledger.proof(*bench.ledger.open("pci/1").at(0));
  ASSERT_TRUE(proof.has_value());
  EXPECT_NEAR(proof->needed_s, 3 / (1e-15 * 850e9), 1) << "800G: 3529 s";
  EXPECT_NEAR(*proof->ber_bound, 1e-15, 1e-18);
  bench.judge(fine_at(850e9), 3500);
  EXPECT_FALSE(bench.nothing_open());
  bench.judge(fine_at(850e9), 60);
  EXPECT_TRUE(bench.nothing_open());
}

TEST(LedgerProof, ASlowLinkProvesAWeakerBound) {
  LedgerBench bench(kDirty);
  bench.judge(fine_at(25e9), 320);
  const auto proof = bench.ledger.proof(*bench.ledger.open("pci/1").at(0));
  ASSERT_TRUE(proof.has_value());
  EXPECT_EQ(proof->needed_s, 7200) << "not the 33 hours of 1e-15";
  EXPECT_NEAR(*proof->ber_bound, 3 / (25e9 * 7200), 1e-18);
}

TEST(LedgerProof, ADropOrALostBlockRestartsIt) {
  LedgerBench bench(kDirty);
  bench.judge(LedgerBench::fine(), 7000);
  PortVerdict dropped = LedgerBench::fine();
  dropped.link_down_events = 1;
  bench.judge(dropped, 1000);
  EXPECT_FALSE(bench.nothing_open()) << "one drop is no symptom, but no proof either";
  PortVerdict lost = dropped;
  lost.lost_data = true;
  bench.judge(dropped, 6000);
  bench.judge(lost, 10);
  bench.judge(dropped, 7100);
  EXPECT_FALSE(bench.nothing_open());
  bench.judge(dropped, 200);
  EXPECT_TRUE(bench.nothing_open()) << "every raise has a reachable clear";
}

TEST(LedgerPast, CountsByPortModuleAndCable) {
  LedgerBench bench;
  const auto with_parts = [](PortVerdict verdict) {
    verdict.module = "A1";
    verdict.cable = "A1 - B2";
    return verdict;
  };
  for (int i = 0; i < 2; ++i) {
    bench.judge(with_parts(LedgerBench::wrong(kDirty)), 100);
    bench.judge(with_parts(LedgerBench::fine()), 40000);
  }
  bench.judge(with_parts(LedgerBench::wrong(kCongested)), 600);
  bench.judge(with_parts(LedgerBench::fine()), 8000);
  const FaultPast past = bench.ledger.past("pci/1");
  EXPECT_EQ(past.port_times, 3U);
  EXPECT_EQ(past.module_times, 2U) << "congestion says nothing about a module";
  EXPECT_EQ(past.cable_times, 2U);
  EXPECT_TRUE(past.last_closed_at.has_value());
}

TEST(Ledger, WhatComesBackWithinHoursIsTheSameMatterWithALongerProof) {
  LedgerBench bench(kDirty);
  const std::string id = bench.kept().id;
  bench.judge(LedgerBench::fine(), 10000);
  EXPECT_TRUE(bench.nothing_open());
  bench.judge(LedgerBench::wrong(kDirty), 100);
  EXPECT_EQ(bench.kept().id, id);
  EXPECT_TRUE(bench.events.ends_with("closed:dirty_connector reopened:dirty_connector "));
  bench.judge(LedgerBench::fine(), 10000);
  EXPECT_FALSE(bench.nothing_open()) << "it came back after so long: quiet proves nothing yet";
  bench.judge(LedgerBench::fine(), 15000);
  EXPECT_TRUE(bench.nothing_open());
}

TEST(Ledger, AFaultThatComesAndGoesIsNotToldEachTime) {
  LedgerBench bench(kDirty);
  for (int i = 0; i < 10; ++i) {
    bench.judge(LedgerBench::fine(), 900);
    bench.judge(LedgerBench::wrong(kDirty), 300);
  }
  EXPECT_EQ(bench.events,
            "opened:dirty_connector proving:dirty_connector reopened:dirty_connector ");
}

TEST(Ledger, WhatWasBeforeARepairGivesTheFaultNoOtherName) {
  LedgerBench bench(kDirty);
  PortVerdict old_flaps = LedgerBench::wrong(kModule);
  old_flaps.repaired = old_flaps.quiet_since = true;
  bench.judge(old_flaps, 7500);
  EXPECT_EQ(bench.events, "opened:dirty_connector proving:dirty_connector closed:dirty_connector ");
}

TEST(Ledger, WhatComesAfterARepairIsAnotherMatter) {
  LedgerBench bench(kDirty);
  const std::string id = bench.kept().id;
  PortVerdict fine = LedgerBench::fine();
  fine.repaired = true;
  bench.judge(fine, 10000);
  bench.judge(LedgerBench::wrong(kDirty), 100);
  EXPECT_NE(bench.kept().id, id);
}

TEST(LedgerPast, IsKeptOverARestart) {
  LedgerBench bench;
  PortVerdict wrong = LedgerBench::wrong(kDirty), fine = LedgerBench::fine();
  wrong.module = fine.module = "A1";
  bench.judge(wrong, 100);
  bench.judge(fine, 8000);
  LedgerBench after;
  after.ledger.restore(bench.ledger.state());
  after.judge(fine, 10);
  EXPECT_EQ(after.ledger.past("pci/1").module_times, 1U);
}

}  // namespace
}  // namespace linkhealth
