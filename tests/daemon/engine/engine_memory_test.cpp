// What the engine takes over from an earlier run and must not keep for ever; what it remembers of
// maintenance; impact by rail.
#include <gmock/gmock.h>

#include "tests/daemon/engine/node_story.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;

ExpectedPort at_400g(std::string rail = "") {
  ExpectedPort expected;
  expected.speed_mbps = 400000;
  expected.rail = std::move(rail);
  return expected;
}

TEST(LostPorts, AnAwaitedPortThatLeavesTheConfigurationOverARestartIsClosed) {
  Story before({{"mlx5_0/1", at_400g()}, {"mlx5_7/1", at_400g()}});
  before.run(400);
  ASSERT_THAT(before.events, HasSubstr("opened:nic_fault"));
  const LedgerState kept = before.engine.ledger_state();
  ASSERT_EQ(kept.faults.size(), 1U);
  Story after({{"mlx5_0/1", at_400g()}});
  after.feed = before.feed;
  after.engine.restore(kept);
  after.run(500);
  EXPECT_EQ(after.events, "") << "a slow driver may still bring it";
  after.run(200);
  EXPECT_EQ(after.events, "closed:nic_fault ");
  EXPECT_TRUE(after.engine.ledger_state().faults.empty());
  after.run(1000);
  EXPECT_EQ(after.events, "closed:nic_fault ") << "once";
}

TEST(LostPorts, AnAwaitedPortThatIsStillAwaitedStaysOpen) {
  Story before({{"mlx5_7/1", at_400g()}});
  before.run(400);
  Story after({{"mlx5_7/1", at_400g()}});
  after.feed = before.feed;
  after.engine.restore(before.engine.ledger_state());
  after.run(2000);
  EXPECT_EQ(after.events, "");
  ASSERT_EQ(after.engine.ledger_state().faults.size(), 1U);
}

/// The same node after a reboot: the kernel's counts begin at zero, the link does not come up,
/// nothing is in the cage.
Feed dark_after_reboot(const Feed& before) {
  Feed feed = before;
  feed.t += 120;
  feed.uptime_s = 60;
  feed.link.carrier = false;
  feed.link.state = "DOWN";
  feed.link.phys_state = "Polling";
  feed.link.carrier_up_count = 0;
  feed.link.carrier_down_count = 1;
  feed.module = ModuleSample{};
  feed.module.present = false;
  return feed;
}

TEST(LostPorts, ALinkThatDoesNotComeBackAfterARebootIsMissed) {
  Story before(600);
  const ReferenceState kept = before.engine.references();
  Story after;
  after.feed = dark_after_reboot(before.feed);
  after.engine.restore(kept);
  after.run(1200);
  EXPECT_EQ(after.port().exempt, "");
  EXPECT_EQ(after.port().health, Health::kDown);
  EXPECT_THAT(after.events, HasSubstr("opened:"));
  EXPECT_TRUE(after.engine.references().ports.at(0).linked_at) << "also over the next restart";
  ReferenceState old = kept;
  for (PortReferences& port : old.ports) *port.linked_at -= std::chrono::hours(24 * 8);
  Story unused;
  unused.feed = dark_after_reboot(before.feed);
  unused.engine.restore(old);
  unused.run(1200);
  EXPECT_EQ(unused.port().exempt, "unused (no module, never linked)") << "a week is long enough";
  EXPECT_EQ(unused.events, "");
}

TEST(LostPorts, AnOpenFaultOutlivesARestartOfAnyKind) {
  Story before(600);
  before.lose_light();
  before.run(400);
  const LedgerState kept = before.engine.ledger_state();
  ASSERT_EQ(kept.faults.size(), 1U);
  Story after;
  after.feed = dark_after_reboot(before.feed);
  after.feed.module_readable = false;
  after.engine.restore(kept);
  after.run(1200);
  ASSERT_FALSE(after.port().faults.empty()) << after.port().exempt;
  EXPECT_EQ(after.port().faults.at(0).id, kept.faults.at(0).id);
}

