#include "daemon/loop.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <thread>

#include "probes/kernel_socket.h"
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

/// Asks for a descriptor that is not open, and to be polled by time.
class ClosedSource : public Source {
 public:
  std::optional<Snapshot> poll() override {
    kill(getpid(), ++polls < kPolls ? SIGHUP : SIGTERM);  // blocked, and taken by the loop
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
  ClosedSource source;
  LoopHooks hooks;
  int reloads = 0;
  hooks.on_reload = [&reloads] { ++reloads; };
  run(source, hooks);
  EXPECT_EQ(source.polls, ClosedSource::kPolls);
  EXPECT_EQ(reloads, ClosedSource::kPolls - 1);
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

/// Wants a read with each poll until it ends the loop, after so many polls and not before
/// `may_end`.
class ReadingSource : public Source {
 public:
  std::optional<Snapshot> poll() override {
    ++polls;
    deciding.insert(std::this_thread::get_id());
    if (reader == std::this_thread::get_id())
      reader.reset();  // back, and the loop knows it: not before it has the turn
    if (!ended && polls >= kEnd && (!may_end || may_end())) {
      ended = true;
      kill(getpid(), SIGTERM);
    }
    wanted = !reader && !ended;
    return std::nullopt;
  }
  [[nodiscard]] std::optional<Milliseconds> until_due() const override { return Milliseconds(1); }
  [[nodiscard]] std::vector<int> wake_fds() const override { return {}; }
  [[nodiscard]] RecordingHeader header() const override { return {}; }
  [[nodiscard]] bool wants_thread() const override { return wanted; }
  std::function<void()> work() override {
    wanted = false;
    away = true;
    reader = std::this_thread::get_id();
    return [this, hangs = hang] {
      reading.insert(std::this_thread::get_id());
      hangs.wait();
      away = false;
    };
  }

  static constexpr int kEnd = 50;
  int polls = 0;
  bool wanted = false;
  std::atomic<bool> away = false;         ///< the read itself
  std::optional<std::thread::id> reader;  ///< who is away for the loop, under its lock
  bool ended = false;
  std::function<bool()> may_end;
  std::shared_future<void> hang;  ///< what a read waits for
  std::set<std::thread::id> deciding, reading;
};

TEST(DaemonLoop, OneThreadReadsAndDecidesAndNoneIsWokenForIt) {
  ReadingSource source;
  std::promise<void> at_once;
  at_once.set_value();
  source.hang = at_once.get_future().share();
  run(source);
  while (source.away) std::this_thread::yield();  // the end waits for a read, but not for ever
  EXPECT_FALSE(source.reading.contains(std::this_thread::get_id()))
      << "the main thread must be there to end it all";
  EXPECT_LE(source.reading.size(), 2U);
  EXPECT_GE(source.polls, ReadingSource::kEnd);
}

/// Work beside the source's: wanted again as soon as it was done, until it hangs for ever with the
/// kHangs-th.
struct OtherWork {
  static constexpr int kHangs = 3;
  std::promise<void> never;
  std::shared_future<void> hang{never.get_future().share()};
  std::atomic<int> begun = 0;
  std::atomic<bool> busy = false;

  void put(LoopHooks& hooks) {
    hooks.wants_thread = [this] { return !busy; };
    hooks.work = [this] {
      busy = true;
      return [this] {
        if (++begun == kHangs) hang.wait();
        busy = false;
      };
    };
  }
};

TEST(DaemonLoop, OtherWorkGoesWithTheLoopAndMayHangToo) {
  ReadingSource source;  // wants to read all the time, and still the other work has its turn
  std::promise<void> at_once;
  at_once.set_value();
  source.hang = at_once.get_future().share();
  OtherWork other;
  LoopHooks hooks;
  other.put(hooks);
  source.may_end = [&other] { return other.begun == OtherWork::kHangs; };
  run(source, hooks);
  EXPECT_EQ(other.begun, OtherWork::kHangs);
  EXPECT_GE(source.polls, ReadingSource::kEnd) << "reads go on";
  other.never.set_value();
  while (source.away || other.busy) std::this_thread::yield();
}

TEST(DaemonLoop, AReadThatHangsStopsNeitherTheLoopNorItsEnd) {
  std::promise<void> never;
  auto source = std::make_unique<ReadingSource>();
  source->hang = never.get_future().share();
  run(*source);
  EXPECT_GE(source->polls, ReadingSource::kEnd);
  ASSERT_EQ(source->deciding.size(), 2U)
      << "the main thread's first poll, and who took the place of the one that hangs";
  never.set_value();
  while (source->away)
    std::this_thread::yield();  // it goes without a look at the loop, which is no more
  ASSERT_EQ(source->reading.size(), 1U);
  EXPECT_FALSE(source->deciding.contains(*source->reading.begin()));
}

/// Somebody who asks: each ask() is a request, which serve() answers.
struct Asker {
  OwnedFd asked{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::atomic<int> served = 0;
  std::function<void()> on_serve;
  bool answers = true;

  void ask() const { eventfd_write(asked.get(), 1); }
  void put(LoopHooks& hooks) {
    hooks.requests_fd = asked.get();
    hooks.serve_requests = [this] {
      eventfd_t count = 0;
      eventfd_read(asked.get(), &count);
      ++served;
      if (on_serve) on_serve();
      return answers;
    };
  }
};

/// Never due by itself. Its poll number `at_poll` does what a test wants.
class QuietSource : public Source {
 public:
  std::optional<Snapshot> poll() override {
    if (++polls == at_poll && act) act();
    return std::nullopt;
  }
  bool hasten(Milliseconds slack) override {
    slacks.push_back(slack);
    return true;
  }
  [[nodiscard]] std::optional<Milliseconds> until_due() const override { return std::nullopt; }
  [[nodiscard]] std::vector<int> wake_fds() const override { return {news.get()}; }
  [[nodiscard]] RecordingHeader header() const override { return {}; }
  [[nodiscard]] bool wants_thread() const override { return wants_read; }
  std::function<void()> work() override {
    wants_read = false;
    return [this] {
      if (read) read();
    };
  }

  OwnedFd news{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::atomic<int> polls = 0;
  int at_poll = 0;
  std::function<void()> act, read;
  bool wants_read = false;
  std::vector<Milliseconds> slacks;
};

TEST(DaemonLoop, WhoeverAnswersMakesTheNextSampleInTheSameWakeUp) {
  QuietSource source;
  Asker asker;
  std::set<std::thread::id> serving, polling;
  asker.on_serve = [&] { serving.insert(std::this_thread::get_id()); };
  source.at_poll = 2;  // the first is that of the start
  source.act = [&] {
    polling.insert(std::this_thread::get_id());
    kill(getpid(), SIGTERM);
  };
  LoopHooks hooks;
  asker.put(hooks);
  asker.ask();
  run(source, hooks);
  EXPECT_EQ(asker.served, 1);
  EXPECT_EQ(source.slacks, std::vector<Milliseconds>{Milliseconds(1'000)});
  EXPECT_EQ(serving, polling);
}

TEST(DaemonLoop, WhereNobodyWasAnsweredNothingIsHastened) {
  QuietSource source;
  Asker asker;
  asker.answers = false;  // a connection came, or went
  asker.on_serve = [&] {
    if (asker.served < 5) {
      asker.ask();
    } else {
      kill(getpid(), SIGTERM);
    }
  };
  LoopHooks hooks;
  asker.put(hooks);
  asker.ask();
  run(source, hooks);
  EXPECT_EQ(asker.served, 5);
  EXPECT_EQ(source.polls, 1) << "that of the start";
  EXPECT_TRUE(source.slacks.empty());
}

TEST(DaemonLoop, WhoAsksIsAnsweredWhileAnotherThreadDecides) {
  QuietSource source;
  Asker asker;
  asker.answers = false;  // so that who serves goes back to wait, with no use for the turn
  const auto ask_and_wait = [&asker] {
    const int before = asker.served;
    asker.ask();
    while (asker.served == before) std::this_thread::yield();
  };
  source.wants_read = true;
  source.read = ask_and_wait;  // from then on there is one who waits
  source.at_poll = 2;          // after that read, with the turn
  source.act = [&] {
    ask_and_wait();
    eventfd_write(source.news.get(), 1);  // from now on the other one wants the turn, too
    ask_and_wait();
    ask_and_wait();
    kill(getpid(), SIGTERM);
  };
  LoopHooks hooks;
  asker.put(hooks);
  run(source, hooks);
  EXPECT_EQ(asker.served, 4);
}

TEST(DaemonLoop, WhileAReadHangsWhoAsksIsAnsweredAndTheNextSampleMade) {
  QuietSource source;
  Asker asker;
  std::atomic<bool> back = false;
  source.wants_read = true;
  source.read = [&] {
    asker.ask();
    while (source.polls < 2) std::this_thread::yield();
    back = true;
  };
  source.at_poll = 3;  // for what the read gave
  source.act = [] { kill(getpid(), SIGTERM); };
  LoopHooks hooks;
  asker.put(hooks);
  run(source, hooks);
  EXPECT_TRUE(back);
  EXPECT_EQ(asker.served, 1);
}

}  // namespace
}  // namespace linkhealth
