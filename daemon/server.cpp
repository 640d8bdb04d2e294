#include "daemon/server.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "daemon/api.h"
#include "daemon/api_routes.h"
#include "daemon/event_feed.h"
#include "daemon/http_server.h"
#include "daemon/peer_credentials.h"
#include "daemon/web_gate.h"
#include "probes/live_host.h"

namespace linkhealth {

namespace {

constexpr std::string_view kRecordingPath = "/api/v1/recording";
constexpr std::uint64_t kMaxRecording_s = 86400;
constexpr Milliseconds kRecordingPoll(500);
constexpr int kBacklog = 64;

/// Recordings, deliveries, and the files of faults and events, which are opened when there is
/// something to write.
constexpr std::size_t kOtherDescriptors = 64;
static_assert(HttpServer::kKinds * HttpServer::kMaxConnections + kOtherDescriptors <=
                  kReservedDescriptors,
              "files that are kept open would leave too few descriptors for those who ask");

/// Who answers on a Unix socket's path: a socket file without a listener is what a killed daemon
/// leaves behind.
Result<void> clear_stale_socket(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return {};
    return errno_error("can't look at " + path, errno);
  }
  if (!S_ISSOCK(info.st_mode)) return Error{path + " is in the way: it is not a socket"};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return errno_error("can't make a socket", errno);
  const int connected =
      connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const int errnum = errno;
  close(probe);
  if (connected == 0 || errnum == EAGAIN) return Error{"another daemon answers on " + path};
  if (errnum != ECONNREFUSED) return errno_error("can't see who answers on " + path, errnum);
  if (unlink(path.c_str()) != 0) return errno_error("can't remove the stale socket " + path, errno);
  return {};
}

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  return address;
}

/// A listening socket, or an Error with errnum. No SO_REUSEPORT: an address in use must be an
/// error.
Result<OwnedFd> listen_on(const addrinfo& address) {
  OwnedFd fd(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return errno_error("socket", errno);
  const int yes = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes,
             sizeof(yes));  // accepted sockets have it from this one
  if (bind(fd.get(), address.ai_addr, address.ai_addrlen) != 0 || listen(fd.get(), kBacklog) != 0)
    return errno_error("bind", errno);
  return fd;
}

Result<OwnedFd> listen_on_host(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0)
    return Error{"no such address", EADDRNOTAVAIL};
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, &freeaddrinfo);
  Result<OwnedFd> fd = Error{"no such address", EADDRNOTAVAIL};
  for (const addrinfo* address = found; address != nullptr && !fd; address = address->ai_next)
    fd = listen_on(*address);
  return fd;
}

Result<OwnedFd> listen_tcp(const ListenAddress& address) {
  const std::string& host = address.host;
  auto fd = listen_on_host(host, address.port);
  // All addresses: "::" takes IPv4 too, but not where the node has no IPv6.
  if (!fd && host == "::")
    if (auto old = listen_on_host("0.0.0.0", address.port)) return old;
  if (fd) return fd;
  return errno_error(
      fmt::format("can't listen on {}:{}",
                  host.find(':') == std::string::npos ? host : "[" + host + "]", address.port),
      fd.error().errnum);
}

