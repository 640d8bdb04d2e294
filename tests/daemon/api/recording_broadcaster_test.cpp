#include "daemon/api/recording_broadcaster.h"

#include <gmock/gmock.h>

namespace linkhealth {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr SteadyTime at(int t) { return SteadyTime(seconds(t)); }
using State = HttpStream::State;

/// A snapshot of `t`, before which `known` was read.
void publish(RecordingBroadcaster& recordings, int t, const std::string& line,
             const std::string& known = "known") {
  recordings.publish(
      at(t), [known] { return known; }, [&] { return line; });
}

/// What waits for the listener, and the state after it.
std::string read(RecordingBroadcaster::Listener& listener, SteadyTime now, State& last) {
  std::string all;
  while ((last = listener.next(now, all)) == State::kBytes) {
  }
  return all;
}

TEST(RecordingBroadcaster, FollowsTheSnapshotsOwnClock) {
  RecordingBroadcaster recordings;
  EXPECT_FALSE(recordings.listen(at(0), seconds(5)).ok());  // no header yet
  recordings.set_header([] { return std::string("H"); });
  EXPECT_FALSE(recordings.has_listeners());
  auto listener = recordings.listen(at(0), seconds(5));
  ASSERT_TRUE(listener.ok());
  EXPECT_TRUE(recordings.has_listeners());
  for (const int t : {100, 104, 105, 106}) publish(recordings, t, std::to_string(t));
  State last = State::kBytes;
  EXPECT_EQ(read(**listener, at(0), last), "H\n100\n104\n105\n");
  EXPECT_EQ(last, State::kEnded);
  listener->reset();
  EXPECT_FALSE(recordings.has_listeners());
}

TEST(RecordingBroadcaster, BeginsWithWhatIsKnownAndEndsInTimeAlsoWhenNothingCame) {
  RecordingBroadcaster recordings;
  recordings.set_header([] { return std::string("H"); });
  publish(recordings, 995, "995", "all of 995");
  const auto listener = recordings.listen(at(1000), seconds(2));
  State last = State::kBytes;
  EXPECT_EQ(read(**listener, at(1000), last), "H\nall of 995\n");
  EXPECT_EQ(last, State::kNothingYet);
  EXPECT_EQ(read(**listener, at(1001), last), "");
  EXPECT_EQ(last, State::kNothingYet);
  EXPECT_EQ(read(**listener, at(1002), last), "");
  EXPECT_EQ(last, State::kEnded);
  publish(recordings, 1005, "too late");
  EXPECT_EQ(read(**listener, at(1005), last), "");
}

TEST(RecordingBroadcaster, LinesFromBeforeItsEndAreStillSent) {
  RecordingBroadcaster recordings;
  recordings.set_header([] { return std::string("H"); });
  const auto listener = recordings.listen(at(1000), seconds(2));
  publish(recordings, 1001, "1001");
  State last = State::kBytes;
  EXPECT_EQ(read(**listener, at(1010), last), "H\n1001\n");
  EXPECT_EQ(last, State::kEnded);
}

TEST(RecordingBroadcaster, ASlowListenerIsCut) {
  RecordingBroadcaster recordings(2, 10);
  recordings.set_header([] { return std::string("H"); });
  const auto listener = recordings.listen(at(0), seconds(100));
  publish(recordings, 1, "12345678901");
  std::string line;
  EXPECT_EQ((*listener)->next(at(1), line), State::kBroken);
}

TEST(RecordingBroadcaster, TheNumberOfListenersIsLimited) {
  RecordingBroadcaster recordings(1);
  recordings.set_header([] { return std::string("H"); });
  const auto listener = recordings.listen(at(0), seconds(1));
  EXPECT_THAT(recordings.listen(at(0), seconds(1)).error().message,
              HasSubstr("too many recordings"));
  recordings.close();
  EXPECT_FALSE(recordings.listen(at(0), seconds(1)).ok());
}

}  // namespace
}  // namespace linkhealth
