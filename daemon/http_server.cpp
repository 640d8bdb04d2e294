#include "daemon/http_server.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <fcntl.h>
#include <algorithm>
#include <array>
#include <csignal>

namespace linkhealth {

namespace {

constexpr std::size_t kReadBytes = 16384;

std::string_view status_words(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 413:
      return "Payload Too Large";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    default:
      return status < 500 ? "Error" : "Internal Server Error";
  }
}

/// All bytes on a blocking socket.
bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool is_connected(int fd) {
  char byte = 0;
  const auto got = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

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

}  // namespace

struct HttpServer::Connection {
  OwnedFd fd;
  Kind kind;
  std::string in;        ///< bytes that are not answered yet
  std::string head;      ///< of the answer that is being sent
  SharedBytes body;      ///< nullptr: no answer is being sent
  std::size_t sent = 0;  ///< of head and body
  bool last = false;     ///< close when the answer is sent
  bool ended = false;    ///< the client sends nothing more
  std::uint32_t watched = EPOLLIN;
  SteadyTime deadline;
};

struct HttpServer::Streaming {
  std::thread thread;
  std::shared_ptr<std::atomic<bool>> done;
};

std::string http_head(const ApiReply& reply, std::optional<std::size_t> size, bool keep_alive) {
  std::string head = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\n"
      "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\nX-Content-Type-Options: nosniff\r\n"
      "Referrer-Policy: no-referrer\r\nCache-Control: no-store\r\n",
      reply.status, status_words(reply.status), reply.content_type);
  for (const auto& [name, value] : reply.headers) head.append(name).append(": ").append(value).append("\r\n");
  head += size ? fmt::format("Content-Length: {}\r\n", *size) : "Transfer-Encoding: chunked\r\n";
  head += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return head;
}

HttpServer::HttpServer(Handler handler, const Clock& clock)
    : handler_(std::move(handler)),
      clock_(clock),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

HttpServer::~HttpServer() {
  stopping_ = true;
  eventfd_write(stop_.get(), 1);
  if (thread_.joinable()) thread_.join();
  for (Streaming& stream : streams_) stream.thread.join();
}

void HttpServer::listen(OwnedFd socket, Kind kind) { listeners_.emplace_back(std::move(socket), kind); }

Result<void> HttpServer::start() {
  const auto add = [this](int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
  };
  bool good = add(stop_.get());
  for (const auto& [fd, kind] : listeners_) good = good && add(fd.get());
  if (!good) return errno_error("setting up the server", errno);
  thread_ = quiet_thread([this] { run(); });
  return {};
}

void HttpServer::run() {
  std::array<epoll_event, 16> events{};
  while (!stopping_) {
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait_ms());
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events.at(static_cast<std::size_t>(i));
      const auto listener = std::find_if(listeners_.begin(), listeners_.end(),
                                         [&](const auto& entry) { return entry.first.get() == event.data.fd; });
      if (listener != listeners_.end()) {
        accept_all(event.data.fd, listener->second);
      } else {
        on_ready(event.data.fd, event.events);
      }
    }
    drop_expired();
  }
}

void HttpServer::accept_all(int listener, Kind kind) {
  for (;;) {
    OwnedFd fd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;
    std::size_t same = 0;
    auto oldest = connections_.end();
    for (auto at = connections_.begin(); at != connections_.end(); ++at) {
      if (at->second->kind != kind) continue;
      ++same;
      if (oldest == connections_.end() || at->second->deadline < oldest->second->deadline) oldest = at;
    }
    if (same >= kMaxConnections) connections_.erase(oldest);
    epoll_event event{};
    event.events = EPOLLIN;
    const int number = event.data.fd = fd.get();
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, number, &event) != 0) continue;
    auto connection = std::make_unique<Connection>();
    connection->fd = std::move(fd);
    connection->kind = kind;
    connection->deadline = clock_.steady() + kRequestTimeout;
    connections_[number] = std::move(connection);
  }
}