Result<int> port_of(const OwnedFd& fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return errno_error("socket", errno);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

/// Who may connect may ask; who may act is decided by the peer's credentials.
Result<OwnedFd> listen_unix(const ServerSettings& settings) {
  const std::string& path = settings.socket_path;
  if (path.size() >= sizeof(sockaddr_un::sun_path))
    return Error{"the socket's path is too long: " + path};
  gid_t group = static_cast<gid_t>(-1);  // stays as it is
  if (!settings.socket_group.empty()) {
    const auto found = group_id(settings.socket_group);
    if (!found) return Error{"socket_group: " + found.error().message};
    group = *found;
  }
  if (auto cleared = clear_stale_socket(path); !cleared) return cleared.error();
  OwnedFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return errno_error("can't make a socket", errno);
  // On the socket, before it has a name: there is no moment at which others could connect.
  fchmod(fd.get(), settings.socket_mode & 0600);
  const sockaddr_un address = unix_address(path);
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return errno_error("can't listen on " + path, errno);
  if (chown(path.c_str(), static_cast<uid_t>(-1), group) == 0 &&
      chmod(path.c_str(), settings.socket_mode) == 0 && listen(fd.get(), kBacklog) == 0)
    return fd;
  const Error error = errno_error("can't listen on " + path, errno);
  unlink(path.c_str());
  return error;
}

/// Who may act on the Unix socket, in words.
std::string who_may(const std::string& control_group) {
  return "root, linkhealthd's own user" +
         (control_group.empty() ? std::string(" (and control_group, which is not set)")
                                : " and the group " + control_group);
}

HttpAnswer plain(ApiReply reply) { return {std::move(reply), nullptr, nullptr}; }

class ApiServer : public Server {
 public:
  ApiServer(const ReportStore& reports, RecordingTap& tap, const Clock& clock,
            const ServerSettings& settings)
      : reports_(reports),
        tap_(tap),
        clock_(clock),
        stale_after_(settings.stale_after),
        who_may_(who_may(settings.control_group)),
        history_(settings.history),
        desk_(settings.desk),
        started_(clock.steady()),
        http_(std::make_shared<HttpServer>(
            [this](ApiRequest& request, HttpServer::Kind kind, int socket) {
              return handle(request, kind, socket);
            },
            clock)) {}
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;
  ~ApiServer() override {
    tap_.close();
    http_->stop();
    gate_.reset();  // the checker's thread calls http_->wake()
    if (!socket_path_.empty()) unlink(socket_path_.c_str());
  }

  Result<void> start(const ServerSettings& settings) {
    if (!settings.web_config_file.empty()) {
      auto gate =
          WebGate::open(settings.web_config_file, clock_, settings.say, [this] { http_->wake(); });
      if (!gate) return gate.error();
      gate_ = *std::move(gate);
      scheme_ = gate_->encrypts() ? "https" : "http";
      http_->set_gate(gate_.get());
    }
    if (!settings.listen.host.empty()) {
      auto fd = listen_tcp(settings.listen);
      if (!fd) return fd.error();
      const auto port = port_of(*fd);
      if (!port) return port.error();
      port_ = *port;
      http_->listen(*std::move(fd), HttpServer::Kind::kTcp);
    }
    if (!settings.control_group.empty()) {
      const auto group = group_id(settings.control_group);
      if (!group) return Error{"control_group: " + group.error().message};
      control_group_ = *group;
    }
    if (!settings.socket_path.empty()) {
      auto fd = listen_unix(settings);
      if (!fd) return fd.error();
      socket_path_ = settings.socket_path;
      http_->listen(*std::move(fd), HttpServer::Kind::kUnix);
    }
    if (auto started = http_->start(); !started) return started;
    if (settings.thread == ServerSettings::Thread::kOwn) http_->start_thread();
    return {};
  }
  [[nodiscard]] int wake_fd() const override { return http_->fd(); }
  [[nodiscard]] std::function<bool()> serving() const override {
    return [http = http_] { return http->serve(); };
  }
  [[nodiscard]] int tcp_port() const override { return port_; }
  void on_events() override {
    if (http_->has_feeds()) http_->wake();
  }
  void reread_web_config() override {
    if (gate_ == nullptr) return;
    gate_->look_again();
    http_->wake();
  }
  [[nodiscard]] std::string_view scheme() const override { return scheme_; }

 private:
  HttpAnswer handle(ApiRequest& request, HttpServer::Kind kind, int socket) {
    if (kind == HttpServer::Kind::kUnix) introduce(request, socket);
    if (const auto refusal = refuse_act(request, who_may_)) return plain(*refusal);
    if (request.path == kRecordingPath && request.method == "GET") return record(request, kind);
    if (request.path == kEventStreamPath && request.method == "GET")
      return {{}, nullptr, event_feed(reports_, request.last_event_id)};
    return plain(answer(request, {reports_, clock_.wall(), clock_.steady() - started_, stale_after_,
                                  history_, desk_}));
  }

  /// Fills in who asks on the Unix socket. Names are looked up for those who may act only, and not
  /// for each scrape.
  void introduce(ApiRequest& request, int socket) const {
    request.caller.way = Caller::Way::kUnix;
    if (request.method != "POST" && request.path != kRecordingPath) return;
    const auto peer = peer_credentials(socket);
    if (!peer) return;
    request.caller.uid = peer->uid;
    request.caller.may_act = may_act(*peer, geteuid(), control_group_);
    if (request.caller.may_act) request.caller.user = user_name(peer->uid);
  }

  HttpAnswer record(const ApiRequest& request, HttpServer::Kind kind) {
    if (kind != HttpServer::Kind::kUnix)
      return plain(api_error(request, 403, "recordings are given on the Unix socket only"));
    // The kernel log's lines are in it, which not everybody may read.
    if (!request.caller.may_act)
      return plain(api_error(request, 403, "recordings are given to " + who_may_));
    const auto seconds = request.params.find("for");
    const auto wanted_s =
        seconds == request.params.end() ? std::nullopt : parse_u64(seconds->second);
    if (!wanted_s || *wanted_s == 0 || *wanted_s > kMaxRecording_s)
      return plain(
          api_error(request, 400, fmt::format("for= takes 1 to {} seconds", kMaxRecording_s)));
    const auto listener = tap_.listen(clock_.steady(), std::chrono::seconds(*wanted_s));
    if (!listener) return plain(api_error(request, 503, listener.error().message));
    auto stream = std::make_unique<HttpStream>();
    stream->content_type = "application/x-ndjson";
    stream->next = [listener = *listener, &clock = clock_](std::string& line) {
      switch (listener->next(clock.steady(), kRecordingPoll, line)) {
        case RecordingTap::State::kLine:
          return HttpStream::State::kBytes;
        case RecordingTap::State::kNothingYet:
          return HttpStream::State::kNothingYet;
        case RecordingTap::State::kEnded:
          return HttpStream::State::kEnded;
        case RecordingTap::State::kFellBehind:
          break;  // breaks the connection: the client sees that it is cut
      }
      return HttpStream::State::kBroken;
    };
    return {{}, std::move(stream), nullptr};
  }

  const ReportStore& reports_;
  RecordingTap& tap_;
  const Clock& clock_;
  Milliseconds stale_after_;
  std::string who_may_;  ///< in words
  std::optional<gid_t> control_group_;
  HistoryStore* history_;
  Operator* desk_;
  SteadyTime started_;
  std::string socket_path_;
  int port_ = 0;
  std::string_view scheme_ = "http";
  std::unique_ptr<WebGate> gate_;
  std::shared_ptr<HttpServer> http_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const ServerSettings& settings,
                                              const ReportStore& reports, RecordingTap& tap,
                                              const Clock& clock) {
  auto server = std::make_unique<ApiServer>(reports, tap, clock, settings);
  if (auto started = server->start(settings); !started) return started.error();
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace linkhealth
