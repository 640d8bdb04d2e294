#include "daemon/sampling/blocking_read_pool.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/owned_fd.h"
#include "base/quiet_thread.h"

namespace linkhealth {

/// One thread and the job that it runs.
struct BlockingReadPool::Thread {
  bool at_work = false;
  bool abandoned = false;  ///< another thread has the queue; it ends when its read comes back
  std::string owner, name;
  SteadyTime since;
};

struct BlockingReadPool::Shared {
  explicit Shared(const Clock& its_clock) : clock(its_clock) {}

  const Clock& clock;
  const OwnedFd event{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  mutable std::mutex mutex;
  // Everything below is protected by the lock.
  std::condition_variable wake;
  std::condition_variable thread_ended;
  std::deque<Job> queue;
  std::vector<std::pair<Done, double>> finished;
  std::vector<std::shared_ptr<Thread>> threads;
  bool stop = false;

  [[nodiscard]] bool has_worker() const {
    return !std::ranges::all_of(threads, [](const auto& thread) { return thread->abandoned; });
  }
  void run_next(std::unique_lock<std::mutex>& lock, Thread& self);
};

/// Runs the first job of the queue, which is not empty. The lock is not held meanwhile.
void BlockingReadPool::Shared::run_next(std::unique_lock<std::mutex>& lock, Thread& self) {
  Job job = std::move(queue.front());
  queue.pop_front();
  const Microseconds begun = clock.fine();
  self = {true, false, job.owner, job.name,
          SteadyTime(std::chrono::duration_cast<Milliseconds>(begun))};
  lock.unlock();
  Done done = job.read();
  job = {};  // free what the read needed here, not under the lock
  lock.lock();
  self.at_work = false;
  if (stop) return;  // the clock may be gone, too
  finished.emplace_back(std::move(done), in_seconds(clock.fine() - begun));
}

BlockingReadPool::BlockingReadPool(const Clock& clock, Milliseconds patience)
    : shared_(std::make_shared<Shared>(clock)), patience_(patience) {
  start_thread();
}

BlockingReadPool::~BlockingReadPool() {
  constexpr Milliseconds kStopPatience{1'000};
  std::unique_lock lock(shared_->mutex);
  shared_->stop = true;
  shared_->queue.clear();
  shared_->wake.notify_all();
  shared_->thread_ended.wait_for(lock, kStopPatience, [this] { return shared_->threads.empty(); });
}

void BlockingReadPool::start_thread() {
  auto self = std::make_shared<Thread>();
  const std::lock_guard lock(shared_->mutex);
  try {
    // Detached: a thread that hangs in the kernel can be neither cancelled nor joined.
    quiet_thread([shared = shared_, self] { run(shared, self); }).detach();
    shared_->threads.push_back(self);
  } catch (const std::system_error&) {  // the task limit: continue with the existing threads
  }
}

void BlockingReadPool::run(const std::shared_ptr<Shared>& shared,
                           const std::shared_ptr<Thread>& self) {
  std::unique_lock lock(shared->mutex);
  while (!shared->stop && !self->abandoned) {
    if (shared->queue.empty()) {
      shared->wake.wait(lock);
      continue;
    }
    shared->run_next(lock, *self);
    if (!shared->has_worker()) self->abandoned = false;  // no thread replaced it
    if (shared->queue.empty() || self->abandoned) eventfd_write(shared->event.get(), 1);
  }
  std::erase(shared->threads, self);
  shared->thread_ended.notify_all();
}

void BlockingReadPool::submit(std::vector<Job> jobs) {
  if (jobs.empty()) return;
  {
    const std::lock_guard lock(shared_->mutex);
    for (Job& job : jobs) shared_->queue.push_back(std::move(job));
  }
  shared_->wake.notify_one();
}

bool BlockingReadPool::is_out(const std::string& owner, const std::string& name) const {
  const std::lock_guard lock(shared_->mutex);
  const auto queued = [&](const Job& job) { return job.owner == owner && job.name == name; };
  const auto running = [&](const std::shared_ptr<Thread>& thread) {
    return thread->at_work && thread->owner == owner && (thread->name == name || thread->abandoned);
  };
  return std::ranges::any_of(shared_->queue, queued) ||
         std::ranges::any_of(shared_->threads, running);
}

void BlockingReadPool::finish() {
  std::vector<std::pair<Done, double>> finished;
  {
    const std::lock_guard lock(shared_->mutex);
    eventfd_t count = 0;
    eventfd_read(shared_->event.get(), &count);
    finished.swap(shared_->finished);
  }
  for (const auto& [done, duration_s] : finished) done(duration_s);
}

std::vector<BlockingReadPool::Hung> BlockingReadPool::check_hung() {
  std::vector<Hung> hung;
  bool short_of_threads = false;
  {
    const std::lock_guard lock(shared_->mutex);
    const SteadyTime now = shared_->clock.steady();
    for (const auto& thread : shared_->threads) {
      if (!thread->at_work || now - thread->since < patience_) continue;
      hung.push_back({thread->owner, thread->name, thread->since});
      if (std::exchange(thread->abandoned, true)) continue;
      // Its owner's other jobs would hang too, and an owner is read by one thread at a time.
      std::erase_if(shared_->queue, [&](const Job& job) { return job.owner == thread->owner; });
    }
    short_of_threads = !shared_->has_worker() && shared_->threads.size() < kMaxThreads;
  }
  if (short_of_threads) start_thread();
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->has_worker())
    for (const Job& job : shared_->queue)
      hung.push_back({job.owner, job.name, shared_->clock.steady(), true});
  return hung;
}

bool BlockingReadPool::idle() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->queue.empty() && shared_->finished.empty() &&
         std::ranges::none_of(shared_->threads, [](const auto& thread) { return thread->at_work; });
}

int BlockingReadPool::event_fd() const { return shared_->event.get(); }

}  // namespace linkhealth
