// Labels that move to another card, and cards that move to another slot.
#include <gtest/gtest.h>

#include "model/history/history.h"
#include "tests/diagnosis/feed.h"

namespace linkhealth {
namespace {

/// One card at a PCI address, under a name that the kernel gave it.
Snapshot one_card(Feed& feed, const char* name, const char* pci, const char* guid) {
  feed.key = name;
  Snapshot snapshot = feed.tick();
  PortId& id = snapshot.ports.at(name).id;
  id.pci = pci;
  id.guid = guid;
  return snapshot;
}

TEST(History, AnAbsentCardLosesItsLabelToTheCardThatGetsIt) {
  History history;
  Feed feed;
  history.observe(one_card(feed, "mlx5_1/1", "0000:1b:00.0", "b83f:d203:0010:0001"));
  history.observe(one_card(feed, "mlx5_1/1", "0000:2c:00.0", "b83f:d203:0010:0002"));
  ASSERT_EQ(history.ports().size(), 2U);
  EXPECT_EQ(history.ports().at("0000:1b:00.0/1").key, "0000:1b:00.0/1")
      << "the label is another port's";
  EXPECT_EQ(history.ports().at("0000:2c:00.0/1").key, "mlx5_1/1");
  EXPECT_FALSE(history.ports().at("0000:1b:00.0/1").seen_elsewhere);
  history.observe(one_card(feed, "mlx5_0/1", "0000:1b:00.0", "b83f:d203:0010:0001"));
  EXPECT_EQ(history.ports().at("0000:1b:00.0/1").key, "mlx5_0/1") << "it is back";
}

TEST(History, ACardInAnotherSlotIsNotGone) {
  History history;
  Feed feed;
  history.observe(one_card(feed, "mlx5_1/1", "0000:1b:00.0", "b83f:d203:0010:0001"));
  history.observe(one_card(feed, "mlx5_1/1", "0000:2c:00.0", "b83f:d203:0010:0001"));
  ASSERT_EQ(history.ports().size(), 1U) << "its history moved with it";
  EXPECT_TRUE(history.ports().at("0000:2c:00.0/1").present);
  history.observe(one_card(feed, "mlx5_1/1", "0000:1b:00.0", "b83f:d203:0010:0001"));
  EXPECT_TRUE(history.ports().at("0000:1b:00.0/1").present) << "back in its slot";
  history.observe(one_card(feed, "mlx5_1/1", "0000:3d:00.0", "0000:0000:0000:0000"));
  EXPECT_FALSE(history.ports().at("0000:1b:00.0/1").seen_elsewhere) << "a virtual function";
}

TEST(History, ARenameKeepsTheHistory) {
  History history;
  Feed feed;
  for (int i = 0; i < 11; ++i) {
    if (i == 10) feed.key = "mlx5_7/1";
    history.observe(feed.tick());
  }
  EXPECT_EQ(history.ports().size(), 1U);
  ASSERT_NE(history.find("mlx5_7/1"), nullptr);
  EXPECT_EQ(history.find("mlx5_7/1")->first_seen, steady_from_seconds(10));
}

/// For a week a missing verbs device is reported (daemon/sampling/port_inventory_diff.h), over
/// restarts too.
TEST(History, SavesWhenTheVerbsDeviceWasLastSeen) {
  const auto run = [](History& history, double from_s, const char* name, const char* guid,
                      int steps) {
    Feed feed;
    feed.t = from_s;
    for (int i = 0; i < steps; ++i) {
      Snapshot snapshot = one_card(feed, name, "0000:1b:00.0", guid);
      snapshot.ports.at(name).id.verbs = std::string(name).find('/') != std::string::npos;
      history.observe(snapshot);
    }
    return history.references().ports.at(0);
  };
  constexpr const char* kGuid = "b83f:d203:0010:0001";
  History history;
  const PortReferences with = run(history, 1000, "mlx5_1/1", kGuid, 3);
  EXPECT_EQ(with.verbs_seen_at, with.seen_at);
  const PortReferences without = run(history, 2000, "ens1np0", kGuid, 3);
  EXPECT_GT(without.seen_at, with.seen_at);
  EXPECT_EQ(without.verbs_seen_at, with.verbs_seen_at);
  History next;
  next.restore({{without}});
  EXPECT_EQ(run(next, 3000, "ens1np0", kGuid, 3).verbs_seen_at, with.verbs_seen_at)
      << "over a restart";
  History gone;
  gone.restore({{without}});
  Feed other;
  gone.observe(one_card(other, "mlx5_2/1", "0000:2c:00.0", "b83f:d203:0010:0002"));
  EXPECT_EQ(gone.references().ports.back().verbs_seen_at, with.verbs_seen_at)
      << "of one that is not there at all";
  EXPECT_FALSE(run(next, 4000, "ens1np0", "", 3).verbs_seen_at) << "not expected any more";
}

using Names = std::map<std::string, std::string>;

TEST(PortMoves, FollowTheLastingName) {
  EXPECT_EQ(moves_between({{"1b", "a/1"}, {"2b", "b/1"}}, {{"1b", "a/1"}, {"2b", "b/1"}}),
            PortMoves());
  EXPECT_EQ(moves_between({{"1b", "a/1"}, {"2b", "b/1"}}, {{"1b", "b/1"}, {"2b", "a/1"}}),
            (PortMoves{{"1b", "2b"}, {"2b", "1b"}}));
  EXPECT_EQ(moves_between({{"1b", "a/1"}, {"2b", "b/1"}}, {{"2b", "a/1"}, {"3b", "b/1"}}),
            (PortMoves{{"1b", "2b"}, {"2b", "3b"}, {"3b", ""}}));
  EXPECT_EQ(moves_between({{"1b", "a/1"}}, {{"1b", "c/1"}}), PortMoves())
      << "a replacement card takes over the history";
}

TEST(PortMoves, ACardThatLostItsKeyIsKeptUnderItsLastingName) {
  const PortMoves gone = moves_between({{"1b", "a/1"}, {"2b", "b/1"}}, {{"2b", "a/1"}});
  EXPECT_EQ(gone, (PortMoves{{"1b", "2b"}, {"2b", "b/1"}}));
  EXPECT_EQ(moves_between({{"2b", "a/1"}, {"b/1", "b/1"}}, {{"2b", "a/1"}, {"3b", "b/1"}}),
            (PortMoves{{"b/1", "3b"}, {"3b", ""}}));
  EXPECT_EQ(moves_between({{"1b", "a/1"}, {"2b", ""}}, {{"2b", "a/1"}}),
            (PortMoves{{"1b", "2b"}, {"2b", ""}}));
}

TEST(PortMoves, ANameAtTwoKeysAndFunctionsOfOneCardDoNotMove) {
  const Names twins{{"1b", "a/1"}, {"2b", "a/1"}};
  EXPECT_EQ(moves_between(twins, {{"2b", "a/1"}, {"3b", "a/1"}}), PortMoves());
  EXPECT_EQ(moves_between({{"1b", "a/1"}}, {{"2b", "a/1"}, {"3b", "a/1"}}), PortMoves());
  EXPECT_EQ(moves_between(twins, {{"3b", "a/1"}}), PortMoves());
  EXPECT_EQ(moves_between({{"0000:1b:00.0/1", "a/1"}}, {{"0000:1b:00.1/1", "a/1"}}), PortMoves())
      << "a LAG";
  EXPECT_EQ(lasting_name("0000:0000:0000:0000", 1), "");
  EXPECT_EQ(lasting_name("", 1), "");
  EXPECT_NE(lasting_name("b83f:d203:0010:0001", 1), lasting_name("b83f:d203:0010:0001", 2));
}

}  // namespace
}  // namespace linkhealth
