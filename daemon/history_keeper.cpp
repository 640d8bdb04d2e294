#include "daemon/history_keeper.h"

#include <array>
#include <cmath>
#include <utility>

namespace linkhealth {

namespace {

enum SettingIndex : std::size_t { kKeepSignals, kMaxMegabytes };

// Ten ports with 40 signals each take about 20 + 45 + 30 MB.
constexpr auto kSettings = std::to_array<Setting>({
    {"signals", 1, 0, 1, "",
     "1: the signals of each port are kept; 0: they are not kept, and existing ones are deleted"},
    {"max_mb", 150, 1, 100'000, "MB",
     "maximum size of linkhealth.db; the oldest signals and events are deleted to stay below it"},
});
constexpr std::array<SettingGroup, 1> kGroups = {{{"database", kSettings}}};

/// Baselines change slowly.
constexpr double kReferencesEvery_s = 900;

/// Data stored under the address of a card that was replaced by an unknown one is moved to a key
/// that no port has, and expires like the rest.
PortMoves with_names_for_all(PortMoves moves, WallTime now) {
  for (auto& [from, to] : moves)
    if (to.empty()) to = from + " until " + format_rfc3339(now);
  return moves;
}

/// The state without what changes with every sample.
LedgerState lasting(LedgerState state) {
  for (LedgerFault& fault : state.faults) {
    fault.last_seen_at = fault.opened_at;
    fault.confidence = 0;
    fault.summary.clear();
    fault.repair.clear();
  }
  return state;
}

}  // namespace

std::span<const SettingGroup> history_setting_groups() { return kGroups; }

HistorySettings history_settings(const SettingTable& table, std::string directory) {
  const SettingValues values = table.values("database");
  HistorySettings settings;
  settings.directory = std::move(directory);
  settings.signals = values[kKeepSignals] >= 0.5;
  settings.max_bytes = std::llround(values[kMaxMegabytes] * 1e6);
  return settings;
}

HistoryKeeper::HistoryKeeper(HistorySettings settings, WallTime now, const Log& log)
    : log_(log),
      signals_(settings.signals),
      on_disk_(!settings.directory.empty()),
      store_(HistoryStore::open(std::move(settings), now)) {
  was_working_ = store_->figures().working;
  for (const std::string& note : store_->new_notes()) log_.error(note);
  ledger_ = store_->saved().ledger;
}

HistoryKeeper::~HistoryKeeper() = default;

std::vector<FaultEvent> HistoryKeeper::earlier_events(std::size_t limit) {
  auto events = store_->newest_events(limit);
  if (events) return *std::move(events);
  log_.warning("events of earlier runs cannot be read: " + events.error().message);
  return {};
}

void HistoryKeeper::start(std::function<void(const FaultEvent&)> announce) {
  announce_ = std::move(announce);
  writer_ = std::make_unique<HistoryWriter>(*store_, [this] {
    log_health();
    announce_new();
  });
}

void HistoryKeeper::add_step(const Snapshot& snapshot, const Report& report,
                             const std::vector<FaultEvent>& events, LedgerState ledger,
                             const std::function<ReferenceState()>& references,
                             const PortMoves& moves) {
  HistoryBatch batch;
  batch.now = snapshot.wall_time;
  batch.taken_at = snapshot.taken_at;
  const PortMoves kept_moves = with_names_for_all(moves, batch.now);
  if (!moves.empty()) {
    batch.moves = {kept_moves};
    collector_.follow(kept_moves);
  }
  for (const FaultEvent& event : events) {
    const auto sample = snapshot.ports.find(event.port);
    batch.events.push_back({sample == snapshot.ports.end() ? moved(event.port, kept_moves)
                                                           : sample->second.id.stable_key(),
                            event});
  }
  // Together with an event, the ledger is written in the same transaction, whatever has changed in
  // it.
  if (!events.empty() || !moves.empty() || lasting(ledger_) != lasting(ledger)) {
    ledger_ = ledger;
    batch.ledger = std::move(ledger);
  }
  if (!references_at_) references_at_ = batch.now;
  if (!moves.empty() || std::abs(in_seconds(batch.now - *references_at_)) >= kReferencesEvery_s) {
    references_at_ = batch.now;
    batch.references = references();
  }
  if (signals_) batch.rows = collector_.add(snapshot, report);
  batch.identities = identities_.add(snapshot);
  if (!events.empty()) {
    const std::lock_guard lock(new_events_mutex_);
    new_events_.insert(new_events_.end(), events.begin(), events.end());
  }
  if (writer_ && !batch.empty()) writer_->add(std::move(batch));
}

Result<void> HistoryKeeper::save(LedgerState ledger, WallTime now) {
  if (!writer_) return {};
  HistoryBatch batch;
  batch.now = now;
  ledger_ = ledger;
  batch.ledger = std::move(ledger);
  writer_->add(std::move(batch));
  writer_->drain();
  const HistoryFigures figures = writer_->figures();
  return figures.working ? Result<void>() : Error{figures.error};
}

void HistoryKeeper::finish(const ReferenceState& references, WallTime now) {
  HistoryBatch batch;
  batch.now = now;
  batch.references = references;
  if (signals_) batch.rows = collector_.finish();
  if (writer_) writer_->add(std::move(batch));
  writer_.reset();
}

std::optional<StoreHealth> HistoryKeeper::health() const {
  if (!on_disk_) return std::nullopt;
  const HistoryFigures now = writer_ ? writer_->figures() : store_->figures();
  return StoreHealth{now.working,        now.writes,         now.failures, now.dropped_rows,
                     now.dropped_events, now.trimmed_events, now.bytes};
}

void HistoryKeeper::announce_new() {
  std::vector<FaultEvent> events;
  {
    const std::lock_guard lock(new_events_mutex_);
    events.swap(new_events_);
  }
  for (const FaultEvent& event : events) announce_(event);
}

void HistoryKeeper::log_health() {
  for (const std::string& note : store_->new_notes()) log_.error(note);
  const HistoryFigures now = store_->figures();
  if (was_working_ && !now.working)
    log_.error(now.error + ": cannot write the state database; changes will be lost on restart");
  if (!was_working_ && now.working)
    log_.info("the state database is writable again; pending changes were saved");
  was_working_ = now.working;
  if (now.trimmed && !std::exchange(trimmed_logged_, true))
    log_.warning(
        "database.max_mb is too small for the configured history: the oldest signals and events "
        "are deleted");
  if (now.dropped_events > 0 && !std::exchange(dropped_logged_, true))
    log_.error("too many events are waiting for the disk: the oldest are dropped");
}

}  // namespace linkhealth
