#include "daemon/sampling/play_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/manual_clock.h"

namespace linkhealth {
namespace {

using testing::ManualClock;

constexpr const char* kRecording = LINKHEALTH_SOURCE_DIR "/demo/demo.jsonl.gz";

TEST(DaemonPlaySource, GivesEachSnapshotAtItsTimeUntilTheEnd) {
  ManualClock clock;
  auto source = PlaySource::open(kRecording, 60, clock);
  ASSERT_TRUE(source.ok()) << source.error().message;
  std::string end;
  source->on_end([&](const std::string& sentence) { end = sentence; });
  std::optional<SteadyTime> first;
  std::optional<SteadyTime> last;
  Milliseconds played{0};
  while (end.empty()) {
    const Milliseconds wait = *source->until_due();
    if (wait > Milliseconds(0)) {
      EXPECT_FALSE(source->poll()) << "early";
    }
    clock.advance(wait);
    played += wait;
    const auto snapshot = source->poll();
    if (!snapshot || !end.empty()) continue;
    if (!first) first = snapshot->taken_at;
    last = snapshot->taken_at;
  }
  ASSERT_TRUE(first && last);
  EXPECT_NEAR(in_seconds(*last - *first) / 60, in_seconds(played), 1.0)
      << "60 s of the recording in a second";
  EXPECT_EQ(end, "the recording has ended after 272 snapshots");
}

/// Polls until a snapshot comes; at most ten minutes of the test's clock.
Snapshot next_of(PlaySource& source, ManualClock& clock) {
  for (int i = 0; i < 6'000; ++i) {
    if (auto snapshot = source.poll()) return *std::move(snapshot);
    clock.advance(Milliseconds(100));
  }
  ADD_FAILURE() << "no snapshot came";
  return {};
}

TEST(DaemonPlaySource, AfterTheEndTheLinksAreRepeatedAndTimeStandsStill) {
  ManualClock clock;
  auto source = PlaySource::open(kRecording, 1e6, clock);
  ASSERT_TRUE(source.ok());
  bool ended = false;
  source->on_end([&](const std::string&) { ended = true; });
  Snapshot last;
  while (!ended) {
    clock.advance(Milliseconds(1));
    if (auto snapshot = source->poll()) last = *std::move(snapshot);
  }
  const Snapshot repeated = next_of(*source, clock);
  EXPECT_EQ(repeated.taken_at, last.taken_at + Milliseconds(1));
  ASSERT_EQ(repeated.ports.size(), last.ports.size());
  for (const auto& [key, port] : repeated.ports) {
    EXPECT_EQ(port.link, last.ports.at(key).link);
    EXPECT_FALSE(port.counters) << "no counter that stands still is read";
  }
  EXPECT_GT(*source->until_due(), Milliseconds(900));
}

TEST(DaemonPlaySource, ItIsHeldAndGoesOnWhereItWas) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ManualClock clock;
  auto source = PlaySource::open(kRecording, 60, clock);
  ASSERT_TRUE(source.ok());
  source->control(ends[0]);
  next_of(*source, clock);
  const Snapshot second = next_of(*source, clock);
  ASSERT_EQ(write(ends[1], "h", 1), 1);
  Snapshot held;
  for (int i = 0; i < 100; ++i) held = next_of(*source, clock);
  EXPECT_EQ(held.taken_at, second.taken_at + Milliseconds(100)) << "100 s are 100 ms";
  ASSERT_EQ(write(ends[1], "r", 1), 1);
  const Snapshot third = next_of(*source, clock);
  EXPECT_NEAR(in_seconds(third.taken_at - second.taken_at), 60, 1);
  EXPECT_TRUE(third.ports.begin()->second.counters);
  close(ends[1]);
  EXPECT_TRUE(next_of(*source, clock).ports.begin()->second.counters)
      << "a closed end changes nothing";
  close(ends[0]);
}

TEST(DaemonPlaySource, AFileThatIsNoRecordingIsAnError) {
  ManualClock clock;
  const auto source = PlaySource::open(LINKHEALTH_SOURCE_DIR "/README.md", 1, clock);
  ASSERT_FALSE(source.ok());
  EXPECT_NE(source.error().message.find("README.md:1: not a recording"), std::string::npos)
      << source.error().message;
}

}  // namespace
}  // namespace linkhealth
