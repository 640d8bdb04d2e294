// What the engine says of a node as a whole, of ports that never were there, and of what is to
// come.
#include <gmock/gmock.h>

#include "tests/daemon/engine/node_story.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;

ExpectedPort at_400g() {
  ExpectedPort expected;
  expected.speed_mbps = 400000;
  return expected;
}

TEST(ExpectedPorts, OneThatWasNeverThereIsAFindingAndClosesWhenItComes) {
  Node node(2, {{"mlx5_0/1", at_400g()}, {"mlx5_1/1", at_400g()}, {"mlx5_2/1", at_400g()}});
  node.run(120);
  EXPECT_TRUE(node.events.empty()) << "a driver that loads takes as long";
  ASSERT_NE(node.port("mlx5_2/1"), nullptr);
  EXPECT_EQ(node.port("mlx5_2/1")->health, Health::kUnknown) << "what is not there is not healthy";
  node.run(200);
  ASSERT_EQ(node.events.size(), 1U);
  EXPECT_EQ(node.events[0].port, "mlx5_2/1");
  EXPECT_EQ(node.events[0].fault.fault, "nic_fault");
  EXPECT_THAT(node.events[0].fault.summary, HasSubstr("never found"));
  EXPECT_EQ(node.port("mlx5_2/1")->health, Health::kDown);
  ASSERT_TRUE(node.report->impact);
  EXPECT_NEAR(node.report->impact->share, 1.0 / 3, 1e-9);
  node.count = 3;
  node.run(9000);
  EXPECT_EQ(node.report->ports.size(), 3U);
  EXPECT_EQ(node.port("mlx5_2/1")->health, Health::kHealthy);
  EXPECT_EQ(node.events.back().kind, FaultEventKind::kClosed);
  EXPECT_FALSE(node.report->impact);
}

TEST(ExpectedPorts, TheSummaryHasTheStateOfThePciBus) {
  Node node(2, {{"mlx5_0/1", at_400g()}, {"mlx5_1/1", at_400g()}, {"mlx5_2/1", at_400g()}});
  node.feed.gaps.push_back({"", "pci_bus", "0000:3b:00.0 is on the PCI bus without a driver"});
  node.run(400);
  ASSERT_EQ(node.events.size(), 1U);
  EXPECT_THAT(node.events[0].fault.summary,
              HasSubstr("never found: 0000:3b:00.0 is on the PCI bus without a driver"));
}

TEST(RdmaThatIsGone, LeavesItsPortUnknownThoughTheLinkIsUp) {
  Node node(2);
  node.run(600);
  EXPECT_EQ(node.port("mlx5_1/1")->health, Health::kHealthy);
  node.feed.gaps.push_back({"mlx5_1/1", "rdma_device", "the RDMA device is gone"});
  node.run(60);
  EXPECT_EQ(node.port("mlx5_1/1")->health, Health::kUnknown);
  EXPECT_EQ(node.port("mlx5_0/1")->health, Health::kHealthy);
  EXPECT_TRUE(node.events.empty()) << "no cable is to blame";
  node.feed.gaps.clear();
  node.feed.gaps_ended.push_back({"mlx5_1/1", "rdma_device", ""});
  node.run(60);
  EXPECT_EQ(node.port("mlx5_1/1")->health, Health::kHealthy);
}

TEST(ExpectedPorts, AnUnexpectedOneIsNotedWhereThereIsAPlan) {
  Node node(2, {{"mlx5_0/1", at_400g()}});
  node.run(600);
  EXPECT_TRUE(node.events.empty());
  EXPECT_EQ(node.port("mlx5_0/1")->note, "");
  EXPECT_THAT(node.port("mlx5_1/1")->note, HasSubstr("not in the configuration"));
  EXPECT_EQ(node.port("mlx5_1/1")->health, Health::kHealthy);
  Node without(2);
  without.run(600);
  EXPECT_EQ(without.port("mlx5_1/1")->note, "");
}

