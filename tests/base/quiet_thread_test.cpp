#include "base/quiet_thread.h"

#include <gtest/gtest.h>

#include <system_error>

#include "tests/support/no_new_threads.h"

namespace linkhealth {
namespace {

bool takes(int signal) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return sigismember(&blocked, signal) == 0;
}

TEST(QuietThread, TakesNoSignalsAndLeavesThoseOfWhoStartedIt) {
  bool quiet = false;
  quiet_thread([&] { quiet = !takes(SIGTERM); }).join();
  EXPECT_TRUE(quiet);
  EXPECT_TRUE(takes(SIGTERM));
}

TEST(QuietThread, AtTheLimitOfTasksWhoWantedOneStillTakesItsSignals) {
  const testing::NoNewThreads limit;
  EXPECT_THROW(quiet_thread([] {}), std::system_error);
  EXPECT_TRUE(takes(SIGTERM));
}

}  // namespace
}  // namespace linkhealth
