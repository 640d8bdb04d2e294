#include "storage/history/history_writer.h"

#include <utility>

namespace linkhealth {

namespace {

template <typename T>
std::uint64_t keep_newest(std::vector<T>& list, std::size_t limit) {
  const std::size_t over = list.size() > limit ? list.size() - limit : 0;
  list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(over));
  return over;
}

}  // namespace

HistoryWriter::HistoryWriter(HistoryStore& store, std::function<void()> after)
    : store_(store), after_(std::move(after)), thread_([this] { run(); }) {}

HistoryWriter::~HistoryWriter() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
  store_.close();
}

void HistoryWriter::drop_oldest() {
  dropped_rows_ += keep_newest(waiting_.rows, kMaxWaitingRows);
  dropped_events_ += keep_newest(waiting_.events, kMaxWaitingEvents);
  keep_newest(waiting_.identities, kMaxWaitingRows);  // the latest entry of each module is enough
}

void HistoryWriter::add(HistoryBatch batch) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.append(std::move(batch));
    drop_oldest();
    pending_ = true;
  }
  changed_.notify_all();
}

void HistoryWriter::put_back(HistoryBatch failed) {
  if (!waiting_.empty()) failed.append(std::move(waiting_));
  waiting_ = std::move(failed);
  drop_oldest();
}

void HistoryWriter::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !pending_ && !busy_; });
}

HistoryFigures HistoryWriter::figures() const {
  HistoryFigures figures = store_.figures();
  const std::lock_guard lock(mutex_);
  figures.dropped_rows = dropped_rows_;
  figures.dropped_events = dropped_events_;
  return figures;
}

void HistoryWriter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || pending_; });
    if (!pending_) return;
    pending_ = false;
    busy_ = true;
    HistoryBatch batch = std::exchange(waiting_, {});
    lock.unlock();
    const bool written = store_.write(batch).ok();
    after_();
    lock.lock();
    if (!written) put_back(std::move(batch));
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace linkhealth
