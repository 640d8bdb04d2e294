#include "exporters/text.h"

#include <gmock/gmock.h>

#include "base/text.h"
#include "exporters/text_layout.h"
#include "tests/support/golden.h"
#include "tests/support/report_builder.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TextStyle plain(int width_columns) {
  return {.colour = false, .width_columns = width_columns, .ascii = false};
}
StatusView live() { return {.now = test::example_now(), .watching = std::chrono::hours(24 * 12)}; }
ExplainView at_now() {
  return {.now = test::example_now(), .t = test::example_t(), .symptoms = false};
}

std::string explain(const PortReport& port, int width_columns = 100) {
  return explain_text(port, plain(width_columns), at_now());
}

TEST(StatusText, WideTerminal) {
  test::expect_golden("tests/golden/text/status_150.txt",
                      status_text(test::example_report(), plain(150), live()));
}

TEST(StatusText, UsualTerminal) {
  test::expect_golden("tests/golden/text/status_100.txt",
                      status_text(test::example_report(), plain(100), live()));
}

TEST(StatusText, Ascii) {
  TextStyle style = plain(100);
  style.ascii = true;
  const std::string text = status_text(test::example_report(), style, live());
  test::expect_golden("tests/golden/text/status_ascii.txt", text);
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f));
}

TEST(StatusText, Colour) {
  TextStyle style = plain(100);
  style.colour = true;
  test::expect_golden("tests/golden/text/status_colour.txt",
                      status_text(test::example_report(), style, live()));
}

TEST(StatusText, ProblemsOnlyStillCountsAllPorts) {
  StatusView view = live();
  view.problems_only = true;
  const std::string text = status_text(test::example_report(), plain(150), view);
  EXPECT_THAT(text, HasSubstr("5 ports: 1 healthy"));
  EXPECT_THAT(text, Not(HasSubstr("mlx5_0/1")));
  EXPECT_THAT(text, HasSubstr("mlx5_3/1"));
  EXPECT_EQ(count_problems(test::example_report()), 3U);
}

TEST(StatusText, SaysWhenNothingIsWrongAndWhenNothingIsWatched) {
  Report report = test::example_report();
  report.ports.resize(1);
  StatusView view;
  view.problems_only = true;
  EXPECT_THAT(status_text(report, plain(100), view), HasSubstr("No port wants attention."));
  report.ports.clear();
  EXPECT_THAT(status_text(report, plain(100), {}), HasSubstr("No port is watched."));
}

TEST(StatusText, NoLineIsWiderThanTheTerminal) {
  for (const int width : {60, 80, 100, 120, 150, 200}) {
    const std::string text = status_text(test::example_report(), plain(width), live());
    for (const auto line : split(text, '\n'))
      EXPECT_LE(display_width(line), static_cast<std::size_t>(width)) << line;
  }
}

TEST(StatusText, WideCutsNothing) {
  StatusView view = live();
  view.wide = true;
  EXPECT_THAT(status_text(test::example_report(), plain(60), view),
              HasSubstr("dirty connector (83%), clean both ends of the fibre of lane 2 and both "
                        "module ports (MPO-12 APC)\n"));
}

TEST(StatusText, ANeighboursNameCannotDriveTheTerminal) {
  Report report = test::example_report();
  report.ports[0].peer = "leaf\x1b]0;owned\x07\xc2\x9b";
  EXPECT_THAT(status_text(report, plain(200), {}), HasSubstr("leaf?]0;owned??"));
}

TEST(ExplainText, DirtyConnector) {
  test::expect_golden("tests/golden/text/explain_dirty.txt", explain(test::dirty_port(), 110));
}
TEST(ExplainText, WhileARepairProvesItselfNobodyIsSentAgain) {
  PortReport port = test::dirty_port();
  EXPECT_THAT(explain(port), HasSubstr("  Do this    1 "));
  port.faults[0].state = FaultState::kProving;
  const std::string text = explain(port);
  EXPECT_THAT(text, HasSubstr("nothing is to be done while it does."));
  EXPECT_THAT(text, HasSubstr("  If back    1 "));
  EXPECT_THAT(text, Not(HasSubstr("Do this")));
}

