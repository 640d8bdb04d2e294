// What the daemon remembers: gathers each step on the deciding thread, writes it beside that
// (storage/memory_writer.h), and lets those send events who are to, once they are written.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "daemon/log.h"
#include "exporters/metrics.h"
#include "model/identities.h"
#include "model/signal_steps.h"
#include "storage/memory_writer.h"

namespace linkhealth {

std::span<const KnobGroup> memory_knob_groups();
/// `directory` "": nothing is kept (a played recording is nobody's past).
MemorySettings memory_settings(const KnobTable& knobs, std::string directory);

/// One who sends events; `name` lasts over restarts. On an error the event comes again with the
/// next write.
struct EventSink {
  std::string name;
  std::function<Result<void>(const KeptEvent&)> send;
};

class MemoryKeeper {
 public:
  /// What an operator should know of the start is logged.
  MemoryKeeper(MemorySettings settings, WallTime now, const Log& log);
  /// Writes what is left.
  ~MemoryKeeper();
  MemoryKeeper(const MemoryKeeper&) = delete;
  MemoryKeeper& operator=(const MemoryKeeper&) = delete;

  [[nodiscard]] const Remembered& remembered() const { return memory_->remembered(); }
  [[nodiscard]] Memory& memory() { return *memory_; }
  /// The newest events of earlier runs, oldest first: who asks for events after a restart, or
  /// follows them, misses none.
  [[nodiscard]] std::vector<FaultEvent> earlier_events(std::size_t limit);
  /// Starts the writer. `sinks` are called on its thread, one event after the other, oldest first;
  /// what a former run did not send comes first.
  void start(std::vector<EventSink> sinks);

  /// One step of the deciding thread. Asks `references` for what is normal each quarter of an hour,
  /// and when ports have other stable keys than in the step before, as `moves` says.
  void on_step(const Snapshot& snapshot, const Report& report,
               const std::vector<FaultEvent>& events, LedgerState ledger,
               const std::function<ReferenceState()>& references, const PortMoves& moves = {});
  /// What people said, before they are answered. Waits for the disk; an error says why it would be
  /// forgotten.
  Result<void> keep(LedgerState ledger, WallTime now);
  /// The last step: what is not over is written too.
  void finish(const ReferenceState& references, WallTime now);
  /// For the metrics; nullopt when nothing is kept on a disk.
  [[nodiscard]] std::optional<MemoryHealth> health() const;

 private:
  void deliver();
  void say_health();

  const Log& log_;
  bool history_, on_disk_;
  std::unique_ptr<Memory> memory_;
  std::vector<EventSink> sinks_;
  std::unique_ptr<MemoryWriter> writer_;
  SignalCollector collector_;
  IdentityWatch identities_;
  LedgerState ledger_;  ///< as it was handed over last
  std::optional<WallTime> references_at_;
  bool was_working_ = true;  ///< the writer's thread's own, as the next
  bool said_trimmed_ = false, said_dropped_ = false;
  std::map<std::string, std::string> said_of_sink_;
};

}  // namespace linkhealth
