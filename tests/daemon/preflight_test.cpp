// Which state a run may read and write, and which good configurations a start refuses.
#include "daemon/preflight.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

TEST(Start, ACopyOrARecordingHasNoStateUnlessADirectoryIsNamedForIt) {
  Config config;
  DaemonOptions copy;
  copy.sysroot = "/tmp/customer/sys";
  DaemonOptions recording;
  recording.play_file = "node.jsonl";
  EXPECT_EQ(state_directory(config, {}), "/var/lib/linkhealth");
  EXPECT_EQ(state_directory(config, copy), "");
  EXPECT_EQ(state_directory(config, recording), "");
  EXPECT_TRUE(watches_this_node({}));
  EXPECT_FALSE(watches_this_node(copy));
  copy.state_dir = recording.state_dir = config.state_dir = "/tmp/customer/state";
  EXPECT_EQ(state_directory(config, copy), "/tmp/customer/state");
  EXPECT_EQ(state_directory(config, recording), "/tmp/customer/state");
  EXPECT_TRUE(watches_this_node(copy)) << "a run of its own";
  EXPECT_FALSE(watches_this_node(recording));
}

TEST(Start, DirectoriesAreCreatedOnlyWhereTheyAreNeeded) {
  const test::TempDirectory temp;
  ASSERT_TRUE(make_directories("", temp.file("run/s.sock")).ok());
  EXPECT_TRUE(std::filesystem::is_directory(temp.file("run")));
  ASSERT_TRUE(make_directories(temp.file("state"), "").ok());
  EXPECT_TRUE(std::filesystem::is_directory(temp.file("state")));
}

TEST(Start, ASecondDaemonDoesNotShareTheStateDirectory) {
  const test::TempDirectory temp;
  {
    const auto first = lock_state_directory(temp.path());
    ASSERT_TRUE(first.ok()) << first.error().message;
    const auto second = lock_state_directory(temp.path());
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().message, "another linkhealthd keeps its state in " +
                                          temp.path().string() +
                                          " (--state-dir names another place)");
  }
  EXPECT_TRUE(lock_state_directory(temp.path()).ok()) << "it went with its owner";
  EXPECT_TRUE(lock_state_directory("").ok());
}

TEST(Start, TheCheckRefusesWhatTheStartWouldRefuse) {
  const test::TempDirectory temp;
  const auto why = [](const Config& config, const DaemonOptions& options = {}) {
    const auto good = check_start(config, options);
    return good ? std::string() : good.error().message;
  };
  EXPECT_EQ(why({}), "");
  Config config;
  config.control_group = "nosuchgroup";
  EXPECT_EQ(why(config), "control_group: there is no group \"nosuchgroup\"");
  config = {};
  config.socket_group = "nosuchgroup";
  EXPECT_EQ(why(config), "socket_group: there is no group \"nosuchgroup\"");
  config.socket_group = "root";
  EXPECT_EQ(why(config), "");
}

TEST(Start, ARecordingNeedsItsDirectory) {
  const test::TempDirectory temp;
  Config config;
  config.state_dir = temp.file("state");
  for (const std::string& good : {std::string("-"), std::string("x.jsonl"), temp.file("x.jsonl.gz"),
                                  temp.file("state/x.jsonl")}) {
    config.record_path = good;
    EXPECT_TRUE(check_start(config, {}).ok()) << good;
  }
  DaemonOptions options;
  options.record_file = temp.file("nowhere/x.jsonl");
  const auto bad = check_start(config, options);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().message, "record: " + options.record_file + ": directory " +
                                     temp.file("nowhere") + " does not exist");
}

}  // namespace
}  // namespace linkhealth
