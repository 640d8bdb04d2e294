// What the daemon remembers: gathers each step on the deciding thread, writes it beside that
// (storage/memory_writer.h), and announces events once their write was tried.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
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
  /// Starts the writer. `announce` is called on its thread, once for each event, in order.
  void start(std::function<void(const FaultEvent&)> announce);

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
  void announce_new();
  void say_health();

  const Log& log_;
  bool history_, on_disk_;
  std::unique_ptr<Memory> memory_;
  std::function<void(const FaultEvent&)> announce_;
  std::mutex new_events_mutex_;
  std::vector<FaultEvent> new_events_;  ///< to be announced after the next write
  std::unique_ptr<MemoryWriter> writer_;
  SignalCollector collector_;
  IdentityWatch identities_;
  LedgerState ledger_;  ///< as it was handed over last
  std::optional<WallTime> references_at_;
  bool was_working_ = true;  ///< the writer's thread's own, as the next
  bool said_trimmed_ = false, said_dropped_ = false;
};

}  // namespace linkhealth