void HttpServer::on_ready(int fd, std::uint32_t events) {
  const auto found = connections_.find(fd);
  if (found == connections_.end()) return;
  Connection& connection = *found->second;
  const bool input = (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0;
  if ((input && connection.body == nullptr && !read_more(connection)) || !serve(connection)) return drop(fd);
  watch(connection);
}

bool HttpServer::read_more(Connection& connection) {
  std::array<char, kReadBytes> buffer;  // NOLINT(*-member-init): filled by recv
  const auto got = recv(connection.fd.get(), buffer.data(), buffer.size(), 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  connection.ended = got == 0;
  // A request has as long as it takes from its first byte, however its bytes trickle.
  if (connection.in.empty()) connection.deadline = clock_.steady() + kRequestTimeout;
  connection.in.append(buffer.data(), static_cast<std::size_t>(got));
  return true;
}

bool HttpServer::serve(Connection& connection) {
  for (;;) {
    if (connection.body != nullptr) {
      if (!send_more(connection)) return false;
      if (connection.body != nullptr) return true;  // the client takes no more now
      if (connection.last) return false;
      connection.deadline = clock_.steady() + (connection.in.empty() ? kIdleTimeout : kRequestTimeout);
    }
    const HttpRequest request = parse_http_request(connection.in);
    if (request.state == HttpRequest::State::kIncomplete) return !connection.ended;
    connection.deadline = clock_.steady() + kAnswerTimeout;
    if (request.state == HttpRequest::State::kRefused) {
      refuse(connection, request.status);
    } else {
      connection.in.erase(0, request.size);
      connection.last = !request.keep_alive;
      answer(connection, request);
      if (!connection.fd) return false;  // a stream took it over
    }
  }
}

void HttpServer::refuse(Connection& connection, int status) {
  connection.in.clear();
  connection.last = true;
  const ApiReply reply = api_error({}, status, fmt::format("{}", status_words(status)));
  connection.body = reply.body;
  connection.head = http_head(reply, reply.body->size(), false);
}

void HttpServer::answer(Connection& connection, const HttpRequest& request) {
  HttpAnswer made;
  try {
    made = handler_(request.api, connection.kind);
  } catch (const std::exception&) {
    made.reply = api_error(request.api, 500, "the answer could not be made");
  }
  if (made.stream != nullptr) {
    if (begin_stream(connection, std::move(made.stream))) return;
    made.reply = api_error(request.api, 503, "no thread for a stream");
  }
  connection.head = http_head(made.reply, made.reply.body->size(), request.keep_alive);
  static const auto kNothing = std::make_shared<const std::string>();
  connection.body = request.api.method == "HEAD" ? kNothing : made.reply.body;
}

bool HttpServer::send_more(Connection& connection) {
  const std::size_t head_bytes = connection.head.size();
  const std::size_t all_bytes = head_bytes + connection.body->size();
  while (connection.sent < all_bytes) {
    std::array<iovec, 2> parts{};
    const std::size_t of_head = std::min(connection.sent, head_bytes);
    const std::size_t of_body = connection.sent - of_head;
    parts[0] = {connection.head.data() + of_head, head_bytes - of_head};
    parts[1] = {const_cast<char*>(connection.body->data()) + of_body, connection.body->size() - of_body};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const auto sent = sendmsg(connection.fd.get(), &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno == EAGAIN;
    connection.sent += static_cast<std::size_t>(sent);
  }
  connection.body = nullptr;
  connection.sent = 0;
  return true;
}

void HttpServer::watch(Connection& connection) {
  const std::uint32_t wanted = connection.body != nullptr ? EPOLLOUT : EPOLLIN;
  if (wanted == connection.watched) return;
  epoll_event event{};
  event.events = connection.watched = wanted;
  event.data.fd = connection.fd.get();
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.fd.get(), &event);
}

bool HttpServer::begin_stream(Connection& connection, std::unique_ptr<HttpStream> stream) {
  streams_.remove_if([](Streaming& streaming) {
    if (*streaming.done) streaming.thread.join();
    return !streaming.thread.joinable();
  });
  auto done = std::make_shared<std::atomic<bool>>(false);
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, connection.fd.get(), nullptr);
  const int fd = connection.fd.get();
  // Blocking from here on; a client that takes nothing for this long has lost its stream.
  const timeval patience{std::chrono::duration_cast<std::chrono::seconds>(kAnswerTimeout).count(), 0};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  auto run = [this, done, socket = std::make_shared<OwnedFd>(std::move(connection.fd)),
              stream = std::shared_ptr<HttpStream>(std::move(stream))] {
    ApiReply reply;
    reply.content_type = stream->content_type;
    bool good = send_all(socket->get(), http_head(reply, std::nullopt, false));
    std::string bytes;
    while (good && !stopping_) {
      const HttpStream::State state = stream->next(bytes);
      if (state == HttpStream::State::kBytes)
        good = send_all(socket->get(), fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes));
      if (state == HttpStream::State::kNothingYet) good = is_connected(socket->get());
      if (state == HttpStream::State::kEnded) send_all(socket->get(), "0\r\n\r\n");
      if (state == HttpStream::State::kEnded || state == HttpStream::State::kBroken) break;
    }
    *done = true;
  };
  streams_.push_back({quiet_thread(std::move(run)), done});
  return true;
}

void HttpServer::drop(int fd) { connections_.erase(fd); }

void HttpServer::drop_expired() {
  const SteadyTime now = clock_.steady();
  std::erase_if(connections_, [&](const auto& entry) { return entry.second->deadline <= now; });
}

int HttpServer::wait_ms() const {
  if (connections_.empty()) return -1;
  const auto next = std::min_element(connections_.begin(), connections_.end(), [](const auto& a, const auto& b) {
    return a.second->deadline < b.second->deadline;
  });
  const auto wait = next->second->deadline - clock_.steady();
  return static_cast<int>(std::clamp<std::int64_t>(wait.count() + 1, 1, 120'000));
}

}  // namespace linkhealth
