// The daemon's API over its Unix socket.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/exit_codes.h"
#include "cli/http_client.h"

namespace linkhealth::cli {

class Client {
 public:
  explicit Client(std::string socket_path) : socket_path_(std::move(socket_path)) {}
  virtual ~Client() = default;

  /// Any answer, including a refusal. An error (errnum set): there was no answer; the message names
  /// the remedy.
  [[nodiscard]] virtual Result<Answer> get(const std::string& path) const;
  /// The parameters are in the path.
  [[nodiscard]] virtual Result<Answer> post(const std::string& path) const;
  /// Passes the body of a good answer to `receive` as it arrives; false ends the stream. The body
  /// of a refusal is in the Answer.
  [[nodiscard]] virtual Result<Answer> stream(
      const std::string& path, const std::function<bool(std::string_view)>& receive) const;

 private:
  [[nodiscard]] HttpTarget target(const std::string& path) const;
  /// Also true when the queue of waiting clients is full (EAGAIN).
  [[nodiscard]] bool has_listener() const;
  /// ENOENT and ECONNREFUSED: no daemon is running. ETIMEDOUT: it is running but does not answer.
  [[nodiscard]] Error unreachable() const;

  std::string socket_path_;
};

/// The body of a good answer. Throws CommandError for any other.
std::string body_of(const Result<Answer>& answer);

/// The parsed answer of the daemon. Throws CommandError without one.
template <typename T>
T parse_answer(const Result<Answer>& answer, Result<T> (*parse)(std::string_view)) {
  auto value = parse(body_of(answer));
  if (value) return *std::move(value);
  throw CommandError(kDaemonError,
                     "the daemon's answer cannot be parsed: " + value.error().message);
}
template <typename T>
T fetch_as(const Client& client, const std::string& path, Result<T> (*parse)(std::string_view)) {
  return parse_answer(client.get(path), parse);
}

}  // namespace linkhealth::cli
