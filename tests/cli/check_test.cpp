// check and ticket as schedulers and technicians call them.
#include <gmock/gmock.h>

#include "cli/exit_codes.h"
#include "tests/cli/cli_harness.h"

namespace linkhealth::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(CliWithDaemon, CheckHasNagiosExitCodes) {
  const Outcome all = run("check");
  EXPECT_EQ(all.exit_code, 2);
  EXPECT_THAT(all.out, StartsWith("LINKHEALTH CRITICAL - mlx5_7/1 far port down (91%); "));
  EXPECT_EQ(std::count(all.out.begin(), all.out.end(), '\n'), 1);
  EXPECT_EQ(run("check mlx5_0").exit_code, 0);
  EXPECT_EQ(run("check ens4np0").exit_code, 1);
  EXPECT_EQ(run("check mlx5_9").exit_code, 3);
  EXPECT_THAT(run("check --perfdata").out, HasSubstr(" | ports=5 "));
  EXPECT_THAT(run("check --json").out, HasSubstr("\"level\":\"CRITICAL\",\"exit_code\":2"));
}

TEST_F(CliWithDaemon, ADrainReasonOrNothing) {
  EXPECT_EQ(run("check --drain-reason").out, "linkhealth: mlx5_7/1 far port down (91%) +2\n");
  const Outcome good = run("check mlx5_0 --drain-reason");
  EXPECT_EQ(good.out, "");
  EXPECT_EQ(good.exit_code, 0);
}

TEST_F(CliWithDaemon, AnUnknownPortIsReportedOnStandardOutput) {
  const Outcome wrong = run("check mlx5_33");
  EXPECT_EQ(wrong.exit_code, 3);
  EXPECT_THAT(wrong.out,
              StartsWith("LINKHEALTH UNKNOWN - no port \"mlx5_33\": did you mean mlx5_3?"));
}

TEST_F(CliTest, CheckWithoutADaemonIsUnknownAndNoReasonToDrain) {
  const Outcome none = run("check");
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.out, StartsWith("LINKHEALTH UNKNOWN - the daemon is not running"));
  EXPECT_EQ(run("check --drain-reason").out, "");
  EXPECT_EQ(run("check --drain-reason").exit_code, 3);
  EXPECT_THAT(run("check --json").out, HasSubstr("\"level\":\"UNKNOWN\""));
}

TEST_F(CliWithDaemon, TicketByAnyName) {
  EXPECT_THAT(run("ticket ens4np0").out,
              StartsWith("# gpu-0417 mlx5_3/1: dirty connector (83%)\n"));
  EXPECT_THAT(run("ticket 9a:00.0 --json").out, StartsWith("{\"schema\":\"linkhealth.ticket/1\""));
  EXPECT_EQ(run("ticket mlx5_33").exit_code, kBadInput);
  EXPECT_EQ(run("ticket").out, run("ticket mlx5_7").out) << "the worst open fault, as explain";
}

}  // namespace
}  // namespace linkhealth::cli
