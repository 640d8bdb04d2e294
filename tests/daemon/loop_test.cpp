#include "daemon/loop.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <optional>

#include "base/owned_fd.h"
#include "tests/support/manual_clock.h"
#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

/// A source without devices. poll() sends a signal to the process, which is blocked for the loop.
class TestSource : public Source {
 public:
  [[nodiscard]] std::vector<int> wake_fds() const override { return {-1}; }  // not open: ignored
  [[nodiscard]] RecordingHeader header() const override { return {}; }

 protected:
  static std::nullopt_t send(int signal) {
    kill(getpid(), signal);
    return std::nullopt;
  }
};

/// Runs until the source ends the loop. The alarm ends a test that has failed.
void run(Source& source, const LoopHooks& hooks = {}, const Clock& clock = testing::ManualClock()) {
  block_loop_signals();
  Engine engine({});
  alarm(60);
  EXPECT_TRUE(run_loop(source, engine, clock, hooks));
  alarm(0);
}

/// Its descriptors come and go: each poll that one of them causes goes on to the next.
class MovingSource : public TestSource {
 public:
  std::optional<Snapshot> poll() override {
    ++polls;
    eventfd_t count = 0;
    if (current) eventfd_read(current->get(), &count);
    if (polls > kPolls) return send(SIGTERM);
    previous = std::move(current);
    if (previous) eventfd_write(previous->get(), 1);  // stays readable, and is not watched any more
    current.emplace(eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
    return std::nullopt;
  }
  [[nodiscard]] std::optional<Milliseconds> until_due() const override { return std::nullopt; }
  [[nodiscard]] std::vector<int> wake_fds() const override {
    return current ? std::vector<int>{current->get()} : std::vector<int>();
  }

  static constexpr int kPolls = 20;
  int polls = 0;
  std::optional<OwnedFd> current, previous;
};

TEST(DaemonLoop, WatchesTheDescriptorsThatTheSourceHasNow) {
  MovingSource source;
  run(source);
  EXPECT_EQ(source.polls, MovingSource::kPolls + 1);
}

/// Due each millisecond; sends a SIGHUP each time, and SIGTERM at the end.
class SignallingSource : public TestSource {
 public:
  std::optional<Snapshot> poll() override { return send(++polls < kPolls ? SIGHUP : SIGTERM); }
  [[nodiscard]] std::optional<Milliseconds> until_due() const override { return Milliseconds(1); }

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
class TimedSource : public TestSource {
 public:
  std::optional<Snapshot> poll() override {
    eventfd_t count = 0;
    eventfd_read(news.get(), &count);
    if (++polls == kPolls) return send(SIGTERM);
    if (polls == kByNews - 1) eventfd_write(news.get(), 1);
    return Snapshot{};
  }
  /// While there is news nothing is due: the timer must not come first.
  [[nodiscard]] std::optional<Milliseconds> until_due() const override {
    return polls == kByNews - 1 ? std::nullopt : std::optional(Milliseconds(1));
  }
  [[nodiscard]] std::vector<int> wake_fds() const override { return {news.get()}; }

  static constexpr int kPolls = 5;
  static constexpr int kByNews = 3;
  OwnedFd news{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  int polls = 0;
};

TEST(DaemonLoop, MeasuresHowMuchLaterThanPlannedItWokeUp) {
  TimedSource source;
  testing::ManualClock clock;
  // The clock stands: each wake-up that was planned in a millisecond is 250 ms late.
  clock.spend(Microseconds(251'000));
  std::vector<double> lateness_s;
  LoopHooks hooks;
  hooks.on_step = [&](const Snapshot&, const Engine::Step&, double late_s) {
    lateness_s.push_back(late_s);
  };
  hooks.status = [] { return std::string(); };
  run(source, hooks, clock);
  ASSERT_EQ(lateness_s.size(), 4U);
  EXPECT_DOUBLE_EQ(lateness_s[0], 0) << "the start was not planned";
  EXPECT_DOUBLE_EQ(lateness_s[1], 0.25);
  EXPECT_DOUBLE_EQ(lateness_s[2], 0) << "news are not planned";
  EXPECT_DOUBLE_EQ(lateness_s[3], 0.25);
}

/// The service manager's socket, and what the loop sends there.
class ServiceManagerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path = directory.file("notify");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
    setenv("WATCHDOG_USEC", "30000000", 1);
  }
  void TearDown() override {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) unsetenv(name);
  }
  std::string notifications(pid_t watchdog_pid) {
    setenv("WATCHDOG_PID", std::to_string(watchdog_pid).c_str(), 1);
    TimedSource source;
    LoopHooks hooks;
    hooks.on_step = [](const auto&, const auto&, double) {};
    hooks.status = [] { return std::string("10 ports"); };
    run(source, hooks);
    std::string all;
    std::array<char, 256> bytes{};
    for (ssize_t size = 0;
         (size = recv(listener.get(), bytes.data(), bytes.size(), MSG_DONTWAIT)) >= 0;)
      all += std::string(bytes.data(), static_cast<std::size_t>(size)) + " ";
    return all;
  }

  test::TempDirectory directory;
  OwnedFd listener{socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

TEST_F(ServiceManagerTest, IsNotifiedOfTheStartTheStatusTheEndAndTheWatchdog) {
  EXPECT_EQ(notifications(getpid()), "STATUS=10 ports READY=1 WATCHDOG=1 STOPPING=1 ");
  EXPECT_EQ(notifications(1), "STATUS=10 ports READY=1 STOPPING=1 ")
      << "the watchdog of another process";
}

}  // namespace
}  // namespace linkhealth
