#include "daemon/http/http_parser.h"

#include <gmock/gmock.h>

namespace linkhealth {
namespace {

using State = ParsedRequest::State;

TEST(HttpParser, AScrapeAsPrometheusSendsIt) {
  const std::string text =
      "GET /metrics?collect%5B%5D=counters&collect[]=optics&x=a+b HTTP/1.1\r\nHost: n1:9942\r\n"
      "ACCEPT-ENCODING: gzip\r\n\r\n";
  const ParsedRequest parsed = parse_http_request(text + "GET /next");
  ASSERT_EQ(parsed.state, State::kComplete);
  EXPECT_EQ(parsed.size_bytes, text.size());
  const HttpRequest& request = parsed.request;
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.path, "/metrics");
  EXPECT_TRUE(request.accepts_gzip);
  EXPECT_TRUE(request.keep_alive);
  EXPECT_EQ(request.params.count("collect[]"), 2U);
  EXPECT_EQ(request.param("x"), "a b");
}

TEST(HttpParser, EveryPrefixIsIncomplete) {
  const std::string text = "POST /a HTTP/1.1\r\nHost: n\r\nContent-Length: 3\r\n\r\nxyz";
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_EQ(parse_http_request(text.substr(0, size)).state, State::kIncomplete) << size;
  EXPECT_EQ(parse_http_request(text).size_bytes, text.size());
}

TEST(HttpParser, TheBodyAndTheFieldsThatAreRead) {
  const ParsedRequest parsed = parse_http_request(
      "POST /a HTTP/1.1\r\nhost: node:1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
      "Authorization: Basic eA==\r\nLast-Event-ID: 7\r\nOrigin: http://node:1\r\n\r\n{}GET / ");
  ASSERT_EQ(parsed.state, State::kComplete);
  EXPECT_EQ(parsed.request.body, "{}");
  EXPECT_EQ(parsed.request.content_type, "application/json");
  EXPECT_EQ(parsed.request.authorization, "Basic eA==");
  EXPECT_EQ(parsed.request.last_event_id, "7");
  EXPECT_EQ(parsed.request.origin, "http://node:1");
  EXPECT_EQ(parsed.request.host, "node:1");
}

TEST(HttpParser, ConnectionsThatAreKept) {
  const auto kept = [](const std::string& version, const std::string& field = "") {
    return parse_http_request("GET / " + version + "\r\nHost: n\r\n" + field + "\r\n")
        .request.keep_alive;
  };
  EXPECT_TRUE(kept("HTTP/1.1"));
  EXPECT_FALSE(kept("HTTP/1.1", "Connection: Close\r\n"));
  EXPECT_FALSE(kept("HTTP/1.0"));
  EXPECT_TRUE(kept("HTTP/1.0", "Connection: keep-alive\r\n"));
}

TEST(HttpParser, RefusedRequests) {
  const auto status = [](const std::string& text) {
    const ParsedRequest parsed = parse_http_request(text);
    return parsed.state == State::kRefused ? parsed.status : 0;
  };
  for (const char* line : {"GET", "GET /", "GET metrics HTTP/1.1", "GET /a b HTTP/1.1",
                           "GET / HTTP/2.0", "\x16\x03\x01", "SSH-2.0-OpenSSH"})
    EXPECT_EQ(status(line + std::string("\r\nHost: n\r\n\r\n")), 400) << line;
  EXPECT_EQ(status("GET / HTTP/1.1\r\n\r\n"), 400) << "no Host";
  EXPECT_EQ(status("GET / HTTP/1.0\r\n\r\n"), 0);
  const std::string nul("X: a\0b", 6);
  for (const std::string& field :
       {std::string("no colon"), std::string("X : x"), std::string("Content-Length: -1"),
        std::string("Content-Length: 1,1"), std::string("Content-Length: 3\r\nContent-Length: 4"),
        std::string("X: a\r\n folded"), std::string("X: a\rb"), std::string("X: a\nY: b"), nul,
        std::string("Authorization: a\r\nAuthorization: b"), std::string("Host: other")})
    EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: n\r\n" + field + "\r\n\r\n"), 400) << field;
  for (const char* host : {"", "n", "n.example:9942", "[::1]:9942", "[fe80::1%eth0]", "a_b:"})
    EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n"), 0) << host;
  for (const char* host : {"a b", "a/b", "user@n", "a,b", "a?b", "\"a\"", "a\x80", "n:x",
                           "n:999999", "[::1", "a]", "[::1]x"})
    EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n"), 400) << host;
  const auto with = [&](const std::string& field) {
    return status("GET / HTTP/1.1\r\nHost: n\r\n" + field + "\r\n\r\n");
  };
  EXPECT_EQ(with("X-Other: a\r\nX-Other: b"), 0);
  EXPECT_EQ(with("Content-Length: 99999"), 413);
  EXPECT_EQ(with("Transfer-Encoding: chunked"), 501);
  EXPECT_EQ(status(std::string(kMaxRequestHead_bytes, 'a')), 431);
}

TEST(HttpParser, Escapes) {
  EXPECT_EQ(url_decoded("a%2Fb%20c+d", false), "a/b c+d");
  EXPECT_EQ(url_decoded("a+b%2b", true), "a b+");
  for (const char* odd : {"%", "%4", "%zz", "%4z", "%-1", "%+1"})
    EXPECT_EQ(url_decoded(odd, false), odd);
}

}  // namespace
}  // namespace linkhealth
