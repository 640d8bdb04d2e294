// Minimum values for the figures of docs/accuracy.md on a small fixed set, so that a change which
// costs accuracy is noticed at once. The full measurement is the program `accuracy`.
#include <gtest/gtest.h>

#include "tests/sim/scenario.h"
#include "tests/sim/score.h"

namespace linkhealth::sim {
namespace {

Score measure(CaseSet set, std::uint64_t seed, std::uint64_t cases) {
  Score score;
  for (std::uint64_t i = 0; i < cases; ++i) {
    Simulation simulation({set, seed + i, ""});
    Engine engine = engine_for(simulation.header());
    score.begin_case(std::to_string(seed + i), simulation.truth());
    Snapshot snapshot;
    while (simulation.next(snapshot))
      score.step(engine.step(snapshot), steady_seconds(snapshot.taken_at));
    score.end_case();
  }
  return score;
}

TEST(Accuracy, FaultsInFieldProportions) {
  const Score score = measure(CaseSet::kField, 7001, 24);
  EXPECT_GE(score.share(&Outcome::right), 0.95) << score.text(5);
  EXPECT_GE(score.share(&Outcome::in_first_three), 0.95);
  EXPECT_GE(score.share(&Outcome::end_right), 0.95);
}

TEST(Accuracy, HardCases) {
  const Score score = measure(CaseSet::kHard, 7001, 24);
  EXPECT_GE(score.share(&Outcome::right), 0.92) << score.text(5);
}

TEST(Accuracy, HealthyPortsStayQuiet) {
  const Score score = measure(CaseSet::kHealthy, 7001, 2);
  EXPECT_TRUE(score.false_diagnoses().empty()) << score.text(5);
}

}  // namespace
}  // namespace linkhealth::sim
