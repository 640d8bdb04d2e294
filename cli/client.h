// The daemon's API over its Unix socket.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/http_client.h"

namespace linkhealth::cli {

class Client {
 public:
  explicit Client(std::string socket_path) : socket_path_(std::move(socket_path)) {}
  virtual ~Client() = default;

  /// Any answer, also a refusal. An error (errnum set) means that the daemon did not answer; it
  /// names the remedy.
  [[nodiscard]] virtual Result<Answer> get(const std::string& path) const;
  /// Acts; the parameters are in the path.
  [[nodiscard]] virtual Result<Answer> post(const std::string& path) const;
  /// Hands a good answer's body on as it comes. `take` returns false to stop. A refusal's body is
  /// in the Answer.
  [[nodiscard]] virtual Result<Answer> stream(
      const std::string& path, const std::function<bool(std::string_view)>& take) const;

 private:
  [[nodiscard]] HttpTarget target(const std::string& path) const;
  /// Also true when so many clients wait that no more may (EAGAIN).
  [[nodiscard]] bool has_listener() const;
  /// ENOENT and ECONNREFUSED: no daemon runs. ETIMEDOUT: one runs, and does not answer.
  [[nodiscard]] Error unreachable() const;

  std::string socket_path_;
};

/// The sentence in {"error":"…"}.
std::string refusal_text(const Answer& answer);
/// The exit code for a refusal: an unknown name is the user's mistake, all else the daemon's.
int refusal_exit_code(const Answer& answer);

}  // namespace linkhealth::cli
