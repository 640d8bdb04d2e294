// What the monitor cannot see: counters that stand still, sources that do not answer, drivers that
// have none.
#include <gmock/gmock.h>

#include "tests/daemon/engine/node_story.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;

/// Ports that count by themselves: what the feed counts is taken away.
struct Counting {
  std::vector<std::uint64_t> octets, bits;
  void apply(std::size_t i, PortSample& port, std::uint64_t more_octets, std::uint64_t more_bits) {
    octets.resize(std::max(octets.size(), i + 1), 1000);
    bits.resize(octets.size(), 1000);
    octets[i] += more_octets;
    bits[i] += more_bits;
    port.counters = Counters();
    port.counters->set("port_rcv_data", octets[i]);
    port.counters->set("port_xmit_data", octets[i]);
    port.counters->set("fec_corrected_bits", bits[i]);
    port.counters->set("fec_uncorrectable_blocks", 0);
  }
};
constexpr std::uint64_t kLoad = 60'000'000'000;  // four octets each, in 10 s: half of 400G

TEST(StandingStill, SinceTheFirstSampleIsSeenAmongItsLike) {
  for (const double period_s : {10.0, 60.0, 300.0}) {
    Node node(4);
    Counting counting;
    node.feed.period_s = period_s;
    const auto steps = static_cast<std::uint64_t>(period_s / 10);
    node.change = [&](std::size_t i, PortSample& port) {
      counting.apply(i, port, i == 2 ? 0 : kLoad * steps, i == 2 ? 0 : 40'000 * steps);
    };
    node.run(3600);
    EXPECT_EQ(node.port("mlx5_2/1")->health, Health::kUnknown) << period_s;
    ASSERT_EQ(node.events.size(), 1U) << period_s;
    EXPECT_EQ(node.events[0].fault.fault, "monitor_blind");
    EXPECT_EQ(node.port("mlx5_1/1")->health, Health::kHealthy);
  }
}

TEST(Coverage, AHealthyLinkNamesWhatWasNotRead) {
  Story story(600);
  ASSERT_EQ(story.port().health, Health::kHealthy);
  EXPECT_TRUE(story.port().partial.empty()) << "errors, FEC, light and events were read";
  Story blind;
  blind.feed.module_readable = false;
  blind.run(600);
  EXPECT_EQ(blind.port().partial, (std::vector<std::string>{"optics", "far_end"}));
  Story copper;
  copper.feed.module.kind = "dac";
  copper.feed.module.lanes.clear();
  copper.run(600);
  EXPECT_TRUE(copper.port().partial.empty()) << "copper has no light";
}

TEST(Coverage, WithoutFecCountersAFastLinkIsPartial) {
  Story story;
  story.feed.bits_per_s = 0;
  story.feed.counters = Counters();
  story.feed.counters.set("port_rcv_data", 1000);
  story.feed.counters.set("symbol_error", 0);
  story.run(600);
  EXPECT_THAT(story.port().partial, ::testing::Contains("fec"));
}

TEST(Coverage, ALinkThatJustWentDownHasChecksUntilItIsDiagnosed) {
  Story story(600);
  story.lose_light();
  story.run(10);
  ASSERT_TRUE(story.port().faults.empty());
  EXPECT_EQ(story.port().health, Health::kDown);
  ASSERT_EQ(story.port().checks.size(), 2U);
  EXPECT_THAT(story.port().checks[0], HasSubstr("here: no light received"));
  EXPECT_THAT(story.port().checks[1], HasSubstr("at the far end: "));
  story.run(600);
  ASSERT_FALSE(story.port().faults.empty());
  EXPECT_TRUE(story.port().checks.empty());
}

TEST(StandingStill, AQuietPortThatCountsBitsOrFramesIsNotBlind) {
  Node node(4);
  Counting counting;
  node.change = [&](std::size_t i, PortSample& port) {
    // One has no traffic but for a frame now and then; all links correct bits.
    counting.apply(i, port, i == 1 ? (node.feed.t > 600 ? 0 : 20) : kLoad, 40'000);
  };
  node.run(7200);
  EXPECT_TRUE(node.events.empty());
  EXPECT_EQ(node.port("mlx5_1/1")->health, Health::kHealthy);
}

TEST(StandingStill, ShortCopperThatNeedsNoCorrectionIsNotBlindWhereItsLikeCorrectFew) {
  Node node(4);
  Counting counting;
  node.change = [&](std::size_t i, PortSample& port) {
    counting.apply(i, port, kLoad, i == 1 ? 0 : 20);
  };
  node.run(7200);
  EXPECT_TRUE(node.events.empty());
}

TEST(CardThatDoesNotAnswer, IsAtFaultOnlyWhereItsCountersStop) {
  for (const bool stops : {false, true}) {
    Node node(3);
    Counting counting;
    double stop_at = 1e9;
    node.change = [&](std::size_t i, PortSample& port) {
      port.id.driver = "bnxt_en";
      if (i < 2) port.id.pci = "0000:28:00." + std::to_string(i);
      const bool still = i < 2 && node.feed.t > stop_at;
      counting.apply(i, port, still ? 0 : kLoad, still ? 0 : 40'000);
    };
    node.run(1800);
    if (stops) stop_at = node.feed.t;
    node.feed.events.push_back({steady_from_seconds(node.feed.t + 5), "mlx5_0/1",
                                PortEventKind::kKernelLog,
                                "bnxt_en 0000:28:00.0 ens2np0: Error (timeout: 5000) msg {0x23 "
                                "0x1b5c} len:0"});
    node.run(600);
    if (!stops) {
      EXPECT_TRUE(node.events.empty()) << "one command that failed, and the card works on";
      continue;
    }
    ASSERT_FALSE(node.events.empty());
    EXPECT_EQ(node.events[0].fault.fault, "nic_fault");
    EXPECT_NE(node.port("mlx5_0/1")->health, Health::kHealthy);
  }
}

TEST(CardThatDoesNotAnswer, TakesItsOtherFunctionAlong) {
  for (const bool stops : {false, true}) {
    Node node(3);
    Counting counting;
    double stop_at = 1e9;
    node.feed.be_infiniband();
    node.change = [&](std::size_t i, PortSample& port) {
      if (i < 2) port.id.pci = "0000:28:00." + std::to_string(i);
      const bool still = node.feed.t > stop_at && (i == 0 || (i == 1 && stops));
      counting.apply(i, port, still ? 0 : kLoad, still ? 0 : 40'000);
      port.counters->set("symbol_error", 0);
      port.counters->set("link_downed", 0);
    };
    node.run(1800);
    stop_at = node.feed.t;
    node.feed.events.push_back({steady_from_seconds(node.feed.t + 5), "mlx5_0/1",
                                PortEventKind::kKernelLog,
                                "mlx5_core 0000:28:00.0: device's health compromised - reached "
                                "miss count"});
    node.run(3000);
    const auto fault_of = [&](const char* port) {
      const auto& faults = node.port(port)->faults;
      return faults.empty() ? std::string() : faults[0].fault;
    };
    EXPECT_EQ(fault_of("mlx5_0/1"), "nic_fault")
        << "counters that stand still are no sign of life, though they are read";
    EXPECT_EQ(fault_of("mlx5_1/1"), stops ? "nic_fault" : "");
    EXPECT_EQ(fault_of("mlx5_2/1"), "");
  }
}

TEST(PartlyBlind, IsAPortWhoseFecHasNotAnsweredForAnHour) {
  Story story(1800);
  EXPECT_EQ(story.port().health, Health::kHealthy);
  story.feed.gaps.push_back({"mlx5_0/1", "fec", "ETIMEDOUT"});
  story.run(1800);
  EXPECT_EQ(story.port().health, Health::kHealthy) << "it may pass";
  story.run(2400);
  EXPECT_EQ(story.port().health, Health::kUnknown);
  EXPECT_THAT(story.port().note, HasSubstr("FEC mode and corrected errors (ETIMEDOUT)"));
  EXPECT_EQ(story.events, "");
  story.feed.gaps.clear();
  story.feed.gaps_ended.push_back({"mlx5_0/1", "fec", ""});
  story.run(60);
  EXPECT_EQ(story.port().health, Health::kHealthy);
}

TEST(PartlyBlind, IsNoPortWhoseDriverDoesNotHaveIt) {
  for (const char* why : {"EOPNOTSUPP: the driver does not offer it", "EPERM"}) {
    Story story;
    story.feed.gaps.push_back({"mlx5_0/1", "fec", why});
    story.run(7200);
    EXPECT_EQ(story.port().health, Health::kHealthy) << why;
  }
}

void lose_counters(PortSample& port, SourceState state, const char* why, double since) {
  port.counters.reset();
  port.sources = SourceMap{{SourceId::kCounters, {state, why, steady_from_seconds(since), {}}}};
}

/// rxe, ionic: no counters of the port, ever.
TEST(WithoutPortCounters, ALinkIsJudgedAllTheSame) {
  for (const auto& [state, why] :
       {std::pair{SourceState::kNotOffered, "EOPNOTSUPP: the driver does not offer it"},
        {SourceState::kFailing, "counters: ENOENT"}}) {
    Node node(1);
    bool dark = false;
    node.change = [&dark, state = state, why = why](std::size_t, PortSample& port) {
      lose_counters(port, state, why, 10);
      if (!dark) return;
      port.link->carrier = false;
      port.link->carrier_down_count = 1;
      for (ModuleLane& lane : port.module->lanes) lane.rx_power_mw = 0;
    };
    node.run(3600);
    EXPECT_TRUE(node.events.empty()) << why;
    EXPECT_EQ(node.port("mlx5_0/1")->health, Health::kUnknown)
        << why << ": of a link that is up nothing is counted at all";
    dark = true;
    node.run(900);
    EXPECT_EQ(node.port("mlx5_0/1")->health, Health::kDown) << why;
    ASSERT_FALSE(node.events.empty()) << why << ": a dead link has a fault";
    EXPECT_NE(node.events[0].fault.fault, "monitor_blind") << why;
  }
}

TEST(WithoutPortCounters, ThatWereThereThePortIsBlind) {
  Node node(1);
  bool there = true;
  node.change = [&there](std::size_t, PortSample& port) {
    if (!there) lose_counters(port, SourceState::kFailing, "EIO", 1810);
  };
  node.run(1800);
  there = false;
  node.run(1800);
  EXPECT_EQ(node.port("mlx5_0/1")->health, Health::kUnknown);
  ASSERT_FALSE(node.events.empty());
  EXPECT_EQ(node.events[0].fault.fault, "monitor_blind");
}

// ------------------------------------------------------------------------- virtual functions

/// The feed's ports are "pf": a node of one virtual function.
Node lent_node(const char* driver) {
  Node node(2);
  node.feed.module_readable = false;
  node.change = [driver](std::size_t, PortSample& port) {
    port.id.function = "vf";
    port.id.driver = driver;
  };
  return node;
}

TEST(VirtualFunction, WhoseLinkFallsIsTheProvidersMatter) {
  for (const char* driver : {"mlx5_core", "bnxt_en"}) {
    Node node = lent_node(driver);
    node.run(1800);
    EXPECT_EQ(node.port("mlx5_1/1")->health, Health::kHealthy);
    EXPECT_THAT(node.port("mlx5_1/1")->note, HasSubstr("provider"));
    auto before = node.change;
    node.change = [before](std::size_t i, PortSample& port) {
      before(i, port);
      if (i != 1) return;
      port.link->carrier = false;
      port.link->state = "DOWN";
      port.link->phys_state = "Polling";
      port.link->carrier_down_count = 1;
    };
    node.run(600);
    EXPECT_EQ(node.port("mlx5_1/1")->health, Health::kDown);
    ASSERT_EQ(node.port("mlx5_1/1")->faults.size(), 1U);
    const FaultReport& fault = node.port("mlx5_1/1")->faults[0];
    EXPECT_EQ(fault.fault, "provider_link");
    EXPECT_THAT(fault.repair.at(0), HasSubstr("open a case"));
    EXPECT_EQ(node.port("mlx5_0/1")->health, Health::kHealthy);
    EXPECT_EQ(node.events.size(), 1U);
  }
}

TEST(VirtualFunction, ThatItsAdministratorSetDownIsSetDown) {
  Node node = lent_node("mlx5_core");
  node.run(1800);
  node.feed.link.admin_up = false;
  node.feed.event(PortEventKind::kAdminDown, node.feed.t + 1);
  node.feed.pull(node.feed.t + 1.1);
  node.run(600);
  ASSERT_FALSE(node.port("mlx5_1/1")->faults.empty());
  EXPECT_EQ(node.port("mlx5_1/1")->faults[0].fault, "admin_down");
}

TEST(ExpectedPorts, OneThatCannotBeJudgedIsRefusedWithTheReason) {
  Node node(2, {{"mlx5_1/1", ExpectedPort{}}});
  std::vector<std::string> remarks;
  node.change = [](std::size_t i, PortSample& port) {
    if (i == 1) port.id.exempt = "virtual function of 0000:10:00.0";
  };
  for (int i = 0; i < 60; ++i) {
    const Engine::Step step = node.engine.step(node.tick());
    node.report = step.report;
    remarks.insert(remarks.end(), step.remarks.begin(), step.remarks.end());
  }
  ASSERT_EQ(remarks.size(), 1U) << "once";
  EXPECT_THAT(remarks[0], HasSubstr("cannot be monitored: virtual function of 0000:10:00.0"));
  EXPECT_TRUE(node.port("mlx5_1/1")->note.starts_with(kRefusedEntry));
}

}  // namespace
}  // namespace linkhealth
