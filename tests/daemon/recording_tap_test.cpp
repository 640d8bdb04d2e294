// How a running daemon's recording is listened to.
#include "daemon/recording_tap.h"

#include <gmock/gmock.h>

namespace linkhealth {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr SteadyTime at(int t) { return SteadyTime(seconds(t)); }
using State = RecordingTap::State;

/// What waits for the listener, as one text, and whether that was all.
std::string taken(RecordingTap::Listener& listener, SteadyTime now, State& last) {
  std::string all, line;
  while ((last = listener.next(now, Milliseconds(0), line)) == State::kLine) all += line;
  return all;
}

TEST(RecordingTap, FollowsTheSnapshotsOwnClock) {
  RecordingTap tap;
  EXPECT_FALSE(tap.listen(at(0), seconds(5)).ok());  // no header yet
  tap.set_header("H");
  EXPECT_FALSE(tap.wanted());
  auto listener = tap.listen(at(0), seconds(5));
  ASSERT_TRUE(listener.ok());
  EXPECT_TRUE(tap.wanted());
  for (const int t : {100, 104, 105, 106}) tap.push(at(t), std::to_string(t));
  State last = State::kLine;
  EXPECT_EQ(taken(**listener, at(0), last), "H\n100\n104\n105\n");
  EXPECT_EQ(last, State::kEnded);
  listener->reset();
  EXPECT_FALSE(tap.wanted());
}

TEST(RecordingTap, EndsWhenItsTimeIsOverAlsoWhenNothingCame) {
  RecordingTap tap;
  tap.set_header("H");
  tap.note(at(995), [] { return std::string("known"); });
  const auto listener = tap.listen(at(1000), seconds(2));
  State last = State::kLine;
  EXPECT_EQ(taken(**listener, at(1000), last), "H\nknown\n")
      << "at once, not with the next snapshot";
  EXPECT_EQ(last, State::kNothingYet);
  EXPECT_EQ(taken(**listener, at(1001), last), "");
  EXPECT_EQ(last, State::kNothingYet);
  EXPECT_EQ(taken(**listener, at(1002), last), "");
  EXPECT_EQ(last, State::kEnded);
  tap.push(at(1005), "too late");
  EXPECT_EQ(taken(**listener, at(1005), last), "");
}

TEST(RecordingTap, WhatCameBeforeItsEndIsStillGiven) {
  RecordingTap tap;
  tap.set_header("H");
  const auto listener = tap.listen(at(1000), seconds(2));
  tap.push(at(1001), "1001");
  State last = State::kLine;
  EXPECT_EQ(taken(**listener, at(1010), last), "H\n1001\n");
  EXPECT_EQ(last, State::kEnded);
}

TEST(RecordingTap, TheStepThatIsKnownIsNotThereTwiceAndTheNextOneIsNotMissing) {
  RecordingTap tap;
  tap.set_header("H");
  tap.note(at(100), [] { return std::string("all of 100"); });
  const auto listener = tap.listen(at(100), seconds(60));
  tap.push(at(100), "100");  // the deciding thread was between its note and its push
  tap.note(at(110), [] { return std::string("all of 110"); });
  tap.push(at(110), "110");
  State last = State::kLine;
  EXPECT_EQ(taken(**listener, at(110), last), "H\nall of 100\n110\n");
  const auto later = tap.listen(at(112), seconds(60));
  EXPECT_EQ(taken(**later, at(112), last), "H\nall of 110\n");
}

TEST(RecordingTap, ALineThatComesWhileTheFirstOneIsMadeFollowsIt) {
  RecordingTap tap;
  tap.set_header("H");
  tap.note(at(100), [&tap] {
    tap.push(at(110), "110");
    return std::string("all of 100");
  });
  const auto listener = tap.listen(at(109), seconds(60));
  State last = State::kLine;
  EXPECT_EQ(taken(**listener, at(110), last), "H\nall of 100\n110\n");
}

TEST(RecordingTap, ASlowListenerIsDroppedNotWaitedFor) {
  RecordingTap tap(2, 10);
  tap.set_header("H");
  const auto listener = tap.listen(at(0), seconds(100));
  tap.push(at(1), "12345678901");
  std::string line;
  EXPECT_EQ((*listener)->next(at(1), Milliseconds(0), line), State::kFellBehind);
}

TEST(RecordingTap, AtMostSoManyListen) {
  RecordingTap tap(1);
  tap.set_header("H");
  const auto listener = tap.listen(at(0), seconds(1));
  EXPECT_THAT(tap.listen(at(0), seconds(1)).error().message, HasSubstr("too many recordings"));
  tap.close();
  EXPECT_FALSE(tap.listen(at(0), seconds(1)).ok());
}

}  // namespace
}  // namespace linkhealth
