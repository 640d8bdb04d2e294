#include "cli/replay.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "cli/commands.h"
#include "exporters/json/json.h"
#include "tests/support/temp_directory.h"

namespace linkhealth::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
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
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int exit_code = run_command([this] {
      options_.what_if.empty() ? replay(options_) : what_if(options_);
      return kOk;
    });
    out_ = ::testing::internal::GetCapturedStdout();
    err_ = ::testing::internal::GetCapturedStderr();
    return exit_code;
  }

  test::TempDirectory directory_;
  ReplayOptions options_{.recording = directory_.file("recording.jsonl")};
  std::string out_, err_;
};

TEST_F(Replay, TextIsTheStatusAndTheExplanationOfEachFault) {
  EXPECT_EQ(run(kText), 0);
  EXPECT_THAT(out_, StartsWith("gpu-1   1 port: "));
  EXPECT_EQ(err_, "");
  options_.recording = LINKHEALTH_SOURCE_DIR "/demo/dirty_connector.jsonl.gz";
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(out_, HasSubstr("\nDirty connector on the fibre of lane"));
}

TEST_F(Replay, WhatWasClosedMeanwhileIsListed) {
  const auto shared = std::filesystem::path(LINKHEALTH_SHARED) / "recordings/0042.jsonl.gz";
  if (!std::filesystem::exists(shared)) GTEST_SKIP() << shared << " is not here";
  options_.recording = shared;
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(out_, HasSubstr("\nClosed during the recording\n  - "));
}

TEST_F(Replay, ARecordingTooShortToJudgeIsNeverHealthy) {
  std::string text = kText;
  const auto event = text.find(R"(,"events")");
  text.erase(event, text.rfind('}') - event);  // in which the link goes down
  EXPECT_EQ(run(text), 0);
  EXPECT_THAT(out_, AllOf(HasSubstr("recording too short to judge: "), HasSubstr("1 unknown"),
                          Not(HasSubstr("healthy"))));
}

TEST_F(Replay, JsonIsTheLastReport) {
  options_.format = "json";
  EXPECT_EQ(run(kText), 0);
  const auto report = parse_report(out_);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->node, "gpu-1");
  EXPECT_EQ(report->t, SteadyTime(Milliseconds(2000)));
  EXPECT_EQ(report->ports[0].expected.speed_mbps, 400000U);
}

TEST_F(Replay, JsonLinesAreTheEventsAndThenTheReport) {
  options_.format = "jsonl";
  options_.recording = LINKHEALTH_SOURCE_DIR "/demo/dirty_connector.jsonl.gz";
  EXPECT_EQ(run(), 0);
  std::istringstream lines(out_);
  std::string line, last;
  std::getline(lines, line);
  EXPECT_THAT(line, HasSubstr(R"("event":"opened")"));
  while (std::getline(lines, line)) last = line;
  EXPECT_THAT(last, StartsWith(R"({"report":{"schema":"linkhealth.report/1",)"));
}

TEST_F(Replay, TheConfigurationTakesPrecedenceKeyByKey) {
  options_.format = "json";
  options_.config = default_config(diagnosis_setting_groups());
  options_.config->expected["mlx5_0/1"].speed_mbps = 200000;
  options_.config->exempt["mlx5_0/1"] = "spare";
  EXPECT_EQ(run(kText), 0);
  const auto report = parse_report(out_);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->ports[0].expected.speed_mbps, 200000U);
  EXPECT_EQ(report->ports[0].expected.lanes, 4U);
  EXPECT_EQ(report->ports[0].exempt, "spare");
}

TEST_F(Replay, BeginsWithWhatTheRecorderKnew) {
  options_.format = "json";
  std::string text = kText;
  const std::string known =
      R"("known":{"ledger":{"faults":[{"id":"f-17","port":"0000:1b:00.0/1","fault":"dirty_connector","end":"path",)"
      R"("severity":"warning","state":"open","confidence":0.9,"opened_at":"2026-11-20T09:00:00Z",)"
      R"("last_seen_at":"2026-11-20T09:59:50Z","summary":"lane 4"}]},"settings":{"ledger.quiet_s":5,"gone.by_now":1}},)";
  text.insert(text.find(R"("expected")"), known);
  EXPECT_EQ(run(text), 0) << err_;
  const auto report = parse_report(out_);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->ports[0].faults.size(), 1U);
  EXPECT_EQ(report->ports[0].faults[0].id, "f-17");
  EXPECT_EQ(report->ports[0].faults[0].fault, "dirty_connector");
  EXPECT_EQ(run(kText), 0);
  EXPECT_THAT(out_, ::testing::Not(HasSubstr("dirty_connector")));
}

TEST_F(Replay, AnUnusableFileIsOneLineAndExitCode2) {
  EXPECT_EQ(run("hello\n"), 2);
  EXPECT_EQ(out_, "");
  EXPECT_THAT(err_, StartsWith("linkhealth: " + options_.recording + ":1: not a recording"));
  EXPECT_EQ(std::ranges::count(err_, '\n'), 1);
  const std::string header(kText, std::string_view(kText).find('\n') + 1);
  EXPECT_EQ(run(header), 2);
  EXPECT_THAT(err_, HasSubstr("no snapshot in this recording"));
  options_.recording = "/no/such/file";
  EXPECT_EQ(run(), 2);
  EXPECT_EQ(err_, "linkhealth: /no/such/file: No such file or directory\n");
}

