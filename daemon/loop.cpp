#include "daemon/loop.h"

#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "base/quiet_thread.h"
#include "daemon/service_manager.h"
#include "probes/kernel_socket.h"

namespace linkhealth {

namespace {

constexpr std::array kSignals = {SIGTERM, SIGINT, SIGHUP};
/// A read that goes on at the end is waited for so long.
constexpr Milliseconds kStopPatience{200};
/// What is due within this time after a request was answered is done at once.
constexpr Milliseconds kTogether{1'000};
/// Who waits for the turn looks for it each millisecond, then more and more seldom, down to that.
constexpr int kMostTurnWait_ms = 64;

/// To have the turn.
using Turn = std::unique_lock<std::mutex>;

sigset_t loop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kSignals) sigaddset(&signals, signal);
  return signals;
}

class Loop;

/// What a thread woke up for.
struct Woken {
  std::array<epoll_event, 8> events{};
  std::size_t count = 0;  ///< of them, without requests
  bool answered = false;  ///< a request
  int error = 0;          ///< errno
  [[nodiscard]] bool only_requests() const { return count == 0 && error == 0; }
};

/// What the threads have in common; lives as long as the longest of them.
struct Crew {
  OwnedFd waited{epoll_create1(EPOLL_CLOEXEC)};
  OwnedFd ending{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};  ///< readable from the end on: wakes all
  int requests_fd = -1;
  std::function<bool()>
      serve_requests;  ///< without the turn: who asks waits for nobody who decides
  std::mutex turn;
  // All below is under the lock.
  std::condition_variable changed;
  Loop* loop = nullptr;  ///< until it has ended
  std::size_t members = 0;
  std::size_t reading = 0;  ///< so many of them are away, perhaps for ever
  bool ended = false;

  /// One member more; false: the system gives no thread.
  static bool start_member(const std::shared_ptr<Crew>& crew);
  static void serve(const std::shared_ptr<Crew>& crew);
  static void lend(const std::shared_ptr<Crew>& crew, Turn& turn);
  /// Waits for what comes.
  [[nodiscard]] Woken wait() const;
  /// Waits for the turn, and meanwhile for who asks: a decision may hang as well, on a file system
  /// that is no sysfs.
  void take(Turn& wanted) const;
  /// Who asks wakes one thread, and the next one only when that has served him.
  [[nodiscard]] bool await_requests(int operation) const;
  void end() {
    ended = true;
    eventfd_write(ending.get(), 1);
    changed.notify_all();
  }
};

class Loop {
 public:
  Loop(Source& source, Engine& engine, const Clock& clock, const LoopHooks& hooks)
      : source_(source), engine_(engine), clock_(clock), hooks_(hooks) {}

  Result<void> run();
  // For who has the turn.
  [[nodiscard]] bool has_reads() const { return source_.wants_thread(); }
  [[nodiscard]] bool has_other_work() const { return hooks_.wants_thread && hooks_.wants_thread(); }
  std::function<void()> reads() { return source_.work(); }
  std::function<void()> other_work() { return hooks_.work(); }
  void take(std::span<const epoll_event> events, bool answered);
  void take_reads();
  void fail(const Error& error);

 private:
  Result<void> prepare();
  void poll_source(double lateness_s);
  void expect_next();
  void list_descriptors();
  void set_timer(std::optional<SteadyTime> at);
  void take_signals();
  std::optional<SteadyTime> feed_due();

