#include "cli/replay.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "exporters/json/json.h"
#include "tests/support/temp_directory.h"

namespace linkhealth::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kText =
    R"({"schema":"linkhealth.recording/1","node":"gpu-1","at":"2026-11-20T10:00:00Z","expected":{"mlx5_0/1":{"speed_mbps":400000,"lanes":4}}}
{"t":1,"at":"2026-11-20T10:00:10Z","ports":{"mlx5_0/1":{"id":{"device":"mlx5_0","port":1,"pci":"0000:1b:00.0"}}}}
{"t":2,"at":"2026-11-20T10:00:20Z","ports":{"mlx5_0/1":{}},"events":[{"t":1.5,"port":"mlx5_0/1","kind":"carrier_down"}]}
)";

class Replay : public ::testing::Test {
 protected:
  int run(const std::string& text) {
    std::ofstream(options_.recording, std::ios::binary) << text;
    return run();
  }
  int run() {
    out_.str("");
    err_.str("");
    return replay(options_, out_, err_);
  }

  test::TempDirectory directory_;
  ReplayOptions options_{
      .recording = directory_.file("recording.jsonl"), .config = {}, .style = {}};
  std::ostringstream out_, err_;
};

TEST_F(Replay, TextIsTheStatusAndTheExplanationOfEachFault) {
  EXPECT_EQ(run(kText), 0);
  EXPECT_THAT(out_.str(), StartsWith("gpu-1   1 port: "));
  EXPECT_EQ(err_.str(), "");
  options_.recording = LINKHEALTH_SOURCE_DIR "/demo/dirty_connector.jsonl.gz";
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(out_.str(), HasSubstr("\nDirty connector on the fibre of lane"));
}

TEST_F(Replay, JsonIsTheLastReport) {
  options_.format = "json";
  EXPECT_EQ(run(kText), 0);
  const auto report = parse_report(out_.str());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->node, "gpu-1");
  EXPECT_EQ(report->t, SteadyTime(Milliseconds(2000)));
  EXPECT_EQ(report->ports[0].expected.speed_mbps, 400000U);
}

TEST_F(Replay, JsonLinesAreTheEventsAndThenTheReport) {
  options_.format = "jsonl";
  options_.recording = LINKHEALTH_SOURCE_DIR "/demo/dirty_connector.jsonl.gz";
  EXPECT_EQ(run(), 0);
  std::istringstream lines(out_.str());
  std::string line, last;
  std::getline(lines, line);
  EXPECT_THAT(line, HasSubstr(R"("event":"opened")"));
  while (std::getline(lines, line)) last = line;
  EXPECT_THAT(last, StartsWith(R"({"report":{"schema":"linkhealth.report/1",)"));
}

TEST_F(Replay, TheConfigurationTakesPrecedenceKeyByKey) {
  options_.format = "json";
  options_.config = default_config(diagnosis_knob_groups());
  options_.config->expected["mlx5_0/1"].speed_mbps = 200000;
  options_.config->exempt["mlx5_0/1"] = "spare";
  EXPECT_EQ(run(kText), 0);
  const auto report = parse_report(out_.str());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->ports[0].expected.speed_mbps, 200000U);
  EXPECT_EQ(report->ports[0].expected.lanes, 4U);
  EXPECT_EQ(report->ports[0].exempt, "spare");
}

TEST_F(Replay, AnUnusableFileIsOneLineAndExitCode2) {
  EXPECT_EQ(run("hello\n"), 2);
  EXPECT_EQ(out_.str(), "");
  EXPECT_THAT(err_.str(), StartsWith("linkhealth: " + options_.recording + ":1: not a recording"));
  EXPECT_EQ(std::ranges::count(err_.str(), '\n'), 1);
  const std::string header(kText, std::string_view(kText).find('\n') + 1);
  EXPECT_EQ(run(header), 2);
  EXPECT_THAT(err_.str(), HasSubstr("no snapshot in this recording"));
  options_.recording = "/no/such/file";
  EXPECT_EQ(run(), 2);
  EXPECT_EQ(err_.str(), "linkhealth: /no/such/file: No such file or directory\n");
}

TEST_F(Replay, ATruncatedRecordingIsReplayedWithAWarning) {
  EXPECT_EQ(run(std::string(kText) + R"({"t":3)"), 0);
  EXPECT_THAT(out_.str(), StartsWith("gpu-1"));
  EXPECT_THAT(err_.str(), HasSubstr(":4: the last line breaks off"));
}

}  // namespace
}  // namespace linkhealth::cli
