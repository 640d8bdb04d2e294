#include <gmock/gmock.h>

#include "base/text.h"
#include "exporters/text/explain_light.h"
#include "exporters/text/explain_repairs.h"
#include "exporters/text/text.h"
#include "exporters/text/text_layout.h"
#include "tests/support/golden.h"
#include "tests/support/report_builder.h"

namespace linkhealth {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

WallTime now() { return test::example_now(); }
ExplainView view(bool symptoms = false, bool physics = false) {
  return {.now = now(), .t = test::example_t(), .symptoms = symptoms, .physics = physics};
}
std::string explain(const PortReport& port, int width_columns = 100) {
  return explain_text(port, {.width_columns = width_columns}, view());
}
PortReport healthy() { return test::healthy_port("mlx5_0", "ens1np0", "0000:1b:00.0"); }

TEST(ExplainText, Golden) {
  const auto expect = [](const char* name, const std::string& text) {
    test::expect_golden(std::string("tests/golden/text/explain_") + name + ".txt", text);
  };
  expect("dirty", explain(test::dirty_port(), 110));
  expect("down", explain(test::down_port()));
  expect("blind", explain(test::blind_port()));
  expect("exempt", explain(test::exempt_port()));
  expect("healthy", explain(healthy()));
}

TEST(ExplainText, AsciiWithEverySymptom) {
  const std::string text =
      explain_text(test::dirty_port(), {.width_columns = 90, .ascii = true}, view(true));
  test::expect_golden("tests/golden/text/explain_dirty_ascii.txt", text);
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f));
}

TEST(ExplainText, FitsTheTerminal) {
  for (const int width : {60, 80, 100, 140}) {
    const std::string text = explain(test::dirty_port(), width);
    for (const auto line : split(text, '\n')) {
      const bool table = line.starts_with("  +") || line.starts_with("  -");
      const bool unbroken = table || line.starts_with("  Light");  // below 80 columns
      if (!line.starts_with("mlx5_3/1") && (width >= 80 || !unbroken)) {
        EXPECT_LE(display_width(line), static_cast<std::size_t>(width)) << line;
      }
    }
  }
}

TEST(ExplainText, DuringVerificationThereIsNothingToDo) {
  PortReport port = test::dirty_port();
  EXPECT_THAT(explain(port), HasSubstr("  Do this      1 "));
  port.faults[0].state = FaultState::kProving;
  EXPECT_THAT(explain(port), AllOf(HasSubstr("Do nothing meanwhile."),
                                   HasSubstr("  If it recurs 1 "), Not(HasSubstr("Do this"))));
}

TEST(ExplainText, VerificationShowsTheSymptomsAsPast) {
  PortReport port = test::dirty_port();
  port.faults[0].state = FaultState::kProving;
  port.faults[0].last_seen_at = now() - std::chrono::minutes(14);
  EXPECT_THAT(explain(port), HasSubstr("Last symptoms, 14 min ago"));
  EXPECT_THAT(explain(port), HasSubstr(": lane 2 receives"));
}

TEST(ExplainText, WhatNoLongerShowsIsToldAsPastBeforeItIsVerifiedToo) {
  PortReport port = test::dirty_port();
  port.faults[0].last_seen_at = now() - std::chrono::seconds(45);
  EXPECT_THAT(explain(port), HasSubstr("Last symptoms, 45 s ago"));
}

TEST(ExplainText, ATestThatIsAStepIsNotRepeated) {
  PortReport port = test::dirty_port();
  EXPECT_THAT(explain(port), HasSubstr("  Confirm "));
  port.faults[0].to_be_sure = port.faults[0].repair.at(1);
  EXPECT_THAT(explain(port), Not(HasSubstr("  Confirm ")));
}

