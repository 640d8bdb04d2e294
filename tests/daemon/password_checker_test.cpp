#include "daemon/password_checker.h"

#include <gtest/gtest.h>

#include <future>

#include "tests/support/no_new_threads.h"

namespace linkhealth {
namespace {

using Verdict = PasswordChecker::Verdict;

TEST(BasicCredentials, AreDecoded) {
  const auto anna = basic_credentials("Basic YW5uYTpzZTpjcmV0");  // anna:se:cret
  ASSERT_TRUE(anna);
  EXPECT_EQ(anna->user, "anna");
  EXPECT_EQ(anna->password, "se:cret");
  EXPECT_TRUE(basic_credentials("bAsIc YTo="));
  for (const char* text :
       {"", "Basic", "Basic ", "Basic YW5uYQ==", "Bearer YTpi", "Basic Y!Tpi", "Basic YToA"})
    EXPECT_FALSE(basic_credentials(text)) << text;
}

/// A checker whose comparisons wait until the test lets them go.
class CheckerTest : public ::testing::Test {
 protected:
  CheckerTest()
      : checker_(
            [this](const std::string& password, const std::string& hash) {
              std::unique_lock lock(mutex_);
              ++begun_;
              finished_.notify_all();
              let_go_.wait(lock, [this] { return free_ > 0; });
              --free_;
              ++compared_;
              return password == hash;
            },
            [this] {
              const std::lock_guard lock(mutex_);
              ++done_;
              finished_.notify_all();
            }) {}
  ~CheckerTest() override { release(1000); }
  void release(int count) {
    const std::lock_guard lock(mutex_);
    free_ += count;
    let_go_.notify_all();
  }
  void wait_for(int done) {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [&] { return done_ >= done; });
  }
  void wait_until_one_is_under_way() {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [&] { return begun_ > compared_; });
  }
  Verdict ask(std::uint64_t ticket, const std::string& password) {
    return checker_.ask(ticket, {"anna", password}, &hash_, "decoy");
  }

  std::mutex mutex_;
  std::condition_variable let_go_, finished_;
  int free_ = 0, done_ = 0, begun_ = 0, compared_ = 0;
  std::string hash_ = "secret";
  PasswordChecker checker_;
};

TEST_F(CheckerTest, WhatIsRightIsComparedOnce) {
  EXPECT_EQ(ask(1, "secret"), Verdict::kWait);
  EXPECT_EQ(ask(1, "secret"), Verdict::kWait);
  release(1);
  wait_for(1);
  EXPECT_EQ(ask(1, "secret"), Verdict::kRight);
  EXPECT_EQ(ask(2, "secret"), Verdict::kRight);
  EXPECT_EQ(compared_, 1);
}

TEST_F(CheckerTest, WhatIsWrongIsComparedEachTime) {
  release(2);
  EXPECT_EQ(ask(1, "guess"), Verdict::kWait);
  wait_for(1);
  EXPECT_EQ(ask(1, "guess"), Verdict::kWrong);
  EXPECT_EQ(ask(1, "guess"), Verdict::kWait);
}

TEST_F(CheckerTest, AnUnknownUserIsComparedAndRefused) {
  release(1);
  EXPECT_EQ(checker_.ask(1, {"nobody", "decoy"}, nullptr, "decoy"), Verdict::kWait);
  wait_for(1);
  EXPECT_EQ(checker_.ask(1, {"nobody", "decoy"}, nullptr, "decoy"), Verdict::kWrong)
      << "even with the decoy's password";
}

TEST_F(CheckerTest, OnlySoManyWait) {
  EXPECT_EQ(ask(100, "x"), Verdict::kWait);
  wait_until_one_is_under_way();
  for (std::uint64_t ticket = 1; ticket <= PasswordChecker::kMaxWaiting; ++ticket)
    EXPECT_EQ(ask(ticket, "x"), Verdict::kWait);
  EXPECT_EQ(ask(101, "x"), Verdict::kBusy);
  checker_.forget(5);
  EXPECT_EQ(ask(102, "x"), Verdict::kWait);
}

TEST_F(CheckerTest, AtTheLimitOfTasksItIsBusyAndTakesTheNextOneUp) {
  {
    const testing::NoNewThreads limit;
    EXPECT_EQ(ask(1, "secret"), Verdict::kBusy);
    EXPECT_EQ(ask(1, "secret"), Verdict::kBusy);
  }
  release(1);
  EXPECT_EQ(ask(2, "secret"), Verdict::kWait);
  wait_for(1);
  EXPECT_EQ(ask(2, "secret"), Verdict::kRight);
  EXPECT_EQ(compared_, 1) << "who was sent away is not waited for";
}

TEST_F(CheckerTest, OtherUsersMakeItForget) {
  release(1);
  ask(1, "secret");
  wait_for(1);
  EXPECT_EQ(ask(1, "secret"), Verdict::kRight);
  checker_.forget_all();
  EXPECT_EQ(ask(2, "secret"), Verdict::kWait);
}

TEST_F(CheckerTest, AnAnswerOfTheFormerUsersIsNobodys) {
  EXPECT_EQ(ask(1, "secret"), Verdict::kWait);
  wait_until_one_is_under_way();
  checker_.forget_all();
  wait_for(1);  // that they are forgotten is said
  release(1);
  wait_for(2);
  EXPECT_EQ(ask(1, "secret"), Verdict::kWait);
}

TEST(Bcrypt, OfLibcrypt) {
  const auto compare = bcrypt_compare();
  ASSERT_TRUE(compare.ok()) << compare.error().message;
  const std::string hash = "$2b$04$4xrRZMdwNFbC5Cfj3aaTU.ycTHnzarMTn3ozTOlO9NQ8WscJG5yCG";
  EXPECT_TRUE((*compare)("correct horse", hash));
  EXPECT_TRUE((*compare)("correct horse", "$2y" + hash.substr(3)));
  EXPECT_FALSE((*compare)("correct horsE", hash));
  EXPECT_FALSE((*compare)("correct horse", "*0"));
  EXPECT_FALSE((*compare)("", ""));
}

}  // namespace
}  // namespace linkhealth
