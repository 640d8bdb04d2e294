// Where a symptom takes another way than its usual one.
#include <gtest/gtest.h>

#include "diagnosis/symptoms.h"

namespace linkhealth {
namespace {

using enum SymptomId;

struct Scene {
  PortHistory port;
  ExpectedPort expected;
  PortView view{port};
  Scene() {
    view.up = true;
    view.medium = Medium::kOptical;
    view.expected = &expected;
    port.carrier = true;
    port.latest.link = LinkSample{};
    port.latest.link->fec = "RS544";
  }
};

Finding look(SymptomId id, const PortView& view) {
  const Symptom& row = symptom(id);
  std::vector<double> values;
  for (const Knob& knob : row.knobs) values.push_back(knob.value);
  return row.observe(view, values);
}

TEST(PcieReduced, UnderLoadNobodySavesPower) {
  Scene scene;
  scene.port.latest.pcie = PcieSample{};
  scene.port.latest.pcie->speed_gtps = 8;
  scene.port.latest.pcie->max_speed_gtps = 32;
  scene.port.pcie_low_reads = 1;
  Interval busy;
  busy.utilization = 0.3;
  scene.port.intervals.push_back(busy);
  EXPECT_TRUE(look(kPcieReduced, scene.view).present());
  scene.port.intervals.back().utilization = 0.01;
  EXPECT_TRUE(look(kPcieReduced, scene.view).absent());
}

TEST(SpeedReduced, SiblingsWithTheSameModuleStandInForAPlan) {
  Scene scene;
  scene.port.latest.link->speed_mbps = 200000;
  scene.view.group.siblings_speed_mbps = 400000;
  EXPECT_TRUE(look(kSpeedReduced, scene.view).present());
  scene.expected.speed_mbps = 200000;  // somebody wants it so
  EXPECT_TRUE(look(kSpeedReduced, scene.view).absent());
}

TEST(FarErrors, ACounterThatStillRisesCountsThoughAnotherIsFull) {
  Scene scene;
  scene.port.peer_errors_full = true;
  scene.view.signal.far_reads = 6;
  scene.view.signal.far_error_reads = 5;
  scene.view.signal.far_errors_1h = 100;
  EXPECT_TRUE(look(kFarErrors, scene.view).present());
  scene.view.signal.far_error_reads = 0;
  scene.view.signal.far_errors_1h = 0;
  EXPECT_EQ(look(kFarErrors, scene.view).verdict, Verdict::kUnknown);
}

TEST(LosingData, AFewCodewordsInAnHourAreNoFault) {
  Scene scene;
  SignalStats& s = scene.view.signal;
  s.intervals_1h = 60;
  s.uncorrectable_known = true;
  s.uncorrectable_intervals_1h = 5, s.uncorrectable_intervals_10m = 1, s.uncorrectable_span_s = 2000;
  s.uncorrectable_1h = 6;
  EXPECT_TRUE(look(kLosingData, scene.view).absent());
  s.uncorrectable_1h = 60;
  EXPECT_TRUE(look(kLosingData, scene.view).present());
}

}  // namespace
}  // namespace linkhealth
