// The life of a fault as the engine makes it: what raises nothing, what stands, and how each raise
// clears.
#include <gmock/gmock.h>

#include "tests/daemon/engine/story.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kStuck = "mlx5_core 0000:1b:00.0 ens1np0: TX timeout detected";
constexpr const char* kDead =
    "mlx5_core 0000:1b:00.0: device's health compromised - reached miss count";

TEST(FaultLife, AStuckQueueOfBeforeDoesNotComeBackWithThePort) {
  Story run(600);
  run.log(kStuck);
  run.run(300);
  ASSERT_EQ(run.events, "opened:nic_fault ");
  EXPECT_EQ(run.port().health, Health::kDegraded) << "the other queues carry";
  run.set_down();
  run.run(600);
  EXPECT_EQ(run.events, "opened:nic_fault closed:nic_fault opened:admin_down ");
  run.events.clear();
  run.set_up();
  run.run(7200);
  EXPECT_THAT(run.events, Not(HasSubstr("nic_fault")))
      << "the queues are new ones, and nothing was said since";
  EXPECT_EQ(run.port().health, Health::kHealthy);
}

TEST(FaultLife, ADeadCardStaysDeadWhenItsPortIsSetDownAndUp) {
  Story run(600);
  run.log(kDead);
  run.run(300);
  EXPECT_EQ(run.port().health, Health::kDown) << "though its link is up";
  run.set_down();
  run.run(300);
  run.events.clear();
  run.set_up();
  run.run(900);
  EXPECT_THAT(run.events, HasSubstr("opened:nic_fault"));
}

TEST(FaultLife, WhatAGuestDidIsNothingOfTheHostsPort) {
  Story run(600);
  run.log(
      "ice 0000:1b:00.0: 3 Rx Malicious Driver Detection events detected on PF 0 VF 5 MAC "
      "02:00:00:00:00:05.");
  run.run(900);
  EXPECT_EQ(run.events, "");
}

TEST(FaultLife, APcieErrorThatTheLinkSurvivesKillsNoCard) {
  Story run(600);
  run.log(
      "pcieport 0000:1a:00.0: AER: Uncorrectable (Non-Fatal) error message received from "
      "0000:1b:00.0");
  run.run(900);
  EXPECT_EQ(run.events, "opened:pcie_degraded ");
  EXPECT_EQ(run.port().health, Health::kDegraded);
  run.run(10800);
  EXPECT_THAT(run.events, HasSubstr("closed:pcie_degraded"))
      << "not said again in an hour, and an hour of proof";
}

TEST(FaultLife, ADriverReloadClearsADeadCardThatCarriesAgain) {
  Story run(600);
  run.log(kDead);
  run.run(300);
  ASSERT_EQ(run.events, "opened:nic_fault ");
  run.feed.event(PortEventKind::kDeviceGone, run.feed.t + 1);
  run.feed.pull(run.feed.t + 1.5);
  run.feed.event(PortEventKind::kDeviceAdded, run.feed.t + 5);
  run.feed.plug(run.feed.t + 8);
  run.run(7200);
  EXPECT_EQ(run.events, "opened:nic_fault proving:nic_fault closed:nic_fault ");
}

TEST(FaultLife, ACardThatIsDeadAfterTheRebootTooIsStillTheSameFault) {
  Story run(600);
  run.log(kDead);
  run.feed.pull(run.feed.t + 2);
  run.run(300);
  ASSERT_EQ(run.events, "opened:nic_fault ");
  run.feed.uptime_s = 60;
  run.run(3600);
  EXPECT_EQ(run.events, "opened:nic_fault ") << "the port has not carried since";
  run.feed.plug(run.feed.t + 2);
  run.run(9000);
  EXPECT_EQ(run.events, "opened:nic_fault proving:nic_fault closed:nic_fault ");
}

constexpr const char* kFirmwareError =
    "mlx5_core 0000:1b:00.0: print_health_info:431:(pid 0): Health issue observed, firmware "
    "internal error, "
    "severity(3) "
    "ERROR:";

TEST(FaultLife, AnErrorOfTheCardThatIsOlderThanTheMonitorIsPastWhereItsLinkCarries) {
  Story run;
  run.feed.t = 2'000'000;
  run.feed.event(PortEventKind::kKernelLog, 1000, kFirmwareError);
  run.run(3600);
  EXPECT_EQ(run.events, "") << "the kernel's log keeps it until the next boot";
  EXPECT_EQ(run.port().health, Health::kHealthy);
}

TEST(FaultLife, AnOlderErrorOfACardThatCountsNothingMoreIsOneStill) {
  for (const bool carrier : {true, false}) {
    Story run;
    run.feed.t = 2'000'000;
    run.feed.bits_per_s = 0;
    run.feed.link.carrier = carrier;  // the latest reading
    run.feed.event(PortEventKind::kKernelLog, 1'999'000, kFirmwareError);
    run.run(600);
    EXPECT_THAT(run.events, HasSubstr("opened:nic_fault")) << carrier;
    EXPECT_EQ(run.port().health, Health::kDown) << carrier;
  }
}

