// Acknowledgements of faults, and their end.
#include <gtest/gtest.h>

#include "tests/diagnosis/ledger_bench.h"

namespace linkhealth {
namespace {

TEST(LedgerAcknowledge, SurvivesARenamingOfTheFault) {
  LedgerBench bench(kDirty);
  ASSERT_TRUE(bench.ledger.acknowledge("pci/1", "ann", "spare ordered", LedgerBench::wall(5000),
                                       LedgerBench::wall(100)));
  bench.judge(LedgerBench::wrong(kModule), 260);
  const LedgerFault& renamed = bench.kept();
  EXPECT_EQ(renamed.fault, "bad_module");
  EXPECT_EQ(renamed.state, FaultState::kAcknowledged);
  EXPECT_EQ(renamed.acknowledged_by, "ann");
  EXPECT_EQ(renamed.acknowledged_reason, "spare ordered");
  EXPECT_EQ(renamed.acknowledged_until, LedgerBench::wall(5000));
  PortVerdict worse = LedgerBench::wrong(kDirty);
  worse.primary->severity = Severity::kCritical;
  bench.judge(worse, 260);
  EXPECT_EQ(bench.kept().state, FaultState::kOpen) << "of something worse she knows nothing";
}

TEST(LedgerAcknowledge, AnAcknowledgementHoldsUntilItsTime) {
  LedgerBench bench;
  EXPECT_FALSE(bench.ledger.acknowledge("pci/1", "ann", "spare ordered", std::nullopt,
                                        LedgerBench::wall(0)));
  bench.judge(LedgerBench::wrong(kDirty), 100);
  EXPECT_FALSE(
      bench.ledger.acknowledge("pci/1", "ann", "", LedgerBench::wall(-1), LedgerBench::wall(100)));
  ASSERT_TRUE(bench.ledger.acknowledge("pci/1", "ann", "spare ordered", LedgerBench::wall(500),
                                       LedgerBench::wall(100)));
  bench.judge(LedgerBench::wrong(kDirty), 100);
  EXPECT_EQ(bench.kept().state, FaultState::kAcknowledged);
  bench.judge(LedgerBench::wrong(kDirty), 400);
  EXPECT_EQ(bench.kept().state, FaultState::kOpen);
}

TEST(LedgerAcknowledge, AFaultIsNotAcknowledgedTwice) {
  LedgerBench bench(kDirty);
  const WallTime until = LedgerBench::wall(500) + std::chrono::milliseconds(223);  // not shown
  ASSERT_TRUE(bench.ledger.acknowledge("pci/1", "ann", "", until, LedgerBench::wall(100)));
  const auto again =
      bench.ledger.acknowledge("pci/1", "bob", "", std::nullopt, LedgerBench::wall(200));
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("is already acknowledged by ann until 2025-11-20T12:08:20Z"),
            std::string::npos)
      << again.error().message;
  EXPECT_TRUE(bench.ledger.acknowledge("pci/1", "bob", "", std::nullopt, LedgerBench::wall(501)))
      << "ann's time is over";
}

TEST(LedgerAcknowledge, ItsEndIsReportedOnce) {
  LedgerBench bench(kDirty);
  ASSERT_TRUE(
      bench.ledger.acknowledge("pci/1", "ann", "", LedgerBench::wall(500), LedgerBench::wall(100)));
  bench.events.clear();
  bench.judge(LedgerBench::wrong(kDirty), 390);
  EXPECT_EQ(bench.events, "");
  bench.judge(LedgerBench::wrong(kDirty), 200);
  EXPECT_EQ(bench.events, "reopened:dirty_connector ");
  EXPECT_EQ(bench.kept().acknowledged_by, "");
}

TEST(LedgerAcknowledge, AnAcknowledgementEndsAlsoWhileNothingCanBeJudged) {
  LedgerBench bench(kDirty);
  ASSERT_TRUE(
      bench.ledger.acknowledge("pci/1", "ann", "", LedgerBench::wall(200), LedgerBench::wall(100)));
  bench.judge(PortVerdict(), 200);
  EXPECT_EQ(bench.kept().state, FaultState::kOpen);
}

TEST(LedgerAcknowledge, WhatComesBackWhileAcknowledgedStaysAcknowledged) {
  LedgerBench bench(kDirty);
  ASSERT_TRUE(bench.ledger.acknowledge("pci/1", "ann", "", std::nullopt, LedgerBench::wall(100)));
  bench.judge(LedgerBench::fine(), 400);
  ASSERT_EQ(bench.kept().state, FaultState::kProving);
  bench.judge(LedgerBench::wrong(kDirty), 50);
  EXPECT_EQ(bench.kept().state, FaultState::kAcknowledged);
}

TEST(LedgerAcknowledge, AnAcknowledgementCanBeTakenBack) {
  LedgerBench bench(kDirty);
  EXPECT_FALSE(bench.ledger.withdraw_acknowledgement("pci/1", LedgerBench::wall(100)));
  EXPECT_FALSE(bench.ledger.withdraw_acknowledgement("pci/9", LedgerBench::wall(100)));
  ASSERT_TRUE(bench.ledger.acknowledge("pci/1", "ann", "", std::nullopt, LedgerBench::wall(100)));
  const auto change = bench.ledger.withdraw_acknowledgement("pci/1", LedgerBench::wall(200));
  ASSERT_TRUE(change);
  EXPECT_EQ(change->kind, FaultEventKind::kReopened);
  EXPECT_EQ(bench.kept().state, FaultState::kOpen);
}

}  // namespace
}  // namespace linkhealth
