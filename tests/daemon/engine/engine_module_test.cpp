// What the engine makes of a module or a card that gives way: heat, a laser, the card under two
// ports.
#include <gmock/gmock.h>

#include "tests/daemon/engine/node_story.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(ActiveCopper, WithoutLimitsOfItsOwnIsTooHotAtSeventyDegrees) {
  Story story;
  story.feed.module.kind = "acc";
  story.feed.module.type = "400G-ACC";
  story.feed.module.connector = "No separable connector";
  story.feed.module.temperature_c = 39.7;
  for (ModuleLane& lane : story.feed.module.lanes) lane = ModuleLane{};
  story.run(3600);
  ASSERT_EQ(story.events, "");
  story.feed.module.temperature_c = 75.3;
  story.run(600);
  EXPECT_THAT(story.events, HasSubstr("opened:module_overheated"));
}

/// A module that switched itself off is as cold as that makes it: it was hot when the link fell.
TEST(AHotModule, ThatSwitchedItselfOffIsStillTheHotOneWhenItHasCooledDown) {
  Story story(3600);
  story.feed.module.temperature_c = 84;
  story.run(300);
  ASSERT_THAT(story.events, HasSubstr("opened:module_overheated"));
  story.pull();
  for (ModuleLane& lane : story.feed.module.lanes) lane.tx_power_mw = 0;
  story.run(300);
  story.feed.module.temperature_c = 52;
  story.run(1500);
  EXPECT_THAT(story.events, Not(HasSubstr("failing_transmitter")));
  EXPECT_THAT(story.events, Not(HasSubstr("closed:module_overheated")));
}

/// One laser far below its siblings from the first reading on, and the far end does not hear that
/// lane.
TEST(ALinkThatNeverCameUp, WithOneLaserFarBelowItsSiblingsNamesTheTransmitter) {
  ExpectedPort expected;
  expected.speed_mbps = 400000;
  Story story({{"mlx5_0/1", expected}});
  story.feed.link.carrier = false;
  story.feed.link.state = "DOWN";
  story.feed.link.phys_state = "Polling";
  story.feed.link.carrier_up_count = story.feed.link.carrier_down_count = 0;
  for (ModuleLane& lane : story.feed.module.lanes) lane.tx_power_mw = 1.3;
  story.feed.module.lanes[0].tx_power_mw = 0.05;
  story.run(900);
  ASSERT_FALSE(story.port().faults.empty());
  const FaultReport& fault = story.port().faults.front();
  EXPECT_EQ(fault.fault, "failing_transmitter");
  EXPECT_EQ(fault.end, End::kLocal);
}

TEST(Counters, ThatAllStandStillOnALinkThatCarriesAreNotRead) {
  Story story;
  story.feed.bits_per_s = 40000;
  story.run(3600);
  story.feed.bits_per_s = 0;
  story.run(500);
  EXPECT_EQ(story.events, "");
  story.run(300);
  EXPECT_EQ(story.events, "opened:monitor_blind ");
  story.run(7200);
  EXPECT_EQ(story.events, "opened:monitor_blind ") << "that it lasts is no repair";
}

TEST(ACard, ThatRestartsRepeatedlyIsNotRepaired) {
  Story story(3600);
  for (int again = 0; again < 5; ++again) {
    story.log("mlx5_core 0000:1b:00.0: device's health compromised - reached miss count");
    story.feed.event(PortEventKind::kDeviceFatal, story.feed.t + 1.1);
    story.feed.event(PortEventKind::kDeviceGone, story.feed.t + 1.1);
    story.feed.pull(story.feed.t + 1.2);
    story.run(30);
    story.feed.event(PortEventKind::kDeviceAdded, story.feed.t + 1);
    story.feed.plug(story.feed.t + 6);
    story.run(400);
  }
  EXPECT_THAT(story.events, HasSubstr("opened:nic_fault"));
  ASSERT_FALSE(story.port().faults.empty());
  EXPECT_EQ(story.port().faults.front().state, FaultState::kOpen);
}

TEST(Counters, OfAnIdleLinkThatStillCorrectsBitsAreRead) {
  Story story;
  story.feed.bits_per_s = 40000;
  story.run(3600);
  story.feed.bits_per_s = 40;
  story.run(1800);
  EXPECT_EQ(story.events, "");
}

