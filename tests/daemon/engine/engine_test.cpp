#include "daemon/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/daemon/engine/story.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;

TEST(Engine, AHealthyPortIsHealthyAndQuiet) {
  Story run(15);
  EXPECT_FALSE(run.port().figures.pre_fec_ber_normal.has_value());
  run.run(7200);
  EXPECT_EQ(run.events, "");
  EXPECT_EQ(run.port().health, Health::kHealthy);
  EXPECT_TRUE(run.port().faults.empty());
  ASSERT_TRUE(run.port().figures.pre_fec_ber.has_value());
  EXPECT_NEAR(*run.port().figures.pre_fec_ber, 9.4e-9, 1e-10);
  EXPECT_NEAR(run.port().figures.pre_fec_ber_normal.value_or(0), 9.4e-9, 1e-10);
}

TEST(Engine, ANodeThatHasJustBootedKnowsItsErrorRatioLikeAnyOther) {
  Story run;
  run.feed.uptime_s = 20;
  run.run(60);
  EXPECT_TRUE(run.port().figures.pre_fec_ber.has_value());
  run.soil_lane_2();
  for (int i = 0; i < 40; ++i) {
    run.run(10);
    ASSERT_TRUE(run.port().figures.pre_fec_ber.has_value())
        << "at " << run.feed.uptime_s << " s of uptime";
  }
  EXPECT_EQ(run.events, "opened:dirty_connector ");
}

TEST(Engine, LightLostOnOneLaneWithErrorsIsADirtyConnectorWithItsLane) {
  Story run(1800);
  run.soil_lane_2();
  run.run(300);
  ASSERT_EQ(run.events, "opened:dirty_connector ");
  const FaultReport& fault = run.port().faults.at(0);
  EXPECT_EQ(run.port().health, Health::kDegraded);
  EXPECT_NEAR(run.port().figures.pre_fec_ber_normal.value_or(0), 9.4e-9, 1e-10);
  EXPECT_NE(fault.summary.find("lane 2"), std::string::npos) << fault.summary;
  EXPECT_NE(fault.repair.at(0).find("lane 2"), std::string::npos);
  EXPECT_EQ(fault.lanes, std::vector<std::uint32_t>{2});
  EXPECT_FALSE(fault.evidence.empty());
  EXPECT_FALSE(fault.missing.empty());
  EXPECT_GT(fault.confidence, 0.4);
  // Cleaned: the light is back, the errors stop, the link proves itself and the fault closes.
  run.clean_lane_2();
  run.run(9000);
  EXPECT_EQ(run.events, "opened:dirty_connector proving:dirty_connector closed:dirty_connector ");
  EXPECT_EQ(run.port().health, Health::kHealthy);
}

TEST(Engine, EachLaneThatLostLightIsNamedTheWorstFirst) {
  Story run(1800);
  run.soil_lane_2();
  run.feed.module.lanes[3].rx_power_mw = 0.3;
  run.run(300);
  const FaultReport& fault = run.port().faults.at(0);
  ASSERT_EQ(fault.fault, "dirty_connector");
  EXPECT_EQ(fault.lanes, (std::vector<std::uint32_t>{2, 4}));
  EXPECT_THAT(fault.summary, HasSubstr("lane 2 receives -7.0 dBm, 6.0 dB below its baseline (also "
                                       "low: lane 4)"));
  EXPECT_THAT(fault.repair.at(0), HasSubstr("the fibre of lanes 2 and 4"));
}

TEST(Engine, AToolThatKnowsOnlyOneMakersCardsIsNotNamedForAnother) {
  for (const auto& [driver, named] : {std::pair("mlx5_core", true), {"ice", false}}) {
    Story run;
    run.feed.driver = driver;
    run.run(1800);
    run.soil_lane_2();
    run.run(300);
    std::string how;
    for (const MissingEvidence& one : run.port().faults.at(0).missing) how += one.how + "\n";
    EXPECT_EQ(how.find("mlxlink") != std::string::npos, named) << how;
    EXPECT_NE(how.find("read the errors of each lane"), std::string::npos) << how;
  }
}

TEST(Engine, AFaultOfTheFibreHasNoLaneWhereOneFibreCarriesAll) {
  Story run;
  run.feed.module.connector = "LC";
  run.run(1800);
  run.soil_lane_2();
  run.run(300);
  ASSERT_EQ(run.port().faults.at(0).end, End::kPath);
  EXPECT_TRUE(run.port().faults.at(0).lanes.empty());
}

