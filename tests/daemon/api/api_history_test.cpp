// The part of the API that reads the history database.
#include "daemon/api/api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/json/timeline_json.h"
#include "tests/storage/history/history_example.h"
#include "tests/support/report_builder.h"
#include "tests/support/test_server.h"

namespace linkhealth {
namespace {

using namespace test;
using testing::HasSubstr;
using testing::Not;

class ApiHistoryTest : public testing::Test {
 protected:
  ApiHistoryTest() {
    clock_.wall_now = history_time(60);
    auto report = std::make_shared<Report>(example_report());
    for (const PortReport& port : report->ports)
      if (port.port == "mlx5_3/1") stable_ = port.latest.id.stable_key();
    reports_.publish(report, {}, {});
    HistoryBatch batch;
    batch.now = history_time(60);
    for (int i = 0; i < 6; ++i) {
      batch.rows.push_back(history_row(std::int64_t{i} * 10, 50 + i, stable_));
      batch.rows.back().values[Signal::kPreFecBer] = 2.1e-8;
    }
    batch.events = {history_event(20)};
    batch.events[0].port = stable_;
    batch.identities = {{"S1", "local", stable_, "mlx5_3/1", "ACME", "P1", "optical",
                         history_time(0), history_time(0)}};
    EXPECT_TRUE(store_->write(batch).ok());
  }
  HttpResponse get(const std::string& path, std::multimap<std::string, std::string> params = {}) {
    HttpRequest request;
    request.method = "GET";
    request.path = path;
    request.params = std::move(params);
    ApiContext context{reports_, recordings_, clock_, SteadyTime()};
    context.history = store_.get();
    return handle_api(request, context);
  }

  FixedClock clock_;
  RecordingBroadcaster recordings_;
  ReportStore reports_;
  std::unique_ptr<HistoryStore> store_ = HistoryStore::open({}, history_time(0));
  std::string stable_;
};

TEST_F(ApiHistoryTest, APortsPastByAnyOfItsNames) {
  for (const char* name : {"mlx5_3/1", "mlx5_3"}) {
    const HttpResponse past =
        get("/api/v1/ports/" + std::string(name) + "/history", {{"since", "3600"}});
    ASSERT_EQ(past.status, 200) << past.body;
    EXPECT_THAT(past.body, HasSubstr(R"("schema":"linkhealth.history/1","port":"mlx5_3/1")"));
    EXPECT_THAT(past.body, HasSubstr(R"("step_s":10)"));
    EXPECT_THAT(past.body, HasSubstr(R"("temperature_c":[50.0,51.0,52.0,53.0,54.0,55.0,null])"));
    EXPECT_THAT(past.body, HasSubstr(R"("pre_fec_ber":[2.1e-08,)"))
        << "to the digits that it is kept with";
    EXPECT_THAT(past.body, HasSubstr(R"("event":"opened")"));
    EXPECT_THAT(past.body, HasSubstr(R"("serial":"S1")"));
  }
}

TEST_F(ApiHistoryTest, MaintenanceOfThePortByAnyOfItsNamesAndOfTheNode) {
  HistoryBatch batch;
  batch.now = history_time(60);
  batch.ledger.emplace();
  for (const std::string& port :
       {stable_, std::string("mlx5_3"), std::string("ens4np0"), std::string(), stable_ + "1"}) {
    Maintenance work;
    work.port = port;
    work.by = "user" + std::to_string(batch.ledger->maintenance_log.size());
    work.since = history_time(10);
    batch.ledger->maintenance_log.push_back(work);
  }
  ASSERT_TRUE(store_->write(batch).ok());
  const HttpResponse past = get("/api/v1/ports/mlx5_3/history");
  for (const char* by : {"user0", "user1", "user2", "user3"})
    EXPECT_THAT(past.body, HasSubstr(std::string(R"("by":")") + by + "\""));
  EXPECT_THAT(past.body, Not(HasSubstr("user4"))) << "another port's";
}

TEST_F(ApiHistoryTest, OnlyTheRequestedSignals) {
  const HttpResponse past = get("/api/v1/ports/mlx5_3/1/history", {{"signals", "temperature_c"}});
  EXPECT_THAT(past.body, HasSubstr("temperature_c"));
  EXPECT_THAT(past.body, Not(HasSubstr("pre_fec_ber\":[")));
}

TEST_F(ApiHistoryTest, BadParametersAreErrors) {
  const std::string path = "/api/v1/ports/mlx5_3/1/history";
  EXPECT_EQ(get("/api/v1/ports/mlx5_33/1/history").status, 404);
  EXPECT_EQ(get(path, {{"since", "0"}}).status, 400);
  EXPECT_EQ(get(path, {{"since", "-5"}}).status, 400);
  EXPECT_EQ(get(path, {{"since", "1e99"}}).status, 400);
  EXPECT_THAT(get(path, {{"step", "30"}}).body, HasSubstr("10, 60 or 600"));
  EXPECT_THAT(get(path, {{"step", "10"}, {"since", "7776000"}}).body,
              HasSubstr("use longer steps"));
  EXPECT_THAT(get(path, {{"signals", "temperature"}}).body,
              HasSubstr("did you mean temperature_c?"));
}

TEST_F(ApiHistoryTest, AClientReadsItBack) {
  const auto past = parse_timeline(get("/api/v1/ports/mlx5_3/history").body);
  ASSERT_TRUE(past.ok()) << past.error().message;
  EXPECT_EQ(past->port, "mlx5_3/1");
  EXPECT_EQ(past->at.size(), past->find(Signal::kTemperature)->values.size());
  ASSERT_EQ(past->events.size(), 1U);
  EXPECT_EQ(past->events[0].fault.summary, history_event(20).event.fault.summary);
  EXPECT_EQ(past->identities.at(0).serial, "S1");
  EXPECT_FALSE(parse_timeline("{}").ok());
}

TEST_F(ApiHistoryTest, ThePlacesOfAModule) {
  EXPECT_THAT(get("/api/v1/identities/S1").body,
              HasSubstr(R"("places":[{"serial":"S1","end":"local")"));
  EXPECT_EQ(get("/api/v1/identities/S2").status, 404);
}

TEST_F(ApiHistoryTest, AClosedDatabaseIsAnError) {
  store_->close();
  EXPECT_EQ(get("/api/v1/ports/mlx5_3/1/history").status, 503);
  store_.reset();
  EXPECT_EQ(get("/api/v1/ports/mlx5_3/1/history").status, 404);
}

}  // namespace
}  // namespace linkhealth
