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
    running_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return released_ > 0; });
    running_ = false;
    --released_;
    ++compared_;
    return password == hash;
  }
  void begin(const std::string& password, const std::string& address = "10.0.0.1") {
    checker_.check({"anna", password}, "secret", address, client_,
                   [this, password](PasswordChecker::Finding found) {
                     result_ = found;
                     found ? finished_.push_back(password) : left_out_.push_back(password);
                   });
  }
  /// The checker's thread has this one, and waits for release().
  void begin_running(const std::string& password, const std::string& address = "10.0.0.1") {
    begin(password, address);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return running_; });
  }
  /// What the next check found.
  PasswordChecker::Finding wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !tasks_.empty(); });
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    return result_;
  }
  void wrong_from(const std::string& address) {
    release(1);
    begin("guess from " + address, address);
    EXPECT_EQ(wait(), false);
    finished_.clear();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  int released_ = 0, compared_ = 0;
  bool running_ = false;
  PasswordChecker::Finding result_;
  std::vector<std::string> finished_, left_out_;  ///< passwords
  std::shared_ptr<int> client_ = std::make_shared<int>();
  PasswordChecker checker_{[this](const std::string& password, const std::string& hash) {
                             return compare(password, hash);
                           },
                           [this](std::function<void()> task) { post(std::move(task)); }};
};

TEST_F(PasswordCheckerTest, WhatWasFoundIsRememberedUntilTheUsersChange) {
  release(2);
  EXPECT_EQ(checker_.remembered({"anna", "guess"}, "secret"), std::nullopt);
  begin("guess");
  EXPECT_EQ(wait(), false);
  EXPECT_EQ(checker_.remembered({"anna", "guess"}, "secret"), false);
  begin("secret");
  EXPECT_EQ(wait(), true);
  EXPECT_EQ(checker_.remembered({"anna", "secret"}, "secret"), true);
  EXPECT_EQ(checker_.remembered({"anna", "secret"}, "another hash"), std::nullopt);
  EXPECT_EQ(checker_.remembered({"bob", "secret"}, "secret"), std::nullopt);
  checker_.forget_all();
  EXPECT_EQ(checker_.remembered({"anna", "secret"}, "secret"), std::nullopt);
  EXPECT_EQ(checker_.remembered({"anna", "guess"}, "secret"), std::nullopt);
}

TEST_F(PasswordCheckerTest, WrongOnesDoNotPushOutTheRightOne) {
  release(PasswordChecker::kMaxRemembered + 2);
  begin("secret");
  wait();
  for (std::size_t i = 0; i <= PasswordChecker::kMaxRemembered; ++i) {
    begin("guess " + std::to_string(i));
    wait();
  }
  EXPECT_EQ(checker_.remembered({"anna", "guess 0"}, "secret"), std::nullopt) << "bounded";
  EXPECT_EQ(checker_.remembered({"anna", "secret"}, "secret"), true);
}

TEST_F(PasswordCheckerTest, AnAddressHasFewPlaces) {
  begin_running("guess 0");
  for (std::size_t i = 0; i < PasswordChecker::kMaxOfAddress + 3; ++i)
    begin("guess " + std::to_string(i + 1));
  EXPECT_EQ(left_out_.size(), 3U);
  begin("secret", "10.0.0.2");
  EXPECT_EQ(left_out_.size(), 3U);
}

TEST_F(PasswordCheckerTest, WhoWasWrongLatelyComesAfterAllOthersAndGivesUpHisPlace) {
  for (int i = 0; i < 5; ++i) wrong_from("10.6.6." + std::to_string(i));
  begin_running("running", "10.0.0.1");
  for (std::size_t i = 0; i < PasswordChecker::kMaxWaiting; ++i)
    begin("guess " + std::to_string(i), "10.6.6." + std::to_string(i % 5));
  EXPECT_TRUE(left_out_.empty());
  begin("one more guess", "10.6.6.4");
  EXPECT_EQ(left_out_, std::vector<std::string>{"one more guess"});
  begin("secret", "10.0.0.2");
  EXPECT_EQ(left_out_.back(), "guess 0") << "its place is taken";
  release(2);
  wait();
  EXPECT_EQ(wait(), true);
  EXPECT_EQ(finished_, (std::vector<std::string>{"running", "secret"}));
}

TEST_F(PasswordCheckerTest, AClientThatHasDisconnectedIsSkipped) {
  begin_running("guess 1");
  begin("guess 2");
  client_ = std::make_shared<int>();
  begin("secret");
  release(2);
  EXPECT_EQ(wait(), false);
  EXPECT_EQ(wait(), true);
  EXPECT_EQ(compared_, 2);
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
