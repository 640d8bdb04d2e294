// A source's thread: nobody waits for it, one that hangs hinders no other and is named.
#include "daemon/sampling/peer_reader.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <functional>
#include <future>
#include <utility>

#include "daemon/sampling/far_ends.h"
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

/// The limit is only for a test that has failed.
bool wait_readable(int fd) {
  pollfd poll_fd{fd, POLLIN, 0};
  return poll(&poll_fd, 1, 30'000) == 1;
}
bool is_readable(int fd) {
  pollfd poll_fd{fd, POLLIN, 0};
  return poll(&poll_fd, 1, 0) == 1;
}

TEST(PeerReader, ReadsWhenItHasPortsAndWhenTheyChange) {
  ManualClock clock;
  PeerReader reader(std::make_unique<ScriptedProbe>("peer_lldp", one_for_each), clock);
  EXPECT_FALSE(reader.has_answered());
  EXPECT_FALSE(is_readable(reader.event_fd()));
  reader.set_ports({port_named("mlx5_0")});
  ASSERT_TRUE(wait_readable(reader.event_fd()));
  auto rounds = reader.take_finished();
  ASSERT_EQ(rounds.size(), 1U);
  ASSERT_EQ(rounds[0].readings.size(), 1U);
  EXPECT_EQ(rounds[0].readings[0].port, "mlx5_0/1");
  EXPECT_TRUE(reader.has_answered());
  EXPECT_FALSE(is_readable(reader.event_fd()));
  reader.set_ports({port_named("mlx5_0"), port_named("mlx5_1")});
  ASSERT_TRUE(wait_readable(reader.event_fd()));
  rounds = reader.take_finished();
  EXPECT_EQ(rounds.back().readings.size(), 2U);
}

TEST(PeerReader, ReadsAgainWhenItIsDue) {
  ManualClock clock;
  PeerReader reader(std::make_unique<ScriptedProbe>("peer_lldp", one_for_each), clock);
  reader.set_ports({port_named("mlx5_0")});
  ASSERT_TRUE(wait_readable(reader.event_fd()));
  const SteadyTime first = reader.take_finished().at(0).readings.at(0).read_at;
  clock.advance(Milliseconds(30'000));
  reader.set_ports({port_named("mlx5_0")});  // makes it look at the clock; the ports are the same
  ASSERT_TRUE(wait_readable(reader.event_fd()));
  EXPECT_EQ(reader.take_finished().at(0).readings.at(0).read_at, first + Milliseconds(30'000));
}

TEST(PeerReader, ASourceWithNothingToSayStillHasAnswered) {
  ManualClock clock;
  PeerReader reader(std::make_unique<ScriptedProbe>(
                        "import", [](auto, auto) { return std::vector<PeerReading>{}; }),
                    clock);
  reader.set_ports({});
  ASSERT_TRUE(wait_readable(reader.event_fd()));
  EXPECT_TRUE(reader.has_answered());
  EXPECT_TRUE(reader.take_finished().at(0).readings.empty());
}

/// The last port of its kind has gone, and other ports are still there: nothing is asked, and
/// nothing is missed.
TEST(PeerReaderFarEnds, AGapOfTheNodeEndsWithTheRoundThatSaysNothing) {
  ManualClock clock;
  std::vector<std::unique_ptr<PeerProbe>> probes;
  probes.push_back(std::make_unique<ScriptedProbe>("peer_mad", [](auto ports, auto) {
    std::vector<PeerReading> readings;
    if (ports.front().id.device == "mlx5_0")
      readings.emplace_back().gaps.push_back({"", "peer_mad", "load ib_umad"});
    return readings;
  }));
  FarEnds far_ends(std::move(probes), clock, {}, {});
  far_ends.set_ports({port_named("mlx5_0")});
  ASSERT_TRUE(wait_readable(far_ends.wake_fds().at(0)));
  far_ends.take(clock.steady());
  ASSERT_EQ(far_ends.reports(clock.steady()).size(), 1U);
  clock.advance(PeerReader::kShortestPause);
  far_ends.set_ports({port_named("eth0")});
  ASSERT_TRUE(wait_readable(far_ends.wake_fds().at(0)));
  far_ends.take(clock.steady());
  EXPECT_TRUE(far_ends.reports(clock.steady()).empty());
}

/// A read that hangs until the test lets go.
struct Hanging {
  std::shared_ptr<std::promise<void>> entered = std::make_shared<std::promise<void>>();
  std::shared_ptr<std::promise<void>> release = std::make_shared<std::promise<void>>();
  std::shared_ptr<std::promise<void>> left = std::make_shared<std::promise<void>>();
  [[nodiscard]] std::unique_ptr<PeerProbe> probe(const std::string& name) const {
    const std::shared_future<void> released = release->get_future().share();
    return std::make_unique<ScriptedProbe>(
        name, [entered = entered, left = left, released](auto, auto) -> std::vector<PeerReading> {
          entered->set_value();
          released.wait();
          left->set_value();
          return {};
        });
  }
};

TEST(PeerReader, AReadThatHangsIsNamedAndLeftBehind) {
  static ManualClock kept;  // outlives the thread that is left behind, which looks at it once more
  ManualClock* const clock = &kept;
  const Hanging hanging;
  {
    PeerReader reader(hanging.probe("peer_mad"), *clock);
    reader.set_ports({port_named("mlx5_0")});
    hanging.entered->get_future().wait();
    const SteadyTime begun = clock->steady();
    clock->advance(Milliseconds(60'000));
    EXPECT_EQ(reader.busy_since(), begun);
    EXPECT_TRUE(reader.take_finished().empty());
    EXPECT_FALSE(reader.has_answered());
  }  // ends though the read has not
  hanging.release->set_value();
  hanging.left->get_future().wait();
}

TEST(PeerReader, StopsAtOnceWhenNothingIsGoingOn) {
  ManualClock clock;
  PeerReader never_used(std::make_unique<ScriptedProbe>("peer_lldp", one_for_each), clock);
  EXPECT_FALSE(never_used.busy_since());
}

TEST(PeerReaderFarEnds, ASourceThatHangsHindersNoOtherAndIsNamed) {
  static ManualClock kept;
  ManualClock* const clock = &kept;
  const Hanging hanging;
  {
    std::vector<std::unique_ptr<PeerProbe>> probes;
    probes.push_back(hanging.probe("peer_mad"));
    probes.push_back(std::make_unique<ScriptedProbe>("peer_lldp", one_for_each));
    FarEnds far_ends(std::move(probes), *clock, {}, {});
    InventoryPort exempt = port_named("mlx5_9");
    exempt.exempt_reason = "management port";
    far_ends.set_ports({port_named("mlx5_0"), exempt});
    hanging.entered->get_future().wait();
    ASSERT_TRUE(wait_readable(far_ends.wake_fds().at(1)));
    FarEnds::News news = far_ends.take(clock->steady());
    ASSERT_EQ(news.ports.size(), 1U) << "the exempt port is not asked about";
    EXPECT_EQ(news.ports.at("mlx5_0/1").peer->system, "leaf-of-mlx5_0");
    EXPECT_EQ(news.timings.at(0).probe, "peer_lldp");
    EXPECT_FALSE(far_ends.settled());
    EXPECT_TRUE(far_ends.reports(clock->steady()).empty());
    clock->advance(FarEndTiming{}.patience);
    far_ends.take(clock->steady());
    const SourceReports reports = far_ends.reports(clock->steady());
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports.at(SourceId::kPeerMad).reason, "no answer within 30 s");
  }
  hanging.release->set_value();
  hanging.left->get_future().wait();
}

}  // namespace
}  // namespace linkhealth
