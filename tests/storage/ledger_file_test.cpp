#include "storage/ledger_file.h"

#include <gtest/gtest.h>

namespace linkhealth {
namespace {

LedgerState example() {
  LedgerFault fault;
  fault.id = "gpu-0417:0000:1b:00.0/1:dirty_connector:1763640312";
  fault.port = "0000:1b:00.0/1";
  fault.fault = "dirty_connector";
  fault.end = End::kPath;
  fault.severity = Severity::kCritical;
  fault.state = FaultState::kProving;
  fault.confidence = 0.83;
  fault.opened_at = *parse_rfc3339("2026-11-20T12:05:12Z");
  fault.last_seen_at = *parse_rfc3339("2026-11-20T12:06:12.500Z");
  fault.proving_since = fault.last_seen_at;
  fault.acknowledged_by = "ada";
  fault.acknowledged_reason = "ticket 7";
  fault.acknowledged_at = fault.opened_at;
  fault.acknowledged_until = fault.last_seen_at;
  fault.summary = "lane 2 receives -9.1 dBm";
  fault.repair = {"clean", "replace"};
  RepairRecord repair;
  repair.port = fault.port;
  repair.fault_id = fault.id;
  repair.action = RepairAction::kModuleReplaced;
  repair.at = fault.last_seen_at;
  repair.outcome = RepairOutcome::kFailed;
  repair.rx_lane = 2;
  repair.rx_power_before_dbm = -9.1;
  repair.rx_power_after_dbm = -8.9;
  repair.serial_before = "A1";
  repair.serial_after = "A2";
  return {{fault},
          {{RepeatOf::kPort, "0000:1b:00.0/1", "unplugged", 3, fault.opened_at},
           {RepeatOf::kCable, "A1 - B2", "dirty_connector", 2, fault.opened_at}},
          {repair},
          {{"0000:1b:00.0/1", "ann", "new jumper", fault.opened_at, fault.last_seen_at, ""}},
          {{"", "bob", "fans", fault.opened_at, std::nullopt, "/etc/m/all", fault.last_seen_at}}};
}

TEST(LedgerJsonTest, WhatIsWrittenIsReadBack) {
  const auto state = parse_ledger(ledger_json(example()));
  ASSERT_TRUE(state.ok()) << state.error().message;
  EXPECT_EQ(*state, example());
  EXPECT_EQ(*parse_ledger_fault(ledger_fault_json(example().faults[0])), example().faults[0]);
  EXPECT_EQ(*parse_repair_record(repair_record_json(example().repairs[0])), example().repairs[0]);
}

TEST(LedgerJsonTest, OnlyWhatMattersIsWorthAWrite) {
  LedgerState later = example();
  later.faults[0].last_seen_at += Milliseconds(10'000);
  later.faults[0].confidence = 0.9;
  EXPECT_TRUE(same_but_for_time(example(), later)) << "nothing came, went or changed its state";
  later.faults[0].state = FaultState::kOpen;
  EXPECT_FALSE(same_but_for_time(example(), later));
}

TEST(LedgerJsonTest, ADamagedTextIsAnError) {
  for (const char* damaged :
       {"", "{", "[]", "{\"schema\":\"other/1\"}", "{\"schema\":\"linkhealth.ledger/1\"} more",
        "{\"schema\":\"linkhealth.ledger/1\",\"faults\":[{\"state\":\"happy\"}]}"})
    EXPECT_FALSE(parse_ledger(damaged).ok()) << damaged;
  EXPECT_FALSE(parse_ledger_fault("{} {}").ok());
}

}  // namespace
}  // namespace linkhealth
