// What a differential leaves open: readings, runner-up, ruled out, weights, confusable faults.
#include "diagnosis/questions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "diagnosis/explain.h"
#include "tests/diagnosis/symptom_scene.h"

namespace linkhealth {
namespace {

using namespace symptom_scene;  // NOLINT(google-build-using-namespace): the words of these tests

const Cause& cause_of(std::string_view name) {
  return *std::ranges::find(cause_table(), name, &Cause::name);
}
RankedFault named(std::string_view cause, double confidence) {
  const Cause& row = cause_of(cause);
  return {&fault_of(row.fault), &row, confidence, confidence};
}

struct DirtyScene : Scene {
  Findings findings;
  RankedFault dirt = named("dirt, incoming", 0.9);
  DirtyScene() {
    set(kLightLow,
        Checks(EvidenceSource::kModule).at_least("Rx power below baseline", 6.0, 1.2, "dB"));
    set(kReceiveErrors, Checks(EvidenceSource::kFec).above("pre-FEC BER", 1e-4, 1e-5));
  }
  void set(SymptomId id, const Finding& finding) {
    findings[static_cast<std::size_t>(id)] = finding;
  }
};

TEST(RuledOut, AMissingSymptomRulesAnotherFaultOut) {
  DirtyScene scene;
  scene.set(
      kFarTxLow,
      Checks(EvidenceSource::kFarModule).at_least("far Tx power below baseline", 0.1, 1.2, "dB"));
  scene.set(kModuleHot, unknown("the module reports no temperature"));
  const auto found = ruled_out(scene.view, scene.findings, scene.dirt);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].symptom, kFarTxLow);
  EXPECT_EQ(found[0].seen.observed, 0.1);
  ASSERT_EQ(found[0].faults.size(), 1U);
  EXPECT_EQ(found[0].faults[0]->end, End::kFar);
  EXPECT_EQ(title_in_sentence(*found[0].faults[0]), "failing transmitter in the far module");
}

TEST(RuledOut, OneReadingForEachFaultIsEnough) {
  DirtyScene scene;
  scene.set(kNicHot, Checks(EvidenceSource::kEvents).holds("the card is too hot", false));
  scene.set(kSupplyShared,
            Checks(EvidenceSource::kNodePorts).holds("the module's supply voltage is low", false));
  const auto found = ruled_out(scene.view, scene.findings, scene.dirt);
  ASSERT_EQ(found.size(), 1U) << "both speak against the same fault";
  EXPECT_EQ(found[0].faults.at(0)->name, "pcie_degraded");
}

TEST(RuledOut, WhatShowsOrIsNotKnownRulesNothingOut) {
  DirtyScene scene;
  EXPECT_TRUE(ruled_out(scene.view, scene.findings, scene.dirt).empty());
  scene.set(
      kFarTxLow,
      Checks(EvidenceSource::kFarModule).at_least("far Tx power below baseline", 3.0, 1.2, "dB"));
  EXPECT_TRUE(ruled_out(scene.view, scene.findings, scene.dirt).empty());
}

TEST(RuledOut, AFaultStaysPossibleWhileOneOfItsCausesIs) {
  DirtyScene scene;
  scene.set(kErrorBursts, Checks(EvidenceSource::kFec).at_least("intervals", 0.0, 3));
  for (const RuledOut& one : ruled_out(scene.view, scene.findings, scene.dirt))
    for (const Fault* fault : one.faults) EXPECT_NE(fault->name, "bad_module");
}

TEST(RuledOut, AnUnlikelyFaultIsNotMentioned) {
  DirtyScene scene;
  scene.set(kNeighbourDiffers,
            Checks(EvidenceSource::kPlan).holds("the far end is not the planned one", false));
  scene.set(kCongested, Checks(EvidenceSource::kCounters).at_least("share", 0.0, 0.8));
  EXPECT_TRUE(ruled_out(scene.view, scene.findings, scene.dirt).empty());
}

