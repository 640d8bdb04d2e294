#include "daemon/sampling/play_source.h"

#include <gtest/gtest.h>

#include "tests/support/manual_clock.h"

namespace linkhealth {
namespace {

using testing::ManualClock;

constexpr const char* kRecording = LINKHEALTH_SOURCE_DIR "/demo/dirty_connector.jsonl.gz";

TEST(DaemonPlaySource, GivesEachSnapshotAtItsTimeAndThenEnds) {
  ManualClock clock;
  auto source = PlaySource::open(kRecording, 60, clock);
  ASSERT_TRUE(source.ok()) << source.error().message;
  std::string end;
  source->on_end([&](const std::string& sentence) { end = sentence; });
  std::optional<SteadyTime> first;
  std::optional<SteadyTime> last;
  Milliseconds played{0};
  while (source->until_due()) {
    const Milliseconds wait = *source->until_due();
    if (wait > Milliseconds(0)) {
      EXPECT_FALSE(source->poll()) << "early";
    }
    clock.advance(wait);
    played += wait;
    const auto snapshot = source->poll();
    if (!snapshot) continue;
    if (!first) first = snapshot->taken_at;
    last = snapshot->taken_at;
  }
  ASSERT_TRUE(first && last);
  EXPECT_NEAR(in_seconds(*last - *first) / 60, in_seconds(played), 1.0)
      << "60 s of the recording in a second";
  EXPECT_EQ(end, "the recording has ended after 179 snapshots");
  EXPECT_FALSE(source->poll());
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
