// What the ledger holds, as others ask for it, keep it over a restart, and give it up.
#include <algorithm>
#include <utility>

#include "diagnosis/ledger.h"

namespace linkhealth {

std::vector<LedgerChange> Ledger::release(const std::string& stable_port) {
  std::vector<LedgerChange> changes;
  const auto at = ports_.find(stable_port);
  if (at == ports_.end()) return changes;
  for (Slot* slot : {&at->second.primary, &at->second.secondary}) {
    if (!slot->entry) continue;
    slot->entry->kept.state = FaultState::kClosed;
    slot->entry->proving_since.reset();
    slot->entry->kept.proving_since.reset();
    changes.push_back({FaultEventKind::kClosed, *slot->entry});
  }
  ports_.erase(at);
  return changes;
}

void Ledger::follow(const PortMoves& moves) {
  move_keys(ports_, moves);
  for (auto& [stable, port] : ports_)
    for (Slot* slot : {&port.primary, &port.secondary})
      if (slot->entry) slot->entry->kept.port = stable;
  std::vector<LedgerRepeat> taken;
  std::erase_if(repeats_, [&](const auto& entry) {
    const LedgerRepeat& repeat = entry.second;
    if (repeat.of != RepeatOf::kPort || !moves.contains(repeat.subject)) return false;
    taken.push_back(repeat);
    return true;
  });
  for (LedgerRepeat& repeat : taken) {
    repeat.subject = moved(repeat.subject, moves);
    if (!repeat.subject.empty()) repeats_[{repeat.of, repeat.subject, repeat.fault}] = repeat;
  }
}

std::vector<const LedgerEntry*> Ledger::open(const std::string& stable_port) const {
  std::vector<const LedgerEntry*> entries;
  const auto at = ports_.find(stable_port);
  if (at == ports_.end()) return entries;
  for (const Slot* slot : {&at->second.primary, &at->second.secondary})
    if (slot->entry) entries.push_back(&*slot->entry);
  return entries;
}

const Fault* Ledger::incumbent(const std::string& stable_port) const {
  const auto at = ports_.find(stable_port);
  return at != ports_.end() && at->second.primary.entry ? at->second.primary.entry->fault : nullptr;
}

void Ledger::describe(const std::string& id, const std::string& summary,
                      const std::vector<std::string>& repair, const std::string& verify) {
  for (auto& [stable, port] : ports_)
    for (Slot* slot : {&port.primary, &port.secondary})
      if (slot->entry && slot->entry->kept.id == id) {
        slot->entry->kept.summary = summary;
        slot->entry->kept.repair = repair;
        slot->entry->kept.verify = verify;
      }
}

LedgerState Ledger::state() const {
  LedgerState state;
  for (const auto& [stable, port] : ports_)
    for (const Slot* slot : {&port.primary, &port.secondary})
      if (slot->entry) state.faults.push_back(slot->entry->kept);
  for (const auto& [key, repeat] : repeats_) state.repeats.push_back(repeat);
  return state;
}

void Ledger::restore(const LedgerState& state) {
  for (const LedgerFault& kept : state.faults) {
    if (kept.state == FaultState::kClosed) continue;
    const auto table = fault_table();
    const auto row = std::find_if(table.begin(), table.end(), [&kept](const Fault& fault) {
      return fault.name == kept.fault && fault.end == kept.end;
    });
    if (row == table.end()) continue;  // another version's name
    const Fault& fault = *row;
    Port& port = ports_[kept.port];
    port.placed = false;
    Slot& slot = port.primary.entry ? port.secondary : port.primary;
    LedgerEntry entry;
    entry.kept = kept;
    entry.fault = &fault;
    slot.entry = entry;
  }
  for (const LedgerRepeat& repeat : state.repeats)
    repeats_[{repeat.of, repeat.subject, repeat.fault}] = repeat;
}

}  // namespace linkhealth
