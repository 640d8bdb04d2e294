#include "daemon/server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "base/text.h"
#include "daemon/api.h"

namespace linkhealth {

namespace {

constexpr std::size_t kThreads = 4;
constexpr std::size_t kMaxBodyBytes = 8192;
constexpr time_t kReadTimeout_s = 2;
constexpr time_t kWriteTimeout_s = 5;
constexpr time_t kKeepAlive_s = 1;  // an idle connection holds one of few threads
constexpr std::size_t kRequestsPerConnection = 100;
constexpr std::uint64_t kMaxRecording_s = 86400;
constexpr Milliseconds kRecordingPoll(500);

/// A thread that inherits no signals: they belong to the main thread's loop.
template <typename Run>
std::thread quiet_thread(Run run) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(run));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

ApiRequest request_of(const httplib::Request& from) {
  ApiRequest request;
  request.method = from.method;
  request.path = from.path;
  request.params.insert(from.params.begin(), from.params.end());
  request.accepts_gzip = accepts_gzip(from.get_header_value("Accept-Encoding"));
  return request;
}

/// Shares the bytes with the connection. As a content provider because httplib would compress a plain body again.
void write(const ApiReply& reply, httplib::Response& to) {
  to.status = reply.status;
  for (const auto& [name, value] : reply.headers) to.set_header(name, value);
  if (reply.body->empty()) {
    to.set_content("", reply.content_type);
    return;
  }
  to.set_content_provider(reply.body->size(), reply.content_type,
                          [bytes = reply.body](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
                            return sink.write(bytes->data() + offset, length);
                          });
}

/// Who answers on a Unix socket's path: a socket file without a listener is what a killed daemon leaves behind.
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
  const int connected = connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const int errnum = errno;
  close(probe);
  if (connected == 0 || errnum == EAGAIN) return Error{"another daemon answers on " + path};
  if (errnum != ECONNREFUSED) return errno_error("can't see who answers on " + path, errnum);
  if (unlink(path.c_str()) != 0) return errno_error("can't remove the stale socket " + path, errno);
  return {};
}

