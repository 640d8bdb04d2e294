#include "cli/repair_verifier.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "tests/support/report_builder.h"

namespace linkhealth::cli {
namespace {

using ::testing::HasSubstr;

/// A link with a report every ten seconds.
struct Bench {
  VerifyLimits limits;
  RepairVerifier verifier{limits};
  PortReport port = test::healthy_port("mlx5_0", "ens1np0", "0000:1b:00.0");
  double t = 1000;

  Bench() { port.latest.link->carrier_down_count = 3; }
  explicit Bench(VerifyLimits given) : limits(given), verifier(given) {
    port.latest.link->carrier_down_count = 3;
  }

  VerifyState look() {
    return verifier.add(port, steady_from_seconds(t), WallTime(from_seconds(t)));
  }
  VerifyState run(double seconds) {
    VerifyState state = verifier.state();
    for (const double end = t + seconds; t < end && !state.finished();) {
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

TEST(RepairVerifier, AGoodLinkPassesWhenEnoughBitsWereSeen) {
  Bench bench;  // 3 / (1e-15 x 400 Gb/s) = 7490 s
  EXPECT_EQ(bench.look().verdict, VerifyVerdict::kTesting);
  const VerifyState half = bench.run(3750);
  EXPECT_EQ(half.verdict, VerifyVerdict::kTesting);
  EXPECT_NEAR(half.progress(), 0.5, 0.01);
  EXPECT_NEAR(half.confidence, 1 - std::exp(-1.5), 0.01);
  EXPECT_NEAR(half.remaining_s, 3740, 30);
  EXPECT_EQ(bench.run(3700).verdict, VerifyVerdict::kTesting);
  EXPECT_EQ(bench.run(90).verdict, VerifyVerdict::kPass);
}

TEST(RepairVerifier, AWeakerLimitStillTakesTheLeastTime) {
  Bench bench({.ber = 1e-12});
  bench.look();
  EXPECT_EQ(bench.run(1790).verdict, VerifyVerdict::kTesting);
  EXPECT_EQ(bench.run(60).verdict, VerifyVerdict::kPass);
}

/// Something that happens after ten minutes of a good link, and the reason for FAIL.
struct Failure {
  const char* reason;
  std::function<void(Bench&)> happen;
};
TEST(RepairVerifier, WhatFails) {
  const std::vector<Failure> failures = {
      // down and up again between two reports
      {"the carrier was lost", [](Bench& b) { b.port.latest.link->carrier_down_count = 4; }},
      {"2 uncorrectable blocks", [](Bench& b) { b.count("fec_uncorrectable_blocks", 2); }},
      {"running at 200G, expected 400G", [](Bench& b) { b.port.latest.link->speed_mbps = 200000; }},
      {"no subnet manager",
       [](Bench& b) {
         b.port.latest.link->state = "INIT";
         b.port.latest.link->phys_state = "LinkUp";
         EXPECT_EQ(b.run(60).verdict, VerifyVerdict::kTesting) << "a subnet manager needs time";
         b.port.health = Health::kDown;
         b.port.note = "INIT: the link has trained, and no subnet manager makes it ACTIVE";
       }},
      // planned for the daemon, not for the test
      {"the carrier was lost",
       [](Bench& b) {
         b.port.maintenance.emplace();
         b.look();
         b.port.latest.link->carrier_down_count = 4;
         b.port.figures.voluntary_downs_total += 1;
       }},
  };
  for (const Failure& failure : failures) {
    Bench bench;
    bench.look();
    bench.run(600);
    failure.happen(bench);
    EXPECT_THAT(bench.run(10).reason, HasSubstr(failure.reason));
    EXPECT_EQ(bench.verifier.state().verdict, VerifyVerdict::kFail);
    bench.port = Bench().port;
    EXPECT_EQ(bench.look().verdict, VerifyVerdict::kFail) << "and stays failed";
  }
}

TEST(RepairVerifier, AnAdministrativeDownRestartsTheTest) {
  Bench bench;
  bench.look();
  bench.run(3000);
  bench.port.latest.link->carrier = bench.port.latest.link->admin_up = false;
  bench.port.latest.link->carrier_down_count = 4;
  bench.port.figures.voluntary_downs_total += 1;
  VerifyState state = bench.run(10);
  EXPECT_EQ(state.verdict, VerifyVerdict::kWaiting);
  EXPECT_NE(state.note, "");
  bench.port.latest.link->carrier = bench.port.latest.link->admin_up = true;
  state = bench.run(10);
  EXPECT_EQ(state.verdict, VerifyVerdict::kTesting);
  EXPECT_EQ(state.bits, 0);
}

TEST(RepairVerifier, AResetOfTheCountersRestartsTheTest) {
  Bench bench;
  bench.look();
  bench.run(3000);
  bench.port.latest.link->carrier_down_count = 0;
  const VerifyState state = bench.run(10);
  EXPECT_EQ(state.verdict, VerifyVerdict::kTesting);
  EXPECT_EQ(state.note, "the counters were reset: the test restarts");
  EXPECT_EQ(state.bits, 0);
}

TEST(RepairVerifier, WithoutFecSomeErrorsAreAllowedAndAskForMoreBits) {
  Bench bench({.ber = 1e-13});  // 75 s of bits at 400G without an error
  bench.port.latest.counters.emplace();
  bench.port.latest.counters->set("symbol_error", 5);
  bench.look();
  bench.run(1500);  // 60 expected at the limit
  bench.count("symbol_error", 30);
  const VerifyState state = bench.run(10);
  EXPECT_EQ(state.verdict, VerifyVerdict::kTesting);
  EXPECT_EQ(state.errors, 30U);
  EXPECT_EQ(bench.run(400).verdict, VerifyVerdict::kPass);
}

TEST(RepairVerifier, TooManyErrorsFailLongBeforeTheEnd) {
  Bench bench;
  bench.port.latest.counters.emplace();
  bench.port.latest.counters->set("symbol_error", 0);
  bench.look();
  bench.run(100);
  bench.count("symbol_error", 20);
  EXPECT_THAT(bench.run(10).reason, HasSubstr("the error ratio is above 1e-15"));
}

/// A port with a fault that shows at every report, and maybe a repair just now.
struct FaultBench : Bench {
  explicit FaultBench(VerifyLimits given, bool repaired = false) : Bench(given) {
    port.faults = test::dirty_port().faults;
    port.faults[0].repairs.clear();
    if (repaired) port.faults[0].repairs.emplace_back().at = WallTime(from_seconds(t));
  }
  VerifyState show() {
    port.faults[0].last_seen_at = WallTime(from_seconds(t));
    return run(10);
  }
};

TEST(RepairVerifier, AFaultThatStillShowsFailsAfterTenMinutes) {
  FaultBench bench({});
  bench.look();
  for (int i = 0; i < 59; ++i) ASSERT_EQ(bench.show().verdict, VerifyVerdict::kTesting);
  EXPECT_THAT(bench.show().reason,
              HasSubstr("dirty connector still shows: lane 2 receives -9.1 dBm"));
}

TEST(RepairVerifier, AShortTestWithoutARepairFailsAtOnce) {
  FaultBench bench({.ber = 1e-9, .least_s = 2});
  bench.look();
  EXPECT_THAT(bench.show().reason, HasSubstr("dirty connector still shows"));
}

TEST(RepairVerifier, AShortTestRightAfterARepairWaitsUntilTheSymptomsDisappear) {
  FaultBench bench({.ber = 1e-9, .least_s = 60}, true);
  bench.look();
  std::string notes;
  for (int i = 0; i < 30; ++i) {  // the error ratio is that of the last ten minutes
    const VerifyState state = bench.show();
    ASSERT_EQ(state.verdict, VerifyVerdict::kTesting) << bench.t;
    EXPECT_GT(state.remaining_s, 0) << bench.t;
    notes += state.note;
  }
  EXPECT_EQ(notes,
            "dirty connector still shows: waiting up to 9 min for its symptoms to disappear");
  EXPECT_EQ(bench.run(50).verdict, VerifyVerdict::kTesting) << "it may show again";
  EXPECT_EQ(bench.run(60).verdict, VerifyVerdict::kPass);

  FaultBench stays({.ber = 1e-9, .least_s = 60}, true);
  stays.look();
  VerifyState state;
  for (int i = 0; i < 60 && !state.finished(); ++i) state = stays.show();
  EXPECT_THAT(state.reason, HasSubstr("dirty connector still shows"));
}

TEST(RepairVerifier, AFaultThatIsBeingVerifiedDoesNotFail) {
  FaultBench bench({});
  bench.port.faults[0].state = FaultState::kProving;
  bench.look();
  EXPECT_EQ(bench.run(7600).verdict, VerifyVerdict::kPass);
}

TEST(RepairVerifier, ALinkThatDoesNotComeUpFails) {
  Bench bench;
  bench.port.latest.link->carrier = false;
  EXPECT_EQ(bench.look().verdict, VerifyVerdict::kWaiting);
  EXPECT_EQ(bench.run(110).verdict, VerifyVerdict::kWaiting);
  EXPECT_EQ(bench.run(20).reason, "the link does not come up");
}

TEST(RepairVerifier, APauseCountsOnlyWhereTheKernelCountsLosses) {
  Bench counted;
  counted.look();
  counted.t += 600;
  EXPECT_NEAR(counted.look().bits, 600 * 4e11, 1e9);
  Bench uncounted;
  uncounted.port.latest.link->carrier_down_count.reset();
  uncounted.look();
  uncounted.t += 600;
  EXPECT_EQ(uncounted.look().bits, 0);
}

TEST(RepairVerifier, WithoutAnErrorCounterTheResultIsUnknown) {
  Bench bench;
  bench.port.latest.counters.reset();
  bench.look();
  EXPECT_EQ(bench.run(40).verdict, VerifyVerdict::kUnknown);
}

}  // namespace
}  // namespace linkhealth::cli
