#include "cli/prometheus.h"

#include <gmock/gmock.h>

#include <cmath>

#include "cli/exit_codes.h"

namespace linkhealth::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string error_of(std::string_view body) {
  const auto rows = parse_vector(body);
  return rows ? "" : rows.error().message;
}

TEST(PrometheusAnswer, Rows) {
  const auto rows = parse_vector(
      R"({"status":"success","data":{"resultType":"vector","result":[)"
      R"({"metric":{"instance":"gpu-1","device":"mlx5_0"},"value":[1795176000.1,"0.83"]},)"
      R"({"metric":{},"value":[1,"+Inf"]},{"metric":{},"value":[1,"NaN"]}]},"warnings":["w"]})");
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  ASSERT_EQ(rows->size(), 3U);
  EXPECT_EQ(rows->front().label("instance"), "gpu-1");
  EXPECT_EQ(rows->front().label("rack"), "");
  EXPECT_EQ(rows->front().value, 0.83);
  EXPECT_TRUE(std::isinf(rows->at(1).value));
  EXPECT_TRUE(std::isnan(rows->at(2).value));
  EXPECT_TRUE(
      parse_vector(R"({"status":"success","data":{"resultType":"vector","result":[]}})")->empty());
}

TEST(PrometheusAnswer, MalformedAnswersAreOneLine) {
  for (
      const char* body :
      {"", "null", "[]", "{}", "404 page not found\n<html>", R"({"status":"success"})",
       R"({"status":"success","data":{"resultType":"matrix","result":[]}})",
       R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{}}]}})",
       R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{"a":1},"value":[1,"1"]}]}})",
       R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"abc"]}]}})",
       R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,2]}]}})",
       R"({"status":"success","data":{"resultType":"vector","result":[)"}) {
    const std::string why = error_of(body);
    EXPECT_THAT(why, HasSubstr("is not a Prometheus response")) << body;
    EXPECT_THAT(why, Not(HasSubstr("\n"))) << body;
  }
}

TEST(PrometheusAnswer, ControlCharactersOfItsErrorAreReplaced) {
  EXPECT_EQ(
      error_of(R"({"status":"error","errorType":"bad_data","error":"parse error\u001b[31m"})"),
      "says: bad_data: parse error?[31m");
}

TEST(PrometheusAnswer, TooManySeriesAreAnError) {
  std::string body = R"({"status":"success","data":{"resultType":"vector","result":[)";
  for (std::size_t i = 0; i <= kMostRows; ++i)
    body += (i == 0 ? "" : ",") + std::string(R"({"metric":{},"value":[1,"1"]})");
  EXPECT_THAT(error_of(body + "]}}"), HasSubstr("more than 50000 series"));
}

TEST(PrometheusAddress, InvalidOnesAreRejected) {
  for (const char* url : {"", "prometheus:9090", "ftp://x", "http://", "http://user@x",
                          "http://a b", "http://x/?q=1"})
    EXPECT_THROW(Prometheus({.url = url}), CommandError) << url;
  EXPECT_EQ(Prometheus({.url = "https://me:se%40cret@host:1234/prom/"}).shown(),
            "https://host:1234/prom");
  EXPECT_THROW(Prometheus({.url = "http://x", .bearer_token_file = "/nonexistent/token"}),
               CommandError);
  EXPECT_THROW(Prometheus({.url = "https://x", .ca_file = "/nonexistent/ca"}), CommandError);
}

}  // namespace
}  // namespace linkhealth::cli
