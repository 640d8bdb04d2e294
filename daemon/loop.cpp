#include "daemon/loop.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <vector>

#include "base/owned_fd.h"
#include "daemon/service_manager.h"

namespace linkhealth {

namespace {

constexpr std::array kSignals = {SIGTERM, SIGINT, SIGHUP};

sigset_t loop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kSignals) sigaddset(&signals, signal);
  return signals;
}

class Loop {
 public:
  Loop(Source& source, Engine& engine, const Clock& clock, const LoopHooks& hooks)
      : source_(source), engine_(engine), clock_(clock), hooks_(hooks) {}

  Result<void> run();

 private:
  struct Wait {
    std::optional<SteadyTime> until;  ///< nullopt: for a descriptor only
    bool to_feed = false;             ///< the watchdog, and nothing else is due
  };

  void poll_source(double lateness_s);
  enum class Woken : std::uint8_t { kByTime, kBySource, kBySignal };
  Result<Woken> wait_for(const Wait& wait);
  [[nodiscard]] Wait next_wait();
  void read_signals();
  std::optional<SteadyTime> feed_watchdog();

  Source& source_;
  Engine& engine_;
  const Clock& clock_;
  const LoopHooks& hooks_;
  const ServiceManager manager_ = ServiceManager::from_environment();
  OwnedFd signals_;
  bool ended_ = false;
  std::optional<SteadyTime> fed_at_;
  std::string last_status_;  ///< that systemd shows
};

Result<void> Loop::run() {
  const sigset_t signals = loop_signals();
  signals_ = OwnedFd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) return errno_error("the event loop can't be set up", errno);
  poll_source(0);
  manager_.notify("READY=1");
  while (!ended_) {
    const Wait wait = next_wait();
    const auto woken = wait_for(wait);
    if (!woken) return woken.error();
    read_signals();
    if (ended_ || *woken == Woken::kBySignal) continue;
    const bool by_time = *woken == Woken::kByTime;
    if (by_time && wait.to_feed) continue;
    const double late_s = by_time ? in_seconds(clock_.fine() - wait.until->time_since_epoch()) : 0;
    poll_source(std::max(0.0, late_s));
  }
  manager_.notify("STOPPING=1");
  return {};
}

void Loop::poll_source(double lateness_s) {
  const auto snapshot = source_.poll();
  if (!snapshot) return;
  std::unique_lock<std::mutex> lock;
  if (hooks_.deciding != nullptr) lock = std::unique_lock(*hooks_.deciding);
  const Engine::Step step = engine_.step(*snapshot);
  hooks_.on_step(*snapshot, step, lateness_s);
  // Only when it changes: otherwise each step would send systemd a message.
  if (std::string status = "STATUS=" + hooks_.status(); status != last_status_) {
    manager_.notify(status);
    last_status_ = std::move(status);
  }
}

Loop::Wait Loop::next_wait() {
  const auto feed = feed_watchdog();
  std::optional<SteadyTime> due;
  if (const auto until = source_.until_due()) due = clock_.steady() + *until;
  const bool to_feed = feed && (!due || *feed < *due);
  return {to_feed ? feed : due, to_feed};
}

Result<Loop::Woken> Loop::wait_for(const Wait& wait) {
  std::vector<pollfd> wanted = {{signals_.get(), POLLIN, 0}};
  for (const int fd : source_.wake_fds()) wanted.push_back({fd, POLLIN, 0});
  timespec time{};
  if (wait.until) {
    const auto left = std::max<std::chrono::nanoseconds>(*wait.until - clock_.steady(),
                                                         std::chrono::nanoseconds(0));
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
    time = {whole.count(), (left - whole).count()};
  }
  const int ready = ppoll(wanted.data(), wanted.size(), wait.until ? &time : nullptr, nullptr);
  if (ready < 0 && errno != EINTR) return errno_error("the event loop ended", errno);
  if (ready == 0) return Woken::kByTime;
  const bool by_source = ready > 0 && std::any_of(wanted.begin() + 1, wanted.end(),
                                                  [](const pollfd& fd) { return fd.revents != 0; });
  return by_source ? Woken::kBySource : Woken::kBySignal;
}

/// Feeds the watchdog when that is due; when it is due again.
std::optional<SteadyTime> Loop::feed_watchdog() {
  const auto period = manager_.watchdog_period();
  if (!period) return std::nullopt;
  const SteadyTime now = clock_.steady();
  if (!fed_at_ || now >= *fed_at_ + *period) {
    manager_.notify("WATCHDOG=1");
    fed_at_ = now;
  }
  return *fed_at_ + *period;
}

void Loop::read_signals() {
  signalfd_siginfo signal{};
  while (read(signals_.get(), &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal)) {
    if (signal.ssi_signo == SIGHUP) {
      hooks_.on_reload();
    } else {
      ended_ = true;
    }
  }
}

}  // namespace

void block_loop_signals() {
  const sigset_t signals = loop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

Result<void> run_loop(Source& source, Engine& engine, const Clock& clock, const LoopHooks& hooks) {
  return Loop(source, engine, clock, hooks).run();
}

}  // namespace linkhealth
