#include "storage/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "storage/memory_schema.h"

namespace linkhealth {

namespace tables = memory_tables;

namespace {

/// Rows and events that are forgotten with one write, at most: a clock that jumps years ahead
/// forgets slowly.
constexpr std::int64_t kForgetAtOnce = 256;
/// How often the file's size is looked at, in the time of the rows.
constexpr std::int64_t kSizeEvery_s = 600;
/// When the file is so full, a sixteenth of history goes.
constexpr double kFull = 0.95;
constexpr std::int64_t kForgetShare = 16;

template <typename T>
std::size_t keep_newest(std::vector<T>& list, std::size_t limit) {
  const std::size_t over = list.size() > limit ? list.size() - limit : 0;
  list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(over));
  return over;
}

template <typename T>
void move_behind(std::vector<T>& list, std::vector<T>& newer) {
  std::move(newer.begin(), newer.end(), std::back_inserter(list));
}

std::int64_t in_whole_seconds(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

}  // namespace

void MemoryBatch::append(MemoryBatch newer) {
  for (const PortMoves& one : newer.moves) follow(one);
  move_behind(moves, newer.moves);
  move_behind(events, newer.events);
  move_behind(rows, newer.rows);
  move_behind(identities, newer.identities);
  if (newer.ledger) ledger = std::move(newer.ledger);
  if (newer.references) references = std::move(newer.references);
  now = newer.now;
}

std::string Memory::path() const { return settings_.directory + "/linkhealth.db"; }

void Memory::hold(MemoryBatch batch) {
  waiting_.append(std::move(batch));
  figures_.dropped_rows += keep_newest(waiting_.rows, kMaxWaitingRows);
  const std::size_t lost = keep_newest(waiting_.events, kMaxWaitingEvents);
  figures_.dropped_events += lost;
  for (auto& [name, sink] : sinks_) sink.of_waiting -= std::min(sink.of_waiting, lost);
  // The latest word on each module is enough.
  keep_newest(waiting_.identities, kMaxWaitingRows);
}

void Memory::note_written(const Result<void>& result) {
  figures_.working = result.ok();
  figures_.error = result ? "" : result.error().message;
  ++(result ? figures_.writes : figures_.failures);
  const std::lock_guard lock(shown_mutex_);
  shown_ = figures_;
}

Result<void> Memory::write(MemoryBatch batch) {
  const std::lock_guard lock(mutex_);
  if (closed_) return Error{"the memory is closed"};
  hold(std::move(batch));
  Result<void> result;
  if (!database_) result = open_again(waiting_.now);
  if (result) result = write_waiting();
  if (!result && database_ && means_damage(result.error())) {
    result = start_anew(result.error(), waiting_.now);
    if (result) result = write_waiting();
  }
  if (!result && result.error().errnum == ENOSPC && database_ && near_limit()) {
    figures_.trimmed = true;
    if (tables::forget_oldest_share(*database_, kForgetShare)) result = write_waiting();
  }
  note_written(result);
  return result;
}

/// Full by our own limit, where the oldest makes room; a full disk is not helped by forgetting.
bool Memory::near_limit() {
  const auto pages = database_->integer("PRAGMA page_count");
  const auto most = database_->integer("PRAGMA max_page_count");
  return pages && most && static_cast<double>(*pages) >= static_cast<double>(*most) * kFull;
}

Result<void> Memory::write_waiting() {
  // An event or a state that is told must outlive a power cut; a step of history need not.
  const bool told = !waiting_.events.empty() || waiting_.ledger;
  if (auto set = database_->set_durable(told); !set) return set;
  auto transaction = SqlTransaction::begin(*database_);
  if (!transaction) return transaction.error();
  const bool folds = !waiting_.rows.empty() || !waiting_.moves.empty();
  const SignalFolder folder_before = folds ? folder_ : SignalFolder();
  const auto sinks_before = sinks_;
  const auto undo = [&](Result<void> failed) {
    if (folds) folder_ = folder_before;
    sinks_ = sinks_before;
    return failed;
  };
  for (const PortMoves& moves : waiting_.moves) {
    if (auto done = tables::move_ports(*database_, moves); !done) return undo(done);
    folder_.follow(moves);
  }
  if (auto done = write_events(); !done) return undo(done);
  if (waiting_.ledger)
    if (auto done = tables::write_ledger(*database_, *waiting_.ledger); !done) return undo(done);
  if (waiting_.references)
    if (auto done = tables::write_references(*database_, *waiting_.references); !done)
      return undo(done);
  for (const KeptIdentity& identity : waiting_.identities)
    if (auto done = tables::write_identity(*database_, identity); !done) return undo(done);
  if (auto done = write_rows(); !done) return undo(done);
  if (auto done = forget_old(waiting_.now); !done) return undo(done);
  if (auto done = (*transaction)->commit(); !done) return undo(done);
  const WallTime now = waiting_.now;
  waiting_ = MemoryBatch{};
  waiting_.now = now;
  return keep_small();
}

Result<void> Memory::write_events() {
  std::vector<std::int64_t> numbers;
  for (const KeptEvent& event : waiting_.events) {
    const auto number = tables::write_event(*database_, event);
    if (!number) return number.error();
    numbers.push_back(*number);
  }
  for (auto& [name, sink] : sinks_) {
    if (auto known = look_up(sink, name); !known) return known;
    if (sink.of_waiting > 0)
      sink.delivered = std::max(sink.delivered, numbers.at(sink.of_waiting - 1));
    if (sink.changed || sink.of_waiting > 0)
      if (auto done = tables::write_sink(*database_, name, sink.delivered); !done) return done;
    sink.of_waiting = 0;
    sink.changed = false;
  }
  return {};
}

Result<void> Memory::write_rows() {
  if (!settings_.history) return {};
  tables::RowWriter writer(*database_);
  for (const SignalRow& row : waiting_.rows) {
    if (auto done = writer.write(row); !done) return done;
    for (const SignalRow& longer : folder_.add(row))
      if (auto done = writer.write(longer); !done) return done;
  }
  return {};
}

Result<void> Memory::forget_old(WallTime now) {
  if (waiting_.rows.empty() && waiting_.events.empty()) return {};
  const std::int64_t now_s = in_whole_seconds(now);
  for (std::size_t i = 0; i < kSignalSteps_s.size() && !waiting_.rows.empty(); ++i) {
    const auto before_s = now_s - static_cast<std::int64_t>(settings_.keep_s[i]);
    const auto limit = std::max(kForgetAtOnce, static_cast<std::int64_t>(2 * waiting_.rows.size()));
    if (auto done = tables::forget_rows(*database_, kSignalSteps_s[i], before_s, limit); !done)
      return done;
  }
  if (waiting_.events.empty()) return {};
  return tables::forget_events(*database_, now - from_seconds(settings_.keep_events_s),
                               kForgetAtOnce);
}

Result<void> Memory::keep_small() {
  const std::int64_t now_s = in_whole_seconds(waiting_.now);
  if (std::abs(now_s - small_checked_s_) < kSizeEvery_s) return {};
  small_checked_s_ = now_s;
  const auto measure = [this]() -> Result<std::int64_t> {
    const auto page_bytes = database_->integer("PRAGMA page_size");
    const auto pages = database_->integer("PRAGMA page_count");
    const auto free = database_->integer("PRAGMA freelist_count");
    if (!page_bytes || !pages || !free)
      return (!page_bytes ? page_bytes : !pages ? pages : free).error();
    figures_.bytes = (*pages - *free) * *page_bytes;
    return *free;
  };
  auto free = measure();
  const auto full = static_cast<std::int64_t>(static_cast<double>(settings_.max_bytes) * kFull);
  for (int round = 0; free && figures_.bytes > full && round < kForgetShare; ++round) {
    figures_.trimmed = true;
    if (auto done = tables::forget_oldest_share(*database_, kForgetShare); !done) return done;
    free = measure();
  }
  if (!free) return free.error();
  // What was forgotten is used again by what comes; only much more than that goes back to the disk.
  constexpr std::int64_t kManyPages = 2048;
  return *free > kManyPages ? database_->execute("PRAGMA incremental_vacuum(2048)")
                            : Result<void>();
}

void Memory::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  if (!database_) return;
  if (!database_->execute("PRAGMA wal_checkpoint(TRUNCATE)")) figures_.working = false;
  database_.reset();
}

