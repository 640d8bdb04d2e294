// The program as people run it: a process against a real server on a real Unix socket.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/test_server.h"

namespace linkhealth::cli {

inline std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

struct Outcome {
  int exit_code = -1;
  std::string out, err;
};

class CliTest : public ::testing::Test, protected test::TestServer {
 protected:
  /// Runs the program in an environment of nothing but `environment`.
  Outcome run(const std::string& arguments,
              const std::string& environment = "LANG=C.UTF-8 COLUMNS=100") const {
    const std::string command = "env -i ASAN_OPTIONS=detect_leaks=0 " + environment +
                                " " LINKHEALTH_PROGRAM " --socket " + settings.socket.path + " " +
                                arguments + " >" + directory + "/out 2>" + directory +
                                "/err </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_all(directory + "/out"),
            read_all(directory + "/err")};
  }
};

class CliWithDaemon : public CliTest {
 protected:
  void SetUp() override {
    settings.listen.host.clear();
    publish();
    start();
  }
};

}  // namespace linkhealth::cli
