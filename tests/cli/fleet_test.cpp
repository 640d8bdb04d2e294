// `linkhealth fleet` against a fake Prometheus.
#include "cli/fleet.h"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "cli/exit_codes.h"
#include "cli/http_client.h"
#include "daemon/http/http_server.h"
#include "daemon/http/listening_sockets.h"
#include "tests/support/temp_directory.h"

namespace linkhealth::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

FleetFault fault(const std::string& instance, const std::string& rack, const std::string& u,
                 double lost_gbps, const std::string& severity = "warning") {
  FleetFault out;
  out.labels = {
      {"instance", instance}, {"device", "mlx5_0"},   {"port", "1"},  {"fault", "dirty_connector"},
      {"end", "path"},        {"severity", severity}, {"rack", rack}, {"u", u}};
  out.confidence = 0.8;
  out.lost_bytes_per_s = lost_gbps * 1.25e8;
  return out;
}

std::vector<std::string> names(const std::vector<FleetFault>& faults) {
  std::vector<std::string> out;
  for (const FleetFault& one : faults) out.emplace_back(one.label("instance"));
  return out;
}

TEST(FleetOrder, WorstFirstThenWalkingOrder) {
  std::vector<FleetFault> faults = {fault("c", "r10", "4", 0), fault("a", "r2", "30", 400),
                                    fault("n", "r1", "1", 0, "notice"),
                                    fault("b", "r2", "9", 0, "critical"), fault("d", "", "", 100)};
  faults.push_back(fault("shared", "r1", "1", 400));
  faults.back().shared_cause = "leaf-1";
  rank_faults(faults);
  EXPECT_THAT(names(faults), ElementsAre("a", "shared", "d", "b", "c", "n"));
  EXPECT_EQ(faults.front().rank, 1U);
  EXPECT_THAT(names(in_walking_order(faults)), ElementsAre("d", "b", "a", "c"));
}

