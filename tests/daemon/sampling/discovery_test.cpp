// Discoveries that hang at a device. A test is called from within the read that hangs, so that no
// thread is needed.
#include "daemon/sampling/discovery.h"

#include <gmock/gmock.h>

#include <functional>

#include "tests/probes/sysfs/sysfs_tree.h"
#include "tests/support/manual_clock.h"
#include "tests/support/shared_host.h"

namespace linkhealth {
namespace {

using namespace testing;
using ::testing::ElementsAre;

constexpr Milliseconds kPatience{5'000};
constexpr int kDevices = 6;

std::string device(int number) { return "mlx5_" + std::to_string(number); }

class Discoveries : public ::testing::Test {
 protected:
  using Meanwhile = std::function<void(const std::string& owner)>;

  /// One discovery; `meanwhile` is called once, when it comes to the files of `at`. The devices
  /// that it found; nullopt: it had been abandoned.
  std::optional<std::vector<std::string>> discover(const std::string& at = "none",
                                                   const Meanwhile& meanwhile = {}) {
    auto shared = std::make_shared<SharedHost>();
    shared->change([](FakeHost& host) {
      for (int i = 0; i < kDevices; ++i)
        add_nic(host, {.device = device(i),
                       .netdev = "ens" + std::to_string(i) + "np0",
                       .pci = "0000:1" + std::to_string(i) + ":00.0",
                       .ifindex = i + 2});
    });
    std::optional<std::vector<std::string>> devices;
    auto job = discovery.start(std::make_unique<LockedHost>(shared),
                               [&](std::optional<Inventory> found, double) {
                                 if (!found) return;
                                 devices.emplace();
                                 for (const InventoryPort& port : found->ports)
                                   devices->push_back(port.id.device);
                               });
    // The callback must not hold the job: the job holds the host, which holds the callback.
    shared->on_read(
        [at, meanwhile, owner = job.owner, called = false](const std::string& path) mutable {
          if (called || path.find(at + "/node_guid") == std::string::npos) return;
          called = true;
          meanwhile(owner);
        });
    job.read()(0);
    return devices;
  }
  /// One that hangs at `at`; `meanwhile` once it was checked.
  std::optional<std::vector<std::string>> discover_hanging(
      const std::string& at, const std::function<void()>& meanwhile = [] {}) {
    return discover(at, [=, this](const std::string& owner) {
      clock.advance(kPatience);
      hang = discovery.check_hang(owner);
      meanwhile();
    });
  }

  ManualClock clock;
  Discovery discovery{clock, kPatience};
  Discovery::Hang hang;
};

TEST_F(Discoveries, ADiscoveryThatHangsIsReportedAndTheNextSkipsItsDevice) {
  EXPECT_FALSE(discover_hanging("mlx5_3", [&] {
    EXPECT_EQ(hang.device, "mlx5_3");
    EXPECT_TRUE(hang.abandoned_now);
    EXPECT_FALSE(discovery.is_out()) << "it is abandoned";
    EXPECT_THAT(*discover(), ElementsAre("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_4", "mlx5_5"));
  })) << "its result is outdated";
  EXPECT_EQ(discover()->size(), 6U) << "the device answers again";
}

TEST_F(Discoveries, ASlowDiscoveryIsNotAbandoned) {
  discover("mlx5_1", [&](const std::string&) { clock.advance(kPatience); });
  EXPECT_TRUE(discover("mlx5_5", [&](const std::string& owner) {
    clock.advance(kPatience / 3);
    hang = discovery.check_hang(owner);
    EXPECT_EQ(hang.device, "");
    EXPECT_FALSE(hang.abandoned_now);
    EXPECT_TRUE(discovery.is_out());
  }));
}

TEST_F(Discoveries, TheNumberOfAbandonedDiscoveriesIsLimited) {
  std::function<void(int)> hang_at = [&](int number) {
    discover_hanging(device(number), [&, number] {
      EXPECT_EQ(hang.abandoned_now, number < static_cast<int>(Discovery::kMaxAbandoned)) << number;
      EXPECT_EQ(hang.device, device(number)) << "reported in any case";
      EXPECT_EQ(discovery.is_out(), !hang.abandoned_now);
      if (hang.abandoned_now) hang_at(number + 1);
    });
  };
  hang_at(0);
}

}  // namespace
}  // namespace linkhealth
