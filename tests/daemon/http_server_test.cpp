// How the server treats connections. Sockets here wait, tests do not: whatever must not come is
// followed by something that must.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>

#include "daemon/http_server.h"
#include "tests/support/test_server.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Connection {
 public:
  explicit Connection(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  /// False when the connection is closed already.
  bool try_send(const std::string& text) const {
    return ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }
  void send(const std::string& text) const { EXPECT_TRUE(try_send(text)); }
  /// What comes up to and with `mark`, or up to the end of the connection.
  std::string read_to(const std::string& mark) const {
    std::string text;
    char byte = 0;
    while (text.find(mark) == std::string::npos && recv(fd_.get(), &byte, 1, 0) == 1) text += byte;
    return text;
  }
  /// Whether the server has closed it; waits until it has, or sends.
  bool is_closed() const {
    char byte = 0;
    return recv(fd_.get(), &byte, 1, 0) <= 0;
  }

 private:
  OwnedFd fd_;
};

/// With a thread of its own, and with two that are lent.
class HttpServerTest : public ::testing::TestWithParam<ServerSettings::Thread>,
                       protected test::TestServer {
 protected:
  void SetUp() override {
    settings.thread = GetParam();
    publish();
    start();
  }
  Connection connection() const { return Connection(server->tcp_port()); }
};

constexpr const char* kReady = "GET /-/ready HTTP/1.1\r\n\r\n";

