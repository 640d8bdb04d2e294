#include <gmock/gmock.h>

#include "base/text.h"
#include "exporters/text/text.h"
#include "exporters/text/text_layout.h"
#include "tests/support/golden.h"
#include "tests/support/report_builder.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

StatusView live() { return {.now = test::example_now(), .watching = std::chrono::hours(24 * 12)}; }
std::string status(const Report& report, int width_columns, const StatusView& view = live()) {
  return status_text(report, {.width_columns = width_columns}, view);
}

TEST(StatusText, Golden) {
  const Report report = test::example_report();
  const auto expect = [&](const char* name, const TextStyle& style) {
    test::expect_golden(std::string("tests/golden/text/status_") + name + ".txt",
                        status_text(report, style, live()));
  };
  expect("150", {.width_columns = 150});
  expect("100", {.width_columns = 100});
  expect("colour", {.colour = true});
  expect("ascii", {.ascii = true});
  for (const char c : status_text(report, {.ascii = true}, live()))
    EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f));
}

TEST(StatusText, ProblemsOnlyStillCountsAllPorts) {
  StatusView view = live();
  view.problems_only = true;
  EXPECT_THAT(
      status(test::example_report(), 150, view),
      AllOf(HasSubstr("5 ports: 1 healthy"), Not(HasSubstr("mlx5_0/1")), HasSubstr("mlx5_3/1")));
  EXPECT_EQ(count_problems(test::example_report()), 3U);
}

TEST(StatusText, NoProblemAndNoPort) {
  StatusView problems;
  problems.problems_only = true;
  Report report = test::example_report();
  report.ports.resize(1);
  EXPECT_THAT(status(report, 100, problems), HasSubstr("No port needs attention."));
  report.ports.clear();
  EXPECT_THAT(status(report, 100, {}), HasSubstr("No port found."));
}

TEST(StatusText, NoLineIsWiderThanTheTerminalAndNothingIsCut) {
  for (const int width : {60, 80, 100, 120, 150, 200}) {
    const std::string text = status(test::example_report(), width);
    EXPECT_THAT(text, HasSubstr("APC)\n")) << width;
    for (const auto line : split(text, '\n'))
      EXPECT_LE(display_width(line), static_cast<std::size_t>(width)) << line;
  }
}

TEST(StatusText, ANoteOnTheWholeNodeStandsOnce) {
  Report report;
  report.node = "n1";
  for (const char* name : {"mlx5_0/1", "mlx5_1/1"}) {
    PortReport& port = report.ports.emplace_back();
    port.port = name;
    port.health = Health::kHealthy;
    port.note = "2 modules of this node are hotter than usual";
  }
  const std::string text = status_text(report, {}, {});
  EXPECT_THAT(text, HasSubstr("healthy: 2 modules of this node"));
  EXPECT_THAT(text, HasSubstr("healthy: see mlx5_0/1"));
}

TEST(StatusText, APartialVerdictSaysSo) {
  Report report = test::example_report();
  report.ports.resize(1);
  EXPECT_THAT(status(report, 150), AllOf(HasSubstr("● healthy\n"), Not(HasSubstr("partial"))));
  report.ports[0].partial = {"optics", "far_end"};
  EXPECT_THAT(status(report, 150), HasSubstr("● healthy (partial: no optics, no far end)\n"));
  EXPECT_THAT(status(report, 150), HasSubstr("1 healthy (1 partial)"));
  FaultReport slow;
  slow.fault = "host_bottleneck";
  slow.confidence = 0.97;
  report.ports[0].faults = {slow};
  EXPECT_THAT(status(report, 150), HasSubstr("1 healthy (1 partial, 1 with a notice)"));
}

TEST(StatusText, TheLightShownIsThatOfTheFaultsLane) {
  Report report = test::example_report();
  report.ports = {test::dirty_port()};
  PortReport& port = report.ports[0];
  port.latest.module->lanes.resize(4);
  port.latest.module->lanes[1].rx_power_mw = 0.1230;
  port.latest.module->lanes[3].rx_power_mw = 0.5;
  port.figures.worst_rx_lane = 4;  // its limit is nearest, for another reason
  EXPECT_THAT(status(report, 150), HasSubstr(" -9.1 lane 2 "));
  port.latest.module->lanes[1].rx_power_mw = 0;
  EXPECT_THAT(status(report, 150), HasSubstr(" no light lane 2 "));
  port.health = Health::kUnknown;
  port.gaps = {{port.port, "link", "EPERM"}};
  EXPECT_THAT(status(report, 150), Not(HasSubstr("400G")));
}

TEST(StatusText, ALinkThatJustWentDownHasItsFirstCheck) {
  Report report = test::example_report();
  report.ports = {test::down_port()};
  report.ports[0].faults.clear();
  report.ports[0].checks = {"here: check that the cable is plugged in"};
  EXPECT_THAT(status(report, 200), HasSubstr("down, cause not determined yet; here: check that the "
                                             "cable is plugged in\n"));
}

TEST(StatusText, WorstFirst) {
  std::vector<std::string> order;
  const Report report = test::example_report();
  for (const PortReport* port : worst_first(report)) order.push_back(port->port);
  EXPECT_THAT(order,
              ::testing::ElementsAre("mlx5_7/1", "mlx5_3/1", "mlx5_9/1", "mlx5_0/1", "mlx5_8/1"));
}

TEST(StatusText, WideHasAllColumnsAndOneLinePerPort) {
  StatusView view = live();
  view.wide = true;
  EXPECT_THAT(status(test::example_report(), 60, view),
              AllOf(HasSubstr("NETDEV"),
                    HasSubstr("dirty connector (83%), clean both ends of the fibre of lane 2 and "
                              "both module ports (MPO-12 APC)\n")));
}

TEST(StatusText, ANameCannotDriveTheTerminal) {
  Report report = test::example_report();
  report.ports[0].peer = "leaf\x1b]0;owned\x07\xc2\x9b";
  EXPECT_THAT(status(report, 200, {}), HasSubstr("leaf?]0;owned??"));
}

TEST(StatusText, ANameFromThePlanIsMarked) {
  Report report = test::example_report();
  report.ports.resize(1);
  report.ports[0].peer = "leaf-12 Ethernet17/1";
  report.ports[0].latest.peer.reset();
  EXPECT_THAT(status(report, 200), HasSubstr("leaf-12 Ethernet17/1 (plan)"));
  report.ports[0].latest.peer.emplace();
  report.ports[0].latest.peer->source = "lldp";
  report.ports[0].latest.peer->system = "leaf-12";
  EXPECT_THAT(status(report, 200), Not(HasSubstr("(plan)")));
}

TEST(StatusText, ImportedModuleReadingsAreMarkedWithTheirAge) {
  Report report = test::example_report();
  EXPECT_THAT(status(report, 150), Not(HasSubstr("imported")));
  report.ports[1].latest.module->imported_at = test::example_now() - std::chrono::seconds(40);
  EXPECT_THAT(status(report, 60), HasSubstr("  * imported module reading, 40 s old: mlx5_3/1\n"));
  report.ports[2].latest.module.emplace();
  report.ports[2].latest.module->imported_at = test::example_now() - std::chrono::seconds(60);
  test::expect_golden("tests/golden/text/status_imported.txt", status(report, 150));
  report.at = test::example_now() - std::chrono::seconds(33);
  EXPECT_THAT(status(report, 150, {}), HasSubstr("up to 27 s old")) << "by the report's time";
  report.ports.resize(1);
  EXPECT_THAT(status(report, 150), Not(HasSubstr("imported"))) << "only of the ports shown";
}

}  // namespace
}  // namespace linkhealth
