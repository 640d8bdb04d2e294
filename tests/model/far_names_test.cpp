// Who was at the far end before a restart, while nobody can ask.
#include <gtest/gtest.h>

#include "model/history.h"
#include "tests/diagnosis/feed.h"

namespace linkhealth {
namespace {

PeerSample leaf(const char* source) {
  PeerSample peer;
  peer.source = source;
  peer.system = "leaf-12";
  peer.port = "Ethernet17/1";
  peer.age_s = 2;
  peer.link.emplace().admin_up = true;
  return peer;
}

/// What is kept of a node whose far end `source` named.
ReferenceState kept_of(const char* source) {
  History history;
  Feed feed;
  for (int i = 0; i < 3; ++i) {
    Snapshot snapshot = feed.tick();
    if (i == 1) snapshot.ports["mlx5_0/1"].peer = leaf(source);
    history.observe(snapshot);
  }
  return history.references();
}

struct Restarted {
  explicit Restarted(const char* source, bool carrier) {
    history.restore(kept_of(source));
    feed.link.carrier = carrier;
    feed.t = 1000;
    history.observe(feed.tick());
  }
  History history;
  Feed feed;
  [[nodiscard]] const std::optional<PeerSample>& peer() const {
    return history.find("mlx5_0/1")->latest.peer;
  }
};

TEST(FarNames, OutliveARestartWhileTheLinkIsDown) {
  Restarted node("lldp", false);
  for (int i = 0; i < 1000; ++i) node.history.observe(node.feed.tick());
  ASSERT_TRUE(node.peer());
  EXPECT_EQ(node.peer()->system, "leaf-12");
  EXPECT_EQ(node.peer()->port, "Ethernet17/1");
  EXPECT_EQ(node.peer()->source, "lldp");
  EXPECT_GT(*node.peer()->age_s, 900) << "as old as it is";
  EXPECT_FALSE(node.peer()->link) << "of that nobody knows";
  EXPECT_EQ(node.history.references().ports[0].peer_system, "leaf-12") << "and the next one";
}

TEST(FarNames, EndWithALinkOverWhichNobodyIsHeard) {
  Restarted node("mad", true);
  for (int i = 0; i < 10; ++i) node.history.observe(node.feed.tick());
  EXPECT_TRUE(node.peer());
  for (int i = 0; i < 5; ++i) node.history.observe(node.feed.tick());
  EXPECT_FALSE(node.peer());
}

TEST(FarNames, GiveWayToWhoIsNamed) {
  Restarted node("lldp", false);
  Snapshot snapshot = node.feed.tick();
  snapshot.ports["mlx5_0/1"].peer = leaf("mad");
  snapshot.ports["mlx5_0/1"].peer->system = "leaf-7";
  node.history.observe(snapshot);
  for (int i = 0; i < 100; ++i) node.history.observe(node.feed.tick());
  EXPECT_EQ(node.peer()->system, "leaf-7");
}

TEST(FarNames, OfAPlanOrAnImportAreNotKept) {
  for (const char* source : {"plan", "fleet"})
    EXPECT_FALSE(Restarted(source, false).peer()) << source;
}

}  // namespace
}  // namespace linkhealth
