// The memory of the daemon: linkhealth.db in the state directory. Open faults, events, repairs,
// references, who was plugged where, and the history of the signals that matter. All methods may be
// called from any thread; each holds one lock for one short transaction or query, and none is for
// the deciding thread, which hands its batches to a MemoryWriter (storage/memory_writer.h).
//
// Events are written before they are sent. Who sends them is a sink with a name: it asks for what
// is undelivered, sends it, and marks it. What was sent and not marked before a kill is sent again,
// with the same id. Events that cannot be written (a full disk) are kept here, are undelivered like
// all others, and are written as soon as the disk takes them.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "storage/memory_tables.h"
#include "storage/sqlite.h"

namespace linkhealth {

struct MemorySettings {
  std::string directory;  ///< "": nothing outlives the program
  bool history = true;
  std::array<double, 3> keep_s{86'400, 1'209'600, 7'776'000};  ///< of each of kSignalSteps_s
  double keep_events_s = 7'776'000;
  std::int64_t max_bytes = 100'000'000;  ///< of the file
};

/// What is written in one transaction.
struct MemoryBatch {
  /// Ports have other stable keys since the batch before, and all that is in this one has the new
  /// ones. With ledger and references in the same batch: half of a move would be moved again after
  /// a restart. No key is "".
  std::vector<PortMoves> moves;
  std::vector<KeptEvent> events;
  std::optional<LedgerState> ledger;  ///< as it is after those events
  std::optional<ReferenceState> references;
  std::vector<SignalRow>
      rows;  ///< of the shortest step, oldest first; the longer ones are folded here
  std::vector<KeptIdentity> identities;
  WallTime now;  ///< of the latest step in it
  [[nodiscard]] bool empty() const {
    return moves.empty() && events.empty() && !ledger && !references && rows.empty() &&
           identities.empty();
  }
  /// What waits here from before a move goes to the ports' new stable keys.
  void follow(const PortMoves& moved_ports);
  /// Puts what is newer behind what is here.
  void append(MemoryBatch newer);
};

/// What an earlier run left.
struct Remembered {
  LedgerState ledger;
  ReferenceState references;
};

struct MemoryFigures {
  bool working = true;       ///< the last write succeeded
  std::string error;         ///< why not
  std::uint64_t writes = 0;  ///< transactions that succeeded
  std::uint64_t failures = 0;
  std::uint64_t dropped_rows = 0,
                dropped_events = 0;  ///< could not be kept until they could be written
  std::int64_t bytes = 0;            ///< of the file, without what is free in it
  bool trimmed = false;  ///< history is shorter than configured: max_bytes is too small for it
};

/// A question for the past of a port.
struct PastQuery {
  std::string port;  ///< stable key
  WallTime now;
  double since_s = 604'800;
  std::optional<std::uint32_t> step_s{};  ///< nullopt: the finest with at most kMaxPastSteps
};
inline constexpr std::size_t kMaxPastSteps = 2200;

class Memory {
 public:
  /// Opens, checks, migrates and imports; never fails: what could not be done is in take_notes(),
  /// and is tried again with a write: after kOpenFirst, then each time after twice as long, at most
  /// kOpenLongest.
  static std::unique_ptr<Memory> open(MemorySettings settings, WallTime now);
  explicit Memory(MemorySettings settings) : settings_(std::move(settings)) {}

  [[nodiscard]] const Remembered& remembered() const { return remembered_; }
  /// One transaction. On an error everything is kept and goes with the next write.
  Result<void> write(MemoryBatch batch);
  /// The last bytes into the database file; afterwards nothing is written any more.
  void close();

  /// Makes `sink` known. One that is new begins with the next event.
  void add_sink(const std::string& sink);
  /// What `sink` was not marked to have sent, oldest first, at most `limit`. Empty for a sink that
  /// is not known.
  Result<std::vector<KeptEvent>> undelivered(const std::string& sink, std::size_t limit);
  /// This event and all before it were sent by `sink`. When it cannot be written now, it is with
  /// the next write.
  void mark_delivered(const std::string& sink, const std::string& event_id);

  /// Called before each answer to past(), on the thread that asks: what waits to be written can be
  /// written first.
  void before_past(std::function<void()> call);
  /// `port` of the answer is left empty: labels are not the memory's.
  Result<PortPast> past(const PastQuery& query);
  /// What happened to all ports last, oldest first; empty when nothing is remembered.
  Result<std::vector<KeptEvent>> newest_events(std::size_t limit);
  /// Where a module or cable was, seen last first.
  Result<std::vector<KeptIdentity>> identities_of(const std::string& serial);
  /// Never waits for a write: also for the deciding thread.
  [[nodiscard]] MemoryFigures figures() const;
  /// What an operator should read once, a sentence each: a file set aside, a disk that cannot be
  /// written.
  std::vector<std::string> take_notes();

  /// Between two tries to open a file, which may read all of it.
  static constexpr Milliseconds kOpenFirst{1'000}, kOpenLongest{60'000};
  /// Rows and events that wait for the disk, at most.
  static constexpr std::size_t kMaxWaitingRows = 1000, kMaxWaitingEvents = 2000;

 private:
  struct Sink {
    std::int64_t delivered = 0;  ///< the number of the last event in the database that it has sent
    std::size_t of_waiting = 0;  ///< and so many of those that wait
    bool known = false;          ///< was looked up in the database
    bool changed = false;        ///< not written yet
  };

  [[nodiscard]] std::string path() const;
  Result<void> open_file(WallTime now);
  Result<void> open_again(WallTime now);
  Result<void> prepare(WallTime now);
  Result<void> start_anew(const Error& damage, WallTime now);
  void read_only_look();
  Result<void> import_files();
  Result<void> fold_from_rows(WallTime now);
  Result<void> remember_again();
  bool near_limit();
  Result<void> write_waiting();
  Result<void> write_events();
  Result<void> write_rows();
  Result<void> forget_old(WallTime now);
  Result<void> keep_small();
  Result<void> look_up(Sink& sink, const std::string& name);
  Result<void> fill_signals(const PastQuery& query, PortPast& past);
  void hold(MemoryBatch batch);
  void note_written(const Result<void>& result);

  MemorySettings settings_;
  mutable std::mutex mutex_;
  std::optional<SqlDatabase> database_;  ///< none: could not be opened yet, or is closed
  bool closed_ = false;
  std::optional<WallTime> opened_at_;  ///< when it was tried last, and failed
  Milliseconds open_wait_{};           ///< from then on
  Remembered remembered_;
  MemoryBatch waiting_;  ///< what is not in the database yet
  std::map<std::string, Sink> sinks_;
  SignalFolder folder_;
  std::int64_t small_checked_s_ = 0;
  MemoryFigures figures_;
  std::mutex before_past_mutex_;
  std::function<void()> before_past_;
  mutable std::mutex shown_mutex_;
  MemoryFigures shown_;  ///< figures_ after the last write
  std::vector<std::string> notes_;
};

/// Whether an error says that the file itself is damaged, not that it can't be reached or written.
bool means_damage(const Error& error);

}  // namespace linkhealth
