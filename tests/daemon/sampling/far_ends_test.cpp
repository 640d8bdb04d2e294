// The sources of far-end knowledge: when they are read, and that one that hangs delays no other.
#include "daemon/sampling/far_ends.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <functional>
#include <future>
#include <utility>

#include "tests/support/manual_clock.h"

namespace linkhealth {
namespace {

using testing::ManualClock;

class ScriptedProbe final : public PeerProbe {
 public:
  using Read = std::function<std::vector<PeerReading>(std::span<const InventoryPort>, SteadyTime)>;
  ScriptedProbe(std::string name, Read read) : name_(std::move(name)), read_(std::move(read)) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  std::vector<PeerReading> read(std::span<const InventoryPort> ports, SteadyTime now) override {
    due_ = now + Milliseconds(30'000);
    return read_(ports, now);
  }
  [[nodiscard]] SteadyTime next_due(SteadyTime /*now*/) const override { return due_; }

 private:
  std::string name_;
  Read read_;
  SteadyTime due_;
};

InventoryPort port_named(const std::string& device) {
  InventoryPort port;
  port.id.device = device;
  port.id.port = 1;
  return port;
}

std::vector<PeerReading> one_for_each(std::span<const InventoryPort> ports, SteadyTime now) {
  std::vector<PeerReading> readings;
  for (const InventoryPort& port : ports) {
    PeerReading& reading = readings.emplace_back();
    reading.port = port.id.key();
    reading.read_at = now;
    reading.answered = true;
    reading.peer.emplace();
    reading.peer->source = "lldp";
    reading.peer->system = "leaf-of-" + port.id.device;
  }
  return readings;
}

class FarEndsTest : public ::testing::Test {
 protected:
  void add(const std::string& name, ScriptedProbe::Read read = one_for_each) {
    probes.push_back(std::make_unique<ScriptedProbe>(name, std::move(read)));
  }
  FarEnds& start() { return far_ends.emplace(std::move(probes), clock, FarEndTiming{}, plan); }
  /// Starts what is due and waits for the end of a round of the source. The limit is only for a
  /// test that has failed.
  FarEnds::News next_round(std::size_t source = 0) {
    FarEnds::News news = far_ends->poll();
    pollfd wanted{far_ends->wake_fds().at(source), POLLIN, 0};
    EXPECT_EQ(poll(&wanted, 1, 30'000), 1);
    return far_ends->poll();
  }
  [[nodiscard]] bool is_idle() {
    far_ends->poll();
    pollfd wanted{far_ends->wake_fds().at(0), POLLIN, 0};
    return poll(&wanted, 1, 0) == 0;
  }

  ManualClock clock;
  std::vector<std::unique_ptr<PeerProbe>> probes;
  ExpectedPorts plan;
  std::optional<FarEnds> far_ends;
};

TEST_F(FarEndsTest, ASourceIsReadWhenPortsAreKnownWhenTheyChangeAndWhenItIsDue) {
  add("peer_lldp");
  start();
  EXPECT_TRUE(is_idle());
  EXPECT_FALSE(far_ends->next_due());
  far_ends->set_ports({port_named("mlx5_0")});
  EXPECT_EQ(next_round().ports.size(), 1U);
  EXPECT_TRUE(far_ends->settled());
  EXPECT_TRUE(is_idle());
  far_ends->set_ports({port_named("mlx5_0"), port_named("mlx5_1")});
  EXPECT_EQ(next_round().ports.size(), 1U) << "the new one";
  far_ends->set_ports({port_named("mlx5_0"), port_named("mlx5_1")});
  EXPECT_TRUE(is_idle()) << "the same ports";
  EXPECT_EQ(far_ends->next_due(), clock.steady() + Milliseconds(30'000));
  clock.advance(Milliseconds(30'000));
  EXPECT_EQ(next_round().timings.size(), 1U);
}

TEST_F(FarEndsTest, ASourceWithoutReadingsHasAnswered) {
  add("import", [](auto, auto) { return std::vector<PeerReading>{}; });
  start().set_ports({});
  EXPECT_FALSE(far_ends->settled());
  EXPECT_TRUE(next_round().ports.empty());
  EXPECT_TRUE(far_ends->settled());
}

/// The last port of its kind has gone: the source has nothing to read, and no gap.
TEST_F(FarEndsTest, AGapOfTheNodeEndsWithTheRoundThatDoesNotHaveIt) {
  add("peer_mad", [](auto ports, auto) {
    std::vector<PeerReading> readings;
    if (ports.front().id.device == "mlx5_0")
      readings.emplace_back().gaps.push_back({"", "peer_mad", "load ib_umad"});
    return readings;
  });
  start().set_ports({port_named("mlx5_0")});
  next_round();
  EXPECT_EQ(far_ends->reports().size(), 1U);
  far_ends->set_ports({port_named("eth0")});
  next_round();
  EXPECT_TRUE(far_ends->reports().empty());
}

TEST_F(FarEndsTest, ThePlanNamesAPortByItsPciAddressToo) {
  plan.expected["0000:1b:00.0"].peer_system = "leaf-9";
  InventoryPort port = port_named("mlx5_0");
  port.id.verbs = true;
  port.id.pci = "0000:1b:00.0";
  start().set_ports({port});
  const FarEnds::News news = far_ends->poll();
  ASSERT_TRUE(news.ports.at("mlx5_0/1").peer);
  EXPECT_EQ(news.ports.at("mlx5_0/1").peer->system, "leaf-9");
}

TEST_F(FarEndsTest, ASourceThatHangsIsReportedDelaysNoOtherAndIsLeftBehind) {
  std::promise<void> entered, release;
  const auto left = std::make_shared<std::promise<void>>();
  const auto released = release.get_future().share();
  add("peer_mad", [&entered, left, released](auto, auto) -> std::vector<PeerReading> {
    entered.set_value();
    released.wait();
    left->set_value();
    return {};
  });
  add("peer_lldp");
  InventoryPort exempt = port_named("mlx5_9");
  exempt.exempt_reason = "management port";
  start().set_ports({port_named("mlx5_0"), exempt});
  const FarEnds::News news = next_round(1);
  entered.get_future().wait();
  ASSERT_EQ(news.ports.size(), 1U) << "the exempt port has no far end";
  EXPECT_EQ(news.ports.at("mlx5_0/1").peer->system, "leaf-of-mlx5_0");
  EXPECT_EQ(news.timings.at(0).probe, "peer_lldp");
  EXPECT_FALSE(far_ends->settled());
  EXPECT_TRUE(far_ends->reports().empty());
  clock.advance(FarEndTiming{}.patience);
  far_ends->poll();
  const SourceReports reports = far_ends->reports();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports.at(SourceId::kPeerMad).reason, "no answer within 30 s");
  far_ends.reset();  // ends though the read has not
  release.set_value();
  left->get_future().wait();
}

}  // namespace
}  // namespace linkhealth
