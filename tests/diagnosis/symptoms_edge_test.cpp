// Where a symptom takes another way than its usual one.
#include <gmock/gmock.h>

#include "diagnosis/symptoms.h"
#include "tests/diagnosis/symptom_scene.h"

namespace linkhealth {
namespace {

using namespace symptom_scene;  // NOLINT(google-build-using-namespace)
using ::testing::HasSubstr;

TEST(PcieReduced, APortUnderLoadSavesNoPower) {
  Scene scene;
  scene.port.latest.pcie = PcieSample{};
  scene.port.latest.pcie->speed_gtps = 2.5;
  scene.port.latest.pcie->max_speed_gtps = 32;
  scene.port.device.pcie_low_reads = 2;
  scene.port.device.pcie_low_since = scene.view.now - from_seconds(600);
  scene.port.pcie_at = scene.view.now;
  for (int i = 3; i > 0; --i) {
    Interval busy;
    busy.begin = scene.view.now - from_seconds(10 * i);
    busy.end = scene.view.now - from_seconds(10 * (i - 1));
    carry_share(busy, 0.3);
    scene.port.counters.intervals.emplace_back(busy);
  }
  EXPECT_TRUE(look(kPcieReduced, scene.view).present());
  scene.port.counters.intervals.clear();
  EXPECT_TRUE(look(kPcieReduced, scene.view).absent())
      << "load not known: power saving, for ten minutes or so";
  scene.port.device.pcie_low_since = scene.view.now - from_seconds(900);
  EXPECT_TRUE(look(kPcieReduced, scene.view).present());
  scene.port.latest.pcie->speed_gtps = 8;
  scene.port.device.pcie_low_reads = 1;
  scene.port.device.pcie_low_since = scene.view.now;
  EXPECT_TRUE(look(kPcieReduced, scene.view).present()) << "power saving goes down to 2.5 or 5";
}

/// The octets may be known only now and then: a port that had no load since may sleep for hours.
TEST(PcieReduced, AnIdlePortMaySleep) {
  for (const double period_s : {10.0, 60.0, 300.0}) {
    Scene scene;
    scene.port.latest.pcie = PcieSample{};
    scene.port.latest.pcie->speed_gtps = 2.5;
    scene.port.latest.pcie->max_speed_gtps = 16;
    scene.port.device.pcie_low_reads = 5;
    scene.port.device.pcie_low_since = scene.view.now - from_seconds(1800);
    scene.port.pcie_at = scene.view.now;
    for (int i = 2; i > 0; --i) {
      Interval idle;
      idle.begin = scene.view.now - from_seconds(period_s * i);
      idle.end = scene.view.now - from_seconds(period_s * (i - 1));
      if (i == 2) carry_share(idle, 0.0002);
      scene.port.counters.intervals.emplace_back(idle);
    }
    EXPECT_TRUE(look(kPcieReduced, scene.view).unknown()) << period_s;
    Interval& last = scene.port.counters.intervals.back();
    last.begin = scene.view.now - from_seconds(700);
    carry_share(last, 0.4);
    EXPECT_TRUE(look(kPcieReduced, scene.view).present()) << period_s << ": not under load";
  }
}

TEST(PcieReduced, TheLinkAboveASwitchOfTheBoardCounts) {
  Scene scene;
  PcieSample& pcie = scene.port.latest.pcie.emplace();
  pcie.speed_gtps = pcie.max_speed_gtps = 32;
  pcie.width = pcie.max_width = 16;
  EXPECT_TRUE(look(kPcieReduced, scene.view).absent());
  scene.port.device.update(pcie, scene.view.now);
  EXPECT_EQ(scene.port.device.pcie_low_reads, 0U);
  pcie.above = PcieLink{"0000:59:01.0", 16, 32, 16, 16};
  scene.port.device.update(pcie, scene.view.now);
  const Finding slow = look(kPcieReduced, scene.view);
  ASSERT_TRUE(slow.present());
  EXPECT_THAT(std::string(slow.comparisons.back().what), HasSubstr("bridge above the card"));
  pcie.above = PcieLink{"0000:59:01.0", 2.5, 32, 16, 16};
  EXPECT_FALSE(look(kPcieReduced, scene.view).present()) << "it may sleep";
}

TEST(SpeedReduced, SiblingsWithTheSameModuleStandInForAPlan) {
  Scene scene;
  scene.port.latest.link->speed_mbps = 200000;
  scene.view.group.siblings_speed_mbps = 400000;
  EXPECT_TRUE(look(kSpeedReduced, scene.view).present());
  scene.expected.speed_mbps = 200000;  // configured
  EXPECT_TRUE(look(kSpeedReduced, scene.view).absent());
}

TEST(SpeedReduced, IsJudgedByTheModuleAsALastResort) {
  Scene scene;
  scene.port.latest.link->speed_mbps = 200000;
  scene.port.carrier.best_speed_mbps = 200000;
  scene.port.latest.module = ModuleSample{};
  scene.port.latest.module->type = "400G-ACC";
  EXPECT_TRUE(look(kSpeedReduced, scene.view).present()) << "a link that was always slow";
  EXPECT_TRUE(wanted_speed(scene.view).by_module);
  scene.view.group.siblings_as_slow = 1;
  EXPECT_TRUE(look(kSpeedReduced, scene.view).absent()) << "built so";
  scene.view.group.siblings_as_slow = 0;
  scene.expected.speed_mbps = 200000;
  EXPECT_TRUE(look(kSpeedReduced, scene.view).absent()) << "configured";
}

TEST(SpeedReduced, TheModuleTypeGivesTheSpeedOfOnePort) {
  EXPECT_EQ(module_speed_mbps("400G-DR4"), 400000);
  EXPECT_EQ(module_speed_mbps("800G-2xDR4"), 400000);
  EXPECT_EQ(module_speed_mbps("100G-4WDM-10"), 100000);
  EXPECT_EQ(module_speed_mbps("4x10G-SR"), 0) << "a splitter: each port as it is set";
  EXPECT_EQ(module_speed_mbps("1x400G-DR4 + 4x100G-DR"), 0);
  EXPECT_EQ(module_speed_mbps("2.5G-T"), 0);
  EXPECT_EQ(module_speed_mbps("G-"), 0);
  EXPECT_EQ(module_speed_mbps(""), 0);
}

TEST(PcieErrors, ThatComeFastNeedNoHour) {
  Scene scene;
  scene.port.device.pcie_errors = {{steady_from_seconds(9400), 3},
                                   {steady_from_seconds(9700), 3},
                                   {steady_from_seconds(10000), 7}};
  EXPECT_TRUE(look(kPcieErrors, scene.view).absent()) << "four in five minutes";
  scene.port.device.pcie_errors.back().second = 8;
  EXPECT_TRUE(look(kPcieErrors, scene.view).present());
}

/// Errors that were always there: there is no past to compare with.
struct AlwaysBad : Scene {
  explicit AlwaysBad(double ber) {
    view.signal.ber = view.signal.ber_baseline = ber;
    view.signal.ber_limit = 2.4e-4;
  }
};

TEST(ReceiveErrors, OfALinkThatWasAlwaysBadShowAgainstItsLike) {
  AlwaysBad scene(6e-6);
  EXPECT_TRUE(look(kReceiveErrors, scene.view).absent());
  scene.view.group.siblings_ber = 1, scene.view.group.siblings_worst_ber = 1e-8;
  EXPECT_TRUE(look(kReceiveErrors, scene.view).absent()) << "one other link may be a very good one";
  scene.view.group.siblings_ber = 2;
  EXPECT_TRUE(look(kReceiveErrors, scene.view).present());
  scene.view.group.siblings_worst_ber = 5e-7;
  EXPECT_TRUE(look(kReceiveErrors, scene.view).absent()) << "such links have errors";
}

TEST(ReceiveErrors, FarFromTheLimitAreNoFaultHoweverGoodTheOthersAre) {
  AlwaysBad scene(2e-6);
  scene.view.group.siblings_ber = 4, scene.view.group.siblings_worst_ber = 1e-11;
  EXPECT_TRUE(look(kReceiveErrors, scene.view).absent());
}

TEST(ReceiveErrors, CountSoonerWhileAnotherLinkToTheSwitchHasThem) {
  AlwaysBad scene(6e-6);
  scene.view.group.leaf_errors = 1;
  EXPECT_TRUE(look(kReceiveErrors, scene.view).present());
  scene.view.signal.ber = scene.view.signal.ber_baseline = 3e-6;
  EXPECT_TRUE(look(kReceiveErrors, scene.view).absent());
}

TEST(FarErrors, ACounterThatStillRisesCountsThoughAnotherIsFull) {
  Scene scene;
  scene.port.peer.errors_saturated = true;
  scene.view.signal.far_reads = 6;
  scene.view.signal.far_error_reads = 5;
  scene.view.signal.far_errors_1h = 100;
  EXPECT_TRUE(look(kFarErrors, scene.view).present());
  scene.view.signal.far_error_reads = 0;
  scene.view.signal.far_errors_1h = 0;
  EXPECT_EQ(look(kFarErrors, scene.view).verdict, Verdict::kUnknown);
}

TEST(FarErrors, WithoutFecThoseThatTheStandardAllowsAreNone) {
  Scene scene;
  scene.port.latest.link->fec = "Off";
  scene.port.latest.link->speed_mbps = 100000;
  scene.port.first_seen = scene.view.now - std::chrono::minutes(25);
  SignalStats& s = scene.view.signal;
  s.far_reads = 5, s.far_error_reads = 3;
  s.far_errors_1h = 39, s.far_errors_largest = 11;  // 2.5e-13 of the bits; 1e-12 is allowed
  EXPECT_TRUE(look(kFarErrors, scene.view).absent());
  s.far_errors_1h = 200;
  EXPECT_TRUE(look(kFarErrors, scene.view).present());
  s.far_errors_largest = 190;
  EXPECT_TRUE(look(kFarErrors, scene.view).absent()) << "one burst";
}

TEST(PowerLost, IsUnreadableOrNotKnownYet) {
  Scene scene;
  for (const SymptomId id : {kTxLow, kFarTxLow, kFarRxLow, kLightLow}) {
    EXPECT_FALSE(look(id, scene.view).pending);
    EXPECT_THAT(std::string(look(id, scene.view).reason),
                AnyOf(HasSubstr("reports no"), HasSubstr("provides no")));
  }
  for (ModuleHistory* end : {&scene.port.own, &scene.port.far}) end->tx_lanes = end->rx_lanes = 4;
  scene.port.latest.peer.emplace();
  scene.port.peer_at = scene.view.now;
  for (const SymptomId id : {kTxLow, kFarTxLow, kFarRxLow, kLightLow}) {
    EXPECT_TRUE(look(id, scene.view).pending) << "more readings come by themselves";
    EXPECT_THAT(std::string(look(id, scene.view).reason), HasSubstr("too few readings"));
  }
  scene.port.far.read_at = scene.view.now - std::chrono::minutes(9);
  scene.view.errors_since = scene.view.now - std::chrono::minutes(5);
  EXPECT_THAT(std::string(look(kFarTxLow, scene.view).reason), HasSubstr("since the errors began"));
  scene.port.peer_at.reset();
  fail(scene, SourceId::kModule, 60);
  for (const SymptomId id : {kTxLow, kFarTxLow})
    EXPECT_FALSE(look(id, scene.view).pending) << "it is no longer read: waiting does not help";
}

TEST(FarTxLow, NamesTheLaneThatTheReceivedLightIsAboutUnlessAnotherLostPower) {
  Scene scene;
  scene.view.light.far_fresh = true;
  scene.view.light.rx = LightLossEstimate{6.0, 0.2, 3};
  scene.view.light.far_tx_same_lane = -0.1;
  scene.view.light.far_tx = LightLossEstimate{0.4, 0.2, 1};
  Finding sent = look(kFarTxLow, scene.view);
  ASSERT_TRUE(sent.absent());
  EXPECT_EQ(sent.comparisons.front().lane, 3);
  EXPECT_EQ(sent.comparisons.front().observed, 0.0);
  scene.view.light.rx.reset();  // the lanes of a shared module may be another port's
  EXPECT_EQ(look(kFarTxLow, scene.view).comparisons.front().lane, 1);
  scene.view.light.rx = LightLossEstimate{6.0, 0.2, 3};
  scene.view.light.far_tx = LightLossEstimate{3.4, 0.2, 1};
  sent = look(kFarTxLow, scene.view);
  ASSERT_TRUE(sent.present());
  EXPECT_EQ(sent.comparisons.front().lane, 1);
  EXPECT_EQ(sent.comparisons.front().observed, 3.4);
}

TEST(LosingData, AFewCodewordsInAnHourAreNoFault) {
  Scene scene;
  SignalStats& s = scene.view.signal;
  s.intervals_1h = 60;
  repeated(s.blocks, 6, 5, 2000);
  EXPECT_TRUE(look(kLosingData, scene.view).absent());
  s.blocks.events = 60;
  EXPECT_TRUE(look(kLosingData, scene.view).present());
}

TEST(ModuleNew, ALinkThatCameUpWithItsModuleFellForAnotherReason) {
  Scene scene(false);
  scene.port.carrier.was_up = true;
  EXPECT_TRUE(look(kModuleNew, scene.view).absent()) << "it was up, and the module was not touched";
  scene.port.carrier.module_event_at = steady_from_seconds(9000);
  EXPECT_TRUE(look(kModuleNew, scene.view).absent())
      << "it fell 700 s after the module was changed";
}

TEST(Flaps, AreOverWhenTheLinkHasProvedThatItStays) {
  Scene scene;
  losses(scene, 4, 300);  // the last one at 5900 s
  scene.view.now = steady_from_seconds(5900 + 7200);
  EXPECT_TRUE(look(kFlaps, scene.view).present());
  scene.view.now = steady_from_seconds(5900 + 7201);
  EXPECT_TRUE(look(kFlaps, scene.view).absent());
  scene.port.carrier.losses.clear();
  losses(scene, 4, 4000);  // rare ones: the last at 17000 s; seven hours without one say little
  scene.view.now = steady_from_seconds(17000 + 23999);
  EXPECT_TRUE(look(kFlaps, scene.view).present());
  scene.view.now = steady_from_seconds(17000 + 24001);
  EXPECT_TRUE(look(kFlaps, scene.view).absent());
}

TEST(Flaps, OutagesOfMinutesAreNone) {
  Scene scene;
  losses(scene, 4, 600);
  for (CarrierLoss& loss : scene.port.carrier.losses) loss.down_s = 10;
  EXPECT_TRUE(look(kFlaps, scene.view).present());
  for (std::size_t i = 0; i < 2; ++i) scene.port.carrier.losses[i].down_s = 300;
  EXPECT_TRUE(look(kFlaps, scene.view).absent()) << "two flaps and two outages";
}

TEST(ModuleHot, AModuleThatHasCooledDownIsNotHotByItsMedian) {
  Scene scene;
  scene.port.latest.module = ModuleSample{};
  scene.port.latest.module->temperature_c = 55;
  scene.view.group.siblings = 3;
  LaneSeries& track = scene.port.own.temperature_c;
  track.baseline.assign(std::vector<double>(8, 42.5), steady_from_seconds(5000));
  for (const double reading : {56.0, 55.1, 55.2}) track.add_recent(reading, {});
  EXPECT_TRUE(look(kModuleHot, scene.view).present());
  track.add_recent(48, {});
  EXPECT_TRUE(look(kModuleHot, scene.view).absent());
}

TEST(ModuleHot, WhatTheRoomHasOfTheRiseDoesNotCount) {
  Scene scene;
  scene.port.latest.module = ModuleSample{};
  scene.port.latest.module->temperature_c = 57;
  scene.view.group.siblings = 1;
  LaneSeries& track = scene.port.own.temperature_c;
  track.baseline.assign(std::vector<double>(8, 45), steady_from_seconds(5000));
  for (int i = 0; i < 3; ++i) track.add_recent(57, {});
  EXPECT_TRUE(look(kModuleHot, scene.view).present());
  scene.view.group.siblings_rise_c = 4;
  EXPECT_TRUE(look(kModuleHot, scene.view).absent());
}

TEST(LightLow, AMeterOfAnotherModuleIsNoRuler) {
  Scene scene(false);
  scene.view.light.rx = LightLossEstimate{4.2, 1.7, 0};
  EXPECT_TRUE(look(kLightLow, scene.view).absent()) << "two and a half sigma";
  scene.view.light.rx = LightLossEstimate{5.2, 1.7, 0};
  EXPECT_TRUE(look(kLightLow, scene.view).present());
}

TEST(Traffic, AUniformRunNeedsNoFullWindow) {
  Scene scene;
  TrafficStats& t = scene.view.traffic;
  t.all = 70;
  t.known_s = 700;
  t.loaded_s = 700;
  t.marks_known = t.drops_known = t.retries_known = true;
  EXPECT_EQ(look(kCongested, scene.view).verdict, Verdict::kUnknown);
  TrafficStats& run = scene.view.traffic_run;
  run = {.loaded_s = 890,
         .tested_s = 890,
         .known_s = 890,
         .marks_share = 0.95,
         .drops_share = 0.9,
         .drops_per_s = 1};
  EXPECT_EQ(look(kCongested, scene.view).verdict, Verdict::kUnknown) << "not long enough";
  run.known_s = run.loaded_s = run.tested_s = 900;
  for (const SymptomId id : {kCongested, kHostDrops}) EXPECT_TRUE(look(id, scene.view).present());
  run.loaded_s = 600;
  EXPECT_EQ(look(kCongested, scene.view).verdict, Verdict::kUnknown) << "idle in between";
  EXPECT_EQ(look(kRetries, scene.view).verdict, Verdict::kUnknown)
      << "rare events need the whole window";
}

TEST(HostDrops, AHostThatSendsPausesDropsNothingAndIsSlowAllTheSame) {
  Scene scene;
  TrafficStats& t = scene.view.traffic;
  t.all = 150;
  t.drops_known = t.pause_sent_known = true;
  t.known_s = 1500;
  t.loaded_s = 1100;
  t.pause_sent_share = 0.8;
  EXPECT_TRUE(look(kHostDrops, scene.view).present());
  t.pause_sent_share = 0.79;
  EXPECT_TRUE(look(kHostDrops, scene.view).absent()) << "pauses are ordinary where RoCE is";
  t.pause_sent_share = 1;
  t.loaded_s = 1099;
  EXPECT_TRUE(look(kHostDrops, scene.view).absent()) << "a peak";
  t.loaded_s = 1100;
  t.known_s = 1200;
  EXPECT_FALSE(look(kHostDrops, scene.view).present()) << "not long enough";
  t = {.all = 150, .loaded_s = 1100, .known_s = 1500, .stalls_share = 0.8, .stalls_known = true};
  EXPECT_TRUE(look(kHostDrops, scene.view).present())
      << "PCIe stalls, of a driver without counters of drops";
}

TEST(Congested, PacketsThatWaitedTooLongToBeSent) {
  Scene scene;
  scene.view.traffic = {
      .loaded_s = 1100, .known_s = 1500, .discards_share = 0.8, .discards_known = true};
  EXPECT_TRUE(look(kCongested, scene.view).present());
  scene.view.traffic.discards_share = 0.79;
  EXPECT_TRUE(look(kCongested, scene.view).absent());
}

TEST(LosingData, InfiniBandCountsWhatArrivedDamagedApart) {
  Scene scene;
  SignalStats& s = scene.view.signal;
  s.intervals_1h = 60;
  s.blocks.known = true;
  repeated(s.frames, 65, 40, 1200);
  s.frames.recent = 7, s.frames.largest = 5;
  EXPECT_TRUE(look(kLosingData, scene.view).absent())
      << "on Ethernet a switch may have marked them";
  scene.port.latest.id.link_layer = "InfiniBand";
  EXPECT_TRUE(look(kLosingData, scene.view).present());
  s.card_errors.events = 1;
  EXPECT_TRUE(look(kLosingData, scene.view).absent()) << "overruns are among them";
  s.card_errors.events = 0;
  s.frames.largest = 6;
  EXPECT_TRUE(look(kLosingData, scene.view).absent()) << "one burst";
  s.frames.largest = 5;
  s.frames.last = *s.frames.first + from_seconds(1199);
  EXPECT_TRUE(look(kLosingData, scene.view).absent()) << "not for long";
}

TEST(PcieErrors, OneThatIsUncorrectableCountsForAnHour) {
  Scene scene;
  EXPECT_EQ(look(kPcieErrors, scene.view).verdict, Verdict::kUnknown);
  scene.port.device.kernel_log = {
      {scene.view.now,
       "pcieport 0000:1a:00.0: AER: Uncorrectable (Non-Fatal) error message "
       "received from 0000:1b:00.0"}};
  EXPECT_TRUE(look(kPcieErrors, scene.view).present());
  scene.view.now += from_seconds(3601);
  EXPECT_FALSE(look(kPcieErrors, scene.view).present());
}

TEST(CountersOfTheCard, AgreeWithTheKernelLog) {
  Scene scene;
  SignalStats& s = scene.view.signal;
  repeated(s.pcie_damage, 10, 4, 300);
  EXPECT_TRUE(look(kPcieErrors, scene.view).present());
  repeated(s.pcie_damage, 9, 4, 300);
  EXPECT_FALSE(look(kPcieErrors, scene.view).present());
  repeated(s.module_bus_errors, 3, 3, 600);
  EXPECT_TRUE(look(kModuleFaultReported, scene.view).present());
  repeated(s.module_bus_errors, 3, 3, 599);
  EXPECT_FALSE(look(kModuleFaultReported, scene.view).present()) << "a plug event";
  repeated(s.module_heat, 2, 2, 60);
  EXPECT_TRUE(look(kOverheatReported, scene.view).present());
  repeated(s.module_heat, 1, 1, 60);
  EXPECT_FALSE(look(kOverheatReported, scene.view).present());
}

TEST(DeviceFatal, AQueueThatWasStuckADayAgoAndMovesIsPast) {
  Scene scene;
  scene.view.now = steady_from_seconds(100000);
  scene.port.device.fatal_at = steady_from_seconds(13599);
  EXPECT_TRUE(look(kDeviceFatal, scene.view).present());
  scene.port.device.fatal_is_queue = true;
  EXPECT_TRUE(look(kDeviceFatal, scene.view).absent());
  scene.port.device.fatal_at = steady_from_seconds(13600);
  EXPECT_TRUE(look(kDeviceFatal, scene.view).present());
}

TEST(ReceiveErrors, ALaneThatStandsOutNeedsNoPast) {
  Scene scene;
  scene.view.signal.ber = 1e-5;
  scene.view.signal.ber_limit = 2.4e-4;
  scene.view.signal.ber_baseline = 1e-5;
  EXPECT_TRUE(look(kReceiveErrors, scene.view).absent())
      << "its own normal, a twentieth of the limit";
  scene.view.signal.worst_lane = 2;
  scene.view.signal.lane_ber[2] = 4e-5;
  scene.view.signal.lane_limit = 1.2e-5;
  scene.view.signal.worst_lane_penalty_db = 1.3;
  scene.view.signal.lane_stands_out = true;
  const Finding finding = look(kReceiveErrors, scene.view);
  EXPECT_TRUE(finding.present());
  EXPECT_EQ(finding.comparisons.front().lane, 2);
}

TEST(Symptoms, SixLossesInABurstAreFlapsToo) {
  Scene scene;
  losses(scene, 6, 1);
  EXPECT_TRUE(look(kFlaps, scene.view).present());
}

TEST(Symptoms, IntendedLossesAreNoFlaps) {
  Scene scene;
  losses(scene, 10, 130);
  for (CarrierLoss& loss : scene.port.carrier.losses) loss.planned = true;
  EXPECT_TRUE(look(kFlaps, scene.view).absent());
}

TEST(Symptoms, AnOldLaserFlagWithLightAsEverIsNoFault) {
  Scene scene;
  lanes(scene);
  scene.port.latest.module->lanes[0].tx_fault = true;
  for (int i = 0; i < 5; ++i)
    scene.port.own.tx_dbm[0].baseline.add(steady_from_seconds(i * 60), 0, 1, 1);
  scene.port.own.tx_dbm[0].add_recent(0.1, {});
  EXPECT_TRUE(look(kTxFault, scene.view).absent());
}

TEST(ModuleHeld, IsNotJudgedOfAPortThatIsSetDownOrASharedModulesOtherHalf) {
  Scene scene(false);
  lanes(scene);
  scene.port.latest.module->low_pwr_request_sw = true;
  scene.port.latest.link->admin_up = false;
  EXPECT_TRUE(look(kModuleHeld, scene.view).unknown());
  scene.port.latest.link->admin_up = true;
  EXPECT_TRUE(look(kModuleHeld, scene.view).present());
  scene.port.latest.module->power_class = 1;
  EXPECT_TRUE(look(kModuleHeld, scene.view).absent()) << "it needs no more than low power gives";
  scene.port.latest.module->low_pwr_request_sw = false;
  scene.port.latest.module->lanes[0].tx_disabled = true;
  scene.port.latest.module->lanes[1].tx_disabled = false;
  scene.port.carrier.best_lanes = 1;
  EXPECT_TRUE(look(kModuleHeld, scene.view).absent()) << "the other port's lane";
  scene.port.carrier.best_lanes = 2;
  EXPECT_TRUE(look(kModuleHeld, scene.view).present());
}

TEST(ModuleState, LowPowerThatTheHostAskedForIsNoBadState) {
  Scene scene(false);
  lanes(scene);
  scene.port.latest.module->state = "ModuleLowPwr";
  EXPECT_TRUE(look(kModuleState, scene.view).present());
  scene.port.latest.module->low_pwr_request_sw = true;
  EXPECT_TRUE(look(kModuleState, scene.view).absent());
}

TEST(ModuleDropsOut, AnotherSerialIsAHand) {
  Scene scene;
  drop_out(scene, 4, 900);
  EXPECT_TRUE(look(kModuleDropsOut, scene.view).present());
  Scene swapped;
  drop_out(swapped, 4, 900, "S2");
  EXPECT_TRUE(look(kModuleDropsOut, swapped.view).absent());
  Scene unnamed;
  drop_out(unnamed, 4, 900, "");
  EXPECT_TRUE(look(kModuleDropsOut, unnamed.view).absent()) << "it may be another module";
}

}  // namespace
}  // namespace linkhealth
