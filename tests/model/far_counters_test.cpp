// The far port's counters, where another source reads them than the one that says who is there.
#include <gtest/gtest.h>

#include "model/history.h"
#include "tests/diagnosis/feed.h"

namespace linkhealth {
namespace {

Snapshot with_peer(Feed& feed, const PeerSample& peer) {
  Snapshot snapshot = feed.tick();
  snapshot.ports["mlx5_0/1"].peer = peer;
  return snapshot;
}

const std::vector<PeerHistory::Errors>& counted(const History& history) {
  return history.find("mlx5_0/1")->peer.errors;
}

PeerSample far_port(const std::string& source, std::uint64_t symbol_errors) {
  PeerSample peer;
  peer.source = source;
  peer.age_s = 0;
  peer.system = "leaf-12";
  peer.port = "Ethernet17/1";
  peer.counters.emplace();
  peer.counters->set("symbol_error", symbol_errors);
  return peer;
}

TEST(FarCounters, OfAnotherSourceHaveTheirOwnAge) {
  History history;
  Feed feed;
  PeerSample peer = far_port("lldp", 5);
  peer.age_s = 1;
  peer.counters_source = "telemetry";
  peer.counters_age_s = 4;
  history.observe(with_peer(feed, peer));
  peer.counters->set("symbol_error", 9);
  peer.counters_age_s = 1;
  history.observe(with_peer(feed, peer));
  ASSERT_EQ(counted(history).size(), 1U);
  EXPECT_EQ(counted(history)[0].errors, 4);
  for (int i = 1; i <= 3; ++i) {
    peer.counters_age_s = 1 + i * feed.period_s;
    history.observe(with_peer(feed, peer));
  }
  EXPECT_EQ(counted(history).size(), 1U)
      << "LLDP speaks again, and these are still the same counters";
}

TEST(FarCounters, OfTheSameSecondAsTheLastAnswerAreNews) {
  History history;
  Feed feed;
  PeerSample peer = far_port("lldp", 5);
  peer.counters_source = "telemetry";
  peer.counters_age_s = 0;
  history.observe(with_peer(feed, peer));
  peer.age_s = feed.period_s;  // the neighbour was not asked again
  peer.counters->set("symbol_error", 9);
  history.observe(with_peer(feed, peer));
  EXPECT_EQ(counted(history).size(), 1U);
}

TEST(FarCounters, ThatPassToAnotherSourceAreNoIncrease) {
  History history;
  Feed feed;
  history.observe(with_peer(feed, far_port("mad", 5)));
  PeerSample peer = far_port("mad", 5000);  // the switch counts in another width
  peer.counters_source = "telemetry";
  peer.counters_age_s = 0;
  history.observe(with_peer(feed, peer));
  EXPECT_TRUE(counted(history).empty());
  peer.counters->set("symbol_error", 5003);
  history.observe(with_peer(feed, peer));
  ASSERT_EQ(counted(history).size(), 1U);
  EXPECT_EQ(counted(history)[0].errors, 3);
}

}  // namespace
}  // namespace linkhealth