TEST(ExpectedPorts, AreMeantByAnyOfTheirNames) {
  ExpectedPort faster = at_400g();
  faster.speed_mbps = 800000;
  Node node(3, {{"0000:10:00.0", at_400g()}, {"0000:11:00.0/1", at_400g()}, {"mlx5_2", faster}});
  node.run(600);
  ASSERT_EQ(node.report->ports.size(), 3U) << "none is awaited beside itself";
  EXPECT_EQ(node.port("mlx5_0/1")->expected.speed_mbps, 400000U);
  EXPECT_EQ(node.port("mlx5_1/1")->expected.speed_mbps, 400000U);
  ASSERT_EQ(node.events.size(), 1U);
  EXPECT_EQ(node.events[0].port, "mlx5_2/1");
  EXPECT_EQ(node.events[0].fault.fault, "reduced_speed");
}

TEST(ExpectedPorts, OneOfAPciAddressThatComesLateIsTheSamePort) {
  Node node(
      2, {{"0000:10:00.0", at_400g()}, {"0000:11:00.0", at_400g()}, {"0000:12:00.0", at_400g()}});
  node.run(320);
  ASSERT_EQ(node.events.size(), 1U);
  EXPECT_EQ(node.events[0].port, "0000:12:00.0");
  node.count = 3;
  node.run(9000);
  EXPECT_EQ(node.report->ports.size(), 3U);
  EXPECT_EQ(node.port("mlx5_2/1")->health, Health::kHealthy);
  EXPECT_EQ(node.events.back().kind, FaultEventKind::kClosed);
}

TEST(ExpectedPorts, WithoutExpectationsNoneIsMissing) {
  Node node(2);
  node.run(1000);
  EXPECT_TRUE(node.events.empty());
  EXPECT_EQ(node.report->ports.size(), 2U);
}

TEST(ExpectedPorts, AnExemptOneIsNotAwaited) {
  EngineSettings settings = Story::settings({{"mlx5_9/1", at_400g()}});
  settings.exempt["mlx5_9/1"] = "spare";
  Node node(1);
  node.engine = Engine(settings);
  node.run(1000);
  EXPECT_TRUE(node.events.empty());
}

TEST(Impact, AFaultyPortPutsItsShareAtRiskAndADownOneLosesIt) {
  Node node(4);
  node.run(1800);
  EXPECT_FALSE(node.report->impact);
  node.change = [](std::size_t i, PortSample& port) {
    if (i == 0 && port.link) {
      port.link->carrier = false;
      port.link->state = "DOWN";
      port.link->phys_state = "Polling";
    }
  };
  node.run(200);
  ASSERT_TRUE(node.report->impact);
  EXPECT_EQ(node.report->impact->bandwidth_lost_mbps, 400000);
  EXPECT_NEAR(node.report->impact->share, 0.25, 1e-9);
  ASSERT_TRUE(node.port("mlx5_0/1")->impact);
  EXPECT_FALSE(node.port("mlx5_1/1")->impact);
}

TEST(CommonCause, ModulesThatGetHotTogetherAreOneFinding) {
  Node node(4);
  node.run(3600);
  node.feed.module.temperature_c = 76;
  node.run(1800);
  std::size_t opened = 0;
  for (const FaultEvent& event : node.events) opened += event.kind == FaultEventKind::kOpened;
  ASSERT_EQ(opened, 1U);
  EXPECT_EQ(node.events[0].fault.fault, "module_overheated");
  EXPECT_THAT(node.events[0].fault.summary, HasSubstr("4 modules"));
}

TEST(CommonCause, AHotRoomBelowTheAlarmIsNamedAndIsNoFault) {
  Node node(4);
  node.run(3600);
  node.feed.module.temperature_c = 71;
  node.run(1800);
  EXPECT_TRUE(node.events.empty());
  EXPECT_THAT(node.port("mlx5_1/1")->note,
              HasSubstr("4 modules of this node are hotter than usual"));
}

