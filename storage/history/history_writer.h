// Writes to the history database on a thread of its own: the deciding thread hands over a batch and
// goes on. What comes during a write goes with the next one, and so does a batch that could not be
// written. What waits is bounded; what is dropped is counted.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "storage/history/history_store.h"

namespace linkhealth {

class HistoryWriter {
 public:
  /// Rows and events that wait for the disk, at most.
  static constexpr std::size_t kMaxWaitingRows = 1000, kMaxWaitingEvents = 2000;

  /// `after` is called on the writer's thread after each write, whether that succeeded or not. Both
  /// must outlive the writer.
  HistoryWriter(HistoryStore& store, std::function<void()> after);
  HistoryWriter(const HistoryWriter&) = delete;
  HistoryWriter& operator=(const HistoryWriter&) = delete;
  /// Writes what waits, then closes the store.
  ~HistoryWriter();

  void add(HistoryBatch batch);
  /// Waits until all that was added before was tried.
  void drain();
  /// Those of the store, with what was dropped here.
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
