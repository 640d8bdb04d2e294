// The API on its sockets.
#include "daemon/api/api_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <filesystem>
#include <fstream>

#include "cli/http_client.h"
#include "tests/support/test_server.h"

namespace linkhealth {
namespace {

using cli::Answer;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ApiServerTest : public ::testing::Test, protected test::TestServer {
 protected:
  [[nodiscard]] Answer tcp(const std::string& path, const std::string& host = "127.0.0.1") const {
    cli::HttpTarget target;
    target.url = "http://" + host + ":" + std::to_string(server->tcp_port()) + path;
    const auto answer = cli::fetch(target, std::size_t{1} << 20U);
    return answer ? *answer : Answer{0, answer.error().message};
  }
  [[nodiscard]] cli::HttpTarget local_target(const std::string& path) const {
    cli::HttpTarget target;
    target.url = "http://localhost" + path;
    target.unix_socket = settings.socket.path;
    return target;
  }
  [[nodiscard]] Answer local(const std::string& path) const {
    const auto answer = cli::fetch(local_target(path), std::size_t{1} << 20U);
    return answer ? *answer : Answer{0, answer.error().message};
  }
  std::string start_error(const ApiServerSettings& with) {
    const auto started = try_start(with);
    return started ? "" : started.error().message;
  }
};

class StartedServer : public ApiServerTest {
 protected:
  void SetUp() override {
    publish();
    start();
  }
};

TEST_F(StartedServer, TheSameApiOnBothSockets) {
  for (const char* path : {"/api/v1/report", "/api/v1/ports/mlx5_3/1", "/metrics", "/-/ready"}) {
    const Answer over_tcp = tcp(path);
    EXPECT_EQ(over_tcp.status, 200) << path;
    EXPECT_EQ(over_tcp.body, local(path).body) << path;
  }
  reports.publish(reports.current()->report, {}, {.version = "another"});
  EXPECT_THAT(tcp("/metrics").body, HasSubstr("version=\"another\"")) << "of the last step";
}

TEST_F(StartedServer, RecordingsAreOnTheUnixSocketOnly) {
  EXPECT_EQ(tcp("/api/v1/recording?for=1").status, 403);
  for (const char* query : {"", "?for=0", "?for=86401", "?for=x"})
    EXPECT_EQ(local(std::string("/api/v1/recording") + query).status, 400) << query;
  EXPECT_EQ(local("/api/v1/recording?for=1").status, 503) << "no header yet";
  recordings.set_header([] { return std::string("{\"schema\":1}"); });
  std::string got;
  SteadyTime t(std::chrono::seconds(10));
  const auto answer =
      cli::fetch(local_target("/api/v1/recording?for=2"), [&](int, std::string_view bytes) {
        got += bytes;
        recordings.publish(
            t, {}, [t] { return "{\"t\":" + std::to_string(t.time_since_epoch().count()) + "}"; });
        server->wake_streams();
        t += std::chrono::seconds(1);
        return true;
      });
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(got, "{\"schema\":1}\n{\"t\":10000}\n{\"t\":11000}\n{\"t\":12000}\n");
}

TEST_F(StartedServer, StoppingEndsARecordingInGoodOrder) {
  recordings.set_header([] { return std::string("{}"); });
  const auto answer =
      cli::fetch(local_target("/api/v1/recording?for=3600"), [&](int, std::string_view) {
        recordings.close();
        server->wake_streams();
        return true;
      });
  EXPECT_TRUE(answer.ok());
}

TEST_F(StartedServer, EventsComeAsTheyHappen) {
  std::string got;
  const auto answer =
      cli::fetch(local_target("/api/v1/events/stream"), [&](int, std::string_view bytes) {
        got += bytes;
        if (got.find("data: ") != std::string::npos) return false;
        publish();
        server->wake_streams();
        return true;
      });
  EXPECT_EQ(answer.error().errnum, ECANCELED);
  EXPECT_THAT(got, StartsWith(": linkhealth\nretry: 5000\n\nid: "));
  EXPECT_THAT(got, HasSubstr("\nevent: fault\ndata: {\""));
}

TEST_F(StartedServer, ANameOfAStrangerOnLoopbackIsRefused) {
  const auto status = [&](const std::string& method, const std::string& host) {
    const std::string request =
        method + " /-/ready HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n";
    const OwnedFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(server->tcp_port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_GT(send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL), 0);
    std::string answer(12, '\0');
    EXPECT_EQ(recv(fd.get(), answer.data(), answer.size(), MSG_WAITALL), 12);
    return answer.substr(9);
  };
  EXPECT_EQ(status("GET", "localhost:1"), "200");
  EXPECT_EQ(status("GET", "evil.example"), "421");
  EXPECT_EQ(status("POST", "evil.example"), "421");
  EXPECT_EQ(status("POST", "localhost"), "405");
}

TEST_F(StartedServer, StreamsOnTcpTakeNoPlacesOfTheUnixSocket) {
  settings.limits.streams = 1;
  server.reset();
  start();
  const std::string path = "/api/v1/events/stream";
  cli::HttpTarget target;
  target.url = "http://127.0.0.1:" + std::to_string(server->tcp_port()) + path;
  int local_status = 0;
  const auto ended = cli::fetch(target, [&](int status, std::string_view) {
    EXPECT_EQ(status, 200);
    EXPECT_EQ(tcp(path).status, 503);
    const auto local_ended = cli::fetch(local_target(path), [&](int inner, std::string_view) {
      local_status = inner;
      return false;
    });
    EXPECT_EQ(local_ended.error().errnum, ECANCELED);
    return false;
  });
  EXPECT_EQ(ended.error().errnum, ECANCELED);
  EXPECT_EQ(local_status, 200);
}

TEST_F(StartedServer, AnAddressInUseIsOneClearError) {
  ApiServerSettings other;
  other.listen = {"127.0.0.1", static_cast<std::uint16_t>(server->tcp_port())};
  EXPECT_EQ(start_error(other),
            "cannot listen on " + to_string(other.listen) + ": Address already in use");
  ApiServerSettings same_socket;
  same_socket.socket = settings.socket;
  EXPECT_EQ(start_error(same_socket), "another daemon answers on " + settings.socket.path);
  EXPECT_EQ(local("/-/ready").status, 200);
}

TEST_F(StartedServer, TheSocketIsForItsGroupAndGoesWithTheServer) {
  struct stat info {};
  ASSERT_EQ(lstat(settings.socket.path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0660U) << "credentials decide who may act";
  server.reset();
  EXPECT_FALSE(std::filesystem::exists(settings.socket.path));
}

TEST_F(ApiServerTest, TheSocketsModeAndGroupAreConfigured) {
  const group* own = getgrgid(getegid());
  ASSERT_NE(own, nullptr);
  settings.socket.mode = 0660;
  settings.socket.group = own->gr_name;
  start();
  struct stat info {};
  ASSERT_EQ(lstat(settings.socket.path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0660U);
  EXPECT_EQ(info.st_gid, getegid());
  server.reset();
  settings.socket.group = "no-such-group";
  EXPECT_EQ(start_error(settings), "socket_group: there is no group \"no-such-group\"");
  EXPECT_FALSE(std::filesystem::exists(settings.socket.path));
}

TEST_F(ApiServerTest, AStaleSocketIsReplacedAndAFileIsKept) {
  const OwnedFd old(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  settings.socket.path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(old.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  publish();
  start();
  EXPECT_EQ(local("/-/ready").status, 200);
  server.reset();
  std::ofstream(settings.socket.path) << "precious";
  EXPECT_EQ(start_error(settings), settings.socket.path + " exists and is not a socket");
  EXPECT_TRUE(std::filesystem::exists(settings.socket.path));
}

TEST_F(ApiServerTest, AllAddressesAndIpv6) {
  settings.listen = *parse_listen_address(":0");
  publish();
  start();
  EXPECT_EQ(tcp("/-/ready").status, 200);
  server.reset();
  settings.listen = {"::1", 0};
  auto started = try_start(settings);
  if (!started) GTEST_SKIP() << "no IPv6 on this machine: " << started.error().message;
  server = std::move(started).value();
  EXPECT_EQ(tcp("/-/ready", "[::1]").status, 200);
}

}  // namespace
}  // namespace linkhealth
