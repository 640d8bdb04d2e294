#include "cli/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "daemon/engine.h"
#include "exporters/json.h"
#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kText =
    R"({"schema":"linkhealth.recording/1","node":"gpu-1","at":"2026-11-20T10:00:00Z","expected":{"mlx5_0/1":{"speed_mbps":400000,"lanes":4}}}
{"t":1,"at":"2026-11-20T10:00:10Z","ports":{"mlx5_0/1":{}}}
{"t":2,"at":"2026-11-20T10:00:20Z","ports":{"mlx5_0/1":{}},"events":[{"t":1.5,"port":"mlx5_0/1","kind":"carrier_down"}]}
)";

/// A second passes between two looks.
class RunningClock : public Clock {
 public:
  [[nodiscard]] SteadyTime steady() const override {
    return SteadyTime(Milliseconds(1500 * ++looks_));
  }
  [[nodiscard]] WallTime wall() const override { return {}; }

 private:
  mutable int looks_ = 0;
};

class Replay : public testing::Test {
 protected:
  Replay() {
    options_.recording = path_;
    options_.render_text = [](const Report& report) { return "text of " + report.node + "\n"; };
  }

  int run(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    out_.str("");
    err_.str("");
    return replay(options_, out_, err_);
  }

  test::TempDirectory directory_;
  const std::string path_ = directory_.file("recording.jsonl");
  ReplayOptions options_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(Replay, TextIsTheLastReportRendered) {
  EXPECT_EQ(run(kText), 0);
  EXPECT_EQ(out_.str(), "text of gpu-1\n");
  EXPECT_EQ(err_.str(), "");
}

TEST_F(Replay, JsonIsTheLastReport) {
  options_.format = ReplayFormat::kJson;
  EXPECT_EQ(run(kText), 0);
  const auto report = parse_report(out_.str());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->node, "gpu-1");
  EXPECT_EQ(report->t, SteadyTime(Milliseconds(2000)));
  EXPECT_EQ(report->ports[0].expected.speed_mbps, 400000U);
}

TEST_F(Replay, JsonLinesAreTheEventsAndThenTheReport) {
  options_.format = ReplayFormat::kJsonl;
  EXPECT_EQ(run(kText), 0);
  std::istringstream lines(out_.str());
  std::string event;
  std::string report;
  std::string nothing;
  std::getline(lines, event);
  std::getline(lines, report);
  EXPECT_FALSE(std::getline(lines, nothing));
  EXPECT_THAT(event, StartsWith(R"({"t":1.5,)"));
  EXPECT_THAT(report, StartsWith(R"({"report":{"schema":"linkhealth.report/1",)"));
  EXPECT_TRUE(report.ends_with("}}"));
}

TEST_F(Replay, ConfigurationGoesBeforeTheRecordingKeyByKey) {
  options_.format = ReplayFormat::kJson;
  options_.config = default_config(engine_knob_groups());
  options_.config->expected["mlx5_0/1"].speed_mbps = 200000;
  options_.config->exempt["mlx5_0/1"] = "spare";
  ASSERT_TRUE(options_.config->knobs.set("ledger", "hold_s", 7));
  EXPECT_EQ(run(kText), 0);
  const auto report = parse_report(out_.str());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->ports[0].expected.speed_mbps, 200000U);
  EXPECT_EQ(report->ports[0].expected.lanes, 4U);
  EXPECT_EQ(report->ports[0].exempt, "spare");
  EXPECT_EQ(report->ports[0].figures.ber_window_s, 7);
}

TEST_F(Replay, WhatIsNoRecordingIsOneLineAndExitCode2) {
  EXPECT_EQ(run("hello\n"), 2);
  EXPECT_EQ(out_.str(), "");
  EXPECT_THAT(err_.str(), StartsWith("linkhealth: " + path_ + ":1: not a recording"));
  EXPECT_EQ(std::ranges::count(err_.str(), '\n'), 1);
  options_.recording = "/no/such/file";
  EXPECT_EQ(run(""), 2);
  EXPECT_EQ(err_.str(), "linkhealth: /no/such/file: No such file or directory\n");
}

TEST_F(Replay, ARecordingWithoutASnapshotHasNoReport) {
  const std::string header(kText, std::string_view(kText).find('\n') + 1);
  EXPECT_EQ(run(header), 2);
  EXPECT_THAT(err_.str(), HasSubstr("a recording without a snapshot"));
}

TEST_F(Replay, ARecordingThatBreaksOffIsReplayedWithAWarning) {
  EXPECT_EQ(run(std::string(kText) + R"({"t":3)"), 0);
  EXPECT_EQ(out_.str(), "text of gpu-1\n");
  EXPECT_THAT(err_.str(), HasSubstr(":4: the last line breaks off"));
}

TEST_F(Replay, ALongReplayShowsThatItGoesOnAndCleansUp) {
  const RunningClock clock;
  options_.clock = &clock;
  std::string text = kText;
  for (int i = 0; i < 200; ++i)
    text += R"({"t":3,"at":"2026-11-20T10:00:30Z","ports":{}})"
            "\n";
  EXPECT_EQ(run(text), 0);
  EXPECT_EQ(err_.str(), "");  // not a terminal
  options_.show_progress = true;
  EXPECT_EQ(run(text), 0);
  EXPECT_THAT(err_.str(), StartsWith("\r64 snapshots, 2026-11-20T10:00:30Z"));
  EXPECT_TRUE(err_.str().ends_with("\r\x1b[K"));
}

}  // namespace
}  // namespace linkhealth
