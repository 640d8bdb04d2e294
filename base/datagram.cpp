#include "base/datagram.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace linkhealth {

Result<void> send_datagram(const std::string& path, std::string_view bytes) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return errno_error(path, EINVAL);
  path.copy(address.sun_path, path.size());
  // An abstract name begins with a zero byte and has none at its end (unix(7)).
  const bool abstract = path.front() == '@';
  if (abstract) address.sun_path[0] = '\0';
  const std::size_t size = offsetof(sockaddr_un, sun_path) + path.size() + (abstract ? 0 : 1);
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return errno_error(path, errno);
  const auto sent =
      sendto(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(size));
  const int status = sent < 0 ? errno : 0;
  close(fd);
  if (status != 0) return errno_error(path, status);
  return {};
}

}  // namespace linkhealth
