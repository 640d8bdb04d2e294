#include "daemon/http_server.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/quiet_thread.h"

namespace linkhealth {

struct HttpServer::Connection : HttpConnection {
  Connection(OwnedFd socket, std::unique_ptr<TlsSession> session, std::uint64_t number, Kind of)
      : HttpConnection(std::move(socket), std::move(session), number), kind(of) {}
  Kind kind;
};

HttpServer::HttpServer(Handler handler, const Clock& clock)
    : handler_(std::move(handler)),
      clock_(clock),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {}

HttpServer::~HttpServer() { stop(); }

void HttpServer::stop() {
  stopping_ = true;
  wake();
  if (thread_.joinable()) thread_.join();
  const std::lock_guard lock(
      serving_);  // who serves now is waited for, who comes later finds the end
  streams_.stop();
}

void HttpServer::listen(OwnedFd socket, Kind kind) { listeners_.add(std::move(socket), kind); }

void HttpServer::wake() { eventfd_write(wake_.get(), 1); }

Result<void> HttpServer::start() {
  if (!watch_input(wake_.get()) || !watch_input(timer_.get()) || !listeners_.watch(epoll_.get()))
    return errno_error("setting up the server", errno);
  return {};
}

bool HttpServer::watch_input(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void HttpServer::start_thread() {
  thread_ = quiet_thread([this] {
    while (!stopping_) serve_ready(-1);
  });
}

bool HttpServer::serve() {
  const std::lock_guard lock(serving_);
  const std::uint64_t before = answers_;
  if (!stopping_) serve_ready(0);
  return answers_ != before;
}

void HttpServer::serve_ready(int wait_ms) {
  std::array<epoll_event, 16> events{};
  const int count =
      epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait_ms);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events.at(static_cast<std::size_t>(i));
    if (event.data.fd == wake_.get()) {
      on_wake();
    } else if (event.data.fd == timer_.get()) {
      on_timer();
    } else if (const auto kind = listeners_.kind_of(event.data.fd)) {
      accept_all(event.data.fd, *kind);
    } else {
      on_ready(event.data.fd, event.events);
    }
  }
  drop_expired();
  listeners_.rested(clock_.steady());
  expect_next();
}

void HttpServer::accept_all(int listener, Kind kind) {
  bool taken = false;
  bool made_room = false;
  for (;;) {
    Accepted next = accept_next(listener);
    if (!next.socket && !next.refused) return;
    if (next.socket) {
      take(std::move(next.socket), kind);
      taken = true;
    } else if (made_room || !drop_idle()) {
      // Who was taken is served first: that may make room.
      if (!taken) listeners_.rest(clock_.steady() + kListenRest);
      return;
    } else {
      made_room =
          true;  // once: where the whole system has none left, closing ours one by one helps nobody
    }
  }
}

bool HttpServer::drop_idle() {
  auto oldest = connections_.end();
  for (auto at = connections_.begin(); at != connections_.end(); ++at)
    if (at->second->idle() &&
        (oldest == connections_.end() || at->second->deadline < oldest->second->deadline))
      oldest = at;
  if (oldest == connections_.end()) return false;
  drop(oldest->first);
  return true;
}

void HttpServer::take(OwnedFd socket, Kind kind) {
  std::size_t same = 0;
  auto oldest = connections_.end();
  for (auto at = connections_.begin(); at != connections_.end(); ++at) {
    if (at->second->kind != kind) continue;
    ++same;
    if (oldest == connections_.end() || at->second->deadline < oldest->second->deadline)
      oldest = at;
  }
  if (same >= kMaxConnections) drop(oldest->first);
  bool good = true;
  std::unique_ptr<TlsSession> tls;
  if (kind == Kind::kTcp && gate_ != nullptr) tls = gate_->accept(good);
  if (!good) return;
  const int number = socket.get();
  if (!watch_input(number)) return;
  auto connection =
      std::make_unique<Connection>(std::move(socket), std::move(tls), ++tickets_, kind);
  connection->watched = EPOLLIN;
  connection->deadline = clock_.steady() + kRequestTimeout;
  connections_[number] = std::move(connection);
}