  Source& source_;
  Engine& engine_;
  const Clock& clock_;
  const LoopHooks& hooks_;
  const ServiceManager manager_ = ServiceManager::from_environment();
  std::shared_ptr<Crew> crew_ = std::make_shared<Crew>();
  OwnedFd signals_, timer_;
  std::vector<int> listed_;  ///< what the source asks for
  std::set<int>
      unusable_;  ///< asked for and not open: read with the next timer, later and not never
  std::optional<SteadyTime> wakes_at_;  ///< the timer is set to that
  bool wakes_to_feed_ = false;          ///< the watchdog and nothing else
  std::optional<SteadyTime> fed_at_;
  std::string said_;  ///< the status that systemd shows
  Result<void> result_;
};

bool Crew::start_member(const std::shared_ptr<Crew>& crew) {
  try {
    quiet_thread([crew] {
      serve(crew);
    }).detach();  // one that hangs in the kernel can be neither cancelled nor joined
  } catch (const std::system_error&) {  // the limit of tasks
    return false;
  }
  ++crew->members;
  return true;
}

Woken Crew::wait() const {
  Woken woken;
  const int count =
      epoll_wait(waited.get(), woken.events.data(), static_cast<int>(woken.events.size()), -1);
  if (count < 0) woken.error = errno;
  const auto end = woken.events.begin() + std::max(count, 0);
  const auto others = std::partition(woken.events.begin(), end, [this](const epoll_event& event) {
    return event.data.fd != requests_fd;
  });
  woken.count = static_cast<std::size_t>(others - woken.events.begin());
  if (others == end) return woken;
  woken.answered = serve_requests();
  (void)await_requests(EPOLL_CTL_MOD);  // can't fail for what was added
  // Who asked from this node was woken on this processor, as if we were to sleep now: he has it
  // first.
  if (woken.answered) sched_yield();
  return woken;
}

void Crew::take(Turn& wanted) const {
  for (int wait_ms = 1; !wanted.try_lock(); wait_ms = std::min(2 * wait_ms, kMostTurnWait_ms)) {
    pollfd asks{requests_fd, POLLIN, 0};
    if (poll(&asks, 1, wait_ms) > 0) serve_requests();
  }
}

bool Crew::await_requests(int operation) const {
  epoll_event wanted{EPOLLIN | EPOLLONESHOT, {.fd = requests_fd}};
  return epoll_ctl(waited.get(), operation, requests_fd, &wanted) == 0;
}

void Crew::serve(const std::shared_ptr<Crew>& crew) {
  constexpr std::size_t kEnough = 2;  // one at work and one that waits
  Turn turn(crew->turn);
  lend(crew, turn);
  while (!crew->ended && crew->members - crew->reading <= kEnough) {
    turn.unlock();
    Woken woken = crew->wait();
    // Who has the turn is awake for both: there is nothing to do but to wait for the next who asks.
    while (woken.only_requests() && !(woken.answered && turn.try_lock())) woken = crew->wait();
    if (!turn.owns_lock()) crew->take(turn);
    if (crew->ended) break;
    if (woken.error == 0) {
      crew->loop->take(std::span(woken.events).first(woken.count), woken.answered);
    } else if (woken.error != EINTR) {
      crew->loop->fail(errno_error("the event loop ended", woken.error));
    }
    lend(crew, turn);
  }
  --crew->members;
  crew->changed.notify_all();
}

void Crew::lend(const std::shared_ptr<Crew>& crew, Turn& turn) {
  bool did_read = false;  // a source that always wants to read starves nobody
  while (!crew->ended) {
    const bool reads = crew->loop->has_reads() && !(did_read && crew->loop->has_other_work());
    if (!reads && !crew->loop->has_other_work()) return;
    if (crew->members - crew->reading == 1 && !start_member(crew))
      return;  // somebody must keep the time
    const auto work = reads ? crew->loop->reads() : crew->loop->other_work();
    did_read = reads;
    ++crew->reading;
    turn.unlock();
    work();
    turn.lock();
    --crew->reading;
    if (!crew->ended && reads) crew->loop->take_reads();
  }
}

Result<void> Loop::prepare() {
  const sigset_t signals = loop_signals();
  signals_ = OwnedFd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) return errno_error("taking signals as events", errno);
  timer_ = OwnedFd(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer_ || !crew_->waited || !crew_->ending)
    return errno_error("the event loop can't be set up", errno);
  crew_->requests_fd = hooks_.requests_fd;
  crew_->serve_requests = hooks_.serve_requests;
  if (crew_->requests_fd >= 0 && !crew_->await_requests(EPOLL_CTL_ADD))
    return errno_error("the event loop can't be set up", errno);
  // The timer wakes one thread, once.
  for (const auto& [fd, how] :
       {std::pair(signals_.get(), 0U), {timer_.get(), EPOLLET}, {crew_->ending.get(), 0U}}) {
    epoll_event wanted{EPOLLIN | how, {.fd = fd}};
    if (epoll_ctl(crew_->waited.get(), EPOLL_CTL_ADD, fd, &wanted) < 0)
      return errno_error("the event loop can't be set up", errno);
  }
  return {};
}

Result<void> Loop::run() {
  if (auto prepared = prepare(); !prepared) return prepared;
  Turn turn(crew_->turn);
  crew_->loop = this;
  poll_source(0);
  expect_next();
  manager_.tell("READY=1");
  if (!Crew::start_member(crew_))
    return Error{"the event loop can't be set up: no thread can be started"};
  crew_->changed.wait(turn, [this] { return crew_->ended; });
  crew_->loop = nullptr;
  manager_.tell("STOPPING=1");
  crew_->changed.wait_for(turn, kStopPatience, [this] { return crew_->members == 0; });
  return result_;
}

