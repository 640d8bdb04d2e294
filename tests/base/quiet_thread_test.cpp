#include "base/quiet_thread.h"

#include <gtest/gtest.h>

#include <system_error>

#include "tests/support/no_new_threads.h"

namespace linkhealth {
namespace {

bool receives(int signal) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return sigismember(&blocked, signal) == 0;
}

TEST(QuietThread, BlocksSignalsOnlyInTheNewThread) {
  bool quiet = false;
  quiet_thread([&] { quiet = !receives(SIGTERM); }).join();
  EXPECT_TRUE(quiet);
  EXPECT_TRUE(receives(SIGTERM));
}

TEST(QuietThread, AtTheLimitOfTasksTheCreatorStillReceivesSignals) {
  const testing::NoNewThreads limit;
  EXPECT_THROW(quiet_thread([] {}), std::system_error);
  EXPECT_TRUE(receives(SIGTERM));
}

}  // namespace
}  // namespace linkhealth