TEST(ExplainText, TheMarginOfAnotherLaneSaysOfWhich) {
  PortReport port = test::dirty_port();
  port.figures.rx_power_lost_db = 4.4;
  port.figures.rx_power_lost_lane = 2;
  port.figures.worst_rx_lane = 2;
  EXPECT_THAT(explain(port), Not(HasSubstr("(lane 2) · 2 unplanned")));
  port.figures.worst_rx_lane = 4;
  EXPECT_THAT(explain(port), HasSubstr("(lane 4) · 2 unplanned"));
}

TEST(ExplainText, ThePlaceNamesTheLanesThatHaveTheFault) {
  PortReport port = test::dirty_port();
  FaultReport& fault = port.faults[0];
  EXPECT_THAT(explain(port), HasSubstr("on the fibre of lane 2 towards this node"));
  fault.fault = "damaged_fiber";
  EXPECT_THAT(explain(port), HasSubstr("Damaged fibre of lane 2 towards this node"));
  fault.lanes = {3, 2};
  EXPECT_THAT(explain(port), HasSubstr("Damaged fibre of lanes 2 and 3 towards this node"));
  fault.lanes.clear();
  EXPECT_THAT(explain(port), HasSubstr("Damaged fibre between the two ports"));
  fault.fault = "module_missing";
  fault.end = End::kLocal;
  EXPECT_THAT(explain(port), HasSubstr("Module missing at this node's end: 83%"));
  fault.fault = "loss_elsewhere";
  fault.end = End::kFabric;
  EXPECT_THAT(explain(port), HasSubstr("Loss elsewhere in the fabric: 83%"));
}

TEST(ExplainText, WhatIsRuledOutIsNotPossibleToo) {
  PortReport port = test::dirty_port();
  EXPECT_THAT(explain(port), HasSubstr("bad module (local) 2%"));
  port.faults[0].ruled_out[0].rules_out = "overheated module and bad module";
  EXPECT_THAT(explain(port), AllOf(HasSubstr("damaged fibre 11%"), Not(HasSubstr("bad module ("))));
}

TEST(ExplainText, AWeakLaserShowsWhatItSends) {
  PortReport port = test::dirty_port();
  EXPECT_THAT(explain(port), Not(HasSubstr("▶ far Rx")));
  port.figures.tx_power_lost_db = 9.2;
  port.figures.far_rx_power_lost_db = 9.3;
  port.latest.module->lanes[2].tx_power_mw = 0.224;
  port.latest.peer->module.emplace();
  port.latest.peer->module->lanes.resize(4);
  port.latest.peer->module->lanes[2].rx_power_mw = 0.174;
  EXPECT_THAT(explain(port), HasSubstr("Tx -6.5 (9.2 dB below baseline) ━━━━▶ far Rx -7.6 (9.3 dB "
                                       "below baseline) (lane 3)"));
}

TEST(ExplainText, NoLightHasNoMarginAndAnUnreadLinkNoSpeed) {
  PortReport port = test::dirty_port();
  EXPECT_THAT(explain(port), HasSubstr("Rx margin"));
  port.figures.worst_rx_power_dbm = -40;
  EXPECT_THAT(explain(port), Not(HasSubstr("Rx margin")));
  port.health = Health::kUnknown;
  port.gaps = {{port.port, "link", "EPERM"}};
  EXPECT_THAT(explain(port),
              AllOf(HasSubstr("the link state cannot be read"), Not(HasSubstr("400G RS544 ·"))));
}

TEST(ExplainText, WeightsOfTheEvidenceOnRequest) {
  EXPECT_THAT(explain_text(test::dirty_port(), {}, view(true)),
              HasSubstr("\n  Dirty connector against damaged fibre  log-odds  odds\n"
                        "  + far Rx low                              +2.94  19 to 1\n"
                        "  - light and errors combined               -1.20  1 to 3.3\n"
                        "  + all others                              +0.02  1.0 to 1\n"
                        "  = total                                   +1.76  5.8 to 1\n"));
  EXPECT_THAT(explain(test::dirty_port()), Not(HasSubstr("log-odds")));
}

