#include "model/json/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/json/json_fields.h"

namespace linkhealth {

namespace {

struct Lane {
  std::optional<double> rx_power_mw;
  bool operator==(const Lane&) const = default;
};
struct Port {
  std::string name;
  std::optional<std::uint32_t> lane_count;
  std::uint64_t errors = 0;
  bool up = false;
  std::vector<Lane> lanes;
  std::map<std::string, Lane> by_name;
  WallTime at;
  SteadyTime t;
  Counters counters;
  bool operator==(const Port&) const = default;
};

}  // namespace

JSON_FIELDS(Lane, rx_power_mw);
JSON_FIELDS(Port, name, lane_count, errors, up, lanes, by_name, at, t, counters);

namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string error_of(std::string_view text) {
  const auto port = parse_fields<Port>(text);
  return port ? "" : port.error().message;
}

TEST(Json, RefusesInvalidJson) {
  for (const char* text :
       {"",    "{",        "{]",      "[1,]",        "{\"a\":1,}",   "{\"a\"}", "{a:1}", "[1 2]",
        "tru", "1 2",      "01",      "+1",          ".5",           "1.",      "NaN",   "1e999",
        "\"a", "\"a\nb\"", R"("\x")", R"("\u12g4")", R"("\ud800x")", "\"\xff\""})
    EXPECT_FALSE(parse_json(text)) << text;
  EXPECT_TRUE(parse_json(R"({"a":[1,{"b":null},true,"x"],"c":{}})"));
}

TEST(Json, RefusesADeepDocument) {
  EXPECT_THAT(parse_json(std::string(1'000'000, '[')).error().message, HasSubstr("too deeply"));
  const std::string brackets_in_text = "[\"" + std::string(100, '[') + "\\\"[[\"]";
  EXPECT_TRUE(parse_json(brackets_in_text));
}

TEST(Json, WhatTurnsATerminalAroundIsEscapedAndReadsTheSame) {
  const std::string name = "a\x1b[31m\x7f\xc2\x9b\u202e\u2066\ufeffb\u2026\u00b5";
  const std::string json = quoted_json(name);
  EXPECT_EQ(json, R"("a\u001b[31m\u007f\u009b\u202e\u2066\ufeffb)"
                  "\u2026\u00b5\"");
  EXPECT_EQ(parse_json(json)->get<std::string>(), name);
}

TEST(Json, WritesValidTextForAnyBytes) {
  EXPECT_EQ(quoted_json("a\"\\\n\x01\xff\xc3\xa9"), "\"a\\\"\\\\\\n\\u0001\xef\xbf\xbd\xc3\xa9\"");
  EXPECT_EQ(format_json(OrderedJson{{"z", 1U}, {"a", std::nan("")}}), R"({"z":1,"a":null})");
}

TEST(JsonFields, TheSameListWritesAndReads) {
  Port port;
  port.name = "mlx5_0/1";
  port.lane_count = 4;
  port.errors = 18446744073709551615U;
  port.up = true;
  port.lanes = {{0.1}, {}};
  port.by_name["a"] = {1e-7};
  port.at = *parse_rfc3339("2026-11-20T10:00:12.500Z");
  port.t = steady_from_seconds(1234567.891);
  port.counters.set("symbol_error", 3);
  port.counters.set("not_in_the_table", 4);
  const std::string text = format_fields(port);
  EXPECT_EQ(text, R"({"name":"mlx5_0/1","lane_count":4,"errors":18446744073709551615,"up":true,)"
                  R"("lanes":[{"rx_power_mw":0.1},{}],"by_name":{"a":{"rx_power_mw":1e-07}},)"
                  R"("at":"2026-11-20T10:00:12.500Z","t":1234567.891,)"
                  R"("counters":{"symbol_error":3,"not_in_the_table":4}})");
  const auto again = parse_fields<Port>(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, port);
}

TEST(JsonFields, UnknownKeysAndNullAreLeftOut) {
  const auto port = parse_fields<Port>(R"({"later":[1],"name":null,"counters":{"a":null}})");
  ASSERT_TRUE(port) << port.error().message;
  EXPECT_EQ(*port, Port());
}

TEST(JsonFields, AnErrorNamesThePlace) {
  EXPECT_EQ(error_of(R"({"lanes":[{},{"rx_power_mw":"four"}]})"),
            R"(lanes > 2 > rx_power_mw: expected a number, found "four")");
  EXPECT_EQ(error_of(R"({"by_name":{"x":[]}})"), "by_name > x: expected an object, found an array");
  EXPECT_EQ(error_of("3"), "expected an object, found 3");
  EXPECT_EQ(error_of(R"({"counters":{"a":1.5}})"),
            "counters > a: expected a whole number below 2^64, found 1.5");
  EXPECT_THAT(error_of(R"({"lane_count":4294967296})"),
              HasSubstr("expected a whole number below 2^32"));
  for (const char* number : {"-1", "5.0", "1e3", "\"5\"", "18446744073709551616"})
    EXPECT_THAT(error_of(std::string(R"({"errors":)") + number + "}"), StartsWith("errors: "));
  EXPECT_THAT(error_of(R"({"at":"yesterday"})"), HasSubstr("expected a time such as"));
  EXPECT_THAT(error_of(R"({"t":1e300})"), HasSubstr("out of range"));
  EXPECT_LT(error_of("{\"by_name\":{\"" + std::string(10'000, 'x') + "\":\"" +
                     std::string(10'000, 'y') + "\"}}")
                .size(),
            250U);
}

}  // namespace
}  // namespace linkhealth
