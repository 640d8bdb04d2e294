// The far port's state from a switch's telemetry reaches the verdict, whichever source names it.
#include <gmock/gmock.h>

#include "daemon/sampling/peer_merge.h"
#include "tests/daemon/engine/story.h"

namespace linkhealth {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::Not;

/// A port that fell 200 s ago, and what sources say of its far end.
struct FarStory : Story {
  FarStory() { merge.set_ports({feed.key}); }
  SteadyTime now() const { return steady_from_seconds(feed.t); }
  PeerReading reading(const std::string& source) const {
    PeerReading said;
    said.port = feed.key;
    said.read_at = now();
    said.answered = true;
    PeerSample& peer = said.peer.emplace();
    peer.source = source;
    peer.system = "leaf-12";
    peer.port = "Ethernet17/1";
    if (source == "lldp") return said;
    peer.link.emplace().admin_up = source == "mad";
    peer.counters.emplace().set("symbol_error", 5000);
    return said;
  }
  void take(const std::string& probe, PeerReading said) {
    std::vector<PeerReading> readings;
    readings.push_back(std::move(said));
    merge.add(probe, std::move(readings));
  }
  void fall() {
    feed.pull(feed.t + 1);
    feed.receive_mw(0);
    run(200);
  }
  /// One step with what the sources say now.
  const PortReport& step() {
    Snapshot snapshot = feed.tick();
    auto changes = merge.take_changes(snapshot.taken_at);
    if (changes.contains(feed.key)) snapshot.ports[feed.key].peer = changes.at(feed.key).peer;
    report = engine.step(snapshot).report;
    return port();
  }

  PeerMerge merge{Milliseconds(300'000), {}};
};

const auto kFarAdminDown = Contains(Field(&Evidence::symptom, "far_admin_down"));

TEST(FarState, OfTelemetryIsSeenInAdditionToLldp) {
  FarStory story;
  story.run(3600);
  story.take("peer_lldp", story.reading("lldp"));
  story.step();
  story.fall();
  ASSERT_FALSE(story.port().faults.empty());
  EXPECT_THAT(story.port().faults[0].evidence, Not(kFarAdminDown));
  story.take("peer_lldp", story.reading("lldp"));
  story.take("import", story.reading("telemetry"));
  const PortReport& port = story.step();
  EXPECT_EQ(port.faults.at(0).fault, "far_port_down");
  EXPECT_THAT(port.faults[0].evidence, kFarAdminDown);
}

TEST(FarState, OfNewTelemetryReplacesAnOldMad) {
  FarStory story;
  story.run(3600);
  story.take("peer_mad", story.reading("mad"));
  story.step();
  story.fall();
  PeerReading silent;
  silent.port = story.feed.key;
  silent.gaps.push_back(
      {story.feed.key, "peer_mad", "the link is down: the far end cannot be reached"});
  story.take("peer_mad", silent);
  EXPECT_THAT(story.step().faults.at(0).evidence, Not(kFarAdminDown))
      << "it was set up before the fall";
  story.take("import", story.reading("telemetry"));
  const PortReport& port = story.step();
  EXPECT_EQ(port.faults.at(0).fault, "far_port_down");
  EXPECT_THAT(port.faults[0].evidence, kFarAdminDown);
  ASSERT_TRUE(port.latest.peer);
  EXPECT_EQ(port.latest.peer->link_source, "telemetry");
  story.run(60);
  EXPECT_EQ(story.port().latest.peer->link_age_s, 70.0)
      << "as old as it is now: read one step before the first report";
  EXPECT_EQ(story.port().latest.peer->age_s, 290.0);
}

}  // namespace
}  // namespace linkhealth
