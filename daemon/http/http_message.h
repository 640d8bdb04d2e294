// HTTP requests and responses as the API uses them, without a connection.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace linkhealth {

/// The client. Peer credentials authenticate it on the Unix socket, a password or a certificate on
/// TCP. An unauthenticated caller may only read.
struct Caller {
  enum class Transport : std::uint8_t { kTcp, kUnix };
  Transport transport = Transport::kTcp;
  std::string network;   ///< for a TCP client: peer_network()
  std::string user;      ///< of the peer process, or as authenticated; "" unknown
  bool may_act = false;  ///< acknowledge faults, begin and end maintenance, record
};

struct HttpRequest {
  std::string method;
  std::string path;  ///< decoded, without the query
  std::multimap<std::string, std::string> params;
  std::string body;
  /// Header fields; "" when absent.
  std::string content_type, authorization, last_event_id, origin, host;
  bool accepts_gzip = false;
  bool keep_alive = false;  ///< whether the client may send another request on the connection
  Caller caller;

  /// The first value of a parameter; "" when absent.
  [[nodiscard]] std::string param(const std::string& name) const {
    const auto found = params.find(name);
    return found == params.end() ? "" : found->second;
  }
};

/// A response of unknown length. Its functions are called on the server's thread.
struct HttpStream {
  enum class State : std::uint8_t { kBytes, kNothingYet, kEnded, kBroken };
  /// Appends the next bytes. Called after HttpServer::wake(), and when the client has taken the
  /// previous bytes. kBroken aborts the connection, so that the client notices that bytes are
  /// missing.
  std::function<State(std::string&)> next;
  /// After this time without bytes next() is called again, and `keep_alive` is sent if there are
  /// still none, so that both ends notice when the other is gone.
  Milliseconds poll_after{15'000};
  std::string keep_alive;
};

struct HttpResponse {
  int status = 200;
  std::string content_type;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::unique_ptr<HttpStream> stream;  ///< instead of the body
};

/// {"error":"…"}
HttpResponse error_response(int status, std::string_view message);

/// `text` as a gzip member at zlib's fastest level. A page of metrics is scraped every 15 s; level
/// 6 would make it a fifth smaller but take more than twice the time. "" if zlib has no memory.
std::string gzip(std::string_view text);
/// Whether an Accept-Encoding header field accepts gzip ("gzip;q=0" does not).
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace linkhealth
