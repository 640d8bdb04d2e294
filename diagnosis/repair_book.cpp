#include "diagnosis/repair_book.h"

#include <algorithm>

namespace linkhealth {

namespace {

constexpr std::size_t kMostRecords = 32;  // per port
/// A fault that still shows this long after a repair means that the repair did not help: errors are
/// judged over the same time.
constexpr double kJudgedS = 900;

}  // namespace

void RepairBook::add(RepairRecord record) {
  auto& records = records_[record.port];
  records.push_back(std::move(record));
  if (records.size() > kMostRecords) records.erase(records.begin());
}

void RepairBook::seen(const std::string& port, const std::string& fault_id, WallTime now) {
  const auto at = records_.find(port);
  if (at == records_.end()) return;
  for (RepairRecord& record : at->second)
    if (record.fault_id == fault_id && record.outcome == RepairOutcome::kPending &&
        in_seconds(now - record.at) >= kJudgedS)
      record.outcome = RepairOutcome::kFailed;
}

void RepairBook::healed(const std::string& port, const std::string& fault_id) {
  const auto at = records_.find(port);
  if (at == records_.end()) return;
  // The last repair held; the earlier ones did not.
  RepairOutcome outcome = RepairOutcome::kHeld;
  for (auto record = at->second.rbegin(); record != at->second.rend(); ++record) {
    if (record->fault_id != fault_id || record->outcome != RepairOutcome::kPending) continue;
    record->outcome = std::exchange(outcome, RepairOutcome::kFailed);
  }
}

std::vector<RepairRecord> RepairBook::of(const std::string& port,
                                         const std::string& fault_id) const {
  std::vector<RepairRecord> found;
  const auto at = records_.find(port);
  if (at == records_.end()) return found;
  std::copy_if(at->second.begin(), at->second.end(), std::back_inserter(found),
               [&fault_id](const RepairRecord& record) { return record.fault_id == fault_id; });
  return found;
}

std::optional<WallTime> RepairBook::last_held(const std::string& port) const {
  const auto at = records_.find(port);
  if (at == records_.end()) return std::nullopt;
  for (auto record = at->second.rbegin(); record != at->second.rend(); ++record)
    if (record->outcome == RepairOutcome::kHeld) return record->at;
  return std::nullopt;
}

std::vector<RepairAction> RepairBook::failed(const std::string& port,
                                             const std::string& fault_id) const {
  std::vector<RepairAction> actions;
  for (const RepairRecord& record : of(port, fault_id))
    if (record.outcome == RepairOutcome::kFailed) actions.push_back(record.action);
  return actions;
}

void RepairBook::follow(const PortMoves& moves) {
  move_keys(records_, moves);
  for (auto& [port, records] : records_)
    for (RepairRecord& record : records) record.port = port;
}

std::vector<RepairRecord> RepairBook::state() const {
  std::vector<RepairRecord> all;
  for (const auto& [port, records] : records_)
    all.insert(all.end(), records.begin(), records.end());
  return all;
}

void RepairBook::restore(const std::vector<RepairRecord>& records) {
  for (const RepairRecord& record : records) add(record);
}

}  // namespace linkhealth
