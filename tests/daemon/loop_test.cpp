#include "daemon/loop.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <csignal>

#include "probes/kernel_socket.h"
#include "tests/support/manual_clock.h"

namespace linkhealth {
namespace {

/// A source whose descriptors come and go: each poll that one of them causes goes on to the next.
class MovingSource : public Source {
 public:
  std::optional<Snapshot> poll() override {
    ++polls;
    eventfd_t count = 0;
    if (current) eventfd_read(current->get(), &count);
    if (polls > kPolls) {
      raise(SIGTERM);  // blocked, and taken by the loop
      return std::nullopt;
    }
    previous = std::move(current);
    if (previous) eventfd_write(previous->get(), 1);  // readable for ever, and not asked for any more
    current.emplace(eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
    return std::nullopt;
  }
  [[nodiscard]] std::optional<Milliseconds> until_due() const override { return std::nullopt; }
  [[nodiscard]] std::vector<int> wake_fds() const override {
    return current ? std::vector<int>{current->get()} : std::vector<int>();
  }
  [[nodiscard]] RecordingHeader header() const override { return {}; }

  static constexpr int kPolls = 20;
  int polls = 0;
  std::optional<OwnedFd> current, previous;
};

TEST(DaemonLoop, WatchesWhatTheSourceAsksForNow) {
  block_loop_signals();
  MovingSource source;
  Engine engine({});
  const testing::ManualClock clock;
  const LoopHooks hooks;
  alarm(60);  // a loop that misses a new descriptor would wait for ever
  ASSERT_TRUE(run_loop(source, engine, clock, hooks));
  alarm(0);
  EXPECT_EQ(source.polls, MovingSource::kPolls + 1);
}

/// Asks for a descriptor that is not open, and to be polled by time.
class ClosedSource : public Source {
 public:
  std::optional<Snapshot> poll() override {
    raise(++polls < kPolls ? SIGHUP : SIGTERM);
    return std::nullopt;
  }
  [[nodiscard]] std::optional<Milliseconds> until_due() const override { return Milliseconds(1); }
  [[nodiscard]] std::vector<int> wake_fds() const override { return {kClosed}; }
  [[nodiscard]] RecordingHeader header() const override { return {}; }

  static constexpr int kPolls = 5;
  static constexpr int kClosed = 1'000'000;  // above every limit
  int polls = 0;
};

TEST(DaemonLoop, ADescriptorThatIsNotOpenLeavesTheTimer) {
  block_loop_signals();
  ClosedSource source;
  Engine engine({});
  const testing::ManualClock clock;
  LoopHooks hooks;
  int reloads = 0;
  hooks.on_reload = [&reloads] { ++reloads; };
  alarm(60);
  ASSERT_TRUE(run_loop(source, engine, clock, hooks));
  alarm(0);
  EXPECT_EQ(source.polls, ClosedSource::kPolls);
  EXPECT_EQ(reloads, ClosedSource::kPolls - 1);
}

}  // namespace
}  // namespace linkhealth