TEST(FaultLife, ACardThatResetItselfAndTrainedIsWellAgain) {
  Story run;  // bnxt opens the same interface again: no device goes or comes
  run.run(600);
  run.log(
      "bnxt_en 0000:1b:00.0 ens1np0: Fatal firmware reset event, data1: 0x6, data2: 0x0, min wait "
      "4000 ms");
  run.feed.pull(run.feed.t + 2);
  run.run(120);
  ASSERT_EQ(run.events, "opened:nic_fault ");
  run.feed.plug(run.feed.t + 2);
  run.run(600);
  EXPECT_EQ(run.events, "opened:nic_fault proving:nic_fault ");
  EXPECT_NE(run.port().health, Health::kDown);
  run.run(7200);
  EXPECT_EQ(run.events, "opened:nic_fault proving:nic_fault closed:nic_fault ");
}

TEST(FaultLife, ACardThatWorksOnAfterAnErrorIsWellAgainAfterAWhile) {
  Story run(600);
  run.log(kFirmwareError);
  run.run(500);
  EXPECT_EQ(run.events, "opened:nic_fault ") << "a reset may come yet";
  run.run(600);
  EXPECT_EQ(run.events, "opened:nic_fault proving:nic_fault ");
  run.run(7200);
  EXPECT_EQ(run.events, "opened:nic_fault proving:nic_fault closed:nic_fault ");
}

TEST(FaultLife, ACardThatFailsAgainAndAgainAndCarriesIsNotDown) {
  Story run(600);
  for (int again = 0; again < 3; ++again) {
    run.log(kFirmwareError);
    run.run(700);
  }
  ASSERT_FALSE(run.port().faults.empty());
  EXPECT_EQ(run.port().faults.front().fault, "nic_fault");
  EXPECT_EQ(run.port().faults.front().state, FaultState::kOpen);
  EXPECT_EQ(run.port().health, Health::kDegraded);
}

TEST(FaultLife, APartThatIsNeverReadHidesNotTheRest) {
  for (const char* probe : {"link", "counters", "hw_counters", "module", "pcie"}) {
    Story run;
    run.feed.gaps = {{"mlx5_0/1", probe, "carrier_up_count, carrier_down_count: ENOENT"}};
    run.feed.counters.set("symbol_error", 1);
    run.run(1200);
    EXPECT_EQ(run.events, "") << probe;
    EXPECT_EQ(run.port().health, Health::kHealthy) << probe;
    ASSERT_EQ(run.port().gaps.size(), 1U) << "and it is said";
    EXPECT_EQ(run.port().gaps[0].probe, probe);
    run.feed.bits_per_s = 4e8;
    run.feed.receive_mw(0.1);
    run.run(900);
    EXPECT_THAT(run.events, HasSubstr("opened:")) << probe;
    EXPECT_THAT(run.events, Not(HasSubstr("monitor_blind"))) << probe;
  }
}

TEST(FaultLife, AFaultThatComesBeforeTheLightHasAPastIsSeen) {
  Story run;
  run.run(25);               // two readings
  run.feed.receive_mw(0.2);  // all four fibres alike: dirt does not do that
  run.feed.bits_per_s = 4e7;
  run.run(240);
  EXPECT_EQ(run.events, "opened:damaged_fiber ");
}

/// Nothing changes, so a rule that waits for a change sees nothing.
TEST(FaultLife, AnErrorRateThatWasAlwaysThereIsSeen) {
  Story run;
  run.feed.bits_per_s = 4e8;  // 1e-3 of 400G's bits: beyond what RS544 corrects
  run.run(900);
  ASSERT_EQ(run.port().faults.size(), 1U) << run.events;
  EXPECT_NE(run.port().health, Health::kHealthy);
}

TEST(FaultLife, ALaneThatWasAlwaysBadIsSeen) {
  Story run;
  run.feed.module.lanes[2].rx_power_mw = 0.1;  // 9 dB below its siblings
  run.run(900);
  EXPECT_EQ(run.events, "opened:dirty_connector ");
  EXPECT_THAT(run.port().faults.at(0).summary, HasSubstr("lane 3"));
}

TEST(FaultLife, SurvivesARebootWithoutLossOrRepetition) {
  Story before(1800);
  before.soil_lane_2();
  before.run(600);
  ASSERT_EQ(before.events, "opened:dirty_connector ");
  const std::string id = before.port().faults.at(0).id;

  Story after;  // the steady clock and the counters start again
  after.feed.module = before.feed.module;
  after.feed.bits_per_s = before.feed.bits_per_s;
  after.feed.uptime_s = 40;
  after.engine.restore(before.engine.ledger_state());
  after.engine.restore(before.engine.references());
  after.run(1800);
  EXPECT_EQ(after.events, "");
  ASSERT_EQ(after.port().faults.size(), 1U);
  EXPECT_EQ(after.port().faults.at(0).id, id);
}

TEST(FaultLife, FlapsClearByProvenStability) {
  Story run(900);
  for (int i = 0; i < 4; ++i) {
    run.pull();
    run.feed.plug(run.feed.t + 4);
    run.run(150);
  }
  EXPECT_THAT(run.events, HasSubstr("opened:"));
  run.run(6 * 3600);
  EXPECT_THAT(run.events, HasSubstr("proving:"));
  EXPECT_THAT(run.events, HasSubstr("closed:"));
  EXPECT_EQ(run.port().health, Health::kHealthy);
}

}  // namespace
}  // namespace linkhealth
