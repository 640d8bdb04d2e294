// One thread that serves all connections of all listening sockets, without waking up for those that are silent.
// (cpp-httplib looks at each kept connection every 10 ms and brings OpenSSL into memory:
// docs/adr/0006-cheap-output.md.)
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "daemon/http_request.h"
#include "probes/kernel_socket.h"

namespace linkhealth {

/// Gives the next bytes of a stream; called on a thread of the stream's own. nullopt: it ends in good order. False
/// `more` with no bytes: nothing yet.
struct HttpStream {
  enum class State { kBytes, kNothingYet, kEnded, kBroken };
  std::string content_type;
  std::function<State(std::string&)> next;
};

struct HttpAnswer {
  ApiReply reply;
  std::unique_ptr<HttpStream> stream;  ///< instead of the reply's body
};

class HttpServer {
 public:
  /// Listening sockets are of one of two kinds; each has its own number of connections, so that none takes the other's.
  enum class Kind : std::uint8_t { kTcp, kUnix };
  static constexpr std::size_t kMaxConnections = 64;  ///< of each kind; one more closes the one silent for longest
  /// A request must be whole, and an answer taken, this long after it began.
  static constexpr Milliseconds kRequestTimeout{2'000};
  static constexpr Milliseconds kAnswerTimeout{5'000};
  static constexpr Milliseconds kIdleTimeout{120'000};  ///< longer than any scrape interval: no new connection each

  using Handler = std::function<HttpAnswer(const ApiRequest&, Kind)>;

  /// `clock` must outlive the server.
  HttpServer(Handler handler, const Clock& clock);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// REQUIRES: before start().
  void listen(OwnedFd socket, Kind kind);
  Result<void> start();

 private:
  struct Connection;
  struct Streaming;
  void run();
  void accept_all(int listener, Kind kind);
  void on_ready(int fd, std::uint32_t events);
  bool read_more(Connection& connection);
  /// False: the connection has ended.
  bool serve(Connection& connection);
  bool send_more(Connection& connection);
  void answer(Connection& connection, const HttpRequest& request);
  void refuse(Connection& connection, int status);
  bool begin_stream(Connection& connection, std::unique_ptr<HttpStream> stream);
  void watch(Connection& connection);
  void drop(int fd);
  void drop_expired();
  [[nodiscard]] int wait_ms() const;

  Handler handler_;
  const Clock& clock_;
  OwnedFd epoll_, stop_;
  std::vector<std::pair<OwnedFd, Kind>> listeners_;
  std::map<int, std::unique_ptr<Connection>> connections_;
  std::list<Streaming> streams_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

/// "HTTP/1.1 200 OK" and the header fields of an answer with a body of `size` bytes; nullopt: in chunks.
std::string http_head(const ApiReply& reply, std::optional<std::size_t> size, bool keep_alive);

}  // namespace linkhealth
