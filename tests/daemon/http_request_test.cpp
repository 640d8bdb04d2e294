#include "daemon/http_request.h"

#include <gmock/gmock.h>

namespace linkhealth {
namespace {

using State = HttpRequest::State;

TEST(HttpRequestTest, AScrapeAsPrometheusSendsIt) {
  const std::string text =
      "GET /metrics?collect%5B%5D=counters&collect[]=optics&x=a+b HTTP/1.1\r\nHost: n1:9942\r\n"
      "ACCEPT-ENCODING: gzip\r\n\r\n";
  const HttpRequest request = parse_http_request(text + "GET /next");
  ASSERT_EQ(request.state, State::kComplete);
  EXPECT_EQ(request.size, text.size());
  EXPECT_EQ(request.api.method, "GET");
  EXPECT_EQ(request.api.path, "/metrics");
  EXPECT_TRUE(request.api.accepts_gzip);
  EXPECT_TRUE(request.keep_alive);
  EXPECT_EQ(request.api.params.count("collect[]"), 2U);
  EXPECT_EQ(request.api.params.find("x")->second, "a b");
}

TEST(HttpRequestTest, EveryPrefixIsIncomplete) {
  const std::string text = "POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nxyz";
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_EQ(parse_http_request(text.substr(0, size)).state, State::kIncomplete) << size;
  EXPECT_EQ(parse_http_request(text).size, text.size());
}

TEST(HttpRequestTest, TheBodyAndTheFieldsThatMatter) {
  const HttpRequest request = parse_http_request(
      "POST /a HTTP/1.1\r\nhost: node:1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
      "Authorization: Basic eA==\r\nLast-Event-ID: 7\r\nOrigin: http://node:1\r\n\r\n{}GET / ");
  ASSERT_EQ(request.state, State::kComplete);
  EXPECT_EQ(request.api.body, "{}");
  EXPECT_EQ(request.api.content_type, "application/json");
  EXPECT_EQ(request.api.authorization, "Basic eA==");
  EXPECT_EQ(request.api.last_event_id, "7");
  EXPECT_EQ(request.api.origin, "http://node:1");
  EXPECT_EQ(request.api.host, "node:1");
}

TEST(HttpRequestTest, AFieldThatDecidesComesOnce) {
  const auto state = [](const std::string& field) {
    return parse_http_request("GET / HTTP/1.1\r\n" + field + ": a\r\n" + field + ": b\r\n\r\n")
        .state;
  };
  EXPECT_EQ(state("Authorization"), State::kRefused);
  EXPECT_EQ(state("Host"), State::kRefused);
  EXPECT_EQ(state("X-Other"), State::kComplete);
  EXPECT_EQ(
      parse_http_request("GET / HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 3\r\n\r\nabc")
          .state,
      State::kRefused);
}

TEST(HttpRequestTest, WhoWantsTheConnectionKept) {
  const auto kept = [](const std::string& text) {
    return parse_http_request(text + "\r\n\r\n").keep_alive;
  };
  EXPECT_TRUE(kept("GET / HTTP/1.1"));
  EXPECT_FALSE(kept("GET / HTTP/1.1\r\nConnection: Close"));
  EXPECT_FALSE(kept("GET / HTTP/1.0"));
  EXPECT_TRUE(kept("GET / HTTP/1.0\r\nConnection: keep-alive"));
}

TEST(HttpRequestTest, WhatIsRefused) {
  const auto status = [](const std::string& text) {
    const HttpRequest request = parse_http_request(text + "\r\n\r\n");
    return request.state == State::kRefused ? request.status : 0;
  };
  EXPECT_EQ(status("GET"), 400);
  EXPECT_EQ(status("GET /"), 400);
  EXPECT_EQ(status("GET metrics HTTP/1.1"), 400);
  EXPECT_EQ(status("GET /a b HTTP/1.1"), 400);
  EXPECT_EQ(status("GET / HTTP/2.0"), 400);
  EXPECT_EQ(status("\x16\x03\x01"), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nno colon"), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost : x"), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nContent-Length: -1"), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4"), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nContent-Length: 99999"), 413);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nTransfer-Encoding: chunked"), 501);
  EXPECT_EQ(parse_http_request(std::string(kMaxRequestHead_bytes, 'a')).status, 431);
}

TEST(HttpRequestTest, Escapes) {
  EXPECT_EQ(url_decoded("a%2Fb%20c+d", false), "a/b c+d");
  EXPECT_EQ(url_decoded("a+b%2b", true), "a b+");
  for (const char* odd : {"%", "%4", "%zz", "%4z", "%-1", "%+1"})
    EXPECT_EQ(url_decoded(odd, false), odd);
}

}  // namespace
}  // namespace linkhealth
