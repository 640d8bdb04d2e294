#include "daemon/sampling/peer_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/sampling/far_ends.h"
#include "tests/daemon/sampling/peer_merging.h"
#include "tests/support/manual_clock.h"

namespace linkhealth {
namespace {

using testing::kHold;
using testing::kStart;
using testing::no_answer;
using testing::nothing;
using testing::PeerMerging;
using testing::reading;
using testing::with_module;
using testing::with_state;

TEST_F(PeerMerging, SaysNothingWhenNothingIsKnown) {
  EXPECT_TRUE(merge.take_changes(kStart).empty());
  merge.add("peer_lldp", {nothing()});
  EXPECT_TRUE(merge.take_changes(kStart).empty());
}

TEST_F(PeerMerging, TrustsTheMadThenLldpThenImportThenThePlan) {
  merge = PeerMerge(kHold, plan());
  merge.set_ports({"mlx5_0/1"});
  EXPECT_EQ(changes(kStart).peer->source, "plan");
  merge.add("import", {reading("telemetry", "leaf-import", kStart)});
  EXPECT_EQ(changes(kStart).peer->system, "leaf-import");
  merge.add("peer_lldp", {reading("lldp", "leaf-lldp", kStart)});
  EXPECT_EQ(changes(kStart).peer->system, "leaf-lldp");
  merge.add("peer_mad", {reading("mad", "leaf-mad", kStart)});
  EXPECT_EQ(changes(kStart).peer->system, "leaf-mad");
  merge.add("import", {reading("fleet", "leaf-import2", kStart)});
  EXPECT_TRUE(merge.take_changes(kStart).empty()) << "a less trusted source changes nothing";
  merge.add("peer_mad", {nothing()});
  EXPECT_EQ(changes(kStart).peer->system, "leaf-lldp");
}

TEST_F(PeerMerging, ThePlanGivesNamesOnlyAndHasNoAge) {
  merge = PeerMerge(kHold, plan());
  merge.set_ports({"mlx5_0/1"});
  const auto peer = changes(kStart).peer;
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->system, "leaf-plan");
  EXPECT_EQ(peer->port, "Ethernet1/1");
  EXPECT_FALSE(peer->age_s);
  EXPECT_TRUE(merge.take_changes(kStart).empty()) << "said once";
}

TEST_F(PeerMerging, ThePlansNamesAreNotPutIntoAnothersMouth) {
  merge = PeerMerge(kHold, plan());
  merge.set_ports({"mlx5_0/1"});
  merge.add("import", {with_module(reading("telemetry", "", kStart))});
  const auto peer = changes(kStart).peer;
  EXPECT_EQ(peer->source, "telemetry");
  EXPECT_EQ(peer->system, "") << "else the plan would confirm itself";
}

TEST_F(PeerMerging, AnImportedModuleJoinsTheNamesOfOthersWithItsOwnAge) {
  merge.add("peer_lldp", {reading("lldp", "leaf-12", kStart)});
  merge.add(
      "import",
      {with_module(reading("telemetry", "LEAF-12.dc1.example", kStart - Milliseconds(40'000)))});
  const auto peer = changes(kStart + Milliseconds(3'000)).peer;
  ASSERT_TRUE(peer && peer->module);
  EXPECT_EQ(peer->source, "lldp");
  EXPECT_EQ(peer->system, "leaf-12");
  EXPECT_EQ(peer->age_s, 3.0);
  EXPECT_EQ(peer->module_source, "telemetry");
  EXPECT_EQ(peer->module_age_s, 43.0);
}

TEST_F(PeerMerging, AFarEndThatDoesNotAnswerStandsUntilItIsTooOld) {
  merge.add("peer_mad", {reading("mad", "leaf-12", kStart)});
  EXPECT_TRUE(changes(kStart).peer);
  merge.add("peer_mad", {no_answer("peer_mad", "no answer")});
  MergedPeer now = changes(kStart + Milliseconds(100'000));
  ASSERT_TRUE(now.peer);
  EXPECT_EQ(now.peer->system, "leaf-12");
  EXPECT_EQ(now.peer->age_s, 100.0);
  ASSERT_EQ(now.gaps.size(), 1U);
  EXPECT_TRUE(merge.take_changes(kStart + kHold - Milliseconds(1)).empty());
  now = changes(kStart + kHold);
  ASSERT_TRUE(now.peer);
  EXPECT_EQ(*now.peer, PeerSample{}) << "takes back what was said";
  EXPECT_EQ(now.gaps.front().reason, "no answer");
  EXPECT_TRUE(merge.take_changes(kStart + kHold + kHold).empty()) << "said once";
}

TEST_F(PeerMerging, AStateOfNowHidesNotBehindAnOldOneOfAMoreTrustedSource) {
  const SteadyTime now = kStart + Milliseconds(200'000);
  merge.add("peer_mad", {with_state(reading("mad", "leaf-12", kStart), true)});
  merge.add("import",
            {with_module(with_state(reading("telemetry", "LEAF-12.dc1.example", now), false))});
  EXPECT_EQ(changes(now).peer->link->admin_up, true)
      << "the most trusted answered in its last round";
  merge.add("peer_mad", {no_answer("peer_mad", "the link is down: no request can cross it")});
  auto peer = changes(now).peer;
  ASSERT_TRUE(peer && peer->link && peer->counters);
  EXPECT_EQ(peer->source, "mad") << "nobody else is there because a question failed";
  EXPECT_EQ(peer->system, "leaf-12");
  EXPECT_EQ(peer->age_s, 200.0);
  EXPECT_EQ(peer->link->admin_up, false);
  EXPECT_EQ(peer->link_source, "telemetry");
  EXPECT_EQ(peer->link_age_s, 0.0);
  EXPECT_EQ(peer->counters_source, "telemetry");
  EXPECT_EQ(peer->counters_age_s, 0.0);
  merge.add("peer_mad", {with_state(reading("mad", "leaf-12", now), true)});
  peer = changes(now).peer;
  EXPECT_EQ(peer->link->admin_up, true);
  EXPECT_EQ(peer->link_source, "") << "of the source that says who is there";
  EXPECT_FALSE(peer->link_age_s);
}

TEST_F(PeerMerging, TheStateThatOnlyTelemetryKnowsStandsBesideTheNamesOfLldp) {
  merge.add("peer_lldp", {reading("lldp", "leaf-12", kStart)});
  merge.add("import",
            {with_state(reading("telemetry", "leaf-12", kStart - Milliseconds(5'000)), false)});
  MergedPeer now = changes(kStart + Milliseconds(3'000));
  ASSERT_TRUE(now.peer && now.peer->link && now.peer->counters);
  EXPECT_TRUE(now.gaps.empty());
  EXPECT_EQ(now.peer->source, "lldp");
  EXPECT_EQ(now.peer->age_s, 3.0);
  EXPECT_EQ(now.peer->link->admin_up, false);
  EXPECT_EQ(now.peer->link_source, "telemetry");
  EXPECT_EQ(now.peer->link_age_s, 8.0);
  EXPECT_EQ(now.peer->counters->get("symbol_error"), 5000U);
  EXPECT_EQ(now.peer->counters_source, "telemetry");
  EXPECT_EQ(now.peer->counters_age_s, 8.0);
}

TEST_F(PeerMerging, LinkAndCountersMayEachHaveASourceOfTheirOwn) {
  PeerReading mad = with_state(reading("mad", "leaf-12", kStart), true);
  mad.peer->counters.reset();
  merge.add("peer_mad", {mad});
  merge.add("import", {with_state(reading("telemetry", "", kStart), false)});
  const auto peer = changes(kStart).peer;
  ASSERT_TRUE(peer && peer->link && peer->counters);
  EXPECT_EQ(peer->link->admin_up, true);
  EXPECT_EQ(peer->link_source, "");
  EXPECT_EQ(peer->counters_source, "telemetry") << "that names nobody contradicts nobody";
}

TEST_F(PeerMerging, AStateOfAnotherPortIsNotUsedAndAGapSaysSo) {
  merge.add("peer_lldp", {reading("lldp", "leaf-12", kStart)});
  merge.add("import", {with_state(reading("telemetry", "leaf-13", kStart), false)});
  MergedPeer now = changes(kStart);
  EXPECT_FALSE(now.peer->link || now.peer->counters);
  EXPECT_THAT(now.gaps,
              ::testing::ElementsAre(
                  Gap{"mlx5_0/1", "import",
                      "its link, counters and module are not used: lldp names another far end"}));
  PeerReading imported = with_state(reading("telemetry", "leaf-12", kStart), false);
  imported.peer->port = "Ethernet18/1";
  merge.add("import", {imported});
  EXPECT_FALSE(changes(kStart).peer->link) << "another port of that switch";
  imported.peer->port = "Eth17/1";
  merge.add("import", {imported});
  now = changes(kStart);
  EXPECT_TRUE(now.peer->link);
  EXPECT_TRUE(now.gaps.empty());
}

/// Two cables are swapped, or a telemetry job still has yesterday's mapping: the light of the old
/// port's laser is not this link's.
TEST_F(PeerMerging, AModuleOfAnotherPortIsNotUsedAndAGapSaysSo) {
  const Gap not_used{"mlx5_0/1", "import",
                     "its link, counters and module are not used: lldp names another far end"};
  merge.add("peer_lldp", {reading("lldp", "leaf-12", kStart)});
  merge.add("import", {with_module(reading("telemetry", "leaf-13", kStart))});
  MergedPeer now = changes(kStart);
  EXPECT_EQ(now.peer->system, "leaf-12");
  EXPECT_FALSE(now.peer->module);
  EXPECT_EQ(now.peer->module_source, "");
  EXPECT_THAT(now.gaps, ::testing::ElementsAre(not_used));
  merge.add("import", {with_module(reading("telemetry", "", kStart))});
  now = changes(kStart);
  EXPECT_TRUE(now.peer->module) << "that names nobody contradicts nobody";
  EXPECT_TRUE(now.gaps.empty());
}

TEST_F(PeerMerging, AGuidTellsWhereNamesCanNot) {
  PeerReading mad = reading("mad", "leaf-12", kStart);
  mad.peer->guid = "b8ce:f603:00aa:0001";
  PeerReading imported = with_state(reading("telemetry", "renamed", kStart), false);
  imported.peer->guid = mad.peer->guid;
  merge.add("peer_mad", {mad});
  merge.add("import", {imported});
  EXPECT_TRUE(changes(kStart).peer->link) << "it was renamed";
  imported.peer->system.clear();
  imported.peer->guid = "b8ce:f603:00aa:0002";
  merge.add("import", {imported});
  EXPECT_FALSE(changes(kStart).peer->link);
}

TEST_F(PeerMerging, ASourceThatIsSilentAltogetherEndsWithAGap) {
  merge.add("peer_mad", {reading("mad", "leaf-12", kStart)});
  changes(kStart);
  const MergedPeer now = changes(kStart + kHold);
  ASSERT_EQ(now.gaps.size(), 1U);
  EXPECT_EQ(now.gaps.front().probe, "peer_mad");
  EXPECT_EQ(now.gaps.front().reason, "no answer for 300 s");
}

TEST_F(PeerMerging, AReadingWithAnEndOfItsOwnEndsThere) {
  PeerReading imported = reading("telemetry", "leaf-12", kStart);
  imported.valid_until = kStart + Milliseconds(60'000);
  merge.add("import", {imported});
  EXPECT_TRUE(changes(kStart).peer);
  EXPECT_TRUE(merge.take_changes(kStart + Milliseconds(59'999)).empty());
  const MergedPeer now = changes(kStart + Milliseconds(60'000));
  EXPECT_EQ(*now.peer, PeerSample{});
  EXPECT_EQ(now.gaps.front().reason, "the imported reading is past its time of validity");
}

TEST_F(PeerMerging, ANeighbourThatIsGoneIsGoneAtOnce) {
  merge.add("peer_lldp", {reading("lldp", "leaf-12", kStart)});
  changes(kStart);
  merge.add("peer_lldp", {nothing()});
  EXPECT_EQ(*changes(kStart).peer, PeerSample{});
}

TEST_F(PeerMerging, AGapThatIsOverIsTakenBackThoughNobodyIsThere) {
  merge.add("peer_lldp", {no_answer("peer_lldp", "no LLDP neighbour")});
  EXPECT_EQ(changes(kStart).gaps.size(), 1U);
  merge.add("peer_lldp", {nothing()});
  const MergedPeer now = changes(kStart);
  ASSERT_TRUE(now.peer) << "the history takes a gap back when it sees a sample";
  EXPECT_TRUE(now.gaps.empty());
}

TEST_F(PeerMerging, GapsOfAllSourcesAreSaidTogether) {
  merge.add("import", {no_answer("import", "x.json: past its time of validity")});
  changes(kStart);
  merge.add("peer_lldp", {reading("lldp", "leaf-12", kStart)});
  const MergedPeer now = changes(kStart);
  EXPECT_TRUE(now.peer);
  ASSERT_EQ(now.gaps.size(), 1U)
      << "the sample takes all gaps back, so those that stand are said again";
}

TEST_F(PeerMerging, TheSameReadingTwiceIsNoNews) {
  merge.add("import", {with_module(reading("telemetry", "leaf-12", kStart))});
  EXPECT_TRUE(changes(kStart).peer);
  merge.add("import", {with_module(reading("telemetry", "leaf-12", kStart))});
  EXPECT_TRUE(merge.take_changes(kStart + Milliseconds(15'000)).empty());
}

TEST_F(PeerMerging, AModuleOfThisEndIsHandedOverOnce) {
  PeerReading imported = nothing();
  imported.module.emplace();
  imported.module->serial = "A1";
  imported.read_at = kStart - Milliseconds(5'000);
  merge.add("import", {imported});
  MergedPeer now = changes(kStart);
  ASSERT_TRUE(now.module);
  EXPECT_EQ(now.module_read_at, kStart - Milliseconds(5'000));
  EXPECT_FALSE(now.peer);
  merge.add("peer_lldp", {reading("lldp", "leaf-12", kStart)});
  now = changes(kStart);
  EXPECT_FALSE(now.module) << "it is not new";
  EXPECT_FALSE(now.module_ended);
  merge.add("import", {nothing()});
  EXPECT_TRUE(changes(kStart).module_ended);
}

TEST_F(PeerMerging, GapsOfTheNodeAreThoseOfEachSourcesLastRound) {
  PeerReading node;
  node.gaps.push_back({"", "peer_lldp", "no socket"});
  merge.add("peer_lldp", {node});
  EXPECT_TRUE(merge.take_changes(kStart).empty());
  ASSERT_EQ(merge.node_gaps().size(), 1U);
  merge.add("import", {nothing()});
  EXPECT_EQ(merge.node_gaps().size(), 1U);
  merge.add("peer_lldp", {nothing()});
  EXPECT_TRUE(merge.node_gaps().empty());
}

TEST_F(PeerMerging, APortThatGoesIsForgotten) {
  merge.add("peer_lldp", {reading("lldp", "leaf-12", kStart)});
  merge.set_ports({"mlx5_1/1"});
  EXPECT_TRUE(merge.take_changes(kStart).empty());
  merge.set_ports({"mlx5_0/1"});
  EXPECT_TRUE(merge.take_changes(kStart).empty());
}

TEST(FarEndsPlan, NamesAPortByItsPciAddressToo) {
  testing::ManualClock clock;
  ExpectedPort planned;
  planned.peer_system = "leaf-9";
  FarEnds far_ends({}, clock, {}, std::map<PortKey, ExpectedPort>{{"0000:1b:00.0", planned}});
  InventoryPort port;
  port.id.device = "mlx5_0";
  port.id.verbs = true;
  port.id.pci = "0000:1b:00.0";
  far_ends.set_ports({port});
  const FarEnds::News news = far_ends.take(clock.steady());
  ASSERT_TRUE(news.ports.at("mlx5_0/1").peer);
  EXPECT_EQ(news.ports.at("mlx5_0/1").peer->system, "leaf-9");
}

}  // namespace
}  // namespace linkhealth
