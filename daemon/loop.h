// What the daemon does all day: waits, polls the source, steps the engine, hands the result on.
// Nothing of that may block, and some reads do. So a few threads take turns (leader and followers):
// whoever wakes up has the turn, does what is to be done, gives the turn away, makes the reads that
// may block, and takes it again for what they gave. In the usual case one thread does all of a
// cycle and none is woken by another. Meanwhile a second one waits, for the next time or event:
// when a read hangs it goes on with the rest, and a third one comes to wait. "The deciding thread"
// is the one that has the turn. Who asks for metrics or anything else is answered by the thread
// that woke, before it takes the turn; then it makes the next sample a little before its time,
// instead of waking up again for it.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "daemon/engine.h"
#include "daemon/source.h"

namespace linkhealth {

struct LoopHooks {
  /// Held while the engine steps and on_step() runs; whoever else uses the engine holds it too.
  /// nullptr: nobody else.
  std::mutex* deciding = nullptr;
  /// After each step. `lateness_s`: how much later than planned the loop came to it.
  std::function<void(const Snapshot& snapshot, const Engine::Step& step, double lateness_s)>
      on_step;
  /// What is not the source's and may block as well (other people's directories): whether there is
  /// such work, and the work, which the thread that is awake does after the source's. It tells
  /// nothing to the loop. Both or neither.
  std::function<bool()> wants_thread;
  std::function<std::function<void()>()> work;
  /// Who asks us: a descriptor that is readable then (-1: nobody does), and what serves them, on
  /// the thread that woke and whoever has the turn. Whether a request was answered; may be called
  /// after the loop's end.
  int requests_fd = -1;
  std::function<bool()> serve_requests;
  /// SIGHUP.
  std::function<void()> on_reload;
  /// The service manager's status line after a step ("10 ports, 1 fault").
  std::function<std::string()> status;
};

/// Blocks the signals that the loop takes as events. REQUIRES: called before the first thread is
/// started.
void block_loop_signals();

/// Runs until the process is sent SIGTERM or SIGINT. Hooks are called on any thread of the loop,
/// one at a time. Tells the service manager READY after the first poll, feeds its watchdog, and
/// STOPPING at the end, which waits for no read that hangs. An Error only when the loop itself
/// can't be set up.
Result<void> run_loop(Source& source, Engine& engine, const Clock& clock, const LoopHooks& hooks);

}  // namespace linkhealth
