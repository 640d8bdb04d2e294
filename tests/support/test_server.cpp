#include "tests/support/test_server.h"

#include <gtest/gtest.h>

#include "tests/support/report_builder.h"

namespace linkhealth::test {

TestServer::TestServer() {
  clock.wall_now = example_now();
  clock.steady_now = example_t();
  settings.listen = {"127.0.0.1", 0};
  settings.socket.path = directory + "/linkhealth.sock";
}

ApiContext TestServer::context() {
  ApiContext context{reports, recordings, clock, clock.steady()};
  context.history = history;
  context.actions = actions;
  return context;
}

void TestServer::publish() {
  Report report = example_report();
  SourceStatus& kernel_log = report.sources[SourceId::kKernelLog];
  kernel_log.state = SourceState::kFailing;
  kernel_log.reason = report.gaps.front().reason;
  reports.publish(std::make_shared<const Report>(std::move(report)),
                  {example_event(FaultEventKind::kOpened)},
                  {.version = "1.2.3", .loop_lateness_s = 0});
}

Result<std::unique_ptr<ApiServer>> TestServer::try_start(const ApiServerSettings& with) {
  return ApiServer::start(with, context(), log);
}

void TestServer::start() {
  auto started = try_start(settings);
  ASSERT_TRUE(started.ok()) << started.error().message;
  server = std::move(started).value();
}

}  // namespace linkhealth::test
