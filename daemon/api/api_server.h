// The API on TCP and on a Unix socket. On the Unix socket the peer's credentials decide whether a
// client may act and record; on TCP only authenticated clients may act. Each has its own thread,
// limits and connections: no client delays the deciding thread, and none on TCP delays the command
// line.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "daemon/api/api.h"
#include "daemon/http/http_auth.h"
#include "daemon/http/http_server.h"
#include "daemon/http/listening_sockets.h"
#include "daemon/log.h"

namespace linkhealth {

struct ApiServerSettings {
  ListenAddress listen{"", 0};  ///< no host: no TCP
  UnixSocketSettings socket;    ///< no path: no Unix socket
  std::string control_group;    ///< its members may act, like root and the daemon's user
  std::string web_config_file;  ///< TLS and passwords of the TCP side; "": none
  HttpLimits limits{};
};

class ApiServer {
 public:
  /// Binds the sockets and starts to answer. `log` and the objects in `context` must outlive the
  /// server. The error names the address that is not available, and the reason.
  static Result<std::unique_ptr<ApiServer>> start(const ApiServerSettings& settings,
                                                  ApiContext context, const Log& log);
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  /// The TCP port that was bound; 0 without TCP.
  [[nodiscard]] int tcp_port() const { return tcp_port_; }
  /// "http" or "https", as at the start of the TCP side.
  [[nodiscard]] std::string_view scheme() const { return scheme_; }
  /// From any thread: events or lines of a recording were published.
  void wake_streams();
  /// From any thread: reload the web configuration and log the result.
  void reload_web_config();

 private:
  ApiServer(ApiContext context, const HttpLimits& limits);
  Result<void> open(const ApiServerSettings& settings, const Log& log);
  /// Called by both threads.
  HttpResponse handle(HttpRequest& request, int socket) const;
  void identify_peer(HttpRequest& request, int socket) const;
  [[nodiscard]] bool is_led_astray(const HttpRequest& request, int socket) const;

  ApiContext context_;
  std::optional<gid_t> control_group_;
  std::vector<std::string> host_names_;
  std::string socket_path_;
  int tcp_port_ = 0;
  std::string_view scheme_ = "http";
  HttpServer tcp_, local_;
  std::unique_ptr<HttpAuth> auth_;  ///< its thread posts to tcp_
};

}  // namespace linkhealth
