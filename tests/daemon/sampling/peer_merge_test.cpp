#include "daemon/sampling/peer_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace linkhealth {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kHold_s = 300;
constexpr double kDay_s = 86'400;
constexpr const char* kPort = "mlx5_0/1";
constexpr const char* kNotUsed =
    "its link, counters and module are not used: lldp names another far end";
constexpr const char* kNamesOfBefore =
    "no source names it now: these names are from before the link went down";

SteadyTime at(double after_s) {
  return SteadyTime(Milliseconds(1'000'000)) + from_seconds(after_s);
}

/// An answer that the port has no far end.
PeerReading nothing() {
  PeerReading reading;
  reading.port = kPort;
  reading.answered = true;
  return reading;
}
PeerReading named(const std::string& source, const std::string& system, double after_s = 0) {
  PeerReading reading = nothing();
  reading.read_at = at(after_s);
  reading.peer.emplace();
  reading.peer->source = source;
  reading.peer->system = system;
  if (!system.empty()) reading.peer->port = "Ethernet17/1";
  return reading;
}
PeerReading with_module(PeerReading reading) {
  reading.peer->module.emplace();
  reading.peer->module->lanes.resize(1);
  reading.peer->module->lanes[0].tx_power_mw = 1.1;
  return reading;
}
PeerReading with_state(PeerReading reading, bool admin_up) {
  reading.peer->link.emplace();
  reading.peer->link->admin_up = admin_up;
  reading.peer->counters.emplace();
  reading.peer->counters->set("symbol_error", 5000);
  return reading;
}
PeerReading failed(const std::string& probe, const std::string& why) {
  PeerReading reading;
  reading.port = kPort;
  reading.gaps.push_back({kPort, probe, why});
  return reading;
}

class PeerMerging : public ::testing::Test {
 protected:
  PeerMerging() { merge.set_ports({kPort}); }
  void add(const std::string& probe, PeerReading reading) {
    merge.add(probe, {std::move(reading)});
  }
  void mad(PeerReading reading) { add("peer_mad", std::move(reading)); }
  void lldp(PeerReading reading) { add("peer_lldp", std::move(reading)); }
  void add_import(PeerReading reading) { add("import", std::move(reading)); }
  /// The changes of the one port; empty when there are none.
  MergedPeer changes(double after_s = 0) {
    auto all = merge.take_changes(at(after_s));
    return all.contains(kPort) ? all.at(kPort) : MergedPeer{};
  }
  bool is_unchanged(double after_s = 0) { return merge.take_changes(at(after_s)).empty(); }
  void set_plan() {
    ExpectedPort planned;
    planned.peer_system = "leaf-plan";
    planned.peer_port = "Ethernet1/1";
    merge.set_plan({{kPort, planned}});
  }
  static std::vector<std::string> reasons(const MergedPeer& merged) {
    std::vector<std::string> all;
    for (const Gap& gap : merged.gaps) all.push_back(gap.reason);
    return all;
  }

  PeerMerge merge{from_seconds(kHold_s), {}};
};

TEST_F(PeerMerging, WithoutReadingsNothingIsPublished) {
  EXPECT_TRUE(is_unchanged());
  lldp(nothing());
  EXPECT_TRUE(is_unchanged());
}

TEST_F(PeerMerging, TheMadIsTrustedMostThenLldpThenTheImportThenThePlan) {
  set_plan();
  EXPECT_EQ(changes().peer->source, "plan");
  add_import(named("telemetry", "leaf-import"));
  EXPECT_EQ(changes().peer->system, "leaf-import");
  lldp(named("lldp", "leaf-lldp"));
  EXPECT_EQ(changes().peer->system, "leaf-lldp");
  mad(named("mad", "leaf-mad"));
  EXPECT_EQ(changes().peer->system, "leaf-mad");
  add_import(named("fleet", "leaf-import2"));
  EXPECT_TRUE(is_unchanged()) << "a less trusted source changes nothing";
  mad(nothing());
  EXPECT_EQ(changes().peer->system, "leaf-lldp");
}

