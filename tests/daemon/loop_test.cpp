#include "daemon/loop.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <csignal>
#include <optional>

#include "base/owned_fd.h"
#include "tests/support/manual_clock.h"

namespace linkhealth {
namespace {

/// Until the source ends the loop. One that misses what it waits for would wait for ever.
void run(Source& source, const LoopHooks& hooks = {}) {
  block_loop_signals();
  Engine engine({});
  const testing::ManualClock clock;
  alarm(60);
  EXPECT_TRUE(run_loop(source, engine, clock, hooks));
  alarm(0);
}

/// A source whose descriptors come and go: each poll that one of them causes goes on to the next.
class MovingSource : public Source {
 public:
  std::optional<Snapshot> poll() override {
    ++polls;
    eventfd_t count = 0;
    if (current) eventfd_read(current->get(), &count);
    if (polls > kPolls) {
      kill(getpid(), SIGTERM);  // blocked, and taken by the loop
      return std::nullopt;
    }
    previous = std::move(current);
    if (previous)
      eventfd_write(previous->get(), 1);  // readable for ever, and not asked for any more
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
  MovingSource source;
  run(source);
  EXPECT_EQ(source.polls, MovingSource::kPolls + 1);
}

/// Due each millisecond; sends itself a SIGHUP each time, and SIGTERM at the end.
class SignallingSource : public Source {
 public:
  std::optional<Snapshot> poll() override {
    kill(getpid(), ++polls < kPolls ? SIGHUP : SIGTERM);  // blocked, and taken by the loop
    return std::nullopt;
  }
  [[nodiscard]] std::optional<Milliseconds> until_due() const override { return Milliseconds(1); }
  [[nodiscard]] std::vector<int> wake_fds() const override { return {-1}; }  // not open: ignored
  [[nodiscard]] RecordingHeader header() const override { return {}; }

  static constexpr int kPolls = 5;
  int polls = 0;
};

TEST(DaemonLoop, ReloadsAndEndsBySignals) {
  SignallingSource source;
  LoopHooks hooks;
  int reloads = 0;
  hooks.on_reload = [&reloads] { ++reloads; };
  run(source, hooks);
  EXPECT_EQ(source.polls, SignallingSource::kPolls);
  EXPECT_EQ(reloads, SignallingSource::kPolls - 1);
}

/// Due each millisecond, and by a descriptor in between.
class TimedSource : public Source {
 public:
  std::optional<Snapshot> poll() override {
    eventfd_t count = 0;
    eventfd_read(news.get(), &count);
    if (++polls == kPolls) {
      kill(getpid(), SIGTERM);
      return std::nullopt;
    }
    if (polls == kByNews - 1) eventfd_write(news.get(), 1);
    return Snapshot{};
  }
  /// While there are news nothing is due: the timer must not come first.
  [[nodiscard]] std::optional<Milliseconds> until_due() const override {
    return polls == kByNews - 1 ? std::nullopt : std::optional(Milliseconds(1));
  }
  [[nodiscard]] std::vector<int> wake_fds() const override { return {news.get()}; }
  [[nodiscard]] RecordingHeader header() const override { return {}; }

  static constexpr int kPolls = 5;
  static constexpr int kByNews = 3;
  OwnedFd news{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  int polls = 0;
};

TEST(DaemonLoop, TellsHowMuchLaterThanPlannedItCame) {
  block_loop_signals();
  TimedSource source;
  Engine engine({});
  testing::ManualClock clock;
  clock.spend(Microseconds(
      251'000));  // it stands: each wake-up that was planned in a millisecond is 250 ms late
  std::vector<double> lateness_s;
  LoopHooks hooks;
  hooks.on_step = [&](const Snapshot&, const Engine::Step&, double late_s) {
    lateness_s.push_back(late_s);
  };
  hooks.status = [] { return std::string(); };
  alarm(60);
  EXPECT_TRUE(run_loop(source, engine, clock, hooks));
  alarm(0);
  ASSERT_EQ(lateness_s.size(), 4U);
  EXPECT_DOUBLE_EQ(lateness_s[0], 0) << "the start was not planned";
  EXPECT_DOUBLE_EQ(lateness_s[1], 0.25);
  EXPECT_DOUBLE_EQ(lateness_s[2], 0) << "news come when they come";
  EXPECT_DOUBLE_EQ(lateness_s[3], 0.25);
}

}  // namespace
}  // namespace linkhealth