TEST(Engine, AModuleThatIsMissingHasNoLane) {
  Story run(1800);
  run.lose_light();
  run.feed.module = ModuleSample{};
  run.feed.module.present = false;
  run.run(1200);
  ASSERT_EQ(run.port().faults.at(0).fault, "module_missing");
  EXPECT_TRUE(run.port().faults.at(0).lanes.empty());
}

TEST(Engine, WhatWasNotReadIsNotStatedAsIfItWereSo) {
  Story run(600);
  std::string reason;
  for (const SymptomVerdict& one : run.port().symptoms)
    if (one.symptom == "tx_fault" && one.verdict == "unknown") reason = one.reason;
  EXPECT_EQ(reason, "not known: the module reports a laser fault");
}

TEST(Engine, WhatWasSeenStandsWhileItShowsNoMore) {
  Story run(1800);
  run.soil_lane_2();
  run.run(300);
  ASSERT_EQ(run.events, "opened:dirty_connector ");
  run.clean_lane_2();
  run.run(290);  // the signs are gone, and the proof has not begun
  ASSERT_EQ(run.port().faults.at(0).state, FaultState::kOpen);
  // 9.4e-05 was the last that showed; the figures of the healthy link, 9.4e-09, speak of no fault.
  EXPECT_NE(run.port().faults[0].summary.find("9.4e-05"), std::string::npos)
      << run.port().faults[0].summary;
  run.run(9000);
  ASSERT_EQ(run.all.size(), 3U) << run.events;
  EXPECT_FALSE(run.all[1].fault.undecided) << "no test is suggested while the repair is verified";
  for (const FaultEvent& event : run.all)
    EXPECT_EQ(event.fault.summary.find("9.4e-09"), std::string::npos) << event.fault.summary;
}

TEST(Engine, APulledFibreIsUnpluggedAndClosesWhenItIsBack) {
  Story run(1800);
  run.pull();
  run.feed.link.down_reason = DownReason{"Autoneg", "No partner detected"};
  run.feed.receive_mw(0);
  run.run(120);
  ASSERT_EQ(run.all.size(), 1U) << run.events;
  EXPECT_EQ(run.port().health, Health::kDown);
  EXPECT_LE(steady_seconds(run.all[0].t), 1800 + 75);
  EXPECT_EQ(run.all[0].fault.severity, Severity::kCritical);
  run.plug();
  run.feed.receive_mw(0.8);
  run.run(9000);
  ASSERT_EQ(run.all.size(), 3U) << run.events;
  EXPECT_EQ(run.all[2].kind, FaultEventKind::kClosed);
  EXPECT_EQ(run.port().health, Health::kHealthy);
}

TEST(Engine, AShortLossIsNotAFault) {
  Story run(1800);
  run.pull();
  run.run(40);
  run.plug();
  run.run(3600);
  EXPECT_EQ(run.events, "");
}

TEST(Engine, TenFlapsInAMinuteAreTenThoughEveryReadingSawThePortUp) {
  Story run(1800);
  for (int i = 0; i < 10; ++i) {
    run.pull();
    run.feed.plug(run.feed.t + 2);
    run.run(10);
  }
  EXPECT_EQ(run.port().figures.involuntary_downs_24h, 10U);
  EXPECT_EQ(run.port().latest.link->carrier, true);
  run.run(300);
  EXPECT_NE(run.events.find("opened:"), std::string::npos);
}

TEST(Engine, SetDownIsANoticeAtOnceAndOverWhenSetUp) {
  Story run(1800);
  run.feed.event(PortEventKind::kAdminDown, run.feed.t + 1);
  run.feed.pull(run.feed.t + 2);
  run.feed.link.admin_up = false;
  run.run(10);
  ASSERT_EQ(run.events, "opened:admin_down ");
  EXPECT_EQ(run.all[0].fault.severity, Severity::kNotice);
  run.run(3600);
  run.feed.event(PortEventKind::kAdminUp, run.feed.t + 1);
  run.feed.link.admin_up = true;
  run.feed.plug(run.feed.t + 4);
  run.run(600);
  EXPECT_EQ(run.events, "opened:admin_down proving:admin_down closed:admin_down ");
}

TEST(Engine, ARebootRaisesNothing) {
  Story run(3600);
  run.feed.uptime_s = 30;
  run.feed.counters = Counters();
  run.feed.counters.set("fec_corrected_bits", 0);
  run.feed.link.carrier_down_count = 0;
  run.pull();
  run.run(10);
  run.plug();
  run.run(3600);
  EXPECT_EQ(run.events, "");
  EXPECT_EQ(run.port().figures.involuntary_downs_24h, 0U);
}