TEST_F(PeerMerging, ThePlanGivesNamesWithoutAnAgeAndOnlyWhereNoSourceIdentifiesTheFarEnd) {
  set_plan();
  const auto planned = changes().peer;
  ASSERT_TRUE(planned);
  EXPECT_EQ(planned->system, "leaf-plan");
  EXPECT_EQ(planned->port, "Ethernet1/1");
  EXPECT_FALSE(planned->age_s);
  EXPECT_TRUE(is_unchanged()) << "published once";
  add_import(with_module(named("telemetry", "")));
  const auto imported = changes().peer;
  EXPECT_EQ(imported->source, "telemetry");
  EXPECT_EQ(imported->system, "") << "otherwise the plan would confirm itself";
}

TEST_F(PeerMerging, AnImportedModuleJoinsTheNamesOfOthersWithItsOwnAge) {
  lldp(named("lldp", "leaf-12"));
  add_import(with_module(named("telemetry", "LEAF-12.dc1.example", -40)));
  const auto peer = changes(3).peer;
  ASSERT_TRUE(peer && peer->module);
  EXPECT_EQ(peer->source, "lldp");
  EXPECT_EQ(peer->system, "leaf-12");
  EXPECT_EQ(peer->age_s, 3.0);
  EXPECT_EQ(peer->module_source, "telemetry");
  EXPECT_EQ(peer->module_age_s, 43.0);
}

TEST_F(PeerMerging, AReadingStaysValidWithoutAnswersUntilItIsTooOld) {
  mad(named("mad", "leaf-12"));
  EXPECT_TRUE(changes().peer);
  mad(failed("peer_mad", "no answer"));
  MergedPeer now = changes(100);
  ASSERT_TRUE(now.peer);
  EXPECT_EQ(now.peer->system, "leaf-12");
  EXPECT_EQ(now.peer->age_s, 100.0);
  EXPECT_THAT(reasons(now), ElementsAre("no answer"));
  EXPECT_TRUE(is_unchanged(kHold_s - 0.001));
  now = changes(kHold_s);
  ASSERT_TRUE(now.peer);
  EXPECT_EQ(*now.peer, PeerSample{}) << "withdraws the former sample";
  EXPECT_THAT(reasons(now), ElementsAre("no answer"));
  EXPECT_TRUE(is_unchanged(2 * kHold_s)) << "published once";
}

TEST_F(PeerMerging, AReadingEndsWithAGapOfItsOwn) {
  mad(named("mad", "leaf-12"));
  PeerReading imported = named("telemetry", "leaf-12");
  imported.valid_until = at(60);
  add_import(imported);
  changes();
  EXPECT_TRUE(is_unchanged(59.999));
  EXPECT_THAT(changes(60).gaps, ElementsAre(Gap{kPort, "import",
                                                "the imported reading is past its time of "
                                                "validity"}));
  EXPECT_THAT(changes(kHold_s).gaps,
              ::testing::Contains(Gap{kPort, "peer_mad", "no answer for 300 s"}));
}

