// Checks passwords against bcrypt hashes. A check takes 50 ms at cost 10 and a second at cost 14,
// so checks run one after the other on their own thread. Results are remembered: a scraper's
// password is checked once, right or wrong. Guessing passwords delays nobody else: each address has
// few places in the queue, and one that was wrong lately comes after all others.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace linkhealth {

/// "anna" and "secret" of "Basic YW5uYTpzZWNyZXQ="; nullopt when the header is malformed.
struct Credentials {
  std::string user, password;
  bool operator==(const Credentials&) const = default;
};
std::optional<Credentials> basic_credentials(std::string_view authorization);

/// Whether `password` has the bcrypt hash `hash` (crypt(5): $2a$, $2b$, $2y$).
bool has_bcrypt_hash(const std::string& password, const std::string& hash);

class PasswordChecker {
 public:
  using Compare = std::function<bool(const std::string& password, const std::string& hash)>;
  using Post = std::function<void(std::function<void()>)>;
  /// Whether the credentials are right; nullopt: not known, or too many are being checked.
  using Finding = std::optional<bool>;
  static constexpr std::size_t kMaxWaiting = 16;
  static constexpr std::size_t kMaxOfAddress = 4;    ///< of them
  static constexpr std::size_t kMaxRemembered = 64;  ///< of each kind

  /// `post` runs a task on the thread that calls check().
  PasswordChecker(Compare compare, Post post);
  ~PasswordChecker();
  PasswordChecker(const PasswordChecker&) = delete;
  PasswordChecker& operator=(const PasswordChecker&) = delete;

  /// What an earlier check with this hash found.
  [[nodiscard]] Finding remembered(const Credentials& credentials, const std::string& hash) const;
  /// Calls `done` on the caller's thread, later or at once. Skipped when `client` has gone by then.
  /// `address`: where it comes from.
  void check(Credentials credentials, std::string hash, const std::string& address,
             std::weak_ptr<const void> client, std::function<void(Finding)> done);
  /// The users have changed.
  void forget_all() {
    correct_.clear();
    wrong_.clear();
  }

 private:
  struct Check {
    Credentials credentials;
    std::string hash;
    std::string address;
    std::weak_ptr<const void> client;
    std::function<void(Finding)> done;
    bool suspect = false;  ///< its address was wrong lately
  };
  void run();
  void remember(const Check& check, bool correct);
  /// The check for which there is no place; nullopt: there is one for each. Adds `check`.
  std::optional<Check> enqueue(Check check);
  /// REQUIRES: mutex_ is held, and one waits.
  Check take_next();

  const Compare compare_;
  const Post post_;
  std::deque<std::string> correct_, wrong_;  ///< digests of credentials and hash; the caller's
  std::deque<std::string> suspects_;         ///< addresses; the caller's
  std::mutex mutex_;                         ///< guards what follows
  std::condition_variable changed_;
  std::deque<Check> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace linkhealth
