#include "diagnosis/faults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace linkhealth {
namespace {

std::vector<std::string_view> texts(std::string_view fault, End end,
                                    const std::vector<RepairAction>& failed) {
  std::vector<std::string_view> found;
  for (const RepairStep* step : steps_left(find_fault(fault, end), failed))
    found.push_back(step->text);
  return found;
}

TEST(StepsLeft, WithoutAFailureTheyAreTheLadder) {
  EXPECT_EQ(texts("dirty_connector", End::kPath, {}).size(),
            find_fault("dirty_connector", End::kPath).repair.size());
}

TEST(StepsLeft, WhatWasTriedInVainIsNotAskedForAgain) {
  const auto left = texts("dirty_connector", End::kPath, {RepairAction::kFibreReseated});
  ASSERT_FALSE(left.empty());
  EXPECT_EQ(left.front(), "replace the jumper");
  const auto module = texts("bad_module", End::kLocal, {RepairAction::kModuleReplaced});
  for (const std::string_view step : module)
    EXPECT_FALSE(step.starts_with("replace this module")) << step;
}

TEST(StepsLeft, LookingIsNeverLeftOut) {
  const std::vector<RepairAction> all = {
      RepairAction::kPortBounced,      RepairAction::kDriverReloaded, RepairAction::kNodeRebooted,
      RepairAction::kFibreReseated,    RepairAction::kModuleReseated, RepairAction::kModuleReplaced,
      RepairAction::kFarModuleReplaced};
  for (const Fault& fault : fault_table()) {
    if (fault.end == End::kNone) continue;
    const auto left = steps_left(fault, all);
    EXPECT_FALSE(left.empty()) << fault.name << ": nothing is left to do";
    for (const RepairStep& step : fault.repair) {
      if (step.remedy != Remedy::kLook) continue;
      EXPECT_TRUE(std::any_of(left.begin(), left.end(), [&](const auto* each) {
        return each->text == step.text;
      })) << step.text;
    }
  }
}

TEST(StepsLeft, ABounceIsNotAReseat) {
  EXPECT_TRUE(is_done_by(Remedy::kBounce, RepairAction::kPortBounced));
  EXPECT_FALSE(is_done_by(Remedy::kReseat, RepairAction::kPortBounced));
  EXPECT_FALSE(is_done_by(Remedy::kSwapModule, RepairAction::kModuleReseated));
  EXPECT_FALSE(is_done_by(Remedy::kSwapModule, RepairAction::kFarModuleReplaced));
}

}  // namespace
}  // namespace linkhealth
