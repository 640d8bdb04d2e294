// What the tests of the memory remember.
#pragma once

#include <string>
#include <vector>

#include "storage/memory.h"

namespace linkhealth::test {

inline constexpr std::int64_t kMemoryStart_s = 1'763'640'000;  // a whole number of 600 s
inline WallTime memory_time(std::int64_t second) {
  return WallTime(std::chrono::seconds(kMemoryStart_s + second));
}

inline const std::string kMemoryPort = "0000:1b:00.0/1";

inline KeptEvent memory_event(int number, const std::string& event = "opened") {
  KeptEvent kept;
  kept.port = kMemoryPort;
  kept.at = memory_time(number);
  kept.event = event;
  kept.fault = "dirty_connector";
  kept.fault_id = "gpu:" + kMemoryPort + ":dirty_connector:" + std::to_string(number);
  kept.id = kept.fault_id + "/" + event + "/" + std::to_string(kept.at.time_since_epoch().count());
  kept.end = "path";
  kept.severity = "warning";
  kept.confidence = 0.83;
  kept.summary = "lane 2 receives -9.1 dBm";
  kept.document = "{\"id\":\"" + kept.id + "\"}";
  return kept;
}

inline LedgerState memory_ledger(int number) {
  LedgerFault fault;
  fault.id = memory_event(number).fault_id;
  fault.port = kMemoryPort;
  fault.fault = "dirty_connector";
  fault.opened_at = fault.last_seen_at = memory_time(number);
  fault.acknowledged_by = "ada";
  RepairRecord repair;
  repair.port = kMemoryPort;
  repair.action = RepairAction::kFibreReseated;
  repair.at = memory_time(number);
  LedgerState state;
  state.faults = {fault};
  state.repeats = {{RepeatOf::kPort, kMemoryPort, "unplugged", 3, memory_time(0)}};
  state.repairs = {repair};
  return state;
}

inline SignalRow memory_row(std::int64_t second, double temperature_c,
                            const std::string& port = kMemoryPort) {
  SignalRow row;
  row.port = port;
  row.at_s = kMemoryStart_s + second;
  row.values[Signal::kTemperature] = temperature_c;
  row.values[Signal::kCarrierDowns] = 1;
  return row;
}

inline MemoryBatch event_batch(int number) {
  MemoryBatch batch;
  batch.now = memory_time(number);
  batch.events = {memory_event(number)};
  batch.ledger = memory_ledger(number);
  return batch;
}

}  // namespace linkhealth::test
