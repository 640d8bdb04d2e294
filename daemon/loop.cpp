#include "daemon/loop.h"

#include <sys/epoll.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <set>

namespace linkhealth {

namespace {

struct EventCloser {
  void operator()(sd_event* event) const { sd_event_unref(event); }
};
struct EventSourceCloser {
  void operator()(sd_event_source* source) const { sd_event_source_unref(source); }
};
using EventPtr = std::unique_ptr<sd_event, EventCloser>;
using EventSourcePtr = std::unique_ptr<sd_event_source, EventSourceCloser>;

// A poll may come this much later when that saves a wake-up.
constexpr std::uint64_t kTimerSlackUs = 5'000;

class Loop {
 public:
  Loop(Source& source, Engine& engine, const Clock& clock, const LoopHooks& hooks)
      : source_(source), engine_(engine), clock_(clock), hooks_(hooks) {}

  Result<void> run();

 private:
  Result<void> set_up();
  void poll(double lateness_s);
  void watch_descriptors();
  void arm_timer();

  static int on_timer(sd_event_source*, std::uint64_t, void* self);
  static int on_readable(sd_event_source*, int, std::uint32_t, void* self);
  static int on_stop(sd_event_source* source, const signalfd_siginfo*, void*);
  static int on_reload(sd_event_source*, const signalfd_siginfo*, void* self);

  Source& source_;
  Engine& engine_;
  const Clock& clock_;
  const LoopHooks& hooks_;
  EventPtr event_;
  EventSourcePtr timer_;
  std::map<int, EventSourcePtr> watched_;  ///< by descriptor
  std::optional<SteadyTime> due_at_;
};

Result<void> Loop::set_up() {
  sd_event* event = nullptr;
  if (const int status = sd_event_new(&event); status < 0) return errno_error("setting up the event loop", -status);
  event_.reset(event);
  sd_event_source* timer = nullptr;
  int status = sd_event_add_time_relative(event, &timer, CLOCK_MONOTONIC, 0, kTimerSlackUs, &Loop::on_timer, this);
  if (status < 0) return errno_error("setting up the timer", -status);
  timer_.reset(timer);
  for (const int signal : {SIGTERM, SIGINT}) {
    status = sd_event_add_signal(event, nullptr, signal, &Loop::on_stop, this);
    if (status < 0) return errno_error("taking signals as events", -status);
  }
  status = sd_event_add_signal(event, nullptr, SIGHUP, &Loop::on_reload, this);
  if (status < 0) return errno_error("taking SIGHUP as an event", -status);
  // Without a watchdog in the unit this is a success that does nothing.
  if (status = sd_event_set_watchdog(event, 1); status < 0) return errno_error("feeding the watchdog", -status);
  return {};
}

Result<void> Loop::run() {
  if (auto ready = set_up(); !ready) return ready;
  poll(0);
  sd_notify(0, "READY=1");
  const int status = sd_event_loop(event_.get());
  sd_notify(0, "STOPPING=1");
  if (status < 0) return errno_error("the event loop ended", -status);
  return {};
}

void Loop::poll(double lateness_s) {
  if (const auto snapshot = source_.poll()) {
    std::unique_lock<std::mutex> lock;
    if (hooks_.deciding != nullptr) lock = std::unique_lock(*hooks_.deciding);
    const Engine::Step step = engine_.step(*snapshot);
    hooks_.on_step(*snapshot, step, lateness_s);
    sd_notify(0, ("STATUS=" + hooks_.status()).c_str());
  }
  watch_descriptors();
  arm_timer();
}

/// Feeds come and go, and rest: what is watched is what the source asks for now.
void Loop::watch_descriptors() {
  const std::vector<int> listed = source_.wake_fds();
  const std::set<int> wanted(listed.begin(), listed.end());
  std::erase_if(watched_, [&](const auto& entry) { return !wanted.contains(entry.first); });
  for (const int fd : wanted) {
    if (watched_.contains(fd)) continue;
    sd_event_source* source = nullptr;
    // One that can't be watched is read with the next timer: later, not never.
    if (sd_event_add_io(event_.get(), &source, fd, EPOLLIN, &Loop::on_readable, this) >= 0)
      watched_.emplace(fd, source);
  }
}

void Loop::arm_timer() {
  const auto wait = source_.until_due();
  if (!wait) {
    due_at_.reset();
    sd_event_source_set_enabled(timer_.get(), SD_EVENT_OFF);
    return;
  }
  const auto bounded = std::max(*wait, Milliseconds(0));
  due_at_ = clock_.steady() + bounded;
  sd_event_source_set_time_relative(timer_.get(), static_cast<std::uint64_t>(bounded.count()) * 1000);
  sd_event_source_set_enabled(timer_.get(), SD_EVENT_ONESHOT);
}

int Loop::on_timer(sd_event_source* /*source*/, std::uint64_t /*usec*/, void* self) {
  auto& loop = *static_cast<Loop*>(self);
  const double lateness_s = loop.due_at_ ? std::max(0.0, in_seconds(loop.clock_.steady() - *loop.due_at_)) : 0.0;
  loop.poll(lateness_s);
  return 0;
}

int Loop::on_readable(sd_event_source* /*source*/, int /*fd*/, std::uint32_t /*revents*/, void* self) {
  static_cast<Loop*>(self)->poll(0);
  return 0;
}

int Loop::on_stop(sd_event_source* source, const signalfd_siginfo* /*info*/, void* /*self*/) {
  return sd_event_exit(sd_event_source_get_event(source), 0);
}

int Loop::on_reload(sd_event_source* /*source*/, const signalfd_siginfo* /*info*/, void* self) {
  static_cast<Loop*>(self)->hooks_.on_reload();
  return 0;
}

}  // namespace

void block_loop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

Result<void> run_loop(Source& source, Engine& engine, const Clock& clock, const LoopHooks& hooks) {
  return Loop(source, engine, clock, hooks).run();
}

}  // namespace linkhealth
