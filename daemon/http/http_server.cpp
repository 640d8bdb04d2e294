#include "daemon/http/http_server.h"

#include <utility>  // Boost 1.74's asio uses std::exchange without it

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/write.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <list>
#include <optional>
#include <sstream>
#include <thread>

#include "base/quiet_thread.h"
#include "daemon/http/body_budget.h"
#include "daemon/http/http_auth.h"
#include "daemon/http/http_parser.h"
#include "daemon/http/peer_credentials.h"

namespace linkhealth {

namespace net = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

namespace {

using Socket = net::generic::stream_protocol::socket;
using TlsStream = net::ssl::stream<Socket&>;

constexpr int kAcceptsATurn = 16;
constexpr std::size_t kReadBytes = 16384;
constexpr std::size_t kMinCompressed_bytes = 1400;  // less fits into one packet anyway
// multiple of an answer's time limit: other checks may come first.
constexpr int kPasswordsAtOnce = 4;
constexpr Milliseconds kStopPatience{500};  // for the last bytes of streams
constexpr std::string_view kLastChunk = "0\r\n\r\n";

/// Errors of one connection, not of the listening socket (accept(2), "Error handling"). Not EPERM:
/// a security module may return it for each accept.
bool is_connection_error(int errnum) {
  constexpr int kErrors[] = {ECONNABORTED, EINTR,  EPROTO,       ENOPROTOOPT, EOPNOTSUPP,
                             ENETDOWN,     ENONET, EHOSTUNREACH, EHOSTDOWN,   ENETUNREACH};
  return std::ranges::find(kErrors, errnum) != std::end(kErrors);
}

std::string chunk_of(std::string_view bytes) {
  std::ostringstream size;
  size << std::hex << bytes.size();
  return size.str() + "\r\n" + std::string(bytes) + "\r\n";
}

/// The head as bytes; `body_size` nullopt: the body is chunked.
std::string head_of(const HttpResponse& response, std::optional<std::size_t> body_size,
                    bool keep_alive) {
  http::response_header<> head;
  head.version(11);
  head.result(static_cast<unsigned>(response.status));
  head.set(http::field::content_type, response.content_type);
  head.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  head.set("X-Content-Type-Options", "nosniff");
  head.set("Referrer-Policy", "no-referrer");
  head.set(http::field::cache_control, "no-store");
  head.set(http::field::vary, "Accept-Encoding");
  for (const auto& [name, value] : response.headers) head.set(name, value);
  if (body_size)
    head.set(http::field::content_length, std::to_string(*body_size));
  else
    head.set(http::field::transfer_encoding, "chunked");
  head.set(http::field::connection, keep_alive ? "keep-alive" : "close");
  std::ostringstream out;
  out << head;
  return out.str();
}

HttpResponse busy_response(const std::string& why) {
  HttpResponse response = error_response(503, why + ": try again");
  response.headers = {{"Retry-After", "1"}};
  return response;
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(Handler handler, HttpLimits limits)
      : handler_(std::move(handler)), limits_(limits), bodies_(limits.untaken_bytes) {}
  ~Impl() { stop(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void listen(OwnedFd socket, Caller::Transport transport);
  void set_auth(HttpAuth* auth) { auth_ = auth; }
  void start();
  void stop();
  void post(std::function<void()> task) { net::post(io_, std::move(task)); }
  void wake();

 private:
  class Connection;
  class Listener;
  using Connections = std::list<std::shared_ptr<Connection>>;

  void add(int socket, Caller::Transport transport);
  void remove(Connection& connection);
  bool close_idle();
  HttpResponse respond(HttpRequest& request, int socket);

  const Handler handler_;
  const HttpLimits limits_;
  BodyBudget bodies_;
  HttpAuth* auth_ = nullptr;
  net::io_context io_{1};
  net::executor_work_guard<net::io_context::executor_type> work_ = net::make_work_guard(io_);
  net::steady_timer stop_timer_{io_};
  std::list<Listener> listeners_;
  Connections connections_;
  std::atomic<std::size_t> streams_ = 0;
  std::atomic<bool> wake_posted_ = false;
  bool stopping_ = false;  ///< used by the server's thread
  std::thread thread_;
};

/// One client. Reads a request, waits for its password check, writes the answer: one at a time. A
/// stream also reads, to notice that the client is gone.
class HttpServer::Impl::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Impl& server, int socket, Caller::Transport transport,
             std::shared_ptr<ssl_ctx_st> tls_context)
      : server_(server),
        transport_(transport),
        socket_(server.io_),
        timer_(server.io_),
        tls_context_(std::move(tls_context)) {
    socket_.assign(
        net::generic::stream_protocol(transport == Caller::Transport::kUnix ? AF_UNIX : AF_INET, 0),
        socket);
    if (transport == Caller::Transport::kTcp) network_ = peer_network(socket);
    if (tls_context_ != nullptr) {
      SSL_CTX_up_ref(tls_context_.get());  // freed by asio's context
      net::ssl::context context(tls_context_.get());
      tls_.emplace(socket_, context);
    }
  }

  [[nodiscard]] bool is_idle() const {
    return state_ == State::kReading && answered_ && in_.empty();
  }
  [[nodiscard]] bool is_stream() const { return stream_ != nullptr; }
  [[nodiscard]] auto deadline() const { return timer_.expiry(); }

  void start() {
    set_deadline(server_.limits_.request);
    if (!tls_) return read();
    tls_->async_handshake(
        net::ssl::stream_base::server,
        [self = shared_from_this()](error_code error) { error ? self->close() : self->read(); });
  }

  void close() {
    if (state_ == State::kClosed) return;
    state_ = State::kClosed;
    if (stream_ != nullptr) --server_.streams_;
    error_code ignored;
    timer_.cancel(ignored);
    socket_.close(ignored);
    server_.remove(*this);
  }

  /// Sends the stream's next bytes, unless the client has not yet taken the previous ones.
  void pump(bool silent_for_long = false) {
    if (state_ != State::kStreaming) return;
    std::string bytes;
    const HttpStream::State state = stream_->next(bytes);
    if (state == HttpStream::State::kBroken) return close();
    if (state == HttpStream::State::kEnded) {
      last_ = true;
      return write(std::string(kLastChunk));
    }
    if (bytes.empty() && silent_for_long) bytes = stream_->keep_alive;
    if (bytes.empty()) return set_deadline(stream_->poll_after);
    write(chunk_of(bytes));
  }

 private:
  enum class State : std::uint8_t { kReading, kAuthenticating, kWriting, kStreaming, kClosed };

  void set_deadline(Milliseconds from_now) {
    timer_.expires_after(from_now);
    timer_.async_wait([weak = weak_from_this()](error_code error) {
      const auto self = weak.lock();
      if (error || self == nullptr) return;
      // The deadline was moved after this was scheduled.
      if (self->timer_.expiry() > net::steady_timer::clock_type::now()) return;
      self->state_ == State::kStreaming ? self->pump(true) : self->close();
    });
  }

  template <typename Done>
  void read_some(Done done) {
    const auto handler = [self = shared_from_this(), done](error_code error, std::size_t size) {
      if (self->state_ == State::kClosed) return;
      error ? self->close() : done(*self, size);
    };
    if (tls_)
      tls_->async_read_some(net::buffer(buffer_), handler);
    else
      socket_.async_read_some(net::buffer(buffer_), handler);
  }

  /// Answers the request at the beginning of the received bytes, or reads more.
  void read() {
    state_ = State::kReading;
    ParsedRequest parsed = parse_http_request(in_);
    if (parsed.state == ParsedRequest::State::kRefused) return refuse(parsed.status);
    if (parsed.state == ParsedRequest::State::kIncomplete)
      return read_some([](Connection& self, std::size_t size) {
        // The time limit counts from a request's first byte, however slowly its bytes arrive.
        if (self.in_.empty() && self.answered_) self.set_deadline(self.server_.limits_.request);
        self.in_.append(self.buffer_.data(), size);
        self.read();
      });
    in_.erase(0, parsed.size_bytes);
    request_ = std::move(parsed.request);
    request_.caller.transport = transport_;
    request_.caller.network = network_;
    last_ = !request_.keep_alive;
    set_deadline(server_.limits_.answer);
    if (transport_ == Caller::Transport::kUnix || server_.auth_ == nullptr) return answer();
    state_ = State::kAuthenticating;
    set_deadline(kPasswordsAtOnce * server_.limits_.answer);
    server_.auth_->authenticate(request_, tls_ ? tls_->native_handle() : nullptr,
                                shared_from_this(),
                                [weak = weak_from_this()](HttpAuth::Answer answer) {
                                  if (const auto self = weak.lock()) self->admit(std::move(answer));
                                });
  }

  void admit(HttpAuth::Answer auth) {
    if (state_ != State::kAuthenticating) return;
    if (auth.verdict == HttpAuth::Verdict::kAdmitted) {
      request_.caller.may_act = !auth.user.empty();
      request_.caller.user = std::move(auth.user);
      return answer();
    }
    HttpResponse response;
    if (auth.verdict == HttpAuth::Verdict::kBusy) {
      response = busy_response("too many password checks in progress");
    } else {
      response = error_response(401, "a user name and a password are required");
      response.headers = {{"WWW-Authenticate", "Basic realm=\"linkhealth\""}};
    }
    send(std::move(response));
  }

  void refuse(int status) {
    in_.clear();
    last_ = drain_ = true;
    request_ = {};
    const auto reason = http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status)));
    send(error_response(status, {reason.data(), reason.size()}));
  }

  void answer() {
    HttpResponse response = server_.respond(request_, socket_.native_handle());
    if (response.stream == nullptr || request_.method == "HEAD") return send(std::move(response));
    if (server_.streams_ >= server_.limits_.streams)
      return send(error_response(503, std::to_string(server_.limits_.streams) +
                                          " streams are already open: try again later"));
    ++server_.streams_;
    last_ = false;  // until the stream's end
    stream_ = std::move(response.stream);
    read_some(&Connection::ignore_input);
    write(head_of(response, std::nullopt, false));
  }

  /// The client of a stream sends nothing more; this notices the end of its connection.
  static void ignore_input(Connection& self, std::size_t) { self.read_some(&ignore_input); }

  void send(HttpResponse response) {
    if (request_.accepts_gzip && response.body.size() >= kMinCompressed_bytes) {
      if (std::string packed = gzip(response.body); !packed.empty()) {
        response.body = std::move(packed);
        response.headers.emplace_back("Content-Encoding", "gzip");
      }
    }
    const std::string head = head_of(response, response.body.size(), !last_);
    if (request_.method == "HEAD") return write(head);
    if (auto body = server_.bodies_.accept(std::move(response.body)); body != nullptr)
      return write(head, std::move(body));
    response = busy_response("too many large answers are on their way to slow clients");
    write(head_of(response, response.body.size(), !last_) + response.body);
  }

  void write(std::string head, BodyBudget::Body body = std::make_shared<const std::string>()) {
    state_ = State::kWriting;
    head_ = std::move(head);
    body_ = std::move(body);
    set_deadline(server_.limits_.answer);
    const std::array<net::const_buffer, 2> parts = {net::buffer(head_), net::buffer(*body_)};
    const auto handler = [self = shared_from_this()](error_code error, std::size_t) {
      if (self->state_ != State::kClosed) self->written(error);
    };
    if (tls_)
      net::async_write(*tls_, parts, handler);
    else
      net::async_write(socket_, parts, handler);
  }

  void written(error_code error) {
    body_ = nullptr;
    if (error || (last_ && !drain_)) return close();
    if (drain_) return drain();
    if (stream_ != nullptr) {
      state_ = State::kStreaming;
      return pump();
    }
    answered_ = true;
    set_deadline(in_.empty() ? server_.limits_.idle : server_.limits_.request);
    read();
  }

  /// The rest of a rejected request is still arriving: closing the socket now would reset the
  /// connection, and the client would not see the reason.
  void drain() {
    error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    read_some(&Connection::ignore_input);
  }

  Impl& server_;
  const Caller::Transport transport_;
  std::string network_;
  Socket socket_;
  net::steady_timer timer_;
  std::shared_ptr<ssl_ctx_st> tls_context_;  ///< from when the client connected
  std::optional<TlsStream> tls_;
  State state_ = State::kReading;
  bool answered_ = false;  ///< at least one request
  bool last_ = false;      ///< the connection ends with the answer
  bool drain_ = false;     ///< after the answer, further input is read and ignored
  std::array<char, kReadBytes> buffer_{};
  std::string in_;  ///< bytes not yet answered
  HttpRequest request_;
  std::string head_;       ///< being written
  BodyBudget::Body body_;  ///< being written
  std::unique_ptr<HttpStream> stream_;
};

