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
  EXPECT_TRUE(history.ports().at("0000:1b:00.0/1").arrived);
  history.observe(one_card(feed, "mlx5_1/1", "0000:1b:00.0", "b83f:d203:0010:0001"));
  EXPECT_FALSE(history.ports().at("0000:1b:00.0/1").arrived) << "back in its slot";
  history.observe(one_card(feed, "mlx5_1/1", "0000:3d:00.0", "0000:0000:0000:0000"));
  EXPECT_FALSE(history.ports().at("0000:1b:00.0/1").arrived) << "a virtual function";
}

}  // namespace
}  // namespace linkhealth
