// Who is at the far end of a link that is down: whoever was named last, for the technician who goes
// there.
#include <gtest/gtest.h>

#include "tests/daemon/sampling/peer_merging.h"

namespace linkhealth {
namespace {

using testing::kHold;
using testing::kStart;
using testing::nothing;
using testing::PeerMerging;
using testing::reading;
using testing::with_module;
using testing::with_state;

/// lldpd drops the neighbours of an interface that is not running, which is when a technician needs
/// them.
TEST_F(PeerMerging, WhoWasThereStaysNamedWhileTheLinkIsDown) {
  merge.set_carrier("mlx5_0/1", true);
  merge.add("peer_lldp", {with_state(reading("lldp", "leaf-12", kStart), true)});
  changes(kStart);
  merge.set_carrier("mlx5_0/1", false);
  merge.add("peer_lldp", {nothing()});
  const MergedPeer down = changes(kStart + Milliseconds(2'000));
  ASSERT_TRUE(down.peer);
  EXPECT_EQ(down.peer->system, "leaf-12");
  EXPECT_EQ(down.peer->source, "lldp");
  EXPECT_EQ(down.peer->age_s, 2);
  EXPECT_FALSE(down.peer->link || down.peer->counters) << "of these nobody knows";
  ASSERT_EQ(down.gaps.size(), 1U);
  EXPECT_EQ(down.gaps[0].reason,
            "no source names it now: the names are from before the link went down");
  EXPECT_FALSE(changes(kStart + Milliseconds(86'400'000)).peer)
      << "nothing new, however long it is down";
  merge.set_carrier("mlx5_0/1", true);
  EXPECT_TRUE(merge.take_changes(kStart + Milliseconds(86'401'000)).empty())
      << "LLDP takes its time";
  merge.add("peer_lldp", {reading("lldp", "leaf-7", kStart + Milliseconds(86'420'000))});
  const MergedPeer moved = changes(kStart + Milliseconds(86'420'000));
  EXPECT_EQ(moved.peer->system, "leaf-7");
  EXPECT_TRUE(moved.gaps.empty());
  merge.add("peer_lldp", {nothing()});
  EXPECT_EQ(*changes(kStart + Milliseconds(86'430'000)).peer, PeerSample{})
      << "gone while the link is up";
}

/// It was of another port while LLDP could say so; a link that falls does not make it true.
TEST_F(PeerMerging, AnImportOfAnotherFarEndIsNotThisOneWhenTheLinkFalls) {
  const auto imported = [](int at_s) {
    return with_module(
        with_state(reading("telemetry", "leaf-13", kStart + Milliseconds(1'000 * at_s)), false));
  };
  merge.set_carrier("mlx5_0/1", true);
  merge.add("peer_lldp", {reading("lldp", "leaf-12", kStart)});
  merge.add("import", {imported(0)});
  changes(kStart);
  merge.set_carrier("mlx5_0/1", false);
  merge.add("peer_lldp", {nothing()});
  merge.add("import", {imported(2)});
  const MergedPeer down = changes(kStart + Milliseconds(2'000));
  ASSERT_TRUE(down.peer);
  EXPECT_EQ(down.peer->system, "leaf-12");
  EXPECT_FALSE(down.peer->link || down.peer->counters || down.peer->module);
  ASSERT_EQ(down.gaps.size(), 2U);
  EXPECT_EQ(down.gaps[0].reason,
            "its link, counters and module are not used: lldp names another far end");
  EXPECT_EQ(down.gaps[1].reason,
            "no source names it now: the names are from before the link went down");
  merge.add("import", {imported(60)});
  EXPECT_TRUE(merge.take_changes(kStart + Milliseconds(60'000)).empty());
  merge.set_carrier("mlx5_0/1", true);
  changes(kStart + Milliseconds(61'000));
  EXPECT_EQ(changes(kStart + Milliseconds(181'000)).peer->system, "leaf-13")
      << "up, and LLDP has nobody: it may be";
}

TEST_F(PeerMerging, AnImportOfTheSameFarEndStandsWhenTheLinkFalls) {
  merge.set_carrier("mlx5_0/1", true);
  merge.add("peer_lldp", {reading("lldp", "leaf-12", kStart)});
  const PeerReading imported =
      with_module(with_state(reading("telemetry", "leaf-12", kStart), false));
  merge.add("import", {imported});
  changes(kStart);
  merge.set_carrier("mlx5_0/1", false);
  merge.add("peer_lldp", {nothing()});
  const MergedPeer down = changes(kStart + Milliseconds(2'000));
  ASSERT_TRUE(down.peer && down.peer->link && down.peer->module);
  EXPECT_EQ(down.peer->source, "telemetry") << "it says so now";
  EXPECT_TRUE(down.gaps.empty());
}

TEST_F(PeerMerging, WithTheLinkBackAndNobodyThereTheNamesEnd) {
  merge.add("peer_lldp", {reading("lldp", "leaf-12", kStart)});
  merge.set_carrier("mlx5_0/1", false);
  merge.add("peer_lldp", {nothing()});
  changes(kStart);
  merge.set_carrier("mlx5_0/1", true);
  EXPECT_TRUE(merge.take_changes(kStart + Milliseconds(1'000)).empty());
  EXPECT_TRUE(merge.take_changes(kStart + Milliseconds(120'000)).empty());
  EXPECT_EQ(*changes(kStart + Milliseconds(121'000)).peer, PeerSample{});
}

TEST_F(PeerMerging, LldpMayHearOfTheLostCarrierFirst) {
  merge.add("peer_lldp", {reading("lldp", "leaf-12", kStart)});
  changes(kStart);
  merge.add("peer_lldp", {nothing()});
  EXPECT_EQ(*changes(kStart).peer, PeerSample{});
  merge.set_carrier("mlx5_0/1", false);
  EXPECT_EQ(changes(kStart + Milliseconds(1'000)).peer->system, "leaf-12");
}

TEST_F(PeerMerging, AnOldNeighbourDoesNotComeBackWithALaterFall) {
  merge.add("peer_lldp", {reading("lldp", "leaf-12", kStart)});
  changes(kStart);
  merge.add("peer_lldp", {nothing()});
  changes(kStart);
  changes(kStart + Milliseconds(10'000));
  merge.set_carrier("mlx5_0/1", false);
  EXPECT_FALSE(changes(kStart + Milliseconds(11'000)).peer);
}

TEST_F(PeerMerging, AMadsNamesOutliveItsHoldAndAnImportsDoNot) {
  merge.set_carrier("mlx5_0/1", false);
  merge.add("peer_mad", {with_state(reading("mad", "leaf-12", kStart), true)});
  changes(kStart);
  const MergedPeer held = changes(kStart + kHold);
  EXPECT_EQ(held.peer->system, "leaf-12");
  EXPECT_FALSE(held.peer->link);
  merge.set_ports({});
  merge.set_ports({"mlx5_0/1"});
  merge.set_carrier("mlx5_0/1", false);
  merge.add("import", {reading("fleet", "leaf-12", kStart)});
  changes(kStart);
  EXPECT_EQ(*changes(kStart + kHold).peer, PeerSample{});
}

}  // namespace
}  // namespace linkhealth