void HttpServer::on_ready(int fd, std::uint32_t events) {
  const auto found = connections_.find(fd);
  if (found == connections_.end()) return;
  Connection& connection = *found->second;
  const bool input = (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0;
  const bool reads = !connection.waiting && (connection.feed != nullptr || !connection.sending());
  const bool gone = connection.waiting && (events & (EPOLLHUP | EPOLLERR)) != 0;
  if (gone || (input && reads && !read_more(connection)) || !serve(connection)) return drop(fd);
  watch(connection);
}

void HttpServer::on_wake() {
  eventfd_t count = 0;
  eventfd_read(wake_.get(), &count);
  if (gate_ != nullptr) gate_->on_wake();
  std::vector<int> asleep;
  for (const auto& [fd, connection] : connections_)
    if (connection->waiting || connection->feed != nullptr) asleep.push_back(fd);
  for (const int fd : asleep) {
    Connection& connection = *connections_.at(fd);
    connection.waiting = false;
    if (!serve(connection)) {
      drop(fd);
    } else {
      watch(connection);
    }
  }
}

bool HttpServer::read_more(Connection& connection) {
  const bool begins = connection.in.empty();
  if (!connection.read_more()) return false;
  if (connection.feed != nullptr) {
    connection.in.clear();  // nothing more is asked on this connection
    return !connection.ended;
  }
  // A request has as long as it takes from its first byte, however its bytes trickle.
  if (begins && !connection.in.empty()) connection.deadline = clock_.steady() + kRequestTimeout;
  return true;
}

bool HttpServer::serve(Connection& connection) {
  for (;;) {
    const bool was_answering = connection.answering();
    if (!connection.send_more()) return false;
    if (connection.sending()) return true;  // the client takes no more now
    if (was_answering) {
      connection.answered = true;
      if (connection.last && connection.feed == nullptr) return false;
      connection.deadline =
          clock_.steady() + (connection.feed != nullptr ? connection.feed->keep_alive_after
                             : !connection.in.empty()   ? kRequestTimeout
                                                        : kIdleTimeout);
    }
    if (connection.feed != nullptr) {
      feed_more(connection);
      if (!connection.sending()) return true;
    } else if (!serve_request(connection)) {
      if (!connection.fd) return false;  // a stream took it over
      return connection.waiting || !connection.ended;
    }
  }
}

bool HttpServer::serve_request(Connection& connection) {
  HttpRequest request = parse_http_request(connection.in);
  if (request.state == HttpRequest::State::kIncomplete) return false;
  if (request.state == HttpRequest::State::kRefused) {
    connection.deadline = clock_.steady() + kAnswerTimeout;
    refuse(connection, request.status);
    return true;
  }
  if (!admit(connection, request)) return !connection.waiting;
  connection.deadline = clock_.steady() + kAnswerTimeout;
  connection.in.erase(0, request.size);
  connection.last = !request.keep_alive;
  answer(connection, request);
  return static_cast<bool>(connection.fd);
}

namespace {

ApiReply turned_away(HttpGate::Admission admission, const ApiRequest& request) {
  const auto later = [&](int status, const char* why) {
    ApiReply reply = api_error(request, status, why);
    reply.headers.emplace_back("Retry-After", "1");
    return reply;
  };
  if (admission == HttpGate::Admission::kBusy)
    return later(503, "too many passwords are being looked at: try again");
  if (admission == HttpGate::Admission::kTooMany)
    return later(429, "more requests than rate_limit allows: try again");
  ApiReply reply = api_error(request, 401, "a name and a password are asked for");
  reply.headers.emplace_back("WWW-Authenticate", "Basic realm=\"linkhealth\"");
  return reply;
}

}  // namespace

bool HttpServer::admit(Connection& connection, HttpRequest& request) {
  if (connection.kind != Kind::kTcp || gate_ == nullptr) return true;
  const auto admission = gate_->admit(request.api, connection.tls.get(), connection.ticket);
  if (admission == HttpGate::Admission::kAdmitted) {
    connection.asked = false;
    return true;
  }
  if (admission == HttpGate::Admission::kWait) {
    if (!std::exchange(connection.asked, true))
      connection.deadline = clock_.steady() + kAnswerTimeout;
    connection.waiting = true;
    return false;
  }
  connection.asked = false;
  connection.deadline = clock_.steady() + kAnswerTimeout;
  connection.in.erase(0, request.size);
  connection.last = !request.keep_alive;
  ApiReply reply = turned_away(admission, request.api);
  finish(connection, request, std::move(reply));
  return false;
}

void HttpServer::refuse(Connection& connection, int status) {
  connection.in.clear();
  connection.last = true;
  const ApiReply reply = api_error({}, status, fmt::format("{}", status_words(status)));
  connection.answer_with(http_head(reply, reply.body->size(), false), reply.body);
}

void HttpServer::answer(Connection& connection, HttpRequest& request) {
  ++answers_;
  HttpAnswer made;
  try {
    made = handler_(request.api, connection.kind, connection.fd.get());
  } catch (const std::exception&) {
    made = {api_error(request.api, 500, "the answer could not be made"), nullptr, nullptr};
  }
  if (made.feed != nullptr) {
    if (begin_feed(connection, std::move(made.feed))) return;
    made.reply = api_error(request.api, 503, fmt::format("{} listen already", kMaxFeeds));
  }
  if (made.stream != nullptr) {
    if (connection.tls == nullptr && begin_stream(connection, std::move(made.stream))) return;
    made.reply = api_error(request.api, 503, "no thread for a stream");
  }
  finish(connection, request, std::move(made.reply));
}

void HttpServer::finish(Connection& connection, const HttpRequest& request, ApiReply reply) {
  if (connection.kind == Kind::kTcp && gate_ != nullptr)
    reply.headers.insert(reply.headers.end(), gate_->headers().begin(), gate_->headers().end());
  static const auto kNothing = std::make_shared<const std::string>();
  connection.answer_with(http_head(reply, reply.body->size(), request.keep_alive),
                         request.api.method == "HEAD" ? kNothing : reply.body);
}

bool HttpServer::begin_feed(Connection& connection, std::unique_ptr<HttpFeed> feed) {
  if (feeds_ >= kMaxFeeds) return false;
  ++feeds_;
  ApiReply reply;
  reply.content_type = feed->content_type;
  connection.last = true;
  connection.feed = std::move(feed);
  connection.answer_with(http_head(reply, std::nullopt, false),
                         std::make_shared<const std::string>());
  return true;
}

void HttpServer::feed_more(Connection& connection) {
  const std::string bytes = connection.feed->next();
  if (bytes.empty()) return;
  connection.deadline = clock_.steady() + kAnswerTimeout;
  connection.answer_with("", std::make_shared<const std::string>(http_chunk(bytes)));
}

void HttpServer::watch(Connection& connection) {
  // While a request waits for the gate, only the end of its connection is news.
  const std::uint32_t wanted = connection.waiting ? 0U : connection.sending() ? EPOLLOUT : EPOLLIN;
  if (wanted == connection.watched) return;
  epoll_event event{};
  event.events = connection.watched = wanted;
  event.data.fd = connection.fd.get();
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.fd.get(), &event);
}

