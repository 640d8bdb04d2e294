#include "daemon/server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <httplib.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <filesystem>
#include <fstream>

#include "tests/support/gunzip.h"
#include "tests/support/test_server.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ServerTest : public ::testing::Test, protected test::TestServer {
 protected:
  void SetUp() override {
    publish();
    start();
  }
  httplib::Client tcp() const {
    httplib::Client client("127.0.0.1", server->tcp_port());
    client.set_decompress(false);
    return client;
  }
  httplib::Client local() const {
    httplib::Client client(settings.socket_path, 1);
    client.set_address_family(AF_UNIX);
    client.set_read_timeout(20);
    return client;
  }
};

TEST_F(ServerTest, MetricsPlainAndPackedAreTheSameBytes) {
  const auto plain = tcp().Get("/metrics");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->status, 200);
  EXPECT_EQ(plain->get_header_value("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_FALSE(plain->has_header("Content-Encoding"));
  EXPECT_THAT(plain->body, HasSubstr("linkhealth_build_info{version=\"1.2.3\"} 1"));
  const auto packed = tcp().Get("/metrics", {{"Accept-Encoding", "gzip, deflate, br"}});
  ASSERT_TRUE(packed);
  EXPECT_EQ(packed->get_header_value_count("Content-Encoding"), 1U);
  EXPECT_EQ(packed->get_header_value("Content-Encoding"), "gzip");
  EXPECT_EQ(test::gunzip(packed->body), plain->body);
}

TEST_F(ServerTest, MetricGroupsAreAskedFor) {
  EXPECT_THAT(tcp().Get("/metrics")->body, Not(HasSubstr("linkhealth_raw_total")));
  const auto all = tcp().Get("/metrics?collect[]=counters&collect[]=optics");
  EXPECT_THAT(all->body, HasSubstr("linkhealth_raw_total{"));
  EXPECT_THAT(all->body, HasSubstr("linkhealth_module_lane_rx_power_watts{"));
  const auto wrong = tcp().Get("/metrics?collect%5B%5D=optic");
  EXPECT_EQ(wrong->status, 400);
  EXPECT_THAT(wrong->body, HasSubstr("there are counters and optics"));
}

TEST_F(ServerTest, TheSameApiOnBothSockets) {
  for (const char* path :
       {"/api/v1/report", "/api/v1/ports/mlx5_3/1", "/api/v1/text/status?width=120", "/-/ready"}) {
    const auto a = tcp().Get(path);
    const auto b = local().Get(path);
    ASSERT_TRUE(a) << path;
    ASSERT_TRUE(b) << path;
    EXPECT_EQ(a->status, 200) << path;
    EXPECT_EQ(a->body, b->body) << path;
  }
  EXPECT_THAT(tcp().Get("/api/v1/report")->body, HasSubstr("\"node\":\"gpu-0417\""));
  EXPECT_THAT(tcp().Get("/api/v1/ports/ens4np0")->body, StartsWith("{\"port\":\"mlx5_3/1\""));
  EXPECT_THAT(tcp().Get("/api/v1/events")->body, HasSubstr("\"event\":\"opened\""));
}

TEST_F(ServerTest, UnknownPortGetsASuggestion) {
  const auto json = tcp().Get("/api/v1/ports/mlx5_33");
  EXPECT_EQ(json->status, 404);
  EXPECT_EQ(json->body,
            "{\"error\":\"no port \\\"mlx5_33\\\": did you mean mlx5_3? (linkhealth status lists "
            "the ports)\"}\n");
  const auto text = tcp().Get("/api/v1/text/explain/mlx5_33");
  EXPECT_EQ(text->status, 404);
  EXPECT_THAT(text->body, StartsWith("no port \"mlx5_33\": did you mean mlx5_3?"));
}

TEST_F(ServerTest, HeadNotFoundAndNotAllowed) {
  const auto head = tcp().Head("/metrics");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 200);
  EXPECT_TRUE(head->body.empty());
  EXPECT_EQ(tcp().Get("/nothing")->status, 404);
  const auto post = tcp().Post("/metrics", "x", "text/plain");
  ASSERT_TRUE(post);
  EXPECT_EQ(post->status, 405);
  EXPECT_EQ(post->get_header_value("Allow"), "GET, HEAD");
  EXPECT_EQ(tcp().Delete("/api/v1/report")->status, 405);
}

TEST_F(ServerTest, ALargeBodyIsRefused) {
  const auto reply = tcp().Post("/", std::string(100000, 'x'), "text/plain");
  if (reply) {  // or the connection was closed under the sender
    EXPECT_EQ(reply->status, 413);
  }
  EXPECT_EQ(tcp().Get("/-/ready")->status, 200);
}

TEST_F(ServerTest, SafeHeadersOnEveryAnswer) {
  for (const char* path : {"/", "/metrics", "/nothing"}) {
    const auto reply = tcp().Get(path);
    EXPECT_EQ(reply->get_header_value("X-Content-Type-Options"), "nosniff") << path;
    EXPECT_THAT(reply->get_header_value("Content-Security-Policy"), HasSubstr("default-src 'none'"))
        << path;
  }
}

TEST_F(ServerTest, HealthyUntilTheLastSampleIsOld) {
  EXPECT_EQ(tcp().Get("/-/healthy")->status, 200);
  clock.wall_now = clock.wall_now.load() + std::chrono::minutes(5);
  const auto reply = tcp().Get("/-/healthy");
  EXPECT_EQ(reply->status, 503);
  EXPECT_EQ(reply->body, "the last sample is 5 min old\n");
}

