#include "daemon/read_worker.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <iterator>
#include <mutex>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

namespace linkhealth {

/// One thread and the job it is at.
struct ReadWorker::Running {
  bool at_work = false;
  bool left_behind = false;  ///< another thread has the queue; end when the read comes back
  PortKey port;
  ReadGroup group = ReadGroup::kCounters;
  SteadyTime since;
};

/// What waits, in order. Jobs come as one batch and go one by one: nothing is moved from place to
/// place meanwhile.
class ReadWorker::Queue {
 public:
  [[nodiscard]] bool empty() const { return waiting().empty(); }
  [[nodiscard]] std::span<const Job> waiting() const { return std::span(jobs_).subspan(taken_); }
  void add(std::vector<Job> jobs) {
    if (empty()) {
      clear();
      jobs_.swap(jobs);
    } else {
      jobs_.insert(jobs_.end(), std::make_move_iterator(jobs.begin()),
                   std::make_move_iterator(jobs.end()));
    }
  }
  /// The first one. REQUIRES: !empty().
  Job take() { return std::move(jobs_[taken_++]); }
  void forget(const PortKey& port) {
    jobs_.erase(jobs_.begin(),
                jobs_.begin() + static_cast<std::ptrdiff_t>(std::exchange(taken_, 0)));
    std::erase_if(jobs_, [&](const Job& job) { return job.port == port; });
  }
  void clear() {
    jobs_.clear();
    taken_ = 0;
  }

 private:
  std::vector<Job> jobs_;
  std::size_t taken_ = 0;  ///< so many of them have gone
};

/// What the threads and their owner have in common; lives as long as the longest of them.
struct ReadWorker::Shared {
  explicit Shared(const Clock& its_clock)
      : clock(its_clock), event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Shared() {
    if (event >= 0) close(event);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  const Clock& clock;
  const int event;
  mutable std::mutex mutex;
  // All below is under the lock.
  std::condition_variable wake;
  std::condition_variable thread_ended;
  Queue queue;
  std::vector<Reading> finished;
  std::vector<std::shared_ptr<Running>> threads;
  SteadyTime waits_since;  ///< the queue, for a thread that is lent
  bool stop = false;

  /// Whether a thread is there that takes from the queue.
  [[nodiscard]] bool has_worker() const {
    return std::any_of(threads.begin(), threads.end(),
                       [](const auto& thread) { return !thread->left_behind; });
  }
  void run_next(std::unique_lock<std::mutex>& lock, Running& self);
};

/// The first job of the queue, which is not empty. The lock is held before and after, not while it
/// runs.
void ReadWorker::Shared::run_next(std::unique_lock<std::mutex>& lock, Running& self) {
  Job job = queue.take();
  const Microseconds begun = clock.fine();
  self = {true, false, job.port, job.group,
          SteadyTime(std::chrono::duration_cast<Milliseconds>(begun))};
  lock.unlock();
  Reading reading = job.reader ? job.reader->read(job.group, self.since) : job.run();
  job = {};  // what the read needs ends here, not under the lock
  lock.lock();
  if (stop) return;
  reading.duration_s = in_seconds(clock.fine() - begun);
  self.at_work = false;
  finished.push_back(std::move(reading));
}

namespace {
constexpr Milliseconds kStopPatience{200};
}  // namespace

ReadWorker::ReadWorker(const Clock& clock, Milliseconds patience, Threads threads)
    : shared_(std::make_shared<Shared>(clock)), patience_(patience), threads_(threads) {
  if (threads_ == Threads::kOwn) start_thread();
}

ReadWorker::~ReadWorker() {
  std::unique_lock lock(shared_->mutex);
  shared_->stop = true;
  shared_->queue.clear();
  shared_->wake.notify_all();
  shared_->thread_ended.wait_for(lock, kStopPatience, [this] { return shared_->threads.empty(); });
}

bool ReadWorker::start_thread() {
  auto self = std::make_shared<Running>();
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->threads.push_back(self);
  }
  try {
    // Detached: a thread that hangs in the kernel can be neither cancelled nor joined.
    std::thread([shared = shared_, self] { run(shared, self); }).detach();
    return true;
  } catch (const std::system_error&) {  // the limit of tasks: those that there are go on
    const std::lock_guard lock(shared_->mutex);
    std::erase(shared_->threads, self);
    return false;
  }
}

void ReadWorker::run(const std::shared_ptr<Shared>& shared, const std::shared_ptr<Running>& self) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);  // signals are the main thread's
  std::unique_lock lock(shared->mutex);
  while (!shared->stop && !self->left_behind) {
    if (shared->queue.empty()) {
      shared->wake.wait(lock);
      continue;
    }
    shared->run_next(lock, *self);
    if (shared->stop) break;
    if (!shared->has_worker()) self->left_behind = false;  // nobody took its place: it goes on
    if (shared->queue.empty() || self->left_behind) eventfd_write(shared->event, 1);
  }
  std::erase(shared->threads, self);
  shared->thread_ended.notify_all();
}