TEST(AModule, ThatReportsOnlyZerosDoesNotMeasureItsLight) {
  Story story;
  story.feed.receive_mw(0);
  for (ModuleLane& lane : story.feed.module.lanes) lane.tx_power_mw = lane.tx_bias_ma = 0;
  story.run(3600);
  EXPECT_EQ(story.events, "") << "many active cables give no powers";
}

TEST(APort, IsThereWhenAnyOfItsGroupsIs) {
  Story story(600);
  for (int i = 0; i < 60; ++i) {
    Snapshot snapshot = story.feed.tick();
    PortId label;  // the identity has not changed: only the label
    label.device = i < 30 ? "mlx5_0" : "";
    snapshot.ports.begin()->second.id = label;
    const Engine::Step step = story.engine.step(snapshot);
    EXPECT_TRUE(step.events.empty());
    ASSERT_EQ(step.report->ports.size(), 1U);
    EXPECT_EQ(step.report->ports.front().latest.id.pci, "0000:1b:00.0");
  }
}

TEST(ALostReferenceClock, IsTheCardsAndNotTheModules) {
  Story story(3600);
  story.pull();
  story.feed.link.down_reason = DownReason{"Bad signal integrity", "Serdes reference clock lost"};
  story.run(300);
  EXPECT_THAT(story.events, HasSubstr("opened:nic_fault"));
}

TEST(AMisconfiguredPort, IsFoundInTheLogWhereTheDriverGivesNoReason) {
  Story story(3600);
  story.pull();
  story.log(
      "ice 0000:1b:00.0: Possible mis-configuration of the Ethernet port detected, please use the "
      "tool");
  story.run(300);
  EXPECT_THAT(story.events, HasSubstr("opened:settings_mismatch"));
}

TEST(AModule, ThatIceRefusesByDevlinkAloneIsUnsupported) {
  Story story;
  story.feed.module_readable = false;
  story.run(3600);
  story.pull();
  story.log("devlink health, port: An unsupported module was detected.");
  story.run(300);
  EXPECT_THAT(story.events, HasSubstr("opened:module_unsupported"));
}

/// What the kernel's log has from weeks ago, on a port that is down when the monitor starts.
std::string said_of_a_dark_port(std::vector<const char*> log) {
  Story story;
  story.feed.t = 2'000'000;
  story.feed.link.carrier = false;
  story.feed.link.carrier_down_count = 1;
  story.feed.counters.set("link_down_events_phy",
                          1);  // with mlx5 the carrier counts alone do not say so
  double at = 3600;
  for (const char* line : log) story.feed.event(PortEventKind::kKernelLog, at += 60, line);
  story.feed.event(PortEventKind::kKernelLog, 1'999'000,
                   "mlx5_core 0000:1b:00.0 ens1np0: Link down");
  story.run(900);
  std::string text = story.events;
  for (const FaultReport& fault : story.port().faults)
    text += fault.fault + " " + std::to_string(fault.confidence);
  return text;
}

TEST(AnOldLineOfTheLog, ThatTheLinkSurvivedBlamesNoModule) {
  constexpr const char* kLinkUp = "mlx5_core 0000:1b:00.0 ens1np0: Link up";
  constexpr const char* kPlugged =
      "mlx5_core 0000:1b:00.0: Port module event: module 0, Cable plugged";
  const std::string without = said_of_a_dark_port({});
  for (const char* line : {"mlx5_core 0000:1b:00.0: Port module event[error]: module 0, Cable "
                           "error, Bus stuck(I2C or data shorted)",
                           "bnxt_en 0000:1b:00.0 ens1np0: Unqualified SFP+ module detected",
                           "ice 0000:1b:00.0: Possible mis-configuration of the Ethernet port "
                           "detected, please use the tool"}) {
    EXPECT_NE(said_of_a_dark_port({line}), without) << line;
    EXPECT_NE(said_of_a_dark_port({kPlugged, kLinkUp, line}), without) << line;
    EXPECT_EQ(said_of_a_dark_port({line, kLinkUp}), without) << line;
    EXPECT_EQ(said_of_a_dark_port({line, kPlugged}), without) << line;
  }
}