TEST(ExplainText, TheLastCarrierLossHasItsTime) {
  PortReport port = healthy();
  EXPECT_THAT(explain(port), Not(HasSubstr("the last")));
  port.figures.last_involuntary_down_at = now() - std::chrono::hours(50);
  EXPECT_THAT(explain(port, 200),
              HasSubstr("0 unplanned carrier losses in 24 h, the last 2 d ago ("));
}

TEST(ExplainText, ALinkThatIsDownWithoutAFault) {
  PortReport port = test::down_port();
  port.faults.clear();
  EXPECT_THAT(explain(port), HasSubstr("Link down for 3 h; cause not determined yet.\n"));
}

TEST(ExplainText, ALinkThatJustWentDownHasChecksForBothEnds) {
  PortReport port = test::down_port();
  port.faults.clear();
  port.checks = {"here: check that the fibre is plugged in", "at leaf-14: check the port"};
  const std::string text = explain(port);
  EXPECT_THAT(text, HasSubstr("\n  Check        1 here: check that the fibre is plugged in\n"
                              "               2 at leaf-14: check the port\n"));
}

TEST(ExplainText, DownSinceTheCarrierLossAndDiagnosedLater) {
  PortReport port = test::down_port();
  port.faults.front().opened_at = now() - std::chrono::minutes(130);
  EXPECT_THAT(explain(port),
              HasSubstr("down for 3 h, since 2026-11-20 08:50:00Z; diagnosed 2 h ago"));
}

TEST(ExplainText, RuledOutIsWhatWasSeenAndWhichFaultItRulesOut) {
  const std::string text = explain(test::dirty_port(), 110);
  EXPECT_THAT(text, HasSubstr("  Ruled out by          observed  limit  fault\n"
                              "  - module temperature  51 °C     < 70   overheated module\n"));
}

TEST(ExplainText, ThePartialVerdictNamesWhatWasNotRead) {
  PortReport port = healthy();
  EXPECT_THAT(explain(port), AllOf(HasSubstr("● healthy, link up"), Not(HasSubstr("partial"))));
  port.partial = {"errors", "fec", "optics", "far_end"};
  EXPECT_THAT(explain(port), HasSubstr("\n  Coverage     partial: no error counters, no FEC, no "
                                       "optics, no far end\n"));
}

TEST(ExplainText, OneLossIsOneNumber) {
  PortReport port = test::dirty_port();
  EXPECT_THAT(explain(port),
              HasSubstr("far Tx +0.4 ━━━━ 6.0 dB below baseline ━━━━▶ Rx -9.1 (lane 2)"));
  port.figures.rx_power_lost_db.reset();
  EXPECT_THAT(explain(port), HasSubstr("━━━━ path loss 9.5 dB ━━━━▶")) << "no baseline";
  port.figures.rx_power_lost_db = 3;
  port.figures.rx_power_lost_lane = 4;
  EXPECT_THAT(explain(port), HasSubstr("3.0 dB below baseline ━━━━▶ Rx -0.8 (lane 4)"))
      << "the lane that lost most, though another receives less";
}

TEST(ExplainText, NoReadingFromBeforeTheLossIsShownAsNow) {
  PortReport port = test::down_port();
  EXPECT_THAT(explain(port), HasSubstr("Rx no light")) << "read since";
  port.latest.peer->module.emplace();
  port.latest.peer->module->lanes.resize(4);
  for (ModuleLane& lane : port.latest.peer->module->lanes) lane.tx_power_mw = 1;
  port.latest.peer->module_age_s = 60;
  EXPECT_THAT(explain(port), HasSubstr("far Tx +0.0"));
  port.latest.peer->module_age_s = 4 * 3600;
  EXPECT_THAT(explain(port), HasSubstr("far Tx unknown"));
  port.figures.worst_rx_power_dbm.reset();
  EXPECT_THAT(explain(port), AllOf(HasSubstr("  Light dBm    not read since the link went down\n"),
                                   Not(HasSubstr("Lanes Rx"))));
}