/// Sends `text` and leaves the connection open.
int half_a_request(int port, const std::string& text) {
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(send(client, text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
  return client;
}

TEST_F(ServerTest, SlowClientsHoldUpNobody) {
  const int one = half_a_request(server->tcp_port(), "GET /metrics HT");
  const int two = half_a_request(server->tcp_port(), "");
  EXPECT_EQ(tcp().Get("/metrics")->status, 200);
  EXPECT_EQ(local().Get("/metrics")->status, 200);
  close(one);
  close(two);
}

TEST_F(ServerTest, GarbageIsAnsweredOrDroppedAndNothingElseSuffers) {
  const int client =
      half_a_request(server->tcp_port(), std::string("\x16\x03\x01\x00\xff\r\n\r\n", 9));
  EXPECT_EQ(tcp().Get("/-/ready")->status, 200);
  close(client);
  EXPECT_EQ(tcp().Get("/" + std::string(5000, 'a'))->status, 404);
}

TEST_F(ServerTest, RecordingStreamsOnTheUnixSocketOnly) {
  EXPECT_EQ(tcp().Get("/api/v1/recording?for=1")->status, 403);
  EXPECT_EQ(local().Get("/api/v1/recording")->status, 400);
  EXPECT_EQ(local().Get("/api/v1/recording?for=0")->status, 400);
  EXPECT_EQ(local().Get("/api/v1/recording?for=1")->status, 503);  // no header yet
  tap.set_header("{\"schema\":1}");
  std::string got;
  auto client = local();
  SteadyTime t(std::chrono::seconds(10));
  const auto reply = client.Get("/api/v1/recording?for=2", [&](const char* data, std::size_t size) {
    got.append(data, size);
    tap.push(t, "{\"t\":" + std::to_string(t.time_since_epoch().count()) + "}");
    t += std::chrono::seconds(1);
    return true;
  });
  ASSERT_TRUE(reply);
  EXPECT_EQ(got, "{\"schema\":1}\n{\"t\":10000}\n{\"t\":11000}\n{\"t\":12000}\n");
}

TEST_F(ServerTest, StoppingEndsARecordingInGoodOrder) {
  tap.set_header("{}");
  auto client = local();
  const auto reply = client.Get("/api/v1/recording?for=3600", [&](const char*, std::size_t) {
    tap.close();
    return true;
  });
  EXPECT_TRUE(reply);
}

TEST_F(ServerTest, TheSocketIsForEverybody) {
  struct stat info {};
  ASSERT_EQ(lstat(settings.socket_path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0666U) << "who may act is decided by credentials";
  server.reset();
  EXPECT_FALSE(std::filesystem::exists(settings.socket_path));
}

TEST_F(ServerTest, TheSocketsModeAndGroupAreTheSites) {
  server.reset();
  settings.socket_mode = 0660;
  const group* own = getgrgid(getegid());
  ASSERT_NE(own, nullptr);
  settings.socket_group = own->gr_name;
  start();
  struct stat info {};
  ASSERT_EQ(lstat(settings.socket_path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0660U);
  EXPECT_EQ(info.st_gid, getegid());
  server.reset();
  settings.socket_group = "no-such-group";
  const auto wrong = Server::start(settings, reports, tap, clock);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message, "socket_group: there is no group \"no-such-group\"");
  EXPECT_FALSE(std::filesystem::exists(settings.socket_path));
}

TEST_F(ServerTest, AnAddressInUseIsOneClearError) {
  ServerSettings other;
  other.listen = {"127.0.0.1", static_cast<std::uint16_t>(server->tcp_port())};
  const auto second = Server::start(other, reports, tap, clock);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().message,
            "can't listen on " + to_string(other.listen) + ": Address already in use");
}

TEST_F(ServerTest, ASocketThatAnswersIsNotTaken) {
  ServerSettings other;
  other.socket_path = settings.socket_path;
  const auto second = Server::start(other, reports, tap, clock);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().message, "another daemon answers on " + settings.socket_path);
  EXPECT_EQ(local().Get("/-/ready")->status, 200);
}

class UnstartedServer : public ::testing::Test, protected test::TestServer {};

TEST_F(UnstartedServer, BeforeTheFirstSample) {
  start();
  httplib::Client client("127.0.0.1", server->tcp_port());
  EXPECT_EQ(client.Get("/-/ready")->status, 503);
  EXPECT_EQ(client.Get("/metrics")->status, 503);
  EXPECT_EQ(client.Get("/-/healthy")->status, 200);
}

TEST_F(UnstartedServer, AStaleSocketIsReplaced) {
  const int old = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  settings.socket_path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(old, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  close(old);
  publish();
  start();
}

TEST_F(UnstartedServer, AFileInTheWayIsKept) {
  std::ofstream(settings.socket_path) << "precious";
  const auto started = Server::start(settings, reports, tap, clock);
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().message, settings.socket_path + " is in the way: it is not a socket");
  EXPECT_TRUE(std::filesystem::exists(settings.socket_path));
}

TEST_F(UnstartedServer, Ipv6Literal) {
  settings.listen = {"::1", 0};
  settings.socket_path.clear();
  publish();
  auto started = Server::start(settings, reports, tap, clock);
  if (!started) GTEST_SKIP() << "no IPv6 on this machine: " << started.error().message;
  server = std::move(started).value();
  httplib::Client client("::1", server->tcp_port());
  EXPECT_EQ(client.Get("/-/ready")->status, 200);
}

TEST_F(UnstartedServer, AllAddresses) {
  settings.listen = *parse_listen_address(":0");
  publish();
  start();
  EXPECT_EQ(httplib::Client("127.0.0.1", server->tcp_port()).Get("/-/ready")->status, 200);
}

}  // namespace
}  // namespace linkhealth
