#include "diagnosis/other_faults.h"

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
  return {&find_fault(row.fault, row.end), &row, confidence, confidence};
}

struct DirtyScene : Scene {
  Findings findings;
  RankedFault dirt = named("dirt, incoming", 0.9);
  DirtyScene() {
    set(kLightLow, Case(Reader::kModule).at_least("received power lost", 6.0, 1.2, "dB").close());
    set(kReceiveErrors, Case(Reader::kFec).above("pre-FEC BER", 1e-4, 1e-5).close());
  }
  void set(SymptomId id, const Finding& finding) {
    findings[static_cast<std::size_t>(id)] = finding;
  }
};

TEST(RuledOut, WhatAnotherFaultWouldShowAndDoesNotIsSaidWithItsNumbers) {
  DirtyScene scene;
  scene.set(kFarTxLow,
            Case(Reader::kPeer).at_least("power sent by the far end lost", 0.1, 1.2, "dB").close());
  scene.set(kModuleHot, not_known("the module gives no temperature"));
  const auto found = ruled_out(scene.view, scene.findings, scene.dirt, 5);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].symptom, kFarTxLow);
  EXPECT_EQ(found[0].seen.observed, 0.1);
  ASSERT_EQ(found[0].faults.size(), 1U);
  EXPECT_EQ(found[0].faults[0]->end, End::kFar);
  EXPECT_EQ(title_in_sentence(*found[0].faults[0]), "failing transmitter in the far module");
}

TEST(RuledOut, OneReadingForEachFaultIsEnough) {
  DirtyScene scene;
  scene.set(kSupplyLow,
            Case(Reader::kModule).holds("the module's supply voltage is low", false).close());
  scene.set(kSupplyShared,
            Case(Reader::kNode).holds("the module's supply voltage is low", false).close());
  const auto found = ruled_out(scene.view, scene.findings, scene.dirt, 5);
  ASSERT_EQ(found.size(), 1U) << "both would show with a supply that dips";
  EXPECT_EQ(found[0].faults.at(0)->name, "pcie_degraded");
}

TEST(RuledOut, WhatShowsOrIsNotKnownRulesNothingOut) {
  DirtyScene scene;
  EXPECT_TRUE(ruled_out(scene.view, scene.findings, scene.dirt, 5).empty());
  scene.set(kFarTxLow,
            Case(Reader::kPeer).at_least("power sent by the far end lost", 3.0, 1.2, "dB").close());
  EXPECT_TRUE(ruled_out(scene.view, scene.findings, scene.dirt, 5).empty());
}

TEST(RuledOut, AFaultThatNobodyWouldThinkOfIsNotMentioned) {
  DirtyScene scene;
  scene.set(kNeighbourDiffers,
            Case(Reader::kPlan).holds("the far end is not the one of the plan", false).close());
  scene.set(kCongested, Case(Reader::kCounters).at_least("share", 0.0, 0.8).close());
  EXPECT_TRUE(ruled_out(scene.view, scene.findings, scene.dirt, 5).empty());
}

TEST(Decides, AMissingReadingNamesTheFaultsThatItWouldTellApart) {
  DirtyScene scene;
  Differential differential;
  differential.ranked = {scene.dirt, named("damaged fibre", 0.06), named("far laser", 0.03),
                         named("overheated", 0.001)};
  EXPECT_EQ(decides(differential, scene.dirt, kFarRxLow), "damaged fibre (6%)");
  EXPECT_EQ(decides(differential, scene.dirt, kFarTxLow),
            "failing transmitter in the far module (3%)");
  EXPECT_EQ(decides(differential, scene.dirt, kModuleHot), "")
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

TEST(EveryFault, HasOneTestThatDecides) {
  for (const Fault& fault : fault_table())
    EXPECT_EQ(fault.sure.empty(), fault.name == "healthy") << fault.name;
}

TEST(Multimode, ByTheModulesWordElseByItsName) {
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

}  // namespace
}  // namespace linkhealth
