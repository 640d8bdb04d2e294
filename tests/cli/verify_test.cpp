// verify and qualify against a daemon that a test scripts, on a clock that it moves.
#include "cli/verify.h"

#include <gmock/gmock.h>

#include <sstream>

#include "cli/verify_text.h"
#include "exporters/json/json.h"
#include "tests/support/manual_clock.h"
#include "tests/support/report_builder.h"

namespace linkhealth::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ScriptedDaemon : public Client {
 public:
  ScriptedDaemon() : Client("/nowhere") {
    report = test::example_report();
    for (PortReport& port : report.ports)
      if (port.latest.link) port.latest.link->carrier_down_count = 1;
  }
  [[nodiscard]] Result<Answer> get(const std::string& /*path*/) const override {
    if (away) return Error{"the daemon is not running", 2};
    return Answer{200, report_json(report)};
  }
  Report report;
  bool away = false;
};

class Verify : public ::testing::Test {
 protected:
  int run(const VerifyOptions& options, bool terminal = false) {
    const VerifyEnvironment environment{clock, [this](Milliseconds wait) { return step(wait); },
                                        out, terminal};
    return run_command([&] { return verify(daemon, options, style, environment); });
  }
  bool step(Milliseconds wait) {
    const Milliseconds by = std::max(wait, Milliseconds(10'000));
    clock.advance(by);
    daemon.report.t += by;
    daemon.report.at += by;
    waited += by;
    return !on_step || on_step();
  }
  [[nodiscard]] std::size_t lines() const {
    const std::string text = out.str();
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  linkhealth::testing::ManualClock clock;
  ScriptedDaemon daemon;
  std::ostringstream out;
  Milliseconds waited{0};
  std::function<bool()> on_step;
  TextStyle style{.colour = false, .width_columns = 140, .ascii = false};
};

TEST_F(Verify, PassIsPrinted) {
  EXPECT_EQ(run({.port = "ens1np0"}), kOk);
  EXPECT_THAT(
      out.str(),
      StartsWith("Verifying mlx5_0/1 at 400G (takes 2 h 5 min): no carrier loss for 30 min, no "
                 "uncorrectable block, BER below 1e-15 with 95% confidence\n"));
  EXPECT_THAT(out.str(), HasSubstr("\nPASS  mlx5_0/1: BER below the limit with 95% confidence, no "
                                   "carrier loss for 2 h 5 min\n"));
  EXPECT_NEAR(in_seconds(waited), 7510, 30);
  EXPECT_LT(lines(), 140U) << "a line a minute";
  EXPECT_THAT(out.str(), Not(HasSubstr("\x1b")));
}

TEST_F(Verify, ADropFails) {
  on_step = [this] {
    if (waited > std::chrono::minutes(5))
      daemon.report.ports[0].latest.link->carrier_down_count = 2;
    return true;
  };
  EXPECT_EQ(run({.port = "mlx5_0"}), kProblems);
  EXPECT_THAT(out.str(), HasSubstr("\nFAIL  mlx5_0/1: the carrier was lost\n"));
}

TEST_F(Verify, ARestartOfTheDaemonIsTwoLinesAndNoHarm) {
  on_step = [this] {
    daemon.away = waited > std::chrono::minutes(20) && waited < std::chrono::minutes(22);
    return true;
  };
  EXPECT_EQ(run({.port = "mlx5_0"}), kOk);
  EXPECT_THAT(out.str(), HasSubstr("  the daemon does not answer: waiting\n"));
  EXPECT_THAT(out.str(), HasSubstr("  the daemon answers again after"));
  EXPECT_NEAR(in_seconds(waited), 7510, 30) << "the kernel kept counting";
}

TEST_F(Verify, ADropWhileTheDaemonIsAwayIsSeen) {
  on_step = [this] {
    daemon.away = waited > std::chrono::minutes(20) && waited < std::chrono::minutes(22);
    if (daemon.away) daemon.report.ports[0].latest.link->carrier_down_count = 2;
    return true;
  };
  EXPECT_EQ(run({.port = "mlx5_0"}), kProblems);
}

TEST_F(Verify, ADaemonThatStaysAwayEndsIt) {
  on_step = [this] {
    daemon.away = true;
    return true;
  };
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run({.port = "mlx5_0"}), kNotReachable);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("has not answered for 10 min"));
}

TEST_F(Verify, MistakesAreReportedAtOnce) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run({.port = "mlx5_33"}), kBadInput);
  EXPECT_EQ(run({.port = "mlx5_8"}), kBadInput);
  daemon.away = true;
  EXPECT_EQ(run({.port = "mlx5_0"}), kNotReachable);
  const std::string errors = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(errors, HasSubstr("did you mean mlx5_3?"));
  EXPECT_THAT(errors, HasSubstr("mlx5_8/1 is exempt (not cabled by plan): nothing to verify"));
  EXPECT_EQ(waited, Milliseconds(0));
}

