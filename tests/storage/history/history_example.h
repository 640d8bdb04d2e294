// A history database in a directory of its own, and example rows for it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "storage/history/history_store.h"
#include "tests/support/temp_directory.h"

namespace linkhealth::test {

inline constexpr std::int64_t kHistoryStart_s = 1'763'640'000;  // a whole number of 600 s
inline WallTime history_time(std::int64_t second) {
  return WallTime(std::chrono::seconds(kHistoryStart_s + second));
}

inline const std::string kHistoryPort = "0000:1b:00.0/1";

inline StoredEvent history_event(int number, FaultEventKind kind = FaultEventKind::kOpened) {
  StoredEvent stored{kHistoryPort, {}};
  stored.event.at = history_time(number);
  stored.event.kind = kind;
  stored.event.port = "mlx5_0/1";
  stored.event.fault.fault = "dirty_connector";
  stored.event.fault.id = "gpu:" + kHistoryPort + ":dirty_connector:" + std::to_string(number);
  stored.event.fault.end = End::kPath;
  stored.event.fault.confidence = 0.83;
  stored.event.fault.summary = "lane 2 receives -9.1 dBm";
  return stored;
}

inline LedgerState history_ledger(int number) {
  LedgerFault fault;
  fault.id = history_event(number).event.fault.id;
  fault.port = kHistoryPort;
  fault.fault = "dirty_connector";
  fault.opened_at = fault.last_seen_at = history_time(number);
  fault.acknowledged_by = "ada";
  RepairRecord repair;
  repair.port = kHistoryPort;
  repair.action = RepairAction::kFibreReseated;
  repair.at = history_time(number);
  LedgerState state;
  state.faults = {fault};
  state.repeats = {{RepeatOf::kPort, kHistoryPort, "unplugged", 3, history_time(0)}};
  state.repairs = {repair};
  return state;
}

inline SignalRow history_row(std::int64_t second, double temperature_c,
                             const std::string& port = kHistoryPort) {
  SignalRow row;
  row.port = port;
  row.at_s = kHistoryStart_s + second;
  row.values[Signal::kTemperature] = temperature_c;
  row.values[Signal::kCarrierDowns] = 1;
  return row;
}

inline HistoryBatch event_batch(int number) {
  HistoryBatch batch;
  batch.now = history_time(number);
  batch.events = {history_event(number)};
  batch.ledger = history_ledger(number);
  return batch;
}

inline std::vector<std::string> ids_of(const Result<std::vector<FaultEvent>>& events) {
  std::vector<std::string> ids;
  if (events)
    for (const FaultEvent& event : *events) ids.push_back(event_id(event));
  return ids;
}

class HistoryTest : public testing::Test {
 protected:
  HistoryTest() { settings_.directory = temp_.path(); }
  [[nodiscard]] std::unique_ptr<HistoryStore> open(std::int64_t second = 0) const {
    return HistoryStore::open(settings_, history_time(second));
  }
  [[nodiscard]] std::string file() const { return temp_.file("linkhealth.db"); }

  TempDirectory temp_;
  HistorySettings settings_;
};

}  // namespace linkhealth::test
