#include "storage/state_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

class StateFileTest : public testing::Test {
 protected:
  test::TempDirectory temp_;
  const std::string folder_ = temp_.path();
  StateFile file_{folder_ + "/ledger.json"};
};

TEST_F(StateFileTest, NoFileIsNoStateAndNoError) {
  const auto bytes = file_.read();
  ASSERT_TRUE(bytes);
  EXPECT_FALSE(bytes->has_value());
}

TEST_F(StateFileTest, WhatIsReplacedIsRead) {
  ASSERT_TRUE(file_.replace("a longer first text"));
  ASSERT_TRUE(file_.replace(std::string("b\0c", 3)));
  EXPECT_EQ(file_.read().value(), std::string("b\0c", 3));
  EXPECT_FALSE(std::filesystem::exists(file_.path() + ".tmp"));
}

TEST_F(StateFileTest, AFailedReplaceKeepsTheOldOne) {
  ASSERT_TRUE(file_.replace("old"));
  std::filesystem::create_directory(file_.path() + ".tmp");  // in the way
  const auto replaced = file_.replace("new");
  ASSERT_FALSE(replaced);
  EXPECT_THAT(replaced.error().message, testing::HasSubstr("ledger.json.tmp: Is a directory"));
  EXPECT_EQ(file_.read().value(), "old");
}

TEST_F(StateFileTest, ADamagedFileIsSetAsideForAPerson) {
  ASSERT_TRUE(file_.replace("half of"));
  EXPECT_EQ(file_.set_aside("not JSON"),
            file_.path() + ": not JSON; kept as " + file_.path() + ".damaged");
  EXPECT_FALSE(file_.read().value().has_value());
  EXPECT_EQ(StateFile(file_.path() + ".damaged").read().value(), "half of");
}

TEST_F(StateFileTest, AFileThatCannotBeReadIsAnError) {
  std::filesystem::create_directory(file_.path());
  EXPECT_THAT(file_.read().error().message,
              testing::HasSubstr("ledger.json: cannot read: Is a directory"));
}

}  // namespace
}  // namespace linkhealth