TEST_F(Verify, InterruptedIsNoVerdict) {
  on_step = [this] { return waited < std::chrono::minutes(30); };
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run({.port = "mlx5_0"}), kDaemonError);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("interrupted at 24%: mlx5_0/1 is not verified"));
}

TEST_F(Verify, AsJsonLines) {
  EXPECT_EQ(run({.port = "mlx5_0", .ber = 1e-13, .json = true}), kOk);
  EXPECT_THAT(out.str(), StartsWith("{\"schema\":\"linkhealth.verify/1\",\"at\":"));
  EXPECT_THAT(out.str(), HasSubstr("\"port\":\"mlx5_0/1\",\"state\":\"pass\""));
}

TEST_F(Verify, OnATerminalOneLineIsDrawnOver) {
  EXPECT_EQ(run({.port = "mlx5_0", .ber = 1e-13}, true), kOk);
  EXPECT_THAT(out.str(), HasSubstr("\r\x1b[K  ████████████░░░░░░░░░░░░  50%   15 min left"));
  EXPECT_LE(lines(), 4U);
}

TEST_F(Verify, TheProgressFitsTheTerminal) {
  VerifyState state;
  state.verdict = VerifyVerdict::kTesting;
  state.elapsed_s = 4670;
  state.remaining_s = 2820;
  state.confidence = 0.846;
  style.width_columns = 80;
  const std::string narrow = verify_progress(test::dirty_port(), state, style);
  EXPECT_THAT(narrow, HasSubstr("62%   47 min left   confidence 84%"));
  style.width_columns = 140;
  EXPECT_THAT(verify_progress(test::dirty_port(), state, style),
              HasSubstr("errors 0   pre-FEC 3.4e-05   Rx lane 2 -9.1 dBm"));
  style.ascii = true;
  EXPECT_THAT(verify_progress(test::dirty_port(), state, style),
              HasSubstr("###############........."));
}

TEST_F(Verify, TheGainOfARepairIsShown) {
  PortReport& port = daemon.report.ports[0];
  port.faults = test::dirty_port().faults;
  port.faults[0].state = FaultState::kProving;
  RepairRecord repair;
  repair.rx_lane = 2;
  repair.rx_power_before_dbm = -9.1;
  repair.rx_power_after_dbm = -1.3;
  port.faults[0].repairs = {repair};
  on_step = [&] {
    if (waited > std::chrono::minutes(10))
      port.faults.clear();  // it closes, and that is when one wants to know
    return true;
  };
  EXPECT_EQ(run({.port = "mlx5_0", .ber = 1e-13}), kOk);
  EXPECT_THAT(out.str(), HasSubstr("(was -9.1)"));
  EXPECT_THAT(out.str(), HasSubstr("; +7.8 dB on lane 2 since the repair"));
}

TEST_F(Verify, QualifyBurnsDownAllPorts) {
  daemon.report.ports[1].faults.clear();
  daemon.report.ports[1].health = Health::kHealthy;
  daemon.report.ports.pop_back();  // the one of which nothing can be read
  EXPECT_EQ(run({.ber = 1e-13}), kProblems);
  const std::string text = out.str();
  EXPECT_THAT(
      text, StartsWith("Verifying gpu-0417: 3 ports (1 exempt); each: no carrier loss for 30 min"));
  EXPECT_THAT(text, HasSubstr("FAIL  mlx5_7/1: the link does not come up (far port down)\n"));
  EXPECT_THAT(text, HasSubstr("2 of 3 left, 0 passed, 1 failed"));
  EXPECT_THAT(text, HasSubstr("PASS  mlx5_0/1: "));
  EXPECT_THAT(text, ::testing::EndsWith("FAIL  2 of 3 ports passed\n"));
}

TEST_F(Verify, QualifyPassesWhenAllDo) {
  daemon.report.ports.resize(1);
  EXPECT_EQ(run({.ber = 1e-13}), kOk);
  EXPECT_THAT(out.str(), ::testing::EndsWith("PASS  1 of 1 ports passed\n"));
}

TEST(LongDuration, Words) {
  EXPECT_EQ(long_duration(40), "40 s");
  EXPECT_EQ(long_duration(2820), "47 min");
  EXPECT_EQ(long_duration(7490), "2 h 5 min");
  EXPECT_EQ(long_duration(3600), "1 h");
  EXPECT_EQ(long_duration(300000), "3 d 11 h");
}

}  // namespace
}  // namespace linkhealth::cli