TEST_P(HttpServerTest, AConnectionTakesMoreThanAHundredRequests) {
  const Connection client = connection();
  for (int i = 0; i < 300; ++i) {
    client.send(kReady);
    ASSERT_THAT(client.read_to("ready\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
  }
}

TEST_P(HttpServerTest, RequestsInOneWriteAndInPieces) {
  const Connection client = connection();
  client.send(std::string(kReady) + kReady + "GET /-/re");
  client.read_to("ready\n");
  client.read_to("ready\n");
  client.send("ady HTTP/1.1\r\n");
  client.send("\r\n");
  EXPECT_THAT(client.read_to("ready\n"), HasSubstr("Connection: keep-alive\r\n"));
}

TEST_P(HttpServerTest, ClosesWhenAsked) {
  const Connection client = connection();
  client.send("GET /-/ready HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.read_to("ready\n"), HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(client.is_closed());
}

TEST_P(HttpServerTest, WhatIsNoHttpIsRefusedAndTheConnectionEnds) {
  const Connection client = connection();
  client.send("SSH-2.0-OpenSSH\r\n\r\n");
  EXPECT_THAT(client.read_to("\r\n\r\n"), StartsWith("HTTP/1.1 400 Bad Request\r\n"));
  client.read_to("}\n");
  EXPECT_TRUE(client.is_closed());
}

TEST_P(HttpServerTest, ManySlowClientsHoldUpNobody) {
  std::vector<Connection> slow;
  for (std::size_t i = 0; i < HttpServer::kMaxConnections; ++i) {
    slow.push_back(connection());
    slow.back().send("GET /metrics HT");
  }
  const Connection client = connection();  // takes the place of the one that is silent for longest
  client.send(kReady);
  EXPECT_THAT(client.read_to("ready\n"), StartsWith("HTTP/1.1 200"));
  std::size_t closed = 0;
  for (const Connection& one : slow) {
    one.try_send("TP/1.1\r\nConnection: close\r\n\r\n");
    closed += one.read_to("\r\n").empty();
  }
  EXPECT_EQ(closed, 1U);
}

TEST_P(HttpServerTest, ARequestThatTricklesIsGivenUp) {
  const Connection client = connection();
  client.send("GET /metrics HT");
  const Connection other = connection();
  other.send(kReady);
  other.read_to("ready\n");
  clock.steady_now = clock.steady_now.load() + HttpServer::kRequestTimeout;
  client.try_send("T");  // one more byte does not help
  EXPECT_TRUE(client.is_closed());
}

TEST_P(HttpServerTest, ALargeAnswerToASlowReaderComesWhole) {
  const Connection slow = connection();
  std::string many;
  for (int i = 0; i < 300; ++i) many += "GET /metrics?collect[]=counters HTTP/1.1\r\n\r\n";
  slow.send(many);
  const Connection other = connection();
  other.send(kReady);
  EXPECT_THAT(other.read_to("ready\n"), StartsWith("HTTP/1.1 200"));
  for (int i = 0; i < 300; ++i) ASSERT_THAT(slow.read_to("200 OK"), HasSubstr("200 OK"));
}

TEST(HttpHead, SaysHowLongAndWhetherMoreMayBeAsked) {
  ApiReply reply;
  reply.status = 404;
  reply.content_type = "text/plain";
  reply.headers = {{"Allow", "GET"}};
  const std::string head = http_head(reply, 5, true);
  EXPECT_THAT(head, StartsWith("HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\n"));
  EXPECT_THAT(head,
              HasSubstr("\r\nAllow: GET\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\n"));
  EXPECT_THAT(http_head(reply, std::nullopt, false),
              HasSubstr("Transfer-Encoding: chunked\r\nConnection: close\r\n"));
}

constexpr const char* kListen = "GET /api/v1/events/stream HTTP/1.1\r\n\r\n";

TEST_P(HttpServerTest, EventsComeAsTheyHappen) {
  const Connection client = connection();
  client.send(kListen);
  EXPECT_THAT(client.read_to("retry: 5000\n\n"), HasSubstr("Content-Type: text/event-stream"));
  publish();
  server->on_events();
  const std::string event = client.read_to("}\n\n");
  EXPECT_THAT(event, HasSubstr("event: fault\ndata: {\""));
  EXPECT_THAT(event, HasSubstr("id: "));
}

TEST_P(HttpServerTest, AListenerThatHearsNothingIsKeptAlive) {
  const Connection client = connection();
  client.send(kListen);
  client.read_to("retry: 5000\n\n");
  const auto ask = [this] {
    const Connection other = connection();
    other.send(kReady);
    other.read_to("ready\n");
  };
  ask();  // the server is done with what it sent before
  clock.steady_now = clock.steady_now.load() + Milliseconds(15'000);
  ask();  // it looks at its clock
  EXPECT_THAT(client.read_to(": still here\n\n"), HasSubstr(": still here"));
}

TEST_P(HttpServerTest, OneListenerTooManyIsRefused) {
  std::vector<Connection> clients;
  for (std::size_t i = 0; i < HttpServer::kMaxFeeds; ++i) {
    clients.push_back(connection());
    clients.back().send(kListen);
    clients.back().read_to("retry: 5000");
  }
  const Connection more = connection();
  more.send(kListen);
  EXPECT_THAT(more.read_to("}\n"), HasSubstr("503"));
  clients.clear();  // the places are free again, as soon as the server has seen it
  std::string answer;
  while (answer.find("200 OK") == std::string::npos) {
    const Connection next = connection();
    next.send(kListen);
    answer = next.read_to("\r\n");
  }
}

/// From now on this process can open one descriptor more: the next client's own end of its
/// connection. UBSan needs some when it meets a type for the first time, so that a test does
/// everything once before, and looks at results after.
class OneDescriptorLeft {
 public:
  OneDescriptorLeft() {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const OwnedFd next(
        open("/dev/null", O_RDONLY | O_CLOEXEC));  // the kernel gives the lowest one that is free
    rlimit low = before_;
    low.rlim_cur = static_cast<rlim_t>(next.get()) + 1;
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  }
  OneDescriptorLeft(const OneDescriptorLeft&) = delete;
  OneDescriptorLeft& operator=(const OneDescriptorLeft&) = delete;
  ~OneDescriptorLeft() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0); }

 private:
  rlimit before_{};
};

class ServerWithoutDescriptors : public HttpServerTest {
 protected:
  void SetUp() override {
    HttpServerTest::SetUp();
    feed.emplace(connection());
    feed->send(kListen);
    feed->read_to("retry: 5000\n\n");
    let_it_turn();
  }
  static std::string ask(const Connection& client, const std::string& request) {
    client.try_send(request);
    return client.read_to("ready\n");
  }
  /// A client that the server has answered, and keeps.
  Connection idle_client() const {
    Connection client = connection();
    ask(client, kReady);
    return client;
  }
  /// A client that the server knows, in the middle of its next request.
  Connection slow_client() const {
    Connection client = connection();
    ask(client, std::string(kReady) + "GET /-/re");
    return client;
  }
  /// Returns when the server has had a turn after what came before.
  void let_it_turn() {
    publish();
    server->on_events();
    feed->read_to("}\n\n");
  }

  std::optional<Connection> feed;  ///< a listener, which is never idle
  const std::string rest_of_request = "ady HTTP/1.1\r\n\r\n";
};

TEST_P(ServerWithoutDescriptors, TheOneIdleForLongestMakesRoom) {
  const Connection oldest = idle_client();
  clock.steady_now = clock.steady_now.load() + Milliseconds(1);
  const Connection newer = idle_client();
  const Connection slow = slow_client();
  std::optional<OneDescriptorLeft> limit(std::in_place);
  const Connection client = connection();
  const std::string answer = ask(client, kReady);
  limit.reset();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_TRUE(oldest.is_closed());
  EXPECT_THAT(ask(newer, kReady), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(ask(slow, rest_of_request), StartsWith("HTTP/1.1 200"));
}

TEST_P(ServerWithoutDescriptors, ItRestsWhereNoneIsIdleAndLooksAgainLater) {
  const Connection slow = slow_client();
  std::optional<OneDescriptorLeft> limit(std::in_place);
  const std::size_t looks_before = clock.looks;
  const Connection client = connection();
  client.try_send(kReady);
  let_it_turn();
  const std::string slow_answer = ask(slow, rest_of_request);
  let_it_turn();
  const std::string before_the_look = ask(slow, kReady);
  clock.steady_now = clock.steady_now.load() + HttpServer::kListenRest;
  const std::string answer = client.read_to("ready\n");
  const std::size_t looks = clock.looks - looks_before;
  limit.reset();
  EXPECT_THAT(slow_answer, StartsWith("HTTP/1.1 200")) << "it serves those that it has";
  EXPECT_THAT(before_the_look, StartsWith("HTTP/1.1 200"))
      << "idle, and not closed while nobody looks who waits";
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200")) << "in the place of the one that is idle now";
  EXPECT_TRUE(slow.is_closed());
  EXPECT_LT(looks, 200U) << "a few for each turn; one that spins makes many thousands";
}

TEST_P(ServerWithoutDescriptors, AConnectionThatEndsMakesRoomAtOnce) {
  std::optional<Connection> slow(slow_client());
  std::optional<OneDescriptorLeft> limit(std::in_place);
  const Connection client = connection();
  client.try_send(kReady);
  let_it_turn();
  slow.reset();  // the clock stands still
  const std::string answer = client.read_to("ready\n");
  limit.reset();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
}

std::string thread_name(const ::testing::TestParamInfo<ServerSettings::Thread>& thread) {
  return thread.param == ServerSettings::Thread::kOwn ? "Own" : "Lent";
}
INSTANTIATE_TEST_SUITE_P(Thread, HttpServerTest,
                         ::testing::Values(ServerSettings::Thread::kOwn,
                                           ServerSettings::Thread::kLent),
                         thread_name);
INSTANTIATE_TEST_SUITE_P(Thread, ServerWithoutDescriptors,
                         ::testing::Values(ServerSettings::Thread::kOwn,
                                           ServerSettings::Thread::kLent),
                         thread_name);

}  // namespace
}  // namespace linkhealth
