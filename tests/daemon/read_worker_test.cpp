#include "daemon/read_worker.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

#include "tests/support/manual_clock.h"

namespace linkhealth {
namespace {

using testing::ManualClock;

constexpr Milliseconds kPatience{5'000};

void wait_readable(int fd) {
  pollfd wanted{fd, POLLIN, 0};
  ASSERT_EQ(poll(&wanted, 1, 60'000), 1);
}

ReadWorker::Job job(const PortKey& port, std::function<void()> work) {
  return {port, ReadGroup::kCounters, [port, work = std::move(work)] {
            work();
            Reading reading;
            reading.port = port;
            return reading;
          }};
}

TEST(DaemonReadWorker, HandsOverABatchWhenTheQueueIsEmpty) {
  ManualClock clock;
  ReadWorker worker(clock, kPatience);
  std::promise<void> go;
  const std::shared_future<void> gone = go.get_future().share();
  worker.submit(job("a/1", [gone] { gone.wait(); }));
  worker.submit(job("b/1", [] {}));
  EXPECT_TRUE(worker.is_out("b/1", ReadGroup::kCounters));
  EXPECT_FALSE(worker.idle());
  go.set_value();
  wait_readable(worker.event_fd());
  EXPECT_FALSE(worker.idle()) << "who leaves now would leave the readings behind";
  const auto readings = worker.take_finished();
  EXPECT_TRUE(worker.idle());
  ASSERT_EQ(readings.size(), 2U);
  EXPECT_EQ(readings[0].port, "a/1");
  EXPECT_EQ(readings[1].port, "b/1");
  EXPECT_FALSE(worker.is_out("b/1", ReadGroup::kCounters));
}

TEST(DaemonReadWorker, TellsHowLongAReadTookAlsoBelowAMillisecond) {
  struct FineClock : ManualClock {
    [[nodiscard]] Microseconds fine() const override { return ManualClock::fine() + now; }
    Microseconds now{0};
  } clock;
  ReadWorker worker(clock, kPatience);
  worker.submit(job("a/1", [&clock] { clock.now += Microseconds(137); }));
  wait_readable(worker.event_fd());
  const auto readings = worker.take_finished();
  ASSERT_EQ(readings.size(), 1U);
  EXPECT_DOUBLE_EQ(readings[0].duration_s, 0.000137);
}

TEST(DaemonReadWorker, TellsOfABatchOnceWhenAllOfItIsDone) {
  ManualClock clock;
  ReadWorker worker(clock, kPatience);
  std::promise<void> second;
  std::promise<void> go;
  const std::shared_future<void> gone = go.get_future().share();
  std::vector<ReadWorker::Job> batch;
  batch.push_back(job("a/1", [] {}));
  batch.push_back(job("b/1", [&second, gone] {
    second.set_value();
    gone.wait();
  }));
  worker.submit(std::move(batch));
  second.get_future().wait();
  pollfd event{worker.event_fd(), POLLIN, 0};
  EXPECT_EQ(poll(&event, 1, 0), 0) << "a/1 is done, and the batch is not";
  go.set_value();
  wait_readable(worker.event_fd());
  EXPECT_EQ(worker.take_finished().size(), 2U);
  EXPECT_EQ(poll(&event, 1, 0), 0);
}

TEST(DaemonReadWorker, AReadThatHangsIsNamedAndTheOthersGoOn) {
  ManualClock clock;
  ReadWorker worker(clock, kPatience);
  std::promise<void> started;
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  worker.submit(job("hung/1", [&started, released] {
    started.set_value();
    released.wait();
  }));
  worker.submit(job("hung/1", [] {}));
  worker.submit(job("good/1", [] {}));
  started.get_future().wait();
  EXPECT_TRUE(worker.check_stuck().empty());
  clock.advance(kPatience);
  const auto stuck = worker.check_stuck();
  ASSERT_EQ(stuck.size(), 1U);
  EXPECT_EQ(stuck[0].port, "hung/1");
  wait_readable(worker.event_fd());
  auto readings = worker.take_finished();
  ASSERT_EQ(readings.size(), 1U);
  EXPECT_EQ(readings[0].port, "good/1")
      << "the hung port's other job is dropped, not run beside it";
  EXPECT_TRUE(worker.is_out("hung/1", ReadGroup::kPcie)) << "nothing of a hung port is queued";
  EXPECT_EQ(worker.check_stuck().size(), 1U)
      << "still named, and no further thread is started for it";

  release.set_value();
  wait_readable(worker.event_fd());
  readings = worker.take_finished();
  ASSERT_EQ(readings.size(), 1U);
  EXPECT_EQ(readings[0].port, "hung/1");
  EXPECT_TRUE(worker.check_stuck().empty());
  EXPECT_FALSE(worker.is_out("hung/1", ReadGroup::kCounters));
}

TEST(DaemonReadWorker, AnotherGroupOfAPortThatIsBeingReadIsQueued) {
  ManualClock clock;
  ReadWorker worker(clock, kPatience);
  std::promise<void> started;
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  worker.submit(job("a/1", [&started, released] {
    started.set_value();
    released.wait();
  }));
  started.get_future().wait();
  EXPECT_TRUE(worker.is_out("a/1", ReadGroup::kCounters));
  EXPECT_FALSE(worker.is_out("a/1", ReadGroup::kKernel)) << "it is this thread's next job";
  release.set_value();
  wait_readable(worker.event_fd());
}

TEST(DaemonReadWorker, HangsAreBoundedAndWhatWaitsBehindThemIsNamed) {
  ManualClock clock;
  ReadWorker worker(clock, Milliseconds(1'000));
  std::promise<void> release;
  const auto released = release.get_future().share();
  constexpr std::size_t kReads = ReadWorker::kMaxThreads + 10;
  std::atomic<std::size_t> begun = 0;
  for (std::size_t i = 0; i < kReads; ++i)
    worker.submit(job("port" + std::to_string(i), [&begun, released] {
      ++begun;
      released.wait();
    }));
  std::vector<ReadWorker::Stuck> stuck;
  for (std::size_t round = 1; round <= ReadWorker::kMaxThreads; ++round) {
    while (begun < round) std::this_thread::yield();
    clock.advance(Milliseconds(2'000));
    stuck = worker.check_stuck();
  }
  EXPECT_EQ(begun, ReadWorker::kMaxThreads);
  EXPECT_EQ(stuck.size(), kReads);
  EXPECT_EQ(
      std::count_if(stuck.begin(), stuck.end(), [](const auto& read) { return read.waiting; }), 10);
  release.set_value();  // one comes back and takes the rest
  std::size_t finished = 0;
  while (finished < kReads) finished += worker.take_finished().size();
  EXPECT_TRUE(worker.check_stuck().empty());
}

TEST(DaemonReadWorker, EndsThoughAReadHangs) {
  ManualClock clock;
  std::promise<void> started;
  auto release = std::make_shared<std::promise<void>>();
  auto ended = std::make_shared<std::promise<void>>();
  {
    ReadWorker worker(clock, kPatience);
    worker.submit(job("hung/1", [&started, release, ended] {
      started.set_value();
      release->get_future().wait();
      ended->set_value();
    }));
    started.get_future().wait();
  }
  release->set_value();
  ended->get_future().wait();
}

TEST(DaemonReadWorker, ALentThreadMakesAllThatWaitsAndNoOtherIsWanted) {
  ManualClock clock;
  ReadWorker worker(clock, kPatience, ReadWorker::Threads::kLent);
  EXPECT_FALSE(worker.wants_thread());
  const auto lent = std::this_thread::get_id();
  std::vector<std::thread::id> ran;
  std::vector<ReadWorker::Job> batch;
  for (const char* port : {"a/1", "b/1"})
    batch.push_back(job(port, [&] {
      ran.push_back(std::this_thread::get_id());
      EXPECT_FALSE(worker.wants_thread()) << "one is at work";
    }));
  worker.submit(std::move(batch));
  ASSERT_TRUE(worker.wants_thread());
  EXPECT_FALSE(worker.idle());
  EXPECT_TRUE(worker.check_stuck().empty()) << "a thread is lent in a moment";
  const auto work = worker.work();
  EXPECT_FALSE(worker.wants_thread()) << "one is on its way";
  work();
  EXPECT_EQ(ran, std::vector({lent, lent}));
  EXPECT_FALSE(worker.wants_thread());
  pollfd event{worker.event_fd(), POLLIN, 0};
  EXPECT_EQ(poll(&event, 1, 0), 0) << "who lends a thread knows";
  EXPECT_EQ(worker.take_finished().size(), 2U);
  EXPECT_TRUE(worker.idle());
}

TEST(DaemonReadWorker, ALentThreadThatHangsIsNamedAndAnotherIsWanted) {
  ManualClock clock;
  ReadWorker worker(clock, kPatience, ReadWorker::Threads::kLent);
  std::promise<void> started;
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::vector<ReadWorker::Job> batch;
  batch.push_back(job("hung/1", [&started, released] {
    started.set_value();
    released.wait();
  }));
  batch.push_back(job("hung/1", [] { FAIL() << "beside the read that hangs"; }));
  batch.push_back(job("good/1", [] {}));
  worker.submit(std::move(batch));
  std::thread hangs(worker.work());
  started.get_future().wait();
  EXPECT_FALSE(worker.wants_thread());
  clock.advance(kPatience);
  const auto stuck = worker.check_stuck();
  ASSERT_EQ(stuck.size(), 1U) << "what waits behind it does not wait in vain";
  EXPECT_EQ(stuck[0].port, "hung/1");
  ASSERT_TRUE(worker.wants_thread());
  worker.work()();
  auto readings = worker.take_finished();
  ASSERT_EQ(readings.size(), 1U);
  EXPECT_EQ(readings[0].port, "good/1");
  worker.submit(job("late/1", [] {}));
  clock.advance(kPatience);
  const auto waits = worker.check_stuck();
  ASSERT_EQ(waits.size(), 2U) << "nobody lends a thread: what waits is named too";
  EXPECT_TRUE(waits[1].waiting);
  release.set_value();
  hangs.join();
  readings = worker.take_finished();
  ASSERT_EQ(readings.size(), 1U) << "it leaves the rest to whoever took its place";
  EXPECT_EQ(readings[0].port, "hung/1");
}

TEST(DaemonReadWorker, NoMoreThreadsAreWantedThanMayHang) {
  ManualClock clock;
  ReadWorker worker(clock, kPatience, ReadWorker::Threads::kLent);
  std::promise<void> release;
  const auto released = release.get_future().share();
  std::vector<std::thread> lent;
  for (std::size_t i = 0; i < ReadWorker::kMaxThreads; ++i) {
    std::promise<void> started;
    worker.submit(job("port" + std::to_string(i), [&started, released] {
      started.set_value();
      released.wait();
    }));
    ASSERT_TRUE(worker.wants_thread());
    lent.emplace_back(worker.work());
    started.get_future().wait();
    clock.advance(kPatience);
    EXPECT_EQ(worker.check_stuck().size(), i + 1);
  }
  worker.submit(job("one more", [] {}));
  EXPECT_FALSE(worker.wants_thread());
  release.set_value();
  for (std::thread& thread : lent) thread.join();
  EXPECT_TRUE(worker.wants_thread());
}

}  // namespace
}  // namespace linkhealth
