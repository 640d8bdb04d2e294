// What the first line of a recording says that begins while the daemon runs.
#include "daemon/startup_log.h"

#include <gtest/gtest.h>

namespace linkhealth {
namespace {

SourceMap failing(SourceId source, const std::string& reason) {
  return {{source, {SourceState::kFailing, reason, SteadyTime(std::chrono::seconds(7)), {}}}};
}

/// A step in which nothing was due but one port's counters, which could not be read.
TEST(FirstLine, HasWhatIsKnownWithTheStateOfTheSourcesAndNoEventsOfThePast) {
  Snapshot step;
  step.taken_at = SteadyTime(std::chrono::seconds(100));
  step.wall_time = WallTime(std::chrono::seconds(1'800'000'000));
  step.uptime_s = 5000;
  step.ports["mlx5_0/1"].id.device = "mlx5_0";
  step.events.emplace_back();
  Report report;
  report.sources = failing(SourceId::kKernelLog, "no permission");
  for (const char* key : {"mlx5_0/1", "mlx5_1/1"}) {
    PortReport& port = report.ports.emplace_back();
    port.port = key;
    port.latest.link.emplace().carrier = true;
    port.latest.module.emplace().serial = "A1";
    port.latest.sources = failing(SourceId::kCounters, "EINVAL");
  }
  const Snapshot first = with_all_groups(step, report);
  EXPECT_EQ(first.taken_at, SteadyTime(std::chrono::seconds(100)));
  EXPECT_EQ(first.wall_time, step.wall_time);
  EXPECT_EQ(first.uptime_s, 5000);
  EXPECT_TRUE(first.events.empty());
  ASSERT_EQ(first.ports.size(), 1U) << "a port that has gone is none";
  const PortSample& port = first.ports.at("mlx5_0/1");
  EXPECT_EQ(port.id.device, "mlx5_0");
  EXPECT_EQ(port.link->carrier, true);
  EXPECT_EQ(port.module->serial, "A1");
  EXPECT_EQ(port.sources, failing(SourceId::kCounters, "EINVAL"));
  EXPECT_EQ(first.sources, failing(SourceId::kKernelLog, "no permission"));
}

}  // namespace
}  // namespace linkhealth