TEST_F(Replay, ATruncatedRecordingIsReplayedWithAWarning) {
  EXPECT_EQ(run(std::string(kText) + R"({"t":3)"), 0);
  EXPECT_THAT(out_, StartsWith("gpu-1"));
  EXPECT_THAT(err_, HasSubstr(":4: the last line breaks off"));
}

// --------------------------------------------------------------------------------- --what-if

FaultEvent event(double t, FaultEventKind kind, const char* fault, double confidence = 0.8) {
  FaultEvent made;
  made.t = steady_from_seconds(t);
  made.at = WallTime(from_seconds(1'700'000'000 + t));
  made.kind = kind;
  made.port = "mlx5_0/1";
  made.fault.fault = fault;
  made.fault.end = End::kPath;
  made.fault.confidence = confidence;
  return made;
}

std::vector<Episode> episodes(const std::vector<FaultEvent>& events) {
  std::vector<Episode> out;
  for (const FaultEvent& each : events) add_event(out, each);
  return out;
}

TEST(ChangeSetting, TakesAKey) {
  SettingTable table(diagnosis_setting_groups());
  ASSERT_TRUE(change_setting(table, "diagnosis.flap_losses=7"));
  EXPECT_EQ(diagnosis_settings(table).flap_losses, 7);
  ASSERT_TRUE(change_setting(table, " diagnosis.flap_losses = 8"));
  EXPECT_EQ(diagnosis_settings(table).flap_losses, 8);
}

TEST(ChangeSetting, ErrorsNameTheKey) {
  SettingTable table(diagnosis_setting_groups());
  EXPECT_NE(change_setting(table, "diagnosis.flap_loses=7")
                .error()
                .message.find("did you mean \"diagnosis.flap_losses\""),
            std::string::npos);
  EXPECT_FALSE(change_setting(table, "diagnosis.flap_losses").ok());
  EXPECT_FALSE(change_setting(table, "diagnosis.flap_losses=many").ok());
  EXPECT_FALSE(change_setting(table, "diagnosis.flap_losses=1e9").ok()) << "out of its range";
}

TEST(Episodes, FromOpeningToClosing) {
  const auto found = episodes({event(10, FaultEventKind::kOpened, "dirty_connector", 0.7),
                               event(20, FaultEventKind::kWorsened, "dirty_connector", 0.9),
                               event(30, FaultEventKind::kProving, "dirty_connector", 0.6),
                               event(40, FaultEventKind::kClosed, "dirty_connector", 0.5),
                               event(90, FaultEventKind::kOpened, "dirty_connector", 0.8)});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].closed_at, WallTime(from_seconds(1'700'000'040)));
  EXPECT_EQ(found[0].confidence, 0.9);
  EXPECT_FALSE(found[1].closed_at.has_value());
}

TEST(MissingIn, ComparesFaultsAndTimes) {
  const auto now = episodes({event(10, FaultEventKind::kOpened, "dirty_connector"),
                             event(10, FaultEventKind::kOpened, "bad_module"),
                             event(50, FaultEventKind::kOpened, "unplugged")});
  const auto then = episodes({event(10, FaultEventKind::kOpened, "dirty_connector"),
                              event(70, FaultEventKind::kOpened, "unplugged")});
  const auto gone = missing_in(now, then);
  ASSERT_EQ(gone.size(), 2U);
  EXPECT_EQ(gone[0].fault, "bad_module");
  EXPECT_EQ(gone[1].fault, "unplugged");
  EXPECT_EQ(missing_in(then, now).size(), 1U);
  EXPECT_TRUE(missing_in(now, now).empty());
}

class WhatIf : public Replay {
 protected:
  int run(const std::string& change) {
    options_.recording = LINKHEALTH_SOURCE_DIR "/demo/dirty_connector.jsonl.gz";
    options_.what_if = {change};
    return Replay::run();
  }
};

TEST_F(WhatIf, TheDefaultChangesNothing) {
  EXPECT_EQ(run("diagnosis.flap_losses=3"), 0);
  EXPECT_THAT(out_, HasSubstr(": 0 of 1 diagnosis gone, 0 new\n"));
}

TEST_F(WhatIf, ADiagnosisThatComesLater) {
  EXPECT_EQ(run("diagnosis.open_at=0.999"), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("  - bnxt_re1/1  "));
  EXPECT_THAT(out_, HasSubstr("dirty connector (path"));
  EXPECT_THAT(out_, HasSubstr(": 1 of 1 diagnosis gone, 1 new\n"));
}

TEST_F(WhatIf, AsJson) {
  options_.format = "json";
  EXPECT_EQ(run("ledger.signal_hold_s=3600"), 0) << err_;
  EXPECT_THAT(out_, StartsWith("{\"schema\":\"linkhealth.what_if/1\""));
  EXPECT_THAT(out_, HasSubstr("\"gone\":[{\"port\":"));
  EXPECT_THAT(out_, HasSubstr("\"fault\":\"dirty_connector\""));
}

TEST_F(WhatIf, AnUnknownKeyIsOneLine) {
  EXPECT_EQ(run("ledger.signal_hol_s=3600"), 2);
  EXPECT_THAT(err_, HasSubstr("did you mean"));
  EXPECT_EQ(out_, "");
}

}  // namespace
}  // namespace linkhealth::cli
