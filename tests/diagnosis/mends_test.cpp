// Small tests of what the second simulator and the lab once showed to be wrong: each fails without
// its mend.
#include <gmock/gmock.h>

#include <algorithm>

#include "diagnosis/differential.h"
#include "diagnosis/questions.h"
#include "tests/diagnosis/symptom_scene.h"

namespace linkhealth {
namespace {

using namespace symptom_scene;  // NOLINT(google-build-using-namespace): the words of these tests

TEST(GroupFlaps, OfASwitchAreOverWhenItHasProvedThatItStays) {
  Scene scene;
  GroupStats& group = scene.view.group;
  group.same_leaf = 3;
  group.flaps_together = 4;
  group.first_flap = steady_from_seconds(5000);
  group.last_flap = steady_from_seconds(5900);  // every 300 s
  scene.view.now = steady_from_seconds(5900 + 7200);
  EXPECT_TRUE(look(kGroupFlaps, scene.view).present());
  scene.view.now = steady_from_seconds(5900 + 7201);
  EXPECT_TRUE(look(kGroupFlaps, scene.view).absent());
  group.last_flap = steady_from_seconds(17000);  // every 4000 s: two hours say little
  scene.view.now = steady_from_seconds(17000 + 23999);
  EXPECT_TRUE(look(kGroupFlaps, scene.view).present());
  scene.view.now = steady_from_seconds(17000 + 24001);
  EXPECT_TRUE(look(kGroupFlaps, scene.view).absent());
}

TEST(HostDrops, APeakBeforeAnIdleHourIsNoSlowHost) {
  Scene scene;
  TrafficStats& t = scene.view.traffic;
  t.all = 150;
  t.drops_known = true;
  t.known_s = TrafficStats::kFullS;
  t.drops_per_s = 5;
  t.drops_share = 1;
  t.tested_s = 1099;
  EXPECT_TRUE(look(kHostDrops, scene.view).absent()) << "the share is of a peak only";
  t.tested_s = 1100;
  EXPECT_TRUE(look(kHostDrops, scene.view).present());
  scene.view.traffic_run = {.tested_s = 300, .known_s = 900, .drops_share = 1, .drops_per_s = 5};
  t.tested_s = 300;
  EXPECT_TRUE(look(kHostDrops, scene.view).absent())
      << "nor is the run, which was idle for ten minutes";
}

TEST(Errors, OneBurstWithoutFecIsNoSeries) {
  Scene scene;
  scene.port.latest.link->fec = "None";
  SignalStats& s = scene.view.signal;
  s.intervals_1h = 60;
  repeated(s.symbols, 1000, 4, 2000);
  s.symbols.largest = 990;
  for (const SymptomId id : {kReceiveErrors, kLosingData})
    EXPECT_TRUE(look(id, scene.view).absent());
  s.symbols.largest = 400;
  for (const SymptomId id : {kReceiveErrors, kLosingData})
    EXPECT_TRUE(look(id, scene.view).present());
}

double prior_up_of(FaultId fault, Media medium) {
  double sum = 0, all = 0;
  for (const Cause& cause : cause_table().subspan(1)) {
    if ((cause.media & medium) == 0) continue;
    all += cause.prior_up;
    if (cause.fault == fault) sum += cause.prior_up;
  }
  return sum / all;
}

TEST(Copper, WithoutAThermometerSeldomOverheatsBeforeAnythingIsSeen) {
  EXPECT_LT(prior_up_of(FaultId::kModuleOverheated, kOnCopper), 0.01);
  EXPECT_GT(prior_up_of(FaultId::kModuleOverheated, kOnCopper), 0) << "an active cable can";
  EXPECT_GT(prior_up_of(FaultId::kModuleOverheated, kOnOptical), 0.02);
}

TEST(Light, OfTheFarEndFromBeforeTheFallIsUnknown) {
  Scene scene(false);
  scene.view.light.rx_fresh = true;
  scene.view.light.far_rx = scene.view.light.far_tx = LightLossEstimate{0.1, 0.2, 0};
  for (const SymptomId id : {kFarRxLow, kFarTxLow})
    EXPECT_EQ(look(id, scene.view).verdict, Verdict::kUnknown) << "neither for nor against";
  scene.view.light.far_fresh = true;
  for (const SymptomId id : {kFarRxLow, kFarTxLow}) EXPECT_TRUE(look(id, scene.view).absent());
  scene.view.light.far_rx = scene.view.light.far_tx = LightLossEstimate{2, 0.2, 0};
  for (const SymptomId id : {kFarRxLow, kFarTxLow}) EXPECT_TRUE(look(id, scene.view).present());
}

/// Errors at this end, all else as ever.
struct Erring : Scene {
  Findings findings;
  Erring() {
    port.latest.module = ModuleSample{};
    port.latest.module->connector = "LC";
    findings[static_cast<std::size_t>(kReceiveErrors)].verdict = Verdict::kPresent;
    view.light.rx_lanes = 4;
    view.light.rx_low = 0b1111;
  }
  Differential judged() {
    for (const SymptomId id : {kLightLow, kFarRxLow, kFarRxDark, kFibresAlike})
      findings[static_cast<std::size_t>(id)] = look(id, view);
    return differentiate({view, findings});
  }
};

TEST(DamagedFibre, LosesALittleInBothDirectionsWithoutBeingTouched) {
  Erring scene;
  scene.view.light.rx = LightLossEstimate{1.6, 0.22, 0};
  scene.view.light.far_rx = LightLossEstimate{1.3, 0.22, 0};
  EXPECT_EQ(scene.judged().ranked.front().fault->name, "damaged_fiber");
  scene.view.light.far_rx->loss_db = 0.1;
  EXPECT_EQ(scene.judged().ranked.front().fault->name, "dirty_connector");
}

TEST(DamagedFibre, TakesLightFromAllFibresOfARibbonAndDirtFromSome) {
  Erring scene;
  scene.view.light.rx = LightLossEstimate{2, 0.22, 0};
  scene.port.latest.module->connector = "MPO-12";
  EXPECT_EQ(scene.judged().ranked.front().fault->name, "damaged_fiber");
  scene.view.light.rx_low = 0b0011;
  EXPECT_EQ(scene.judged().ranked.front().fault->name, "dirty_connector");
}

TEST(DamagedFibre, IsAmbiguousWithDirtIfTheFarEndIsNotRead) {
  Erring scene;
  scene.view.light.rx = LightLossEstimate{2, 0.22, 0};
  const Differential differential = scene.judged();
  ASSERT_EQ(differential.ranked.front().fault->name, "dirty_connector");
  const auto rival =
      ambiguous_with(differential, differential.ranked.front(), scene.findings, false, {});
  ASSERT_TRUE(rival);
  EXPECT_EQ(rival->other.fault->name, "damaged_fiber");
  EXPECT_EQ(rival->reading, kFarRxLow);
}

TEST(DeviceFatal, ThreeTimesInARowIsNoRepairThoughTheCardCarriesAgain) {
  Scene scene;
  scene.port.device.fatal_times = {steady_from_seconds(7000), steady_from_seconds(8000)};
  EXPECT_TRUE(look(kDeviceFatal, scene.view).absent());
  scene.port.device.fatal_times.push_back(steady_from_seconds(9000));
  EXPECT_TRUE(look(kDeviceFatal, scene.view).present());
  scene.port.carrier.reboot_at = steady_from_seconds(9500);
  EXPECT_TRUE(look(kDeviceFatal, scene.view).absent()) << "before the boot is past";
}

TEST(FaultyCable, OfCopperWhoseFarReceiverCountsErrorsIsNotElsewhere) {
  Scene scene;
  scene.view.medium = Medium::kCopper;
  Findings findings;
  const auto say = [&findings](SymptomId id, Verdict verdict) {
    findings[static_cast<std::size_t>(id)].verdict = verdict;
  };
  const auto top = [&] { return differentiate({scene.view, findings}).ranked.front(); };
  say(kRetries, Verdict::kPresent);
  for (const SymptomId id : {kReceiveErrors, kLosingData, kFlaps, kOneLaneErrors})
    say(id, Verdict::kAbsent);
  say(kFarErrors, Verdict::kPresent);
  EXPECT_EQ(top().fault->name, "faulty_cable");
  say(kFarErrors, Verdict::kAbsent);
  EXPECT_EQ(top().fault->name, "loss_elsewhere");
  say(kFarErrors, Verdict::kUnknown);
  EXPECT_EQ(top().fault->name, "loss_elsewhere");
}

TEST(DirtyConnector, TakesALinkDownInOneStepAndIsNoWrongReading) {
  Scene scene(false);
  Findings findings;
  const auto say = [&findings](SymptomId id, Verdict verdict) {
    findings[static_cast<std::size_t>(id)].verdict = verdict;
  };
  for (const SymptomId id : {kLinkDown, kLightLow}) say(id, Verdict::kPresent);
  for (const SymptomId id : {kErrorsBeforeFall, kNoLight, kSomeLanesDark, kLightThere, kFarTxLow,
                             kFarRxLow, kTxLow, kFlaps, kFarErrors, kNoLockWithLight, kModuleState})
    say(id, Verdict::kAbsent);
  EXPECT_EQ(differentiate({scene.view, findings}).ranked.front().fault->name, "dirty_connector");
}

/// A link that fell at once and stays down; nothing else is known but what a test says.
struct Fallen : Scene {
  Findings findings;
  Fallen() : Scene(false) {
    for (const SymptomId id :
         {kErrorsBeforeFall, kFlaps, kFarErrors, kModuleState, kModuleAbsent, kNoLockWithLight,
          kFarAdminDown, kFarModuleAbsent, kAdminDown, kDeviceFatal, kTxFault})
      say(id, Verdict::kAbsent);
    say(kLinkDown, Verdict::kPresent);
  }
  void say(SymptomId id, Verdict verdict) {
    findings[static_cast<std::size_t>(id)].verdict = verdict;
  }
  std::string_view top() { return differentiate({view, findings}).ranked.front().fault->name; }
};

TEST(NoLight, ThatTheFarEndSendsIsLostOnTheWay) {
  Fallen scene;
  for (const SymptomId id : {kNoLight, kFarSendsUnheard}) scene.say(id, Verdict::kPresent);
  for (const SymptomId id :
       {kTxOff, kTxLow, kSomeLanesDark, kLightThere, kFarTxOff, kFarTxLow, kFarRxDark, kFarRxLow})
    scene.say(id, Verdict::kAbsent);
  EXPECT_THAT(scene.top(), ::testing::AnyOf("dirty_connector", "damaged_fiber"));
  scene.say(kFarRxDark, Verdict::kPresent);
  scene.say(kFarRxLow, Verdict::kPresent);
  EXPECT_THAT(scene.top(), ::testing::AnyOf("unplugged", "damaged_fiber"));
  for (const SymptomId id : {kFarSendsUnheard, kFarRxDark, kFarRxLow})
    scene.say(id, Verdict::kUnknown);
  for (const SymptomId id : {kFarTxOff, kFarTxLow, kFarAdminDown}) scene.say(id, Verdict::kUnknown);
  EXPECT_EQ(scene.top(), "far_port_down");
}

TEST(BadModule, ThatNeitherSendsNorListensIsDead) {
  Fallen scene;
  for (const SymptomId id : {kNoLight, kTxOff, kTxLow, kFarSendsUnheard, kFarRxDark})
    scene.say(id, Verdict::kPresent);
  for (const SymptomId id :
       {kSomeLanesDark, kLightThere, kFarTxOff, kFarTxLow, kModuleFaultReported})
    scene.say(id, Verdict::kAbsent);
  EXPECT_EQ(scene.top(), "bad_module");
}

TEST(SettingsMismatch, OfALinkThatCarriedNeedsAHandAtTheSettings) {
  Fallen scene;
  scene.port.carrier.was_up = true;
  scene.say(kLightThere, Verdict::kPresent);
  for (const SymptomId id : {kNoLight, kTxOff, kTxLow, kLightLow, kSomeLanesDark})
    scene.say(id, Verdict::kAbsent);
  scene.say(kSettingsTouched, look(kSettingsTouched, scene.view).verdict);
  EXPECT_NE(scene.top(), "settings_mismatch");
  scene.say(kSettingsTouched, Verdict::kPresent);
  EXPECT_EQ(scene.top(), "settings_mismatch");
  scene.port.carrier.was_up = false;
  EXPECT_EQ(look(kSettingsTouched, scene.view).verdict, Verdict::kUnknown);
}

TEST(Pcie, OfAnIdlePortMaySleepForHours) {
  Scene scene;
  scene.port.latest.pcie = PcieSample{};
  scene.port.latest.pcie->speed_gtps = 2.5;
  scene.port.latest.pcie->max_speed_gtps = 32;
  scene.port.device.pcie_low_reads = 60;
  scene.port.device.pcie_low_since = scene.view.now - from_seconds(3600);
  scene.port.pcie_at = scene.view.now;
  EXPECT_TRUE(look(kPcieReduced, scene.view).present()) << "its load is not known";
  const auto carry = [&scene](double from_s, double to_s, double share) {
    Interval& interval = scene.port.counters.intervals.emplace_back();
    interval.begin = steady_from_seconds(from_s), interval.end = steady_from_seconds(to_s);
    carry_share(interval, share);
  };
  for (int i = 0; i < 10; ++i) carry(9800 + 10 * i, 9810 + 10 * i, 0.001);
  EXPECT_EQ(look(kPcieReduced, scene.view).verdict, Verdict::kUnknown);
  carry(9980, 9990, 0.5);
  EXPECT_EQ(look(kPcieReduced, scene.view).verdict, Verdict::kUnknown) << "it may wake just now";
  carry(9990, 10000, 0.5);
  EXPECT_TRUE(look(kPcieReduced, scene.view).present());
  scene.port.device.pcie_low_reads = 1;
  scene.port.device.pcie_low_since = scene.view.now;
  EXPECT_EQ(look(kPcieReduced, scene.view).verdict, Verdict::kUnknown)
      << "it may have fallen idle just now";
  scene.port.latest.pcie->width = 8, scene.port.latest.pcie->max_width = 16;
  scene.port.counters.intervals.clear();
  EXPECT_TRUE(look(kPcieReduced, scene.view).present()) << "no sleep takes lanes away";
}

TEST(Latched, LossOfLockOnALinkThatCarriesWellIsPast) {
  Scene scene;
  lanes(scene);
  scene.port.latest.module->lanes[0].rx_lol = true;
  scene.port.latest.module->lanes[0].rx_power_mw = 1;
  EXPECT_EQ(look(kNoLockWithLight, scene.view).verdict, Verdict::kUnknown);
  scene.view.errors_since = steady_from_seconds(9000);
  EXPECT_TRUE(look(kNoLockWithLight, scene.view).present());
}

TEST(ModuleHot, AReadingThatNoModuleSurvivesIsNone) {
  Scene scene;
  lanes(scene);
  scene.port.latest.module->temperature_c = 125;
  scene.port.own.temperature_c.add_recent(125, {});
  EXPECT_EQ(look(kModuleHot, scene.view).verdict, Verdict::kUnknown);
  scene.port.own.temperature_c = LaneSeries();
  scene.port.own.temperature_c.add_recent(95, {});
  EXPECT_TRUE(look(kModuleHot, scene.view).present());
}

TEST(FaultyCable, ThatTheDriverReportsAsShortedNeedsNoMore) {
  Fallen scene;
  scene.view.medium = Medium::kCopper;
  for (const SymptomId id : {kTrainingFails, kBadSignal, kNegotiationFails, kNoPartner})
    scene.say(id, Verdict::kAbsent);
  scene.say(kModuleFaultReported, Verdict::kPresent);
  EXPECT_EQ(scene.top(), "faulty_cable");
}

}  // namespace
}  // namespace linkhealth
