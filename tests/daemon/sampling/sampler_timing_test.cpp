// What the sampler says of its own time: how long its probes take, and that its periods are held.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <thread>

#include "tests/daemon/sampling/sampler_fixture.h"

namespace linkhealth {
namespace {

class DaemonSamplerTiming : public testing::SamplerFixture {
 protected:
  /// The timing of a probe in the next snapshot that has something of it.
  static double duration_s(const Snapshot& snapshot, std::string_view probe) {
    for (const ProbeTiming& timing : snapshot.timings)
      if (timing.probe == probe) return timing.duration_s;
    ADD_FAILURE() << "no timing of " << probe;
    return -1;
  }
};

TEST_F(DaemonSamplerTiming, AProbesDurationIsThatOfItsReadsOfAllPorts) {
  start();
  settle();
  // Two cards, each with one such file: 137 µs each, which a clock of milliseconds does not show.
  shared->on_read([this, decides = std::this_thread::get_id()](const std::string& path) {
    if (std::this_thread::get_id() != decides) return;
    if (path.ends_with("/net/ens1np0/carrier_down_count") ||
        path.ends_with("/net/ens2np0/carrier_down_count"))
      clock.spend(Microseconds(137));
  });
  set(first.netdev_dir() + "/carrier_down_count", "3");
  clock.advance(settings.link_period);
  const auto links = sampler->poll();
  ASSERT_TRUE(links);
  EXPECT_DOUBLE_EQ(duration_s(*links, "link"), 0.000274);
  shared->on_read([this](const std::string& path) {
    if (path.ends_with("mlx5_0/ports/1/hw_counters/out_of_sequence"))
      clock.spend(Microseconds(2'500));
  });
  clock.advance(settings.counters_period);
  // The two cards' readings may come with two polls.
  double most_s = 0;
  const auto poll_once = [&] {
    if (const auto snapshot = sampler->poll())
      most_s = std::max(most_s, duration_s(*snapshot, "counters"));
  };
  for (poll_once(); !sampler->settled(); poll_once()) wait();
  poll_once();
  EXPECT_DOUBLE_EQ(most_s, 0.0025);
}

/// Whatever hangs meanwhile: a read that waits for a lock or a device is the worker's.
TEST_F(DaemonSamplerTiming, ASecondIsASecondAlsoWhileAReadHangs) {
  start();
  settle();
  for (const char* hangs : {"", "/counters/"}) {
    shared->hang(hangs);
    std::set<SteadyTime> read_at;
    // The worker reads the same file with the counters, on its own thread.
    shared->on_read(
        [this, &read_at, decides = std::this_thread::get_id()](const std::string& path) {
          if (std::this_thread::get_id() == decides &&
              path.ends_with("/net/ens1np0/carrier_down_count"))
            read_at.insert(clock.steady());
        });
    const SteadyTime begun = clock.steady();
    const SteadyTime end = begun + 60 * settings.link_period;
    for (int polls = 0; clock.steady() < end && polls < 1'000; ++polls) {
      clock.advance(*sampler->until_due());
      sampler->poll();
    }
    EXPECT_EQ(clock.steady(), end) << "it never wants to be woken between two seconds";
    EXPECT_GE(read_at.size(), 60U) << hangs;
    shared->on_read({});
  }
}

}  // namespace
}  // namespace linkhealth
