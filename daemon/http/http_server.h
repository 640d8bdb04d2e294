// The HTTP/1.1 server: connections, TLS, deadlines and limits, by Boost.Asio and Boost.Beast on one
// thread of its own (docs/adr/0009-http.md). No type of Boost is visible here.
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
  std::size_t connections = 64;  ///< one more closes the one whose deadline is next
  std::size_t streams = 16;      ///< one more is refused
  /// Of large answers that clients have not taken yet; what would be more is refused.
  std::size_t untaken_bytes = std::size_t{8} << 20U;
  /// A request must be whole, and an answer taken, this long after it began.
  Milliseconds request{2'000};
  Milliseconds answer{5'000};
  Milliseconds idle{120'000};  ///< longer than any scrape interval
  /// After an accept that failed for want of a descriptor, where no idle connection can be closed.
  Milliseconds accept_pause{100};
};

class HttpServer {
 public:
  /// The response to a request that came by the connected `socket`. Called on the server's thread.
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
  /// Streams that have ended are sent to their end; everything else is cut after a moment.
  void stop();

  /// From any thread: `task` runs on the server's thread. Dropped after stop().
  void post(std::function<void()> task);
  /// From any thread: streams may have new bytes. Cheap when there are no streams.
  void wake();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace linkhealth
