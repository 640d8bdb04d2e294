// The deciding thread's loop: waits for a time or a descriptor, polls the source, steps the engine,
// publishes the result. None of this may block: other threads do the reads that may
// (daemon/sampling/blocking_read_pool.h), and their results make a descriptor readable. HTTP has
// its own thread.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "daemon/engine/engine.h"
#include "daemon/sampling/source.h"

namespace linkhealth {

struct LoopHooks {
  /// Held while the engine steps and on_step() runs; other threads that use the engine hold it too.
  /// nullptr: there are none.
  std::mutex* deciding = nullptr;
  /// Called after each step. `lateness_s`: how late the loop woke up for it.
  std::function<void(const Snapshot& snapshot, const Engine::Step& step, double lateness_s)>
      on_step;
  /// SIGHUP.
  std::function<void()> on_reload;
  /// The service manager's status line after a step ("10 ports, 1 fault").
  std::function<std::string()> status;
};

/// Blocks the signals that the loop handles as events. REQUIRES: called before the first thread is
/// started.
void block_loop_signals();

/// Runs until SIGTERM or SIGINT. Notifies systemd (sd_notify(3)): READY after the first poll,
/// WATCHDOG, STOPPING at the end. An error only when the loop itself can't be set up.
Result<void> run_loop(Source& source, Engine& engine, const Clock& clock, const LoopHooks& hooks);

}  // namespace linkhealth
