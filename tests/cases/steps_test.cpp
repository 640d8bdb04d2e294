// Steps that fit the cause, and evidence that was misread: trainings that end badly, notifications
// that the card makes itself, the driver's words, telemetry that is repeated.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/cases/cases.h"
#include "tests/daemon/engine/node_story.h"

namespace linkhealth::cases {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const FaultReport& first_fault(const PortReport& port) {
  static const FaultReport kNone;
  return port.faults.empty() ? kNone : port.faults.front();
}

// ------------------------------------------------------------------------ how the link trained

constexpr const char* kBounce = "bounce the port once so that the link retrains";

TEST(CaseTraining, ThatEndsWithTwentyThousandTimesTheErrorsIsBouncedAndAccusesNoPart) {
  const auto seen = replay(fixture("link-comes-back-with-worse-errors") / "retrain2e-6.jsonl.gz");
  const auto opened = seen.opened("mlx5_0/1");
  ASSERT_EQ(opened.size(), 1U);
  const FaultReport& fault = opened.front()->fault;
  EXPECT_EQ(fault.fault, "bad_training");
  EXPECT_EQ(fault.severity, Severity::kWarning);
  ASSERT_FALSE(fault.repair.empty());
  EXPECT_THAT(fault.repair.front(), StartsWith(kBounce));
  EXPECT_THAT(fault.repair, Each(Not(HasSubstr("replace"))));
  EXPECT_THAT(fault.summary, HasSubstr("after the link loss at 2026-11-20T08:59:56Z (8 s)"));
}

TEST(CaseTraining, ThatEndsWithAHundredTimesTheErrorsIsToldAsANotice) {
  const auto seen = replay(fixture("link-comes-back-with-worse-errors") / "retrain1e-8.jsonl.gz");
  const FaultReport& fault = first_fault(seen.port("mlx5_0/1"));
  EXPECT_EQ(fault.fault, "bad_training");
  EXPECT_EQ(fault.severity, Severity::kNotice);
  EXPECT_EQ(seen.port("mlx5_0/1").health, Health::kHealthy);
  EXPECT_THAT(fault.summary, HasSubstr("-fold after the link loss at 2026-11-20T08:59:56Z"));
}

/// A link with a past of 1e-9 that falls for some seconds.
struct Trained : Story {
  explicit Trained(double period_s = 10) {
    feed.period_s = period_s;
    feed.bits_per_s = 400;
    run(7200);
  }
  void train(double down_s, double bits_per_s) {
    pull();
    feed.t += std::floor(down_s / feed.period_s) * feed.period_s;
    run(feed.period_s);
    plug();
    feed.bits_per_s = bits_per_s;
  }
  std::string name() const { return first_fault(port()).fault; }
};

TEST(Training, OfAnotherModuleIsNotComparedWithTheOneBefore) {
  for (const bool is_other : {true, false}) {
    Trained story;
    story.pull();
    story.run(30);
    if (is_other) story.feed.module.serial = "OTHER";
    story.run(30);
    story.plug();
    story.feed.bits_per_s = 2e4;  // 50 times the errors, at the same light
    story.run(3600);
    EXPECT_EQ(story.name() == "bad_training", !is_other) << story.events;
  }
}

TEST(Training, ThatEndsWorseIsToldAtEveryCadence) {
  for (const double period_s : {10.0, 60.0, 240.0})
    for (const double bits_per_s : {4e4, 2e5, 8e6}) {
      Trained story(period_s);
      story.train(0, bits_per_s);
      story.run(3600);
      EXPECT_EQ(story.name(), "bad_training") << period_s << " s, " << bits_per_s;
      // Of a link that is down for 240 s more may be said before.
      EXPECT_THAT(story.events, testing::EndsWith("opened:bad_training "));
    }
}

TEST(Training, ThatEndsAsBeforeOrHardlyWorseIsNoFault) {
  for (const double bits_per_s : {400.0, 2000.0, 8000.0}) {
    Trained story;
    story.train(0, bits_per_s);
    story.run(7200);
    EXPECT_EQ(story.events, "") << bits_per_s;
  }
}

TEST(Training, IsNotBlamedForDirtThatCameWithTheFall) {
  Trained story;
  story.feed.receive_mw(0.25);
  story.train(0, 2e6);
  story.run(3600);
  EXPECT_THAT(story.events, Not(HasSubstr("bad_training")));
  EXPECT_NE(story.name(), "");
}

TEST(Training, IsNotBlamedForErrorsThatRoseLaterOrBefore) {
  Trained later;
  later.train(0, 400);
  later.run(1200);
  later.feed.bits_per_s = 2e6;
  later.run(1800);
  EXPECT_THAT(later.events, Not(HasSubstr("bad_training")));
  Trained before;
  before.feed.bits_per_s = 2e6;
  before.run(600);
  before.train(0, 4e6);
  before.run(1800);
  EXPECT_THAT(before.events, Not(HasSubstr("bad_training")));
}

TEST(Training, IsNotBlamedAfterAFibreWasMatedAgain) {
  Trained story;
  double share = 0.88;
  for (ModuleLane& lane : story.feed.module.lanes) lane.rx_power_mw = 0.8 * (share += 0.06);
  story.train(180, 2e6);
  story.run(3600);
  EXPECT_THAT(story.events, Not(HasSubstr("bad_training")));
}

TEST(Training, ThatTheNextOneCuresHealsAndTwoThatEndAlikePointAtAPart) {
  Trained cured;
  cured.train(0, 2e6);
  cured.run(1200);
  cured.set_down();
  cured.run(20);
  cured.set_up();
  cured.feed.bits_per_s = 400;
  cured.run(9000);
  EXPECT_EQ(cured.events.substr(0, 20), "opened:bad_training ");
  EXPECT_THAT(cured.events, AllOf(HasSubstr("proving:bad_training"), Not(HasSubstr("bad_module")),
                                  Not(HasSubstr("dirty_connector"))));
  Trained alike;
  alike.train(0, 2e6);
  alike.run(1200);
  alike.set_down();
  alike.run(20);
  alike.set_up();
  alike.run(3600);
  EXPECT_THAT(alike.name(), AllOf(Not("bad_training"), Not("")));
}

// --------------------------------------------------------- notifications that the card makes
// itself

TEST(CaseTimeouts, ThatRaiseHandledNotificationsGetTheSameVerdictWithAndWithoutThem) {
  for (const char* name : {"cnp600", "nocnp600"}) {
    const auto seen = replay(fixture("requester-timeouts-raise-rp-cnp-handled") /
                             (std::string(name) + ".jsonl.gz"));
    const FaultReport& fault = first_fault(seen.port("mlx5_0/1"));
    EXPECT_EQ(fault.fault, "loss_elsewhere") << name;
    ASSERT_TRUE(fault.undecided) << name;
    EXPECT_NE(fault.undecided->test, "") << name;
    EXPECT_THAT(fault.summary, Not(HasSubstr("is fine"))) << name;
    EXPECT_THAT(fault.repair, Each(Not(HasSubstr("not touch")))) << name;
    for (const FaultEvent& event : seen.events) EXPECT_NE(event.fault.fault, "congestion") << name;
  }
}

/// An hour with load, and per second so many of each counter.
Story loaded(const std::vector<std::pair<const char*, double>>& per_s, double hours = 1) {
  Story story;
  for (const auto& row : per_s) story.feed.counters.set(row.first, 0);
  for (double t = 0; t < hours * 3600; t += 10) {
    story.feed.add("port_xmit_data", 20'000'000'000);
    for (const auto& [name, rate] : per_s)
      story.feed.add(name, static_cast<std::uint64_t>(rate * 10));
    story.run(10);
  }
  return story;
}

TEST(HandledNotifications, OfTimeoutsAloneAreNoCongestion) {
  const Story counted = loaded({{"rp_cnp_handled", 4000},
                                {"roce_slow_restart_cnps", 4000},
                                {"local_ack_timeout_err", 2000}});
  EXPECT_THAT(counted.events, Not(HasSubstr("congestion")));
  EXPECT_THAT(counted.events, HasSubstr("opened:loss_elsewhere"));
  const Story uncounted = loaded({{"rp_cnp_handled", 250}, {"local_ack_timeout_err", 240}});
  EXPECT_THAT(uncounted.events, Not(HasSubstr("congestion")));
}

TEST(HandledNotifications, FarMoreThanTimeoutsAreCongestion) {
  const Story sender = loaded(
      {{"rp_cnp_handled", 9000}, {"roce_slow_restart_cnps", 30}, {"local_ack_timeout_err", 30}});
  EXPECT_THAT(sender.events, HasSubstr("opened:congestion"));
  EXPECT_THAT(first_fault(sender.port()).repair.front(), StartsWith("do not touch the cable"));
  const Story marked =
      loaded({{"np_cnp_sent", 3000}, {"rp_cnp_handled", 3000}, {"local_ack_timeout_err", 2000}});
  EXPECT_THAT(marked.events, HasSubstr("opened:congestion"));
}

TEST(AHost, ThatOnlySendsPauseIsNotSaidToDrop) {
  const Story story = loaded({{"tx_global_pause", 900}, {"out_of_buffer", 0}});
  const FaultReport& fault = first_fault(story.port());
  ASSERT_EQ(fault.fault, "host_bottleneck");
  EXPECT_THAT(fault.summary, Not(HasSubstr("drops")));
}

// ------------------------------------------------------------------------ steps that fit the cause

const FaultReport& powerless(const Replayed& seen) { return first_fault(seen.port("mlx5_0/1")); }

TEST(CasePower, ThatTheCageDoesNotGiveIsNoDirtAndNoBrokenPart) {
  const auto seen = replay(fixture("module-power-budget-exceeded") / "recording.jsonl.gz");
  const FaultReport& fault = powerless(seen);
  ASSERT_FALSE(fault.repair.empty());
  EXPECT_THAT(fault.repair.front(), HasSubstr("power class"));
  EXPECT_THAT(fault.repair, Each(AllOf(Not(HasSubstr("clean")), Not(HasSubstr("fibre")),
                                       Not(HasSubstr("reset")))));
  EXPECT_THAT(fault.to_be_sure, HasSubstr("power class"));
  EXPECT_THAT(fault.summary, HasSubstr("needs more power"));
  const auto& impact = seen.port("mlx5_0/1").impact;
  ASSERT_TRUE(impact) << "the dead link costs what it carried with the module before";
  EXPECT_EQ(impact->bandwidth_lost_mbps, 400000);
}

TEST(Power, ThatIsTooLittleIsKnownByTheDriversOfOtherCards) {
  Story story(1800);
  story.pull();
  story.log("ice 0000:1b:00.0: The module's power requirements exceed the device's power supply");
  story.run(600);
  EXPECT_THAT(first_fault(story.port()).repair, Contains(HasSubstr("power class")));
}

TEST(CasePcie, ALostLaneIsReseatedAndNoMatterOfFans) {
  const Tree tree("one-of-eight-1x-since-boot");
  const auto fault = port_of(tree.report(), "mlx5_6/1")["faults"][0];
  EXPECT_EQ(fault["fault"], "pcie_degraded");
  EXPECT_THAT(fault["repair"][0].get<std::string>(), HasSubstr("reseat"));
  EXPECT_FALSE(contains(fault["repair"].dump(), "fans"));
}

TEST(Pcie, OfACardThatIsHotIsAMatterOfFans) {
  Story story(1800);
  story.log("mlx5_core 0000:1b:00.0: High temperature on sensors with bit set 0 1");
  story.run(60);
  ASSERT_EQ(first_fault(story.port()).fault, "pcie_degraded");
  EXPECT_THAT(first_fault(story.port()).repair.front(), HasSubstr("fans"));
}

TEST(CaseInfiniBand, ADisabledPortIsEnabledWhereNoIpLinkCan) {
  const Tree tree("connectx3-vpi-two-ports");
  const auto fault = port_of(tree.report(), "mlx4_0/1")["faults"][0];
  EXPECT_THAT(fault["repair"][0].get<std::string>(), HasSubstr("ibportstate"));
  EXPECT_FALSE(contains(fault.dump(), "ip link"));
}

TEST(AnEthernetPort, ThatWasSetDownComesBackByIpLink) {
  Story story(600);
  story.set_down();
  story.run(60);
  ASSERT_EQ(first_fault(story.port()).fault, "admin_down");
  EXPECT_THAT(first_fault(story.port()).repair, Each(HasSubstr("ip link")));
}

TEST(InfiniBand, IsNeverAdvisedToReadAModuleByEthtool) {
  Story story;
  story.feed.be_infiniband();
  story.feed.module_readable = false;
  story.run(1800);
  story.feed.bits_per_s = 8e7;
  story.run(1800);
  const FaultReport& fault = first_fault(story.port());
  ASSERT_NE(fault.fault, "");
  ASSERT_FALSE(fault.missing.empty());
  for (const auto& missing : fault.missing)
    EXPECT_THAT(missing.how, Not(HasSubstr("ethtool"))) << missing.symptom;
}

TEST(Impact, OfADeadLinkStaysWhenItsModuleOrItsCardIsSwapped) {
  Story story(1800);
  story.pull();
  story.feed.module.serial = "B2";
  story.feed.receive_mw(0);
  story.run(900);
  ASSERT_TRUE(story.port().impact);
  EXPECT_EQ(story.port().impact->bandwidth_lost_mbps, 400000);
}

// ----------------------------------------------------------------------------- the driver's words

constexpr const char* kBusStuck =
    "mlx5_core 0000:1b:00.0: Port module event[error]: module 0, Cable error, Bus stuck (I2C or "
    "data shorted)";

TEST(TheDriversWords, CountWhileTheLinkCarries) {
  Story story(1800);
  story.feed.module_readable = false;
  story.feed.gaps.push_back({story.feed.key, "module", "EIO"});
  story.log(kBusStuck);
  story.run(1200);
  EXPECT_EQ(first_fault(story.port()).fault, "bad_module");
}

TEST(TheDriversWords, AreRefutedByAModuleThatIsReadSince) {
  Story story(1800);
  story.log(kBusStuck);
  story.run(1800);
  EXPECT_EQ(story.events, "");
}

TEST(TheDriversWords, CountOnThePortThatSharesTheModule) {
  Node node(2);
  node.change = [](std::size_t, PortSample& port) {
    if (port.module) port.module->serial = "shared";
  };
  node.run(1800);
  node.feed.module_readable = false;
  for (const char* port : {"mlx5_0/1", "mlx5_1/1"})
    node.feed.gaps.push_back({port, "module", "EIO"});
  node.feed.events.push_back(
      {steady_from_seconds(node.feed.t + 1), "mlx5_0/1", PortEventKind::kKernelLog, kBusStuck});
  node.run(1200);
  EXPECT_EQ(first_fault(*node.port("mlx5_0/1")).fault, "bad_module");
  EXPECT_EQ(first_fault(*node.port("mlx5_1/1")).fault, "bad_module");
}

TEST(ANewModule, OfAnotherKindIsNamedWhileTheLinkIsDown) {
  Story story;
  story.feed.module.type = "400G-DR4";
  story.run(1800);
  story.pull();
  story.feed.module.type = "400G-SR4.2";
  story.feed.module.serial = "B2";
  story.run(900);
  const FaultReport& fault = first_fault(story.port());
  EXPECT_EQ(fault.fault, "module_unsupported");
  EXPECT_THAT(fault.summary, HasSubstr("module type 400G-SR4.2, previously 400G-DR4"));
  EXPECT_THAT(fault.repair, Each(Not(HasSubstr("clean"))));
}

TEST(ANewModule, OfTheSameKindIsNot) {
  Story story;
  story.feed.module.type = "400G-DR4";
  story.run(1800);
  story.pull();
  story.feed.module.serial = "B2";
  story.run(900);
  EXPECT_NE(first_fault(story.port()).fault, "module_unsupported");
}

TEST(FecMode, ThatIsAnotherOneSinceTheFallIsSettings) {
  Story story(1800);
  story.pull();
  story.feed.link.fec = "LLRS";
  story.run(900);
  const FaultReport& fault = first_fault(story.port());
  EXPECT_EQ(fault.fault, "settings_mismatch");
  EXPECT_THAT(fault.summary, HasSubstr("FEC mode changed from RS544 to LLRS"));
}

TEST(FecMode, ThatStaysOrIsNotKnownIsNot) {
  for (const char* mode : {"RS544", "", "Off"}) {
    Story story(1800);
    story.pull();
    story.feed.link.fec = mode;
    story.run(900);
    EXPECT_NE(first_fault(story.port()).fault, "settings_mismatch") << mode;
  }
}

TEST(FecMode, ThatCorrectsLessMakesNoErrorsOfALinkThatHasThoseOfBefore) {
  for (const double times : {1.0, 20.0}) {
    Story story(0);
    story.feed.receive_mw(0.4);     // little light, and enough for RS544
    story.feed.bits_per_s = 4.2e5;  // 1e-6 of 425 Gb/s
    story.run(7200);
    story.pull();
    story.run(20);
    story.feed.link.fec = "LLRS";
    story.plug();
    story.feed.bits_per_s *= times;
    story.run(3600);
    EXPECT_EQ(story.port().faults.empty(), times < 2) << first_fault(story.port()).summary;
    const ReferenceState kept = story.engine.references();
    if (times > 2) continue;
    story.engine = Engine(Story::settings());
    story.engine.restore(kept);
    story.run(1800);
    EXPECT_TRUE(story.port().faults.empty()) << "after a restart";
  }
}

TEST(FecMode, UnlikeThatOfItsSiblingsIsSettings) {
  Node node(4);
  node.change = [](std::size_t i, PortSample& port) {
    if (port.module) port.module->type = "200G-FR4";
    if (i != 2) return;
    port.link->carrier = false;
    port.link->state = "DOWN";
    port.link->fec = "RS528";
    port.counters->set("link_down_events_phy", 2);  // it had a link
  };
  node.run(900);
  const PortReport* const port = node.port("mlx5_2/1");
  ASSERT_NE(port, nullptr);
  EXPECT_EQ(first_fault(*port).fault, "settings_mismatch");
}

// -------------------------------------------------------------------------- telemetry of the far
// end

/// Readings of the far end every `every_s`, each of them repeated with each snapshot.
struct Telemetry : Story {
  double every_s;
  double age_step_s;  ///< the ages' resolution; 0: no ages at all
  double errors_per_s = 0;
  Telemetry(double every, double age_step) : every_s(every), age_step_s(age_step) {
    step_for(1200);
  }
  void step_for(double seconds) {
    for (const double end = feed.t + seconds; feed.t < end;) {
      Snapshot snapshot = feed.tick();
      const double read_s = std::floor(feed.t / every_s) * every_s;
      PeerSample& peer = snapshot.ports[feed.key].peer.emplace();
      peer.source = "telemetry";
      peer.system = "leaf-9";
      peer.port = "Ethernet4";
      peer.counters.emplace().set(
          "symbol_error", static_cast<std::uint64_t>(std::max(0.0, read_s - 1200) * errors_per_s));
      if (age_step_s > 0) peer.age_s = std::floor((feed.t - read_s) / age_step_s) * age_step_s;
      const Engine::Step step = engine.step(snapshot);
      report = step.report;
    }
  }
};

TEST(Telemetry, ThatIsRepeatedIsOneReading) {
  for (const double every_s : {60.0, 300.0})
    for (const double age_step_s : {0.001, 1.0, 0.0}) {
      Telemetry story(every_s, age_step_s);
      story.feed.period_s = 9.7;
      story.errors_per_s = 0.5;
      story.step_for(5400);
      EXPECT_THAT(story.port().symptoms,
                  Contains(AllOf(testing::Field(&SymptomVerdict::symptom, "far_errors"),
                                 testing::Field(&SymptomVerdict::verdict, "present"))))
          << every_s << " s, ages to " << age_step_s << " s";
    }
}

TEST(Telemetry, WithoutErrorsOrWithOneBurstShowsNone) {
  Telemetry story(60, 1);
  story.step_for(3600);
  story.errors_per_s = 1;
  story.step_for(60);
  story.errors_per_s = 0;
  story.step_for(1200);
  EXPECT_THAT(story.port().symptoms,
              Not(Contains(AllOf(testing::Field(&SymptomVerdict::symptom, "far_errors"),
                                 testing::Field(&SymptomVerdict::verdict, "present")))));
}

}  // namespace
}  // namespace linkhealth::cases
