#include "diagnosis/observability.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace linkhealth {
namespace {

bool blurred(Sights seen, std::string_view a, std::string_view b) {
  const auto all = blurs(seen);
  return std::any_of(all.begin(), all.end(), [&](const Blur& blur) {
    return (blur.a->name == a && blur.b->name == b) || (blur.a->name == b && blur.b->name == a);
  });
}

TEST(Observability, EverySymptomHasItsSources) {
  for (const Symptom& row : symptom_table())
    EXPECT_TRUE(has_sights(row.id)) << row.name << ": add a row to diagnosis/observability.cpp";
}

TEST(Observability, WithEverythingVisibleNothingIsBlurred) {
  EXPECT_TRUE(blurs(kAllSights).empty());
}

TEST(Observability, EachHiddenSourceBlursWhatOnlyItTells) {
  const auto without = [](Sight sight) { return kAllSights & ~bit(sight); };
  EXPECT_TRUE(blurred(without(Sight::kPcie), "healthy", "pcie_degraded"));
  const Sights no_light = bit(Sight::kLink) | bit(Sight::kCounters) | bit(Sight::kPcie);
  EXPECT_TRUE(blurred(no_light, "dirty_connector", "damaged_fiber"));
  EXPECT_FALSE(blurred(no_light, "healthy", "pcie_degraded"));
  EXPECT_TRUE(blurred(without(Sight::kPlan), "healthy", "wrong_cabling"));
  EXPECT_FALSE(blurred(without(Sight::kPlan), "healthy", "pcie_degraded"));
}

TEST(Observability, MoreSightsNeverBlurMore) {
  Sights seen = 0;
  std::size_t before = blurs(seen).size();
  EXPECT_GT(before, 50U) << "blind means blind";
  for (std::size_t i = 0; i < kSightCount; ++i) {
    seen |= bit(static_cast<Sight>(i));
    const std::size_t now = blurs(seen).size();
    EXPECT_LE(now, before) << words(static_cast<Sight>(i));
    before = now;
  }
}

TEST(Observability, EveryBlurNamesSomethingThatIsHidden) {
  const Sights seen = bit(Sight::kLink) | bit(Sight::kCounters);
  for (const Blur& blur : blurs(seen)) {
    EXPECT_NE(blur.needs, 0U);
    EXPECT_EQ(blur.needs & seen, 0U);
  }
}

}  // namespace
}  // namespace linkhealth
