// Checks passwords against bcrypt hashes. A check takes 50 ms at cost 10 and one second at cost 14,
// so checks run one after the other on their own thread. Results are cached: a scraper's password
// is checked once, whether right or wrong. Guessing passwords delays no other client: each address
// has few places in the queue, and one with a recent wrong password comes after all others.
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
  /// Whether the credentials are right; nullopt: unknown, or too many are being checked.
  using Finding = std::optional<bool>;
  static constexpr std::size_t kMaxWaiting = 16;
  static constexpr std::size_t kMaxOfAddress = 4;    ///< checks per address
  static constexpr std::size_t kMaxRemembered = 64;  ///< of each kind

  /// `post` runs a task on the thread that calls check().
  PasswordChecker(Compare compare, Post post);
  ~PasswordChecker();
  PasswordChecker(const PasswordChecker&) = delete;
  PasswordChecker& operator=(const PasswordChecker&) = delete;

  /// The cached result of a check with this hash.
  [[nodiscard]] Finding remembered(const Credentials& credentials, const std::string& hash) const;
  /// Calls `done` on the caller's thread, at once or later; not if `client` has gone by then.
  /// `address`: of the client.
  void check(Credentials credentials, std::string hash, const std::string& address,
             std::weak_ptr<const void> client, std::function<void(Finding)> done);
  /// Called when the users have changed.
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
    bool suspect = false;  ///< its address recently had a wrong password
  };
  void run();
  void remember(const Check& check, bool correct);
  /// Adds `check`. If the queue is full, returns the check that is dropped.
  std::optional<Check> enqueue(Check check);
  /// REQUIRES: mutex_ is held, and a check is waiting.
  Check take_next();

  const Compare compare_;
  const Post post_;
  /// Digests of credentials and hash; used by the caller's thread.
  std::deque<std::string> correct_, wrong_;
  std::deque<std::string> suspects_;  ///< addresses; used by the caller's thread
  std::mutex mutex_;                  ///< protects what follows
  std::condition_variable changed_;
  std::deque<Check> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace linkhealth