/// A listening socket. It pauses while the process has no descriptor for a connection.
class HttpServer::Impl::Listener {
 public:
  Listener(Impl& server, int socket, Caller::Transport transport)
      : server_(server),
        transport_(transport),
        descriptor_(server.io_, socket),
        timer_(server.io_) {}

  void wait() {
    descriptor_.async_wait(net::posix::stream_descriptor::wait_read, [this](error_code error) {
      if (!error) accept_all();
    });
  }
  void close() {
    error_code ignored;
    descriptor_.close(ignored);
    timer_.cancel(ignored);
  }

 private:
  void accept_all() {
    // once: if the whole system has no descriptors left, closing more does not help.
    bool made_room = false;
    for (int i = 0; i < kAcceptsATurn; ++i) {
      const int socket =
          accept4(descriptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (socket >= 0) {
        server_.add(socket, transport_);
      } else if (errno == EAGAIN) {
        return wait();
      } else if (!is_connection_error(errno)) {
        if (made_room || !server_.close_idle()) return pause();
        made_room = true;
      }
    }
    wait();  // let the other connections have their turn
  }

  void pause() {
    timer_.expires_after(server_.limits_.accept_pause);
    timer_.async_wait([this](error_code error) {
      if (!error) accept_all();
    });
  }

  Impl& server_;
  const Caller::Transport transport_;
  net::posix::stream_descriptor descriptor_;
  net::steady_timer timer_;
};

void HttpServer::Impl::listen(OwnedFd socket, Caller::Transport transport) {
  listeners_.emplace_back(*this, socket.release(), transport);
}

void HttpServer::Impl::start() {
  for (Listener& listener : listeners_) listener.wait();
  thread_ = quiet_thread([this] { io_.run(); });
}

void HttpServer::Impl::add(int socket, Caller::Transport transport) {
  if (connections_.size() >= limits_.connections) {
    const auto next_to_expire = std::ranges::min_element(
        connections_, {}, [](const auto& each) { return each->deadline(); });
    const auto closed = *next_to_expire;  // a copy: closing erases the list's element
    closed->close();
  }
  std::shared_ptr<ssl_ctx_st> tls_context;
  if (transport == Caller::Transport::kTcp && auth_ != nullptr) tls_context = auth_->tls_context();
  const auto connection =
      std::make_shared<Connection>(*this, socket, transport, std::move(tls_context));
  connections_.push_back(connection);
  connection->start();
}

void HttpServer::Impl::remove(Connection& connection) {
  connections_.remove_if([&](const auto& each) { return each.get() == &connection; });
  if (stopping_ && connections_.empty()) io_.stop();
}

/// Closes the connection that has been idle for longest. False: there is none.
bool HttpServer::Impl::close_idle() {
  std::shared_ptr<Connection> oldest;
  for (const auto& connection : connections_)
    if (connection->is_idle() && (oldest == nullptr || connection->deadline() < oldest->deadline()))
      oldest = connection;
  if (oldest != nullptr) oldest->close();
  return oldest != nullptr;
}

HttpResponse HttpServer::Impl::respond(HttpRequest& request, int socket) {
  try {
    return handler_(request, socket);
  } catch (const std::exception&) {
    return error_response(500, "the response could not be created");
  }
}

void HttpServer::Impl::wake() {
  if (streams_ == 0 || wake_posted_.exchange(true)) return;
  net::post(io_, [this] {
    wake_posted_ = false;
    const Connections all = connections_;  // a stream that breaks removes its connection
    for (const auto& connection : all) connection->pump();
  });
}

void HttpServer::Impl::stop() {
  if (!thread_.joinable()) return;
  net::post(io_, [this] {
    stopping_ = true;
    for (Listener& listener : listeners_) listener.close();
    const Connections all = connections_;
    for (const auto& connection : all)
      connection->is_stream() ? connection->pump() : connection->close();
    if (connections_.empty()) io_.stop();
    stop_timer_.expires_after(kStopPatience);
    stop_timer_.async_wait([this](error_code) { io_.stop(); });
  });
  thread_.join();
}

HttpServer::HttpServer(Handler handler, HttpLimits limits)
    : impl_(std::make_unique<Impl>(std::move(handler), limits)) {}
HttpServer::~HttpServer() = default;
void HttpServer::listen(OwnedFd socket, Caller::Transport transport) {
  impl_->listen(std::move(socket), transport);
}
void HttpServer::set_auth(HttpAuth* auth) { impl_->set_auth(auth); }
void HttpServer::start() { impl_->start(); }
void HttpServer::stop() { impl_->stop(); }
void HttpServer::post(std::function<void()> task) { impl_->post(std::move(task)); }
void HttpServer::wake() { impl_->wake(); }

}  // namespace linkhealth
