#include "exporters/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "exporters/json.h"
#include "exporters/text_layout.h"
#include "exporters/timeline_text.h"
#include "tests/support/report_builder.h"

namespace linkhealth {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const double kNone = std::nan("");

TEST(PlotTest, ColumnsKeepTheWorst) {
  EXPECT_THAT(in_columns({1, 5, 2, 2}, 2, PlotFold::kMost), ElementsAre(5, 2));
  EXPECT_THAT(in_columns({1, 5, 2, 2}, 2, PlotFold::kLeast), ElementsAre(1, 2));
  EXPECT_THAT(in_columns({1, 5, 2, 2}, 2, PlotFold::kSum), ElementsAre(6, 4));
  EXPECT_THAT(in_columns({1, 2}, 4, PlotFold::kMost), ElementsAre(1, 1, 2, 2));
  EXPECT_TRUE(std::isnan(in_columns({kNone, kNone, 2, 2}, 2, PlotFold::kSum)[0]))
      << "absent is not zero";
  EXPECT_TRUE(std::isnan(in_columns({}, 1, PlotFold::kSum)[0]));
}

TEST(PlotTest, ASparklineHasOneCharacterAColumnAndAHoleIsEmpty) {
  EXPECT_EQ(sparkline({0, 4, kNone, 8}, {0, 8}, false), "▁▄ █");
  EXPECT_EQ(sparkline({0, 4, kNone, 8}, {0, 8}, true), "_- ^");
}

TEST(PlotTest, APlotFillsUpToTheValue) {
  Plot plot;
  plot.height = 2;
  plot.axis = {0, 2};
  plot.ascii = true;
  plot.label = [](double value) { return std::to_string(static_cast<int>(value)); };
  EXPECT_THAT(plot_lines({0, 1, 2, kNone}, plot, 3), ElementsAre("  2 |  # ", "  0 |.## "));
}

TEST(PlotTest, TimesStandWhereTheyAreAndDoNotTouch) {
  const WallTime from = *parse_rfc3339("2026-11-20T09:50:00Z");
  EXPECT_EQ(time_axis(from, from + std::chrono::hours(2), 60),
            "     |10:00         |10:30         |11:00         |11:30    ");
  EXPECT_EQ(time_axis(from, from + std::chrono::hours(168), 40),
            "   |11-21     |11-23      |11-25        ");
  EXPECT_EQ(time_axis(from, from, 3), "   ");
}

PortTimeline dirty_past() {
  PortTimeline past;
  past.step_s = 60;
  past.from = *parse_rfc3339("2026-11-20T09:50:00Z");
  past.to = past.from + std::chrono::minutes(120);
  SignalSeries power{Signal::kRxPower, {}}, ber{Signal::kPreFecBer, {}},
      warm{Signal::kTemperature, {}}, downs{Signal::kCarrierDowns, {}},
      symbols{Signal::kSymbolErrors, {}}, bias{Signal::kTxBias, {}};
  for (int minute = 0; minute < 120; ++minute) {
    past.at.push_back(past.from + std::chrono::minutes(minute));
    const bool hole = minute >= 90 && minute < 95;
    const bool bad = minute > 60 && minute < 90;
    power.values.push_back(hole ? kNone : bad ? -9.1 : -1.2);
    ber.values.push_back(hole ? kNone : bad ? 3.4e-5 : 2.1e-8);
    warm.values.push_back(hole ? kNone : 51 + minute % 3);
    downs.values.push_back(hole ? kNone : minute == 61 ? 2 : 0);
    symbols.values.push_back(hole ? kNone : 0);
    bias.values.push_back(hole ? kNone : 74.2);
  }
  past.signals = {downs, ber, symbols, power, bias, warm};
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

TEST(PastTextTest, FitsEveryTerminal) {
  for (const bool ascii : {false, true})
    for (const int width : {60, 80, 100, 132, 250}) {
      TextStyle style;
      style.width_columns = width;
      style.ascii = ascii;
      const std::string text = test::dirty_port().port.empty()
                                   ? ""
                                   : timeline_text(dirty_past(), test::dirty_port(), style);
      for (std::size_t at = 0; at < text.size();) {
        const auto end = text.find('\n', at);
        ASSERT_NE(end, std::string::npos);
        const std::string line = text.substr(at, end - at);
        EXPECT_LE(display_width(line), static_cast<std::size_t>(width)) << line;
        if (ascii) {
          EXPECT_TRUE(std::all_of(line.begin(), line.end(), [](char c) {
            return c >= ' ' && c <= '~';
          })) << line;
        }
        at = end + 1;
      }
    }
}

TEST(PastTextTest, SaysWhatHappenedInOrderWithUnits) {
  const std::string text = timeline_text(dirty_past(), test::dirty_port(), {});
  EXPECT_THAT(
      text,
      HasSubstr("Rx power, dBm (the lane that receives least): now -1.2, least -9.1, most -1.2"));
  EXPECT_THAT(text, HasSubstr("Pre-FEC BER: now 2.1e-08, most 3.4e-05"));
  EXPECT_THAT(text, HasSubstr("fibre reseated: Rx lane 2 -9.1 to -1.2 dBm; it held"));
  EXPECT_THAT(text, HasSubstr("Not once: symbol errors"));
  EXPECT_LT(text.find("opened"), text.find("repair  "));
  EXPECT_LT(text.find("repair  "), text.find("closed"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  TextStyle style;
  style.colour = true;
  EXPECT_THAT(timeline_text(dirty_past(), test::dirty_port(), style), HasSubstr("\x1b["));
}

TEST(PastTextTest, DarknessIsNoPower) {
  PortTimeline past = dirty_past();
  auto& power = past.signals[3];
  ASSERT_EQ(power.signal, Signal::kRxPower);
  std::fill(power.values.begin() + 80, power.values.begin() + 90, -40.0);  // the fibre is out
  TextStyle style;
  style.width_columns = 140;
  EXPECT_THAT(timeline_text(past, test::dirty_port(), style),
              AllOf(HasSubstr("now -1.2, least -9.1, most -1.2, at times no light"),
                    HasSubstr("-11.0 ┤"), Not(HasSubstr("-41"))));
  past.signals[3].values.back() = -40;
  EXPECT_THAT(timeline_text(past, test::dirty_port(), style),
              HasSubstr("before -1.2, least -9.1, most -1.2, now no light"));
  std::fill(past.signals[3].values.begin(), past.signals[3].values.end(), -40.0);
  EXPECT_THAT(timeline_text(past, test::dirty_port(), style),
              HasSubstr("Rx power: no light in all that time"));
}

TEST(PastTextTest, SaysWhoTookNoteOfItAndHowLongItWasOpen) {
  PortTimeline past = dirty_past();
  FaultEvent noted = past.events[0];
  noted.kind = FaultEventKind::kAcknowledged;
  noted.fault.acknowledged =
      Acknowledgement{"ann", "ticket 4711", noted.at, noted.at + std::chrono::hours(2)};
  past.events.insert(past.events.begin() + 1, noted);
  TextStyle style;
  style.width_columns = 140;
  const std::string text = timeline_text(past, test::dirty_port(), style);
  EXPECT_THAT(
      text,
      HasSubstr("acknowledged dirty connector, by ann until 2026-11-20 12:52:00Z: ticket 4711\n"));
  EXPECT_THAT(text, HasSubstr("closed       dirty connector, after 48 min\n"));
  EXPECT_THAT(text,
              HasSubstr("opened       dirty connector (path, warning, 83%): lane 2 receives"));
}

TEST(PastTextTest, SaysWhoWorkedOnItAndForHowLong) {
  PortTimeline past = dirty_past();
  Maintenance work;
  work.port = "0000:9a:00.0/1";
  work.by = "ann";
  work.reason = "new jumper";
  work.since = past.from + std::chrono::minutes(90);
  work.until = past.from + std::chrono::minutes(150);
  work.ended_at = past.from + std::chrono::minutes(100);
  Maintenance file;  // of the whole node, and it lasts
  file.by = "file";
  file.file = "/etc/linkhealth/maintenance/all";
  file.since = past.from + std::chrono::minutes(105);
  past.maintenance = {work, file};
  TextStyle style;
  style.width_columns = 140;
  const std::string text = timeline_text(past, test::dirty_port(), style);
  const auto begun =
      text.find("maintenance  begun by ann, until 2026-11-20 12:20:00Z: new jumper\n");
  const auto ended = text.find("maintenance  ended, after 10 min\n");
  ASSERT_NE(begun, std::string::npos) << text;
  ASSERT_NE(ended, std::string::npos) << text;
  EXPECT_LT(begun, text.find("repair  "));
  EXPECT_LT(text.find("repair  "), ended);
  EXPECT_THAT(
      text,
      HasSubstr("maintenance  begun by file (/etc/linkhealth/maintenance/all), of all ports\n"));
}

TEST(PastTextTest, WhatIsNoLongerSeenIsNotNow) {
  PortTimeline past = dirty_past();
  for (SignalSeries& series : past.signals)
    std::fill(series.values.begin() + 60, series.values.end(), kNone);
  EXPECT_THAT(timeline_text(past, test::dirty_port(), {}),
              HasSubstr("Module temperature, C: last seen 53.0"));
}

TEST(PastTextTest, APortWithoutAPastSaysSo) {
  PortReport port = test::dirty_port();
  const std::string faulty = timeline_text({}, port, {});
  EXPECT_THAT(faulty, HasSubstr("Nothing was measured of it in this time."));
  EXPECT_THAT(faulty, ::testing::Not(HasSubstr("no fault was seen")));
  EXPECT_THAT(faulty, HasSubstr("open         dirty connector, since then: "))
      << "one is open, whenever it began";
  port.faults.clear();
  EXPECT_THAT(timeline_text({}, port, {}), HasSubstr("no fault was seen"));
}

}  // namespace
}  // namespace linkhealth
