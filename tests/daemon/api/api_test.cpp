// The routes and what they answer, without a connection.
#include "daemon/api/api.h"

#include <gmock/gmock.h>

#include <set>

#include "model/json/json.h"
#include "tests/support/fake_actions.h"
#include "tests/support/test_server.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ApiTest : public ::testing::Test, protected test::TestServer {
 protected:
  void SetUp() override {
    actions = &fake;
    publish();
  }
  HttpResponse ask(const std::string& path, std::multimap<std::string, std::string> params = {},
                   const std::string& method = "GET") {
    HttpRequest request;
    request.method = method;
    request.path = path;
    request.params = std::move(params);
    return handle_api(request, context());
  }
  test::FakeActions fake;
};

TEST_F(ApiTest, MetricGroups) {
  const HttpResponse usual = ask("/metrics");
  EXPECT_EQ(usual.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(usual.body, HasSubstr("linkhealth_build_info{version=\"1.2.3\"} 1"));
  EXPECT_THAT(usual.body, Not(HasSubstr("linkhealth_raw_total")));
  const HttpResponse all = ask("/metrics", {{"collect[]", "counters"}, {"collect[]", "optics"}});
  EXPECT_THAT(all.body, HasSubstr("linkhealth_raw_total{"));
  EXPECT_THAT(all.body, HasSubstr("linkhealth_module_lane_rx_power_watts{"));
  const HttpResponse wrong = ask("/metrics", {{"collect[]", "optic"}});
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(wrong.body, HasSubstr("there are counters and optics"));
}

TEST_F(ApiTest, ManyEventsComeAsAStreamInPieces) {
  for (int i = 1; i < 300; ++i) publish();
  HttpRequest request;
  request.method = "GET";
  request.path = "/api/v1/events/stream";
  request.last_event_id = "of a daemon before";
  const HttpResponse response = handle_api(request, context());
  std::size_t pieces = 0, events = 0;
  for (std::string piece; response.stream->next(piece) == HttpStream::State::kBytes;
       piece.clear(), ++pieces) {
    EXPECT_LT(piece.size(), 40'000U);
    for (auto at = piece.find("\ndata: "); at != std::string::npos;
         at = piece.find("\ndata: ", at + 1))
      ++events;
  }
  EXPECT_EQ(events, 300U);
  EXPECT_GT(pieces, 2U);
}

TEST_F(ApiTest, APortByAnyOfItsNamesSlashesIncluded) {
  for (const char* name : {"mlx5_3/1", "mlx5_3", "ens4np0", "0000:9a:00.0"})
    EXPECT_THAT(ask(std::string("/api/v1/ports/") + name).body,
                StartsWith("{\"port\":\"mlx5_3/1\""))
        << name;
  const HttpResponse wrong = ask("/api/v1/ports/mlx5_33");
  EXPECT_EQ(wrong.status, 404);
  EXPECT_EQ(wrong.body,
            "{\"error\":\"no port \\\"mlx5_33\\\": did you mean mlx5_3? (linkhealth status lists "
            "the ports)\"}\n");
  EXPECT_EQ(ask("/api/v1/ports/").status, 404) << "a name is not empty";
}

TEST_F(ApiTest, OtherMethodsAndPaths) {
  EXPECT_EQ(ask("/nothing").status, 404);
  EXPECT_EQ(ask("/metrics/").status, 404);
  EXPECT_EQ(ask("/metrics", {}, "HEAD").status, 200);
  const HttpResponse put = ask("/metrics", {}, "PUT");
  EXPECT_EQ(put.status, 405);
  EXPECT_EQ(put.headers.at(0), (std::pair<std::string, std::string>("Allow", "GET, HEAD")));
  EXPECT_EQ(ask("/api/v1/maintenance").headers.at(0).second, "POST");
  EXPECT_EQ(ask("/api/v1/ports//ack", {}, "POST").status, 405);
}

TEST_F(ApiTest, HealthyUntilTheLastSampleIsOld) {
  EXPECT_EQ(ask("/-/healthy").status, 200);
  clock.wall_now = clock.wall_now.load() + std::chrono::minutes(5);
  const HttpResponse old = ask("/-/healthy");
  EXPECT_EQ(old.status, 503);
  EXPECT_EQ(old.body, "the last sample is 5 min old\n");
}

TEST_F(ApiTest, ThePageHasItsOwnPolicy) {
  const HttpResponse page = ask("/");
  EXPECT_THAT(page.content_type, StartsWith("text/html"));
  EXPECT_THAT(page.headers.at(0).second, HasSubstr("script-src 'self'"));
  EXPECT_EQ(ask("/web/app.js").status, 200);
  EXPECT_EQ(ask("/web/../api.h").status, 404);
}

TEST_F(ApiTest, EachRouteIsUniqueAndDescribed) {
  const auto document = parse_json(ask("/api/v1/openapi.json").body);
  ASSERT_TRUE(document.ok());
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const ApiRoute& route : api_routes()) {
    EXPECT_TRUE(seen.insert({route.method, route.path}).second) << route.path;
    const Json& operations = member(member(*document, "paths"), route.path);
    EXPECT_TRUE(member(operations, route.method == "GET" ? "get" : "post").is_object())
        << route.path;
  }
}

class BeforeTheFirstReport : public ::testing::Test, protected test::TestServer {};

TEST_F(BeforeTheFirstReport, RoutesThatNeedAReportAreUnavailable) {
  HttpRequest request;
  request.method = "GET";
  for (const auto& [path, status] : {std::pair("/-/ready", 503),
                                     {"/metrics", 503},
                                     {"/-/healthy", 200},
                                     {"/", 200},
                                     {"/api/v1/events", 200}}) {
    request.path = path;
    EXPECT_EQ(handle_api(request, context()).status, status) << path;
  }
}

class ApiActions : public ApiTest {
 protected:
  ApiActions() {
    request.method = "POST";
    request.path = "/api/v1/ports/mlx5_3/1/ack";
    request.params.emplace("by", "ann");
    request.content_type = "application/json; charset=utf-8";
    request.host = "node:9942";
    request.caller.may_act = true;
  }
  int status() { return handle_api(request, context()).status; }
  HttpRequest request;
};

TEST_F(ApiActions, OnTcpOnlyTheDaemonsOwnPageMayAct) {
  EXPECT_EQ(status(), 200);
  request.origin = "https://node:9942";
  EXPECT_EQ(status(), 200);
  fake.noted.clear();
  for (const char* origin : {"https://elsewhere.example", "null"}) {
    request.origin = origin;
    EXPECT_EQ(status(), 403) << origin;
  }
  request.origin.clear();
  for (const char* type :
       {"text/plain", "application/x-www-form-urlencoded", "", "application/jsonx"}) {
    request.content_type = type;
    EXPECT_EQ(status(), 415) << type;
  }
  EXPECT_EQ(fake.noted, "");
}

TEST_F(ApiActions, OnTheUnixSocketTheUserDecides) {
  request.caller.transport = Caller::Transport::kUnix;
  request.content_type.clear();
  EXPECT_EQ(status(), 200);
  fake.noted.clear();
  request.caller.may_act = false;
  EXPECT_EQ(status(), 403);
  EXPECT_EQ(fake.noted, "");
}

TEST_F(ApiActions, BadParameters) {
  for (const char* bad : {"0", "x", "-5", "99999999999"}) {
    request.params = {{"by", "ann"}, {"for", bad}};
    EXPECT_EQ(status(), 400) << bad;
  }
  request.params = {{"by", "ann"}, {"reason", std::string(501, 'x')}};
  EXPECT_EQ(status(), 400);
  request.params.clear();
  EXPECT_EQ(status(), 400) << "no name";
  request.params = {{"by", "ann (as root)"}};
  EXPECT_EQ(status(), 400) << "the daemon writes that";
  request.params = {{"by", "ann ( as root)"}};
  EXPECT_EQ(status(), 400);
  request.params = {{"by", "ann"}};
  request.path = "/api/v1/ports/none/ack";
  EXPECT_EQ(status(), 404);
  request.path = "/api/v1/maintenance";
  EXPECT_EQ(status(), 404) << "no port";
  request.params.emplace("port", "all");
  EXPECT_EQ(status(), 400) << "no end";
}

TEST_F(ApiActions, TheAuthenticatedUserIsAddedToAnotherName) {
  request.caller.user = "root";
  EXPECT_EQ(status(), 200);
  EXPECT_THAT(fake.noted, HasSubstr("|ann (as root)|"));
  request.caller.user = "ann";
  EXPECT_EQ(status(), 200);
  EXPECT_THAT(fake.noted, HasSubstr("|ann|"));
  request.params.clear();
  request.caller.user = "bob";
  EXPECT_EQ(status(), 200);
  EXPECT_THAT(fake.noted, HasSubstr("|bob|"));
  request.caller.user = "eve (as root)";  // so a certificate can call her
  EXPECT_EQ(status(), 200);
  EXPECT_THAT(fake.noted, HasSubstr("|eve [as root]|"));
  request.caller.user = "bob";
  request.path = "/api/v1/maintenance";
  request.params = {{"by", "ann"}, {"port", "mlx5_3"}, {"for", "60"}};
  EXPECT_EQ(status(), 200);
  EXPECT_THAT(fake.noted, HasSubstr("|ann (as bob)|"));
  request.params.emplace("module_reads", "maybe");
  EXPECT_EQ(status(), 400);
}

TEST_F(ApiActions, ControlCharactersAreRemoved) {
  request.params.emplace("reason", "a\x1b[31mred");
  EXPECT_EQ(status(), 200);
  EXPECT_EQ(fake.noted.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace linkhealth