/// The same under the monitor's own eyes: the link carried for half an hour, then it loses its
/// light.
TEST(AnOldLineOfTheLog, IsPastOnceTheLinkCarried) {
  const auto said = [](const char* line) {
    Story story;
    story.feed.t = 100'000;
    if (*line != '\0') story.feed.event(PortEventKind::kKernelLog, 60, line);
    story.run(1800);
    EXPECT_EQ(story.events, "") << line;
    story.lose_light();
    story.run(900);
    std::string text = story.events;
    for (const FaultReport& fault : story.port().faults)
      text += fault.fault + " " + std::to_string(fault.confidence);
    return text;
  };
  const std::string without = said("");
  for (const char* line :
       {"bnxt_en 0000:1b:00.0 ens1np0: Unqualified SFP+ module detected on port 1",
        "mlx5_core 0000:1b:00.0: One or more network ports have been powered down due to "
        "insufficient/unadvertised "
        "power on the PCIe slot"})
    EXPECT_EQ(said(line), without) << line;
}

TEST(AModule, ThatTheCardSwitchedOffForItsCurrentIsBad) {
  Story story(1800);
  story.pull();
  story.feed.module_readable = false;
  story.feed.gaps = {
      {"mlx5_0/1", "module", "EINVAL: bnxt_en: Transceiver module disabled due to current fault"}};
  story.run(600);
  ASSERT_EQ(story.events, "opened:bad_module ");
  const auto& evidence = story.port().faults.front().evidence;
  EXPECT_TRUE(std::ranges::any_of(
      evidence, [](const Evidence& e) { return e.symptom == "module_fault_reported"; }));
}

TEST(ACardThatDies, TakesThePortOfItsOtherFunctionAlong) {
  Node card(3);  // two functions of one card, and another card
  bool alive = true;
  card.change = [&alive](std::size_t i, PortSample& port) {
    port.id.pci = i == 2 ? "0000:5e:00.0" : "0000:1b:00." + std::to_string(i);
    if (alive || i == 2) return;
    port.link->carrier = false;
    port.link->state = "DOWN";
    port.link->carrier_down_count = 1;
  };
  card.run(3600);
  alive = false;
  Snapshot dies = card.tick();
  const auto at = dies.taken_at - from_seconds(5);
  dies.events = {{at, "mlx5_0/1", PortEventKind::kDeviceFatal, "device's health compromised"},
                 {at, "mlx5_0/1", PortEventKind::kCarrierDown, ""},
                 {at, "mlx5_1/1", PortEventKind::kCarrierDown, ""}};
  card.step(dies);
  card.run(290);
  for (const char* key : {"mlx5_0/1", "mlx5_1/1"}) {
    ASSERT_FALSE(card.port(key)->faults.empty()) << key;
    EXPECT_EQ(card.port(key)->faults.front().fault, "nic_fault") << key;
  }
  EXPECT_TRUE(card.port("mlx5_2/1")->faults.empty()) << "another card";
}

/// The fault opens while the light is still held by more current.
TEST(ATiringLaser, IsAWarningWhileItsLightIsHeld) {
  Story story(3600);
  for (int step = 0; step < 20; ++step) {
    *story.feed.module.lanes[2].tx_bias_ma += 1.5;
    story.run(120);
  }
  ASSERT_FALSE(story.port().faults.empty());
  const FaultReport& fault = story.port().faults.front();
  EXPECT_EQ(fault.fault, "failing_transmitter");
  EXPECT_EQ(fault.end, End::kLocal);
  EXPECT_EQ(fault.severity, Severity::kWarning);
}

TEST(ATiringLaser, ThatFeedsAllLanesShowsAgainstItsPastAtTheSameTemperature) {
  Story story(3600);
  for (ModuleLane& lane : story.feed.module.lanes) lane.tx_bias_ma = 70 * 1.4;
  story.run(600);
  EXPECT_THAT(story.events, HasSubstr("opened:failing_transmitter"));
}

TEST(Bias, ThatFollowsTheTemperatureIsNoFault) {
  Story story(3600);
  for (int step = 1; step <= 17; ++step) {
    story.feed.module.temperature_c = 50 + step;
    for (ModuleLane& lane : story.feed.module.lanes) lane.tx_bias_ma = 70 * (1 + 0.02 * step);
    story.run(120);
  }
  EXPECT_EQ(story.events, "");
}

TEST(Bias, OfAnotherModuleOrAnotherSettingIsNoFault) {
  Story story(3600);
  story.pull();
  story.run(20);
  story.feed.module.serial = "B2";
  for (ModuleLane& lane : story.feed.module.lanes) lane.tx_bias_ma = 105;
  story.plug();
  story.run(3600);
  for (ModuleLane& lane : story.feed.module.lanes) lane.tx_bias_ma = 140, lane.tx_power_mw = 1.4;
  story.run(1800);
  EXPECT_THAT(story.events, Not(HasSubstr("failing_transmitter")));
}

