// The far end of the cable: its counters, the ages of readings, and its names over a restart.
#include <gtest/gtest.h>

#include "tests/model/history/one_port.h"

namespace linkhealth {
namespace {

/// A far port, and how many symbol errors it has counted in its life.
PeerSample far_port(const char* source, const char* guid, const char* port,
                    std::uint64_t symbol_errors) {
  PeerSample peer;
  peer.source = source;
  peer.age_s = 0;
  peer.system = "leaf-12";
  peer.guid = guid;
  peer.port = port;
  peer.counters.emplace().set("symbol_error", symbol_errors);
  return peer;
}

struct Cabled : OnePort {
  void read_far(const PeerSample& peer) {
    read([&](PortSample& sample) { sample.peer = peer; });
  }
  /// The increases of far errors that are known.
  [[nodiscard]] std::vector<double> errors() const {
    std::vector<double> values;
    for (const PeerHistory::Errors& one : port().peer.errors) values.push_back(one.errors);
    return values;
  }
};

TEST(FarEnd, AnEmptySampleRevokesTheEarlierOnes) {
  Cabled port;
  port.read_far(far_port("lldp", "", "Eth1", 0));
  port.run(1);
  EXPECT_TRUE(port.port().latest.peer) << "left out: unchanged";
  port.read_far(PeerSample{});
  EXPECT_FALSE(port.port().latest.peer);
  EXPECT_FALSE(port.port().peer_at);
}

using Errors = std::vector<double>;

TEST(FarCounters, CountBetweenReadingsOfOnePortByOneSource) {
  struct Row {
    const char* what;
    PeerSample next;
    Errors errors;  ///< after 5, 9, `next` and two more errors than `next`
  };
  PeerSample renamed = far_port("mad", "aaaa", "17", 10);
  renamed.system = "leaf-13";
  PeerSample other_counters = far_port("mad", "aaaa", "17", 5000);
  other_counters.counters_source = "telemetry";  // the switch counts in another width
  const Row rows[] = {
      {"the same", far_port("mad", "aaaa", "17", 10), {4, 1, 2}},
      {"renamed, with its GUID", renamed, {4, 1, 2}},
      {"another system", far_port("mad", "bbbb", "17", 40000), {2}},
      {"another port of the system", far_port("mad", "aaaa", "3", 40000), {2}},
      {"another source", far_port("telemetry", "", "Ethernet17/1", 5000), {4, 2}},
      {"another source of the counters", other_counters, {4, 2}},
  };
  for (const Row& row : rows) {
    Cabled port;
    port.read_far(far_port("mad", "aaaa", "17", 5));
    port.read_far(far_port("mad", "aaaa", "17", 9));
    PeerSample next = row.next;
    port.read_far(next);
    next.counters->set("symbol_error", next.counters->get("symbol_error").value() + 2);
    port.read_far(next);
    EXPECT_EQ(port.errors(), row.errors) << row.what;
  }
}

TEST(FarCounters, WithoutAGuidTheSystemsNameIdentifiesThePort) {
  Cabled port;
  port.read_far(far_port("lldp", "", "17", 9));
  PeerSample other = far_port("lldp", "", "17", 100);
  other.system = "leaf-13";
  port.read_far(other);
  EXPECT_TRUE(port.errors().empty());
}

TEST(FarCounters, ARepeatedReadingCountsOnce) {
  Cabled port;
  port.read_far(far_port("mad", "", "17", 5));
  PeerSample peer = far_port("mad", "", "17", 9);
  port.read_far(peer);
  peer.age_s = port.feed.period_s;  // the same reading, one tick later
  port.read_far(peer);
  EXPECT_EQ(port.errors(), Errors{4});
}

TEST(FarCounters, OfAnotherSourceHaveTheirOwnAge) {
  Cabled port;
  PeerSample peer = far_port("lldp", "", "Ethernet17/1", 5);
  peer.age_s = 1;
  peer.counters_source = "telemetry";
  peer.counters_age_s = 4;
  port.read_far(peer);
  peer.counters->set("symbol_error", 9);
  peer.counters_age_s = 1;
  port.read_far(peer);
  for (int i = 1; i <= 3; ++i) {
    peer.counters_age_s = 1 + i * port.feed.period_s;
    port.read_far(peer);
  }
  EXPECT_EQ(port.errors(), Errors{4}) << "LLDP answers again, with the same counters";
  peer.age_s = port.feed.period_s;  // no new answer of LLDP
  peer.counters_age_s = 0;
  peer.counters->set("symbol_error", 12);
  port.read_far(peer);
  EXPECT_EQ(port.errors(), (Errors{4, 3}));
}

TEST(FarModule, OfAnotherSourceHasItsOwnAge) {
  Cabled port;
  PeerSample peer = far_port("lldp", "", "Ethernet17/1", 0);
  peer.age_s = 1;
  peer.module.emplace().lanes.resize(1);
  peer.module->lanes[0].tx_power_mw = 1;
  peer.module_source = "telemetry";
  peer.module_age_s = 40;
  port.read_far(peer);
  EXPECT_EQ(port.port().peer_at, port.history.now() - Milliseconds(1'000));
  EXPECT_EQ(port.port().far.read_at, port.history.now() - Milliseconds(40'000));
  EXPECT_EQ(port.port().far.tx_dbm[0].recent_count, 1U);
  peer.module_age_s = 50;  // the same reading of the module, with a new one of LLDP
  port.read_far(peer);
  EXPECT_EQ(port.port().far.tx_dbm[0].recent_count, 1U);
}

/// A node that was restarted after `source` had named its far end.
struct Restarted : Cabled {
  Restarted(const char* source, bool carrier) {
    Cabled before;
    before.run(1);
    PeerSample peer = far_port(source, "", "Ethernet17/1", 0);
    peer.age_s = 2;
    peer.link.emplace().admin_up = true;
    before.read_far(peer);
    before.run(1);
    history.restore(before.history.references());
    feed.link.carrier = carrier;
    feed.t = 1000;
    run(1);
  }
};

TEST(FarNames, SurviveARestartWhileTheLinkIsDown) {
  Restarted node("lldp", false);
  node.run(1000);
  const auto& peer = node.port().latest.peer;
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->system, "leaf-12");
  EXPECT_EQ(peer->port, "Ethernet17/1");
  EXPECT_EQ(peer->source, "lldp");
  EXPECT_GT(*peer->age_s, 900) << "as old as it is";
  EXPECT_FALSE(peer->link) << "that is not known";
  EXPECT_EQ(node.history.references().ports[0].peer_system, "leaf-12") << "and the next one";
}

TEST(FarNames, EndWithALinkThatHearsNothing) {
  Restarted node("mad", true);
  node.run(10);
  EXPECT_TRUE(node.port().latest.peer);
  node.run(5);
  EXPECT_FALSE(node.port().latest.peer);
}

TEST(FarNames, AreReplacedByANewReading) {
  Restarted node("lldp", false);
  PeerSample other = far_port("mad", "", "Ethernet1", 0);
  other.system = "leaf-7";
  node.read_far(other);
  node.run(100);
  EXPECT_EQ(node.port().latest.peer->system, "leaf-7");
}

TEST(FarNames, OfAPlanOrAnImportAreNotSaved) {
  for (const char* source : {"plan", "fleet"})
    EXPECT_FALSE(Restarted(source, false).port().latest.peer) << source;
}

}  // namespace
}  // namespace linkhealth
