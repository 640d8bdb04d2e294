#include "exporters/catalogue_text.h"

#include <gtest/gtest.h>

#include <set>

#include "daemon/engine.h"
#include "diagnosis/catalogue.h"
#include "diagnosis/faults.h"
#include "diagnosis/sources.h"
#include "exporters/text_layout.h"
#include "tests/support/golden.h"

namespace linkhealth {
namespace {

Catalogue defaults() { return make_catalogue(KnobTable(engine_knob_groups())); }

RuleUse some_use() {
  RuleUse use;
  use.since = *parse_rfc3339("2026-11-08T10:00:00Z");
  use.faults["dirty_connector/path"] = 4;
  use.symptoms["rx_power_low"] = 3;
  return use;
}

TEST(Catalogue, ThePageIsWhatTheTablesSay) {
  test::expect_golden("docs/faults.md", faults_page(defaults()));
}

TEST(Catalogue, HasEveryFaultAndEverySymptomWithASource) {
  const Catalogue catalogue = defaults();
  EXPECT_EQ(catalogue.faults.size() + 1, fault_table().size()) << "all but healthy";
  EXPECT_EQ(catalogue.symptoms.size(), kSymptomCount);
  for (const CatalogueFault& fault : catalogue.faults) {
    EXPECT_FALSE(fault.source.empty()) << fault.name;
    EXPECT_FALSE(fault.signs.empty()) << fault.name << " shows nothing";
    EXPECT_FALSE(fault.repair.empty()) << fault.name;
    EXPECT_EQ(fault.neighbours.size(), 3U) << fault.name;
  }
  for (const CatalogueSymptom& symptom : catalogue.symptoms)
    EXPECT_FALSE(symptom.source.empty()) << symptom.name;
}

TEST(Catalogue, EverySymptomSpeaksForAFault) {
  std::set<SymptomId> spoken;
  for (const Cause& cause : cause_table())
    for (const Expectation& row : cause.expects) spoken.insert(row.symptom);
  // The joint row of light and errors holds this one; a link that is down shows it always.
  spoken.insert(SymptomId::kReceiveErrors);
  spoken.insert(SymptomId::kLinkDown);
  for (const Symptom& row : symptom_table())
    EXPECT_TRUE(spoken.contains(row.id)) << row.name << " decides nothing";
}

TEST(Catalogue, SharesAddUp) {
  double up = 0, down = 0;
  for (const CatalogueFault& fault : defaults().faults) {
    up += fault.share_up;
    down += fault.share_down;
  }
  EXPECT_NEAR(up, 1, 1e-9);
  EXPECT_NEAR(down, 1, 1e-9);
}

TEST(Catalogue, ANeighbourIsTheOneThatLooksAlike) {
  for (const CatalogueFault& fault : defaults().faults)
    if (fault.name == "dirty_connector") {
      std::set<std::string_view> names;
      for (const CatalogueNeighbour& near : fault.neighbours) names.insert(near.fault);
      EXPECT_TRUE(names.contains("damaged_fiber"));
      EXPECT_FALSE(names.contains("admin_down"));
    }
}

TEST(RulesText, ListsAllWithWhatDecidedHere) {
  const RuleUse use = some_use();
  const auto text = rules_text(
      defaults(),
      {.name = "", .unused = false, .use = &use, .now = *parse_rfc3339("2026-11-20T10:00:00Z")},
      {});
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text->find("Faults (counted for 12 d)"), std::string::npos) << *text;
  EXPECT_NE(text->find("  4       dirty_connector"), std::string::npos) << *text;
  EXPECT_NE(text->find("  never   damaged_fiber"), std::string::npos);
  EXPECT_NE(text->find("min_losses"), std::string::npos);
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = text->find('\n', at);
    EXPECT_LE(display_width(text->substr(at, end - at)), 100U) << text->substr(at, end - at);
    at = end + 1;
  }
}

TEST(RulesText, UnusedLeavesOutWhatDecided) {
  const RuleUse use = some_use();
  const auto text =
      rules_text(defaults(), {.name = "", .unused = true, .use = &use, .now = use.since}, {});
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text->find("  dirty_connector"), std::string::npos);
  EXPECT_EQ(text->find("rx_power_low"), std::string::npos);
  EXPECT_NE(text->find("damaged_fiber"), std::string::npos);
  EXPECT_FALSE(
      rules_text(defaults(), {.name = "", .unused = true, .use = nullptr, .now = {}}, {}).ok())
      << "without a daemon nobody counted";
}

TEST(RulesText, OneFaultInFullAndATypo) {
  const auto text = rules_text(
      defaults(), {.name = "failing_transmitter", .unused = false, .use = nullptr, .now = {}}, {});
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text->find("end: local"), std::string::npos);
  EXPECT_NE(text->find("end: far"), std::string::npos);
  EXPECT_EQ(text->find('{'), std::string::npos) << "a placeholder was left\n" << *text;
  const auto typo = rules_text(
      defaults(), {.name = "dirty_conector", .unused = false, .use = nullptr, .now = {}}, {});
  ASSERT_FALSE(typo.ok());
  EXPECT_EQ(typo.error().message,
            "no fault or symptom \"dirty_conector\": did you mean dirty_connector?");
}

TEST(RulesText, AKnobThatWasTurnedShowsItsDefault) {
  KnobTable knobs(engine_knob_groups());
  ASSERT_TRUE(knobs.set("carrier_flaps", "min_losses", 7));
  const auto text =
      rules_text(make_catalogue(knobs),
                 {.name = "carrier_flaps", .unused = false, .use = nullptr, .now = {}}, {});
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text->find("7 (default 3)"), std::string::npos) << *text;
}

TEST(RulesJson, CountsOnlyWhereSomebodyCounted) {
  const RuleUse use = some_use();
  EXPECT_NE(rules_json(defaults(), &use).find("\"opened\":4"), std::string::npos);
  EXPECT_EQ(rules_json(defaults(), nullptr).find("\"opened\""), std::string::npos);
}

}  // namespace
}  // namespace linkhealth
