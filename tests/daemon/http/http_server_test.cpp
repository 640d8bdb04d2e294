// How the server treats connections. Sockets here wait, tests do not: whatever must not come is
// followed by something that must.
#include "daemon/http/http_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "daemon/http/listening_sockets.h"
#include "tests/support/gunzip.h"

namespace linkhealth {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Client {
 public:
  explicit Client(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
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
  void get(const std::string& path, const std::string& fields = "") const {
    send("GET " + path + " HTTP/1.1\r\nHost: n\r\n" + fields + "\r\n");
  }
  /// What comes up to and with `mark`, or up to the end of the connection.
  std::string read_to(const std::string& mark) const {
    for (std::size_t seen = 0;;) {
      const auto at = received_.find(mark, seen);
      if (at != std::string::npos) return take(at + mark.size());
      seen = received_.size() - std::min(received_.size(), mark.size());
      if (!receive()) return take(received_.size());
    }
  }
  std::string read_all() const {
    while (receive()) {
    }
    return take(received_.size());
  }
  /// Whether the server has closed it; waits until it has, or sends.
  bool is_closed() const { return !receive(); }

 private:
  bool receive() const {
    std::array<char, 65536> buffer;  // NOLINT(*-member-init): filled by recv
    const auto size = recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (size > 0) received_.append(buffer.data(), static_cast<std::size_t>(size));
    return size > 0;
  }
  std::string take(std::size_t size) const {
    std::string text = received_.substr(0, size);
    received_.erase(0, size);
    return text;
  }

  OwnedFd fd_;
  mutable std::string received_;
};

constexpr const char* kOk = "HTTP/1.1 200 OK\r\n";

/// GET /ready, /big (1 MB, of each query its own), /throw, /stream, /wait (for release()).
class HttpServerTest : public ::testing::Test {
 protected:
  void start(HttpLimits limits = {}) {
    server.emplace([this](HttpRequest& request, int) { return respond(request); }, limits);
    auto socket = listen_tcp({"127.0.0.1", 0});
    ASSERT_TRUE(socket.ok());
    port = *bound_port(*socket);
    server->listen(*std::move(socket), Caller::Transport::kTcp);
    server->start();
  }
  HttpResponse respond(const HttpRequest& request) {
    HttpResponse response;
    response.content_type = "text/plain";
    response.body = "ready\n";
    answered.push_back(request.path);
    if (request.path == "/wait") wait_for_release();
    if (request.path == "/big")
      response.body = request.param("of") + std::string(1'000'000, 'x') + "end\n";
    if (request.path == "/throw") throw std::runtime_error("no");
    if (request.path != "/stream") return response;
    response.stream = std::make_unique<HttpStream>();
    response.stream->poll_after = poll_after;
    response.stream->keep_alive = "alive\n";
    response.stream->next = [this](std::string& bytes) {
      const std::lock_guard lock(mutex);
      bytes = std::exchange(published, "");
      return bytes.empty() ? at_end : HttpStream::State::kBytes;
    };
    return response;
  }
  void publish(const std::string& text, HttpStream::State state = HttpStream::State::kNothingYet) {
    {
      const std::lock_guard lock(mutex);
      published += text;
      at_end = state;
    }
    server->wake();
  }
  /// The server's thread is busy until release(), and then for `busy_after`.
  void wait_for_release() {
    std::unique_lock lock(mutex);
    waiting = true;
    changed.notify_all();
    changed.wait(lock, [this] { return released; });
    std::this_thread::sleep_for(busy_after);
  }
  void make_busy(const Client& one) {
    one.get("/wait");
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return waiting; });
  }
  void release() {
    const std::lock_guard lock(mutex);
    released = true;
    changed.notify_all();
  }
  [[nodiscard]] Client client() const { return Client(port); }
  /// A client that has a large answer under way, and takes nothing more of it.
  Client slow_reader(const std::string& query) const {
    Client made(port);
    made.get("/big" + query);
    EXPECT_THAT(made.read_to("\r\n"), kOk);
    return made;
  }
  /// A client that was answered, and whose connection is idle.
  Client idle_client() const {
    Client made(port);
    expect_answer(made);
    return made;
  }
  static void expect_answer(const Client& one) {
    one.get("/ready");
    EXPECT_THAT(one.read_to("ready\n"), StartsWith(kOk));
  }
  /// A client that gets a stream.
  Client stream_client() const {
    Client made(port);
    made.get("/stream");
    EXPECT_THAT(made.read_to("\r\n\r\n"), HasSubstr("Transfer-Encoding: chunked\r\n"));
    return made;
  }

