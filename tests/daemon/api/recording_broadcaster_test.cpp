#include "daemon/api/recording_broadcaster.h"

#include <gmock/gmock.h>

namespace linkhealth {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr SteadyTime at(int t) { return SteadyTime(seconds(t)); }
using State = HttpStream::State;

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
  recordings.set_header("H");
  EXPECT_FALSE(recordings.has_listeners());
  auto listener = recordings.listen(at(0), seconds(5));
  ASSERT_TRUE(listener.ok());
  EXPECT_TRUE(recordings.has_listeners());
  for (const int t : {100, 104, 105, 106}) recordings.publish(at(t), std::to_string(t));
  State last = State::kBytes;
  EXPECT_EQ(read(**listener, at(0), last), "H\n100\n104\n105\n");
  EXPECT_EQ(last, State::kEnded);
  listener->reset();
  EXPECT_FALSE(recordings.has_listeners());
}

TEST(RecordingBroadcaster, EndsWhenItsTimeIsOverAlsoWhenNothingCame) {
  RecordingBroadcaster recordings;
  recordings.set_header("H");
  recordings.set_known(at(995), [] { return std::string("known"); });
  const auto listener = recordings.listen(at(1000), seconds(2));
  State last = State::kBytes;
  EXPECT_EQ(read(**listener, at(1000), last), "H\nknown\n")
      << "at once, not with the next snapshot";
  EXPECT_EQ(last, State::kNothingYet);
  EXPECT_EQ(read(**listener, at(1001), last), "");
  EXPECT_EQ(last, State::kNothingYet);
  EXPECT_EQ(read(**listener, at(1002), last), "");
  EXPECT_EQ(last, State::kEnded);
  recordings.publish(at(1005), "too late");
  EXPECT_EQ(read(**listener, at(1005), last), "");
}

TEST(RecordingBroadcaster, WhatCameBeforeItsEndIsStillGiven) {
  RecordingBroadcaster recordings;
  recordings.set_header("H");
  const auto listener = recordings.listen(at(1000), seconds(2));
  recordings.publish(at(1001), "1001");
  State last = State::kBytes;
  EXPECT_EQ(read(**listener, at(1010), last), "H\n1001\n");
  EXPECT_EQ(last, State::kEnded);
}

TEST(RecordingBroadcaster, TheStepThatIsKnownIsNotThereTwiceAndTheNextOneIsNotMissing) {
  RecordingBroadcaster recordings;
  recordings.set_header("H");
  recordings.set_known(at(100), [] { return std::string("all of 100"); });
  const auto listener = recordings.listen(at(100), seconds(60));
  recordings.publish(at(100), "100");  // the deciding thread was between its note and its push
  recordings.set_known(at(110), [] { return std::string("all of 110"); });
  recordings.publish(at(110), "110");
  State last = State::kBytes;
  EXPECT_EQ(read(**listener, at(110), last), "H\nall of 100\n110\n");
  const auto later = recordings.listen(at(112), seconds(60));
  EXPECT_EQ(read(**later, at(112), last), "H\nall of 110\n");
}

TEST(RecordingBroadcaster, ALineThatComesWhileTheFirstOneIsMadeFollowsIt) {
  RecordingBroadcaster recordings;
  recordings.set_header("H");
  recordings.set_known(at(100), [&recordings] {
    recordings.publish(at(110), "110");
    return std::string("all of 100");
  });
  const auto listener = recordings.listen(at(109), seconds(60));
  State last = State::kBytes;
  EXPECT_EQ(read(**listener, at(110), last), "H\nall of 100\n110\n");
}

TEST(RecordingBroadcaster, ASlowListenerIsDroppedNotWaitedFor) {
  RecordingBroadcaster recordings(2, 10);
  recordings.set_header("H");
  const auto listener = recordings.listen(at(0), seconds(100));
  recordings.publish(at(1), "12345678901");
  std::string line;
  EXPECT_EQ((*listener)->next(at(1), line), State::kBroken);
}

TEST(RecordingBroadcaster, AtMostSoManyListen) {
  RecordingBroadcaster recordings(1);
  recordings.set_header("H");
  const auto listener = recordings.listen(at(0), seconds(1));
  EXPECT_THAT(recordings.listen(at(0), seconds(1)).error().message,
              HasSubstr("too many recordings"));
  recordings.close();
  EXPECT_FALSE(recordings.listen(at(0), seconds(1)).ok());
}

}  // namespace
}  // namespace linkhealth
