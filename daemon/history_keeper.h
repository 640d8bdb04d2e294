// Saves each step of the deciding thread in the history database through a writer thread
// (storage/history/history_writer.h), and announces events after the attempt to write them.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "daemon/log.h"
#include "exporters/metrics/metrics.h"
#include "model/history/identities.h"
#include "model/history/signal_steps.h"
#include "storage/history/history_writer.h"

namespace linkhealth {

std::span<const SettingGroup> history_setting_groups();
/// `directory` "": in memory only (a played recording is not this node's history).
HistorySettings history_settings(const SettingTable& table, std::string directory);

class HistoryKeeper {
 public:
  /// Problems at the start are logged.
  HistoryKeeper(HistorySettings settings, WallTime now, const Log& log);
  /// Writes the queued steps.
  ~HistoryKeeper();
  HistoryKeeper(const HistoryKeeper&) = delete;
  HistoryKeeper& operator=(const HistoryKeeper&) = delete;

  [[nodiscard]] const SavedState& saved() const { return store_->saved(); }
  [[nodiscard]] HistoryStore& store() { return *store_; }
  /// The newest events of earlier runs, oldest first, for clients that list or follow events.
  [[nodiscard]] std::vector<FaultEvent> earlier_events(std::size_t limit);
  /// Starts the writer thread, which calls `announce` once for each event, in order.
  void start(std::function<void(const FaultEvent&)> announce);

  /// Adds one step of the deciding thread. `moves`: stable keys that changed since the previous
  /// step. Calls `references` every 15 min, and if there are moves.
  void add_step(const Snapshot& snapshot, const Report& report,
                const std::vector<FaultEvent>& events, LedgerState ledger,
                const std::function<ReferenceState()>& references, const PortMoves& moves = {});
  /// Saves an operator's action before it is answered. Waits for the disk. After an error, a
  /// restart would lose it.
  Result<void> save(LedgerState ledger, WallTime now);
  /// The last step: also writes the unfinished step of signals.
  void finish(const ReferenceState& references, WallTime now);
  /// For the metrics; nullopt without a state directory.
  [[nodiscard]] std::optional<StoreHealth> health() const;

 private:
  void announce_new();
  void log_health();

  const Log& log_;
  bool signals_, on_disk_;
  std::unique_ptr<HistoryStore> store_;
  std::function<void(const FaultEvent&)> announce_;
  std::mutex new_events_mutex_;
  std::vector<FaultEvent> new_events_;  ///< announced after the next write
  SignalCollector collector_;
  IdentityWatch identities_;
  LedgerState ledger_;  ///< as last saved
  std::optional<WallTime> references_at_;
  bool was_working_ = true;  ///< used only by the writer thread, like the next one
  bool trimmed_logged_ = false, dropped_logged_ = false;
  std::unique_ptr<HistoryWriter> writer_;  ///< last: its thread uses all of the above
};

}  // namespace linkhealth
