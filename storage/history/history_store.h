// The history database: linkhealth.db in the state directory. It holds what survives a restart:
// open faults, events, repairs, baselines, which module was in which port, and the signals of each
// port in steps of 10 s, 60 s and 10 min. Events and the resulting fault state are written in one
// transaction. All methods may be called from any thread except the deciding thread, because each
// may wait for the disk: that thread uses HistoryWriter (storage/history/history_writer.h).
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "storage/history/clock_trust.h"
#include "storage/history/history_tables.h"
#include "storage/history/sqlite.h"

namespace linkhealth {

struct HistorySettings {
  std::string directory;  ///< "": in memory only
  bool signals = true;    ///< store the signals of each port
  /// Retention for each of kSignalSteps_s.
  std::array<double, 3> keep_s{86'400, 1'209'600, 7'776'000};
  double keep_events_s = 7'776'000;      ///< also for repairs
  std::int64_t max_bytes = 150'000'000;  ///< maximum size of the file
};

/// The content of one transaction.
struct HistoryBatch {
  /// Ports whose stable key changed since the previous batch. The rest of this batch uses the new
  /// keys. Ledger and baselines must be in the same batch: otherwise a restart would repeat the
  /// move. No key is "".
  std::vector<PortMoves> moves;
  std::vector<StoredEvent> events;
  std::optional<LedgerState> ledger;  ///< after those events
  std::optional<ReferenceState> references;
  std::vector<SignalRow> rows;  ///< with the shortest step, oldest first
  std::vector<KeptIdentity> identities;
  WallTime now;  ///< of the latest step in it
  /// The steady clock at `now`; nullopt: unknown, `now` is trusted.
  std::optional<SteadyTime> taken_at;
  [[nodiscard]] bool empty() const {
    return moves.empty() && events.empty() && !ledger && !references && rows.empty() &&
           identities.empty();
  }
  /// Appends a newer batch.
  void append(HistoryBatch newer);
};

/// The state of the last run.
struct SavedState {
  LedgerState ledger;
  ReferenceState references;
};

struct HistoryFigures {
  bool working = true;       ///< the last write succeeded
  std::string error;         ///< why the last write failed
  std::uint64_t writes = 0;  ///< transactions that succeeded
  std::uint64_t failures = 0;
  std::uint64_t dropped_rows = 0, dropped_events = 0;  ///< the queue was full (HistoryWriter)
  std::int64_t bytes = 0;                              ///< used space in the file
  bool trimmed = false;  ///< history is shorter than configured, because max_bytes is too small
  std::uint64_t trimmed_events = 0;  ///< deleted early, for the same reason
};

struct TimelineQuery {
  std::string port;  ///< stable key
  WallTime now;
  double since_s = 604'800;
  /// Nullopt: the finest one with at most kMaxTimelineSteps.
  std::optional<std::uint32_t> step_s{};
};
inline constexpr std::size_t kMaxTimelineSteps = 2200;

class HistoryStore {
 public:
  /// Never fails: errors are in new_notes(). A write tries to open the file again, at most once in
  /// kReopenEvery because opening reads the whole file.
  static std::unique_ptr<HistoryStore> open(HistorySettings settings, WallTime now);
  explicit HistoryStore(HistorySettings settings) : settings_(std::move(settings)) {}

  [[nodiscard]] const SavedState& saved() const { return saved_; }
  /// One transaction: all of the batch or nothing.
  Result<void> write(const HistoryBatch& batch);
  /// Flushes to the database file. Later writes fail.
  void close();

  /// `port` of the result is empty: the database has stable keys, not labels.
  Result<PortTimeline> timeline(const TimelineQuery& query);
  /// The latest events of all ports, oldest first.
  Result<std::vector<FaultEvent>> newest_events(std::size_t limit);
  /// Where a module or cable was; most recently seen first.
  Result<std::vector<KeptIdentity>> identities_of(const std::string& serial);
  /// Never waits for a write.
  [[nodiscard]] HistoryFigures figures() const;
  /// Log messages since the last call: a damaged file was renamed, the disk cannot be written.
  std::vector<std::string> new_notes();

  static constexpr Milliseconds kReopenEvery{10'000};

 private:
  [[nodiscard]] std::string path() const { return settings_.directory + "/linkhealth.db"; }
  Result<void> open_file(WallTime now);
  Result<void> reopen(WallTime now);
  Result<void> prepare();
  Result<void> replace_damaged(const Error& damage, WallTime now);
  Result<void> read_saved(SqlDatabase& database);
  Result<void> write_batch(const HistoryBatch& batch);
  [[nodiscard]] bool judges_age(const HistoryBatch& batch);
  void delete_old(const HistoryBatch& batch);
  void delete_oldest_share();
  Result<void> limit_size(WallTime now);
  bool is_near_limit();
  template <typename Query>
  auto read(Query query) -> Result<std::invoke_result_t<Query, SqlDatabase&>>;
  void note_result(const Result<void>& result);

  HistorySettings settings_;
  mutable std::mutex mutex_;
  std::optional<SqlDatabase> database_;  ///< nullopt: not opened yet, or closed
  bool closed_ = false;
  std::optional<WallTime> open_failed_at_;
  ClockTrust clock_trust_;
  SavedState saved_;
  std::optional<WallTime> size_checked_at_;
  std::vector<std::string> notes_;
  mutable std::mutex figures_mutex_;  ///< never held during disk I/O
  HistoryFigures figures_;
};

/// Whether the file itself is damaged, as opposed to inaccessible or full.
bool means_damage(const Error& error);

}  // namespace linkhealth