TEST(Engine, APortWithNothingReadableIsUnknownThenBlind) {
  Story run;
  run.feed.readable = false;
  run.feed.gaps = {{"mlx5_0/1", "link", "EPERM"}, {"mlx5_0/1", "counters", "EPERM"}};
  run.run(50);
  EXPECT_EQ(run.port().health, Health::kUnknown);
  EXPECT_EQ(run.events, "");
  run.run(60);
  EXPECT_EQ(run.events, "opened:monitor_blind ") << "a right that is missing does not come back";
  EXPECT_EQ(run.port().health, Health::kUnknown);
}

TEST(Engine, AnAbsentPortHasNoReadings) {
  Story run(600);
  ASSERT_TRUE(run.port().latest.link);
  Snapshot snapshot = run.feed.tick();
  const PortId id = snapshot.ports.begin()->second.id;
  snapshot.ports.clear();
  const auto report = run.engine.step(snapshot).report;
  ASSERT_EQ(report->ports.size(), 1U) << "it may come back, and its faults are not forgotten";
  EXPECT_FALSE(report->ports[0].latest.link);
  EXPECT_FALSE(report->ports[0].latest.counters);
  EXPECT_EQ(report->ports[0].latest.id, id);
}

TEST(Engine, AFirmwareThatHangsHasTwoMinutesBeforeThePortIsBlind) {
  Story run;
  run.feed.readable = false;
  run.feed.gaps = {{"mlx5_0/1", "link", "ETIMEDOUT"}, {"mlx5_0/1", "counters", "ETIMEDOUT"}};
  run.run(110);
  EXPECT_EQ(run.events, "");
  run.run(60);
  EXPECT_EQ(run.events, "opened:monitor_blind ");
}

TEST(Engine, ABlindModuleProbeDoesNotBlindTheRest) {
  Story run(1800);
  run.feed.module_readable = false;
  run.feed.gaps = {{"mlx5_0/1", "module", "EIO"}};
  run.run(1200);
  EXPECT_EQ(run.events, "opened:monitor_blind ");
  EXPECT_EQ(run.port().health, Health::kHealthy);
}

TEST(Engine, ABusyModuleIsNotBlind) {
  Story run(600);
  run.feed.module_readable = false;
  run.feed.gaps = {{"mlx5_0/1", "module", "EBUSY"}};
  run.run(7200);
  EXPECT_EQ(run.events, "");
}

TEST(Engine, AFaultThatIsThereAfterARestartIsJudgedAgainstThePast) {
  Story before(3600);
  const ReferenceState kept = before.engine.references();
  ASSERT_EQ(kept.ports.size(), 1U);
  Story without, with;
  with.engine.restore(kept);
  for (Story* after : {&without, &with}) {
    after->feed = before.feed;
    after->feed.receive_mw(0.25);  // 5 dB on all lanes, while the daemon was not looking
    after->feed.bits_per_s = 4e6;
    after->run(600);
  }
  EXPECT_EQ(without.events, "") << "a BER of 1e-5 that was always there is within the limits";
  ASSERT_EQ(with.events, "opened:damaged_fiber ");
  EXPECT_NE(with.port().faults.at(0).summary.find("below its baseline"), std::string::npos);
}

TEST(Engine, ReferencesOfAnotherModuleOrOfLongAgoAreVoid) {
  Story before(3600);
  const ReferenceState kept = before.engine.references();
  Story swapped;
  swapped.engine.restore(kept);
  swapped.feed = before.feed;
  swapped.feed.module.serial = "B2";
  swapped.feed.receive_mw(0.3);
  swapped.run(600);
  EXPECT_EQ(swapped.events, "");
  ReferenceState old = kept;
  for (PortReferences& port : old.ports) port.seen_at -= std::chrono::hours(24 * 40);
  Story late;
  late.engine.restore(old);
  late.feed = before.feed;
  late.feed.receive_mw(0.3);
  late.run(600);
  EXPECT_EQ(late.events, "");
}

TEST(Engine, AnAcknowledgementIsAnEventOfTheNextStep) {
  Story run(1800);
  run.lose_light();
  EXPECT_FALSE(run.engine.acknowledge("mlx5_9/1", "ann", "", std::nullopt));
  run.run(120);
  ASSERT_TRUE(run.engine.acknowledge("mlx5_0/1", "ann", "spare ordered", std::nullopt));
  run.run(10);
  EXPECT_EQ(run.all.back().kind, FaultEventKind::kAcknowledged);
  EXPECT_EQ(run.port().faults.at(0).state, FaultState::kAcknowledged);
}

