#include "diagnosis/faults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace linkhealth {
namespace {

std::vector<std::string_view> texts(FaultId fault, const std::vector<RepairAction>& failed) {
  std::vector<std::string_view> found;
  for (const RepairStep* step : steps_left(fault_of(fault).repair, failed))
    found.push_back(step->text);
  return found;
}

TEST(StepsLeft, WithoutAFailureTheyAreTheLadder) {
  EXPECT_EQ(texts(FaultId::kDirtyConnector, {}).size(),
            fault_of(FaultId::kDirtyConnector).repair.size());
}

TEST(StepsLeft, AStepThatFailedIsLeftOut) {
  const auto left = texts(FaultId::kDirtyConnector, {RepairAction::kFibreReseated});
  ASSERT_FALSE(left.empty());
  EXPECT_EQ(left.front(), "replace the jumper");
  for (const auto step : texts(FaultId::kBadModule, {RepairAction::kModuleReplaced}))
    EXPECT_FALSE(step.starts_with("replace this module")) << step;
}

TEST(StepsLeft, LookingIsNeverLeftOut) {
  const std::vector<RepairAction> all = {
      RepairAction::kPortBounced,      RepairAction::kDriverReloaded, RepairAction::kNodeRebooted,
      RepairAction::kFibreReseated,    RepairAction::kModuleReseated, RepairAction::kModuleReplaced,
      RepairAction::kFarModuleReplaced};
  for (const Fault& fault : fault_table()) {
    if (fault.end == End::kNone) continue;
    const auto left = steps_left(fault.repair, all);
    EXPECT_FALSE(left.empty()) << fault.name << ": nothing is left to do";
    for (const RepairStep& step : fault.repair) {
      if (step.action != RepairAction::kLook) continue;
      EXPECT_TRUE(std::any_of(left.begin(), left.end(), [&](const auto* each) {
        return each->text == step.text;
      })) << step.text;
    }
  }
}

TEST(StepsLeft, ABounceIsNotAReseat) {
  using enum RepairAction;
  EXPECT_TRUE(includes(kPortBounced, kPortBounced));
  EXPECT_FALSE(includes(kPortBounced, kModuleReseated));
  EXPECT_FALSE(includes(kModuleReseated, kModuleReplaced));
  EXPECT_FALSE(includes(kFarModuleReplaced, kModuleReplaced));
}

}  // namespace
}  // namespace linkhealth
