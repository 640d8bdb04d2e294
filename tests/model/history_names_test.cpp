// Names that go from card to card, and cards that go from slot to slot.
#include <gtest/gtest.h>

#include "model/history.h"
#include "tests/diagnosis/feed.h"

namespace linkhealth {
namespace {

/// One card at a PCI address, under a name that the kernel gave it.
Snapshot one_card(Feed& feed, const char* name, const char* pci, const char* guid) {
  feed.key = name;
  Snapshot snapshot = feed.tick();
  PortId& id = snapshot.ports.at(name).id.edit();
  id.pci = pci;
  id.guid = guid;
  return snapshot;
}

TEST(History, AGoneCardLeavesItsNameToTheOneThatGetsIt) {
  History history;
  Feed feed;
  history.observe(one_card(feed, "mlx5_1/1", "0000:1b:00.0", "b83f:d203:0010:0001"));
  history.observe(one_card(feed, "mlx5_1/1", "0000:2c:00.0", "b83f:d203:0010:0002"));
  ASSERT_EQ(history.ports().size(), 2U);
  EXPECT_EQ(history.ports().at("0000:1b:00.0/1").key, "0000:1b:00.0/1") << "two ports of one name are nobody's";
  EXPECT_EQ(history.ports().at("0000:2c:00.0/1").key, "mlx5_1/1");
  EXPECT_FALSE(history.ports().at("0000:1b:00.0/1").arrived);
  history.observe(one_card(feed, "mlx5_0/1", "0000:1b:00.0", "b83f:d203:0010:0001"));
  EXPECT_EQ(history.ports().at("0000:1b:00.0/1").key, "mlx5_0/1") << "it is back";
}

TEST(History, ACardThatSitsInAnotherSlotHasNotGone) {
  History history;
  Feed feed;
  history.observe(one_card(feed, "mlx5_1/1", "0000:1b:00.0", "b83f:d203:0010:0001"));
  history.observe(one_card(feed, "mlx5_1/1", "0000:2c:00.0", "b83f:d203:0010:0001"));
  ASSERT_EQ(history.ports().size(), 1U) << "what is known of it went with it";
  EXPECT_TRUE(history.ports().at("0000:2c:00.0/1").present);
  history.observe(one_card(feed, "mlx5_1/1", "0000:1b:00.0", "b83f:d203:0010:0001"));
  EXPECT_TRUE(history.ports().at("0000:1b:00.0/1").present) << "back in its slot";
  history.observe(one_card(feed, "mlx5_1/1", "0000:3d:00.0", "0000:0000:0000:0000"));
  EXPECT_FALSE(history.ports().at("0000:1b:00.0/1").arrived) << "a virtual function";
}

using Names = std::map<std::string, std::string>;

TEST(PortMoves, GoWithTheNameThatLasts) {
  EXPECT_EQ(moves_between({{"1b", "a/1"}, {"2b", "b/1"}}, {{"1b", "a/1"}, {"2b", "b/1"}}), PortMoves());
  EXPECT_EQ(moves_between({{"1b", "a/1"}, {"2b", "b/1"}}, {{"1b", "b/1"}, {"2b", "a/1"}}),
            (PortMoves{{"1b", "2b"}, {"2b", "1b"}}));
  EXPECT_EQ(moves_between({{"1b", "a/1"}, {"2b", "b/1"}}, {{"2b", "a/1"}, {"3b", "b/1"}}),
            (PortMoves{{"1b", "2b"}, {"2b", "3b"}, {"3b", ""}}));
  EXPECT_EQ(moves_between({{"1b", "a/1"}}, {{"1b", "c/1"}}), PortMoves()) << "a card that replaced it is its heir";
}

TEST(PortMoves, WhoseKeyAnotherHasIsKeptUnderItsName) {
  const PortMoves gone = moves_between({{"1b", "a/1"}, {"2b", "b/1"}}, {{"2b", "a/1"}});
  EXPECT_EQ(gone, (PortMoves{{"1b", "2b"}, {"2b", "b/1"}}));
  EXPECT_EQ(moves_between({{"2b", "a/1"}, {"b/1", "b/1"}}, {{"2b", "a/1"}, {"3b", "b/1"}}),
            (PortMoves{{"b/1", "3b"}, {"3b", ""}}));
  EXPECT_EQ(moves_between({{"1b", "a/1"}, {"2b", ""}}, {{"2b", "a/1"}}), (PortMoves{{"1b", "2b"}, {"2b", ""}}));
}

TEST(PortMoves, WhatStandsAtTwoKeysAndFunctionsOfOneCardStay) {
  const Names twins{{"1b", "a/1"}, {"2b", "a/1"}};
  EXPECT_EQ(moves_between(twins, {{"2b", "a/1"}, {"3b", "a/1"}}), PortMoves());
  EXPECT_EQ(moves_between({{"1b", "a/1"}}, {{"2b", "a/1"}, {"3b", "a/1"}}), PortMoves());
  EXPECT_EQ(moves_between(twins, {{"3b", "a/1"}}), PortMoves());
  EXPECT_EQ(moves_between({{"0000:1b:00.0/1", "a/1"}}, {{"0000:1b:00.1/1", "a/1"}}), PortMoves()) << "a LAG";
  EXPECT_EQ(lasting_name("0000:0000:0000:0000", 1), "");
  EXPECT_EQ(lasting_name("", 1), "");
  EXPECT_NE(lasting_name("b83f:d203:0010:0001", 1), lasting_name("b83f:d203:0010:0001", 2));
}

}  // namespace
}  // namespace linkhealth