TEST_F(PeerMerging, AStateOfNowIsNotHiddenByAnOldOneOfAMoreTrustedSource) {
  mad(with_state(named("mad", "leaf-12"), true));
  add_import(with_module(with_state(named("telemetry", "LEAF-12.dc1.example", 200), false)));
  EXPECT_EQ(changes(200).peer->link->admin_up, true)
      << "the most trusted answered in its last round";
  mad(failed("peer_mad", "the link is down: the far end cannot be reached"));
  auto peer = changes(200).peer;
  ASSERT_TRUE(peer && peer->link && peer->counters);
  EXPECT_EQ(peer->source, "mad") << "a failed request does not change the far end";
  EXPECT_EQ(peer->system, "leaf-12");
  EXPECT_EQ(peer->age_s, 200.0);
  EXPECT_EQ(peer->link->admin_up, false);
  EXPECT_EQ(peer->link_source, "telemetry");
  EXPECT_EQ(peer->link_age_s, 0.0);
  EXPECT_EQ(peer->counters_source, "telemetry");
  EXPECT_EQ(peer->counters_age_s, 0.0);
  mad(with_state(named("mad", "leaf-12", 200), true));
  peer = changes(200).peer;
  EXPECT_EQ(peer->link->admin_up, true);
  EXPECT_EQ(peer->link_source, "") << "the source of the names";
  EXPECT_FALSE(peer->link_age_s);
}

TEST_F(PeerMerging, TheStateOfTelemetryJoinsTheNamesOfLldp) {
  lldp(named("lldp", "leaf-12"));
  add_import(with_state(named("telemetry", "leaf-12", -5), false));
  const MergedPeer now = changes(3);
  ASSERT_TRUE(now.peer && now.peer->link && now.peer->counters);
  EXPECT_THAT(now.gaps, IsEmpty());
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
  PeerReading link_only = with_state(named("mad", "leaf-12"), true);
  link_only.peer->counters.reset();
  mad(link_only);
  add_import(with_state(named("telemetry", ""), false));
  const auto peer = changes().peer;
  ASSERT_TRUE(peer && peer->link && peer->counters);
  EXPECT_EQ(peer->link->admin_up, true);
  EXPECT_EQ(peer->link_source, "");
  EXPECT_EQ(peer->counters_source, "telemetry") << "a reading without names contradicts none";
}

/// Two cables are swapped, or a telemetry job still has yesterday's mapping.
TEST_F(PeerMerging, StateAndModuleOfAnotherPortAreNotUsedAndAGap) {
  lldp(named("lldp", "leaf-12"));
  add_import(with_module(with_state(named("telemetry", "leaf-13"), false)));
  MergedPeer now = changes();
  EXPECT_EQ(now.peer->system, "leaf-12");
  EXPECT_FALSE(now.peer->link || now.peer->counters || now.peer->module);
  EXPECT_EQ(now.peer->module_source, "");
  EXPECT_THAT(now.gaps, ElementsAre(Gap{kPort, "import", kNotUsed}));
  PeerReading imported = with_state(named("telemetry", "leaf-12"), false);
  imported.peer->port = "Eth17/1";
  add_import(imported);
  now = changes();
  EXPECT_TRUE(now.peer->link);
  EXPECT_THAT(now.gaps, IsEmpty());
  imported.peer->port = "Ethernet18/1";
  add_import(imported);
  EXPECT_FALSE(changes().peer->link) << "another port of that switch";
  add_import(with_module(named("telemetry", "")));
  now = changes();
  EXPECT_TRUE(now.peer->module) << "a reading without names contradicts none";
  EXPECT_THAT(now.gaps, IsEmpty());
}

TEST_F(PeerMerging, AGuidDecidesWhereNamesCannot) {
  PeerReading by_mad = named("mad", "leaf-12");
  by_mad.peer->guid = "b8ce:f603:00aa:0001";
  PeerReading imported = with_state(named("telemetry", "renamed"), false);
  imported.peer->guid = by_mad.peer->guid;
  mad(by_mad);
  add_import(imported);
  EXPECT_TRUE(changes().peer->link) << "the switch was renamed";
  imported.peer->system.clear();
  imported.peer->guid = "b8ce:f603:00aa:0002";
  add_import(imported);
  EXPECT_FALSE(changes().peer->link);
}

