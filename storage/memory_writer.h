// Writes to the memory beside the deciding thread, which never waits for a disk: it hands over a
// batch and goes on. What comes while a write is under way goes with the next one. Rows of history
// alone are gathered, for a minute at most and not when somebody asks for them: to wake up for each
// was a quarter of what an idle node costs. What waits is bounded; what is dropped is counted.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "storage/memory.h"

namespace linkhealth {

class MemoryWriter {
 public:
  /// `after` is called on the writer's thread once at its start and after each write, whether that
  /// succeeded or not: there what is undelivered can be sent. Both must outlive the writer.
  MemoryWriter(Memory& memory, std::function<void()> after);
  MemoryWriter(const MemoryWriter&) = delete;
  MemoryWriter& operator=(const MemoryWriter&) = delete;
  /// Writes what is left, then closes the memory.
  ~MemoryWriter();
  /// Rows of history wait for each other: so many at most, and so long.
  static constexpr std::size_t kGatheredRows = 96;
  static constexpr Milliseconds kGatherFor{60'000};

  /// Takes a lock for as long as it takes to append.
  void remember(MemoryBatch batch);
  /// Waits until all that was handed over before was tried.
  void drain();
  /// Those of the memory, with what was dropped here.
  [[nodiscard]] MemoryFigures figures() const;

 private:
  void run();
  /// Somebody asks for history: what waits is written first, unless the disk takes its time.
  void write_for_reader();

  Memory& memory_;
  std::function<void()> after_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  MemoryBatch next_;
  bool busy_ = true;  ///< until the first `after`
  bool ending_ = false;
  bool wanted_ = false;                    ///< what waits is to be written now
  std::optional<WallTime> gathers_since_;  ///< rows wait for more
  std::uint64_t dropped_rows_ = 0, dropped_events_ = 0;
  std::thread thread_;  ///< last: it uses all of the above
};

}  // namespace linkhealth
