#include "model/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace linkhealth {
namespace {

using testing::StartsWith;

template <typename T>
std::string read_as(std::string_view text, T& out) {
  JsonReader in(text);
  return in.read(out) && in.at_end() ? "" : in.error();
}

std::string skip(std::string_view text) {
  JsonReader in(text);
  return in.skip() && in.at_end() ? "" : in.error();
}

TEST(JsonReader, ReadsStringsWithEveryEscape) {
  std::string out;
  EXPECT_EQ(read_as(R"("a\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\ud83d\ude00z")", out), "");
  EXPECT_EQ(out, "a\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z");
  EXPECT_EQ(read_as(R"("\ud800x")", out), "");
  EXPECT_EQ(out, "\xef\xbf\xbdx");
}

TEST(JsonReader, RefusesBrokenStrings) {
  std::string out;
  EXPECT_THAT(read_as("\"abc", out), StartsWith("a string without its closing quote"));
  EXPECT_THAT(read_as("\"abc\\", out), StartsWith("a string without its closing quote"));
  EXPECT_THAT(read_as("\"a\nb\"", out), StartsWith("a control character"));
  EXPECT_THAT(read_as(R"("\x")", out), StartsWith("a backslash before"));
  EXPECT_THAT(read_as(R"("\u12g4")", out), StartsWith("\\u without four"));
  EXPECT_THAT(read_as("5", out), StartsWith("expected text in quotes, found 5"));
}

TEST(JsonReader, ReadsNumbersAsTheirKind) {
  double number = 0;
  EXPECT_EQ(read_as(" -1.5e-07 ", number), "");
  EXPECT_EQ(number, -1.5e-7);
  std::uint64_t whole = 0;
  EXPECT_EQ(read_as("18446744073709551615", whole), "");
  EXPECT_EQ(whole, 18446744073709551615U);
  EXPECT_THAT(read_as("18446744073709551616", whole),
              StartsWith("expected a whole number below 2^64"));
  for (const char* text : {"-1", "5.0", "1e3", "\"5\"", "", "null"})
    EXPECT_NE(read_as(text, whole), "") << text;
  std::uint32_t narrow = 0;
  EXPECT_THAT(read_as("4294967296", narrow), StartsWith("expected a whole number below 2^32"));
  for (const char* text : {"01", "+1", ".5", "1.", "1e", "-", "NaN", "inf", "1e999", "0x10"})
    EXPECT_NE(read_as(text, number), "") << text;
}

TEST(JsonReader, RefusesBrokenStructure) {
  EXPECT_EQ(skip(R"({"a":[1,{"b":null},true,"x"],"c":{}})"), "");
  for (const char* text :
       {"", "{", "[", "{]", "[1,]", "{\"a\":1,}", "{\"a\"}", "{a:1}", "[1 2]", "tru", "[}", "1 2"})
    EXPECT_NE(skip(text), "") << text;
}

TEST(JsonReader, RefusesDepthBeforeTheStackEnds) {
  EXPECT_THAT(skip(std::string(100000, '[')), testing::HasSubstr("nested too deeply"));
}

TEST(JsonReader, NamesThePlaceOfAFailure) {
  JsonReader in(R"({"ports":[{"lanes":"four"}]})");
  std::uint32_t lanes = 0;
  EXPECT_FALSE(in.object([&](std::string_view) {
    return in.array([&] { return in.object([&](std::string_view) { return in.read(lanes); }); });
  }));
  EXPECT_EQ(in.error(), R"(ports > 1 > lanes: expected a number, found "four" (column 20))");
  EXPECT_FALSE(in.at_end() && in.skip());
}

TEST(JsonReader, ADeepPlaceIsNamedByItsBeginning) {
  const std::string deep = R"({"ports":{"a":)" + std::string(40, '[');
  const std::string error = skip(deep);
  EXPECT_THAT(error, StartsWith("ports > a > 1 > 1 > 1 > 1 > ...: "));
  EXPECT_LT(error.size(), 120U);
}

TEST(JsonReader, NoticesAKeyThatStandsTwiceInOneObjectWhenItIsToWatch) {
  const auto repeated = [](std::string_view text, bool watch) {
    JsonReader in(text);
    if (watch) in.watch_keys();
    EXPECT_TRUE(in.skip() && in.at_end()) << in.error();
    return in.repeated();
  };
  EXPECT_EQ(repeated(R"({"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]})", true), std::nullopt);
  EXPECT_EQ(repeated(R"({"a":1,"b":2,"a":1})", true), "a");
  EXPECT_EQ(repeated(R"({"a":1,"b":2,"a":1})", false), std::nullopt);
  EXPECT_EQ(repeated(R"([{"x":{"a":1,"\u0061":null}},{"b":1,"b":2}])", true), "a")
      << "the first one, unescaped";
  EXPECT_EQ(repeated(R"({"":1,"":2})", true), "");
  JsonReader in(R"({"a":1,"a":2,"b":3})");
  in.watch_keys();
  std::string seen;
  EXPECT_TRUE(in.object([&](std::string_view key) {
    if (in.repeated()) seen += std::string(key) + "!";
    in.forget_repeated();
    return in.skip();
  }));
  EXPECT_EQ(seen, "a!") << "before its second value is read";
}

}  // namespace
}  // namespace linkhealth
