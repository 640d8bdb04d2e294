// A real server over a report that a test gave it: loopback TCP on a free port, a Unix socket in a
// directory of its own.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "daemon/server.h"

namespace linkhealth::test {

class FixedClock : public Clock {
 public:
  std::atomic<SteadyTime> steady_now{SteadyTime()};  // a test moves it while the server looks
  std::atomic<WallTime> wall_now{WallTime()};
  mutable std::atomic<std::size_t> looks = 0;  // a server that spins looks again and again
  [[nodiscard]] SteadyTime steady() const override {
    ++looks;
    return steady_now;
  }
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
  RecordingTap tap;
  ServerSettings settings;
  std::unique_ptr<Server> server;
  std::vector<std::thread> lenders;  ///< where the server has no thread of its own
  std::atomic<bool> lending = true;

  /// Publishes the example report.
  void publish();
  /// Starts answering; two threads are lent where the settings want that. Fails the test when it
  /// can't.
  void start();
};

}  // namespace linkhealth::test
