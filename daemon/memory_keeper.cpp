#include "daemon/memory_keeper.h"

#include <array>
#include <cmath>
#include <utility>

#include "exporters/json.h"
#include "storage/ledger_file.h"

namespace linkhealth {

namespace {

enum KnobIndex : std::size_t { kHistory, kKeep10, kKeep60, kKeep600, kKeepEvents, kMaxMegabytes };

// Ten ports with 40 signals each take about 13 + 31 + 20 MB (tests/bench/memory_bench.cpp).
constexpr auto kKnobs = std::to_array<Knob>({
    {"history", 1, 0, 1, "",
     "on: the signals of each port are remembered; off: they are not, and what was is forgotten"},
    {"keep_10s_s", 86'400, 600, 31'536'000, "s", "how long steps of 10 s are remembered"},
    {"keep_60s_s", 1'209'600, 600, 31'536'000, "s", "how long steps of 60 s are remembered"},
    {"keep_600s_s", 7'776'000, 600, 315'360'000, "s", "how long steps of 10 min are remembered"},
    {"keep_events_s", 7'776'000, 86'400, 315'360'000, "s",
     "how long events, closed faults and old repairs are remembered"},
    {"max_mb", 100, 1, 100'000, "MB",
     "size of linkhealth.db at most; the oldest history goes before it is reached"},
});
constexpr std::array<KnobGroup, 1> kGroups = {{{"", "memory", kKnobs}}};

/// References move slowly.
constexpr double kReferencesEvery_s = 900;

/// What stands where another card is now, and whose nobody knows, is in nobody's way and grows old
/// like the rest.
PortMoves with_names_for_all(PortMoves moves, WallTime now) {
  for (auto& [from, to] : moves)
    if (to.empty()) to = from + " until " + format_rfc3339(now);
  return moves;
}

}  // namespace

std::span<const KnobGroup> memory_knob_groups() { return kGroups; }

MemorySettings memory_settings(const KnobTable& knobs, std::string directory) {
  const KnobValues values = knobs.values("memory");
  MemorySettings settings;
  settings.directory = std::move(directory);
  settings.history = values[kHistory] >= 0.5;
  settings.keep_s = {values[kKeep10], values[kKeep60], values[kKeep600]};
  settings.keep_events_s = values[kKeepEvents];
  settings.max_bytes = std::llround(values[kMaxMegabytes] * 1e6);
  return settings;
}

MemoryKeeper::MemoryKeeper(MemorySettings settings, WallTime now, const Log& log)
    : log_(log),
      history_(settings.history),
      on_disk_(!settings.directory.empty()),
      memory_(Memory::open(std::move(settings), now)) {
  was_working_ = memory_->figures().working;
  for (const std::string& note : memory_->take_notes()) log_.error(note);
  ledger_ = memory_->remembered().ledger;
}

// The writer first: it uses all that is declared after it.
MemoryKeeper::~MemoryKeeper() { writer_.reset(); }

std::vector<FaultEvent> MemoryKeeper::earlier_events(std::size_t limit) {
  std::vector<FaultEvent> events;
  const auto kept = memory_->newest_events(limit);
  if (!kept) log_.warning("events of before are not shown: " + kept.error().message);
  if (!kept) return events;
  for (const KeptEvent& one : *kept)
    if (auto event = parse_event(one.document)) events.push_back(*std::move(event));
  return events;
}

void MemoryKeeper::start(std::function<void(const FaultEvent&)> announce) {
  announce_ = std::move(announce);
  writer_ = std::make_unique<MemoryWriter>(*memory_, [this] {
    say_health();
    announce_new();
  });
}

void MemoryKeeper::on_step(const Snapshot& snapshot, const Report& report,
                           const std::vector<FaultEvent>& events, LedgerState ledger,
                           const std::function<ReferenceState()>& references,
                           const PortMoves& moves) {
  MemoryBatch batch;
  batch.now = snapshot.wall_time;
  const PortMoves kept_moves = with_names_for_all(moves, batch.now);
  if (!moves.empty()) {
    batch.moves = {kept_moves};
    collector_.follow(kept_moves);
  }
  for (const FaultEvent& event : events) {
    const auto sample = snapshot.ports.find(event.port);
    batch.events.push_back(kept_event(event,
                                      sample == snapshot.ports.end()
                                          ? moved(event.port, kept_moves)
                                          : sample->second.id.stable_key(),
                                      event_json_line(event)));
  }
  // With an event the ledger goes in the same transaction, whatever changed in it.
  if (!events.empty() || !moves.empty() || !same_but_for_time(ledger_, ledger)) {
    ledger_ = ledger;
    batch.ledger = std::move(ledger);
  }
  if (!references_at_) references_at_ = batch.now;
  if (!moves.empty() || std::abs(in_seconds(batch.now - *references_at_)) >= kReferencesEvery_s) {
    references_at_ = batch.now;
    batch.references = references();
  }
  if (history_) batch.rows = collector_.add(snapshot, report);
  batch.identities = identities_.add(snapshot);
  if (!events.empty()) {
    const std::lock_guard lock(new_events_mutex_);
    new_events_.insert(new_events_.end(), events.begin(), events.end());
  }
  if (writer_ && !batch.empty()) writer_->remember(std::move(batch));
}

Result<void> MemoryKeeper::keep(LedgerState ledger, WallTime now) {
  if (!writer_) return {};
  MemoryBatch batch;
  batch.now = now;
  ledger_ = ledger;
  batch.ledger = std::move(ledger);
  writer_->remember(std::move(batch));
  writer_->drain();
  const MemoryFigures figures = writer_->figures();
  return figures.working ? Result<void>() : Error{figures.error};
}

void MemoryKeeper::finish(const ReferenceState& references, WallTime now) {
  MemoryBatch batch;
  batch.now = now;
  batch.references = references;
  if (history_) batch.rows = collector_.finish();
  if (writer_) writer_->remember(std::move(batch));
  writer_.reset();
}

std::optional<MemoryHealth> MemoryKeeper::health() const {
  if (!on_disk_) return std::nullopt;
  const MemoryFigures now = writer_ ? writer_->figures() : memory_->figures();
  return MemoryHealth{now.working,      now.writes,         now.failures,
                      now.dropped_rows, now.dropped_events, now.bytes};
}

void MemoryKeeper::announce_new() {
  std::vector<FaultEvent> events;
  {
    const std::lock_guard lock(new_events_mutex_);
    events.swap(new_events_);
  }
  for (const FaultEvent& event : events) announce_(event);
}

void MemoryKeeper::say_health() {
  for (const std::string& note : memory_->take_notes()) log_.error(note);
  const MemoryFigures now = memory_->figures();
  if (was_working_ && !now.working)
    log_.error(now.error + ": what happens now is told and not remembered until it can be written");
  if (!was_working_ && now.working)
    log_.info("the memory can be written again: nothing that waited is lost");
  was_working_ = now.working;
  if (now.trimmed && !std::exchange(said_trimmed_, true))
    log_.warning(
        "memory.max_mb is too small for the history that is to be kept: the oldest is forgotten");
  if (now.dropped_events > 0 && !std::exchange(said_dropped_, true))
    log_.error("more events than can wait for the disk: the oldest are lost");
}

}  // namespace linkhealth
