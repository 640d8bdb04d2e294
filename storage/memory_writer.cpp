#include "storage/memory_writer.h"

#include <algorithm>
#include <utility>

namespace linkhealth {

namespace {

template <typename T>
std::uint64_t drop_oldest(std::vector<T>& list, std::size_t limit) {
  const std::size_t over = list.size() > limit ? list.size() - limit : 0;
  list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(over));
  return over;
}

}  // namespace

MemoryWriter::MemoryWriter(Memory& memory, std::function<void()> after)
    : memory_(memory), after_(std::move(after)), thread_([this] { run(); }) {}

MemoryWriter::~MemoryWriter() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
  memory_.close();
}

void MemoryWriter::remember(MemoryBatch batch) {
  {
    const std::lock_guard lock(mutex_);
    next_.append(std::move(batch));
    dropped_rows_ += drop_oldest(next_.rows, Memory::kMaxWaitingRows);
    dropped_events_ += drop_oldest(next_.events, Memory::kMaxWaitingEvents);
    drop_oldest(next_.identities, Memory::kMaxWaitingRows);
  }
  changed_.notify_all();
}

void MemoryWriter::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return next_.empty() && !busy_; });
}

MemoryFigures MemoryWriter::figures() const {
  MemoryFigures figures = memory_.figures();
  const std::lock_guard lock(mutex_);
  figures.dropped_rows += dropped_rows_;
  figures.dropped_events += dropped_events_;
  return figures;
}

void MemoryWriter::run() {
  after_();
  std::unique_lock lock(mutex_);
  for (;;) {
    busy_ = false;
    changed_.notify_all();
    changed_.wait(lock, [this] { return ending_ || !next_.empty(); });
    if (next_.empty()) return;
    busy_ = true;
    MemoryBatch batch = std::exchange(next_, MemoryBatch{});
    lock.unlock();
    // The memory keeps its figures, and the batch until it can be written: nothing is left to do about an error here.
    static_cast<void>(memory_.write(std::move(batch)).ok());
    after_();
    lock.lock();
  }
}

}  // namespace linkhealth