TEST(Decides, AMissingReadingNamesTheFaultsThatItWouldTellApart) {
  DirtyScene scene;
  Differential differential;
  differential.ranked = {scene.dirt, named("damaged fibre", 0.06), named("far laser", 0.03),
                         named("overheated", 0.001)};
  EXPECT_EQ(faults_told_apart(differential, scene.dirt, kFarRxLow), "damaged fibre (6%)");
  EXPECT_EQ(faults_told_apart(differential, scene.dirt, kFarTxLow),
            "failing transmitter in the far module (3%)");
  EXPECT_EQ(faults_told_apart(differential, scene.dirt, kModuleHot), "")
      << "one in a thousand is not worth a look";
}

TEST(CountedRange, IsThatOfCountedEvents) {
  // chi-square quantiles: 0 → 0 to 3.69; 10 → 4.80 to 18.39; 100 → 81.36 to 121.63.
  EXPECT_EQ(counted_range(0).low, 0);
  EXPECT_NEAR(counted_range(0).high, 3.69, 0.05);
  EXPECT_NEAR(counted_range(10).low, 4.80, 0.05);
  EXPECT_NEAR(counted_range(10).high, 18.39, 0.05);
  EXPECT_NEAR(counted_range(100).low, 81.36, 0.1);
  EXPECT_NEAR(counted_range(100).high, 121.63, 0.1);
}

TEST(Multimode, ByTheMediaTypeElseByTheName) {
  ModuleSample module;
  for (const char* name :
       {"100G-SR4", "400G-VR4", "1G-SX", "40G-SWDM4", "10G-LRM", "40G-BiDi", "100G-BiDi"}) {
    module.type = name;
    EXPECT_TRUE(is_multimode(module)) << name;
  }
  for (const char* name :
       {"400G-DR4", "1G-LX", "10G-LR", "10G-LR-BiDi", "25G-LR-BiDi", "10G-BR", "40G-PSM4", ""}) {
    module.type = name;
    EXPECT_FALSE(is_multimode(module)) << name;
  }
  module.media_type = "multimode";
  EXPECT_TRUE(is_multimode(module));
  module.type = "10G-SR";  // SFF-8024 has one for single-mode fibre, too
  module.media_type = "single-mode";
  EXPECT_FALSE(is_multimode(module));
}

struct Pair {
  Differential differential;
  Findings findings{};
  Pair(std::string_view first, double sure, std::string_view second, double other) {
    differential.ranked = {named(first, sure), named(second, other)};
    const auto causes = cause_table();
    for (std::size_t i = 0; i < causes.size(); ++i)
      differential.posterior[i] = causes[i].name == first    ? sure
                                  : causes[i].name == second ? other
                                                             : 0;
    for (Finding& finding : findings) finding.verdict = Verdict::kAbsent;
  }
  std::optional<RunnerUp> rival(std::span<const RepairAction> failed = {}) const {
    return ambiguous_with(differential, differential.ranked.front(), findings, false, failed);
  }
};

TEST(RunnerUp, ANameThatLeadsHasNone) {
  EXPECT_FALSE(Pair("dirt, incoming", 0.7, "far laser", 0.27).rival());
  EXPECT_TRUE(Pair("dirt, incoming", 0.7, "far laser", 0.28).rival());
}

TEST(RunnerUp, TheMostTellingMissingReadingIsNamed) {
  Pair pair("dirt, incoming", 0.5, "far laser", 0.45);
  Finding& far = pair.findings[static_cast<std::size_t>(SymptomId::kFarTxLow)];
  far = unknown("the far end provides no module data");
  const auto rival = pair.rival();
  ASSERT_TRUE(rival);
  EXPECT_EQ(rival->other.fault->name, "failing_transmitter");
  ASSERT_TRUE(rival->reading);
  EXPECT_EQ(*rival->reading, SymptomId::kFarTxLow);
  EXPECT_EQ(rival->step, nullptr);
}

