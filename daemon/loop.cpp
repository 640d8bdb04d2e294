#include "daemon/loop.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/owned_fd.h"

namespace linkhealth {

namespace {

constexpr std::array kSignals = {SIGTERM, SIGINT, SIGHUP};

sigset_t loop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kSignals) sigaddset(&signals, signal);
  return signals;
}

/// How often systemd expects "WATCHDOG=1": half of its timeout; nullopt without a watchdog.
std::optional<Milliseconds> watchdog_period() {
  std::uint64_t timeout_us = 0;
  if (sd_watchdog_enabled(0, &timeout_us) <= 0) return std::nullopt;
  return std::max(std::chrono::duration_cast<Milliseconds>(Microseconds(timeout_us / 2)),
                  Milliseconds(1));
}

class Loop {
 public:
  Loop(Source& source, Engine& engine, const Clock& clock, const LoopHooks& hooks)
      : source_(source), engine_(engine), clock_(clock), hooks_(hooks) {}

  Result<void> run();

 private:
  /// What ended a wait.
  enum class Woken : std::uint8_t { kByTime, kBySource, kBySignal };

  void poll_source(double lateness_s);
  Result<Woken> wait_until(std::optional<SteadyTime> time);
  void read_signals();
  void feed_watchdog();

  Source& source_;
  Engine& engine_;
  const Clock& clock_;
  const LoopHooks& hooks_;
  const std::optional<Milliseconds> watchdog_period_ = watchdog_period();
  std::optional<SteadyTime> feed_at_;  ///< when the watchdog is due; nullopt without one
  OwnedFd signals_;
  bool ended_ = false;
  std::string last_status_;  ///< that systemd shows
};

Result<void> Loop::run() {
  const sigset_t signals = loop_signals();
  signals_ = OwnedFd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) return errno_error("the event loop cannot be set up", errno);
  poll_source(0);
  sd_notify(0, "READY=1");
  while (!ended_) {
    feed_watchdog();
    std::optional<SteadyTime> due;
    if (const auto wait = source_.until_due()) due = clock_.steady() + *wait;
    const bool feed_first = feed_at_ && (!due || *feed_at_ < *due);
    const auto woken = wait_until(feed_first ? feed_at_ : due);
    if (!woken) return woken.error();
    read_signals();
    if (ended_ || *woken == Woken::kBySignal) continue;
    if (*woken == Woken::kBySource)
      poll_source(0);
    else if (!feed_first)
      poll_source(std::max(0.0, in_seconds(clock_.fine() - due->time_since_epoch())));
  }
  sd_notify(0, "STOPPING=1");
  return {};
}

void Loop::poll_source(double lateness_s) {
  const auto snapshot = source_.poll();
  if (!snapshot) return;
  std::unique_lock<std::mutex> lock;
  if (hooks_.deciding != nullptr) lock = std::unique_lock(*hooks_.deciding);
  const Engine::Step step = engine_.step(*snapshot);
  hooks_.on_step(*snapshot, step, lateness_s);
  // Only if it changed: otherwise systemd would receive a message for each step.
  if (std::string status = "STATUS=" + hooks_.status(); status != last_status_) {
    sd_notify(0, status.c_str());
    last_status_ = std::move(status);
  }
}

/// nullopt: waits for a descriptor only.
Result<Loop::Woken> Loop::wait_until(std::optional<SteadyTime> time) {
  std::vector<pollfd> wanted = {{signals_.get(), POLLIN, 0}};
  for (const int fd : source_.wake_fds()) wanted.push_back({fd, POLLIN, 0});
  timespec timeout{};
  if (time) {
    const auto left =
        std::max<std::chrono::nanoseconds>(*time - clock_.steady(), std::chrono::nanoseconds(0));
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
    timeout = {whole.count(), (left - whole).count()};
  }
  const int ready = ppoll(wanted.data(), wanted.size(), time ? &timeout : nullptr, nullptr);
  if (ready < 0 && errno != EINTR) return errno_error("the event loop ended", errno);
  if (ready == 0) return Woken::kByTime;
  const bool by_source = ready > 0 && std::any_of(wanted.begin() + 1, wanted.end(),
                                                  [](const pollfd& fd) { return fd.revents != 0; });
  return by_source ? Woken::kBySource : Woken::kBySignal;
}

void Loop::feed_watchdog() {
  const SteadyTime now = clock_.steady();
  if (!watchdog_period_ || (feed_at_ && now < *feed_at_)) return;
  sd_notify(0, "WATCHDOG=1");
  feed_at_ = now + *watchdog_period_;
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