TEST(CommonCause, OneHotModuleIsItsOwn) {
  Node node(4);
  node.run(3600);
  node.change = [](std::size_t i, PortSample& port) {
    if (i == 2 && port.module) port.module->temperature_c = 76;
  };
  node.run(1800);
  ASSERT_EQ(node.events.size(), 1U);
  EXPECT_EQ(node.events[0].port, "mlx5_2/1");
  EXPECT_THAT(node.events[0].fault.summary, ::testing::Not(HasSubstr("modules of this node")));
}

TEST(CommonCause, AModuleThatDoesNotSendDoesNotShowTheRoomsTemperature) {
  for (const bool other_is_down : {false, true}) {
    Node node(2);
    node.change = [&](std::size_t i, PortSample& port) {
      if (i != 1) return;
      port.module->temperature_c = 50;
      if (!other_is_down) return;
      port.link->carrier = false;
      port.link->admin_up = false;
    };
    node.run(3600);
    node.feed.module.temperature_c = 62;
    node.run(1800);
    const PortReport& warm = *node.port("mlx5_0/1");
    EXPECT_EQ(warm.faults.empty(), other_is_down)
        << "below its warning; the other one is cold because it is off";
  }
}

TEST(Undecided, TwoNamesSideBySideComeWithTheCheapestTest) {
  Node node(1);
  node.feed.link.fec = "RS544";
  node.run(1800);
  node.feed.bits_per_s = 4e7;  // errors, and no module to say where
  node.feed.module.lanes.clear();
  node.run(600);
  ASSERT_FALSE(node.events.empty());
  const FaultReport& fault = node.report->ports[0].faults.at(0);
  for (const Candidate& other : fault.differential)
    if (other.fault != fault.fault || other.end != fault.end) {
      EXPECT_EQ(fault.undecided.has_value(),
                other.confidence >= 0.4 * fault.differential[0].confidence);
      break;
    }
  if (fault.undecided) {
    EXPECT_FALSE(fault.undecided->test.empty());
  }
}

TEST(Trends, FadingLightHasDaysLeftUntilTheModuleIsReplaced) {
  Node node(1);
  node.feed.period_s = 600;
  node.feed.module.thresholds.rx_power_mw.low_alarm = 0.1;  // -10 dBm
  const auto fade = [&node](double days) {
    for (double t = 0; t < days * 86400; t += 6000) {
      const double day = node.feed.t / 86400;
      node.feed.receive_mw(std::pow(10, (-7 - 0.05 * day + 0.05 * std::sin(6.2832 * day)) / 10));
      node.run(6000);
    }
  };
  fade(5);
  EXPECT_TRUE(node.report->ports[0].trends.empty());
  fade(10);
  ASSERT_EQ(node.report->ports[0].trends.size(), 1U);
  const Trend& trend = node.report->ports[0].trends[0];
  EXPECT_EQ(trend.what, "rx_power");
  EXPECT_NEAR(trend.per_day, -0.05, 0.01);
  EXPECT_NEAR(trend.days_left, 45, 10);
  EXPECT_LT(trend.days_left_low, trend.days_left);
  EXPECT_GT(trend.days_left_high, trend.days_left);
  // It survives a restart, and ends with the module.
  Node after(1);
  after.engine.restore(node.engine.references());
  after.feed = node.feed;
  after.run(1200);
  EXPECT_EQ(after.report->ports[0].trends.size(), 1U);
  after.change = [](std::size_t, PortSample& port) {
    if (port.module) port.module->serial = "NEW";
  };
  after.run(1200);
  EXPECT_TRUE(after.report->ports[0].trends.empty());
}

