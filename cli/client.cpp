#include "cli/client.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "model/json/json.h"

namespace linkhealth::cli {

namespace {
constexpr std::size_t kMaxAnswer_bytes = std::size_t{64} << 20U;
constexpr long kStreamSilence_s = 120;  // more than the longest step between two snapshots
}  // namespace

HttpTarget Client::target(const std::string& path) const {
  HttpTarget target;
  target.url = "http://localhost" + path;
  target.unix_socket = socket_path_;
  return target;
}

bool Client::has_listener() const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket_path_.copy(address.sun_path, sizeof address.sun_path - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const bool connected =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const bool listens = connected || errno == EAGAIN;
  close(fd);
  return listens;
}

Error Client::unreachable() const {
  constexpr std::string_view kAdvice =
      "start it with systemctl start linkhealthd, or look once without it: linkhealth status "
      "--once";
  if (socket_path_.size() >= sizeof(sockaddr_un::sun_path))
    return {"the socket's path is too long: " + socket_path_, ENAMETOOLONG};
  struct stat info {};
  if (stat(socket_path_.c_str(), &info) != 0 && errno == ENOENT)
    return {fmt::format("the daemon is not running (no socket at {}): {}", socket_path_, kAdvice),
            ENOENT};
  if (!S_ISSOCK(info.st_mode)) return {socket_path_ + " is not a socket", ENOTSOCK};
  if (access(socket_path_.c_str(), R_OK | W_OK) != 0)
    return {fmt::format("no permission to use the daemon's socket {}: be root, or a member of its "
                        "group",
                        socket_path_),
            EACCES};
  if (has_listener())
    return {fmt::format("the daemon listens on {} but does not answer: it may hang (journalctl -u "
                        "linkhealthd; systemctl restart linkhealthd)",
                        socket_path_),
            ETIMEDOUT};
  return {fmt::format("the daemon does not answer on {}: {}", socket_path_, kAdvice), ECONNREFUSED};
}

Result<Answer> Client::get(const std::string& path) const {
  auto answer = fetch(target(path), kMaxAnswer_bytes);
  return answer ? answer : unreachable();
}

Result<Answer> Client::post(const std::string& path) const {
  HttpTarget to = target(path);
  to.post = true;
  auto answer = fetch(to, kMaxAnswer_bytes);
  return answer ? answer : unreachable();
}

Result<Answer> Client::stream(const std::string& path,
                              const std::function<bool(std::string_view)>& receive) const {
  HttpTarget to = target(path);
  to.silence_s = kStreamSilence_s;
  to.whole_s = 0;
  Answer received;
  auto answer = fetch(to, [&](int status, std::string_view bytes) {
    received.status = status;
    if (status == 200) return receive(bytes);
    received.body += bytes;
    return true;
  });
  if (answer) received.status = answer->status;
  if (answer || answer.error().errnum == ECANCELED) return received;
  if (received.status == 0) return unreachable();
  return Error{"the daemon ended the stream early: it stopped, or this reader was too slow", EPIPE};
}

std::string body_of(const Result<Answer>& answer) {
  if (!answer) throw CommandError(kNotReachable, answer.error().message);
  if (answer->status == 200) return answer->body;
  // A refusal is {"error":"…"}. 400, 404 and 409: an unknown name, or nothing to do.
  const auto json = parse_json(answer->body);
  const std::string error = json ? text_member(*json, "error") : "";
  const int status = answer->status;
  throw CommandError(status == 404 || status == 400 || status == 409 ? kBadInput : kDaemonError,
                     printable(error.empty() ? std::string(trim(answer->body)) : error));
}

}  // namespace linkhealth::cli
