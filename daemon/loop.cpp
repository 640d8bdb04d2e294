#include "daemon/loop.h"

#include <poll.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <set>
#include <string>
#include <vector>

#include "daemon/service_manager.h"
#include "probes/kernel_socket.h"

namespace linkhealth {

namespace {

constexpr std::array kSignals = {SIGTERM, SIGINT, SIGHUP};

sigset_t loop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kSignals) sigaddset(&signals, signal);
  return signals;
}

/// poll()'s timeout; -1: none.
int as_timeout(std::optional<Milliseconds> wait) {
  return wait ? static_cast<int>(std::clamp<Milliseconds::rep>(wait->count(), 0, INT_MAX)) : -1;
}

class Loop {
 public:
  Loop(Source& source, Engine& engine, const Clock& clock, const LoopHooks& hooks)
      : source_(source), engine_(engine), clock_(clock), hooks_(hooks) {}

  Result<void> run();

 private:
  void poll_source(double lateness_s);
  void list_descriptors();
  Result<void> wait();
  void take_signals();
  std::optional<Milliseconds> until_feed();

  Source& source_;
  Engine& engine_;
  const Clock& clock_;
  const LoopHooks& hooks_;
  const ServiceManager manager_ = ServiceManager::from_environment();
  OwnedFd signals_;
  std::vector<pollfd> waited_;  ///< the signals, then what the source asks for
  std::set<int> unusable_;      ///< asked for and not open: read with the next
                                ///< timer, later and not never
  std::optional<SteadyTime> fed_at_;
  std::string said_;  ///< the status that systemd shows
  bool stop_ = false;
};

Result<void> Loop::run() {
  const sigset_t signals = loop_signals();
  signals_ = OwnedFd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) return errno_error("taking signals as events", errno);
  poll_source(0);
  manager_.tell("READY=1");
  Result<void> ended;
  while (ended && !stop_) ended = wait();
  manager_.tell("STOPPING=1");
  return ended;
}

void Loop::poll_source(double lateness_s) {
  const auto snapshot = source_.poll();
  if (!snapshot) return;
  const Engine::Step step = engine_.step(*snapshot);
  hooks_.on_step(*snapshot, step, lateness_s);
  // Said when it changes: otherwise a message to systemd with each step.
  if (const std::string status = "STATUS=" + hooks_.status(); status != said_) {
    manager_.tell(status);
    said_ = status;
  }
}

/// Feeds come and go, and rest: what is waited for is what the source asks for
/// now.
void Loop::list_descriptors() {
  const std::vector<int> wanted = source_.wake_fds();
  std::erase_if(unusable_, [&](int fd) { return std::find(wanted.begin(), wanted.end(), fd) == wanted.end(); });
  waited_.assign(1, {signals_.get(), POLLIN, 0});
  for (const int fd : wanted)
    if (!unusable_.contains(fd)) waited_.push_back({fd, POLLIN, 0});
}

/// Feeds the watchdog when that is due; how long until it is due again.
std::optional<Milliseconds> Loop::until_feed() {
  const auto period = manager_.feed_period();
  if (!period) return std::nullopt;
  const SteadyTime now = clock_.steady();
  if (!fed_at_ || now >= *fed_at_ + *period) {
    manager_.tell("WATCHDOG=1");
    fed_at_ = now;
  }
  return *fed_at_ + *period - now;
}

Result<void> Loop::wait() {
  list_descriptors();
  const auto until_feed = this->until_feed();
  const auto until_due = source_.until_due();
  const SteadyTime begun = clock_.steady();
  const bool feed_first = until_feed && (!until_due || *until_feed < *until_due);
  const int ready = ::poll(waited_.data(), waited_.size(), as_timeout(feed_first ? until_feed : until_due));
  if (ready < 0) return errno == EINTR ? Result<void>() : errno_error("the event loop ended", errno);
  if (ready == 0) {
    if (feed_first) return {};
    poll_source(std::max(0.0, in_seconds(clock_.steady() - begun - std::max(*until_due, Milliseconds(0)))));
    return {};
  }
  if (waited_.front().revents != 0) take_signals();
  bool readable = false;
  for (std::size_t i = 1; i < waited_.size(); ++i) {
    if ((waited_[i].revents & POLLNVAL) != 0) {
      unusable_.insert(waited_[i].fd);
    } else {
      readable = readable || waited_[i].revents != 0;
    }
  }
  if (readable && !stop_) poll_source(0);
  return {};
}

void Loop::take_signals() {
  signalfd_siginfo told{};
  while (read(signals_.get(), &told, sizeof told) == static_cast<ssize_t>(sizeof told)) {
    if (told.ssi_signo == SIGHUP) {
      hooks_.on_reload();
    } else {
      stop_ = true;
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