MemoryFigures Memory::figures() const {
  const std::lock_guard lock(shown_mutex_);
  return shown_;
}

std::vector<std::string> Memory::take_notes() {
  const std::lock_guard lock(mutex_);
  return std::exchange(notes_, {});
}

// --- sinks ---

Result<void> Memory::look_up(Sink& sink, const std::string& name) {
  if (sink.known) return {};
  const auto stored = tables::read_sink(*database_, name);
  if (!stored) return stored.error();
  const auto latest = tables::latest_event(*database_);
  if (!latest) return latest.error();
  sink.delivered = std::max(sink.delivered, stored->value_or(*latest));
  sink.changed = sink.changed || !*stored;
  sink.known = true;
  return {};
}

void Memory::add_sink(const std::string& sink) {
  const std::lock_guard lock(mutex_);
  Sink& added = sinks_[sink];
  if (!database_ || !look_up(added, sink) || !added.changed) return;
  // A sink that is new must be known as such before the first event comes, or a kill now would lose
  // that for it.
  if (tables::write_sink(*database_, sink, added.delivered)) added.changed = false;
}

Result<std::vector<KeptEvent>> Memory::undelivered(const std::string& sink, std::size_t limit) {
  const std::lock_guard lock(mutex_);
  const auto found = sinks_.find(sink);
  if (found == sinks_.end()) return std::vector<KeptEvent>();
  std::vector<KeptEvent> events;
  if (database_) {
    if (auto known = look_up(found->second, sink); !known) return known.error();
    auto stored = tables::events_after(*database_, found->second.delivered, limit);
    if (!stored) return stored.error();
    events = *std::move(stored);
  }
  for (std::size_t i = found->second.of_waiting;
       i < waiting_.events.size() && events.size() < limit; ++i)
    events.push_back(waiting_.events[i]);
  return events;
}

void Memory::mark_delivered(const std::string& sink, const std::string& event_id) {
  const std::lock_guard lock(mutex_);
  const auto found = sinks_.find(sink);
  if (found == sinks_.end()) return;
  Sink& marked = found->second;
  const auto waiting = std::find_if(waiting_.events.begin(), waiting_.events.end(),
                                    [&](const KeptEvent& event) { return event.id == event_id; });
  if (waiting != waiting_.events.end()) {
    const auto count = static_cast<std::size_t>(waiting - waiting_.events.begin()) + 1;
    marked.of_waiting = std::max(marked.of_waiting, count);
    return;
  }
  if (!database_) return;
  const auto number = tables::event_number(*database_, event_id);
  if (!number || !*number || **number <= marked.delivered) return;
  marked.delivered = **number;
  marked.changed = !tables::write_sink(*database_, sink, marked.delivered).ok();
}

// --- questions ---

Result<std::vector<KeptIdentity>> Memory::identities_of(const std::string& serial) {
  const std::lock_guard lock(mutex_);
  if (!database_) return Error{"nothing is remembered now: " + figures_.error};
  return tables::identities_of_serial(*database_, serial);
}

}  // namespace linkhealth
