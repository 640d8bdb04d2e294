// ack and maintenance through the program, the socket and the API, against a desk that writes down
// what it is told.
#include <gmock/gmock.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "daemon/api_operator.h"
#include "daemon/peer_credentials.h"
#include "tests/cli/cli_harness.h"
#include "tests/support/noting_desk.h"
#include "tests/support/report_builder.h"

namespace linkhealth::cli {
namespace {

using test::NotingDesk;
using ::testing::HasSubstr;

class Operators : public CliTest {
 protected:
  void SetUp() override {
    settings.desk = &desk;
    publish();
    start();
  }
  /// A name that is not that of who runs this test: his is said beside it.
  const std::string ann_ = "ann (as " + linkhealth::user_name(geteuid()) + ")";
  NotingDesk desk;
};

TEST_F(Operators, AckByAnyNameOfThePort) {
  const Outcome done =
      run("ack ens4np0 --for 2h --reason 'jumper ordered & ticket=4711 + 100%' --by ann");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(desk.noted,
            "ack mlx5_3/1|" + ann_ + "|jumper ordered & ticket=4711 + 100%|2026-11-20T14:00:00Z");
  EXPECT_EQ(done.out, "mlx5_3/1: dirty connector acknowledged by " + ann_ +
                          " until 2026-11-20 14:00:00Z (for 2 h)\n");
}

TEST_F(Operators, AckWithoutATimeHoldsUntilTheFaultCloses) {
  const Outcome done = run("ack mlx5_3 --by ann");
  EXPECT_EQ(done.out, "mlx5_3/1: dirty connector acknowledged by " + ann_ + " until it closes\n");
  EXPECT_EQ(desk.noted, "ack mlx5_3/1|" + ann_ + "||-");
}

TEST_F(Operators, WhoTypesIsWhoAcknowledges) {
  ASSERT_EQ(run("ack mlx5_3").exit_code, 0);
  EXPECT_EQ(desk.noted, "ack mlx5_3/1|" + user_name() + "||-");
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
  desk.refusal = "nothing is open on this port";
  const Outcome done = run("ack mlx5_0 --by ann");
  EXPECT_EQ(done.exit_code, kBadInput);
  EXPECT_EQ(done.err, "linkhealth: mlx5_0/1: nothing is open on this port\n");
  EXPECT_EQ(run("ack mlx5_33").err,
            "linkhealth: no port \"mlx5_33\": did you mean mlx5_3? (linkhealth status lists the "
            "ports)\n");
}

TEST_F(Operators, TakenBack) {
  EXPECT_EQ(run("ack mlx5_3 --end --by ann").out,
            "mlx5_3/1: dirty connector is not acknowledged any more\n");
  EXPECT_EQ(desk.noted, "withdraw mlx5_3/1|" + ann_);
  EXPECT_EQ(run("ack mlx5_3 --end --for 2h").exit_code, kBadInput);
}

TEST_F(Operators, WhatTheDiskWouldForgetIsSaid) {
  desk.lost = "can't write ledger.json: No space left on device";
  EXPECT_THAT(run("ack mlx5_3 --by ann").out,
              HasSubstr("; a restart would forget it: can't write ledger.json"));
}

TEST_F(Operators, MaintenanceOfOnePortAndOfAll) {
  EXPECT_EQ(
      run("maintenance start mlx5_3 --for 30m --reason jumper --by ann").out,
      "mlx5_3/1: in maintenance until 2026-11-20 12:30:00Z (for 30 min), nothing is raised\n");
  EXPECT_EQ(desk.noted, "begin mlx5_3/1|" + ann_ + "|jumper|2026-11-20T12:30:00Z");
  EXPECT_EQ(run("maintenance start mlx5_3 --for 30m --no-module-reads --by ann").out,
            "mlx5_3/1: in maintenance until 2026-11-20 12:30:00Z (for 30 min), nothing is raised, "
            "and no module is "
            "read\n");
  EXPECT_EQ(desk.noted, "begin mlx5_3/1|" + ann_ + "||2026-11-20T12:30:00Z|no module reads");
  EXPECT_EQ(run("maintenance start all --for 2d --by ann").exit_code, 0);
  EXPECT_EQ(desk.noted, "begin |" + ann_ + "||2026-11-22T12:00:00Z");
  EXPECT_EQ(run("maintenance end all --by ann").out, "all ports: maintenance ended after 5 min\n");
  EXPECT_EQ(desk.noted, "end |" + ann_);
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
  EXPECT_EQ(desk.noted, "");
  desk.refusal = "mlx5_3/1 is not in maintenance";
  EXPECT_EQ(run("maintenance end mlx5_3").err, "linkhealth: mlx5_3/1 is not in maintenance\n");
}

ApiRequest post(const std::string& path) {
  ApiRequest request;
  request.method = "POST";
  request.path = path;
  request.caller.may_act = true;
  request.params.emplace("by", "ann");
  return request;
}

class Actions : public ::testing::Test, protected test::TestServer {
 protected:
  int status(const ApiRequest& request) {
    return answer(request, {reports, test::example_now(), Milliseconds(0), Milliseconds(60'000),
                            nullptr, &desk})
        .status;
  }
  void SetUp() override { publish(); }
  NotingDesk desk;
};

TEST_F(Actions, OnlyWhoMayActActs) {
  ApiRequest request = post("/api/v1/ports/mlx5_3/ack");
  EXPECT_EQ(status(request), 200);
  request.caller.may_act = false;
  desk.noted.clear();
  EXPECT_EQ(status(request), 403);
  EXPECT_EQ(desk.noted, "");
}

TEST_F(Actions, BadParameters) {
  for (const char* bad : {"0", "x", "-5", "99999999999"}) {
    ApiRequest request = post("/api/v1/ports/mlx5_3/ack");
    request.params.emplace("for", bad);
    EXPECT_EQ(status(request), 400) << bad;
  }
  ApiRequest nameless = post("/api/v1/ports/mlx5_3/ack");
  nameless.params.clear();
  EXPECT_EQ(status(nameless), 400);
  nameless.caller.user = "bob";
  EXPECT_EQ(status(nameless), 200);
  EXPECT_THAT(desk.noted, HasSubstr("|bob|"));
  ApiRequest wordy = post("/api/v1/ports/mlx5_3/ack");
  wordy.params.emplace("reason", std::string(501, 'x'));
  EXPECT_EQ(status(wordy), 400);
  EXPECT_EQ(status(post("/api/v1/ports/none/ack")), 404);
  EXPECT_EQ(status(post("/api/v1/ports//ack")), 405);
  EXPECT_EQ(status(post("/api/v1/maintenance")), 404) << "no port named";
  EXPECT_EQ(status(post("/api/v1/ports/mlx5_3")), 405);
}

TEST_F(Actions, WhoReallyAsksIsSaidBesideTheNameThatIsGiven) {
  ApiRequest request = post("/api/v1/ports/mlx5_3/ack");
  request.caller.user = "root";
  EXPECT_EQ(status(request), 200);
  EXPECT_THAT(desk.noted, HasSubstr("|ann (as root)|"));
  request.caller.user = "ann";
  EXPECT_EQ(status(request), 200);
  EXPECT_THAT(desk.noted, HasSubstr("|ann|")) << "herself";
  ApiRequest work = post("/api/v1/maintenance");
  work.caller.user = "uid 1234";
  work.params.emplace("port", "mlx5_3");
  work.params.emplace("for", "60");
  EXPECT_EQ(status(work), 200);
  EXPECT_THAT(desk.noted, HasSubstr("|ann (as uid 1234)|"));
  work.params.emplace("module_reads", "maybe");
  EXPECT_EQ(status(work), 400);
  work.params.erase("module_reads");
  work.params.emplace("end", "1");
  EXPECT_EQ(status(work), 200);
  EXPECT_THAT(desk.noted, HasSubstr("|ann (as uid 1234)"));
}

TEST_F(Actions, NobodyWritesTheSecondNameHimself) {
  for (const char* name : {"ann (as ann)", "(as root)", "bob (as"}) {
    ApiRequest request = post("/api/v1/ports/mlx5_3/ack");
    request.caller.user = "root";
    request.params.clear();
    request.params.emplace("by", name);
    const bool whole = std::string(name).find("(as ") != std::string::npos;
    EXPECT_EQ(status(request), whole ? 400 : 200) << name;
  }
  EXPECT_THAT(desk.noted, HasSubstr("|bob (as (as root)|")) << "the last one is ours";
}

TEST_F(Actions, ControlCharactersDoNotGetThrough) {
  ApiRequest request = post("/api/v1/ports/mlx5_3/ack");
  request.params.emplace("reason", "a\x1b[31mred");
  EXPECT_EQ(status(request), 200);
  EXPECT_EQ(desk.noted.find('\x1b'), std::string::npos);
}

TEST_F(Operators, NobodyActsOverTcp) {
  const std::string command =
      "exec 3<>/dev/tcp/127.0.0.1/" + std::to_string(server->tcp_port()) +
      "; printf 'POST /api/v1/ports/mlx5_3/ack?by=x HTTP/1.0\\r\\n\\r\\n' >&3; head -n 1 <&3";
  ASSERT_EQ(std::system(("bash -c \"" + command + "\" >" + directory + "/out").c_str()), 0);
  EXPECT_THAT(read_all(directory + "/out"), HasSubstr("403 Forbidden"));
  EXPECT_EQ(desk.noted, "");
}

}  // namespace
}  // namespace linkhealth::cli