void Loop::fail(const Error& error) {
  result_ = error;
  crew_->end();
}

void Loop::poll_source(double lateness_s) {
  const auto snapshot = source_.poll();
  if (!snapshot) return;
  std::unique_lock<std::mutex> lock;
  if (hooks_.deciding != nullptr) lock = std::unique_lock(*hooks_.deciding);
  const Engine::Step step = engine_.step(*snapshot);
  hooks_.on_step(*snapshot, step, lateness_s);
  // Said when it changes: otherwise a message to systemd with each step.
  if (const std::string status = "STATUS=" + hooks_.status(); status != said_) {
    manager_.tell(status);
    said_ = status;
  }
}

void Loop::take(std::span<const epoll_event> events, bool answered) {
  bool due = false;
  bool readable = false;
  double lateness_s = 0;
  for (const epoll_event& event : events) {
    if (event.data.fd == signals_.get()) {
      take_signals();
    } else if (event.data.fd == timer_.get()) {
      std::uint64_t times = 0;
      if (read(timer_.get(), &times, sizeof times) != sizeof times || !wakes_at_)
        continue;  // it was set anew
      due = !wakes_to_feed_;
      lateness_s = std::max(0.0, in_seconds(clock_.fine() - wakes_at_->time_since_epoch()));
      wakes_at_.reset();
    } else {
      readable = true;
    }
  }
  if (crew_->ended) return;
  const bool hastened = answered && source_.hasten(kTogether);
  if (due || readable || hastened) poll_source(due ? lateness_s : 0);
  if (!events.empty() || hastened) expect_next();
}

void Loop::take_reads() {
  poll_source(0);
  expect_next();
}

/// What wakes the next thread, before this one goes to read.
void Loop::expect_next() {
  list_descriptors();
  const auto feed = feed_due();
  std::optional<SteadyTime> due;
  if (const auto until = source_.until_due()) due = clock_.steady() + *until;
  wakes_to_feed_ = feed && (!due || *feed < *due);
  set_timer(wakes_to_feed_ ? feed : due);
}

/// Feeds come and go, and rest: what is waited for is what the source asks for now.
void Loop::list_descriptors() {
  const std::vector<int> wanted = source_.wake_fds();
  if (wanted == listed_) return;
  const auto has = [](const std::vector<int>& all, int fd) {
    return std::find(all.begin(), all.end(), fd) != all.end();
  };
  for (const int fd : listed_) {
    if (has(wanted, fd)) continue;
    if (unusable_.erase(fd) == 0) epoll_ctl(crew_->waited.get(), EPOLL_CTL_DEL, fd, nullptr);
  }
  for (const int fd : wanted) {
    if (has(listed_, fd)) continue;
    epoll_event event{EPOLLIN, {.fd = fd}};
    if (epoll_ctl(crew_->waited.get(), EPOLL_CTL_ADD, fd, &event) < 0) unusable_.insert(fd);
  }
  listed_ = wanted;
}

void Loop::set_timer(std::optional<SteadyTime> at) {
  if (at == wakes_at_) return;
  itimerspec when{};  // zeroes: never
  if (at) {
    const auto wait =
        std::max<std::chrono::nanoseconds>(*at - clock_.steady(), std::chrono::nanoseconds(1));
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(wait);
    when.it_value = {whole.count(), (wait - whole).count()};
  }
  timerfd_settime(timer_.get(), 0, &when, nullptr);
  wakes_at_ = at;
}

/// Feeds the watchdog when that is due; when it is due again.
std::optional<SteadyTime> Loop::feed_due() {
  const auto period = manager_.feed_period();
  if (!period) return std::nullopt;
  const SteadyTime now = clock_.steady();
  if (!fed_at_ || now >= *fed_at_ + *period) {
    manager_.tell("WATCHDOG=1");
    fed_at_ = now;
  }
  return *fed_at_ + *period;
}

void Loop::take_signals() {
  signalfd_siginfo told{};
  while (read(signals_.get(), &told, sizeof told) == static_cast<ssize_t>(sizeof told)) {
    if (told.ssi_signo == SIGHUP) {
      hooks_.on_reload();
    } else {
      crew_->end();
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
