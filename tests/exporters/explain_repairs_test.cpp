#include "exporters/explain_repairs.h"

#include <gtest/gtest.h>

#include "exporters/text.h"
#include "tests/support/report_builder.h"

namespace linkhealth {
namespace {

WallTime now() { return test::example_now(); }

FaultReport tried() {
  FaultReport fault = test::dirty_port().faults.front();
  RepairRecord repair;
  repair.action = RepairAction::kFibreReseated;
  repair.at = now() - std::chrono::minutes(40);
  repair.outcome = RepairOutcome::kFailed;
  repair.rx_lane = 2;
  repair.rx_power_before_dbm = -9.1;
  repair.rx_power_after_dbm = -8.5;
  repair.pre_fec_ber_before = 3.4e-5;
  repair.pre_fec_ber_after = 2e-5;
  fault.repairs.push_back(repair);
  return fault;
}

TEST(RepairRows, NothingTriedIsNothingSaid) {
  EXPECT_TRUE(repair_rows(test::dirty_port().faults.front(), now()).empty());
}

TEST(RepairRows, SayWhatWasTriedAndWhetherItHelped) {
  const auto rows = repair_rows(tried(), now());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].first, "Tried");
  EXPECT_EQ(rows[0].second,
            "fibre reseated 40 min ago: Rx lane 2 -9.1 to -8.5 dBm, pre-FEC BER 3.4e-05 to "
            "2.0e-05; it did not help");
}

TEST(RepairRows, AReplacedModuleHasTwoSerialNumbers) {
  FaultReport fault = tried();
  RepairRecord& repair = fault.repairs.front();
  repair = RepairRecord{};
  repair.action = RepairAction::kModuleReplaced;
  repair.at = now() - std::chrono::hours(2);
  repair.serial_before = "A1";
  repair.serial_after = "B2";
  EXPECT_EQ(repair_rows(fault, now())[0].second, "module replaced 2 h ago: A1 by B2");
}

TEST(RepairRows, TheProofSaysHowFarItIsAndWhatItWillShow) {
  FaultReport fault = test::dirty_port().faults.front();
  fault.proof = FaultProof{now() - std::chrono::minutes(12), 7200, 1e-15};
  const auto rows = repair_rows(fault, now());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].first, "Proving");
  EXPECT_EQ(rows[0].second,
            "12 min of 2 h without a symptom, a drop or a lost block; then the BER after FEC is "
            "below 1e-15 with 95% "
            "confidence");
}

TEST(RepairRows, ThePastIsCountedByPortModuleAndCable) {
  FaultReport fault = test::dirty_port().faults.front();
  fault.past = {3, 1, 0, now() - std::chrono::hours(24 * 12)};
  EXPECT_EQ(repair_rows(fault, now())[0].second,
            "3 times on this port, 1 time with this module; the last ended 12 d ago");
}

TEST(RepairRows, AreOnThePage) {
  PortReport port = test::dirty_port();
  port.faults.front() = tried();
  const std::string text = explain_text(port, {}, {.now = now(), .t = test::example_t()});
  EXPECT_NE(text.find("Tried"), std::string::npos) << text;
}

}  // namespace
}  // namespace linkhealth
