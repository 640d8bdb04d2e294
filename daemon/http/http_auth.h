// Access to the TCP side according to the web configuration file: TLS, client certificates,
// passwords. The file and the files it names are checked for changes when a client connects or
// sends a request. A bad file is logged once, and the previous settings stay in force. Used only by
// the server's thread.
#pragma once

#include <openssl/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "config/web_config.h"
#include "daemon/http/http_message.h"
#include "daemon/http/password_checker.h"
#include "daemon/log.h"

namespace linkhealth {

class HttpAuth {
 public:
  /// Checking the files costs a few system calls: at most once in this time.
  static constexpr Milliseconds kLookPeriod{1'000};

  /// `post` runs a task on the server's thread. `clock` and `log` must outlive it.
  static Result<std::unique_ptr<HttpAuth>> open(const std::string& file, const Clock& clock,
                                                const Log& log, PasswordChecker::Post post);
  /// Checks whether open() would accept the file; returns the notes that it would log.
  static Result<std::vector<std::string>> check(const std::string& file);

  [[nodiscard]] bool encrypts() const { return tls_ != nullptr; }
  /// For a new connection; nullptr: plain text.
  std::shared_ptr<SSL_CTX> tls_context();

  enum class Verdict : std::uint8_t { kAdmitted, kRefused, kBusy };
  struct Answer {
    Verdict verdict = Verdict::kRefused;
    std::string user;  ///< "" without authentication
  };
  /// Calls `done`, at once or later; not if `client` has gone by then. `session`: nullptr without
  /// TLS.
  void authenticate(const HttpRequest& request, const SSL* session,
                    std::weak_ptr<const void> client, const std::function<void(Answer)>& done);
  /// Reads the files again and logs the result.
  void reload();

 private:
  HttpAuth(std::string file, const Clock& clock, const Log& log, PasswordChecker::Post post)
      : file_(std::move(file)),
        clock_(clock),
        log_(log),
        passwords_(&has_bcrypt_hash, std::move(post)) {}
  Result<void> load();
  void reload_if_changed();
  /// Differs after each change of the files.
  [[nodiscard]] std::string file_stamp() const;

  const std::string file_;
  const Clock& clock_;
  const Log& log_;
  WebConfig config_;
  std::shared_ptr<SSL_CTX> tls_;
  PasswordChecker passwords_;
  std::string stamp_;
  SteadyTime looked_at_;
};

}  // namespace linkhealth