TEST_F(PeerMerging, ANeighbourThatIsGoneIsGoneAtOnceAndSoIsAGap) {
  lldp(named("lldp", "leaf-12"));
  changes();
  lldp(nothing());
  EXPECT_EQ(*changes().peer, PeerSample{});
  lldp(failed("peer_lldp", "no LLDP neighbour"));
  EXPECT_EQ(changes().gaps.size(), 1U);
  lldp(nothing());
  const MergedPeer now = changes();
  ASSERT_TRUE(now.peer) << "the history ends a gap when it gets a sample";
  EXPECT_THAT(now.gaps, IsEmpty());
}

TEST_F(PeerMerging, ASampleComesWithAllGapsThatStillHold) {
  add_import(failed("import", "x.json: past its time of validity"));
  changes();
  lldp(named("lldp", "leaf-12"));
  const MergedPeer now = changes();
  EXPECT_TRUE(now.peer);
  EXPECT_EQ(now.gaps.size(), 1U);
}

TEST_F(PeerMerging, TheSameReadingTwiceIsNoChange) {
  add_import(with_module(named("telemetry", "leaf-12")));
  EXPECT_TRUE(changes().peer);
  add_import(with_module(named("telemetry", "leaf-12")));
  EXPECT_TRUE(is_unchanged(15));
}

TEST_F(PeerMerging, AModuleOfThisEndIsPublishedOnce) {
  PeerReading imported = nothing();
  imported.module.emplace();
  imported.module->serial = "A1";
  imported.read_at = at(-5);
  add_import(imported);
  MergedPeer now = changes();
  ASSERT_TRUE(now.module);
  EXPECT_EQ(now.module_read_at, at(-5));
  EXPECT_FALSE(now.peer);
  lldp(named("lldp", "leaf-12"));
  now = changes();
  EXPECT_FALSE(now.module) << "it is not new";
  EXPECT_FALSE(now.module_ended);
  add_import(nothing());
  EXPECT_TRUE(changes().module_ended);
}

TEST_F(PeerMerging, GapsOfTheNodeAreThoseOfEachSourcesLastRound) {
  PeerReading node;
  node.gaps.push_back({"", "peer_lldp", "no socket"});
  lldp(node);
  EXPECT_TRUE(is_unchanged());
  EXPECT_EQ(merge.node_gaps().size(), 1U);
  add_import(nothing());
  EXPECT_EQ(merge.node_gaps().size(), 1U);
  lldp(nothing());
  EXPECT_THAT(merge.node_gaps(), IsEmpty());
}

TEST_F(PeerMerging, APortThatGoesIsForgotten) {
  lldp(named("lldp", "leaf-12"));
  merge.set_ports({"mlx5_1/1"});
  EXPECT_TRUE(is_unchanged());
  merge.set_ports({kPort});
  EXPECT_TRUE(is_unchanged());
}

/// The far end of a link that is down: lldpd drops the neighbours of an interface that is not
/// running, which is when a technician needs them.
class PeerMergingOfALinkThatIsDown : public PeerMerging {
 protected:
  void SetUp() override {
    merge.set_carrier(kPort, true);
    lldp(named("lldp", "leaf-12"));
  }
  void lose_carrier() {
    changes();
    merge.set_carrier(kPort, false);
    lldp(nothing());
  }
};

TEST_F(PeerMergingOfALinkThatIsDown, TheLastNamesStay) {
  lldp(with_state(named("lldp", "leaf-12"), true));
  lose_carrier();
  const MergedPeer down = changes(2);
  ASSERT_TRUE(down.peer);
  EXPECT_EQ(down.peer->system, "leaf-12");
  EXPECT_EQ(down.peer->source, "lldp");
  EXPECT_EQ(down.peer->age_s, 2);
  EXPECT_FALSE(down.peer->link || down.peer->counters);
  EXPECT_THAT(reasons(down), ElementsAre(kNamesOfBefore));
  EXPECT_TRUE(is_unchanged(kDay_s)) << "however long it is down";
  merge.set_carrier(kPort, true);
  EXPECT_TRUE(is_unchanged(kDay_s + 1)) << "LLDP takes its time";
  lldp(named("lldp", "leaf-7", kDay_s + 20));
  const MergedPeer moved = changes(kDay_s + 20);
  EXPECT_EQ(moved.peer->system, "leaf-7");
  EXPECT_THAT(moved.gaps, IsEmpty());
  lldp(nothing());
  EXPECT_EQ(*changes(kDay_s + 30).peer, PeerSample{}) << "gone while the link is up";
}