TEST(RunnerUp, WithoutSuchAReadingTheCheapestStepOfOneThatIsNoneOfTheOtherDecides) {
  const auto rival = Pair("dirt, incoming", 0.5, "far laser", 0.45).rival();
  ASSERT_TRUE(rival);
  EXPECT_FALSE(rival->reading);
  ASSERT_NE(rival->step, nullptr);
  EXPECT_EQ(rival->step->action, RepairAction::kLook)
      << "to read the far end's power costs nothing";
}

TEST(RunnerUp, AFailedStepIsNotSuggestedAgain) {
  const Pair pair("dirt, incoming", 0.5, "own receiver or electronics", 0.45);
  const auto before = pair.rival();
  ASSERT_TRUE(before && before->step);
  const std::array failed = {RepairAction::kPortBounced};
  const auto after = pair.rival(failed);
  ASSERT_TRUE(after && after->step);
  EXPECT_EQ(before->step->action, RepairAction::kPortBounced);
  EXPECT_NE(after->step->action, RepairAction::kPortBounced);
}

using enum EvidenceSource;

bool confusable(EvidenceSources seen, FaultId a, FaultId b) {
  return std::ranges::any_of(confusable_pairs(seen), [&](const ConfusablePair& pair) {
    return pair.a->id == a && pair.b->id == b;
  });
}
EvidenceSources all_but(std::optional<EvidenceSource> missing) {
  EvidenceSources seen;
  for (std::size_t i = 0; i < kEvidenceSourceCount; ++i)
    if (static_cast<EvidenceSource>(i) != missing) seen.add(static_cast<EvidenceSource>(i));
  return seen;
}

TEST(Confusable, EachMissingSourceHidesItsDistinctions) {
  EXPECT_TRUE(confusable_pairs(all_but(std::nullopt)).empty());
  EXPECT_TRUE(confusable(all_but(kPcie), FaultId::kHealthy, FaultId::kPcieDegraded));
  const EvidenceSources no_light = kLink | kCounters;
  EXPECT_TRUE(confusable(no_light, FaultId::kDirtyConnector, FaultId::kDamagedFiber));
  EXPECT_TRUE(confusable(all_but(kPlan), FaultId::kHealthy, FaultId::kWrongCabling));
  EXPECT_FALSE(confusable(all_but(kPlan), FaultId::kHealthy, FaultId::kPcieDegraded));
  for (const ConfusablePair& pair : confusable_pairs(no_light))
    EXPECT_FALSE(no_light.has_any(pair.needs)) << pair.a->name << ", " << pair.b->name;
}

TEST(Confusable, MoreSourcesNeverConfuseMore) {
  EvidenceSources seen;
  std::size_t before = confusable_pairs(seen).size();
  EXPECT_GT(before, 50U) << "blind means blind";
  for (std::size_t i = 0; i < kEvidenceSourceCount; ++i) {
    seen.add(static_cast<EvidenceSource>(i));
    const std::size_t now = confusable_pairs(seen).size();
    EXPECT_LE(now, before) << to_string(static_cast<EvidenceSource>(i));
    before = now;
  }
}

TEST(Check, NamesWhatIsNotKnownAndForgetsItWhenSomethingFails) {
  EXPECT_EQ(Finding(Checks(kLink).at_least("speed", std::nullopt, 1)).reason, "speed");
  const Finding absent = Checks(kLink).at_least("speed", std::nullopt, 1).at_least("lanes", 1, 4);
  EXPECT_TRUE(absent.absent());
  EXPECT_TRUE(absent.reason.empty());
}

TEST(EvidenceWeights, SumToTheLogarithmOfTheOdds) {
  DirtyScene scene;
  const Cause& other = cause_of("own receiver or electronics");
  const Observations seen = observations_of(scene.view, scene.findings, false);
  double sum = 0;
  for (const EvidenceWeight& row : evidence_weights(seen, *scene.dirt.cause, other))
    sum += row.nats;
  EXPECT_NEAR(sum, log_likelihood(*scene.dirt.cause, seen) - log_likelihood(other, seen), 1e-9);
}

}  // namespace
}  // namespace linkhealth
