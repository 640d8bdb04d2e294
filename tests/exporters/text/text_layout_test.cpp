#include "exporters/text/text_layout.h"

#include <gmock/gmock.h>

namespace linkhealth {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;

TEST(BerWords, NoErrorIsZeroAndNoRatio) {
  EXPECT_EQ(format_ber(0), "0");
  EXPECT_EQ(format_ber(3.14e-7), "3.1e-07");
}

TEST(CleanText, KeepsOurSignsAndTakesWhatATerminalObeys) {
  EXPECT_EQ(clean_text("a ● ▲ µ", false), "a ● ▲ µ");
  EXPECT_EQ(clean_text("a\x1b[31mb\n\x7f", false), "a?[31mb??");
  EXPECT_EQ(clean_text("\xc2\x9b", false), "?");                  // C1 control
  EXPECT_EQ(clean_text("\xe2\x80\xae x", false), "? x");          // right-to-left override
  EXPECT_EQ(clean_text("\xe2\x80", false), "??");                 // cut off
  EXPECT_EQ(clean_text("\xc0\xaf\xed\xa0\x80", false), "?????");  // overlong, surrogate
  EXPECT_EQ(clean_text("\xf0\x9f\x98\x80", false), "?");          // emoji: of no certain width
}

TEST(CleanText, AsciiTwins) { EXPECT_EQ(clean_text("x ── y ▶ µ é", true), "x -- y > u ?"); }

TEST(Width, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("▲ x"), 3U);
  EXPECT_EQ(pad_right("▲", 3), "▲  ");
  EXPECT_EQ(cut("abcdef", 4, false), "abc…");
  EXPECT_EQ(cut("▲▲▲▲", 3, false), "▲▲…");
  EXPECT_EQ(cut("abcdef", 5, true), "ab...");
  EXPECT_EQ(cut("abc", 3, false), "abc");
}

TEST(Wrap, BreaksBetweenWords) {
  EXPECT_THAT(wrap("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("  ", 7), ElementsAre());
  EXPECT_THAT(wrap("toolongword x", 4), ElementsAre("toolongword", "x"));
}

TEST(Paragraph, FurtherLinesAreIndented) {
  EXPECT_EQ(paragraph("Do  ", 4, "one two three four five six", 26),
            "Do  one two three four\n    five six\n");
}

TEST(AlignColumns, ColumnsAreAsWideAsTheirCellsAndGiveWayOnNarrowTerminals) {
  const std::vector<std::vector<std::string>> rows = {{"PORT", "PEER"},
                                                      {"mlx5_3/1", "leaf-12 Ethernet20/1"}};
  EXPECT_THAT(align_columns(rows, 2, 80, false),
              ElementsAre("  PORT      PEER", "  mlx5_3/1  leaf-12 Ethernet20/1"));
  EXPECT_THAT(align_columns(rows, 2, 24, false),
              ElementsAre("  PORT      PEER", "  mlx5_3/1  leaf-12 Eth…"));
}

TEST(Words, Durations) {
  EXPECT_EQ(format_duration(Milliseconds(400)), "0.4 s");
  EXPECT_EQ(format_duration(seconds(40)), "40 s");
  EXPECT_EQ(format_duration(seconds(720)), "12 min");
  EXPECT_EQ(format_duration(seconds(3 * 3600)), "3 h");
  EXPECT_EQ(format_duration(seconds(12 * 86400)), "12 d");
  EXPECT_EQ(format_duration(seconds(-5)), "0.0 s");
}

TEST(Words, Instants) {
  const WallTime noon(seconds(1'795'176'000));
  EXPECT_EQ(format_ago(noon - seconds(3 * 3600), noon), "3 h ago (2026-11-20 09:00:00Z)");
  EXPECT_EQ(format_ago(noon + seconds(60), noon), "2026-11-20 12:01:00Z");
}

TEST(Words, Numbers) {
  EXPECT_EQ(format_quantity(-9.13, "dBm"), "-9.1 dBm");
  EXPECT_EQ(format_quantity(0.42, "dBm"), "+0.4 dBm");
  EXPECT_EQ(format_quantity(-HUGE_VAL, "dBm"), "no light");
  EXPECT_EQ(format_quantity(6, "dB"), "6.0 dB");
  EXPECT_EQ(format_quantity(3.4e-5, ""), "3.4e-05");
  EXPECT_EQ(format_quantity(12, ""), "12");
  EXPECT_EQ(format_quantity(71.25, "C"), "71.2 °C");
  EXPECT_EQ(format_quantity(-0.235, "C"), "-0.2 °C");
  EXPECT_EQ(format_quantity(11, "C"), "11 °C");
  EXPECT_EQ(format_quantity(400000, "Mb/s"), "400G") << "as everywhere else";
  EXPECT_EQ(format_quantity(40, "%"), "40%");
  EXPECT_EQ(format_confidence(0.834), "83%");
  EXPECT_EQ(format_confidence(0.9999), ">99%");
  EXPECT_EQ(format_confidence(0.001), "<1%");
  EXPECT_EQ(format_speed(400000), "400G");
  EXPECT_EQ(format_speed(2500), "2.5G");
  EXPECT_EQ(format_speed(100), "100M");
  EXPECT_FALSE(dbm_from_mw(0).has_value());
  EXPECT_DOUBLE_EQ(dbm_from_mw(1).value_or(9), 0);
}

TEST(Paint, ColoursAreOptionalAndNeverAlone) {
  EXPECT_EQ(paint_health("x", Health::kDown, {.colour = false}), "x");
  EXPECT_EQ(paint_health("x", Health::kDown, {.colour = true}), "\x1b[1;31mx\x1b[0m");
  for (const Health health : {Health::kHealthy, Health::kAtRisk, Health::kDegraded, Health::kDown,
                              Health::kUnknown, Health::kExempt}) {
    EXPECT_FALSE(health_sign(health, true).empty());
    EXPECT_EQ(display_width(health_sign(health, false)), 1U);
  }
}

}  // namespace
}  // namespace linkhealth