TEST(ExplainText, ASecondFaultIsListed) {
  PortReport port = test::dirty_port();
  port.faults.push_back(test::down_port().faults.front());
  EXPECT_THAT(explain(port), HasSubstr("Also         far port down (leaf-12 Ethernet20/1) 91%"));
}

TEST(ExplainText, AnImportedModuleReadingHasItsAge) {
  PortReport port = test::dirty_port();
  EXPECT_THAT(explain(port), Not(HasSubstr("imported")));
  port.latest.module->imported_at = now() - std::chrono::seconds(40);
  test::expect_golden("tests/golden/text/explain_imported.txt", explain(port, 110));
  EXPECT_THAT(explain_text(port, {}, view(false, true)), HasSubstr("imported"));
  port.latest.module->present = false;
  EXPECT_THAT(explain(port), HasSubstr("  Module       imported reading of 40 s ago ("));
}

/// The line "Far end" of `explain`.
std::string far_end_line(const PeerSample& peer, const std::string& name) {
  PortReport port = test::example_report().ports.front();
  port.peer = name;
  port.latest.peer = peer;
  const std::string text = explain(port, 150);
  const auto begin = text.find("Far end");
  return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

TEST(ExplainText, TheFarEndHasItsSourcesAndTheirAge) {
  PeerSample peer;
  peer.source = "lldp";
  peer.age_s = 12;
  peer.description = "to gpu-0417";
  peer.address = "10.0.0.12";
  peer.module_source = "telemetry";
  peer.module_age_s = 40;
  EXPECT_EQ(far_end_line(peer, "leaf-12 Ethernet17/1"),
            "Far end      leaf-12 Ethernet17/1, from LLDP, 12 s ago · \"to gpu-0417\" · managed at "
            "10.0.0.12 · module: telemetry, 40 s ago");
  peer = PeerSample{};
  peer.source = "lldp";
  peer.link_source = peer.counters_source = "telemetry";
  peer.link_age_s = peer.counters_age_s = 2;
  EXPECT_EQ(far_end_line(peer, "leaf-12"),
            "Far end      leaf-12, from LLDP · link and counters: telemetry, 2.0 s ago");
  peer.link_source = "fleet";
  EXPECT_EQ(far_end_line(peer, "leaf-12"),
            "Far end      leaf-12, from LLDP · link: fleet, 2.0 s ago · counters: telemetry, 2.0 s "
            "ago");
  PeerSample planned;
  planned.source = "plan";
  EXPECT_EQ(far_end_line(planned, "leaf-12"), "Far end      leaf-12, from the plan, not confirmed");
  EXPECT_EQ(far_end_line(PeerSample{}, "leaf-12"), "") << "an older recording names no source";
}

PortReport with_budget() {
  PortReport port = test::dirty_port();
  port.figures.rx_power_lost_db = 8.1;
  port.figures.far_tx_power_lost_db = 0.1;
  port.figures.pre_fec_ber_limit = 2.4e-4;
  return port;
}

TEST(Physics, BothDirections) {
  test::expect_golden("tests/golden/text/physics_dirty.txt", physics_text(with_budget(), {}));
  for (const char c : physics_text(with_budget(), {.ascii = true}))
    EXPECT_LT(static_cast<unsigned char>(c), 0x80);
}

TEST(Physics, WithoutTheFarEndThereIsNoLoss) {
  PortReport port = with_budget();
  port.latest.peer.reset();
  EXPECT_THAT(physics_text(port, {}),
              AllOf(HasSubstr("far Tx  unreadable"), Not(HasSubstr("loss"))));
  EXPECT_THAT(explain(port), HasSubstr("far Tx unknown"));
}

TEST(Physics, DarkAndCopper) {
  PortReport port = with_budget();
  for (ModuleLane& lane : port.latest.module->lanes) lane.rx_power_mw = 0;
  EXPECT_THAT(physics_text(port, {}), HasSubstr("no light"));
  port.latest.module->kind = "dac";
  port.latest.module->lanes.clear();
  EXPECT_THAT(physics_text(port, {}), HasSubstr("copper has no light"));
  EXPECT_THAT(explain(port), Not(HasSubstr("Light dBm")));
}

TEST(Physics, ErrorRatioAgainstTheLimitOfFec) {
  PortReport port = with_budget();
  port.figures.pre_fec_ber = 4.8e-4;
  EXPECT_THAT(physics_text(port, {}), HasSubstr("RS544 corrects up to 2.4e-04, 2 times less"));
  port.figures.pre_fec_ber.reset();
  EXPECT_THAT(physics_text(port, {}), HasSubstr("Pre-FEC BER  unreadable"));
}

TEST(RepairRows, WhatWasTriedAndTheOutcome) {
  FaultReport fault = test::dirty_port().faults.front();
  EXPECT_TRUE(repair_rows(fault, now()).empty());
  RepairRecord repair;
  repair.action = RepairAction::kFibreReseated;
  repair.at = now() - std::chrono::minutes(40);
  repair.outcome = RepairOutcome::kFailed;
  repair.rx_lane = 2;
  repair.rx_power_before_dbm = -9.1;
  repair.rx_power_after_dbm = -8.5;
  repair.pre_fec_ber_before = 3.4e-5;
  repair.pre_fec_ber_after = 2e-5;
  RepairRecord replaced;
  replaced.action = RepairAction::kModuleReplaced;
  replaced.at = now() - std::chrono::hours(2);
  replaced.serial_before = "A1";
  replaced.serial_after = "B2";
  fault.repairs = {repair, replaced};
  fault.proof = FaultProof{now() - std::chrono::minutes(12), 7200, 1e-15};
  fault.past = {3, 1, 0, now() - std::chrono::hours(24 * 12)};
  using Row = std::pair<std::string, std::string>;
  EXPECT_THAT(
      repair_rows(fault, now()),
      ::testing::ElementsAre(
          Row("Tried",
              "fibre reseated 40 min ago: Rx lane 2 -9.1 to -8.5 dBm, pre-FEC BER 3.4e-05 to "
              "2.0e-05; did not help"),
          Row("", "module replaced 2 h ago: A1 to B2"),
          Row("Verifying",
              "12 min of 2 h without a symptom, carrier loss or uncorrectable block; then the BER "
              "after FEC is below 1e-15 (95% confidence)"),
          Row("Earlier",
              "3 times on this port, 1 time with this module; the last closed 12 d ago")));
  PortReport port = test::dirty_port();
  port.faults.front() = fault;
  EXPECT_THAT(explain(port), HasSubstr("Tried        fibre reseated"));
}

TEST(ExplainText, WhatIsRuledOutWrapsIfItDoesNotFit) {
  PortReport port = test::dirty_port();
  Evidence warm;
  warm.text = "module temperature above its baseline and the room's rise";
  warm.observed = -0.235;
  warm.threshold = 11;
  warm.op = "<";
  warm.unit = "C";
  warm.supports = false;
  warm.rules_out = "failing transmitter in this module and bad module at this end";
  port.faults[0].ruled_out = {warm};
  for (const int width : {80, 100, 200}) {
    const std::string text = explain_text(port, {.colour = false, .width_columns = width}, {});
    for (const std::string_view line : split(text, '\n'))
      EXPECT_LE(static_cast<int>(display_width(line)), width) << line;
    EXPECT_EQ(text.find("  limit  fault") == std::string::npos, width < 200) << text;
    EXPECT_THAT(text, HasSubstr("bad module"));
  }
}

}  // namespace
}  // namespace linkhealth
