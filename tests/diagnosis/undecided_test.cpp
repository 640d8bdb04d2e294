// "Cannot be told apart from here": when it is said, and which test is named.
#include "diagnosis/undecided.h"

#include <gtest/gtest.h>

namespace linkhealth {
namespace {

const Cause& cause(std::string_view name) {
  for (const Cause& row : cause_table())
    if (row.name == name) return row;
  ADD_FAILURE() << name;
  return cause_table()[0];
}

RankedFault ranked(std::string_view name, double confidence) {
  const Cause& row = cause(name);
  return {&find_fault(row.fault, row.end), &row, confidence, confidence};
}

struct Pair {
  Differential differential;
  Findings findings{};
  Pair(std::string_view first, double sure, std::string_view second, double other) {
    differential.ranked = {ranked(first, sure), ranked(second, other)};
    const auto causes = cause_table();
    for (std::size_t i = 0; i < causes.size(); ++i)
      differential.posterior[i] = causes[i].name == first    ? sure
                                  : causes[i].name == second ? other
                                                             : 0;
    for (Finding& finding : findings) finding.verdict = Verdict::kAbsent;
  }
  std::optional<Rival> rival(std::span<const RepairAction> failed = {}, double ratio = 0.4) const {
    return rival_of(differential, differential.ranked.front(), findings, false, ratio, failed);
  }
};

TEST(Rival, ANameThatLeadsHasNone) {
  EXPECT_FALSE(Pair("dirt, incoming", 0.7, "far laser", 0.27).rival());
  EXPECT_TRUE(Pair("dirt, incoming", 0.7, "far laser", 0.28).rival());
}

TEST(Rival, TheMissingReadingThatTellsBestIsNamed) {
  Pair pair("dirt, incoming", 0.5, "far laser", 0.45);
  Finding& far = pair.findings[static_cast<std::size_t>(SymptomId::kFarTxLow)];
  far = not_known("the peer gives no module data");
  const auto rival = pair.rival();
  ASSERT_TRUE(rival);
  EXPECT_EQ(rival->other.fault->name, "failing_transmitter");
  ASSERT_TRUE(rival->reading);
  EXPECT_EQ(*rival->reading, SymptomId::kFarTxLow);
  EXPECT_EQ(rival->step, nullptr);
}

TEST(Rival, WithoutSuchAReadingTheCheapestStepOfOneThatIsNoneOfTheOtherDecides) {
  const auto rival = Pair("dirt, incoming", 0.5, "far laser", 0.45).rival();
  ASSERT_TRUE(rival);
  EXPECT_FALSE(rival->reading);
  ASSERT_NE(rival->step, nullptr);
  EXPECT_EQ(rival->step->remedy, Remedy::kLook) << "to read the far end's power costs nothing";
}

TEST(Rival, AStepThatFailedIsNotAskedForAgain) {
  const Pair pair("dirt, incoming", 0.5, "own receiver or electronics", 0.45);
  const auto before = pair.rival();
  ASSERT_TRUE(before && before->step);
  const std::array failed = {RepairAction::kPortBounced};
  const auto after = pair.rival(failed);
  ASSERT_TRUE(after && after->step);
  EXPECT_EQ(before->step->remedy, Remedy::kBounce);
  EXPECT_NE(after->step->remedy, Remedy::kBounce);
}

}  // namespace
}  // namespace linkhealth
