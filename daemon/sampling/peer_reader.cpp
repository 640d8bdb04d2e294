#include "daemon/sampling/peer_reader.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <condition_variable>
#include <utility>

#include "base/owned_fd.h"
#include "base/quiet_thread.h"

namespace linkhealth {

/// What the thread shares with its owner; lives as long as the longer of the
/// two.
struct PeerReader::Shared {
  Shared(std::unique_ptr<PeerProbe> its_probe, const Clock& its_clock)
      : probe(std::move(its_probe)), clock(its_clock) {}

  const std::unique_ptr<PeerProbe> probe;  // the thread's, without the mutex
  const Clock& clock;
  const OwnedFd event{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};

  mutable std::mutex mutex;
  // All below is under the mutex.
  std::condition_variable wake;
  std::condition_variable has_ended;
  std::optional<std::vector<InventoryPort>> ports;
  bool ports_changed = false;
  SteadyTime due;
  std::optional<SteadyTime> busy_since;
  std::vector<PeerRound> finished;
  bool answered = false;
  bool stop = false;
  bool ended = false;
};

PeerReader::PeerReader(std::unique_ptr<PeerProbe> probe, const Clock& clock)
    : name_(probe->name()),
      shared_(std::make_shared<Shared>(std::move(probe), clock)),
      thread_(quiet_thread([shared = shared_] { run(*shared); })) {}

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

/// One call of the probe, without the mutex.
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
  shared.answered = true;
  shared.finished.push_back(std::move(round));
  eventfd_write(shared.event.get(), 1);
}

void PeerReader::run(Shared& shared) {
  std::unique_lock lock(shared.mutex);
  while (!shared.stop) {
    const SteadyTime now = shared.clock.steady();
    if (!shared.ports) {
      shared.wake.wait(lock);
    } else if (shared.ports_changed || now >= shared.due) {
      read_round(shared, lock);
    } else {
      shared.wake.wait_for(lock, shared.due - now);
    }
  }
  shared.ended = true;
  shared.has_ended.notify_one();
}

void PeerReader::set_ports(std::vector<InventoryPort> ports) {
  const std::lock_guard lock(shared_->mutex);
  const auto same = [](const InventoryPort& a, const InventoryPort& b) {
    return a.id == b.id && a.ifindex == b.ifindex && a.exempt_reason == b.exempt_reason;
  };
  shared_->wake.notify_one();  // reads the clock again in any case
  if (shared_->ports && std::ranges::equal(*shared_->ports, ports, same)) return;
  shared_->ports = std::move(ports);
  shared_->ports_changed = true;
}

std::vector<PeerRound> PeerReader::take_finished() {
  const std::lock_guard lock(shared_->mutex);
  eventfd_t count = 0;
  eventfd_read(shared_->event.get(), &count);
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

int PeerReader::event_fd() const { return shared_->event.get(); }

}  // namespace linkhealth
