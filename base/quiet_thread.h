// A thread that receives no signals: they are handled by the main thread's loop.
#pragma once

#include <csignal>
#include <thread>

namespace linkhealth {

/// Blocks all signals during its lifetime: a new thread inherits the mask of its creator.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

/// Throws std::system_error when the task limit is reached (a unit's TasksMax).
template <typename Run>
std::thread quiet_thread(Run run) {
  const AllSignalsBlocked blocked;
  return std::thread(std::move(run));
}

}  // namespace linkhealth
