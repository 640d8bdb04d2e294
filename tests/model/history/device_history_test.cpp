// PCIe errors and fatal errors of a card.
#include <gtest/gtest.h>

#include "tests/model/history/one_port.h"

namespace linkhealth {
namespace {

struct Card : OnePort {
  void read_aer(std::optional<std::uint64_t> correctable, std::optional<std::uint64_t> nonfatal) {
    read([&](PortSample& sample) {
      sample.pcie.emplace();
      sample.pcie->aer_correctable = correctable;
      sample.pcie->aer_nonfatal = nonfatal;
    });
  }
  [[nodiscard]] double grown() const {
    const auto& errors = port().device.pcie_errors;
    return errors.empty() ? 0 : errors.back().second - errors.front().second;
  }
};

TEST(PcieErrors, OfAnIncompleteReadingDoNotCountTwice) {
  Card card;
  card.read_aer(5, 40);
  card.read_aer(5, {});
  EXPECT_EQ(card.grown(), 0);
  card.read_aer(5, 40);
  EXPECT_EQ(card.grown(), 0) << "one failed read is no 40 errors";
  card.read_aer(7, 41);
  EXPECT_EQ(card.grown(), 2 + 100) << "what cannot be corrected counts a hundred times";
}

TEST(PcieErrors, OfALaterFirstReadingAreOld) {
  Card card;
  card.read_aer(5, {});
  card.read_aer(5, 40);
  EXPECT_EQ(card.grown(), 0);
  card.read_aer(6, 40);
  EXPECT_EQ(card.grown(), 1);
}

/// A card that comes back counts from zero, and may have more by the next reading than it had
/// before.
TEST(PcieErrors, OfACardThatWasAddedAgainAreOld) {
  Card card;
  card.read_aer(3, 0);
  card.feed.event(PortEventKind::kDeviceAdded, card.feed.t + 1);
  card.run(1);
  card.read_aer(40, 0);
  EXPECT_EQ(card.grown(), 0);
  card.read_aer(41, 0);
  EXPECT_EQ(card.grown(), 1);
}

// InfiniBand's agent counts no corrected bits, and an idle port no data.
TEST(FatalErrors, EndWhereTheFirmwareAnswersThoughThePortIsIdle) {
  for (const bool answers : {true, false}) {
    Card card;
    card.feed.be_infiniband();
    card.feed.bits_per_s = 0;
    card.feed.counters = Counters();
    card.feed.counters.set(answers ? "symbol_error" : "netdev_rx_packets", 1000);
    card.run(1);
    card.feed.event(PortEventKind::kDeviceFatal, card.feed.t + 1);
    card.run(50);
    EXPECT_TRUE(card.port().device.fatal_at) << "for ten minutes anything may be";
    card.run(50);
    EXPECT_EQ(card.port().device.fatal_at.has_value(), !answers);
  }
}

}  // namespace
}  // namespace linkhealth