  int port = 0;
  Milliseconds poll_after{60'000};
  std::mutex mutex;
  std::condition_variable changed;
  bool waiting = false, released = false;
  Milliseconds busy_after{0};
  std::vector<std::string> answered;  ///< paths; of the server's thread
  std::string published;
  HttpStream::State at_end = HttpStream::State::kNothingYet;
  std::optional<HttpServer> server;
};

TEST_F(HttpServerTest, AConnectionTakesManyRequestsInOneWriteAndInPiecesUntilTheClientEndsIt) {
  start();
  const Client one = client();
  for (int i = 0; i < 300; ++i) expect_answer(one);
  const std::string request = "GET /ready HTTP/1.1\r\nHost: n\r\n\r\n";
  one.send(request + request + "GET /re");
  one.read_to("ready\n");
  one.read_to("ready\n");
  one.send("ady HTTP/1.1\r\nHost: n\r\n");
  one.send("\r\n");
  EXPECT_THAT(one.read_to("ready\n"), HasSubstr("Connection: keep-alive\r\n"));
  one.get("/ready", "Connection: close\r\n");
  EXPECT_THAT(one.read_to("ready\n"), HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(one.is_closed());
}

TEST_F(HttpServerTest, TheHeadHasLengthAndSafeFieldsAndHeadHasNoBody) {
  start();
  const Client one = client();
  for (const char* method : {"GET", "HEAD"}) {
    one.send(std::string(method) + " /ready HTTP/1.1\r\nHost: n\r\n\r\n");
    const std::string head = one.read_to("\r\n\r\n");
    for (const char* field :
         {"Content-Length: 6", "X-Content-Type-Options: nosniff",
          "Content-Security-Policy: default-src 'none'", "Vary: Accept-Encoding"})
      EXPECT_THAT(head, HasSubstr(field));
    if (std::string(method) == "GET") one.read_to("ready\n");
  }
  expect_answer(one);
}

TEST_F(HttpServerTest, ALargeAnswerIsCompressedForAClientThatAcceptsIt) {
  start();
  const Client one = client();
  one.get("/big", "Accept-Encoding: gzip\r\nConnection: close\r\n");
  const std::string head = one.read_to("\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("Content-Encoding: gzip\r\n"));
  EXPECT_THAT(test::gunzip(one.read_all()), EndsWith("xend\n"));
  const Client two = client();
  two.get("/ready", "Accept-Encoding: gzip\r\n");
  EXPECT_THAT(two.read_to("ready\n"), Not(HasSubstr("gzip"))) << "too small";
}

TEST_F(HttpServerTest, ARequestThatIsNotHttpIsRefusedAndTheConnectionEnds) {
  start();
  const Client one = client();
  one.send("SSH-2.0-OpenSSH\r\n\r\n and more");
  EXPECT_THAT(one.read_all(), StartsWith("HTTP/1.1 400 Bad Request\r\n"));
  const Client two = client();
  two.send("POST /ready HTTP/1.1\r\nHost: n\r\nContent-Length: 100000\r\n\r\n" +
           std::string(100'000, 'x'));
  EXPECT_THAT(two.read_all(), StartsWith("HTTP/1.1 413 Payload Too Large\r\n"));
}

TEST_F(HttpServerTest, AHandlerThatThrowsIsAnAnswer) {
  start();
  const Client one = client();
  one.get("/throw");
  EXPECT_THAT(one.read_to("}\n"), StartsWith("HTTP/1.1 500"));
  expect_answer(one);
}

TEST_F(HttpServerTest, ManySlowClientsDelayNoOther) {
  start({.connections = 8});
  std::vector<Client> slow;
  for (int i = 0; i < 8; ++i) {
    slow.push_back(client());
    slow.back().send("GET /ready HT");
  }
  idle_client();  // takes the place of the one whose deadline is next
  std::size_t closed = 0;
  for (const Client& one : slow) {
    one.try_send("TP/1.1\r\nHost: n\r\nConnection: close\r\n\r\n");
    closed += one.read_to("\r\n").empty();
  }
  EXPECT_EQ(closed, 1U);
}

TEST_F(HttpServerTest, DeadlinesOfASilentClientATrickleAndASlowReader) {
  start({.request = Milliseconds(200), .answer = Milliseconds(200), .idle = Milliseconds(200)});
  const Client silent = client();
  EXPECT_TRUE(silent.is_closed());
  const Client idle = idle_client();
  EXPECT_TRUE(idle.is_closed());
  const Client trickle = client();
  while (trickle.try_send("G")) idle_client();  // each byte alone would be in time
  const Client reader = client();
  for (int i = 0; i < 30; ++i)
    if (!reader.try_send("GET /big HTTP/1.1\r\nHost: n\r\n\r\n")) break;
  EXPECT_TRUE(idle_client().is_closed()) << "as long as the reader takes nothing";
  EXPECT_THAT(reader.read_all(), Not(EndsWith("end\nHTTP")));
  idle_client();
}

TEST_F(HttpServerTest, ALargeAnswerToASlowReaderComesWhole) {
  start();
  const Client slow = client();
  for (int i = 0; i < 10; ++i) slow.get("/big");
  idle_client();
  for (int i = 0; i < 10; ++i) ASSERT_THAT(slow.read_to("xend\n"), EndsWith("xend\n"));
}

TEST_F(HttpServerTest, SlowReadersOfLargeAnswersShareThemOrAreRefused) {
  start({.untaken_bytes = 2'500'000, .answer = Milliseconds(60'000)});
  const Client first = slow_reader("?of=a");
  const Client second = slow_reader("?of=b");
  const Client third = client();
  third.get("/big?of=c");
  const std::string refusal = third.read_to("}\n");
  EXPECT_THAT(refusal, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(refusal, HasSubstr("Retry-After: 1\r\n"));
  const Client same = slow_reader("?of=a");
  expect_answer(third);
  first.read_to("end\n");
  EXPECT_THAT(same.read_to("end\n"), HasSubstr("\r\n\r\naxxx"));
  expect_answer(first);  // by now the server knows that it has taken all
  expect_answer(same);
  slow_reader("?of=c");
}

TEST_F(HttpServerTest, ManyRequestsInOneWriteHaveOneAnswerATurn) {
  start();
  std::string many;
  for (int i = 0; i < 100; ++i) many += "GET /many HTTP/1.1\r\nHost: n\r\n\r\n";
  const Client greedy = client();
  make_busy(greedy);
  greedy.send(many);
  const Client other = client();
  other.get("/other");
  release();
  other.read_to("ready\n");
  for (int i = 0; i < 101; ++i) greedy.read_to("ready\n");
  server.reset();
  const auto at = std::ranges::find(answered, "/other") - answered.begin();
  EXPECT_LT(at, 10) << "of " << answered.size();
}

TEST_F(HttpServerTest, ARequestThatCameInTimeIsNotLateBecauseTheServerWasBusy) {
  busy_after = Milliseconds(1'100);
  start({.request = Milliseconds(1'000), .idle = Milliseconds(1'000)});
  const Client slow = client();
  const Client kept = idle_client();
  const Client fresh = client();
  make_busy(slow);
  kept.get("/ready");
  fresh.get("/ready");
  release();
  EXPECT_THAT(kept.read_to("ready\n"), StartsWith(kOk));
  EXPECT_THAT(fresh.read_to("ready\n"), StartsWith(kOk));
}

TEST_F(HttpServerTest, AStreamIsWokenAndEndsInGoodOrder) {
  start();
  publish("hello\n");
  const Client one = stream_client();
  EXPECT_EQ(one.read_to("\n\r\n"), "6\r\nhello\n\r\n");
  publish("again\n");
  EXPECT_EQ(one.read_to("\n\r\n"), "6\r\nagain\n\r\n");
  publish("", HttpStream::State::kEnded);
  EXPECT_EQ(one.read_all(), "0\r\n\r\n");
}

TEST_F(HttpServerTest, ASilentStreamIsKeptAliveAndABrokenOneIsCut) {
  poll_after = Milliseconds(20);
  start();
  const Client one = stream_client();
  EXPECT_EQ(one.read_to("\n\r\n"), "6\r\nalive\n\r\n");
  publish("", HttpStream::State::kBroken);
  EXPECT_THAT(one.read_all(), Not(EndsWith("0\r\n\r\n"))) << "no last chunk";
}

TEST_F(HttpServerTest, OneStreamTooManyIsRefusedUntilAnotherEnds) {
  start({.streams = 2});
  std::vector<Client> clients;
  for (int i = 0; i < 2; ++i) clients.push_back(stream_client());
  const Client more = client();
  more.get("/stream");
  EXPECT_THAT(more.read_to("}\n"), StartsWith("HTTP/1.1 503"));
  clients.clear();
  std::string answer;
  while (answer.find("200 OK") == std::string::npos) {  // until the server has seen their end
    const Client next = client();
    next.get("/stream");
    answer = next.read_to("\r\n");
  }
}

TEST_F(HttpServerTest, StoppingEndsStreamsInGoodOrder) {
  start();
  const Client one = stream_client();
  const Client idle = idle_client();
  {
    const std::lock_guard lock(mutex);
    published = "last\n";
    at_end = HttpStream::State::kEnded;
  }
  server.reset();
  EXPECT_EQ(one.read_all(), "5\r\nlast\n\r\n0\r\n\r\n");
  EXPECT_TRUE(idle.is_closed());
}

/// From now on this process can open one descriptor more: the next client's own end.
class OneDescriptorLeft {
 public:
  OneDescriptorLeft() {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const OwnedFd next(open("/dev/null", O_RDONLY | O_CLOEXEC));  // the lowest that is free
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

TEST_F(HttpServerTest, WithoutDescriptorsTheOneIdleForLongestMakesRoom) {
  start();
  const Client oldest = idle_client();
  const Client newer = idle_client();
  std::optional<OneDescriptorLeft> limit(std::in_place);
  const Client next = client();
  next.get("/ready");
  const std::string answer = next.read_to("ready\n");
  limit.reset();
  EXPECT_THAT(answer, StartsWith(kOk));
  EXPECT_TRUE(oldest.is_closed());
  expect_answer(newer);
}

TEST_F(HttpServerTest, WithoutDescriptorsAndIdleConnectionsItTriesAgainLater) {
  start({.accept_pause = Milliseconds(10)});
  std::optional<Client> slow(idle_client());
  slow->send("GET /re");
  idle_client();  // the server has read what came before
  std::optional<OneDescriptorLeft> limit(std::in_place);
  const Client next = client();
  next.get("/ready");
  slow->send("ady HTTP/1.1\r\nHost: n\r\n\r\n");
  const std::string slow_answer = slow->read_to("ready\n");
  slow.reset();
  const std::string answer = next.read_to("ready\n");
  limit.reset();
  EXPECT_THAT(slow_answer, StartsWith(kOk)) << "it serves the connections it has";
  EXPECT_THAT(answer, StartsWith(kOk));
}

}  // namespace
}  // namespace linkhealth