TEST(ExplainText, SaysWithTheEvidenceWhatEachSymptomGave) {
  ExplainView view = at_now();
  view.symptoms = true;
  EXPECT_THAT(explain_text(test::dirty_port(), plain(100), view),
              HasSubstr("\n  For dirty connector against damaged fiber  log-odds  odds\n"
                        "  + far Rx low                                  +2.94  19 to 1\n"
                        "  - light and errors together                   -1.20  1 to 3.3\n"
                        "  + all others                                  +0.02  1.0 to 1\n"
                        "  = together                                    +1.76  5.8 to 1\n"));
  EXPECT_THAT(explain(test::dirty_port()), Not(HasSubstr("log-odds")));
}

TEST(ExplainText, SaysWhenTheLinkLastFell) {
  PortReport port = test::healthy_port("mlx5_0", "eth0", "");
  EXPECT_THAT(explain(port), Not(HasSubstr("the last")));
  port.figures.last_involuntary_down_at = test::example_now() - std::chrono::hours(50);
  EXPECT_THAT(explain(port, 200), HasSubstr("0 involuntary drops in 24 h, the last 2 d ago ("));
}

TEST(ExplainText, Down) {
  test::expect_golden("tests/golden/text/explain_down.txt", explain(test::down_port()));
}
TEST(ExplainText, Blind) {
  test::expect_golden("tests/golden/text/explain_blind.txt", explain(test::blind_port()));
}
TEST(ExplainText, Exempt) {
  test::expect_golden("tests/golden/text/explain_exempt.txt", explain(test::exempt_port()));
}
TEST(ExplainText, Healthy) {
  test::expect_golden("tests/golden/text/explain_healthy.txt",
                      explain(test::healthy_port("mlx5_0", "ens1np0", "0000:1b:00.0")));
}

TEST(ExplainText, AsciiWithEverySymptom) {
  ExplainView view = at_now();
  view.symptoms = true;
  const std::string text =
      explain_text(test::dirty_port(), {.colour = false, .width_columns = 90, .ascii = true}, view);
  test::expect_golden("tests/golden/text/explain_dirty_ascii.txt", text);
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f));
}

TEST(ExplainText, FitsTheTerminal) {
  for (const int width : {60, 80, 100, 140}) {
    const std::string text = explain(test::dirty_port(), width);
    for (const auto line : split(text, '\n')) {
      const bool table = line.starts_with("  +") ||
                         line.starts_with("  -");  // its columns are as wide as its words
      const bool whole = line.starts_with("mlx5_3/1") || line.starts_with("  Light");
      if (!table && !whole) {
        EXPECT_LE(display_width(line), static_cast<std::size_t>(width)) << line;
      }
    }
  }
}

TEST(ExplainText, SecondFaultIsNamedToo) {
  PortReport port = test::dirty_port();
  port.faults.push_back(test::down_port().faults.front());
  EXPECT_THAT(explain(port), HasSubstr("Also       far port down (leaf-12 Ethernet20/1) 91%"));
}

TEST(ExplainText, FarTransmitterNotKnownIsSaid) {
  PortReport port = test::dirty_port();
  port.latest.peer.reset();
  EXPECT_THAT(explain(port), HasSubstr("far Tx not known"));
}

TEST(ExplainText, CopperHasNoLight) {
  PortReport port = test::healthy_port("mlx5_0", "ens1np0", "0000:1b:00.0");
  port.latest.module->kind = "dac";
  port.latest.module->lanes.clear();
  EXPECT_THAT(explain(port), Not(HasSubstr("Light")));
}

