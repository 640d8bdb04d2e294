// The verbs library of a machine in memory: devices that send events, hang while they are opened,
// or refuse.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "base/owned_fd.h"
#include "probes/verbs/verbs_events.h"

namespace linkhealth::testing {

class FakeVerbs final : public VerbsLibrary {
 public:
  Result<std::unique_ptr<VerbsContext>> open(const std::string& device) override {
    std::unique_lock lock(mutex_);
    ++opens_[device];
    let_go_.wait(lock, [&] { return !hanging_.contains(device); });
    if (const auto refused = refused_.find(device);
        refused != refused_.end() && refused->second != 0)
      return errno_error("/dev/infiniband/" + device, refused->second);
    auto queue = std::make_shared<Queue>();
    queues_[device] = queue;
    return std::unique_ptr<VerbsContext>(std::make_unique<Context>(*this, queue));
  }

  /// 0: no longer refused.
  void refuse(const std::string& device, int errnum) {
    const std::lock_guard lock(mutex_);
    refused_[device] = errnum;
  }
  /// Reading the device's next event fails.
  void fail(const std::string& device, int errnum) {
    const std::lock_guard lock(mutex_);
    const auto queue = queues_.at(device).lock();
    if (!queue) return;
    queue->errnum = errnum;
    eventfd_write(queue->fd.get(), 1);
  }
  /// Opening the device hangs until let_go().
  void hang(const std::string& device) {
    const std::lock_guard lock(mutex_);
    hanging_.insert(device);
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    hanging_.clear();
    let_go_.notify_all();
  }
  /// `type` is an ibv_event_type.
  void send(const std::string& device, int type, std::uint32_t port = 0) {
    const std::lock_guard lock(mutex_);
    const auto queue = queues_.at(device).lock();
    if (!queue) return;
    queue->events.push_back({type, port});
    eventfd_write(queue->fd.get(), 1);
  }
  [[nodiscard]] bool is_open(const std::string& device) {
    const std::lock_guard lock(mutex_);
    return queues_.contains(device) && !queues_.at(device).expired();
  }
  [[nodiscard]] int opens(const std::string& device) {
    const std::lock_guard lock(mutex_);
    return opens_[device];
  }

 private:
  struct Queue {
    OwnedFd fd{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    std::deque<VerbsEvent> events;
    int errnum = 0;
  };
  class Context final : public VerbsContext {
   public:
    Context(FakeVerbs& owner, std::shared_ptr<Queue> queue)
        : owner_(owner), queue_(std::move(queue)) {}
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    ~Context() override {
      const std::lock_guard lock(owner_.mutex_);
      queue_.reset();
    }
    [[nodiscard]] int fd() const override { return queue_->fd.get(); }
    Result<std::optional<VerbsEvent>> next() override {
      const std::lock_guard lock(owner_.mutex_);
      eventfd_t count = 0;
      if (queue_->errnum != 0) return errno_error("reading an event", queue_->errnum);
      if (queue_->events.empty()) {
        eventfd_read(queue_->fd.get(), &count);
        return std::optional<VerbsEvent>();
      }
      const VerbsEvent event = queue_->events.front();
      queue_->events.pop_front();
      return std::optional(event);
    }

   private:
    FakeVerbs& owner_;
    std::shared_ptr<Queue> queue_;
  };

  std::mutex mutex_;
  std::condition_variable let_go_;
  std::map<std::string, std::weak_ptr<Queue>> queues_;
  std::map<std::string, int> refused_, opens_;
  std::set<std::string> hanging_;
};

}  // namespace linkhealth::testing
