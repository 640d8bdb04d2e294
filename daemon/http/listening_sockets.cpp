#include "daemon/http/listening_sockets.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "daemon/http/peer_credentials.h"

namespace linkhealth {

namespace {

constexpr int kBacklog = 64;
// The kernel doubles it. Its default would take megabytes for each slow reader, which a control
// group charges to the daemon.
constexpr int kTcpSendBuffer_bytes = 131'072;

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  return address;
}

/// Removes the socket file of a killed daemon.
Result<void> remove_stale_socket(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return {};
    return errno_error("cannot inspect " + path, errno);
  }
  if (!S_ISSOCK(info.st_mode)) return Error{path + " exists and is not a socket"};
  const sockaddr_un address = unix_address(path);
  const OwnedFd probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe) return errno_error("cannot create a socket", errno);
  if (connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ||
      errno == EAGAIN)
    return Error{"another daemon answers on " + path};
  if (errno != ECONNREFUSED) return errno_error("cannot connect to " + path, errno);
  if (unlink(path.c_str()) != 0)
    return errno_error("cannot remove the stale socket " + path, errno);
  return {};
}

/// Errors have an errnum. No SO_REUSEPORT: an address in use must be an error.
Result<OwnedFd> listen_on(const addrinfo& address) {
  OwnedFd fd(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return errno_error("socket", errno);
  const int yes = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  // Accepted sockets inherit it.
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDBUF, &kTcpSendBuffer_bytes, sizeof(kTcpSendBuffer_bytes));
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

}  // namespace

Result<OwnedFd> listen_tcp(const ListenAddress& address) {
  auto fd = listen_on_host(address.host, address.port);
  // All addresses: "::" also accepts IPv4, but fails if the node has no IPv6.
  if (!fd && address.host == "::")
    if (auto ipv4 = listen_on_host("0.0.0.0", address.port)) return ipv4;
  if (fd) return fd;
  return errno_error("cannot listen on " + to_string(address), fd.error().errnum);
}

Result<int> bound_port(const OwnedFd& fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return errno_error("socket", errno);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

Result<OwnedFd> listen_unix(const UnixSocketSettings& settings) {
  const std::string& path = settings.path;
  if (path.size() >= sizeof(sockaddr_un::sun_path))
    return Error{"the socket's path is too long: " + path};
  gid_t group = static_cast<gid_t>(-1);  // leaves it unchanged
  if (!settings.group.empty()) {
    const auto found = group_id(settings.group);
    if (!found) return Error{"socket_group: " + found.error().message};
    group = *found;
  }
  if (auto removed = remove_stale_socket(path); !removed) return removed.error();
  OwnedFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return errno_error("cannot create a socket", errno);
  // Set before the socket has a name: others can never connect in between.
  fchmod(fd.get(), settings.mode & 0600);
  const sockaddr_un address = unix_address(path);
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return errno_error("cannot listen on " + path, errno);
  // The shipped unit forbids chown(), which nothing else needs.
  const bool given =
      settings.group.empty() || chown(path.c_str(), static_cast<uid_t>(-1), group) == 0;
  if (given && chmod(path.c_str(), settings.mode) == 0 && listen(fd.get(), kBacklog) == 0)
    return fd;
  const Error error =
      given ? errno_error("cannot listen on " + path, errno)
            : errno_error("socket_group: cannot give the socket to " + settings.group +
                              " (under systemd set Group= of the unit instead)",
                          errno);
  unlink(path.c_str());
  return error;
}

}  // namespace linkhealth
