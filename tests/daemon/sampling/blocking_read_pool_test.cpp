#include "daemon/sampling/blocking_read_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

#include "tests/support/manual_clock.h"

namespace linkhealth {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::ManualClock;

constexpr Milliseconds kPatience{5'000};

class BlockingReads : public ::testing::Test {
 protected:
  using Jobs = std::vector<BlockingReadPool::Job>;

  BlockingReadPool::Job job(const std::string& owner, std::function<void()> work) {
    return {owner, "read", [this, owner, work = std::move(work)]() -> BlockingReadPool::Done {
              work();
              return [this, owner](double duration_s) {
                finished.push_back(owner);
                last_duration_s = duration_s;
              };
            }};
  }
  /// Waits until something is finished, and hands it over.
  void finish() {
    pollfd wanted{pool.event_fd(), POLLIN, 0};
    ASSERT_EQ(poll(&wanted, 1, 60'000), 1);
    finished.clear();
    pool.finish();
  }
  void submit(
      const std::string& owner, std::function<void()> work = [] {}) {
    pool.submit({job(owner, std::move(work))});
  }
  /// Runs a read that hangs until release().
  void hang(const std::string& owner) {
    std::promise<void> started;
    submit(owner, [&started, until = released] { started.set_value(), until.wait(); });
    started.get_future().wait();
  }
  void release() { promise.set_value(); }

  std::promise<void> promise;
  std::shared_future<void> released = promise.get_future().share();
  ManualClock clock;
  std::vector<std::string> finished;
  double last_duration_s = 0;
  BlockingReadPool pool{clock, kPatience};
};

TEST_F(BlockingReads, ABatchIsFinishedInItsOrderWhenAllOfItIsDone) {
  hang("a/1");
  submit("b/1");
  EXPECT_TRUE(pool.is_out("b/1", "read"));
  EXPECT_FALSE(pool.is_out("a/1", "other")) << "it may be this thread's next job";
  EXPECT_FALSE(pool.idle());
  pollfd event{pool.event_fd(), POLLIN, 0};
  EXPECT_EQ(poll(&event, 1, 0), 0);
  release();
  finish();
  EXPECT_THAT(finished, ElementsAre("a/1", "b/1"));
  EXPECT_TRUE(pool.idle());
  EXPECT_FALSE(pool.is_out("b/1", "read"));
  EXPECT_EQ(poll(&event, 1, 0), 0);
}

TEST_F(BlockingReads, TheDurationOfAReadIsMeasuredInMicroseconds) {
  submit("a/1", [this] { clock.spend(Microseconds(137)); });
  finish();
  EXPECT_NEAR(last_duration_s, 0.000137, 1e-9);
}

TEST_F(BlockingReads, AReadThatHangsIsReportedAndTheOthersGoOn) {
  hang("hung/1");
  submit("hung/1");
  submit("good/1");
  EXPECT_THAT(pool.check_hung(), IsEmpty());
  clock.advance(kPatience);
  const auto hung = pool.check_hung();
  ASSERT_EQ(hung.size(), 1U);
  EXPECT_EQ(hung[0].owner, "hung/1");
  finish();
  EXPECT_THAT(finished, ElementsAre("good/1"))
      << "the hung owner's other job is dropped, not run at the same time";
  EXPECT_TRUE(pool.is_out("hung/1", "other")) << "nothing of a hung owner may be queued";
  EXPECT_EQ(pool.check_hung().size(), 1U)
      << "still reported, and no further thread is started for it";
  release();
  finish();
  EXPECT_THAT(finished, ElementsAre("hung/1"));
  EXPECT_THAT(pool.check_hung(), IsEmpty());
  EXPECT_FALSE(pool.is_out("hung/1", "read"));
}

TEST_F(BlockingReads, TheThreadsAreLimitedAndWaitingReadsAreReported) {
  constexpr std::size_t kReads = BlockingReadPool::kMaxThreads + 10;
  std::atomic<std::size_t> begun = 0;
  Jobs jobs;
  for (std::size_t i = 0; i < kReads; ++i)
    jobs.push_back(job("port" + std::to_string(i), [&begun, until = released] {
      ++begun;
      until.wait();
    }));
  pool.submit(std::move(jobs));
  std::vector<BlockingReadPool::Hung> hung;
  for (std::size_t round = 1; round <= BlockingReadPool::kMaxThreads; ++round) {
    while (begun < round) std::this_thread::yield();
    clock.advance(2 * kPatience);
    hung = pool.check_hung();
  }
  EXPECT_EQ(begun, BlockingReadPool::kMaxThreads);
  EXPECT_EQ(hung.size(), kReads);
  EXPECT_EQ(std::ranges::count_if(hung, &BlockingReadPool::Hung::waiting), 10);
  release();  // one comes back and takes the rest
  while (finished.size() < kReads) pool.finish();
  EXPECT_THAT(pool.check_hung(), IsEmpty());
}

TEST(BlockingReadPoolEnd, DoesNotWaitForAReadThatHangs) {
  ManualClock clock;
  std::promise<void> started;
  auto release = std::make_shared<std::promise<void>>();
  auto ended = std::make_shared<std::promise<void>>();
  {
    BlockingReadPool pool(clock, kPatience);
    pool.submit({{"hung/1", "read", [&started, release, ended]() -> BlockingReadPool::Done {
                    started.set_value();
                    release->get_future().wait();
                    ended->set_value();
                    return [](double) { ADD_FAILURE() << "the pool is no more"; };
                  }}});
    started.get_future().wait();
  }
  release->set_value();
  ended->get_future().wait();
}

}  // namespace
}  // namespace linkhealth
