#include "cli/proof.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/support/report_builder.h"

namespace linkhealth::cli {
namespace {

using ::testing::HasSubstr;

/// A link that is looked at every ten seconds.
struct Bench {
  ProofLimits limits;
  Prover prover{limits};
  PortReport port = test::healthy_port("mlx5_0", "ens1np0", "0000:1b:00.0");
  double t = 1000;

  Bench() { port.latest.link->carrier_down_count = 3; }
  explicit Bench(ProofLimits given) : limits(given), prover(given) {
    port.latest.link->carrier_down_count = 3;
  }

  ProofState look() { return prover.add(port, steady_from_seconds(t), WallTime(from_seconds(t))); }
  ProofState run(double seconds) {
    ProofState state = prover.state();
    for (const double end = t + seconds; t < end && state.verdict != ProofVerdict::kFail;) {
      t += 10;
      state = look();
    }
    return state;
  }
  void count(const char* name, std::uint64_t by) {
    port.latest.counters->set(name, port.latest.counters->get(name).value_or(0) + by);
  }
};

TEST(Poisson, KnownValues) {
  EXPECT_NEAR(poisson_above(0, 2.9957), 0.95, 1e-4);  // the rule of three
  EXPECT_NEAR(poisson_above(1, 4.7439), 0.95, 1e-4);  // scipy.stats.poisson.sf(1, 4.7439)
  EXPECT_NEAR(poisson_above(10, 16.9622), 0.95, 1e-4);
  EXPECT_EQ(poisson_above(0, 0), 0);
  EXPECT_NEAR(poisson_above(100000, 1e5), 0.5, 0.01) << "large numbers neither overflow nor vanish";
}

TEST(Prove, AGoodLinkPassesWhenEnoughBitsWereSeen) {
  Bench bench;  // 3 / (1e-15 x 400 Gb/s) = 7490 s
  EXPECT_EQ(bench.look().verdict, ProofVerdict::kProving);
  const ProofState half = bench.run(3750);
  EXPECT_EQ(half.verdict, ProofVerdict::kProving);
  EXPECT_NEAR(half.progress(), 0.5, 0.01);
  EXPECT_NEAR(half.confidence, 1 - std::exp(-1.5), 0.01);
  EXPECT_NEAR(half.remaining_s, 3740, 30);
  EXPECT_EQ(bench.run(3700).verdict, ProofVerdict::kProving);
  EXPECT_EQ(bench.run(90).verdict, ProofVerdict::kPass);
}

TEST(Prove, AWeakerBoundStillTakesTheLeastTime) {
  Bench bench({.ber = 1e-12});
  bench.look();
  EXPECT_EQ(bench.run(1790).verdict, ProofVerdict::kProving);
  EXPECT_EQ(bench.run(60).verdict, ProofVerdict::kPass);
}

TEST(Prove, ADropFails) {
  Bench bench;
  bench.look();
  bench.run(600);
  bench.port.latest.link->carrier_down_count = 4;  // down and up again between two looks
  const ProofState state = bench.run(10);
  EXPECT_EQ(state.verdict, ProofVerdict::kFail);
  EXPECT_EQ(state.reason, "the carrier was lost");
}

TEST(Prove, ALinkThatNoSubnetManagerMakesActiveFails) {
  Bench bench;
  bench.look();
  bench.port.latest.link->state = "INIT";
  bench.port.latest.link->phys_state = "LinkUp";
  EXPECT_EQ(bench.run(60).verdict, ProofVerdict::kProving) << "the daemon gives a manager its time";
  bench.port.health = Health::kDown;
  bench.port.note = "INIT: the link has trained, and no subnet manager makes it ACTIVE";
  const ProofState state = bench.run(60);
  EXPECT_EQ(state.verdict, ProofVerdict::kFail);
  EXPECT_THAT(state.reason, HasSubstr("no subnet manager"));
}

TEST(Prove, WhatFailedStaysFailed) {
  Bench bench;
  bench.look();
  bench.port.latest.link->carrier = false;
  EXPECT_EQ(bench.run(10).verdict, ProofVerdict::kFail);
  bench.port.latest.link->carrier = true;
  bench.t += 10;
  EXPECT_EQ(bench.look().verdict, ProofVerdict::kFail);
}

TEST(Prove, AnUncorrectableBlockFails) {
  Bench bench;
  bench.look();
  bench.run(600);
  bench.count("fec_uncorrectable_blocks", 2);
  EXPECT_EQ(bench.run(10).reason, "2 uncorrectable blocks");
}

TEST(Prove, WhatAnAdministratorSetsDownBeginsAnew) {
  Bench bench;
  bench.look();
  bench.run(3000);
  bench.port.latest.link->carrier = false;
  bench.port.latest.link->admin_up = false;
  bench.port.latest.link->carrier_down_count = 4;
  bench.port.figures.voluntary_downs_total += 1;
  ProofState state = bench.run(10);
  EXPECT_EQ(state.verdict, ProofVerdict::kWaiting);
  ASSERT_TRUE(state.note.has_value());
  bench.port.latest.link->carrier = bench.port.latest.link->admin_up = true;
  state = bench.run(10);
  EXPECT_EQ(state.verdict, ProofVerdict::kProving);
  EXPECT_EQ(state.bits, 0);
}

TEST(Prove, InMaintenanceALossIsALoss) {
  Bench bench;
  bench.port.maintenance.emplace();
  bench.look();
  bench.port.latest.link->carrier_down_count = 4;
  bench.port.figures.voluntary_downs_total += 1;  // the daemon excuses it, the proof does not
  EXPECT_EQ(bench.run(10).verdict, ProofVerdict::kFail);
}

TEST(Prove, WithoutFecSomeErrorsAreAllowedAndAskForMoreBits) {
  Bench bench({.ber = 1e-13});  // 75 s of bits at 400G without an error
  bench.port.latest.counters.emplace();
  bench.port.latest.counters->set("symbol_error", 5);
  bench.look();
  bench.run(1500);  // 60 expected at the limit
  bench.count("symbol_error", 30);
  const ProofState state = bench.run(10);
  EXPECT_EQ(state.verdict, ProofVerdict::kProving);
  EXPECT_EQ(state.errors, 30U);
  EXPECT_EQ(bench.run(400).verdict, ProofVerdict::kPass);
}

TEST(Prove, TooManyErrorsFailLongBeforeTheEnd) {
  Bench bench({.ber = 1e-15});
  bench.port.latest.counters.emplace();
  bench.port.latest.counters->set("symbol_error", 0);
  bench.look();
  bench.run(100);
  bench.count("symbol_error", 20);
  const ProofState state = bench.run(10);
  EXPECT_EQ(state.verdict, ProofVerdict::kFail);
  EXPECT_THAT(state.reason, HasSubstr("the error ratio is above 1e-15"));
}

TEST(Prove, AFaultThatStillShowsFails) {
  Bench bench;
  bench.port.faults = test::dirty_port().faults;
  bench.look();
  for (int i = 0; i < 59; ++i) {
    bench.port.faults[0].last_seen_at = WallTime(from_seconds(bench.t));
    ASSERT_EQ(bench.run(10).verdict, ProofVerdict::kProving);
  }
  bench.port.faults[0].last_seen_at = WallTime(from_seconds(bench.t));
  EXPECT_THAT(bench.run(10).reason,
              HasSubstr("dirty connector still shows: lane 2 receives -9.1 dBm"));
}

void repaired_now(Bench& bench) {
  RepairRecord repair;
  repair.at = WallTime(from_seconds(bench.t));
  bench.port.faults[0].repairs = {repair};
}

TEST(Prove, AShortProofRightAfterARepairWaitsUntilTheFaultHasGone) {
  Bench bench({.ber = 1e-9, .least_s = 60});
  bench.port.faults = test::dirty_port().faults;
  bench.port.faults[0].last_seen_at = WallTime(from_seconds(bench.t));
  repaired_now(bench);
  std::string notes = bench.look().note.value_or("");
  for (int i = 0; i < 30; ++i) {  // the error rate is that of the last ten minutes
    bench.port.faults[0].last_seen_at = WallTime(from_seconds(bench.t));
    const ProofState state = bench.run(10);
    ASSERT_EQ(state.verdict, ProofVerdict::kProving) << bench.t;
    EXPECT_GT(state.remaining_s, 0) << bench.t;
    notes += state.note.value_or("");
  }
  EXPECT_EQ(notes, "dirty connector still shows: it has 9 min to go");
  EXPECT_EQ(bench.run(50).verdict, ProofVerdict::kProving)
      << "it may show again with the next reading";
  EXPECT_EQ(bench.run(60).verdict, ProofVerdict::kPass);
}

TEST(Prove, AShortProofOfAPortThatNobodyTouchedFailsAtOnce) {
  Bench bench({.ber = 1e-9, .least_s = 2});
  bench.port.faults = test::dirty_port().faults;
  bench.port.faults[0].repairs.clear();
  bench.look();
  bench.port.faults[0].last_seen_at = WallTime(from_seconds(bench.t));
  EXPECT_THAT(bench.run(3).reason, HasSubstr("dirty connector still shows"));
}

TEST(Prove, AShortProofDoesNotPassAFaultThatStays) {
  Bench bench({.ber = 1e-9, .least_s = 60});
  bench.port.faults = test::dirty_port().faults;
  repaired_now(bench);
  bench.look();
  ProofState state;
  for (int i = 0; i < 60 && state.verdict != ProofVerdict::kFail; ++i) {
    bench.port.faults[0].last_seen_at = WallTime(from_seconds(bench.t));
    state = bench.run(10);
    ASSERT_NE(state.verdict, ProofVerdict::kPass);
  }
  EXPECT_THAT(state.reason, HasSubstr("dirty connector still shows"));
}

TEST(Prove, AFaultThatProvesItselfGoneDoesNotFail) {
  Bench bench;
  bench.port.faults = test::dirty_port().faults;
  bench.port.faults[0].state = FaultState::kProving;
  bench.look();
  EXPECT_EQ(bench.run(7600).verdict, ProofVerdict::kPass);
}

TEST(Prove, ALinkThatDoesNotComeUpFails) {
  Bench bench;
  bench.port.latest.link->carrier = false;
  EXPECT_EQ(bench.look().verdict, ProofVerdict::kWaiting);
  EXPECT_EQ(bench.run(110).verdict, ProofVerdict::kWaiting);
  EXPECT_EQ(bench.run(20).reason, "the link does not come up");
}

TEST(Prove, ASlowerLinkThanExpectedFailsAtOnce) {
  Bench bench;
  bench.port.latest.link->speed_mbps = 200000;
  EXPECT_EQ(bench.look().reason, "it runs at 200G, 400G is expected");
}

TEST(Prove, AResetOfTheCountersBeginsAnew) {
  Bench bench;
  bench.look();
  bench.run(3000);
  bench.port.latest.link->carrier_down_count = 0;
  const ProofState state = bench.run(10);
  EXPECT_EQ(state.verdict, ProofVerdict::kProving);
  EXPECT_EQ(*state.note, "the counters were reset: the proof begins anew");
  EXPECT_EQ(state.bits, 0);
}

TEST(Prove, APauseCountsOnlyWhereTheKernelCountsLosses) {
  Bench counted;
  counted.look();
  counted.t += 600;
  EXPECT_NEAR(counted.look().bits, 600 * 4e11, 1e9);
  Bench blind;
  blind.port.latest.link->carrier_down_count.reset();
  blind.look();
  blind.t += 600;
  EXPECT_EQ(blind.look().bits, 0);
}

TEST(Prove, WithoutAnErrorCounterNothingIsProved) {
  Bench bench;
  bench.port.latest.counters.reset();
  bench.look();
  EXPECT_EQ(bench.run(40).verdict, ProofVerdict::kUnknown);
}

}  // namespace
}  // namespace linkhealth::cli
