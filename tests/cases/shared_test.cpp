// What ports of one node share: the cable, the card, the switch, the node.
#include "tests/cases/rails.h"

namespace linkhealth::cases {
namespace {

// ------------------------------------------------------------------------------- the cases

TEST(CaseShared, ASocketDirectCableHasTwoFunctionsAndIsHealthy) {
  const Tree tree("socket-direct-one-cable-two-functions");
  const auto report = tree.report();
  for (const auto& port : report["ports"]) EXPECT_EQ(port["health"], "healthy") << port["port"];
  EXPECT_TRUE(contains(port_of(report, "mlx5_0/1").value("note", ""), "mlx5_1/1"));
  EXPECT_TRUE(contains(port_of(report, "mlx5_3/1").value("note", ""), "mlx5_2/1"));
}

TEST(CaseShared, ASocketDirectCableThatIsPulledIsOneFault) {
  const Replayed run = replay(fixture("socket-direct-cable-pulled") / "recording.jsonl.gz");
  EXPECT_EQ(run.events.size(), 1U);
  ASSERT_EQ(run.port("mlx5_0/1").faults.size(), 1U);
  ASSERT_EQ(run.port("mlx5_1/1").faults.size(), 1U);
  const FaultReport& fault = run.port("mlx5_0/1").faults[0];
  EXPECT_EQ(fault.id, run.port("mlx5_1/1").faults[0].id);
  EXPECT_EQ(fault.ports, (std::vector<PortKey>{"mlx5_0/1", "mlx5_1/1"}));
  EXPECT_NE(fault.fault, "far_switch_fault");
  EXPECT_FALSE(contains(all_text(fault), "same switch")) << all_text(fault);
  EXPECT_NEAR(run.report->impact->share, 0.5, 1e-9) << "one of two cables";
}

TEST(CaseShared, AnOrdinaryPortThatFallsAloneIsItsOwnMatter) {
  const Replayed run = replay(fixture("control-one-ib-port-falls") / "recording.jsonl.gz");
  EXPECT_EQ(run.events.size(), 1U);
  EXPECT_TRUE(run.port("mlx5_0/1").faults.at(0).ports.empty());
  EXPECT_TRUE(run.port("mlx5_1/1").faults.empty());
}

TEST(CaseShared, AllRailsThatFallAtOnceAreOneMatterOfThisNode) {
  const Replayed run =
      replay(fixture("eight-rails-fall-at-once-own-leaves") / "recording.jsonl.gz");
  EXPECT_EQ(run.events.size(), 1U);
  const FaultReport& fault = run.port("mlx5_0/1").faults.at(0);
  EXPECT_EQ(fault.ports.size(), 8U);
  EXPECT_EQ(fault.fault, "nic_fault");
  EXPECT_TRUE(contains(fault.repair.at(0), "check this node first")) << fault.repair.at(0);
  for (const PortReport& port : run.report->ports) {
    ASSERT_EQ(port.faults.size(), 1U) << port.port;
    EXPECT_EQ(port.faults[0].id, fault.id);
    EXPECT_EQ(port.health, Health::kDown);
  }
}

TEST(CaseShared, FourPlanesOfOneModuleAreOneMatter) {
  const Replayed run = replay(fixture("four-planes-of-one-card-go-dark") / "planes_all.jsonl.gz");
  EXPECT_EQ(run.events.size(), 1U);
  const FaultReport& fault = run.port("mlx5_0/3").faults.at(0);
  EXPECT_EQ(fault.ports.size(), 4U);
  EXPECT_NE(fault.fault, "far_port_down");
  EXPECT_FALSE(contains(fault.repair.at(0), "Do not touch")) << fault.repair.at(0);
  EXPECT_EQ(run.port("mlx5_0/12").faults.at(0).id, fault.id);
  EXPECT_TRUE(run.port("mlx5_1/3").faults.empty());
}

TEST(CaseShared, OneOfEightAtOneLaneIsReducedSpeed) {
  const Tree tree("one-of-eight-1x-since-boot");
  const auto report = tree.report();
  EXPECT_EQ(port_of(report, "mlx5_3/1")["faults"][0]["fault"], "reduced_speed");
  EXPECT_EQ(port_of(report, "mlx5_3/1")["faults"][0]["severity"], "warning");
  EXPECT_EQ(port_of(report, "mlx5_6/1")["faults"][0]["fault"], "pcie_degraded");
  EXPECT_EQ(port_of(report, "mlx5_2/1")["health"], "healthy");
}

// ------------------------------------------------------------------------- one cable, one link

/// mlx5_0 and mlx5_1 are one card, mlx5_2 and mlx5_3 another.
struct SocketDirect : Rails {
  explicit SocketDirect(double period_s = 10) : Rails(4, period_s) {
    more = [](std::size_t i, PortSample& port) {
      port.id.sys_image_guid = "b859:9f03:000b:0" + std::to_string(i / 2) + "00";
    };
  }
};

TEST(OneCable, IsJudgedAndCountedOnceAtEveryCadence) {
  for (const double period_s : {10.0, 60.0, 300.0}) {
    SocketDirect node(period_s);
    node.run(6000);
    node.fall({2, 3}, 3000);
    EXPECT_EQ(node.opened(), 1U) << period_s;
    EXPECT_EQ(node.fault("mlx5_2/1").ports, (std::vector<PortKey>{"mlx5_2/1", "mlx5_3/1"}));
    EXPECT_NEAR(node.report->impact->share, 0.5, 1e-9);
    EXPECT_NE(node.fault("mlx5_2/1").fault, "far_switch_fault");
    EXPECT_FALSE(contains(all_text(node.fault("mlx5_2/1")), "switch that")) << period_s;
    // It comes back: one fault proves itself and closes, under both.
    node.fall({}, 600);
    EXPECT_EQ(node.fault("mlx5_3/1").state, FaultState::kProving);
    node.run(12000);
    EXPECT_TRUE(node.port("mlx5_2/1")->faults.empty());
    EXPECT_EQ(node.opened(), 1U);
  }
}

TEST(OneCable, IsNotAssumedOfCardsThatOmniPathGivesOneGuid) {
  SocketDirect node;
  node.more = [](std::size_t, PortSample& port) {
    port.id.driver = "hfi1";
    port.id.sys_image_guid = "0011:7501:0101:0000";
  };
  node.run(1200);
  EXPECT_EQ(node.port("mlx5_1/1")->note, "");
  node.fall({1});
  EXPECT_TRUE(node.fault("mlx5_1/1").ports.empty());
  EXPECT_EQ(node.fault("mlx5_0/1").id, "");
}

TEST(OneCable, AcknowledgedOnEitherFunction) {
  SocketDirect node;
  node.run(1200);
  node.fall({0, 1});
  ASSERT_TRUE(node.engine.acknowledge("mlx5_1/1", "ann", "", std::nullopt));
  node.run(20);
  EXPECT_EQ(node.fault("mlx5_0/1").state, FaultState::kAcknowledged);
  EXPECT_EQ(node.fault("mlx5_1/1").state, FaultState::kAcknowledged);
}

TEST(OneCable, OneFunctionThatIsSetDownIsNotTheCable) {
  SocketDirect node;
  const auto one_card = node.more;
  bool off = false;
  node.more = [&](std::size_t i, PortSample& port) {
    one_card(i, port);
    if (off && i == 1) {
      port.link->carrier = false;
      port.link->state = "DOWN";
      port.link->phys_state = "Disabled";
    }
  };
  node.run(1200);
  off = true;
  node.run(900);
  EXPECT_EQ(node.fault("mlx5_1/1").fault, "admin_down");
  EXPECT_EQ(node.port("mlx5_0/1")->health, Health::kHealthy);
}

// ---------------------------------------------------------------------- module, card, node, leaf

TEST(OneCard, BothPortsThatFallAreOneMatter) {
  for (const bool known : {false, true}) {
    Rails node(6);
    if (known) node.leaf = {"leaf-1", "leaf-2"};
    node.more = [](std::size_t i, PortSample& port) {
      port.id.pci = "0000:" + std::to_string(10 + i / 2) + ":00." + std::to_string(i % 2);
    };
    node.run(3600);
    node.fall({2, 3});
    EXPECT_EQ(node.opened(), 1U) << known;
    const FaultReport& fault = node.fault("mlx5_2/1");
    EXPECT_EQ(fault.ports, (std::vector<PortKey>{"mlx5_2/1", "mlx5_3/1"}));
    EXPECT_TRUE(contains(fault.summary, "of one card")) << fault.summary;
    EXPECT_FALSE(contains(all_text(fault), "same switch")) << all_text(fault);
  }
}

TEST(ThisNode, OrASwitchThatIsNotKnownWhenAllFall) {
  Rails node(4, 60);
  node.run(3600);
  node.fall({0, 1, 2, 3}, 1200);
  EXPECT_EQ(node.opened(), 1U);
  const FaultReport& fault = node.fault("mlx5_0/1");
  EXPECT_EQ(fault.ports.size(), 4U);
  EXPECT_TRUE(contains(fault.summary, "this node or an unknown switch")) << fault.summary;
  EXPECT_FALSE(contains(all_text(fault), "same switch")) << all_text(fault);
  EXPECT_FALSE(contains(all_text(fault), "Do not touch")) << all_text(fault);
}

TEST(ThisNode, IsNotAccusedOfTwoFallsAnHourApart) {
  Rails node(4);
  node.leaf = {"leaf-1", "leaf-2", "leaf-3", "leaf-4"};
  node.run(3600);
  node.fall({0}, 3600);
  node.fall({0, 1});
  EXPECT_EQ(node.opened(), 2U);
  EXPECT_NE(node.fault("mlx5_1/1").fault, "nic_fault");
  EXPECT_TRUE(node.fault("mlx5_1/1").ports.empty());
}

/// mlx5_2 and mlx5_3, functions of one card, fall `apart_s` seconds apart, as events say.
struct FellApart : Rails {
  FellApart(double apart_s, double period_s) : Rails(6, period_s) {
    more = [](std::size_t i, PortSample& port) {
      port.id.pci = "0000:" + std::to_string(10 + i / 2) + ":00." + std::to_string(i % 2);
    };
    run(3600);
    for (const auto& [port, at_s] : {std::pair("mlx5_2/1", 1.0), {"mlx5_3/1", 1.0 + apart_s}})
      feed.events.push_back(
          {steady_from_seconds(feed.t + at_s), port, PortEventKind::kCarrierDown, ""});
    fall({2, 3});
  }
};

TEST(OneMoment, IsAsShortAsItsEventsSay) {
  for (const double period_s : {30.0, 60.0}) {
    FellApart chance(20, period_s);
    EXPECT_EQ(chance.opened(), 2U) << period_s;
    EXPECT_TRUE(chance.fault("mlx5_2/1").ports.empty());
    FellApart card(3, period_s);
    EXPECT_EQ(card.opened(), 1U) << period_s;
    EXPECT_EQ(card.fault("mlx5_2/1").ports.size(), 2U);
  }
}

TEST(OneTrunk, TakesAllLightAndThisNodeDoesNot) {
  for (const bool dark : {true, false}) {
    Rails node(4);
    node.feed.module_readable = true;
    node.leaf = {"leaf-1", "leaf-2", "leaf-3", "leaf-4"};
    node.more = [&](std::size_t i, PortSample& port) {
      if (!port.module || !node.fallen.contains(i)) return;
      for (ModuleLane& lane : port.module->lanes) {
        if (dark) lane.rx_power_mw = 0.0;
        if (!dark) lane.tx_power_mw = 0.0;
      }
    };
    node.run(3600);
    node.fall({0, 1, 2, 3});
    EXPECT_EQ(node.opened(), 1U) << dark;
    const FaultReport& fault = node.fault("mlx5_0/1");
    EXPECT_EQ(fault.fault, dark ? "damaged_fiber" : "nic_fault");
    EXPECT_EQ(contains(all_text(fault), "trunk"), dark) << all_text(fault);
    EXPECT_EQ(fault.ports.size(), 4U);
  }
}

TEST(OneLeaf, ThatTakesItsPortsDownIsOneFault) {
  Rails node(8);
  node.leaf = {"leaf-1", "leaf-2"};
  node.run(3600);
  node.fall({0, 2, 4, 6});
  EXPECT_EQ(node.opened(), 1U);
  EXPECT_EQ(node.fault("mlx5_0/1").fault, "far_switch_fault");
  EXPECT_EQ(node.fault("mlx5_6/1").ports.size(), 4U);
  EXPECT_TRUE(node.port("mlx5_1/1")->faults.empty());
}

TEST(OneLeaf, WithoutACommonModeAndWithLightIsSettings) {
  for (const char* substate : {"No HCD", "FEC mismatch during override"}) {
    Rails node(4);
    node.feed.module_readable = true;
    node.leaf = {"leaf-1"};
    node.reason = DownReason{"Autoneg", substate};
    node.run(3600);
    node.fall({0, 1, 2, 3});
    EXPECT_EQ(node.opened(), 1U) << substate;
    EXPECT_EQ(node.fault("mlx5_0/1").fault, "settings_mismatch") << substate;
    EXPECT_EQ(node.fault("mlx5_0/1").ports.size(), 4U);
  }
}

TEST(ThisNode, IsWhatStoppedTransmittingOnAllPortsToOneSwitch) {
  for (const bool off : {true, false}) {
    Rails node(3);
    node.feed.module_readable = true;
    node.leaf = {"leaf-1"};
    node.more = [&](std::size_t i, PortSample& port) {
      if (port.module && off && node.fallen.contains(i))
        for (ModuleLane& lane : port.module->lanes) lane.tx_power_mw = 0.0001;
    };
    node.run(3600);
    node.fall({0, 1, 2});
    EXPECT_EQ(node.opened(), 1U) << off;
    for (const char* key : {"mlx5_0/1", "mlx5_2/1"})  // each port's steps name its own far end
      for (const std::string& step : node.fault(key).repair)
        EXPECT_FALSE(contains(step, "leaf-1 ") && !contains(step, node.port(key)->peer)) << step;
    EXPECT_EQ(node.fault("mlx5_0/1").fault, off ? "nic_fault" : "far_switch_fault");
    EXPECT_EQ(node.fault("mlx5_2/1").ports.size(), 3U) << off;
  }
}

TEST(ThisNode, IsNotAccusedWhereOneEndSaysThatTheTwoDoNotAgree) {
  for (const std::size_t says : {2, 3}) {  // a cable between two ports of this node
    Rails node(4);
    node.feed.module_readable = true;
    node.more = [&](std::size_t i, PortSample& port) {
      if (i == says && node.fallen.contains(i))
        port.link->down_reason = DownReason{"Autoneg", "FEC mismatch during override"};
    };
    node.run(3600);
    node.fall({2, 3}, 300);
    EXPECT_EQ(node.opened(), 1U) << says;
    EXPECT_EQ(node.fault("mlx5_2/1").fault, "settings_mismatch") << says;
    EXPECT_TRUE(contains(node.events.at(0).fault.summary, "FEC mismatch during override"));
    EXPECT_EQ(node.fault("mlx5_2/1").ports.size(), 2U);
  }
}

TEST(SharedFault, SurvivesARestartWithItsPorts) {
  Rails node(4);
  node.leaf = {"leaf-1", "leaf-2", "leaf-3", "leaf-4"};
  node.run(3600);
  node.fall({0, 1, 2, 3});
  const std::string id = node.fault("mlx5_0/1").id;
  const LedgerState kept = node.engine.ledger_state();
  const ReferenceState references = node.engine.references();
  node.engine = Engine(Story::settings({}));
  node.engine.restore(kept);
  node.engine.restore(references);
  node.events.clear();
  node.run(1800);
  EXPECT_EQ(node.opened(), 0U);
  for (const char* key : {"mlx5_0/1", "mlx5_3/1"}) {
    EXPECT_EQ(node.fault(key).id, id) << key;
    EXPECT_EQ(node.port(key)->faults.size(), 1U);
  }
}

TEST(SharedFault, EndsWhereALinkCameBackAndStaysWhereItDidNot) {
  Rails node(4);
  node.leaf = {"leaf-1", "leaf-2", "leaf-3", "leaf-4"};
  node.run(3600);
  node.fall({0, 1, 2, 3});
  node.fall({3}, 600);
  EXPECT_EQ(node.port("mlx5_1/1")->faults.at(0).state, FaultState::kProving);
  EXPECT_TRUE(node.fault("mlx5_3/1").ports.empty()) << "its own matter now";
  EXPECT_EQ(node.port("mlx5_3/1")->health, Health::kDown);
}

TEST(TheSupply, ThatDipsLongAfterLinksFellIsNotWhyTheyAreDown) {
  for (const bool long_after : {true, false}) {
    Rails node(4);
    node.feed.module_readable = true;
    node.leaf = {"leaf-1"};
    double volts = 3.3;
    node.more = [&](std::size_t, PortSample& port) {
      if (port.module) port.module->supply_v = volts;
    };
    node.run(3600);
    if (!long_after) volts = 3.0;
    node.fall({0, 1, 2}, 1800);
    volts = 3.0;
    node.run(300);
    EXPECT_EQ(node.fault("mlx5_0/1").fault == "pcie_degraded", !long_after)
        << node.fault("mlx5_0/1").fault;
  }
}

// ------------------------------------------------------------------------- siblings

TEST(Siblings, ALaneThatOthersHaveIsMissedAndAnotherSpeedIsNot) {
  struct Row {
    std::uint32_t lanes, speed;
    const char* fault;
    Severity severity;
  };
  for (const Row& row : {Row{1, 100000, "reduced_speed", Severity::kWarning},
                         Row{2, 200000, "reduced_speed", Severity::kNotice},
                         Row{4, 200000, "", Severity::kWarning}}) {
    Rails node(4);
    node.more = [&](std::size_t i, PortSample& port) {
      if (i != 2) return;
      port.link->lanes = row.lanes;
      port.link->speed_mbps = row.speed;
    };
    node.run(1200);
    EXPECT_EQ(node.fault("mlx5_2/1").fault, row.fault) << row.lanes;
    EXPECT_EQ(node.fault("mlx5_2/1").severity, row.severity) << row.lanes;
    EXPECT_TRUE(node.port("mlx5_0/1")->faults.empty());
  }
}

TEST(Siblings, OfAnotherCardTypeAreNoMeasure) {
  Rails node(4);
  node.more = [](std::size_t i, PortSample& port) {
    if (i == 2)
      port.id.board_id = "MT_0000000222", port.link->lanes = 1, port.link->speed_mbps = 100000;
  };
  node.run(1200);
  EXPECT_TRUE(node.port("mlx5_2/1")->faults.empty());
}

TEST(Siblings, TheOneThatNeverHadALinkIsTold) {
  Rails node(8);
  node.fall({3}, 1800);
  EXPECT_EQ(node.port("mlx5_3/1")->health, Health::kDown);
  EXPECT_NE(node.fault("mlx5_3/1").fault, "");
  EXPECT_TRUE(contains(node.port("mlx5_3/1")->note, "never linked"));
}

TEST(Siblings, OfWhichTheDriverSeesNoCableIsUnused) {
  for (const char* reason : {"No cable", "Autoneg"}) {
    Rails node(8);
    node.more = [&](std::size_t i, PortSample& port) {
      if (i != 3) return;
      port.link->down_reason = DownReason{reason, ""};
      port.counters->set("link_downed", 2);  // of a cable that was there once
    };
    node.fall({3}, 1800);
    const bool empty = std::string_view(reason) == "No cable";
    EXPECT_EQ(node.port("mlx5_3/1")->health, empty ? Health::kExempt : Health::kDown) << reason;
  }
}

TEST(Siblings, OfTwoUnusedPortsNoneIsMissed) {
  Rails two(8), cards(8), set_down(8);
  two.fall({3, 4}, 1800);
  EXPECT_EQ(two.port("mlx5_3/1")->exempt, "unused (never linked)");
  cards.more = [](std::size_t i, PortSample& port) {  // the second port of a card
    port.id.pci = "0000:" + std::to_string(10 + i / 2) + ":00." + std::to_string(i % 2);
  };
  cards.fall({7}, 1800);
  EXPECT_EQ(cards.port("mlx5_7/1")->health, Health::kExempt);
  set_down.more = [](std::size_t i, PortSample& port) {
    if (i == 3) port.link->phys_state = "Disabled";
  };
  set_down.fall({3}, 1800);
  EXPECT_EQ(set_down.port("mlx5_3/1")->health, Health::kExempt);
}

}  // namespace
}  // namespace linkhealth::cases
