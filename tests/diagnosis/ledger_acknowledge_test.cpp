// Who took note of a fault, until when, and what ends it.
#include <gtest/gtest.h>

#include "tests/diagnosis/ledger_desk.h"

namespace linkhealth {
namespace {

TEST(LedgerAcknowledge, WhoTookNoteOfAFaultHasItUnderItsNewNameToo) {
  Desk desk;
  desk.tell(Desk::wrong(kDirty), 100);
  ASSERT_TRUE(
      desk.ledger.acknowledge("pci/1", "ann", "spare ordered", Desk::wall(5000), Desk::wall(100)));
  desk.tell(Desk::wrong(kModule), 260);
  const LedgerFault& renamed = desk.ledger.open("pci/1")[0]->kept;
  EXPECT_EQ(renamed.fault, "bad_module");
  EXPECT_EQ(renamed.state, FaultState::kAcknowledged);
  EXPECT_EQ(renamed.acknowledged_by, "ann");
  EXPECT_EQ(renamed.acknowledged_reason, "spare ordered");
  EXPECT_EQ(renamed.acknowledged_until, Desk::wall(5000));
  PortVerdict worse = Desk::wrong(kDirty);
  worse.primary->severity = Severity::kCritical;
  desk.tell(worse, 260);
  EXPECT_EQ(desk.ledger.open("pci/1")[0]->kept.state, FaultState::kOpen)
      << "of something worse she knows nothing";
}

TEST(LedgerAcknowledge, AnAcknowledgementHoldsUntilItsTime) {
  Desk desk;
  EXPECT_FALSE(
      desk.ledger.acknowledge("pci/1", "ann", "spare ordered", std::nullopt, Desk::wall(0)));
  desk.tell(Desk::wrong(kDirty), 100);
  EXPECT_FALSE(desk.ledger.acknowledge("pci/1", "ann", "", Desk::wall(-1), Desk::wall(100)));
  ASSERT_TRUE(
      desk.ledger.acknowledge("pci/1", "ann", "spare ordered", Desk::wall(500), Desk::wall(100)));
  desk.tell(Desk::wrong(kDirty), 100);
  EXPECT_EQ(desk.ledger.open("pci/1")[0]->kept.state, FaultState::kAcknowledged);
  desk.tell(Desk::wrong(kDirty), 400);
  EXPECT_EQ(desk.ledger.open("pci/1")[0]->kept.state, FaultState::kOpen);
}

TEST(LedgerAcknowledge, AFaultIsNotAcknowledgedTwice) {
  Desk desk;
  desk.tell(Desk::wrong(kDirty), 100);
  const WallTime until =
      Desk::wall(500) + std::chrono::milliseconds(223);  // nobody wants to read those
  ASSERT_TRUE(desk.ledger.acknowledge("pci/1", "ann", "", until, Desk::wall(100)));
  const auto again = desk.ledger.acknowledge("pci/1", "bob", "", std::nullopt, Desk::wall(200));
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("acknowledged already, by ann until 2025-11-20T12:08:20Z"),
            std::string::npos)
      << again.error().message;
  EXPECT_TRUE(desk.ledger.acknowledge("pci/1", "bob", "", std::nullopt, Desk::wall(501)))
      << "ann's time is over";
}

TEST(LedgerAcknowledge, TheEndOfAnAcknowledgementIsToldOnce) {
  Desk desk;
  desk.tell(Desk::wrong(kDirty), 100);
  ASSERT_TRUE(desk.ledger.acknowledge("pci/1", "ann", "", Desk::wall(500), Desk::wall(100)));
  desk.events.clear();
  desk.tell(Desk::wrong(kDirty), 390);
  EXPECT_EQ(desk.events, "");
  desk.tell(Desk::wrong(kDirty), 200);
  EXPECT_EQ(desk.events, "reopened:dirty_connector ");
  EXPECT_EQ(desk.ledger.open("pci/1")[0]->kept.acknowledged_by, "");
}

TEST(LedgerAcknowledge, AnAcknowledgementEndsAlsoWhileNothingCanBeJudged) {
  Desk desk;
  desk.tell(Desk::wrong(kDirty), 100);
  ASSERT_TRUE(desk.ledger.acknowledge("pci/1", "ann", "", Desk::wall(200), Desk::wall(100)));
  desk.tell(PortVerdict(), 200);
  EXPECT_EQ(desk.ledger.open("pci/1")[0]->kept.state, FaultState::kOpen);
}

TEST(LedgerAcknowledge, WhatComesBackWhileAcknowledgedStaysAcknowledged) {
  Desk desk;
  desk.tell(Desk::wrong(kDirty), 100);
  ASSERT_TRUE(desk.ledger.acknowledge("pci/1", "ann", "", std::nullopt, Desk::wall(100)));
  desk.tell(Desk::fine(), 400);
  ASSERT_EQ(desk.ledger.open("pci/1")[0]->kept.state, FaultState::kProving);
  desk.tell(Desk::wrong(kDirty), 50);
  EXPECT_EQ(desk.ledger.open("pci/1")[0]->kept.state, FaultState::kAcknowledged);
}

TEST(LedgerAcknowledge, AnAcknowledgementCanBeTakenBack) {
  Desk desk;
  desk.tell(Desk::wrong(kDirty), 100);
  EXPECT_FALSE(desk.ledger.withdraw_acknowledgement("pci/1", Desk::wall(100)));
  EXPECT_FALSE(desk.ledger.withdraw_acknowledgement("pci/9", Desk::wall(100)));
  ASSERT_TRUE(desk.ledger.acknowledge("pci/1", "ann", "", std::nullopt, Desk::wall(100)));
  const auto change = desk.ledger.withdraw_acknowledgement("pci/1", Desk::wall(200));
  ASSERT_TRUE(change);
  EXPECT_EQ(change->kind, FaultEventKind::kReopened);
  EXPECT_EQ(desk.ledger.open("pci/1")[0]->kept.state, FaultState::kOpen);
}

}  // namespace
}  // namespace linkhealth