TEST(SharedSupply, IsOneFindingOfTheNodeAndNoModules) {
  Node node(4);
  double volts = 3.3;
  node.change = [&](std::size_t i, PortSample& port) {
    if (port.module) port.module->supply_v = i < 3 ? volts : 3.3;
  };
  node.run(900);
  volts = 3.05;
  node.run(600);
  EXPECT_TRUE(node.events.empty()) << "of ten minutes: a dip";
  volts = 3.3;
  node.run(600);
  EXPECT_TRUE(node.events.empty());
  volts = 3.05;
  node.run(1200);
  ASSERT_EQ(node.events.size(), 1U);
  EXPECT_EQ(node.events[0].fault.fault, "pcie_degraded");
  EXPECT_EQ(node.events[0].fault.end, End::kNode);
  EXPECT_THAT(node.events[0].fault.summary,
              HasSubstr("3 modules of this node lost supply voltage together (3.05 V"));
  volts = 3.3;
  node.run(6000);
  EXPECT_EQ(node.events.back().kind, FaultEventKind::kClosed);
}

TEST(SharedSupply, OneModuleAloneIsNot) {
  Node node(4);
  double volts = 3.3;
  node.change = [&](std::size_t i, PortSample& port) {
    if (port.module) port.module->supply_v = i == 0 ? volts : 3.3;
  };
  node.run(900);
  volts = 3.05;
  node.run(1200);
  EXPECT_TRUE(node.events.empty());
}

/// A cable that goes bad beside one that was never good: nothing began together, and no switch is
/// at fault.
TEST(Errors, OfALinkThatEverHadThemDidNotBeginWithAnothers) {
  ExpectedPort expected;
  expected.peer_system = "leaf-1";
  Node node(2, {{"mlx5_0/1", expected}, {"mlx5_1/1", expected}});
  node.feed.module.kind = "dac";
  node.feed.module.connector = "No separable connector";
  node.feed.module.lanes.clear();
  std::uint64_t first = 0, second = 0;
  double rate = 1.6e6;  // of 400G: 4e-6
  node.change = [&](std::size_t i, PortSample& port) {
    (i == 0 ? first : second) +=
        static_cast<std::uint64_t>((i == 0 ? rate : 5e6) * node.feed.period_s);
    port.counters->set("fec_corrected_bits", i == 0 ? first : second);
  };
  node.run(900);
  EXPECT_TRUE(node.events.empty());
  rate = 5.2e7;
  node.run(1800);
  ASSERT_EQ(node.events.size(), 1U);
  EXPECT_EQ(node.events.front().fault.fault, "faulty_cable");
}

TEST(ShutOut, APortThatNoSubnetManagerMakesActiveIsDownWithoutACablesFault) {
  for (const char* state : {"INIT", "ARMED"}) {
    Story run;
    run.feed.link_layer = "InfiniBand";
    run.feed.link.state = "ACTIVE";
    run.feed.link.phys_state = "LinkUp";
    run.run(600);
    ASSERT_EQ(run.port().health, Health::kHealthy);
    run.feed.link.state = state;
    run.run(60);
    EXPECT_EQ(run.port().health, Health::kHealthy) << "a sweep takes a moment";
    run.run(600);
    EXPECT_EQ(run.port().health, Health::kDown);
    EXPECT_THAT(run.port().note,
                HasSubstr(std::string(state) + ": the link is trained but no subnet manager"));
    ASSERT_TRUE(run.port().impact);
    EXPECT_EQ(run.port().impact->bandwidth_lost_mbps, 400000);
    EXPECT_EQ(run.events, "") << "no cable is to blame";
    run.feed.link.state = "ACTIVE";
    run.run(10);
    EXPECT_EQ(run.port().health, Health::kHealthy);
    EXPECT_EQ(run.port().note, "");
  }
}

