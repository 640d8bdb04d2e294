// Every fault that opens can also close: each fault of the table is followed from its opening to
// its closing, by the engine with its real ledger on a simulated node.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <set>

#include "daemon/engine/engine.h"
#include "tests/sim/scenario.h"
#include "tests/sim/score.h"

namespace linkhealth::sim {
namespace {

/// The course of the fault in one case.
struct Walk {
  bool opened = false;
  std::set<std::string> open;  ///< ids of this fault at the end
  std::string told;            ///< for people
};

Walk walk(const std::string& fault, std::uint64_t seed) {
  Simulation simulation(
      {.set = CaseSet::kField, .seed = seed, .fault = fault, .ports = 0, .repaired = true});
  Engine engine = engine_for(simulation.header());
  Walk out;
  Snapshot snapshot;
  while (simulation.next(snapshot)) {
    for (const FaultEvent& event : engine.step(snapshot).events) {
      out.told += fmt::format("{:.0f} {} {} {}\n", steady_seconds(snapshot.taken_at), event.port,
                              to_string(event.kind), event.fault.fault);
      if (event.kind == FaultEventKind::kOpened && event.fault.fault == fault) {
        out.opened = true;
        out.open.insert(event.fault.id);
      }
      if (event.kind == FaultEventKind::kClosed) out.open.erase(event.fault.id);
    }
  }
  for (const auto& [port, truth] : simulation.truth())
    if (truth.repaired_s)
      out.told += fmt::format("{} was over at {:.0f}\n", port, *truth.repaired_s);
  return out;
}

class EveryFault : public testing::TestWithParam<std::string> {};

TEST_P(EveryFault, OpensAndCloses) {
  constexpr std::uint64_t kSeeds = 60;
  constexpr int kWalks = 5;
  int walks = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds && walks < kWalks; ++seed) {
    const Walk seen = walk(GetParam(), seed);
    walks += seen.opened;
    EXPECT_TRUE(seen.open.empty()) << "seed " << seed << ": still open at the end\n" << seen.told;
  }
  EXPECT_EQ(walks, kWalks) << "named so often in " << kSeeds << " cases";
}

INSTANTIATE_TEST_SUITE_P(Names, EveryFault,
                         testing::ValuesIn(std::vector<std::string>(fault_names().begin(),
                                                                    fault_names().end())),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace linkhealth::sim
