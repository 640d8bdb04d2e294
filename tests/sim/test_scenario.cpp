// The generator keeps its promises: the same case is the same everywhere, faults show where they are, and what a
// driver does not offer is absent.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "tests/sim/scenario.h"

namespace linkhealth::sim {
namespace {

std::uint64_t fingerprint(const CaseSpec& spec) {
  Simulation simulation(spec);
  Snapshot snapshot;
  std::uint64_t sum = 0;
  while (simulation.next(snapshot)) {
    for (const auto& [key, port] : snapshot.ports) {
      if (port.counters) {
        for (const auto& [id, value] : port.counters->known()) sum = sum * 31 + value + id;
      }
      if (port.module) sum = sum * 31 + port.module->lanes.size();
    }
    sum = sum * 31 + snapshot.events.size() + snapshot.gaps.size();
  }
  return sum;
}

TEST(Scenario, TheSameSeedGivesTheSameCase) {
  EXPECT_EQ(fingerprint({CaseSet::kHard, 5, ""}), fingerprint({CaseSet::kHard, 5, ""}));
  EXPECT_NE(fingerprint({CaseSet::kHard, 5, ""}), fingerprint({CaseSet::kHard, 6, ""}));
}

TEST(Scenario, EveryFaultOccurs) {
  for (const std::string_view name : fault_names()) {
    bool seen = false;
    for (std::uint64_t seed = 1; seed < 200 && !seen; ++seed) {
      const Simulation simulation({CaseSet::kHard, seed, std::string(name)});
      for (const auto& [key, truth] : simulation.truth()) seen = seen || truth.fault == name;
    }
    EXPECT_TRUE(seen) << name;
  }
}

TEST(Scenario, TimeAndEventsAreInOrder) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Simulation simulation({CaseSet::kHard, seed, ""});
    Snapshot snapshot;
    double last = -1;
    while (simulation.next(snapshot)) {
      const double t = steady_seconds(snapshot.taken_at);
      EXPECT_GT(t, last) << seed;
      for (const PortEvent& event : snapshot.events) EXPECT_LT(steady_seconds(event.t), t + 3) << seed;
      last = t;
    }
    EXPECT_GT(last, 5000);
  }
}

TEST(Scenario, ABlindGroupIsAbsentAndHasAGap) {
  bool seen = false;
  for (std::uint64_t seed = 1; seed < 60 && !seen; ++seed) {
    Simulation simulation({CaseSet::kField, seed, "monitor_blind"});
    PortKey blind;
    for (const auto& [key, truth] : simulation.truth()) {
      if (truth.fault == "monitor_blind") blind = key;
    }
    if (blind.empty()) continue;
    Snapshot last;
    Snapshot snapshot;
    while (simulation.next(snapshot)) last = snapshot;
    EXPECT_FALSE(last.ports.at(blind).counters.has_value());
    bool gap = false;
    for (const Gap& each : last.gaps) gap = gap || (each.port == blind && each.probe == "counters");
    EXPECT_TRUE(gap);
    seen = true;
  }
  EXPECT_TRUE(seen);
}

TEST(Scenario, HealthyLinksStayWithinTheirLimits) {
  Simulation simulation({CaseSet::kHealthy, 3, ""});
  Snapshot snapshot;
  std::map<PortKey, std::uint64_t> first, last;
  while (simulation.next(snapshot)) {
    for (const auto& [key, port] : snapshot.ports) {
      if (!port.counters) continue;
      const auto lost = port.counters->get("fec_uncorrectable_blocks");
      if (!lost) continue;
      first.try_emplace(key, *lost);
      last[key] = *lost;
    }
  }
  ASSERT_FALSE(first.empty());
  for (const auto& [key, value] : last) {
    // Below the first value: the counters were cleared in between.
    EXPECT_LT(value, first[key] + 1000u) << key;
  }
}

}  // namespace
}  // namespace linkhealth::sim
