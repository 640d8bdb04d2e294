// Asks the daemon over its Unix socket. The daemon draws what people read; this program knows no
// data model.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace linkhealth::cli {

struct Answer {
  int status = 0;
  std::string body;
  std::string problems;  ///< of the header X-Linkhealth-Problems, "" without
  std::string check{};   ///< of the header X-Linkhealth-Check
};

/// Percent-encodes what a name could break a path with.
std::string path_part(std::string_view text);

class Client {
 public:
  explicit Client(std::string socket_path) : socket_path_(std::move(socket_path)) {}
  virtual ~Client() = default;

  /// Any answer, also a refusal. An error (errnum set) means that nobody answered: it says what to
  /// do.
  [[nodiscard]] virtual Result<Answer> get(const std::string& path) const;
  /// Asks the daemon to do something; the parameters stand in the path.
  [[nodiscard]] virtual Result<Answer> post(const std::string& path) const;
  /// Hands the body on as it comes. `take` returns false to stop. A refusal's body is in the
  /// Answer.
  [[nodiscard]] virtual Result<Answer> stream(
      const std::string& path, const std::function<bool(std::string_view)>& take) const;

 private:
  [[nodiscard]] bool somebody_listens() const;
  /// ENOENT and ECONNREFUSED: no daemon is there. ETIMEDOUT: one is, and does not answer.
  [[nodiscard]] Error unreachable() const;
  std::string socket_path_;
};

/// The sentence in a refusal: {"error":"…"} or a plain line.
std::string refusal(const Answer& answer);
/// The exit code for a refusal: an unknown name is the user's, all else the daemon's.
int refusal_exit_code(const Answer& answer);

}  // namespace linkhealth::cli
