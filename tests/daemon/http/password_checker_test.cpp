#include "daemon/http/password_checker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>

namespace linkhealth {
namespace {

TEST(BasicCredentials, AreDecoded) {
  const auto anna = basic_credentials("Basic YW5uYTpzZTpjcmV0");  // anna:se:cret
  ASSERT_TRUE(anna);
  EXPECT_EQ(anna->user, "anna");
  EXPECT_EQ(anna->password, "se:cret");
  EXPECT_TRUE(basic_credentials("bAsIc YTo="));
  EXPECT_TRUE(basic_credentials("Basic YTo")) << "without padding";
  for (const char* text :
       {"", "Basic", "Basic ", "Basic YW5uYQ==", "Bearer YTpi", "Basic Y!Tpi", "Basic YToA"})
    EXPECT_FALSE(basic_credentials(text)) << text;
}

/// The caller's thread is the test's: it runs what is posted. Comparisons wait for release().
class PasswordCheckerTest : public ::testing::Test {
 protected:
  ~PasswordCheckerTest() override { release(1000); }
  void release(int count) {
    const std::lock_guard lock(mutex_);
    released_ += count;
    changed_.notify_all();
  }
  void post(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_all();
  }
  bool compare(const std::string& password, const std::string& hash) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return released_ > 0; });
    --released_;
    ++compared_;
    return password == hash;
  }
  bool begin(const std::string& password) {
    return checker_.check({"anna", password}, "secret", client_,
                          [this](bool correct) { result_ = correct; });
  }
  /// The result of the running check.
  bool wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !tasks_.empty(); });
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    return result_.value();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  int released_ = 0, compared_ = 0;
  std::optional<bool> result_;
  std::shared_ptr<int> client_ = std::make_shared<int>();
  PasswordChecker checker_{[this](const std::string& password, const std::string& hash) {
                             return compare(password, hash);
                           },
                           [this](std::function<void()> task) { post(std::move(task)); }};
};

TEST_F(PasswordCheckerTest, ACorrectPasswordIsRememberedAWrongOneIsNot) {
  release(2);
  ASSERT_TRUE(begin("guess"));
  EXPECT_FALSE(wait());
  EXPECT_FALSE(checker_.is_remembered({"anna", "guess"}, "secret"));
  ASSERT_TRUE(begin("secret"));
  EXPECT_TRUE(wait());
  EXPECT_TRUE(checker_.is_remembered({"anna", "secret"}, "secret"));
  EXPECT_FALSE(checker_.is_remembered({"anna", "secret"}, "another hash"));
  EXPECT_FALSE(checker_.is_remembered({"bob", "secret"}, "secret"));
  checker_.forget_all();
  EXPECT_FALSE(checker_.is_remembered({"anna", "secret"}, "secret"));
}

TEST_F(PasswordCheckerTest, TheQueueIsBoundedAndAClientThatHasDisconnectedIsSkipped) {
  std::size_t accepted = 0;
  while (begin("x")) ++accepted;
  EXPECT_GE(accepted, PasswordChecker::kMaxWaiting);
  client_.reset();
  release(1);  // the running check
  client_ = std::make_shared<int>();
  while (!begin("secret")) std::this_thread::yield();
  release(1);
  while (!wait()) {
  }
  EXPECT_LE(compared_, 2);
}

TEST(Bcrypt, OfLibcrypt) {
  const std::string hash = "$2b$04$4xrRZMdwNFbC5Cfj3aaTU.ycTHnzarMTn3ozTOlO9NQ8WscJG5yCG";
  EXPECT_TRUE(has_bcrypt_hash("correct horse", hash));
  EXPECT_TRUE(has_bcrypt_hash("correct horse", "$2y" + hash.substr(3)));
  EXPECT_FALSE(has_bcrypt_hash("correct horsE", hash));
  EXPECT_FALSE(has_bcrypt_hash("correct horse", "*0"));
  EXPECT_FALSE(has_bcrypt_hash("", ""));
}

}  // namespace
}  // namespace linkhealth
