#include "storage/ledger_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/temp_directory.h"

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
  RuleUse use;
  use.since = fault.opened_at;
  use.faults["dirty_connector/path"] = 4;
  use.symptoms["rx_power_low"] = 3;
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
          use,
          {{"0000:1b:00.0/1", "ann", "new jumper", fault.opened_at, fault.last_seen_at, ""}}};
}

class LedgerFileTest : public testing::Test {
 protected:
  test::TempDirectory temp_;
  const std::filesystem::path directory_ = temp_.path();
  const std::filesystem::path path_ = directory_ / "ledger.json";
};

TEST_F(LedgerFileTest, WhatIsKeptIsReadAfterARestart) {
  EXPECT_TRUE(LedgerFile(path_).read()->faults.empty()) << "no file yet";
  ASSERT_TRUE(LedgerFile(path_).keep(example()));
  const auto state = LedgerFile(path_).read();
  ASSERT_TRUE(state.ok()) << state.error().message;
  EXPECT_EQ(*state, example());
}

TEST_F(LedgerFileTest, WritesOnlyWhatMatters) {
  LedgerFile file(path_);
  ASSERT_TRUE(file.keep(example()));
  std::filesystem::remove(path_);
  LedgerState later = example();
  later.faults[0].last_seen_at += Milliseconds(10'000);
  later.faults[0].confidence = 0.9;
  ASSERT_TRUE(file.keep(later));
  EXPECT_FALSE(std::filesystem::exists(path_)) << "nothing came, went or changed its state";
  later.faults[0].state = FaultState::kOpen;
  ASSERT_TRUE(file.keep(later));
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(LedgerFileTest, ADamagedFileIsSetAsideWithOneSentence) {
  for (const char* damaged : {"", "{", "[]", "{\"schema\":\"other/1\"}", "{\"schema\":\"linkhealth.ledger/1\"} more",
                              "{\"schema\":\"linkhealth.ledger/1\",\"faults\":[{\"state\":\"happy\"}]}"}) {
    std::ofstream(path_) << damaged;
    LedgerFile file(path_);
    const auto state = file.read();
    ASSERT_FALSE(state.ok()) << damaged;
    EXPECT_NE(state.error().message.find("ledger.json"), std::string::npos) << state.error().message;
    EXPECT_FALSE(std::filesystem::exists(path_)) << "set aside, for a person to look at";
    ASSERT_TRUE(file.keep(example()));
    EXPECT_TRUE(LedgerFile(path_).read().ok());
  }
}

}  // namespace
}  // namespace linkhealth