/// Of some ports there is a line only now and then: between two of them they are not gone.
TEST(APort, OfWhichEverySixthSnapshotSpeaksIsNotADeadCard) {
  Story story;
  story.feed.period_s = 60;
  for (int step = 0; step < 120; ++step) {
    Snapshot snapshot = story.feed.tick();
    if (step % 6 != 0) snapshot.ports.clear();
    for (const FaultEvent& event : story.engine.step(std::move(snapshot)).events)
      story.events += event.fault.fault;
  }
  EXPECT_EQ(story.events, "");
}

TEST(APort, ThatNeverComesBackIsADeadCardHoweverSeldomItSpoke) {
  Story story;
  story.feed.period_s = 60;
  for (int step = 0; step < 60; ++step) {
    Snapshot snapshot = story.feed.tick();
    if (step % 6 != 0 || step > 30) snapshot.ports.clear();
    for (const FaultEvent& event : story.engine.step(std::move(snapshot)).events)
      story.events += event.fault.fault;
  }
  EXPECT_EQ(story.events, "nic_fault");
}

TEST(FarModule, ThatIsReadAtLastNeedsOnlyTime) {
  Story story(1800);
  story.soil_lane_2();
  story.run(300);
  ASSERT_FALSE(story.port().faults.empty());
  const auto how_to_see_far_tx = [](const PortReport& port) {
    for (const MissingEvidence& missing : port.faults.at(0).missing)
      if (missing.symptom == "far_tx_low") return missing.how;
    return std::string();
  };
  EXPECT_THAT(how_to_see_far_tx(story.port()), HasSubstr("Tx power of the far end"));
  PeerSample far;
  far.source = "telemetry";
  far.module.emplace().lanes.resize(4);
  for (ModuleLane& lane : far.module->lanes) lane.tx_power_mw = lane.rx_power_mw = 0.8;
  Snapshot snapshot = story.feed.tick();
  snapshot.ports.begin()->second.peer = far;
  EXPECT_THAT(how_to_see_far_tx(story.engine.step(snapshot).report->ports.at(0)),
              StartsWith("wait"));
}

/// A receiver with an avalanche photodiode: what is dark for others is its daily light.
TEST(FarReaching, LightAboveTheModulesOwnAlarmIsNotDark) {
  using Row = std::tuple<const char*, double, double>;
  for (const auto& [type, low_alarm_mw, dbm] : {Row{"100G-ER4", .004365, -21.5},
                                                {"400G-ZR", .005012, -20.5},
                                                {"10G-ZR", 0, -23},
                                                {"", .005, -20.5}}) {
    Story run;
    run.feed.module.type = type;  // "": of one that has no high limit
    run.feed.module.thresholds = {};
    const auto high_mw = *type != '\0' ? std::optional(2.0) : std::nullopt;
    if (low_alarm_mw > 0) run.feed.module.thresholds.rx_power_mw = {low_alarm_mw, {}, {}, high_mw};
    run.feed.receive_mw(std::pow(10, dbm / 10));
    run.run(1800);
    EXPECT_EQ(run.port().figures.rx_power_margin_db.has_value(), low_alarm_mw > 0) << type;
    EXPECT_EQ(run.events, "") << type;
    EXPECT_EQ(run.port().health, Health::kHealthy) << type;
    run.feed.module.lanes[2].rx_power_mw = 0.0001;
    run.run(900);
    EXPECT_NE(run.events, "") << "a lane that reads nothing at all, and carries";
  }
}

/// 200G to two times 100G: this end of the cable has two of the four lanes that its code was made
/// for.
TEST(Splitter, TheEndOfASplitterCableIsNotSlow) {
  for (const unsigned lanes : {2U, 4U}) {
    Story run;
    run.feed.module.kind = "dac";
    run.feed.module.type = "200G-CR4";
    run.feed.module.media_lane_count = 4;
    for (ModuleLane& lane : run.feed.module.lanes) lane = ModuleLane{};
    run.feed.link.speed_mbps = 100000;
    run.feed.link.lanes = lanes;
    run.run(1800);
    EXPECT_EQ(run.events, lanes == 2 ? "" : "opened:reduced_speed ");
  }
}

}  // namespace
}  // namespace linkhealth