Maintenance work(const Story& run, double for_s) {
  Maintenance work;
  work.by = "ann";
  work.since = run.report->at;
  work.until = run.report->at + from_seconds(for_s);
  return work;
}

TEST(Engine, NothingIsRaisedInMaintenanceAndAllIsShown) {
  Story run(1800);
  ASSERT_TRUE(run.engine.begin_maintenance("mlx5_0/1", work(run, 3600)));
  run.lose_light();
  run.run(1800);
  EXPECT_TRUE(run.all.empty());
  EXPECT_EQ(run.port().health, Health::kDown);
  ASSERT_TRUE(run.port().maintenance.has_value());
  EXPECT_EQ(run.port().maintenance->by, "ann");
  run.run(2000);  // it is over, and the link is still down
  EXPECT_FALSE(run.port().maintenance.has_value());
  ASSERT_FALSE(run.all.empty());
  EXPECT_EQ(run.all.front().kind, FaultEventKind::kOpened);
}

TEST(Engine, FlapsDuringMaintenanceAreNotCounted) {
  Story run(1800);
  ASSERT_TRUE(run.engine.begin_maintenance("", work(run, 3600)));
  for (int i = 0; i < 8; ++i) {
    run.pull();
    run.run(60);
    run.plug();
    run.run(120);
  }
  ASSERT_TRUE(run.engine.end_maintenance(""));
  run.run(3600);
  EXPECT_TRUE(run.all.empty()) << run.all.front().fault.fault;
  EXPECT_EQ(run.port().figures.involuntary_downs_24h, 0U);
  EXPECT_GE(run.port().figures.voluntary_downs_total, 8U);
}

TEST(Engine, MaintenanceSurvivesARestartAndEndsOnlyWhereItBegan) {
  Story run(1800);
  EXPECT_FALSE(run.engine.end_maintenance("mlx5_0/1"));
  EXPECT_FALSE(run.engine.begin_maintenance("mlx5_9/1", work(run, 60)));
  ASSERT_TRUE(run.engine.begin_maintenance("", work(run, 3600)));
  const auto whole = run.engine.end_maintenance("mlx5_0/1");
  ASSERT_FALSE(whole);
  EXPECT_NE(whole.error().message.find("maintenance end all"), std::string::npos);
  Engine again(Story::settings());
  again.restore(run.engine.ledger_state());
  const auto report = again.step(run.feed.tick()).report;
  EXPECT_TRUE(report->ports.at(0).maintenance.has_value());
  EXPECT_TRUE(again.end_maintenance(""));
}

TEST(Engine, AFileStartsMaintenanceByAnyNameOfThePort) {
  Story run(60);
  Maintenance file = work(run, 0);
  file.until.reset();
  file.port = "mlx5_0";
  file.file = "/etc/linkhealth/maintenance/mlx5_0";
  run.engine.set_maintenance_files({file});
  run.run(10);
  ASSERT_TRUE(run.port().maintenance.has_value());
  EXPECT_NE(run.engine.end_maintenance("mlx5_0/1").error().message.find("remove that file"),
            std::string::npos);
  run.engine.set_maintenance_files({});
  run.run(10);
  EXPECT_FALSE(run.port().maintenance.has_value());
}

TEST(Engine, PortsAreOrderedAsPeopleCount) {
  Engine engine(Story::settings());
  Snapshot snapshot;
  for (const char* device : {"mlx5_10", "mlx5_2", "mlx5_0"}) {
    PortSample port;
    port.id.device = device;
    port.id.pci = device;
    snapshot.ports[std::string(device) + "/1"] = port;
  }
  const auto report = engine.step(snapshot).report;
  ASSERT_EQ(report->ports.size(), 3U);
  EXPECT_EQ(report->ports[1].port, "mlx5_2/1");
  EXPECT_EQ(report->ports[2].port, "mlx5_10/1");
}

TEST(Engine, TheSameSnapshotsGiveTheSameEventsAndTexts) {
  const auto story = [] {
    Story run(1800);
    run.soil_lane_2();
    run.run(600);
    std::string text = run.events;
    for (const FaultReport& fault : run.port().faults)
      text += fault.id + fault.summary + std::to_string(fault.confidence);
    return text;
  };
  EXPECT_EQ(story(), story());
}

}  // namespace
}  // namespace linkhealth
