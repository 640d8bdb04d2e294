#include "model/history.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/diagnosis/feed.h"

namespace linkhealth {
namespace {

const PortHistory& port_of(const History& history) { return *history.find("mlx5_0/1"); }

void run(History& history, Feed& feed, int ticks) {
  for (int i = 0; i < ticks; ++i) history.observe(feed.tick());
}

TEST(History, TenFlapsBetweenTwoReadingsCountAsTen) {
  History history;
  Feed feed;
  run(history, feed, 5);
  feed.link.carrier_down_count = 10;
  feed.link.carrier_up_count = 11;
  run(history, feed, 1);
  EXPECT_EQ(port_of(history).carrier.unplanned_total, 10U);
  EXPECT_EQ(port_of(history).carrier.up, true);
  EXPECT_FALSE(port_of(history).counters.intervals.back().clean);
}

TEST(History, EventsAndCountsAreTheSameLosses) {
  History history;
  Feed feed;
  run(history, feed, 5);
  feed.pull(feed.t + 3);
  feed.plug(feed.t + 6);
  run(history, feed, 1);
  EXPECT_EQ(port_of(history).carrier.unplanned_total, 1U);
}

TEST(History, AnAdministratorsLossIsVoluntaryAlsoWhenItsEventComesLater) {
  History history;
  Feed feed;
  run(history, feed, 40);
  feed.pull(feed.t + 1);
  run(history, feed, 2);
  EXPECT_EQ(port_of(history).carrier.unplanned_total, 1U);
  feed.event(PortEventKind::kAdminDown, feed.t + 1);
  run(history, feed, 1);
  EXPECT_EQ(port_of(history).carrier.unplanned_total, 0U);
  EXPECT_EQ(port_of(history).carrier.planned_total, 1U);
}

TEST(History, AfterARebootLossesAreNobodysFault) {
  History history;
  Feed feed;
  run(history, feed, 40);
  feed.uptime_s = 20;
  feed.link.carrier_down_count = 0;
  run(history, feed, 1);
  feed.pull(feed.t + 1);
  run(history, feed, 1);
  EXPECT_EQ(port_of(history).carrier.unplanned_total, 0U);
  EXPECT_TRUE(port_of(history).carrier.reboot_at.has_value());
}

TEST(History, ARenameKeepsTheHistory) {
  History history;
  Feed feed;
  run(history, feed, 10);
  feed.key = "mlx5_7/1";
  run(history, feed, 1);
  EXPECT_EQ(history.ports().size(), 1U);
  ASSERT_NE(history.find("mlx5_7/1"), nullptr);
  EXPECT_EQ(history.find("mlx5_7/1")->first_seen, steady_from_seconds(10));
}

TEST(History, AFaultDoesNotBecomeItsOwnNormal) {
  History history;
  Feed feed;
  feed.period_s = 60;
  run(history, feed, 20);
  feed.receive_mw(0.2);
  run(history, feed, 200);
  ASSERT_TRUE(port_of(history).own.rx_dbm[0].below_baseline().has_value());
  EXPECT_NEAR(*port_of(history).own.rx_dbm[0].below_baseline(), 6.02, 0.05);
}

TEST(History, ANewModuleHasNoPast) {
  History history;
  Feed feed;
  feed.period_s = 60;
  run(history, feed, 20);
  feed.module.serial = "B2";
  feed.receive_mw(0.2);
  run(history, feed, 1);
  EXPECT_FALSE(port_of(history).own.rx_dbm[0].below_baseline().has_value());
}

TEST(History, ANewModuleAtOneEndHasNoPastInTheOthersReceiver) {
  History history;
  Feed feed;
  feed.period_s = 60;
  const auto with_peer = [&](const char* far_serial, double far_rx_mw) {
    Snapshot snapshot = feed.tick();
    PeerSample& peer = snapshot.ports.at("mlx5_0/1").peer.emplace();
    peer.module.emplace().serial = far_serial;
    peer.module->lanes.resize(4);
    for (ModuleLane& lane : peer.module->lanes) lane.rx_power_mw = far_rx_mw;
    return snapshot;
  };
  for (int i = 0; i < 20; ++i) history.observe(with_peer("F1", 0.9));
  ASSERT_TRUE(port_of(history).far.rx_dbm[0].below_baseline().has_value());
  feed.module.serial = "B2";
  history.observe(with_peer("F1", 0.5));
  EXPECT_FALSE(port_of(history).far.rx_dbm[0].below_baseline().has_value())
      << "it receives another laser now";
  for (int i = 0; i < 20; ++i) history.observe(with_peer("F1", 0.5));
  ASSERT_TRUE(port_of(history).own.rx_dbm[0].below_baseline().has_value());
  history.observe(with_peer("F2", 0.5));
  EXPECT_FALSE(port_of(history).own.rx_dbm[0].below_baseline().has_value());
}

TEST(History, ReadingsOfTheDarkTimeAreForgottenWhenTheLinkIsBack) {
  History history;
  Feed feed;
  feed.period_s = 60;
  run(history, feed, 20);
  feed.pull(feed.t + 1);
  feed.receive_mw(0);
  run(history, feed, 5);
  feed.plug(feed.t + 1);
  feed.receive_mw(0.8);
  run(history, feed, 1);
  EXPECT_NEAR(*port_of(history).own.rx_dbm[0].below_baseline(), 0, 0.01);
}

TEST(History, MemoryIsBounded) {
  History history;
  Feed feed;
  feed.period_s = 1;
  run(history, feed, 5000);
  EXPECT_LE(port_of(history).counters.intervals.size(), 512U);
  for (int i = 0; i < 2000; ++i) {
    feed.pull(feed.t + 0.1);
    feed.plug(feed.t + 0.2);
    history.observe(feed.tick());
  }
  EXPECT_LE(port_of(history).carrier.losses.size(), 512U);
  EXPECT_EQ(port_of(history).carrier.unplanned_total, 2000U);
}

/// A snapshot of the feed with a far end.
Snapshot with_peer(Feed& feed, PeerSample peer) {
  Snapshot snapshot = feed.tick();
  snapshot.ports["mlx5_0/1"].peer = std::move(peer);
  return snapshot;
}

TEST(HistoryFarEnd, AnEmptySampleTakesBackWhatWasSaid) {
  History history;
  Feed feed;
  PeerSample peer;
  peer.source = "lldp";
  peer.system = "leaf-12";
  history.observe(with_peer(feed, peer));
  ASSERT_TRUE(port_of(history).latest.peer);
  history.observe(feed.tick());
  EXPECT_TRUE(port_of(history).latest.peer) << "left out: the last one stands";
  history.observe(with_peer(feed, PeerSample{}));
  EXPECT_FALSE(port_of(history).latest.peer);
  EXPECT_FALSE(port_of(history).peer_at);
}

TEST(HistoryFarEnd, AReadingThatIsRepeatedCountsOnce) {
  History history;
  Feed feed;
  PeerSample peer;
  peer.source = "mad";
  peer.age_s = 0;
  peer.counters.emplace();
  peer.counters->set("symbol_error", 5);
  history.observe(with_peer(feed, peer));
  peer.counters->set("symbol_error", 9);
  history.observe(with_peer(feed, peer));
  ASSERT_EQ(port_of(history).peer.errors.size(), 1U);
  peer.age_s = feed.period_s;  // the same reading, one tick later
  history.observe(with_peer(feed, peer));
  EXPECT_EQ(port_of(history).peer.errors.size(), 1U);
}

/// A far port, and how many symbol errors it has counted in its life.
PeerSample far_port(const std::string& guid, const std::string& port, std::uint64_t symbol_errors) {
  PeerSample peer;
  peer.source = "mad";
  peer.age_s = 0;
  peer.guid = guid;
  peer.port = port;
  peer.counters.emplace();
  peer.counters->set("symbol_error", symbol_errors);
  return peer;
}

TEST(HistoryFarEnd, WhatAnotherPortCountedInItsLifeIsNoErrorOfThisLink) {
  for (const auto& [guid, port] : {std::pair{"bbbb", "17"}, std::pair{"aaaa", "3"}}) {
    History history;
    Feed feed;
    history.observe(with_peer(feed, far_port("aaaa", "17", 5)));
    history.observe(with_peer(feed, far_port("aaaa", "17", 9)));
    history.observe(with_peer(feed, far_port(guid, port, 40000)));
    EXPECT_TRUE(port_of(history).peer.errors.empty());
    history.observe(with_peer(feed, far_port(guid, port, 40002)));
    ASSERT_EQ(port_of(history).peer.errors.size(), 1U);
    EXPECT_EQ(port_of(history).peer.errors[0].errors, 2);
  }
}

TEST(HistoryFarEnd, ASystemThatIsRenamedIsTheSameWhereItsGuidIs) {
  History history;
  Feed feed;
  history.observe(with_peer(feed, far_port("aaaa", "17", 5)));
  PeerSample renamed = far_port("aaaa", "17", 9);
  renamed.system = "leaf-12";
  history.observe(with_peer(feed, renamed));
  EXPECT_EQ(port_of(history).peer.errors.size(), 1U);
  for (PeerSample named : {far_port("", "17", 9), far_port("", "17", 100)}) {
    named.system = named.counters->get("symbol_error") == 100U ? "leaf-13" : "leaf-12";
    history.observe(with_peer(feed, named));
  }
  EXPECT_TRUE(port_of(history).peer.errors.empty())
      << "without a GUID its name tells it from another";
}

TEST(HistoryFarEnd, NothingIsCountedBetweenTheReadingsOfTwoSources) {
  History history;
  Feed feed;
  history.observe(with_peer(feed, far_port("aaaa", "17", 5)));
  history.observe(with_peer(feed, far_port("aaaa", "17", 9)));
  PeerSample imported = far_port("", "Ethernet17/1", 5000);
  imported.source = "telemetry";
  history.observe(with_peer(feed, imported));
  EXPECT_EQ(port_of(history).peer.errors.size(), 1U)
      << "what was counted before is still of this link";
}

TEST(HistoryFarEnd, AModuleOfAnotherSourceHasItsOwnAge) {
  History history;
  Feed feed;
  PeerSample peer;
  peer.source = "lldp";
  peer.age_s = 1;
  peer.module.emplace();
  peer.module->lanes.resize(1);
  peer.module->lanes[0].tx_power_mw = 1;
  peer.module_source = "telemetry";
  peer.module_age_s = 40;
  history.observe(with_peer(feed, peer));
  const SteadyTime now = steady_from_seconds(feed.t);
  EXPECT_EQ(port_of(history).peer_at, now - Milliseconds(1'000));
  EXPECT_EQ(port_of(history).far.read_at, now - Milliseconds(40'000));
  EXPECT_EQ(port_of(history).far.tx_dbm[0].recent_count, 1U);
  peer.module_age_s = 50;  // the same reading of the module beside a new one of LLDP
  history.observe(with_peer(feed, peer));
  EXPECT_EQ(port_of(history).far.tx_dbm[0].recent_count, 1U);
}

TEST(HistoryFarEnd, ASampleTakesTheGapsOfAllItsSourcesBack) {
  History history;
  Feed feed;
  feed.gaps = {{"mlx5_0/1", "peer_lldp", "no LLDP neighbour"},
               {"mlx5_0/1", "import", "x.json: over its time of validity"},
               {"mlx5_0/1", "pcie", "EIO"}};
  history.observe(feed.tick());
  EXPECT_EQ(port_of(history).blind.size(), 3U);
  feed.gaps = {{"mlx5_0/1", "import", "x.json: over its time of validity"}};
  history.observe(with_peer(feed, PeerSample{}));
  EXPECT_EQ(port_of(history).blind.size(), 2U);
  EXPECT_TRUE(port_of(history).blind.contains("import")) << "said again with the sample: it stands";
  EXPECT_FALSE(port_of(history).blind.contains("peer_lldp"));
}

TEST(Dbm, NoLightHasNoLogarithm) {
  EXPECT_EQ(to_dbm(0), kDarkDbm);
  EXPECT_NEAR(to_dbm(1), 0, 1e-9);
}

TEST(History, ACarrierRefutesAnEmptyCageThatWasReadBefore) {
  History history;
  Feed feed;
  run(history, feed, 3);
  feed.event(PortEventKind::kModuleRemoved, feed.t + 1);
  feed.pull(feed.t + 1.2);
  feed.module_readable = false;  // not due again for minutes
  history.observe(feed.tick());
  ASSERT_TRUE(port_of(history).latest.module);
  EXPECT_FALSE(port_of(history).latest.module->present);
  feed.plug(feed.t + 1);
  history.observe(feed.tick());
  EXPECT_FALSE(port_of(history).latest.module)
      << "what is in the cage is not known, but it is not empty";
}

TEST(History, AnInsertedModuleWithoutASerialHasNoPast) {
  History history;
  Feed feed;
  feed.module.serial = "";
  feed.period_s = 60;
  run(history, feed, 10);
  ASSERT_TRUE(port_of(history).own.rx_dbm[0].baseline.ready());
  feed.event(PortEventKind::kModuleRemoved, feed.t + 1);
  feed.event(PortEventKind::kModuleInserted, feed.t + 40);
  feed.receive_mw(0.4);
  history.observe(feed.tick());
  EXPECT_FALSE(port_of(history).own.rx_dbm[0].baseline.ready());
}

TEST(History, AnAdministratorIsNoticedByTheLevelWhereTheEventWasMissed) {
  History history;
  Feed feed;
  run(history, feed, 3);
  feed.link.admin_up = false;
  feed.link.carrier = false;
  run(history, feed, 60);
  feed.link.admin_up = true;
  history.observe(feed.tick());
  ASSERT_TRUE(port_of(history).carrier.admin_event_at);
  EXPECT_EQ(*port_of(history).carrier.admin_event_at, history.now());
}

TEST(History, WithoutAnUptimeTheNodeMayJustHaveBooted) {
  History history;
  Feed feed;
  const auto blind_tick = [&feed] {
    Snapshot snapshot = feed.tick();
    snapshot.uptime_s.reset();
    return snapshot;
  };
  history.observe(blind_tick());
  feed.pull(feed.t + 5);
  history.observe(blind_tick());
  EXPECT_EQ(port_of(history).carrier.unplanned_losses(history.now(), 3600), 0U);
}

TEST(History, WhereNobodySaysTheFecModeTheLanesAndTheCountersDo) {
  const auto fec_of = [](std::uint32_t speed_mbps, std::uint32_t lanes, const char* said,
                         bool corrects) {
    History history;
    Feed feed;
    feed.link.speed_mbps = speed_mbps;
    feed.link.lanes = lanes;
    feed.link.fec = said;
    feed.bits_per_s = corrects ? 100 : 0;
    for (int i = 0; i < 4; ++i) history.observe(feed.tick());
    return std::string(history.find(feed.key)->fec());
  };
  EXPECT_EQ(fec_of(400000, 4, "", false), "RS544");
  EXPECT_EQ(fec_of(100000, 2, "", false), "RS544");
  EXPECT_EQ(fec_of(100000, 4, "", true), "RS528");
  EXPECT_EQ(fec_of(25000, 1, "", false), "") << "it may run without";
  EXPECT_EQ(fec_of(25000, 1, "RS", false), "RS528");
  EXPECT_EQ(fec_of(100000, 4, "Off", true), "Off") << "what the link says goes before";
}

/// The error ratio that is normal, after a module was changed that had so many bits corrected a
/// second.
double normal_after_swap(double bits_per_s_before) {
  History history;
  Feed feed;
  for (int i = 0; i < 60; ++i) history.observe(feed.tick());
  feed.bits_per_s = bits_per_s_before;
  for (int i = 0; i < 60; ++i) history.observe(feed.tick());
  feed.pull(feed.t + 1);
  for (int i = 0; i < 6; ++i) history.observe(feed.tick());
  feed.module.serial = "B2";
  feed.bits_per_s = 4e6;
  feed.plug(feed.t + 1);
  for (int i = 0; i < 30; ++i) history.observe(feed.tick());
  return std::pow(10.0, history.find(feed.key)->counters.ber_log10.lower_quartile().value());
}

TEST(History, ASwapThatDidNotHelpIsNotTheNewNormal) {
  EXPECT_LT(normal_after_swap(4e6), 2e-8) << "what the link was before it had errors";
  EXPECT_GT(normal_after_swap(4000), 5e-6)
      << "a link that was well may have another normal with another module";
}

TEST(History, APageWithoutLightOfALinkThatCarriesIsTheModulesReading) {
  History history;
  Feed feed;
  feed.period_s = 60;
  for (int i = 0; i < 20; ++i) history.observe(feed.tick());
  const double usual = history.find(feed.key)->own.rx_dbm[0].now().value();
  feed.receive_mw(0);
  for (int i = 0; i < 2; ++i) history.observe(feed.tick());
  EXPECT_NEAR(history.find(feed.key)->own.rx_dbm[0].now().value(), usual, 0.1);
  for (int i = 0; i < 4; ++i) history.observe(feed.tick());
  EXPECT_LT(history.find(feed.key)->own.rx_dbm[0].now().value(), -30)
      << "it stands: the meter is dead, and that is told";
}

}  // namespace
}  // namespace linkhealth
