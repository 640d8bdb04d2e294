// The gate of the TCP side, as the web configuration file says: TLS, client certificates,
// passwords. The file and those that it names are looked at again when somebody connects or asks; a
// bad one keeps the old settings and is named once.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "config/web_config.h"
#include "daemon/http_gate.h"
#include "daemon/password_checker.h"
#include "daemon/rate_limit.h"
#include "daemon/tls.h"

namespace linkhealth {

class WebGate : public HttpGate {
 public:
  /// A look at the files costs a few system calls: at most one in this time.
  static constexpr Milliseconds kLookEvery{1'000};

  using Say = std::function<void(bool good, const std::string& line)>;

  /// `wake`: tells the server's thread that a password has been looked at. `clock` must outlive the
  /// gate.
  static Result<std::unique_ptr<WebGate>> open(const std::string& file, const Clock& clock, Say say,
                                               std::function<void()> wake);

  /// Whether open() would take the file; what it would say of it.
  static Result<std::vector<std::string>> check(const std::string& file);

  /// REQUIRES: before the server's thread runs, or on it.
  [[nodiscard]] bool encrypts() const { return tls_ != nullptr; }
  std::unique_ptr<TlsSession> accept(bool& good) override;
  Admission admit(ApiRequest& request, const TlsSession* session, std::uint64_t ticket) override;
  void forget(std::uint64_t ticket) override;
  /// Reads the files anew when look_again() was called, and says what came of it.
  void on_wake() override;
  /// From any thread: the files are read at the next on_wake(), whatever their times say.
  void look_again() { look_again_ = true; }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& headers() const override {
    return config_.headers;
  }

 private:
  WebGate(std::string file, const Clock& clock, Say say, std::function<void()> wake);
  /// What tells one state of the files from another.
  [[nodiscard]] std::string stamp(const WebConfig& config) const;
  void look();
  void reread();
  void say_notes() const;
  Result<void> load();

  std::string file_;
  const Clock& clock_;
  Say say_;
  std::function<void()> wake_;
  WebConfig config_;
  std::shared_ptr<const TlsContext> tls_;
  std::unique_ptr<PasswordChecker> passwords_;
  std::optional<RateLimit> rate_limit_;
  std::set<std::uint64_t> counted_;  ///< requests that wait, and have taken their token
  std::atomic<bool> look_again_ = false;
  std::string decoy_;  ///< what the password of an unknown user is compared with
  std::string stamp_;
  SteadyTime looked_at_;
};

}  // namespace linkhealth
