// Checks passwords against bcrypt hashes. A check takes 50 ms at cost 10 and a second at cost 14,
// so checks run one after the other on their own thread. Correct passwords are remembered, so that
// a scraper's is checked once.
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

/// "anna" and "secret" of "Basic YW5uYTpzZWNyZXQ="; nullopt when it is none.
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
  static constexpr std::size_t kMaxWaiting = 16;
  static constexpr std::size_t kMaxRemembered = 64;

  /// `post` runs a task on the thread that calls check().
  PasswordChecker(Compare compare, Post post);
  ~PasswordChecker();
  PasswordChecker(const PasswordChecker&) = delete;
  PasswordChecker& operator=(const PasswordChecker&) = delete;

  /// Whether it was checked with this hash before, and was correct.
  [[nodiscard]] bool is_remembered(const Credentials& credentials, const std::string& hash) const;
  /// Calls `done` later, on the caller's thread. Skipped when `client` has gone by then. False: too
  /// many checks wait already.
  bool check(Credentials credentials, std::string hash, std::weak_ptr<const void> client,
             std::function<void(bool correct)> done);
  /// The users have changed.
  void forget_all() { remembered_.clear(); }

 private:
  struct Check {
    Credentials credentials;
    std::string hash;
    std::weak_ptr<const void> client;
    std::function<void(bool)> done;
  };
  void run();
  void remember(const Check& check);

  const Compare compare_;
  const Post post_;
  std::deque<std::pair<Credentials, std::string>> remembered_;  ///< with the hash; the caller's
  std::mutex mutex_;                                            ///< guards what follows
  std::condition_variable changed_;
  std::deque<Check> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace linkhealth
