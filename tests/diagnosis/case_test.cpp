// What a symptom records of how it decided, and what is told of it.
#include "diagnosis/case.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "diagnosis/explain.h"
#include "diagnosis/symptoms.h"

namespace linkhealth {
namespace {

Finding of_comparisons(int count) {
  Case found(Reader::kLink);
  for (int i = 0; i < count; ++i) found.lane(i).at_least("losses", i, 0);
  return found.close();
}

TEST(Comparisons, KeepTheFirstFour) {
  const Finding finding = of_comparisons(6);
  ASSERT_EQ(finding.comparisons.size(), Comparisons::kMax);
  double expected = 0;
  for (const Comparison& comparison : finding.comparisons)
    EXPECT_EQ(comparison.observed, expected++);
  EXPECT_TRUE(finding.present());
}

TEST(Comparisons, OfAnotherFindingReplaceAllThatThereWere) {
  Finding finding = of_comparisons(4);
  finding = of_comparisons(1);
  ASSERT_EQ(finding.comparisons.size(), 1U);
  EXPECT_EQ(finding.comparisons.front().lane, 0);
  finding = of_comparisons(3);
  ASSERT_EQ(finding.comparisons.size(), 3U);
  EXPECT_EQ(finding.comparisons.begin()[2].lane, 2);
  const Finding copy =
      finding;  // NOLINT(performance-unnecessary-copy-initialization): it is what is tested
  finding = not_known("the link is up");
  EXPECT_TRUE(finding.comparisons.empty());
  EXPECT_EQ(copy.comparisons.begin()[2].observed, 2);
}

TEST(Case, NamesWhatIsNotKnownAndForgetsItWhenSomethingFails) {
  EXPECT_EQ(std::string(Case(Reader::kLink).at_least("speed", std::nullopt, 1).close().reason),
            "speed");
  const Finding absent =
      Case(Reader::kLink).at_least("speed", std::nullopt, 1).at_least("lanes", 1, 4).close();
  EXPECT_TRUE(absent.absent());
  EXPECT_TRUE(absent.reason.empty());
}

TEST(StaticText, IsTheSameAtAnotherPlaceToo) {
  static constexpr char kOne[] = "the link is up", kOther[] = "the link is up",
                        kThird[] = "the link is UP";
  EXPECT_TRUE(StaticText(kOne) == StaticText(kOther));
  EXPECT_FALSE(StaticText(kOne) == StaticText(kThird));
  EXPECT_FALSE(StaticText(kOne) == StaticText());
}

TEST(SymptomsTold, AreSharedWhileTheFindingsAreTheSame) {
  Findings findings{};
  const auto first = tell_symptoms(findings, nullptr, nullptr);
  ASSERT_EQ(first->verdicts.size(), kSymptomCount);
  EXPECT_EQ(first->verdicts[0].verdict, "unknown");
  EXPECT_EQ(tell_symptoms(findings, nullptr, first), first) << "of another port";

  Finding& changed = findings[3];
  changed = not_known("the link is up");
  const auto second = tell_symptoms(findings, nullptr, first);
  EXPECT_NE(second, first) << "the verdict is the same, its reason is not";
  EXPECT_EQ(second->verdicts[3].reason, "the link is up");
  EXPECT_EQ(tell_symptoms(findings, second, first), second) << "of the step before";

  changed = Case(Reader::kLink).at_least("losses", 1, 0).close();
  const auto third = tell_symptoms(findings, second, first);
  EXPECT_EQ(third->verdicts[3].verdict, "present");
  EXPECT_EQ(third->verdicts[3].symptom, symptom_table()[3].name);
  changed = {};
  EXPECT_EQ(tell_symptoms(findings, third, first), first);
}

}  // namespace
}  // namespace linkhealth
