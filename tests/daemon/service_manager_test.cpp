#include "daemon/service_manager.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/owned_fd.h"
#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

class ServiceManagers : public ::testing::Test {
 protected:
  void SetUp() override {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  void TearDown() override {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) unsetenv(name);
  }
  std::string heard() {
    std::array<char, 256> bytes{};
    const auto size = recv(listener.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    return size < 0 ? "" : std::string(bytes.data(), static_cast<std::size_t>(size));
  }

  test::TempDirectory directory;
  std::string path = directory.file("notify");
  OwnedFd listener{socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

TEST_F(ServiceManagers, IsToldAndFed) {
  setenv("WATCHDOG_USEC", "30000000", 1);
  setenv("WATCHDOG_PID", std::to_string(getpid()).c_str(), 1);
  const ServiceManager manager = ServiceManager::from_environment();
  EXPECT_EQ(manager.watchdog_period(), Milliseconds(15'000));
  manager.notify("READY=1");
  EXPECT_EQ(heard(), "READY=1");
  EXPECT_EQ(heard(), "");
}

TEST_F(ServiceManagers, AWatchdogOfAnotherProcessIsNotOurs) {
  setenv("WATCHDOG_USEC", "30000000", 1);
  setenv("WATCHDOG_PID", "1", 1);
  EXPECT_EQ(ServiceManager::from_environment().watchdog_period(), std::nullopt);
}

TEST_F(ServiceManagers, WithoutAServiceManagerNothingHappens) {
  setenv("NOTIFY_SOCKET", directory.file("none").c_str(), 1);
  ServiceManager::from_environment().notify("READY=1");
  EXPECT_EQ(heard(), "");
}

}  // namespace
}  // namespace linkhealth
