#include "probes/module/module_reader.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "base/owned_fd.h"
#include "base/quiet_thread.h"
#include "probes/netlink/ethtool.h"

namespace linkhealth {

/// Shared by the thread and its owner; lives until both have ended.
struct ModuleReader::Shared {
  Shared(std::unique_ptr<Host> its_host, const Clock& its_clock, ModuleTiming timing)
      : host(std::move(its_host)), clock(its_clock), schedule(timing) {}

  // Used only by the thread, without the lock.
  const std::unique_ptr<Host> host;
  std::optional<EthtoolFamily> family;

  std::mutex mutex;
  // Everything below is protected by the lock. The clock is used only while `stop` is false: later
  // it may be gone.
  const Clock& clock;
  ModuleSchedule schedule;
  std::optional<ModuleBusy> busy;
  bool stop = false;
  bool ended = false;
  std::condition_variable wake;
  std::condition_variable has_ended;
  const OwnedFd event{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

namespace {

/// One read through the kernel. Slow.
Result<std::vector<std::uint8_t>> perform(Host& host, std::optional<EthtoolFamily>& family,
                                          const ModuleRead& read) {
  if (!family) {
    const auto resolved = resolve_ethtool_family(host);
    if (!resolved) {
      // A kernel without ethtool netlink has no module interface.
      const bool missing = resolved.error().errnum == ENOENT;
      return missing ? Error{"no ethtool netlink", EOPNOTSUPP} : resolved.error();
    }
    family = *resolved;
  }
  return read_module(host, *family, read.ifindex, read.page);
}

}  // namespace

ModuleReader::ModuleReader(std::unique_ptr<Host> host, const Clock& clock, ModuleTiming timing)
    : shared_(std::make_shared<Shared>(std::move(host), clock, timing)),
      thread_(quiet_thread([shared = shared_] { run(shared); })) {}

ModuleReader::~ModuleReader() {
  bool ended = false;
  {
    std::unique_lock lock(shared_->mutex);
    shared_->stop = true;
    shared_->wake.notify_one();
    ended = shared_->has_ended.wait_for(lock, kStopPatience, [this] { return shared_->ended; });
  }
  ended ? thread_.join() : thread_.detach();
}

void ModuleReader::run(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  while (!shared->stop) {
    const SteadyTime now = shared->clock.steady();
    const auto read = shared->schedule.next(now);
    if (read) {
      shared->busy = ModuleBusy{read->port, now};
      const Microseconds begun = shared->clock.fine();
      lock.unlock();
      const auto answer = perform(*shared->host, shared->family, *read);
      lock.lock();
      shared->busy.reset();
      if (shared->stop) break;
      shared->schedule.done(*read, answer, shared->clock.fine() - begun, shared->clock.steady(),
                            shared->clock.wall());
    }
    if (shared->schedule.has_rounds()) eventfd_write(shared->event.get(), 1);
    if (read) continue;
    const auto wake_at = shared->schedule.wake_at();
    if (wake_at) {
      shared->wake.wait_for(lock, std::max(*wake_at - shared->clock.steady(), Milliseconds{1}));
    } else {
      shared->wake.wait(lock);
    }
  }
  shared->ended = true;
  shared->has_ended.notify_one();
}

void ModuleReader::set_ports(const std::vector<ModulePort>& ports) {
  const std::lock_guard lock(shared_->mutex);
  shared_->schedule.set_ports(ports, shared_->clock.steady());
  shared_->wake.notify_one();
}

void ModuleReader::request(const PortKey& port) {
  const std::lock_guard lock(shared_->mutex);
  shared_->schedule.request(port, shared_->clock.steady());
  shared_->wake.notify_one();
}

std::vector<ModuleRound> ModuleReader::collect_rounds() {
  const std::lock_guard lock(shared_->mutex);
  eventfd_t count = 0;
  eventfd_read(shared_->event.get(), &count);
  return shared_->schedule.collect_rounds();
}

std::optional<ModuleBusy> ModuleReader::busy() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->busy;
}

int ModuleReader::event_fd() const { return shared_->event.get(); }

}  // namespace linkhealth
