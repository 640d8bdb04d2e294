#include "diagnosis/repair_book.h"

#include <gtest/gtest.h>

namespace linkhealth {
namespace {

class RepairBookTest : public testing::Test {
 protected:
  static WallTime at(double t) { return WallTime(Milliseconds(1763640000000)) + from_seconds(t); }
  void repair(RepairAction action, double t) {
    RepairRecord record;
    record.port = "pci/1";
    record.fault_id = "id";
    record.action = action;
    record.at = at(t);
    book.add(record);
  }
  RepairOutcome outcome(std::size_t index) const {
    return book.of("pci/1", "id").at(index).outcome;
  }

  RepairBook book;
};

TEST_F(RepairBookTest, AFaultThatStillShowsMeansThatTheRepairFailed) {
  repair(RepairAction::kFibreReseated, 0);
  book.seen("pci/1", "id", at(60));
  EXPECT_EQ(outcome(0), RepairOutcome::kPending) << "too early: windows still hold what was before";
  book.seen("pci/1", "id", at(1000));
  EXPECT_EQ(outcome(0), RepairOutcome::kFailed);
  EXPECT_EQ(book.failed("pci/1", "id"), std::vector{RepairAction::kFibreReseated});
  EXPECT_TRUE(book.failed("pci/1", "another").empty());
}

TEST_F(RepairBookTest, TheLastRepairIsTheOneThatHeld) {
  repair(RepairAction::kPortBounced, 0);
  repair(RepairAction::kModuleReplaced, 600);
  book.healed("pci/1", "id");
  EXPECT_EQ(outcome(0), RepairOutcome::kFailed);
  EXPECT_EQ(outcome(1), RepairOutcome::kHeld);
}

TEST_F(RepairBookTest, MemoryIsBounded) {
  for (int i = 0; i < 100; ++i) repair(RepairAction::kPortBounced, i);
  EXPECT_EQ(book.state().size(), 32U);
  EXPECT_EQ(book.state().back().at, at(99));
}

TEST_F(RepairBookTest, SurvivesARestart) {
  repair(RepairAction::kModuleReplaced, 0);
  book.seen("pci/1", "id", at(1000));
  RepairBook again;
  again.restore(book.state());
  EXPECT_EQ(again.state(), book.state());
}

}  // namespace
}  // namespace linkhealth
