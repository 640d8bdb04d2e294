// The HTTP/1.1 server: connections, TLS, deadlines and limits, with Boost.Asio and Boost.Beast on
// its own thread (docs/adr/0009-http.md). No Boost type is visible here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/owned_fd.h"
#include "base/time.h"
#include "daemon/http/http_message.h"

namespace linkhealth {

class HttpAuth;

struct HttpLimits {
  std::size_t connections = 64;  ///< another one closes the one with the next deadline
  std::size_t streams = 16;      ///< one more is refused
  /// Limit of large responses that clients have not yet read; more is refused.
  std::size_t untaken_bytes = std::size_t{8} << 20U;
  /// Time limit for receiving a request, and for the client to read the answer.
  Milliseconds request{2'000};
  Milliseconds answer{5'000};
  Milliseconds idle{120'000};  ///< longer than any scrape interval
  /// Pause after an accept that failed for lack of descriptors, if no idle connection can be
  /// closed.
  Milliseconds accept_pause{100};
};

class HttpServer {
 public:
  /// The response to a request that arrived on the connected `socket`. Called on the server's
  /// thread.
  using Handler = std::function<HttpResponse(HttpRequest& request, int socket)>;

  explicit HttpServer(Handler handler, HttpLimits limits = {});
  /// Stops.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// REQUIRES: before start().
  void listen(OwnedFd socket, Caller::Transport transport);
  /// TLS and passwords of the TCP side; must outlive the server. REQUIRES: before start().
  void set_auth(HttpAuth* auth);
  void start();
  /// Streams that have ended are sent to their end; everything else is aborted after a moment.
  void stop();

  /// From any thread: runs `task` on the server's thread. Dropped after stop().
  void post(std::function<void()> task);
  /// From any thread: streams may have new bytes. Cheap when there are no streams.
  void wake();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace linkhealth