void ReadWorker::run_lent(const std::shared_ptr<Shared>& shared,
                          const std::shared_ptr<Running>& self) {
  std::unique_lock lock(shared->mutex);
  while (!shared->stop && !self->left_behind && !shared->queue.empty())
    shared->run_next(lock, *self);
  std::erase(shared->threads, self);
  shared->thread_ended.notify_all();
}

bool ReadWorker::wants_thread() const {
  if (threads_ != Threads::kLent) return false;
  const std::lock_guard lock(shared_->mutex);
  return !shared_->queue.empty() && !shared_->has_worker() && shared_->threads.size() < kMaxThreads;
}

std::function<void()> ReadWorker::work() {
  const std::lock_guard lock(shared_->mutex);
  return [shared = shared_, self = shared_->threads.emplace_back(std::make_shared<Running>())] {
    run_lent(shared, self);
  };
}

void ReadWorker::submit(Job job) {
  std::vector<Job> jobs;
  jobs.push_back(std::move(job));
  submit(std::move(jobs));
}

void ReadWorker::submit(std::vector<Job> jobs) {
  if (jobs.empty()) return;
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->queue.empty()) shared_->waits_since = shared_->clock.steady();
    shared_->queue.add(std::move(jobs));
    // A list that grows by itself would move each reading several times.
    shared_->finished.reserve(shared_->finished.size() + shared_->queue.waiting().size());
  }
  if (threads_ == Threads::kOwn)
    shared_->wake.notify_one();  // after the lock: who is woken would wait for it
}

bool ReadWorker::is_out(const PortKey& port, ReadGroup group) const {
  const std::lock_guard lock(shared_->mutex);
  const auto queued = [&](const Job& job) { return job.port == port && job.group == group; };
  // A port has one reader, and a reader one read at a time: while a thread hangs in it, another
  // thread may not enter it, so none of its groups is queued. A thread that is merely at work comes
  // to the others by itself.
  const auto running = [&](const std::shared_ptr<Running>& thread) {
    return thread->at_work && thread->port == port &&
           (thread->group == group || thread->left_behind);
  };
  return std::ranges::any_of(shared_->queue.waiting(), queued) ||
         std::any_of(shared_->threads.begin(), shared_->threads.end(), running);
}

std::vector<Reading> ReadWorker::take_finished() {
  const std::lock_guard lock(shared_->mutex);
  eventfd_t count = 0;
  if (threads_ == Threads::kOwn) eventfd_read(shared_->event, &count);
  return std::exchange(shared_->finished, {});
}

std::vector<ReadWorker::Stuck> ReadWorker::check_stuck() {
  std::vector<Stuck> stuck;
  bool replace = false;
  {
    const std::lock_guard lock(shared_->mutex);
    const SteadyTime now = shared_->clock.steady();
    for (const auto& thread : shared_->threads) {
      if (!thread->at_work || now - thread->since < patience_) continue;
      stuck.push_back({thread->port, thread->group, thread->since});
      if (std::exchange(thread->left_behind, true)) continue;
      replace = true;
      shared_->waits_since = now;
      // Its other jobs would run into the same wall, and a reader takes one read at a time.
      shared_->queue.forget(thread->port);
    }
  }
  const std::size_t threads = [this] {
    const std::lock_guard lock(shared_->mutex);
    return shared_->threads.size();
  }();
  if (replace && threads_ == Threads::kOwn && threads < kMaxThreads) start_thread();
  const std::lock_guard lock(shared_->mutex);
  // A thread is lent in a moment, unless there is none.
  const bool soon =
      threads_ == Threads::kLent && shared_->clock.steady() - shared_->waits_since < patience_;
  if (!shared_->has_worker() && !soon)
    for (const Job& job : shared_->queue.waiting())
      stuck.push_back({job.port, job.group, shared_->clock.steady(), true});
  return stuck;
}

bool ReadWorker::idle() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->queue.empty() && shared_->finished.empty() &&
         std::none_of(shared_->threads.begin(), shared_->threads.end(),
                      [](const auto& thread) { return thread->at_work; });
}

int ReadWorker::event_fd() const { return shared_->event; }

}  // namespace linkhealth
