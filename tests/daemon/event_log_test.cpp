#include "daemon/event_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

class DaemonEventLog : public testing::Test {
 protected:
  static std::string content(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  test::TempDirectory temp_;
  const std::filesystem::path directory_ = temp_.path();
};

TEST_F(DaemonEventLog, AppendsWholeLines) {
  EventLog log(directory_ / "events.jsonl");
  ASSERT_TRUE(log.append(R"({"event":"opened"})"));
  ASSERT_TRUE(EventLog(directory_ / "events.jsonl").append(R"({"event":"closed"})"));
  EXPECT_EQ(content(directory_ / "events.jsonl"),
            "{\"event\":\"opened\"}\n{\"event\":\"closed\"}\n");
}

TEST_F(DaemonEventLog, KeepsTwoFilesAtMost) {
  EventLog log(directory_ / "events.jsonl", 20);
  for (const char* line : {"1234567890", "abcdefghij", "ABCDEFGHIJ"}) ASSERT_TRUE(log.append(line));
  EXPECT_EQ(content(directory_ / "events.jsonl"), "ABCDEFGHIJ\n");
  EXPECT_EQ(content(directory_ / "events.jsonl.1"), "abcdefghij\n");
}

TEST_F(DaemonEventLog, SaysWhyItCannotWrite) {
  const auto result = EventLog(directory_ / "missing" / "events.jsonl").append("x");
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("missing/events.jsonl: No such file or directory"),
            std::string::npos);
}

}  // namespace
}  // namespace linkhealth
