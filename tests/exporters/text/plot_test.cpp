#include "exporters/text/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/text.h"
#include "exporters/json/json.h"
#include "exporters/text/text_layout.h"
#include "exporters/text/timeline_text.h"
#include "tests/support/report_builder.h"

namespace linkhealth {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const double kNone = std::nan("");

TEST(Plot, ColumnsKeepTheWorst) {
  EXPECT_THAT(in_columns({1, 5, 2, 2}, 2, PlotFold::kMost), ElementsAre(5, 2));
  EXPECT_THAT(in_columns({1, 5, 2, 2}, 2, PlotFold::kLeast), ElementsAre(1, 2));
  EXPECT_THAT(in_columns({1, 5, 2, 2}, 2, PlotFold::kSum), ElementsAre(6, 4));
  EXPECT_THAT(in_columns({1, 2}, 4, PlotFold::kMost), ElementsAre(1, 1, 2, 2));
  EXPECT_TRUE(std::isnan(in_columns({kNone, kNone, 2, 2}, 2, PlotFold::kSum)[0]))
      << "absent is not zero";
  EXPECT_TRUE(std::isnan(in_columns({}, 1, PlotFold::kSum)[0]));
}

TEST(Plot, ASparklineHasOneCharacterAColumnAndAHoleIsEmpty) {
  EXPECT_EQ(sparkline({0, 4, kNone, 8}, {0, 8}, false), "▁▄ █");
  EXPECT_EQ(sparkline({0, 4, kNone, 8}, {0, 8}, true), "_- ^");
}

TEST(Plot, APlotFillsUpToTheValue) {
  Plot plot;
  plot.height = 2;
  plot.axis = {0, 2};
  plot.ascii = true;
  plot.label = [](double value) { return std::to_string(static_cast<int>(value)); };
  EXPECT_THAT(plot_lines({0, 1, 2, kNone}, plot, 3), ElementsAre("  2 |  # ", "  0 |.## "));
}

TEST(Plot, TimesStandWhereTheyAreAndDoNotTouch) {
  const WallTime from = *parse_rfc3339("2026-11-20T09:50:00Z");
  EXPECT_EQ(time_axis(from, from + std::chrono::hours(2), 60),
            "     |10:00         |10:30         |11:00         |11:30    ");
  EXPECT_EQ(time_axis(from, from + std::chrono::hours(168), 40),
            "   |11-21     |11-23      |11-25        ");
  EXPECT_EQ(time_axis(from, from, 3), "   ");
}

constexpr int kMinutes = 120;

/// One value a minute; nothing is read between minutes 90 and 95.
SignalSeries series(Signal signal, const std::function<double(int)>& value) {
  SignalSeries out{signal, {}};
  for (int minute = 0; minute < kMinutes; ++minute)
    out.values.push_back(minute >= 90 && minute < 95 ? kNone : value(minute));
  return out;
}

PortTimeline dirty_past() {
  const auto bad = [](int minute) { return minute > 60 && minute < 90; };
  PortTimeline past;
  past.step_s = 60;
  past.from = *parse_rfc3339("2026-11-20T09:50:00Z");
  past.to = past.from + std::chrono::minutes(kMinutes);
  for (int minute = 0; minute < kMinutes; ++minute)
    past.at.push_back(past.from + std::chrono::minutes(minute));
  past.signals = {
      series(Signal::kCarrierDowns, [](int minute) { return minute == 61 ? 2 : 0; }),
      series(Signal::kPreFecBer, [&](int minute) { return bad(minute) ? 3.4e-5 : 2.1e-8; }),
      series(Signal::kSymbolErrors, [](int) { return 0; }),
      series(Signal::kRxPower, [&](int minute) { return bad(minute) ? -9.1 : -1.2; }),
      series(Signal::kTxBias, [](int) { return 74.2; }),
      series(Signal::kTemperature, [](int minute) { return 51 + minute % 3; })};
  FaultEvent opened;
  opened.at = past.from + std::chrono::minutes(62);
  opened.fault.opened_at = opened.at;
  opened.fault.fault = "dirty_connector";
  opened.fault.end = End::kPath;
  opened.fault.confidence = 0.83;
  opened.fault.summary =
      "lane 2 receives -9.1 dBm, 6.0 dB below its siblings; the far end sends 0.4 dBm";
  FaultEvent closed = opened;
  closed.at = past.from + std::chrono::minutes(110);
  closed.kind = FaultEventKind::kClosed;
  past.events = {opened, closed};
  RepairRecord repair;
  repair.action = RepairAction::kFibreReseated;
  repair.at = past.from + std::chrono::minutes(95);
  repair.outcome = RepairOutcome::kHeld;
  repair.rx_lane = 2;
  repair.rx_power_before_dbm = -9.1;
  repair.rx_power_after_dbm = -1.2;
  past.repairs = {repair};
  past.identities = {
      {"MT2331", "local", "p", "mlx5_3/1", "NVIDIA", "MMS4X00", "optical", past.from, past.to}};
  return past;
}

std::string draw(const PortTimeline& past, int width = 140, bool ascii = false) {
  return timeline_text(past, test::dirty_port(), {.width_columns = width, .ascii = ascii});
}

TEST(TimelineText, FitsEveryTerminal) {
  for (const bool ascii : {false, true})
    for (const int width : {60, 80, 100, 132, 250}) {
      const std::string text = draw(dirty_past(), width, ascii);
      for (const auto line : split(text, '\n')) {
        EXPECT_LE(display_width(line), static_cast<std::size_t>(width)) << line;
        if (ascii) {
          EXPECT_TRUE(std::ranges::all_of(line, [](char c) { return c >= ' ' && c <= '~'; }))
              << line;
        }
      }
    }
}

TEST(TimelineText, PlotsAndEventsInOrder) {
  const std::string text = draw(dirty_past());
  EXPECT_THAT(text,
              AllOf(HasSubstr("Rx power of the worst lane, dBm: now -1.2, min -9.1, max -1.2"),
                    HasSubstr("Pre-FEC BER: now 2.1e-08, max 3.4e-05"),
                    HasSubstr("opened       dirty connector (path, warning, 83%): lane 2 receives"),
                    HasSubstr("fibre reseated: Rx lane 2 -9.1 to -1.2 dBm; held"),
                    HasSubstr("None: symbol errors"), Not(HasSubstr("\x1b"))));
  EXPECT_LT(text.find("opened"), text.find("repair  "));
  EXPECT_LT(text.find("repair  "), text.find("closed"));
  EXPECT_THAT(timeline_text(dirty_past(), test::dirty_port(), {.colour = true}),
              HasSubstr("\x1b["));
}

TEST(TimelineText, NoLightIsNoPower) {
  PortTimeline past = dirty_past();
  auto& power = past.signals[3].values;
  std::fill(power.begin() + 80, power.begin() + 90, -40.0);  // the fibre is out
  EXPECT_THAT(draw(past), AllOf(HasSubstr("now -1.2, min -9.1, max -1.2; at times no light"),
                                HasSubstr("-11.0 ┤"), Not(HasSubstr("-41"))));
  power.back() = -40;
  EXPECT_THAT(draw(past), HasSubstr("before -1.2, min -9.1, max -1.2; now no light"));
  std::ranges::fill(power, -40.0);
  EXPECT_THAT(draw(past), HasSubstr("Rx power: no light in this time"));
}

TEST(TimelineText, AcknowledgementsAndHowLongAFaultWasOpen) {
  PortTimeline past = dirty_past();
  FaultEvent ack = past.events[0];
  ack.kind = FaultEventKind::kAcknowledged;
  ack.fault.acknowledged =
      Acknowledgement{"ann", "ticket 4711", ack.at, ack.at + std::chrono::hours(2)};
  past.events.insert(past.events.begin() + 1, ack);
  EXPECT_THAT(draw(past), AllOf(HasSubstr("acknowledged dirty connector, by ann until 2026-11-20 "
                                          "12:52:00Z: ticket 4711\n"),
                                HasSubstr("closed       dirty connector, after 48 min\n")));
}

TEST(TimelineText, MaintenanceOfThePortAndOfTheNode) {
  PortTimeline past = dirty_past();
  Maintenance work;
  work.port = "0000:9a:00.0/1";
  work.by = "ann";
  work.reason = "new jumper";
  work.since = past.from + std::chrono::minutes(90);
  work.until = past.from + std::chrono::minutes(150);
  work.ended_at = past.from + std::chrono::minutes(100);
  Maintenance file;
  file.by = "file";
  file.file = "/etc/linkhealth/maintenance/all";
  file.since = past.from + std::chrono::minutes(105);
  past.maintenance = {work, file};
  const std::string text = draw(past);
  const auto start =
      text.find("maintenance  started by ann, until 2026-11-20 12:20:00Z: new jumper\n");
  const auto end = text.find("maintenance  ended after 10 min\n");
  ASSERT_NE(end, std::string::npos) << text;
  EXPECT_LT(start, text.find("repair  "));
  EXPECT_LT(text.find("repair  "), end);
  EXPECT_THAT(text, HasSubstr("maintenance  started by file (/etc/linkhealth/maintenance/all), all "
                              "ports\n"));
}

TEST(TimelineText, AnOldReadingIsNotOfNow) {
  PortTimeline past = dirty_past();
  for (SignalSeries& each : past.signals)
    std::fill(each.values.begin() + 60, each.values.end(), kNone);
  EXPECT_THAT(draw(past), HasSubstr("Module temperature, °C: last 53.0"));
}

TEST(TimelineText, NothingRead) {
  EXPECT_THAT(draw({}), AllOf(HasSubstr("No readings in this time."), Not(HasSubstr("none:")),
                              HasSubstr("open         dirty connector, since then: ")))
      << "an open fault is listed whenever it opened";
  PortReport port = test::dirty_port();
  port.faults.clear();
  EXPECT_THAT(timeline_text({}, port, {}), HasSubstr("none: no fault, repair or maintenance"));
}

}  // namespace
}  // namespace linkhealth
