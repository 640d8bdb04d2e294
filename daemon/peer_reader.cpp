#include "daemon/peer_reader.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <utility>

namespace linkhealth {

/// What the thread and its owner have in common; lives as long as the longer of the two.
struct PeerReader::Shared {
  Shared(std::unique_ptr<PeerProbe> its_probe, const Clock& its_clock)
      : probe(std::move(its_probe)),
        clock(its_clock),
        event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Shared() {
    if (event >= 0) close(event);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  const std::unique_ptr<PeerProbe> probe;  // used by the thread alone, without the lock
  const Clock& clock;
  const int event;

  mutable std::mutex mutex;
  // All below is under the lock.
  std::condition_variable wake;
  std::condition_variable has_ended;
  std::optional<std::vector<InventoryPort>> ports;
  bool ports_changed = false;
  SteadyTime due;
  std::optional<SteadyTime> busy_since;
  std::vector<PeerRound> finished;
  bool answered = false;
  bool gap_of_node = false;  ///< the last round said one
  bool stop = false;
  bool ended = false;
};

namespace {

bool has_gap_of_node(const std::vector<PeerReading>& readings) {
  return std::ranges::any_of(readings, [](const PeerReading& reading) {
    return std::ranges::any_of(reading.gaps, [](const Gap& gap) { return gap.port.empty(); });
  });
}

}  // namespace

PeerReader::PeerReader(std::unique_ptr<PeerProbe> probe, const Clock& clock)
    : name_(probe->name()),
      shared_(std::make_shared<Shared>(std::move(probe), clock)),
      thread_([shared = shared_] { run(shared); }) {}

PeerReader::~PeerReader() {
  bool ended = false;
  {
    std::unique_lock lock(shared_->mutex);
    shared_->stop = true;
    shared_->wake.notify_one();
    ended = shared_->has_ended.wait_for(lock, kStopPatience, [this] { return shared_->ended; });
  }
  ended ? thread_.join() : thread_.detach();
}

/// One call of the probe, without the lock.
void PeerReader::read_round(Shared& shared, std::unique_lock<std::mutex>& lock) {
  const std::vector<InventoryPort> ports = *shared.ports;
  shared.ports_changed = false;
  const Microseconds fine_begun = shared.clock.fine();
  const SteadyTime begun = shared.clock.steady();
  shared.busy_since = begun;
  lock.unlock();
  PeerRound round;
  round.readings = shared.probe->read(ports, begun);
  lock.lock();
  shared.busy_since.reset();
  if (shared.stop) return;  // left behind: the clock's owner may be gone
  const SteadyTime ended = shared.clock.steady();
  round.duration_s = in_seconds(shared.clock.fine() - fine_begun);
  shared.due = std::max(shared.probe->next_due(ended), ended + kShortestPause);
  const bool first = !std::exchange(shared.answered, true);
  // A round that says nothing wakes nobody, unless a gap of the node ends with it.
  const bool had_gap = std::exchange(shared.gap_of_node, has_gap_of_node(round.readings));
  if (round.readings.empty() && !first && !had_gap) return;
  shared.finished.push_back(std::move(round));
  eventfd_write(shared.event, 1);
}

void PeerReader::run(const std::shared_ptr<Shared>& shared) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);  // signals are the main thread's
  std::unique_lock lock(shared->mutex);
  while (!shared->stop) {
    if (!shared->ports) {
      shared->wake.wait(lock);
      continue;
    }
    const SteadyTime now = shared->clock.steady();
    if (shared->ports_changed || now >= shared->due) {
      read_round(*shared, lock);
      continue;
    }
    shared->wake.wait_for(lock, shared->due - now);
  }
  shared->ended = true;
  shared->has_ended.notify_one();
}

void PeerReader::set_ports(std::vector<InventoryPort> ports) {
  const std::lock_guard lock(shared_->mutex);
  const auto same = [](const InventoryPort& a, const InventoryPort& b) {
    return a.id == b.id && a.ifindex == b.ifindex && a.exempt_reason == b.exempt_reason;
  };
  shared_->wake.notify_one();  // looks at the clock anew in any case
  if (shared_->ports && std::ranges::equal(*shared_->ports, ports, same)) return;
  shared_->ports = std::move(ports);
  shared_->ports_changed = true;
}

std::vector<PeerRound> PeerReader::take_finished() {
  const std::lock_guard lock(shared_->mutex);
  eventfd_t count = 0;
  eventfd_read(shared_->event, &count);
  return std::exchange(shared_->finished, {});
}

std::optional<SteadyTime> PeerReader::busy_since() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->busy_since;
}

bool PeerReader::has_answered() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->answered;
}

int PeerReader::event_fd() const { return shared_->event; }

}  // namespace linkhealth