/// The line "Far end" of `explain` for this peer.
std::string far_end_line(const PeerSample& peer, const std::string& name) {
  PortReport port = test::example_report().ports.front();
  port.peer = name;
  port.latest.peer = peer;
  const std::string text = explain_text(port, plain(150), ExplainView{});
  const auto begin = text.find("Far end");
  return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

TEST(ExplainText, WhoSaysWhatIsAtTheFarEndAndHowLongAgo) {
  PeerSample peer;
  peer.source = "lldp";
  peer.age_s = 12;
  peer.description = "to gpu-0417";
  peer.address = "10.0.0.12";
  peer.module_source = "telemetry";
  peer.module_age_s = 40;
  EXPECT_EQ(far_end_line(peer, "leaf-12 Ethernet17/1"),
            "Far end    leaf-12 Ethernet17/1, says LLDP, 12 s ago · \"to gpu-0417\" · managed at "
            "10.0.0.12 · its module: "
            "telemetry, 40 s ago");
  peer = PeerSample{};
  peer.source = "lldp";
  peer.link_source = peer.counters_source = "telemetry";
  peer.link_age_s = peer.counters_age_s = 2;
  EXPECT_EQ(far_end_line(peer, "leaf-12"),
            "Far end    leaf-12, says LLDP · its link and counters: telemetry, 2.0 s ago");
  peer.link_source = "fleet";
  EXPECT_EQ(far_end_line(peer, "leaf-12"),
            "Far end    leaf-12, says LLDP · its link: fleet, 2.0 s ago · its counters: telemetry, "
            "2.0 s ago");
  PeerSample planned;
  planned.source = "plan";
  EXPECT_EQ(far_end_line(planned, "leaf-12"),
            "Far end    leaf-12, as planned: nothing says so itself");
  EXPECT_EQ(far_end_line(PeerSample{}, "leaf-12"), "")
      << "a recording of a writer that names no source";
}

TEST(StatusText, ANameThatOnlyThePlanGivesIsMarked) {
  Report report = test::example_report();
  report.ports.resize(1);
  report.ports[0].peer = "leaf-12 Ethernet17/1";
  report.ports[0].latest.peer.reset();
  EXPECT_NE(status_text(report, plain(200), StatusView{}).find("leaf-12 Ethernet17/1 (plan)"),
            std::string::npos);
  report.ports[0].latest.peer.emplace();
  report.ports[0].latest.peer->source = "lldp";
  report.ports[0].latest.peer->system = "leaf-12";
  EXPECT_EQ(status_text(report, plain(200), StatusView{}).find("(plan)"), std::string::npos);
}

/// The report whose modules at `ports` somebody else read: the first of them 40 s ago, each other
/// 20 s earlier.
Report with_imports(const std::vector<std::size_t>& ports) {
  Report report = test::example_report();
  Milliseconds age = std::chrono::seconds(40);
  for (const std::size_t at : ports) {
    auto& module = report.ports[at].latest.module;
    if (!module) module.emplace();
    module->imported_at = test::example_now() - age;
    age += std::chrono::seconds(20);
  }
  return report;
}

TEST(StatusText, AModuleThatSomebodyElseReadIsMarked) {
  test::expect_golden("tests/golden/text/status_imported.txt",
                      status_text(with_imports({1, 2}), plain(150), live()));
  EXPECT_THAT(status_text(test::example_report(), plain(150), live()), Not(HasSubstr("imported")));
}

TEST(StatusText, AnImportIsNamedAlsoWhereTheColumnIsTooWideAndOnlyIfItsPortIsShown) {
  EXPECT_THAT(status_text(with_imports({1}), plain(150), live()),
              HasSubstr("\n  * module read by somebody else (imported), 40 s ago: mlx5_3/1\n"));
  const std::string narrow = status_text(with_imports({1}), plain(60), live());
  EXPECT_THAT(narrow, HasSubstr("* module read by somebody else (imported)"));
  for (const auto line : split(narrow, '\n')) EXPECT_LE(display_width(line), 60U) << line;
  StatusView problems = live();
  problems.problems_only = true;
  EXPECT_THAT(status_text(with_imports({0}), plain(150), problems), Not(HasSubstr("imported")));
}

TEST(StatusText, WithoutAClockTheAgeOfAnImportIsThatOfTheReport) {
  Report report = with_imports({1});
  report.at = *report.ports[1].latest.module->imported_at + std::chrono::seconds(7);
  EXPECT_THAT(status_text(report, plain(150), {}), HasSubstr("(imported), 7.0 s ago: mlx5_3/1"));
}

TEST(ExplainText, AModuleThatSomebodyElseReadIsSaidWithItsAge) {
  const PortReport port = with_imports({1}).ports[1];
  test::expect_golden("tests/golden/text/explain_imported.txt", explain(port, 110));
  ExplainView physics = at_now();
  physics.physics = true;
  EXPECT_THAT(explain_text(port, plain(110), physics), HasSubstr("(imported)"));
  EXPECT_THAT(explain(test::dirty_port()), Not(HasSubstr("imported")));
}

TEST(ExplainText, AnEmptyCageOfAnImportIsSaidToBeOne) {
  PortReport port = test::healthy_port("mlx5_0", "ens1np0", "0000:1b:00.0");
  port.latest.module.emplace();
  port.latest.module->present = false;
  port.latest.module->imported_at = test::example_now() - std::chrono::minutes(2);
  EXPECT_THAT(
      explain(port),
      HasSubstr("  Module     read by somebody else (imported) 2 min ago (2026-11-20 11:58:00Z)"));
}

}  // namespace
}  // namespace linkhealth
