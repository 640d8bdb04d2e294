#include "probes/verbs_calls.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/quiet_thread.h"

namespace linkhealth {

namespace {
constexpr Milliseconds kStopPatience{200};
}  // namespace

/// What the threads and their owner have in common; lives as long as the longest of them.
struct VerbsCalls::Shared {
  Shared() : event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Shared() {
    if (event >= 0) ::close(event);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  const int event;
  std::mutex mutex;
  // All below is under the lock.
  std::condition_variable came_back;
  std::vector<Opened> opened;
  std::size_t threads = 0;
};

VerbsCalls::VerbsCalls(std::shared_ptr<VerbsLibrary> library, Milliseconds patience)
    : library_(std::move(library)), shared_(std::make_shared<Shared>()), patience_(patience) {}

VerbsCalls::~VerbsCalls() {
  std::unique_lock lock(shared_->mutex);
  shared_->came_back.wait_for(lock, kStopPatience, [this] { return shared_->threads == 0; });
}

void VerbsCalls::open(const std::string& device) { waiting_.push_back({device, nullptr}); }

void VerbsCalls::close(const std::string& device, std::unique_ptr<VerbsContext> context) {
  // In front: somebody may be waiting to unload the driver.
  waiting_.push_front({device, std::move(context)});
}

void VerbsCalls::advance(SteadyTime now) {
  {
    const std::lock_guard lock(shared_->mutex);
    std::erase_if(running_, [](const Running& running) { return *running.done; });
  }
  stuck_.clear();
  for (const Running& running : running_)
    if (now - running.since >= patience_) stuck_.push_back(running.device);
  const bool full = running_.size() >= kMaxThreads;
  no_thread_ = full && !waiting_.empty();
  if (waiting_.empty() || running_.size() > stuck_.size() || full) return;
  no_thread_ = !begin_first(now);
}

bool VerbsCalls::begin_first(SteadyTime now) {
  // Behind a pointer that stays here until the thread is there: what could not be started is
  // destroyed, and to close a context may take as long as the firmware wants.
  auto call = std::make_shared<Call>(std::move(waiting_.front()));
  auto done = std::make_shared<bool>(false);
  {
    const std::lock_guard lock(shared_->mutex);
    ++shared_->threads;
  }
  try {
    // Detached: a thread that hangs in the kernel can be neither cancelled nor joined.
    quiet_thread([library = library_, shared = shared_, call, done]() mutable {
      run(*call, std::exchange(library, nullptr), *shared, *done);
    }).detach();
  } catch (const std::system_error&) {  // the limit of tasks
    const std::lock_guard lock(shared_->mutex);
    --shared_->threads;
    waiting_.front() = std::move(*call);
    return false;
  }
  waiting_.pop_front();
  running_.push_back({call->device, now, done});
  return true;
}

/// On the thread.
void VerbsCalls::run(Call& call, std::shared_ptr<VerbsLibrary> library, Shared& shared,
                     bool& done) {
  std::vector<Opened> opened;
  if (call.to_close) {
    call.to_close.reset();
  } else {
    opened.push_back({call.device, library->open(call.device)});
  }
  library.reset();
  const std::lock_guard lock(shared.mutex);
  done = true;
  --shared.threads;
  for (Opened& one : opened) shared.opened.push_back(std::move(one));
  eventfd_write(shared.event, 1);
  shared.came_back.notify_all();
}

std::vector<std::string> VerbsCalls::without_thread() const {
  std::vector<std::string> devices;
  if (no_thread_)
    for (const Call& call : waiting_) devices.push_back(call.device);
  return devices;
}

std::vector<VerbsCalls::Opened> VerbsCalls::take_opened() {
  const std::lock_guard lock(shared_->mutex);
  eventfd_t count = 0;
  eventfd_read(shared_->event, &count);
  return std::exchange(shared_->opened, {});
}

int VerbsCalls::event_fd() const { return shared_->event; }

bool VerbsCalls::idle() const {
  const std::lock_guard lock(shared_->mutex);
  return waiting_.empty() && shared_->threads == 0;
}

}  // namespace linkhealth
