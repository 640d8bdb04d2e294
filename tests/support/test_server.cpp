#include "tests/support/test_server.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>

#include <filesystem>

#include "tests/support/report_builder.h"

namespace linkhealth::test {

namespace {
std::string new_directory() {
  std::string name = ::testing::TempDir() + "linkhealthXXXXXX";
  if (mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no temporary directory";
  return name;
}
}  // namespace

TestServer::TestServer() : directory(new_directory()) {
  clock.wall_now = example_now();
  clock.steady_now = example_t();
  settings.listen = {"127.0.0.1", 0};
  settings.socket_path = directory + "/linkhealth.sock";
}

TestServer::~TestServer() {
  server.reset();
  lending = false;
  for (std::thread& lender : lenders) lender.join();
  std::filesystem::remove_all(directory);
}

void TestServer::publish() {
  reports.publish(std::make_shared<const Report>(example_report()),
                  {example_event(FaultEventKind::kOpened)},
                  {.version = "1.2.3", .loop_lateness_s = 0});
}

void TestServer::start() {
  auto started = Server::start(settings, reports, tap, clock);
  ASSERT_TRUE(started.ok()) << started.error().message;
  server = std::move(started).value();
  if (settings.thread != ServerSettings::Thread::kLent) return;
  for (int i = 0; i < 2; ++i) {
    lenders.emplace_back([this, fd = server->wake_fd(), serve = server->serving()] {
      // Outlives the server, as threads of the loop do: its descriptor is open for as long as
      // `serve`.
      while (lending)
        if (pollfd asked{fd, POLLIN, 0}; poll(&asked, 1, 10) > 0) serve();
    });
  }
}

}  // namespace linkhealth::test
