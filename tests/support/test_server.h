// A real server for tests: loopback TCP on a free port, and a Unix socket in its own directory.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "daemon/api/api_server.h"
#include "tests/support/temp_directory.h"

namespace linkhealth::test {

class FixedClock : public Clock {
 public:
  std::atomic<SteadyTime> steady_now{SteadyTime()};  // a test changes it while the server reads it
  std::atomic<WallTime> wall_now{WallTime()};
  [[nodiscard]] SteadyTime steady() const override { return steady_now; }
  [[nodiscard]] WallTime wall() const override { return wall_now; }
};

struct TestServer {
  TestServer();

  TempDirectory temp;
  std::string directory = temp.path();
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
  /// Fails the test when the server cannot start.
  void start();
};

}  // namespace linkhealth::test
