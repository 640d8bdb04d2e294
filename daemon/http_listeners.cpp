#include "daemon/http_listeners.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace linkhealth {

namespace {

/// Errors of the connection that would have come, not of the listening socket (accept(2), "Error
/// handling"). EPERM is none of them: a security module says it again and again of the same one.
bool is_of_connection(int errnum) {
  constexpr int kThose[] = {ECONNABORTED, EINTR,  EPROTO,       ENOPROTOOPT, EOPNOTSUPP,
                            ENETDOWN,     ENONET, EHOSTUNREACH, EHOSTDOWN,   ENETUNREACH};
  return std::ranges::find(kThose, errnum) != std::end(kThose);
}

}  // namespace

Accepted accept_next(int listener) {
  for (;;) {
    OwnedFd socket(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket) return {std::move(socket)};
    if (!is_of_connection(errno)) return {OwnedFd(), errno != EAGAIN};
  }
}

bool HttpListeners::set_events(int operation, std::uint32_t events) const {
  return std::ranges::all_of(sockets_, [&](const auto& entry) {
    epoll_event event{};
    event.events = events;
    event.data.fd = entry.first.get();
    return epoll_ctl(epoll_, operation, event.data.fd, &event) == 0;
  });
}

bool HttpListeners::watch(int epoll) {
  epoll_ = epoll;
  return set_events(EPOLL_CTL_ADD, EPOLLIN);
}

std::optional<HttpListeners::Kind> HttpListeners::kind_of(int fd) const {
  const auto at =
      std::ranges::find_if(sockets_, [fd](const auto& entry) { return entry.first.get() == fd; });
  return at == sockets_.end() ? std::nullopt : std::optional(at->second);
}

void HttpListeners::rest(SteadyTime until) {
  rests_until_ = until;
  set_events(EPOLL_CTL_MOD, 0);
}

void HttpListeners::resume() {
  if (!rests_until_) return;
  rests_until_.reset();
  set_events(EPOLL_CTL_MOD, EPOLLIN);
}

}  // namespace linkhealth
