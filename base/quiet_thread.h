// A thread that takes no signals: they belong to the main thread's loop.
#pragma once

#include <csignal>
#include <thread>

namespace linkhealth {

template <typename Run>
std::thread quiet_thread(Run run) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(run));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace linkhealth
