#include "daemon/api_routes.h"

#include <gmock/gmock.h>

#include <fstream>
#include <set>

#include "model/json.h"

namespace linkhealth {
namespace {

TEST(ApiRoutes, PortsHaveSlashesInTheirNames) {
  ASSERT_NE(find_route("GET", "/api/v1/ports/mlx5_3/1"), nullptr);
  EXPECT_EQ(find_route("GET", "/api/v1/ports/mlx5_3/1")->pattern, "/api/v1/ports/{port}");
  EXPECT_EQ(find_route("POST", "/api/v1/ports/mlx5_3/1/ack")->pattern, "/api/v1/ports/{port}/ack");
  EXPECT_EQ(route_argument("/api/v1/ports/{port}/ack", "/api/v1/ports/mlx5_3/1/ack"), "mlx5_3/1");
  EXPECT_EQ(find_route("GET", "/api/v1/ports/"), nullptr) << "a name is not empty";
  EXPECT_EQ(find_route("POST", "/api/v1/ports//ack"), nullptr);
  EXPECT_EQ(find_route("HEAD", "/metrics"), find_route("GET", "/metrics"));
  EXPECT_EQ(find_route("PUT", "/metrics"), nullptr);
  EXPECT_EQ(find_route("GET", "/metrics/"), nullptr);
}

TEST(ApiRoutes, WhatIsAllowed) {
  EXPECT_EQ(allowed_methods("/metrics"), "GET, HEAD");
  EXPECT_EQ(allowed_methods("/api/v1/maintenance"), "POST");
  EXPECT_EQ(allowed_methods("/nothing"), "");
}

TEST(ApiRoutes, NoneIsThereTwice) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const ApiRoute& route : api_routes())
    EXPECT_TRUE(seen.insert({route.method, route.pattern}).second) << route.pattern;
}

/// "/api/v1/report": {"get": … in docs/schema/openapi.json: the paths are the keys that begin with
/// a slash.
std::set<std::pair<std::string, std::string>> described() {
  std::ifstream file(LINKHEALTH_SOURCE_DIR "/docs/schema/openapi.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::set<std::pair<std::string, std::string>> found;
  const auto json = parse_json(text);
  EXPECT_TRUE(json);
  if (!json) return found;
  for (const auto& [path, methods] : member(*json, "paths").items())
    for (const auto& [method, unused] : methods.items())
      found.insert({method == "get" ? "GET" : "POST", path});
  return found;
}

TEST(ApiRoutes, EachIsDescribedAndNothingElse) {
  std::set<std::pair<std::string, std::string>> routes;
  for (const ApiRoute& route : api_routes())
    routes.insert({std::string(route.method), std::string(route.pattern)});
  EXPECT_EQ(described(), routes);
}

class RefuseAct : public ::testing::Test {
 protected:
  RefuseAct() {
    request.method = "POST";
    request.path = "/api/v1/maintenance";
    request.content_type = "application/json; charset=utf-8";
    request.host = "node:9942";
    request.caller = {Caller::Way::kTcp, std::nullopt, "anna", true};
  }
  int status() const {
    const auto refusal = refuse_act(request, "root");
    return refusal ? refusal->status : 0;
  }
  ApiRequest request;
};

TEST_F(RefuseAct, TheOwnPageMayAct) {
  EXPECT_EQ(status(), 0);
  request.origin = "https://node:9942";
  EXPECT_EQ(status(), 0);
}

TEST_F(RefuseAct, NobodyMay) {
  request.caller = {};
  EXPECT_EQ(status(), 403);
  request.method = "GET";
  EXPECT_EQ(status(), 0);
}

TEST_F(RefuseAct, AnotherSitesFormMayNot) {
  request.origin = "https://elsewhere.example";
  EXPECT_EQ(status(), 403);
  request.origin = "null";
  EXPECT_EQ(status(), 403);
  request.origin.clear();
  for (const char* type :
       {"text/plain", "application/x-www-form-urlencoded", "", "application/jsonx"}) {
    request.content_type = type;
    EXPECT_EQ(status(), 415) << type;
  }
}

TEST_F(RefuseAct, OnTheUnixSocketOnlyTheUserCounts) {
  request.caller.way = Caller::Way::kUnix;
  request.content_type.clear();
  EXPECT_EQ(status(), 0);
  request.caller.may_act = false;
  EXPECT_EQ(status(), 403);
}

}  // namespace
}  // namespace linkhealth
