#include "storage/history/history_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <utility>

#include "storage/history/history_schema.h"

namespace linkhealth {

namespace tables = history_tables;

namespace {

/// Maximum number of rows and events deleted per write: a clock that jumps years ahead then deletes
/// slowly.
constexpr std::int64_t kDeleteAtOnce = 256;
constexpr Milliseconds kCheckSizeEvery{600'000};
/// Rows this far in the future were written while the clock was wrong.
constexpr Milliseconds kAhead = std::chrono::hours(1);
/// At this share of max_bytes, a sixteenth of the signals is deleted.
constexpr double kFull = 0.95;
constexpr std::int64_t kDeleteShare = 16;
/// Free pages that are kept in the file: new rows reuse them.
constexpr std::int64_t kKeepFreePages = 2048;

template <typename T>
void move_behind(std::vector<T>& list, std::vector<T>& newer) {
  std::move(newer.begin(), newer.end(), std::back_inserter(list));
}

std::int64_t whole_seconds(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

/// The finest step that needs at most kMaxTimelineSteps and is kept for long enough.
std::uint32_t fitting_step(std::int64_t from_s, std::int64_t to_s,
                           const std::array<double, 3>& keep_s) {
  for (std::size_t i = 0; i + 1 < kSignalSteps_s.size(); ++i)
    if ((to_s - from_s) / kSignalSteps_s[i] <= static_cast<std::int64_t>(kMaxTimelineSteps) &&
        static_cast<double>(to_s - from_s) <= keep_s[i])
      return kSignalSteps_s[i];
  return kSignalSteps_s.back();
}

/// The rows as one list for each signal; a step without a row is unknown.
void fill_series(PortTimeline& timeline, const std::vector<SignalRow>& rows, std::int64_t from_s,
                 std::int64_t to_s) {
  const std::int64_t step_s = timeline.step_s;
  for (std::int64_t at_s = from_s; at_s < to_s; at_s += step_s)
    timeline.at.emplace_back(std::chrono::duration_cast<Milliseconds>(std::chrono::seconds(at_s)));
  for (const SignalInfo& info : signal_table()) {
    SignalSeries series{info.signal, std::vector<double>(timeline.at.size(), kUnknownValue)};
    bool seen = false;
    for (const SignalRow& row : rows) {
      const auto place = static_cast<std::size_t>((row.at_s - from_s) / step_s);
      if (row.at_s < from_s || place >= series.values.size()) continue;
      series.values[place] = rounded(info, row.values[info.signal]);
      seen = seen || !std::isnan(series.values[place]);
    }
    if (seen) timeline.signals.push_back(std::move(series));
  }
}

void fill_signals(SqlDatabase& database, const TimelineQuery& query,
                  const std::array<double, 3>& keep_s, PortTimeline& timeline) {
  const auto first_s = tables::first_row_s(database, query.port);
  const std::int64_t to_s = whole_seconds(query.now) + 1;
  std::int64_t from_s =
      std::clamp(first_s.value_or(to_s), std::min(whole_seconds(timeline.from), to_s), to_s);
  timeline.step_s = query.step_s.value_or(fitting_step(from_s, to_s, keep_s));
  from_s -= from_s % timeline.step_s;
  timeline.from = WallTime(std::chrono::seconds(from_s));
  if (!first_s) return;
  const auto rows = tables::read_rows(database, query.port, timeline.step_s, from_s, to_s);
  fill_series(timeline, rows, from_s, to_s);
}

}  // namespace

bool means_damage(const Error& error) { return error.errnum == EBADMSG; }

void HistoryBatch::append(HistoryBatch newer) {
  for (const PortMoves& move : newer.moves) {
    for (SignalRow& row : rows) row.port = moved(row.port, move);
    for (StoredEvent& event : events) event.port = moved(event.port, move);
    for (KeptIdentity& identity : identities) identity.port = moved(identity.port, move);
  }
  move_behind(moves, newer.moves);
  move_behind(events, newer.events);
  move_behind(rows, newer.rows);
  move_behind(identities, newer.identities);
  if (newer.ledger) ledger = std::move(newer.ledger);
  if (newer.references) references = std::move(newer.references);
  now = newer.now;
  taken_at = newer.taken_at;
}

// --- opening ---

std::unique_ptr<HistoryStore> HistoryStore::open(HistorySettings settings, WallTime now) {
  auto store = std::make_unique<HistoryStore>(std::move(settings));
  const std::lock_guard lock(store->mutex_);
  auto opened = store->reopen(now);
  if (opened) return store;
  store->note_result(opened);
  store->notes_.push_back(opened.error().message + ": nothing is saved until it is writable");
  // Even if the disk cannot be written, the file may contain open faults.
  if (auto database = SqlDatabase::open_read_only(store->path()))
    static_cast<void>(store->read_saved(*database).ok());
  return store;
}

/// A clock that is set back does not delay the next attempt.
Result<void> HistoryStore::reopen(WallTime now) {
  if (open_failed_at_ && now >= *open_failed_at_ && now - *open_failed_at_ < kReopenEvery)
    return Error{figures().error};
  auto opened = open_file(now);
  open_failed_at_ = opened ? std::nullopt : std::optional(now);
  return opened;
}

Result<void> HistoryStore::open_file(WallTime now) {
  auto database = SqlDatabase::open(settings_.directory.empty() ? ":memory:" : path());
  if (!database) return database.error();
  database_.emplace(*std::move(database));
  auto prepared = prepare();
  // The header forbids writing, although the file is writable.
  const bool forbidden =
      !prepared && prepared.error().errnum == EROFS && access(path().c_str(), W_OK) == 0;
  if (!prepared && (means_damage(prepared.error()) || forbidden))
    prepared = replace_damaged(prepared.error(), now);
  if (!prepared) database_.reset();
  return prepared;
}

Result<void> HistoryStore::prepare() {
  if (auto made = prepare_schema(*database_, settings_.max_bytes); !made) return made;
  if (auto read = read_saved(*database_); !read)
    return Error{path() + ": damaged: " + read.error().message, EBADMSG};
  if (!settings_.signals) database_->execute("DELETE FROM signals");
  return database_->result();
}

Result<void> HistoryStore::read_saved(SqlDatabase& database) {
  SavedState saved{tables::read_ledger(database), tables::read_references(database)};
  tables::check_readable(database);
  auto read = database.result();
  if (read) saved_ = std::move(saved);
  return read;
}

/// Nearly all of the file is signals: usually the fault state can still be read, and is kept.
Result<void> HistoryStore::replace_damaged(const Error& damage, WallTime now) {
  HistoryBatch batch;
  batch.now = now;
  batch.ledger = tables::read_ledger(*database_);
  if (!database_->result()) batch.ledger.reset();
  batch.references = tables::read_references(*database_);
  if (!database_->result()) batch.references.reset();
  database_.reset();
  const auto aside = set_database_aside(path(), now);
  if (!aside) return aside.error();
  notes_.push_back(fmt::format("{}; kept as {}; a new one was created{}", damage.message, *aside,
                               batch.ledger ? " with the open faults of the old one" : ""));
  auto database = SqlDatabase::open(path());
  if (!database) return database.error();
  database_.emplace(*std::move(database));
  if (auto made = prepare_schema(*database_, settings_.max_bytes); !made) return made;
  if (auto written = write_batch(batch); !written) return written;
  return read_saved(*database_);
}

// --- writing ---

Result<void> HistoryStore::write(const HistoryBatch& batch) {
  const std::lock_guard lock(mutex_);
  if (closed_) return Error{"the history database is closed"};
  Result<void> result;
  if (!database_) result = reopen(batch.now);
  if (result) result = write_batch(batch);
  if (!result && database_ && means_damage(result.error())) {
    result = replace_damaged(result.error(), batch.now);
    if (result) result = write_batch(batch);
  }
  if (!result && result.error().errnum == ENOSPC && database_ && is_near_limit()) {
    delete_oldest_share();
    if (database_->result()) result = write_batch(batch);
  }
  note_result(result);
  return result;
}

void HistoryStore::note_result(const Result<void>& result) {
  const std::lock_guard lock(figures_mutex_);
  figures_.working = result.ok();
  figures_.error = result ? "" : result.error().message;
  ++(result ? figures_.writes : figures_.failures);
}

/// Whether our own limit is reached, so that deleting helps. It does not help if the disk is full.
bool HistoryStore::is_near_limit() {
  const auto pages = database_->integer("PRAGMA page_count");
  const auto most = database_->integer("PRAGMA max_page_count");
  return database_->result() &&
         static_cast<double>(pages.value_or(0)) >= static_cast<double>(most.value_or(0)) * kFull;
}

Result<void> HistoryStore::write_batch(const HistoryBatch& batch) {
  // Events and fault state must survive a power cut; a few seconds of signals need not.
  database_->set_durable(!batch.events.empty() || batch.ledger);
  auto written = database_->transaction([&] {
    for (const PortMoves& moves : batch.moves) tables::move_ports(*database_, moves);
    for (const StoredEvent& event : batch.events) tables::write_event(*database_, event);
    if (batch.ledger) tables::write_ledger(*database_, *batch.ledger);
    if (batch.references) tables::write_references(*database_, *batch.references);
    for (const KeptIdentity& identity : batch.identities)
      tables::write_identity(*database_, identity);
    const bool judges = judges_age(batch);
    if (settings_.signals && !batch.rows.empty()) {
      // Written while the clock was ahead: until that time nothing would be folded.
      if (judges) tables::delete_rows_after(*database_, whole_seconds(batch.now + kAhead));
      tables::write_rows(*database_, batch.rows);
      tables::fold_rows(*database_);
    }
    if (judges) delete_old(batch);
  });
  return written ? limit_size(batch.now) : written;
}

bool HistoryStore::judges_age(const HistoryBatch& batch) {
  if (!batch.taken_at) return true;
  clock_trust_.add(batch.now, *batch.taken_at);
  return clock_trust_.judges_age();
}

void HistoryStore::delete_old(const HistoryBatch& batch) {
  const auto limit = std::max(kDeleteAtOnce, static_cast<std::int64_t>(2 * batch.rows.size()));
  for (std::size_t i = 0; i < kSignalSteps_s.size() && !batch.rows.empty(); ++i)
    tables::delete_rows(*database_, kSignalSteps_s[i],
                        whole_seconds(batch.now) - static_cast<std::int64_t>(settings_.keep_s[i]),
                        limit);
  if (!batch.events.empty())
    tables::delete_events(*database_, batch.now - from_seconds(settings_.keep_events_s),
                          kDeleteAtOnce);
}

Result<void> HistoryStore::limit_size(WallTime now) {
  if (size_checked_at_ && std::chrono::abs(now - *size_checked_at_) < kCheckSizeEvery) return {};
  size_checked_at_ = now;
  for (std::int64_t round = 0; round < kDeleteShare && database_->ok(); ++round) {
    const std::int64_t page_bytes = database_->integer("PRAGMA page_size").value_or(0);
    const std::int64_t pages = database_->integer("PRAGMA page_count").value_or(0);
    const std::int64_t free = database_->integer("PRAGMA freelist_count").value_or(0);
    const std::int64_t bytes = (pages - free) * page_bytes;
    const bool full = static_cast<double>(bytes) > static_cast<double>(settings_.max_bytes) * kFull;
    {
      const std::lock_guard lock(figures_mutex_);
      figures_.bytes = bytes;
      figures_.trimmed = figures_.trimmed || full;
    }
    if (!full) {
      if (free > kKeepFreePages) database_->execute("PRAGMA incremental_vacuum(2048)");
      break;
    }
    delete_oldest_share();
  }
  return database_->result();
}

/// Deletes the oldest signals and, if signals use no more than half of the limit, the oldest
/// events.
void HistoryStore::delete_oldest_share() {
  tables::delete_oldest_signals(*database_, kDeleteShare);
  if (tables::signals_bytes(*database_) > settings_.max_bytes / 2) return;
  const std::int64_t deleted = tables::delete_oldest_events(*database_, kDeleteShare);
  const std::lock_guard lock(figures_mutex_);
  figures_.trimmed_events += static_cast<std::uint64_t>(deleted);
}

void HistoryStore::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  if (!database_) return;
  database_->execute("PRAGMA wal_checkpoint(TRUNCATE)");
  if (const auto folded = database_->result(); !folded) note_result(folded);
  database_.reset();
}

// --- reading ---

HistoryFigures HistoryStore::figures() const {
  const std::lock_guard lock(figures_mutex_);
  return figures_;
}

std::vector<std::string> HistoryStore::new_notes() {
  const std::lock_guard lock(mutex_);
  return std::exchange(notes_, {});
}

/// Calls query(*database_) with the lock held.
template <typename Query>
auto HistoryStore::read(Query query) -> Result<std::invoke_result_t<Query, SqlDatabase&>> {
  const std::lock_guard lock(mutex_);
  if (!database_) return Error{"the history database cannot be read: " + figures().error};
  auto found = query(*database_);
  if (const auto done = database_->result(); !done) return done.error();
  return found;
}

Result<std::vector<FaultEvent>> HistoryStore::newest_events(std::size_t limit) {
  {
    const std::lock_guard lock(mutex_);
    if (!database_) return std::vector<FaultEvent>();  // new_notes() has the reason
  }
  return read([&](SqlDatabase& database) { return tables::newest_events(database, limit); });
}

Result<std::vector<KeptIdentity>> HistoryStore::identities_of(const std::string& serial) {
  return read(
      [&](SqlDatabase& database) { return tables::identities_of_serial(database, serial); });
}

Result<PortTimeline> HistoryStore::timeline(const TimelineQuery& query) {
  return read([&](SqlDatabase& database) {
    PortTimeline timeline;
    timeline.to = query.now;
    timeline.from = query.now - from_seconds(query.since_s);
    timeline.events = tables::events_of(database, query.port, timeline.from, timeline.to);
    timeline.repairs = tables::repairs_of(database, query.port, timeline.from, timeline.to);
    LedgerState ledger = tables::read_ledger(database);
    for (Maintenance& one : ledger.maintenance_log)
      if (one.since <= timeline.to && !(one.ended_at && *one.ended_at < timeline.from))
        timeline.maintenance.push_back(std::move(one));
    timeline.identities = tables::identities_of_port(database, query.port);
    fill_signals(database, query, settings_.keep_s, timeline);
    return timeline;
  });
}

}  // namespace linkhealth