/// The import was of another port while LLDP contradicted it; a loss of carrier does not change
/// that.
TEST_F(PeerMergingOfALinkThatIsDown, AnImportOfAnotherFarEndIsNotUsed) {
  const auto imported = [](double after_s) {
    return with_module(with_state(named("telemetry", "leaf-13", after_s), false));
  };
  add_import(imported(0));
  lose_carrier();
  add_import(imported(2));
  const MergedPeer down = changes(2);
  ASSERT_TRUE(down.peer);
  EXPECT_EQ(down.peer->system, "leaf-12");
  EXPECT_FALSE(down.peer->link || down.peer->counters || down.peer->module);
  EXPECT_THAT(reasons(down), ElementsAre(kNotUsed, kNamesOfBefore));
  add_import(imported(60));
  EXPECT_TRUE(is_unchanged(60));
  merge.set_carrier(kPort, true);
  changes(61);
  EXPECT_EQ(changes(181).peer->system, "leaf-13") << "the link is up, and LLDP has no neighbour";
}

TEST_F(PeerMergingOfALinkThatIsDown, AnImportOfTheSameFarEndStaysValid) {
  add_import(with_module(with_state(named("telemetry", "leaf-12"), false)));
  lose_carrier();
  const MergedPeer down = changes(2);
  ASSERT_TRUE(down.peer && down.peer->link && down.peer->module);
  EXPECT_EQ(down.peer->source, "telemetry") << "it names the far end now";
  EXPECT_THAT(down.gaps, IsEmpty());
}

TEST_F(PeerMergingOfALinkThatIsDown, WithTheLinkUpAgainAndNoNeighbourTheNamesEnd) {
  lose_carrier();
  changes();
  merge.set_carrier(kPort, true);
  EXPECT_TRUE(is_unchanged(1));
  EXPECT_TRUE(is_unchanged(120));
  EXPECT_EQ(*changes(121).peer, PeerSample{});
}

TEST_F(PeerMergingOfALinkThatIsDown, LldpMayNoticeTheLostCarrierFirstButNotLongBefore) {
  for (const double seconds_before : {1.0, 11.0}) {
    lldp(named("lldp", "leaf-12"));
    changes();
    lldp(nothing());
    EXPECT_EQ(*changes().peer, PeerSample{});
    if (seconds_before > 10) changes(10);
    merge.set_carrier(kPort, false);
    const auto peer = changes(seconds_before).peer;
    EXPECT_EQ(peer ? peer->system : "", seconds_before > 10 ? "" : "leaf-12") << seconds_before;
    merge.set_carrier(kPort, true);
    merge.set_ports({});
    merge.set_ports({kPort});
  }
}

TEST_F(PeerMergingOfALinkThatIsDown, TheNamesOfAMadOutliveItsHoldAndThoseOfAnImportDoNot) {
  merge.set_ports({});
  merge.set_ports({kPort});
  merge.set_carrier(kPort, false);
  mad(with_state(named("mad", "leaf-12"), true));
  changes();
  const MergedPeer held = changes(kHold_s);
  EXPECT_EQ(held.peer->system, "leaf-12");
  EXPECT_FALSE(held.peer->link);
  merge.set_ports({});
  merge.set_ports({kPort});
  merge.set_carrier(kPort, false);
  add_import(named("fleet", "leaf-12"));
  changes();
  EXPECT_EQ(*changes(kHold_s).peer, PeerSample{});
}

}  // namespace
}  // namespace linkhealth
