#include "base/text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/hidden_text.h"

namespace linkhealth {
namespace {

TEST(Text, TrimsAndSplits) {
  EXPECT_EQ(trim(" \tACTIVE\n"), "ACTIVE");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(split("a::b", ':'), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(split("", ':'), (std::vector<std::string_view>{""}));
}

template <typename Text>
concept CanBeSplit = requires(Text&& text) {
  split(std::forward<Text>(text), ',');
};
static_assert(CanBeSplit<std::string&> && CanBeSplit<const std::string&> &&
              CanBeSplit<std::string_view>);
static_assert(!CanBeSplit<std::string>, "the parts would be views of a destroyed string");

TEST(Text, NumbersAreWholeOrNothing) {
  EXPECT_EQ(parse_u64("18446744073709551615"), 18446744073709551615ULL);
  EXPECT_EQ(parse_u64("9999999999999999999"), 9999999999999999999ULL);
  EXPECT_EQ(parse_u64("00000000000000000000012"), 12U);
  EXPECT_EQ(parse_u64("0"), 0U);
  for (const char* bad :
       {"", "-1", "+1", "12x", " 1", "18446744073709551616", "N/A (no PMA)", "0x10"})
    EXPECT_FALSE(parse_u64(bad)) << bad;
  EXPECT_EQ(parse_hex_or_decimal("0x1b"), 27U);
  EXPECT_FALSE(parse_hex_or_decimal("0x"));
  EXPECT_EQ(parse_double("-3.5e1"), -35.0);
  EXPECT_EQ(parse_double(".5"), 0.5);
  EXPECT_EQ(parse_double("4.9e-324"), 4.9e-324);
  for (const char* bad :
       {"", "nan", "inf", "1.0.0", "1 ", " 1", "+1", "-", "1e", "e5", "0x10", "1e400", "1e-400"})
    EXPECT_FALSE(parse_double(bad)) << bad;
}

TEST(Text, PrintableHidesTerminalEscapes) {
  EXPECT_EQ(printable("FIN\x1b[31mISAR\xff"), "FIN?[31mISAR?");
}

TEST(Text, HiddenCharactersAndWhatIsNoTextAreQuestionMarks) {
  EXPECT_EQ(without_hidden("a\x1b[1m\n\x7f\u202eb\u200f\xc2\x85\xff"), "a?[1m???b???");
  EXPECT_EQ(without_hidden("25 \u00b0C \u2026 \u65e5"), "25 \u00b0C \u2026 \u65e5");
}

TEST(Text, EditDistanceCountsSwapsAsOne) {
  EXPECT_EQ(edit_distance("flap_window_s", "flap_windw_s"), 1U);
  EXPECT_EQ(edit_distance("exempt", "exmept"), 1U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
}

TEST(Text, ClosestSuggestsOnlyWhatIsNear) {
  constexpr std::string_view kNames[] = {"mlx5_0", "mlx5_3", "listen", "state_dir"};
  EXPECT_EQ(closest("mlx5_33", kNames), "mlx5_3");
  EXPECT_EQ(closest("lisetn", kNames), "listen");
  EXPECT_FALSE(closest("prometheus", kNames));
  EXPECT_FALSE(closest("x", kNames));
  const std::string long_name(65, 'x');
  const std::string_view one_more[] = {std::string_view(long_name).substr(1)};
  EXPECT_TRUE(closest(long_name.substr(2), one_more));
  EXPECT_FALSE(closest(long_name, one_more)) << "it is not compared";
}

}  // namespace
}  // namespace linkhealth
