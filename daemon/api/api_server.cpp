#include "daemon/api/api_server.h"

#include <unistd.h>

#include <climits>
#include <utility>

#include "config/read_file.h"
#include "daemon/http/host_names.h"
#include "daemon/http/peer_credentials.h"

namespace linkhealth {

namespace {

std::string actors_text(const std::string& control_group) {
  return "root, linkhealthd's own user" +
         (control_group.empty() ? std::string(" (and control_group, which is not set)")
                                : " and the group " + control_group);
}

std::vector<std::string> read_host_names() {
  std::string node(HOST_NAME_MAX + 1, '\0');
  gethostname(node.data(), HOST_NAME_MAX);
  const auto resolv_conf = read_small_file("/etc/resolv.conf", kMaxConfigBytes);
  const auto hosts = read_small_file("/etc/hosts", kMaxConfigBytes);
  return own_host_names(node.c_str(), resolv_conf ? *resolv_conf : "", hosts ? *hosts : "");
}

}  // namespace

Result<std::unique_ptr<ApiServer>> ApiServer::start(const ApiServerSettings& settings,
                                                    ApiContext context, const Log& log) {
  context.actors = actors_text(settings.control_group);
  std::unique_ptr<ApiServer> server(new ApiServer(std::move(context), settings.limits));
  if (auto opened = server->open(settings, log); !opened) return opened.error();
  server->tcp_.start();
  server->local_.start();
  return server;
}

ApiServer::ApiServer(ApiContext context, const HttpLimits& limits)
    : context_(std::move(context)),
      tcp_([this](HttpRequest& request, int socket) { return handle(request, socket); }, limits),
      local_([this](HttpRequest& request, int socket) { return handle(request, socket); }, limits) {
}

ApiServer::~ApiServer() {
  context_.recordings.close();
  tcp_.stop();
  local_.stop();
  if (!socket_path_.empty()) unlink(socket_path_.c_str());
}

Result<void> ApiServer::open(const ApiServerSettings& settings, const Log& log) {
  if (!settings.web_config_file.empty()) {
    auto auth = HttpAuth::open(settings.web_config_file, context_.clock, log,
                               [this](std::function<void()> task) { tcp_.post(std::move(task)); });
    if (!auth) return auth.error();
    auth_ = *std::move(auth);
    scheme_ = auth_->encrypts() ? "https" : "http";
    tcp_.set_auth(auth_.get());
  }
  if (!settings.control_group.empty()) {
    const auto group = group_id(settings.control_group);
    if (!group) return Error{"control_group: " + group.error().message};
    control_group_ = *group;
  }
  if (!settings.listen.host.empty()) {
    auto socket = listen_tcp(settings.listen);
    if (!socket) return socket.error();
    const auto port = bound_port(*socket);
    if (!port) return port.error();
    tcp_port_ = *port;
    host_names_ = read_host_names();
    host_names_.push_back(settings.listen.host);
    tcp_.listen(*std::move(socket), Caller::Transport::kTcp);
  }
  if (!settings.socket.path.empty()) {
    auto socket = listen_unix(settings.socket);
    if (!socket) return socket.error();
    socket_path_ = settings.socket.path;
    local_.listen(*std::move(socket), Caller::Transport::kUnix);
  }
  return {};
}

void ApiServer::reload_web_config() {
  if (auth_ != nullptr) tcp_.post([this] { auth_->reload(); });
}

void ApiServer::wake_streams() {
  tcp_.wake();
  local_.wake();
}

HttpResponse ApiServer::handle(HttpRequest& request, int socket) const {
  if (request.caller.transport == Caller::Transport::kUnix) {
    identify_peer(request, socket);
  } else if (is_led_astray(request, socket)) {
    return error_response(421, "the Host field has none of this node's names: use its address");
  }
  return handle_api(request, context_);
}

/// Whether a browser may be acting for a malicious page whose name was made to resolve to this
/// node: to act with the password that the browser knows, or to read from loopback what is meant
/// for this node only. With TLS the browser has verified the name.
bool ApiServer::is_led_astray(const HttpRequest& request, int socket) const {
  if (scheme_ == "https" || is_own_host(request.host, host_names_)) return false;
  return request.method == "POST" || is_on_loopback(socket);
}

/// Names are looked up only for callers that may act, and not for each scrape, because a directory
/// service may be involved.
void ApiServer::identify_peer(HttpRequest& request, int socket) const {
  const auto peer = peer_credentials(socket);
  if (!peer) return;
  request.caller.may_act = may_act(*peer, geteuid(), control_group_);
  if (request.caller.may_act && request.method == "POST")
    request.caller.user = user_name(peer->uid);
}

}  // namespace linkhealth