constexpr WallTime kNow{std::chrono::seconds(1'795'176'000)};

FleetView some_view() {
  FleetView view;
  view.nodes = 2;
  view.links.links = {{"healthy", 14}, {"down", 1}, {"degraded", 1}};
  view.lost_bytes_per_s = 5e10;
  FleetFault bad = fault("gpu-1", "r1", "4", 400, "critical");
  bad.labels["peer_system"] = "leaf-1\x1b[31m";
  bad.labels["peer_port"] = "Ethernet1/1";
  bad.labels["part_number"] = "EX_400|DR4";
  bad.opened_at = kNow - std::chrono::hours(3);
  view.faults = {bad};
  view.faults_total = 3;
  rank_faults(view.faults);
  return view;
}

TEST(FleetText, FaultsWithAgeAndPlace) {
  const std::string text = fleet_text(some_view(), {}, kNow, {});
  EXPECT_THAT(text, HasSubstr("2 nodes, 16 links: 14 healthy, 1 degraded, 1 down; 400 Gb/s lost"));
  EXPECT_THAT(text, HasSubstr("✖ dirty connector (80%)"));
  EXPECT_THAT(text, HasSubstr("3 h"));
  EXPECT_THAT(text, HasSubstr("rack r1 U 4"));
  EXPECT_THAT(text, HasSubstr("2 more faults: --limit 3"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  const std::string ascii =
      fleet_text(some_view(), {}, kNow, {.colour = false, .width_columns = 80, .ascii = true});
  for (const char c : ascii) EXPECT_GE(c, 0) << ascii;
}

TEST(FleetText, TheWorkListIsMarkdown) {
  const std::string text = work_list_text(some_view(), kNow);
  EXPECT_THAT(text, HasSubstr("# Work list, 2026-11-20"));
  EXPECT_THAT(text, HasSubstr("## rack r1\n\n- [ ] **U 4, gpu-1, mlx5\\_0/1**: dirty connector "
                              "(80% confidence), rank 1\n"));
  EXPECT_THAT(text, HasSubstr("EX\\_400\\|DR4")) << "what a module says is no Markdown";
  EXPECT_THAT(text, HasSubstr("  First: inspect and clean both ends"));
  EXPECT_THAT(text, HasSubstr("2 more faults not on this list"));
}

/// Answers every query with `body`, or with what `answers` has for a part of the query.
class FakePrometheus : public ::testing::Test {
 protected:
  void SetUp() override {
    auto socket = listen_tcp({"127.0.0.1", 0});
    ASSERT_TRUE(socket.ok());
    port_ = *bound_port(*socket);
    server_.listen(*std::move(socket), Caller::Transport::kTcp);
    server_.start();
  }
  void TearDown() override { server_.stop(); }

  HttpResponse respond(const HttpRequest& request) {
    login_ = request.authorization;
    HttpResponse response;
    response.status = request.path == "/p/api/v1/query" ? status_ : 404;
    response.content_type = "application/json";
    response.body = body_;
    if (request.path == "/drips") {
      response.stream = std::make_unique<HttpStream>();
      response.stream->next = [](std::string&) { return HttpStream::State::kNothingYet; };
      response.stream->poll_after = Milliseconds(50);
      response.stream->keep_alive = " ";
    }
    for (const auto& [part, answer] : answers_)
      if (request.param("query").find(part) != std::string::npos) {
        response.body = answer;
        break;
      }
    return response;
  }

  static std::string rows(const std::string& result) {
    return R"({"status":"success","data":{"resultType":"vector","result":[)" + result + "]}}";
  }
  static std::string row(const std::string& labels, const std::string& value) {
    return R"({"metric":{)" + labels + R"(},"value":[1,")" + value + R"("]})";
  }

  struct Outcome {
    int exit_code;
    std::string out, err;
  };
  [[nodiscard]] Outcome run(const std::string& arguments, const std::string& login = "") const {
    const std::string url = "http://" + login + "127.0.0.1:" + std::to_string(port_) + "/p/";
    const std::string command =
        "env -i ASAN_OPTIONS=detect_leaks=0 LANG=C.UTF-8 COLUMNS=120 LINKHEALTH_PROMETHEUS=" + url +
        " " LINKHEALTH_PROGRAM " fleet " + arguments + " >" + directory_.file("out") + " 2>" +
        directory_.file("err") + " </dev/null";
    const int status = std::system(command.c_str());
    const auto read = [this](const char* name) {
      std::ifstream file(directory_.file(name));
      return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    };
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out"), read("err")};
  }

  std::string body_ = rows("");
  std::vector<std::pair<std::string, std::string>> answers_;
  int status_ = 200;
  std::string login_;
  int port_ = 0;

 private:
  test::TempDirectory directory_;
  HttpServer server_{[this](HttpRequest& request, int) { return respond(request); }};
};

TEST_F(FakePrometheus, NoDataOfLinkhealth) {
  const Outcome none = run("");
  EXPECT_EQ(none.exit_code, kDaemonError);
  EXPECT_THAT(none.err, HasSubstr("has no linkhealth data: check that it scrapes the nodes"));
  answers_ = {{"linkhealth_build_info", rows(row("", "24"))}};
  EXPECT_THAT(run("").err, HasSubstr("does not evaluate linkhealth's rules: load "));
}

TEST_F(FakePrometheus, AnotherServerIsOneLine) {
  for (const auto& [status, body, words] :
       {std::tuple{200, "<html>\nHello", "is not a Prometheus response: \"<html>\""},
        {422, R"({"status":"error","errorType":"execution","error":"too many samples"})",
         "(422) says: execution: too many"},
        {503, "", "(503) is not a Prometheus response: an empty answer"},
        {401, "Unauthorized", "refuses (401): --bearer-token-file FILE"}}) {
    status_ = status;
    body_ = body;
    const Outcome out = run("", "me:secret@");
    EXPECT_EQ(out.exit_code, kDaemonError) << status;
    EXPECT_THAT(out.err, HasSubstr(words));
    EXPECT_EQ(std::count(out.err.begin(), out.err.end(), '\n'), 1) << out.err;
    EXPECT_THAT(out.err, Not(HasSubstr("secret")));
    EXPECT_EQ(out.out, "");
  }
}

TEST_F(FakePrometheus, OneThatDripsIsNotAwaitedForEver) {
  HttpTarget target;
  target.url = "http://127.0.0.1:" + std::to_string(port_) + "/drips";
  EXPECT_GT(target.whole_s, 0) << "what a caller gets that says nothing";
  target.whole_s = 1;
  const auto answer = fetch(target, std::size_t{1} << 20U);
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, HasSubstr("Timeout"));
}

TEST_F(FakePrometheus, NoAddressIsPrintedWithItsPassword) {
  for (const char* odd : {"ftp://me:secret@host", "me:secret@host:9090", "http://me:secret@",
                          "http://me:secret@127.0.0.1:1/?x=1", "http://me:secret@127.0.0.1:1",
                          "http://secret@127.0.0.1:1", "https://me:secret@127.0.0.1:1#f"}) {
    const Outcome out = run("--prometheus '" + std::string(odd) + "'");
    EXPECT_NE(out.exit_code, kOk) << odd;
    EXPECT_THAT(out.err, Not(HasSubstr("secret")));
  }
}

TEST_F(FakePrometheus, NoAnswer) {
  const Outcome out = run("--prometheus http://127.0.0.1:1");
  EXPECT_EQ(out.exit_code, kNotReachable);
  EXPECT_THAT(out.err, HasSubstr("Prometheus at http://127.0.0.1:1 does not answer"));
  EXPECT_EQ(run("--prometheus nonsense").exit_code, kBadInput);
  EXPECT_EQ(run("--by moon").exit_code, kBadInput);
  EXPECT_EQ(run("--by rack --work-list").exit_code, kBadInput);
}

TEST_F(FakePrometheus, WorstLinksWithALogin) {
  const std::string link = R"("instance":"gpu-1","device":"mlx5_3","port":"1")";
  const std::string which = link + R"(,"fault":"unplugged","end":"path")";
  answers_ = {
      {"linkhealth_build_info", rows(row("", "2"))},
      {"fleet:linkhealth_links:count",
       rows(row(R"("health":"healthy")", "15") + "," + row(R"("health":"down")", "1"))},
      {"fault_opened", rows(row(which, "1795164000"))},
      {"bandwidth_lost_bytes_per_second:current", rows(row(link, "50000000000"))},
      {"topk", rows(row(which + R"(,"severity":"critical","peer_system":"leaf-1")", "0.9"))},
      {"count(link:", rows(row("", "1"))}};
  const Outcome out = run("--json", "me:secret@");
  EXPECT_EQ(out.exit_code, kOk) << out.err;
  EXPECT_EQ(login_, "Basic bWU6c2VjcmV0");
  EXPECT_THAT(out.out, HasSubstr(R"("schema":"linkhealth.fleet/1")"));
  EXPECT_THAT(
      out.out,
      HasSubstr(
          R"("opened_at":"2026-11-20T08:40:00Z","bandwidth_lost_bytes_per_second":50000000000.0)"));
  EXPECT_THAT(run("").out, HasSubstr("gpu-1 mlx5_3/1"));
}

TEST_F(FakePrometheus, BySwitchIsBounded) {
  std::string counts;
  for (int i = 0; i < 30; ++i)
    counts += (i == 0 ? "" : ",") +
              row(R"("health":"down","peer_system":"leaf-)" + std::to_string(i) + "\"",
                  std::to_string(i));
  answers_ = {{"linkhealth_build_info", rows(row("", "2"))},
              {"fleet:linkhealth_links:count", rows(row(R"("health":"down")", "1"))},
              {"switch:linkhealth_links:count", rows(counts)}};
  const Outcome out = run("--by switch --limit 3");
  EXPECT_EQ(out.exit_code, kOk) << out.err;
  EXPECT_THAT(out.out, HasSubstr("leaf-29"));
  EXPECT_THAT(out.out, Not(HasSubstr("leaf-26")));
  EXPECT_THAT(out.out, HasSubstr("27 more: --limit 30"));
}

}  // namespace
}  // namespace linkhealth::cli
