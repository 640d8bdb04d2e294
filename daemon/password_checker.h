// Passwords against bcrypt hashes. A check takes as long as the hash's cost says (10: 50 ms, 14: a
// second), so it is done on a thread of its own, one after the other; what was right is remembered,
// so that a scraper pays it once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.h"

namespace linkhealth {

/// "anna" and "secret" of "Basic YW5uYTpzZWNyZXQ="; nullopt when it is none.
struct Credentials {
  std::string user, password;
};
std::optional<Credentials> basic_credentials(std::string_view authorization);

class PasswordChecker {
 public:
  /// Whether `password` gives `hash`; may take its time. Called on the checker's thread.
  using Compare = std::function<bool(const std::string& password, const std::string& hash)>;
  static constexpr std::size_t kMaxWaiting = 16;
  static constexpr std::size_t kMaxRemembered = 64;

  /// `on_done` is called on the checker's thread after each check.
  PasswordChecker(Compare compare, std::function<void()> on_done);
  ~PasswordChecker();
  PasswordChecker(const PasswordChecker&) = delete;
  PasswordChecker& operator=(const PasswordChecker&) = delete;

  enum class Verdict : std::uint8_t { kRight, kWrong, kWait, kBusy };
  /// `hash`: nullptr for a user who is not there; it takes as long then, against `decoy`.
  Verdict ask(std::uint64_t ticket, const Credentials& credentials, const std::string* hash,
              const std::string& decoy);
  /// Nobody waits for that answer any more.
  void forget(std::uint64_t ticket);
  /// The users have changed: what was right may be so no longer.
  void forget_all();

 private:
  struct Check {
    std::uint64_t ticket;
    Credentials credentials;
    std::string hash;
    bool known_user;
  };
  struct Right {
    std::string user, password, hash;
  };
  void run();
  [[nodiscard]] bool remembered(const Credentials& credentials, const std::string& hash) const;

  Compare compare_;
  std::function<void()> on_done_;
  std::mutex mutex_;
  std::condition_variable wanted_;
  std::deque<Check> waiting_;
  std::optional<std::uint64_t> under_way_;
  std::map<std::uint64_t, bool> done_;
  std::deque<Right> right_;
  bool stopping_ = false;
  std::thread thread_;  ///< started with the first check
};

/// crypt_r of libcrypt, loaded now (it knows $2a$, $2b$ and $2y$: crypt(5)).
Result<PasswordChecker::Compare> bcrypt_compare();

}  // namespace linkhealth
