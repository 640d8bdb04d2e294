// How the memory begins: the file is opened, checked, migrated, and what an earlier run or release
// left is taken over.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "storage/ledger_file.h"
#include "storage/memory.h"
#include "storage/memory_schema.h"
#include "storage/reference_file.h"
#include "storage/state_file.h"

namespace linkhealth {

namespace tables = memory_tables;

namespace {

/// A file of a release before the database. One that is damaged is set aside.
template <typename T>
std::optional<T> read_json(const StateFile& file, Result<T> (*parse)(std::string_view),
                           std::vector<std::string>& notes) {
  auto text = file.read();
  if (!text) notes.push_back(text.error().message);
  if (!text || !*text) return std::nullopt;
  auto state = parse(**text);
  if (state) return *std::move(state);
  notes.push_back(file.set_aside(state.error().message));
  return std::nullopt;
}

void rename_imported(const StateFile& file, std::vector<std::string>& notes) {
  const std::string kept = file.path() + ".imported";
  if (std::rename(file.path().c_str(), kept.c_str()) != 0)
    notes.push_back(
        errno_error(file.path() + " was imported and could not be renamed", errno).message);
}

}  // namespace

bool means_damage(const Error& error) { return error.errnum == EBADMSG; }

std::unique_ptr<Memory> Memory::open(MemorySettings settings, WallTime now) {
  auto memory = std::make_unique<Memory>(std::move(settings));
  const std::lock_guard lock(memory->mutex_);
  if (auto opened = memory->open_again(now); !opened) {
    memory->note_written(opened);
    memory->notes_.push_back(opened.error().message +
                             ": nothing new is remembered until it can be written");
    memory->read_only_look();
  }
  return memory;
}

/// A clock that steps back waits no longer than that.
Result<void> Memory::open_again(WallTime now) {
  if (opened_at_ && now >= *opened_at_ && now - *opened_at_ < open_wait_)
    return Error{figures_.error.empty() ? path() + " could not be opened" : figures_.error};
  auto opened = open_file(now);
  open_wait_ = opened ? Milliseconds(0) : std::clamp(2 * open_wait_, kOpenFirst, kOpenLongest);
  opened_at_ = opened ? std::nullopt : std::optional(now);
  return opened;
}

Result<void> Memory::open_file(WallTime now) {
  if (settings_.directory.empty()) {
    auto database = SqlDatabase::open(":memory:");
    if (!database) return database.error();
    database_.emplace(*std::move(database));
    return prepare(now);
  }
  auto database = SqlDatabase::open(path());
  if (!database) return database.error();
  database_.emplace(*std::move(database));
  auto prepared = prepare(now);
  if (!prepared && means_damage(prepared.error())) prepared = start_anew(prepared.error(), now);
  if (!prepared) database_.reset();
  return prepared;
}

Result<void> Memory::prepare(WallTime now) {
  if (auto set = set_up(*database_, settings_.max_bytes); !set) return set;
  // Before the check, which reads the whole file: this is asked again with every write.
  if (const auto version = known_version(*database_, memory_migrations()); !version)
    return version.error();
  if (auto whole = check_whole(*database_); !whole) return whole;
  if (auto migrated = migrate(*database_, memory_migrations()); !migrated) return migrated;
  if (!settings_.directory.empty())
    if (auto imported = import_files(); !imported) return imported;
  if (auto read = remember_again(); !read)
    return Error{path() + ": damaged: " + read.error().message, EBADMSG};
  if (settings_.history) return fold_from_rows(now);
  return tables::forget_history(*database_);
}

Result<void> Memory::remember_again() {
  auto ledger = tables::read_ledger(*database_);
  if (!ledger) return ledger.error();
  auto references = tables::read_references(*database_);
  if (!references) return references.error();
  remembered_ = {*std::move(ledger), *std::move(references)};
  return {};
}

/// Nearly all of the file is history: the rest can mostly still be read, and is taken over.
Result<void> Memory::start_anew(const Error& damage, WallTime now) {
  auto ledger = tables::read_ledger(*database_);
  auto references = tables::read_references(*database_);
  database_.reset();
  const auto kept = set_database_aside(path(), now);
  if (!kept) return kept.error();
  notes_.push_back(fmt::format("{}; kept as {}, and begun anew{}", damage.message, *kept,
                               ledger ? " with the open faults that it had" : ""));
  auto database = SqlDatabase::open(path());
  if (!database) return database.error();
  database_.emplace(*std::move(database));
  if (auto prepared = prepare(now); !prepared) return prepared;
  auto transaction = SqlTransaction::begin(*database_);
  if (!transaction) return transaction.error();
  if (ledger)
    if (auto done = tables::write_ledger(*database_, *ledger); !done) return done;
  if (references)
    if (auto done = tables::write_references(*database_, *references); !done) return done;
  if (auto done = (*transaction)->commit(); !done) return done;
  return remember_again();
}

/// A disk that cannot be written may still tell which faults are known.
void Memory::read_only_look() {
  if (settings_.directory.empty()) return;
  auto database = SqlDatabase::open_read_only(path());
  if (!database) return;
  auto ledger = tables::read_ledger(*database);
  auto references = tables::read_references(*database);
  if (ledger) remembered_.ledger = *std::move(ledger);
  if (references) remembered_.references = *std::move(references);
}

Result<void> Memory::import_files() {
  const StateFile ledger_file(settings_.directory + "/ledger.json");
  const StateFile reference_file(settings_.directory + "/references.json");
  const auto ledger = read_json<LedgerState>(ledger_file, &parse_ledger, notes_);
  const auto references = read_json<ReferenceState>(reference_file, &parse_references, notes_);
  if (!ledger && !references) return {};
  auto transaction = SqlTransaction::begin(*database_);
  if (!transaction) return transaction.error();
  if (ledger)
    if (auto done = tables::write_ledger(*database_, *ledger); !done) return done;
  if (references)
    if (auto done = tables::write_references(*database_, *references); !done) return done;
  if (auto done = (*transaction)->commit(); !done) return done;
  // Only now: a kill before this imports them once more.
  if (ledger) rename_imported(ledger_file, notes_);
  if (references) rename_imported(reference_file, notes_);
  return {};
}

/// The longer steps that were not over when the last run ended go on where it stopped.
Result<void> Memory::fold_from_rows(WallTime now) {
  const std::int64_t now_s =
      std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  const std::int64_t from_s = now_s - now_s % kSignalSteps_s.back() - kSignalSteps_s.back();
  auto ports = database_->run("SELECT port FROM ports ORDER BY number");
  if (!ports) return ports.error();
  std::vector<std::string> names;
  for (;;) {
    const auto row = (*ports)->step();
    if (!row) return row.error();
    if (!*row) break;
    names.push_back((*ports)->text(0));
  }
  folder_ = {};
  tables::RowWriter writer(*database_);
  for (const std::string& port : names) {
    std::size_t damaged = 0;
    const auto rows =
        tables::read_rows(*database_, port, kSignalSteps_s[0], from_s, now_s + 1, damaged);
    if (!rows) return rows.error();
    // What is completed here was not written by a run that was killed; what was, stays as it is.
    for (const SignalRow& row : *rows)
      for (const SignalRow& longer : folder_.add(row))
        if (auto done = writer.write(longer); !done) return done;
  }
  return {};
}

}  // namespace linkhealth