bool HttpServer::begin_stream(Connection& connection, std::unique_ptr<HttpStream> stream) {
  const int fd = connection.fd.get();
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  if (streams_.begin(connection.fd, std::move(stream), kAnswerTimeout)) return true;
  watch_input(fd);
  return false;
}

void HttpServer::drop(int fd) {
  const auto found = connections_.find(fd);
  if (found == connections_.end()) return;
  if (found->second->feed != nullptr) --feeds_;
  if (gate_ != nullptr) gate_->forget(found->second->ticket);
  connections_.erase(found);
  listeners_.resume();
}

void HttpServer::drop_expired() {
  const SteadyTime now = clock_.steady();
  std::vector<int> expired;
  for (const auto& [fd, connection] : connections_)
    if (connection->deadline <= now) expired.push_back(fd);
  for (const int fd : expired) {
    Connection& connection = *connections_.at(fd);
    const bool alive =
        connection.feed != nullptr && !connection.sending() && !connection.feed->keep_alive.empty();
    if (alive) {
      connection.deadline = now + kAnswerTimeout;
      connection.answer_with(
          "", std::make_shared<const std::string>(http_chunk(connection.feed->keep_alive)));
    }
    if (!alive || !serve(connection)) {
      drop(fd);
    } else {
      watch(connection);
    }
  }
}

void HttpServer::on_timer() {
  std::uint64_t times = 0;
  if (read(timer_.get(), &times, sizeof times) == sizeof times) wakes_at_.reset();
}

/// A deadline that moved on by little is left to ring: with each answer it moves by as much as the
/// clock has.
void HttpServer::expect_next() {
  constexpr Milliseconds kLittle = kIdleTimeout / 2;
  std::optional<SteadyTime> next = listeners_.rests_until();
  for (const auto& [fd, connection] : connections_)
    next = std::min(next.value_or(connection->deadline), connection->deadline);
  if (next == wakes_at_ ||
      (next && wakes_at_ && *wakes_at_ < *next && *next - *wakes_at_ < kLittle))
    return;
  itimerspec when{};  // zeroes: never
  if (next) {
    const auto wait_ms =
        std::clamp<std::int64_t>((*next - clock_.steady()).count() + 1, 1, kIdleTimeout.count());
    when.it_value = {wait_ms / 1000, wait_ms % 1000 * 1'000'000};
  }
  timerfd_settime(timer_.get(), 0, &when, nullptr);
  wakes_at_ = next;
}

}  // namespace linkhealth
