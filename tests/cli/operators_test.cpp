// ack and maintenance through the program, the socket and the API.
#include <gmock/gmock.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "daemon/http/peer_credentials.h"
#include "tests/cli/cli_harness.h"
#include "tests/support/fake_actions.h"
#include "tests/support/report_builder.h"

namespace linkhealth::cli {
namespace {

using test::FakeActions;
using ::testing::HasSubstr;

class Operators : public CliTest {
 protected:
  void SetUp() override {
    actions = &fake;
    publish();
    start();
  }
  /// --by differs from the socket's user: both are shown.
  const std::string ann_ = "ann (as " + linkhealth::user_name(geteuid()) + ")";
  FakeActions fake;
};

TEST_F(Operators, AckByAnyNameOfThePort) {
  const Outcome done =
      run("ack ens4np0 --for 2h --reason 'jumper ordered & ticket=4711 + 100%' --by ann");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(fake.noted,
            "ack mlx5_3/1|" + ann_ + "|jumper ordered & ticket=4711 + 100%|2026-11-20T14:00:00Z");
  EXPECT_EQ(done.out, "mlx5_3/1: dirty connector acknowledged by " + ann_ +
                          " until 2026-11-20 14:00:00Z (for 2 h)\n");
}

TEST_F(Operators, AckWithoutATimeHoldsUntilTheFaultCloses) {
  const Outcome done = run("ack mlx5_3 --by ann");
  EXPECT_EQ(done.out, "mlx5_3/1: dirty connector acknowledged by " + ann_ + " until it closes\n");
  EXPECT_EQ(fake.noted, "ack mlx5_3/1|" + ann_ + "||-");
}

TEST_F(Operators, TheUserAcknowledgesByDefault) {
  ASSERT_EQ(run("ack mlx5_3").exit_code, 0);
  EXPECT_EQ(fake.noted, "ack mlx5_3/1|" + user_name() + "||-");
  EXPECT_NE(user_name(), "");
}

TEST_F(Operators, AsJson) {
  const Outcome done = run("ack mlx5_3 --by ann --for 1h --json");
  EXPECT_THAT(
      done.out,
      HasSubstr("{\"schema\":\"linkhealth.action/1\",\"action\":\"ack\",\"port\":\"mlx5_3/1\","
                "\"fault\":\"dirty_connector\""));
  EXPECT_THAT(done.out, HasSubstr("\"until\":\"2026-11-20T13:00:00Z\""));
}

TEST_F(Operators, ARefusalIsOneLineAndExitCodeTwo) {
  fake.refusal = "no fault is open on this port";
  const Outcome done = run("ack mlx5_0 --by ann");
  EXPECT_EQ(done.exit_code, kBadInput);
  EXPECT_EQ(done.err, "linkhealth: mlx5_0/1: no fault is open on this port\n");
  EXPECT_EQ(run("ack mlx5_33").err,
            "linkhealth: no port \"mlx5_33\": did you mean mlx5_3? (linkhealth status lists the "
            "ports)\n");
}

TEST_F(Operators, TakenBack) {
  EXPECT_EQ(run("ack mlx5_3 --end --by ann").out,
            "mlx5_3/1: dirty connector is no longer acknowledged\n");
  EXPECT_EQ(fake.noted, "withdraw mlx5_3/1|" + ann_);
  EXPECT_EQ(run("ack mlx5_3 --end --for 2h").exit_code, kBadInput);
}

TEST_F(Operators, AnActionThatIsNotStoredHasAWarning) {
  fake.not_stored = "can't write ledger.json: No space left on device";
  EXPECT_THAT(run("ack mlx5_3 --by ann").out,
              HasSubstr("; it would be lost on restart: can't write ledger.json"));
}

TEST_F(Operators, MaintenanceOfOnePortAndOfAll) {
  EXPECT_EQ(
      run("maintenance start mlx5_3 --for 30m --reason jumper --by ann").out,
      "mlx5_3/1: in maintenance until 2026-11-20 12:30:00Z (for 30 min), no fault is raised\n");
  EXPECT_EQ(fake.noted, "begin mlx5_3/1|" + ann_ + "|jumper|2026-11-20T12:30:00Z");
  EXPECT_EQ(run("maintenance start mlx5_3 --for 30m --no-module-reads --by ann").out,
            "mlx5_3/1: in maintenance until 2026-11-20 12:30:00Z (for 30 min), no fault is raised; "
            "modules are not read\n");
  EXPECT_EQ(fake.noted, "begin mlx5_3/1|" + ann_ + "||2026-11-20T12:30:00Z|no module reads");
  EXPECT_EQ(run("maintenance start all --for 2d --by ann").exit_code, 0);
  EXPECT_EQ(fake.noted, "begin |" + ann_ + "||2026-11-22T12:00:00Z");
  EXPECT_EQ(run("maintenance end all --by ann").out, "all ports: maintenance ended after 5 min\n");
  EXPECT_EQ(fake.noted, "end |" + ann_);
}

TEST_F(Operators, MaintenanceMistakes) {
  for (const char* wrong :
       {"maintenance", "maintenance start", "maintenance start mlx5_3", "maintenance stop mlx5_3",
        "maintenance end mlx5_3 --for 2h", "maintenance start mlx5_3 --for 91d",
        "maintenance end mlx5_3 --no-module-reads"}) {
    const Outcome outcome = run(wrong);
    EXPECT_EQ(outcome.exit_code, kBadInput) << wrong;
    EXPECT_THAT(outcome.err, ::testing::StartsWith("linkhealth: ")) << wrong;
  }
  EXPECT_EQ(fake.noted, "");
  fake.refusal = "mlx5_3/1 is not in maintenance";
  EXPECT_EQ(run("maintenance end mlx5_3").err, "linkhealth: mlx5_3/1 is not in maintenance\n");
}

}  // namespace
}  // namespace linkhealth::cli