TEST(LostPorts, FunctionsThatComeAndGoUnderNewNamesAreForgotten) {
  Story run;
  const auto step = [&run](int function) {
    Snapshot snapshot = run.feed.tick();
    PortSample& sample = snapshot.ports["mlx5_" + std::to_string(function) + "/1"];
    PortId& id = sample.id;
    id.device = "mlx5_" + std::to_string(function);
    id.function = "sf";
    id.exempt = "subfunction of 0000:1b:00.0";
    sample.link.emplace().carrier = true;
    return run.engine.step(snapshot).report->ports.size();
  };
  std::size_t most = 0;
  for (int i = 0; i < 3600; ++i)
    most = std::max(most, step(10 + i / 6));  // a new one each minute, for ten hours
  EXPECT_LE(most, 65U) << "an hour of them";
  run.run(7200);
  EXPECT_EQ(run.report->ports.size(), 1U);
}

TEST(LostPorts, ACardThatIsNotThereAfterARebootIsMissed) {
  Story before;
  before.feed.key = "mlx5_5/1";
  before.run(600);
  const auto run_without_it = [&before](const ReferenceState& known) {
    Story after;
    after.engine.restore(known);
    after.feed = dark_after_reboot(before.feed);
    for (int i = 0; i < 100; ++i) {
      Snapshot snapshot = after.feed.tick();
      snapshot.ports.clear();
      if (i == 1)
        snapshot.events.push_back(
            {snapshot.taken_at, "mlx5_5/1", PortEventKind::kDeviceGone, "not on the PCI bus"});
      const Engine::Step step = after.engine.step(snapshot);
      after.report = step.report;
      for (const FaultEvent& event : step.events)
        after.events += event.fault.fault + ": " + event.fault.summary;
    }
    return after;
  };
  const Story missed = run_without_it(before.engine.references());
  EXPECT_THAT(missed.events, HasSubstr("nic_fault"));
  EXPECT_THAT(missed.events, HasSubstr("not on the PCI bus"));
  ASSERT_EQ(missed.report->ports.size(), 1U);
  EXPECT_EQ(missed.report->ports[0].port, "mlx5_5/1");
  EXPECT_EQ(missed.report->ports[0].latest.id.pci, "0000:1b:00.0");
  EXPECT_EQ(run_without_it({}).events, "") << "without references it is unknown";
}

TEST(LostPorts, AFaultOfAPortThatComesBackInTimeIsKept) {
  Story before(600);
  before.lose_light();
  before.run(400);
  ASSERT_EQ(before.engine.ledger_state().faults.size(), 1U);
  const std::string id = before.engine.ledger_state().faults[0].id;
  Story after = before.restarted();
  after.run(2000);
  EXPECT_EQ(after.events, "");
  ASSERT_EQ(after.port().faults.size(), 1U);
  EXPECT_EQ(after.report->ports[0].faults[0].id, id);
}

Maintenance work(const Story& run, double for_s) {
  Maintenance work;
  work.by = "ann";
  work.reason = "new jumper";
  work.since = run.report->at;
  if (for_s > 0) work.until = run.report->at + from_seconds(for_s);
  return work;
}

TEST(MaintenanceLog, HoldsWhatWasBegunAndWhenItWasOver) {
  Story run(60);
  ASSERT_TRUE(run.engine.begin_maintenance("mlx5_0/1", work(run, 600)));
  auto log = run.engine.ledger_state().maintenance_log;
  ASSERT_EQ(log.size(), 1U) << "also when it ends before the next look";
  EXPECT_FALSE(log[0].ended_at);
  run.run(300);
  ASSERT_TRUE(run.engine.end_maintenance("mlx5_0/1"));
  log = run.engine.ledger_state().maintenance_log;
  ASSERT_EQ(log.size(), 1U);
  EXPECT_EQ(log[0].ended_at, run.report->at);
  EXPECT_EQ(log[0].port, "0000:1b:00.0/1");
}