TEST(Speed, TheExpectedSpeedIsTheMeasure) {
  ExpectedPort at_200g;
  at_200g.speed_mbps = 200000;
  Story run({{"mlx5_0/1", at_200g}});
  run.run(600);  // at 400G
  run.feed.link.speed_mbps = 200000;
  run.run(1200);
  EXPECT_EQ(run.events, "");
  run.feed.link.speed_mbps = 100000;
  run.run(1200);
  EXPECT_THAT(run.events, HasSubstr("reduced_speed"));
}

TEST(Speed, APortThatBecomesAnotherKindHasNoPast) {
  Story run;
  run.feed.link_layer = "InfiniBand";
  run.feed.link.phys_state = "LinkUp";
  run.feed.link.state = "ACTIVE";
  run.feed.module_readable = false;
  run.run(600);
  run.feed.link_layer = "Ethernet";
  run.feed.link.speed_mbps = 200000;
  run.run(1200);
  EXPECT_EQ(run.events, "");
}

TEST(ShutOut, EthernetHasNoSubnetManager) {
  Story run;
  run.feed.link.state = "INIT";  // iWARP without an address (linux: drivers/infiniband/hw/cxgb4)
  run.feed.link.phys_state = "LinkUp";
  run.run(1200);
  EXPECT_EQ(run.port().health, Health::kHealthy);
}

// A virtual function has its physical one's link: that they fall together says nothing of the
// switch.
TEST(ExemptPorts, AreNoOtherPortsThatFellToo) {
  Node node(2);
  node.change = [](std::size_t i, PortSample& sample) {
    if (i == 1) sample.id.exempt = "virtual function of 0000:10:00.0";
  };
  node.run(600);
  for (int i = 0; i < 5; ++i) {
    node.feed.pull(node.feed.t + 1);
    node.run(20);
    node.feed.plug(node.feed.t + 1);
    node.run(900);
  }
  node.feed.pull(node.feed.t + 1);
  node.run(600);
  ASSERT_FALSE(node.events.empty());
  for (const FaultEvent& event : node.events) EXPECT_NE(event.fault.fault, "far_switch_fault");
  EXPECT_EQ(node.port("mlx5_1/1")->health, Health::kExempt);
}

TEST(ExemptPorts, TheirCountersAreShownAndJudgeNothing) {
  Node node(1);
  node.change = [](std::size_t, PortSample& sample) { sample.id.exempt = "virtual NIC (efa)"; };
  node.run(600);
  for (int i = 0; i < 60; ++i) {
    node.feed.add("fec_uncorrectable_blocks", 1000);
    node.run(10);
  }
  EXPECT_TRUE(node.events.empty());
  EXPECT_EQ(node.port("mlx5_0/1")->latest.counters->get("fec_uncorrectable_blocks"), 60'003U);
  EXPECT_FALSE(node.port("mlx5_0/1")->figures.pre_fec_ber);
}

TEST(WrongCabling, OfTwoSwappedCablesNamesTheOtherPort) {
  ExpectedPort first, second;
  first.peer_system = second.peer_system = "leaf-1";
  first.peer_port = "Ethernet1";
  second.peer_port = "Ethernet2";
  Node node(2, {{"mlx5_0/1", first}, {"mlx5_1/1", second}});
  node.change = [](std::size_t i, PortSample& port) {
    PeerSample& peer = port.peer.emplace();
    peer.source = "lldp";
    peer.system = "leaf-1";
    peer.port = i == 0 ? "Ethernet2" : "Ethernet1";
  };
  node.run(1800);
  for (const auto& [key, other] : {std::pair("mlx5_0/1", "mlx5_1/1"), {"mlx5_1/1", "mlx5_0/1"}}) {
    ASSERT_FALSE(node.port(key)->faults.empty());
    EXPECT_EQ(node.port(key)->faults[0].fault, "wrong_cabling");
    EXPECT_THAT(node.port(key)->faults[0].summary,
                testing::HasSubstr(std::string("where the plan has ") + other));
  }
}

}  // namespace
}  // namespace linkhealth
