// Writes to the memory beside the deciding thread, which never waits for a disk: it hands over a batch and goes on.
// What comes while a write is under way goes with the next one. What waits is bounded; what is dropped is counted.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "storage/memory.h"

namespace linkhealth {

class MemoryWriter {
 public:
  /// `after` is called on the writer's thread once at its start and after each write, whether that succeeded or not:
  /// there what is undelivered can be sent. Both must outlive the writer.
  MemoryWriter(Memory& memory, std::function<void()> after);
  MemoryWriter(const MemoryWriter&) = delete;
  MemoryWriter& operator=(const MemoryWriter&) = delete;
  /// Writes what is left, then closes the memory.
  ~MemoryWriter();

  /// Takes a lock for as long as it takes to append.
  void remember(MemoryBatch batch);
  /// Waits until all that was handed over before was tried. For tests and the end.
  void drain();
  /// Those of the memory, with what was dropped here.
  [[nodiscard]] MemoryFigures figures() const;

 private:
  void run();

  Memory& memory_;
  std::function<void()> after_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  MemoryBatch next_;
  bool busy_ = true;  ///< until the first `after`
  bool ending_ = false;
  std::uint64_t dropped_rows_ = 0, dropped_events_ = 0;
  std::thread thread_;  ///< last: it uses all of the above
};

}  // namespace linkhealth