/// One listening socket with its threads.
class Listener {
 public:
  Listener(const Publisher& publisher, RecordingTap* tap, const Clock& clock, const ServerSettings& settings)
      : publisher_(publisher),
        tap_(tap),
        clock_(clock),
        stale_after_(settings.stale_after),
        catalogue_(settings.catalogue),
        started_(clock.steady()) {
    http_.new_task_queue = [] { return std::make_unique<httplib::ThreadPool>(kThreads).release(); };
    http_.set_read_timeout(kReadTimeout_s);
    http_.set_write_timeout(kWriteTimeout_s);
    http_.set_keep_alive_timeout(kKeepAlive_s);
    http_.set_keep_alive_max_count(kRequestsPerConnection);
    http_.set_payload_max_length(kMaxBodyBytes);
    http_.set_tcp_nodelay(true);
    http_.set_default_headers({{"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
                               {"X-Content-Type-Options", "nosniff"},
                               {"Referrer-Policy", "no-referrer"},
                               {"Cache-Control", "no-store"}});
    const auto handler = [this](const httplib::Request& from, httplib::Response& to) { handle(from, to); };
    http_.Get(".*", handler).Post(".*", handler).Put(".*", handler).Patch(".*", handler).Delete(".*", handler);
    http_.Options(".*", handler);
    http_.set_exception_handler([](const httplib::Request& from, httplib::Response& to, const std::exception_ptr&) {
      write(api_error(request_of(from), 500, "the answer could not be made"), to);
    });
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    if (thread_.joinable()) {
      http_.stop();
      thread_.join();
    }
    if (!socket_path_.empty()) unlink(socket_path_.c_str());
  }

  Result<int> bind_tcp(const ListenAddress& address) {
    // httplib's own options share the port with another daemon (SO_REUSEPORT): an address in use must be an error.
    http_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    if (const int port = bind_host(address.host, address.port); port > 0) return port;
    // All addresses: "::" takes IPv4 too, but not where the node has no IPv6.
    const bool all = address.host == "::";
    if (const int port = all ? bind_host("0.0.0.0", address.port) : 0; port > 0) return port;
    const std::string& host = address.host;
    const int errnum = errno != 0 ? errno : EADDRNOTAVAIL;
    return errno_error(fmt::format("can't listen on {}:{}",
                                   host.find(':') == std::string::npos ? host : "[" + host + "]", address.port),
                       errnum);
  }

  Result<void> bind_unix(const std::string& path) {
    if (path.size() >= sizeof(sockaddr_un::sun_path)) return Error{"the socket's path is too long: " + path};
    if (auto cleared = clear_stale_socket(path); !cleared) return cleared;
    http_.set_address_family(AF_UNIX);
    // On the socket, before it has a name: there is no moment at which others could connect.
    http_.set_socket_options([](socket_t socket) { fchmod(socket, S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP); });
    errno = 0;
    constexpr int kAnyPort = 1;  // means nothing here; 0 would make httplib ask for one
    if (!http_.bind_to_port(path, kAnyPort)) return errno_error("can't listen on " + path, errno);
    socket_path_ = path;
    if (chmod(path.c_str(), S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP) != 0)  // the umask may have taken the group's part
      return errno_error("can't give the group its part of " + path, errno);
    return {};
  }

  void serve() {
    thread_ = quiet_thread([this] { http_.listen_after_bind(); });
    while (!http_.is_running()) std::this_thread::yield();  // stop() before that would be lost
  }

 private:
  /// The port; 0 with errno set when it can't be had.
  int bind_host(const std::string& host, int port) {
    errno = 0;
    if (port == 0) return std::max(http_.bind_to_any_port(host), 0);
    return http_.bind_to_port(host, port) ? port : 0;
  }

  void handle(const httplib::Request& from, httplib::Response& to) {
    const ApiRequest request = request_of(from);
    if (request.path == "/api/v1/recording" && from.method == "GET") return record(request, to);
    write(answer(request, {publisher_, clock_.wall(), clock_.steady() - started_, stale_after_, catalogue_}), to);
  }

  void record(const ApiRequest& request, httplib::Response& to) {
    if (tap_ == nullptr) return write(api_error(request, 403, "recordings are given on the Unix socket only"), to);
    const auto seconds = request.params.find("for");
    const auto wanted_s = seconds == request.params.end() ? std::nullopt : parse_u64(seconds->second);
    if (!wanted_s || *wanted_s == 0 || *wanted_s > kMaxRecording_s)
      return write(api_error(request, 400, fmt::format("for= takes 1 to {} seconds", kMaxRecording_s)), to);
    const auto listener = tap_->listen(std::chrono::seconds(*wanted_s));
    if (!listener) return write(api_error(request, 503, listener.error().message), to);
    to.set_chunked_content_provider("application/x-ndjson",
                                    [listener = *listener](std::size_t, httplib::DataSink& sink) {
                                      std::string line;
                                      switch (listener->next(kRecordingPoll, line)) {
                                        case RecordingTap::State::kLine:
                                          return sink.write(line.data(), line.size());
                                        case RecordingTap::State::kNothingYet:
                                          return sink.is_writable();
                                        case RecordingTap::State::kEnded:
                                          sink.done();
                                          return true;
                                        case RecordingTap::State::kFellBehind:
                                          return false;  // breaks the connection: the client sees that it is cut
                                      }
                                      return false;
                                    });
  }

  const Publisher& publisher_;
  RecordingTap* tap_;  // nullptr: no recordings by this way
  const Clock& clock_;
  Milliseconds stale_after_;
  const Catalogue* catalogue_;
  SteadyTime started_;
  httplib::Server http_;
  std::string socket_path_;
  std::thread thread_;
};

class HttpServer : public Server {
 public:
  HttpServer(const Publisher& publisher, RecordingTap& tap, const Clock& clock, const ServerSettings& settings)
      : tap_(tap), tcp_(publisher, nullptr, clock, settings), unix_(publisher, &tap, clock, settings) {}
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer() override { tap_.close(); }

  Result<void> bind(const ServerSettings& settings) {
    const bool has_tcp = !settings.listen.host.empty();
    if (has_tcp) {
      const auto port = tcp_.bind_tcp(settings.listen);
      if (!port) return port.error();
      port_ = *port;
    }
    if (!settings.socket_path.empty())
      if (auto bound = unix_.bind_unix(settings.socket_path); !bound) return bound;
    if (has_tcp) tcp_.serve();
    if (!settings.socket_path.empty()) unix_.serve();
    return {};
  }
  [[nodiscard]] int tcp_port() const override { return port_; }

 private:
  RecordingTap& tap_;
  Listener tcp_;
  Listener unix_;
  int port_ = 0;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const ServerSettings& settings, const Publisher& publisher,
                                              RecordingTap& tap, const Clock& clock) {
  auto server = std::make_unique<HttpServer>(publisher, tap, clock, settings);
  if (auto bound = server->bind(settings); !bound) return bound.error();
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace linkhealth