TEST(MaintenanceLog, AModuleIsLeftAloneForAsLongAsAnybodyWantsIt) {
  Story run(60);
  EXPECT_TRUE(modules_left(*run.report).empty());
  Maintenance firmware = work(run, 600);
  firmware.module_reads = false;
  ASSERT_TRUE(run.engine.begin_maintenance("mlx5_0/1", firmware));
  ASSERT_TRUE(run.engine.begin_maintenance(
      "", work(run, 3000)));  // lasts longer, and says nothing of modules
  run.run(10);
  EXPECT_EQ(modules_left(*run.report), std::set<PortKey>{"mlx5_0/1"});
  Story again = run.restarted();
  again.run(10);
  EXPECT_EQ(modules_left(*again.report), std::set<PortKey>{"mlx5_0/1"}) << "over a restart too";
  again.run(600);
  EXPECT_TRUE(modules_left(*again.report).empty());
}

TEST(MaintenanceLog, OneThatRunsOutEndsAtItsTime) {
  Story run(60);
  const Maintenance wanted = work(run, 95);
  ASSERT_TRUE(run.engine.begin_maintenance("", wanted));
  run.run(300);
  const auto log = run.engine.ledger_state().maintenance_log;
  ASSERT_EQ(log.size(), 1U);
  EXPECT_EQ(log[0].ended_at, wanted.until);
}

TEST(MaintenanceLog, ByFileAndOverARestartItIsOneEntry) {
  Story run(60);
  Maintenance file = work(run, 0);
  file.port = "mlx5_0";
  file.file = "/etc/linkhealth/maintenance/mlx5_0";
  run.engine.set_maintenance_files({file});
  run.run(60);
  Story again = run.restarted();
  again.run(10);  // the file is read a moment later
  again.engine.set_maintenance_files({file});
  again.run(60);
  auto log = again.engine.ledger_state().maintenance_log;
  ASSERT_EQ(log.size(), 1U);
  EXPECT_FALSE(log[0].ended_at);
  again.engine.set_maintenance_files({});
  again.run(10);
  log = again.engine.ledger_state().maintenance_log;
  ASSERT_EQ(log.size(), 1U);
  EXPECT_TRUE(log[0].ended_at);
}

TEST(MaintenanceLog, IsForgottenAfterASeason) {
  Story run(60);
  ASSERT_TRUE(run.engine.begin_maintenance("", work(run, 60)));
  run.run(300);
  run.feed.t += 91.0 * 86400;
  run.run(10);
  EXPECT_TRUE(run.engine.ledger_state().maintenance_log.empty());
}

/// Four ports on two rails, one of which is down.
TEST(Impact, OfARailIsTheShareOfWhatTheNodeShouldHaveOnIt) {
  std::map<PortKey, ExpectedPort> expected;
  for (int i = 0; i < 4; ++i)
    expected["mlx5_" + std::to_string(i) + "/1"] = at_400g(i < 2 ? "rail-a" : "rail-b");
  Node node(4, expected);
  node.run(1800);
  EXPECT_FALSE(node.report->ports[0].impact);
  node.change = [](std::size_t i, PortSample& port) {
    if (i == 0) port.link->carrier = false;
  };
  node.run(300);
  ASSERT_TRUE(node.report->ports[0].impact);
  EXPECT_EQ(node.report->ports[0].impact->rail, "rail-a");
  EXPECT_NEAR(node.report->ports[0].impact->share, 0.25, 1e-9);
  EXPECT_NEAR(node.report->ports[0].impact->rail_share.value_or(0), 0.5, 1e-9);
  EXPECT_FALSE(node.report->ports[1].impact);
}

}  // namespace
}  // namespace linkhealth
