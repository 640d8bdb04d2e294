// Writes to the history database on its own thread, so that the deciding thread never waits for the
// disk. Batches that arrive during a write, and a batch that could not be written, are part of the
// next write. The queue is bounded; dropped rows and events are counted.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "storage/history/history_store.h"

namespace linkhealth {

class HistoryWriter {
 public:
  /// Limits of the queue.
  static constexpr std::size_t kMaxWaitingRows = 1000, kMaxWaitingEvents = 2000;

  /// `after` is called on the writer's thread after each write, successful or not. Both must
  /// outlive the writer.
  HistoryWriter(HistoryStore& store, std::function<void()> after);
  HistoryWriter(const HistoryWriter&) = delete;
  HistoryWriter& operator=(const HistoryWriter&) = delete;
  /// Writes what is queued, then closes the store.
  ~HistoryWriter();

  void add(HistoryBatch batch);
  /// Waits until everything added so far has been attempted to be written.
  void drain();
  /// The store's figures, with the number of dropped rows and events.
  [[nodiscard]] HistoryFigures figures() const;

 private:
  void run();
  void put_back(HistoryBatch failed);
  void drop_oldest();

  HistoryStore& store_;
  std::function<void()> after_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  HistoryBatch waiting_;
  bool pending_ = false;  ///< something was added since the last attempt
  bool busy_ = false;
  bool ending_ = false;
  std::uint64_t dropped_rows_ = 0, dropped_events_ = 0;
  std::thread thread_;  ///< last: it uses all of the above
};

}  // namespace linkhealth
