// Serves all connections of all listening sockets, on one thread at a time, without waking up for
// those that are silent. The thread is its own, or lent by who waits for much else besides
// (daemon/loop.h): then the wake-up of a scrape is that of the next sample, too. (cpp-httplib looks
// at each kept connection every 10 ms and brings OpenSSL into memory:
// docs/adr/0006-cheap-output.md.)
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "daemon/http_answer.h"
#include "daemon/http_connection.h"
#include "daemon/http_gate.h"
#include "daemon/http_listeners.h"
#include "daemon/http_request.h"
#include "daemon/http_streams.h"
#include "probes/kernel_socket.h"

namespace linkhealth {

class HttpServer {
 public:
  /// Listening sockets are of one of two kinds; each has its own number of connections, so that
  /// none takes the other's.
  using Kind = HttpListeners::Kind;
  static constexpr std::size_t kKinds = 2;
  static constexpr std::size_t kMaxConnections =
      64;  ///< of each kind; one more closes the one silent for longest
  /// A request must be whole, and an answer taken, this long after it began.
  static constexpr Milliseconds kRequestTimeout{2'000};
  static constexpr Milliseconds kAnswerTimeout{5'000};
  static constexpr Milliseconds kIdleTimeout{
      120'000};  ///< longer than any scrape interval: no new connection each
  /// Without a descriptor for a new connection, and none that could be closed for it, it waits so
  /// long, or until one of the others ends.
  static constexpr Milliseconds kListenRest{100};

  static constexpr std::size_t kMaxFeeds = 16;  ///< of both kinds together; one more is refused

  /// The answer to a request that came by the connected `socket`.
  using Handler = std::function<HttpAnswer(ApiRequest&, Kind, int socket)>;

  /// `clock` must outlive the server.
  HttpServer(Handler handler, const Clock& clock);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// REQUIRES: before start().
  void listen(OwnedFd socket, Kind kind);
  /// What stands before the API on TCP; must outlive the server. REQUIRES: before start().
  void set_gate(HttpGate* gate) { gate_ = gate; }
  /// Ready to serve.
  Result<void> start();
  /// Serves on a thread of its own, and nobody else does. REQUIRES: after start().
  void start_thread();
  /// Readable when there is something to serve.
  [[nodiscard]] int fd() const { return epoll_.get(); }
  /// Serves what is ready, on the calling thread; fd() may be readable afterwards. Whether a
  /// request was answered. From any thread, also after stop(), when it does nothing. REQUIRES: no
  /// start_thread().
  bool serve();
  /// Ends its threads; nothing is answered afterwards.
  void stop();
  /// From any thread: feeds may have something new, or the gate has decided.
  void wake();
  /// From any thread: whether anybody listens to a feed.
  [[nodiscard]] bool has_feeds() const { return feeds_ > 0; }

 private:
  struct Connection;
  /// What is ready within `wait_ms`; -1: for ever.
  void serve_ready(int wait_ms);
  bool watch_input(int fd);
  void accept_all(int listener, Kind kind);
  void take(OwnedFd socket, Kind kind);
  /// Closes the connection that was answered and has asked nothing for longest. False: there is
  /// none.
  bool drop_idle();
  void on_ready(int fd, std::uint32_t events);
  void on_wake();
  void on_timer();
  bool read_more(Connection& connection);
  /// False: the connection has ended.
  bool serve(Connection& connection);
  /// Answers the request at the beginning of what came. False: it is not whole, or must wait.
  bool serve_request(Connection& connection);
  /// Whether it may be answered; else a refusal was made, or it waits.
  bool admit(Connection& connection, HttpRequest& request);
  void answer(Connection& connection, HttpRequest& request);
  void finish(Connection& connection, const HttpRequest& request, ApiReply reply);
  void refuse(Connection& connection, int status);
  bool begin_feed(Connection& connection, std::unique_ptr<HttpFeed> feed);
  void feed_more(Connection& connection);
  bool begin_stream(Connection& connection, std::unique_ptr<HttpStream> stream);
  void watch(Connection& connection);
  void drop(int fd);
  void drop_expired();
  void expect_next();

  Handler handler_;
  const Clock& clock_;
  HttpGate* gate_ = nullptr;
  OwnedFd epoll_, wake_, timer_;
  std::optional<SteadyTime> wakes_at_;  ///< the timer is set to that
  HttpListeners listeners_;
  std::map<int, std::unique_ptr<Connection>> connections_;
  HttpStreams streams_;
  std::uint64_t answers_ = 0;
  std::uint64_t tickets_ = 0;
  std::atomic<std::size_t> feeds_ = 0;
  std::atomic<bool> stopping_ = false;
  std::mutex serving_;  ///< held by serve()
  std::thread thread_;
};

}  // namespace linkhealth
