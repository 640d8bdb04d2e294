// Totals of which a reading has only a part, or another width: nothing is counted that did not
// happen.
#include <gtest/gtest.h>

#include "model/history.h"
#include "tests/diagnosis/feed.h"

namespace linkhealth {
namespace {

struct Aer {
  History history;
  Feed feed;
  void read(std::optional<std::uint64_t> correctable, std::optional<std::uint64_t> nonfatal) {
    Snapshot snapshot = feed.tick();
    snapshot.ports["mlx5_0/1"].pcie.emplace();
    snapshot.ports["mlx5_0/1"].pcie->aer_correctable = correctable;
    snapshot.ports["mlx5_0/1"].pcie->aer_nonfatal = nonfatal;
    history.observe(snapshot);
  }
  [[nodiscard]] double grown() const {
    const auto& aer = history.find("mlx5_0/1")->device.pcie_errors;
    return aer.empty() ? 0 : aer.back().second - aer.front().second;
  }
};

TEST(PartReadings, OfAerCountNothingTwice) {
  Aer card;
  card.read(5, 40);
  card.read(5, {});
  EXPECT_EQ(card.grown(), 0);
  card.read(5, 40);
  EXPECT_EQ(card.grown(), 0) << "one failed read is no 40 errors";
  card.read(7, 41);
  EXPECT_EQ(card.grown(), 2 + 100) << "what cannot be corrected counts a hundred times";
}

TEST(PartReadings, OfAerThatComeLaterHaveAPastOfTheirOwn) {
  Aer card;
  card.read(5, {});
  card.read(5, 40);
  EXPECT_EQ(card.grown(), 0);
  card.read(6, 40);
  EXPECT_EQ(card.grown(), 1);
}

/// A card that comes back counts from zero, and may have more by the next reading than it had
/// before.
TEST(PartReadings, OfAerAfterACardCameBackOrARebootHaveAPastOfTheirOwn) {
  Aer card;
  card.read(3, 0);
  card.read(3, 0);
  Snapshot snapshot = card.feed.tick();
  snapshot.events = {{snapshot.taken_at, "mlx5_0/1", PortEventKind::kDeviceAdded, ""}};
  card.history.observe(snapshot);
  card.read(40, 0);
  EXPECT_EQ(card.grown(), 0);
  card.read(41, 0);
  EXPECT_EQ(card.grown(), 1);
}

/// A total that stands still looks like a link without errors.
TEST(PartReadings, OfCountersThatCannotBeReadForMinutesAreUnknown) {
  History history;
  Feed feed;
  history.observe(feed.tick());
  const auto known = [&](const char* name) {
    return history.find("mlx5_0/1")->latest.counters->get(name).has_value();
  };
  const auto blind = [&](double seconds) {
    for (const double end = feed.t + seconds; feed.t < end;) {
      Snapshot snapshot = feed.tick();
      snapshot.ports["mlx5_0/1"].counters.emplace().set("netdev_rx_bytes", 7);
      snapshot.gaps = {{"mlx5_0/1", "fec", "EIO"}};
      history.observe(snapshot);
    }
  };
  blind(290);
  EXPECT_TRUE(known("fec_uncorrectable_blocks"));
  blind(30);
  EXPECT_FALSE(known("fec_uncorrectable_blocks"));
  EXPECT_TRUE(known("netdev_rx_bytes")) << "another source";
  Snapshot snapshot = feed.tick();
  snapshot.gaps_ended = {{"mlx5_0/1", "fec", ""}};
  history.observe(snapshot);
  EXPECT_TRUE(known("fec_uncorrectable_blocks"));
}

/// A port without carrier counts: its losses are those that are seen, and link_downed.
struct InfiniBand {
  InfiniBand() { feed.be_infiniband(); }
  void read(std::uint64_t link_downed) {
    feed.counters.set("link_downed", link_downed);
    history.observe(feed.tick());
  }
  [[nodiscard]] std::uint64_t losses() const {
    std::uint64_t count = 0;
    for (const CarrierLoss& loss : history.find("mlx5_0/1")->carrier.losses) count += loss.count;
    return count;
  }
  History history;
  Feed feed;
};

TEST(PartReadings, AFullFileBetweenTwoAnswersOfTheAgentIsNoFlaps) {
  InfiniBand port;
  port.read(300);
  port.read(300);
  port.read(255);  // the link is down: the file has eight bits
  port.read(301);
  EXPECT_EQ(port.losses(), 1U) << "as the agent says, before and after";
  port.read(301);
  port.read(303);
  EXPECT_EQ(port.losses(), 3U);
  port.read(255);
  port.read(255);
  port.read(310);
  EXPECT_EQ(port.losses(), 10U) << "the agent counts on";
}

TEST(PartReadings, WhatTheCounterToldAtOneReadingIsNoLossOfTheNext) {
  InfiniBand port;
  for (std::uint64_t downs = 300; downs <= 305; ++downs) port.read(downs);
  EXPECT_EQ(port.losses(), 5U) << "one before each reading";
}

/// What was seen of the link since the last reading that holds is not missed.
TEST(PartReadings, AFallThatWasSeenBeforeAWrongReadingIsOne) {
  InfiniBand port;
  port.read(300);
  port.feed.link.carrier = false;
  port.feed.event(PortEventKind::kCarrierDown, port.feed.t + 1);
  port.read(255);
  port.feed.link.carrier = true;
  port.feed.event(PortEventKind::kCarrierUp, port.feed.t + 1);
  port.read(301);
  EXPECT_EQ(port.losses(), 1U);
}

/// The worker's batch is taken in parts: counters may come a snapshot before the state of the same
/// fall.
TEST(PartReadings, AFallThatIsCountedBeforeItIsSeenIsOne) {
  InfiniBand port;
  port.feed.counters.set("link_downed", 0);
  port.history.observe(port.feed.tick());
  const auto counters_alone = [&](std::uint64_t link_downed) {
    port.feed.counters.set("link_downed", link_downed);
    Snapshot snapshot = port.feed.tick();
    snapshot.ports["mlx5_0/1"].link.reset();
    port.history.observe(snapshot);
  };
  counters_alone(1);
  EXPECT_EQ(port.losses(), 1U);
  port.feed.event(PortEventKind::kCarrierDown, port.feed.t);
  port.feed.link.carrier = false;
  port.history.observe(port.feed.tick());
  EXPECT_EQ(port.losses(), 1U) << "the same fall";
  port.feed.link.carrier = true;
  port.feed.event(PortEventKind::kCarrierUp, port.feed.t);
  port.history.observe(port.feed.tick());
  counters_alone(2);  // fell and came back before anybody looked
  port.history.observe(port.feed.tick());
  port.feed.event(PortEventKind::kCarrierDown, port.feed.t);
  port.feed.link.carrier = false;
  port.feed.counters.set("link_downed", 3);
  port.history.observe(port.feed.tick());
  EXPECT_EQ(port.losses(), 3U) << "another fall";
}

TEST(PartReadings, OfStandardStatisticsAndOfOneFileAreUnknownToo) {
  History history;
  Feed feed;
  feed.link_layer = "InfiniBand";
  feed.counters.set("mac_FrameCheckSequenceErrors", 7);
  feed.counters.set("pause_rx_pause_frames", 9);
  feed.counters.set("symbol_error", 5);
  history.observe(feed.tick());
  const auto known = [&](const char* name) {
    return history.find("mlx5_0/1")->latest.counters->get(name).has_value();
  };
  for (const double end = feed.t + 1000; feed.t < end;) {
    Snapshot snapshot = feed.tick();
    Counters& now = snapshot.ports["mlx5_0/1"].counters.emplace();
    now.set("port_rcv_data", 7);
    now.set("pause_rx_pause_frames", 9);
    snapshot.gaps = {{"mlx5_0/1", "ethtool_stats", "EIO"},
                     {"mlx5_0/1", "counters", "symbol_error: text \"N/A\""}};
    history.observe(snapshot);
  }
  EXPECT_FALSE(known("mac_FrameCheckSequenceErrors"));
  EXPECT_TRUE(known("pause_rx_pause_frames")) << "another question";
  EXPECT_FALSE(known("symbol_error")) << "one file of many";
  EXPECT_TRUE(known("port_rcv_data"));
}

}  // namespace
}  // namespace linkhealth
