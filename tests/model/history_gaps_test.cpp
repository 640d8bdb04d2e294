// How long a gap of a port stands.
#include <gtest/gtest.h>

#include "model/history.h"
#include "tests/diagnosis/feed.h"

namespace linkhealth {
namespace {

void observe(History& history, Feed& feed, const char* probe) {
  Snapshot snapshot = feed.tick();
  if (probe != nullptr) snapshot.gaps.push_back({"mlx5_0/1", probe, "the device does not answer"});
  history.observe(snapshot);
}

bool is_blind(const History& history, const char* probe) { return history.find("mlx5_0/1")->blind.contains(probe); }

TEST(HistoryGaps, WhatAFeedSaysInEverySnapshotIsOverWhenItSaysItNoMore) {
  History history;
  Feed feed;
  observe(history, feed, "verbs_events");
  observe(history, feed, "verbs_events");
  EXPECT_TRUE(is_blind(history, "verbs_events"));
  EXPECT_EQ(history.find("mlx5_0/1")->blind.at("verbs_events").attempts, 2U);
  observe(history, feed, nullptr);
  EXPECT_FALSE(is_blind(history, "verbs_events")) << "a device that was slow to open is not blind for an hour";
}

TEST(HistoryGaps, WhatIsTriedAgainLaterStandsMeanwhile) {
  History history;
  Feed feed;
  observe(history, feed, "fec");
  observe(history, feed, nullptr);
  EXPECT_TRUE(is_blind(history, "fec"));
}

TEST(HistoryGaps, ASourceThatAnswersAgainIsNotBlind) {
  History history;
  Feed feed;
  observe(history, feed, "fec");
  Snapshot snapshot = feed.tick();
  snapshot.gaps_ended = {{"mlx5_0/1", "fec", ""}, {"nobody/1", "fec", ""}, {"mlx5_0/1", "pause", ""}};
  history.observe(snapshot);
  EXPECT_FALSE(is_blind(history, "fec"));
}

TEST(HistoryGaps, CountersOfTheInterfaceDoNotEndTheBlindnessOfVerbs) {
  History history;
  Feed feed;
  observe(history, feed, nullptr);
  const auto blind_for = [&](const char* counter) {
    for (int i = 0; i < 30; ++i) {
      Snapshot snapshot = feed.tick();
      PortSample& port = snapshot.ports.begin()->second;
      port.counters.emplace().set(counter, static_cast<std::uint64_t>(i));
      snapshot.gaps.push_back({"mlx5_0/1", "counters", "EIO"});
      history.observe(snapshot);
    }
    const Blindness* blind = history.find("mlx5_0/1")->blind_to("counters");
    return blind != nullptr ? blind->attempts : 0;
  };
  EXPECT_EQ(blind_for("netdev_rx_bytes"), 30U);
  EXPECT_EQ(blind_for("symbol_error"), 0U) << "a part of them is read";
  EXPECT_EQ(history.find("mlx5_0/1")->blind.at("counters").reason, "EIO") << "the other part is still said";
}

TEST(HistoryGaps, AFileThatFailsInATurnOfItsOwnIsAPartUntilNothingElseComes) {
  History history;
  Feed feed;
  const auto turn = [&](bool with_others) {
    Snapshot snapshot = feed.tick();
    PortSample& port = snapshot.ports.begin()->second;
    port.counters.reset();
    if (with_others) port.counters.emplace().set("link_downed", 1);
    snapshot.gaps.push_back({"mlx5_0/1", "counters", "symbol_error: EINVAL"});
    history.observe(snapshot);
    return history.find("mlx5_0/1")->blind_to("counters");
  };
  for (int i = 0; i < 30; ++i) EXPECT_EQ(turn(i % 5 == 0), nullptr) << "between others it alone is due";
  turn(true);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(turn(false), nullptr);
  const Blindness* whole = turn(false);
  ASSERT_NE(whole, nullptr) << "for a minute nothing else came";
  EXPECT_EQ(whole->attempts, 1U) << "from now on";
  EXPECT_EQ(turn(true), nullptr);
}

}  // namespace
}  // namespace linkhealth
