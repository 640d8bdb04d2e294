#include "cli/client.h"

#include <fmt/format.h>
#include <httplib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "cli/exit_codes.h"

namespace linkhealth::cli {

namespace {

constexpr time_t kAnswer_s = 5;
constexpr time_t kStream_s = 120;  // more than the longest step between two snapshots

httplib::Client connect_to(const std::string& socket_path, time_t read_timeout_s) {
  httplib::Client client(socket_path, 1);  // the port means nothing on a Unix socket
  client.set_address_family(AF_UNIX);
  client.set_connection_timeout(kAnswer_s);
  client.set_read_timeout(read_timeout_s);
  client.set_keep_alive(false);
  return client;
}

Answer answer_of(const httplib::Response& from) {
  return {from.status, from.body, from.get_header_value("X-Linkhealth-Problems"),
          from.get_header_value("X-Linkhealth-Check")};
}

}  // namespace

std::string path_part(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || c == '.' || c == ':' || c == '/';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

/// Also when so many wait already that no more may (EAGAIN).
bool Client::somebody_listens() const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket_path_.copy(address.sun_path, sizeof address.sun_path - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const bool connected =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const bool somebody = connected || errno == EAGAIN;
  close(fd);
  return somebody;
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
  if (access(socket_path_.c_str(), R_OK | W_OK) != 0)
    return {fmt::format(
                "no permission to ask the daemon at {}: be root, or a member of the socket's group",
                socket_path_),
            EACCES};
  if (somebody_listens())
    return {fmt::format("the daemon listens on {} and gives no answer: it may hang (journalctl -u "
                        "linkhealthd; systemctl "
                        "restart linkhealthd)",
                        socket_path_),
            ETIMEDOUT};
  return {fmt::format("the daemon does not answer on {}: {}", socket_path_, kAdvice), ECONNREFUSED};
}

Result<Answer> Client::get(const std::string& path) const {
  auto client = connect_to(socket_path_, kAnswer_s);
  const auto reply = client.Get(path);
  if (!reply) return unreachable();
  return answer_of(*reply);
}

Result<Answer> Client::post(const std::string& path) const {
  auto client = connect_to(socket_path_, kAnswer_s);
  const auto reply = client.Post(path);
  if (!reply) return unreachable();
  return answer_of(*reply);
}

Result<Answer> Client::stream(const std::string& path,
                              const std::function<bool(std::string_view)>& take) const {
  auto client = connect_to(socket_path_, kStream_s);
  Answer answer;
  bool stopped = false;
  const auto reply = client.Get(
      path,
      [&](const httplib::Response& head) {
        answer.status = head.status;
        return true;
      },
      [&](const char* data, std::size_t size) {
        if (answer.status != 200) {
          answer.body.append(data, size);
          return true;
        }
        stopped = !take({data, size});
        return !stopped;
      });
  if (answer.status == 0) return unreachable();
  if (!reply && !stopped)
    return Error{"the daemon ended the stream too early: it stopped, or the reader was too slow",
                 EPIPE};
  return answer;
}

std::string refusal(const Answer& answer) {
  constexpr std::string_view kKey = "{\"error\":\"";
  std::string_view body = trim(answer.body);
  if (!body.starts_with(kKey)) return printable(body);
  body.remove_prefix(kKey.size());
  std::string out;
  for (std::size_t i = 0; i < body.size() && body[i] != '"'; ++i) {
    if (body[i] == '\\' && i + 1 < body.size())
      ++i;  // the daemon escapes quotes and backslashes only
    out += body[i];
  }
  return printable(out);
}

int refusal_exit_code(const Answer& answer) {
  return answer.status == 404 || answer.status == 400 || answer.status == 409 ? kBadInput
                                                                              : kDaemonError;
}

}  // namespace linkhealth::cli
