// A real server over a report that a test gave it: loopback TCP on a free port, a Unix socket in a
// directory of its own.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "daemon/api/api_server.h"

namespace linkhealth::test {

class FixedClock : public Clock {
 public:
  std::atomic<SteadyTime> steady_now{SteadyTime()};  // a test moves it while the server reads it
  std::atomic<WallTime> wall_now{WallTime()};
  [[nodiscard]] SteadyTime steady() const override { return steady_now; }
  [[nodiscard]] WallTime wall() const override { return wall_now; }
};

struct TestServer {
  TestServer();
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  std::string directory;
  FixedClock clock;
  ReportStore reports;
  RecordingBroadcaster recordings;
  HistoryStore* history = nullptr;
  OperatorActions* actions = nullptr;
  Log log{LogLevel::kError, false};
  ApiServerSettings settings;
  std::unique_ptr<ApiServer> server;

  [[nodiscard]] ApiContext context();
  /// Publishes the example report.
  void publish();
  Result<std::unique_ptr<ApiServer>> try_start(const ApiServerSettings& with);
  /// Starts answering. Fails the test when it can't.
  void start();
};

}  // namespace linkhealth::test
