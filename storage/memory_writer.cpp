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

bool only_rows(const MemoryBatch& batch) {
  return batch.moves.empty() && batch.events.empty() && !batch.ledger && !batch.references &&
         batch.identities.empty();
}

constexpr Milliseconds kReadersPatience{200};

}  // namespace

MemoryWriter::MemoryWriter(Memory& memory, std::function<void()> after)
    : memory_(memory), after_(std::move(after)), thread_([this] { run(); }) {
  memory_.before_past([this] { write_for_reader(); });
}

MemoryWriter::~MemoryWriter() {
  memory_.before_past({});
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
  memory_.close();
}

void MemoryWriter::remember(MemoryBatch batch) {
  const bool works =
      memory_.figures().working;  // what could not be written is tried again with each batch
  {
    const std::lock_guard lock(mutex_);
    if (!gathers_since_) gathers_since_ = batch.now;
    const bool gathered = next_.rows.size() + batch.rows.size() > kGatheredRows ||
                          std::chrono::abs(batch.now - *gathers_since_) >= kGatherFor;
    wanted_ = wanted_ || gathered || !only_rows(batch) || !works;
    next_.append(std::move(batch));
    dropped_rows_ += drop_oldest(next_.rows, Memory::kMaxWaitingRows);
    dropped_events_ += drop_oldest(next_.events, Memory::kMaxWaitingEvents);
    drop_oldest(next_.identities, Memory::kMaxWaitingRows);
    if (!wanted_) return;
  }
  changed_.notify_all();
}

void MemoryWriter::drain() {
  std::unique_lock lock(mutex_);
  wanted_ = !next_.empty();
  changed_.notify_all();
  changed_.wait(lock, [this] { return next_.empty() && !busy_; });
}

void MemoryWriter::write_for_reader() {
  std::unique_lock lock(mutex_);
  if (next_.empty()) return;
  wanted_ = true;
  changed_.notify_all();
  changed_.wait_for(lock, kReadersPatience, [this] { return !wanted_ && !busy_; });
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
    changed_.wait(lock, [this] { return ending_ || wanted_; });
    wanted_ = false;
    if (next_.empty() && ending_) return;
    if (next_.empty()) continue;
    busy_ = true;
    gathers_since_.reset();
    MemoryBatch batch = std::exchange(next_, MemoryBatch{});
    lock.unlock();
    // The memory keeps its figures, and the batch until it can be written: nothing is left to do
    // about an error here.
    static_cast<void>(memory_.write(std::move(batch)).ok());
    after_();
    lock.lock();
  }
}

}  // namespace linkhealth
