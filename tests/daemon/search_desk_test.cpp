// Searches that hang at a device. A test is called from within the read that hangs, so that no
// thread is needed.
#include "daemon/search_desk.h"

#include <gmock/gmock.h>

#include <functional>

#include "tests/probes/sysfs_tree.h"
#include "tests/support/fake_host.h"
#include "tests/support/manual_clock.h"

namespace linkhealth {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Milliseconds kPatience{5'000};
constexpr int kDevices = 6;

std::string device(int number) { return "mlx5_" + std::to_string(number); }

/// Calls the test before each file is read.
class HookedHost final : public Host {
 public:
  FakeHost fake;
  std::function<void(const std::string& path)> before;

  Result<std::string> read_file(const std::string& path) override {
    before(path);
    return fake.read_file(path);
  }
  Result<std::unique_ptr<HostFile>> open_file(const std::string& path) override {
    return fake.open_file(path);
  }
  Result<std::vector<std::string>> list_dir(const std::string& path) override {
    return fake.list_dir(path);
  }
  Result<std::string> resolve(const std::string& path) override { return fake.resolve(path); }
  Result<std::vector<Bytes>> netlink(int protocol, std::span<const std::byte> request) override {
    return fake.netlink(protocol, request);
  }
  Result<std::unique_ptr<HostEvents>> listen(int protocol,
                                             std::span<const std::uint32_t> groups) override {
    return fake.listen(protocol, groups);
  }
  Result<std::unique_ptr<HostEvents>> open_records(const std::string& path) override {
    return fake.open_records(path);
  }
};

class SearchDesks : public ::testing::Test {
 protected:
  using Meanwhile = std::function<void(const PortKey& job)>;

  /// One search; `meanwhile` is called once, when it comes to the files of `at`. What it found.
  std::vector<std::string> search(const std::string& at = "none", const Meanwhile& meanwhile = {}) {
    auto host = std::make_unique<HookedHost>();
    for (int i = 0; i < kDevices; ++i)
      add_nic(host->fake, {.device = device(i),
                           .netdev = "ens" + std::to_string(i) + "np0",
                           .pci = "0000:1" + std::to_string(i) + ":00.0",
                           .ifindex = i + 2});
    auto job = std::make_shared<PortKey>();
    host->before = [=, called = false](const std::string& path) mutable {
      if (called || path.find(at + "/node_guid") == std::string::npos) return;
      called = true;
      meanwhile(*job);
    };
    const ReadWorker::Job made = desk.begin(std::move(host));
    *job = made.port;
    const Reading reading = made.run();
    returned = desk.take(made.port);
    std::vector<std::string> found;
    for (const InventoryPort& port : reading.node->inventory->ports)
      found.push_back(port.id.device);
    return found;
  }
  /// One that hangs at `at`; `meanwhile` once it was left behind.
  std::vector<std::string> search_that_hangs(
      const std::string& at, const std::function<void()>& meanwhile = [] {}) {
    return search(at, [&](const PortKey& job) {
      clock.advance(kPatience);
      left = desk.hang(job);
      meanwhile();
    });
  }

  ManualClock clock;
  SearchDesk desk{clock, kPatience};
  SearchDesk::Hang left;
  SearchDesk::Return returned;
};

TEST_F(SearchDesks, OneThatHangsIsNamedAndTheNextGoesWithoutItsDevice) {
  std::vector<std::string> others;
  search_that_hangs("mlx5_3", [&] {
    EXPECT_EQ(left.where, " of mlx5_3 (node_guid)");
    EXPECT_TRUE(left.again);
    EXPECT_FALSE(desk.is_out()) << "nobody waits for it";
    others = search();
    EXPECT_TRUE(returned.use);
  });
  EXPECT_THAT(others, ElementsAre("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_4", "mlx5_5"));
  EXPECT_FALSE(returned.use) << "what it found is of before";
  EXPECT_TRUE(returned.again) << "the device answers";
  EXPECT_EQ(search().size(), 6U);
  EXPECT_TRUE(returned.use);
}

TEST_F(SearchDesks, OneThatIsMerelySlowIsWaitedFor) {
  search("mlx5_1", [&](const PortKey&) { clock.advance(kPatience); });
  EXPECT_EQ(search("mlx5_5",
                   [&](const PortKey& job) {
                     clock.advance(kPatience / 3);
                     const SearchDesk::Hang slow = desk.hang(job);
                     EXPECT_EQ(slow.where, "");
                     EXPECT_FALSE(slow.again);
                     EXPECT_TRUE(desk.is_out());
                   })
                .size(),
            6U);
  EXPECT_TRUE(returned.use);
}

TEST_F(SearchDesks, AFewDevicesMayHangAndNoMore) {
  std::function<void(int)> hang_at = [&](int number) {
    search_that_hangs(device(number), [&] {
      EXPECT_EQ(left.again, number < static_cast<int>(SearchDesk::kMaxLeftBehind)) << number;
      EXPECT_NE(left.where, "") << "named all the same";
      EXPECT_EQ(desk.is_out(), !left.again);
      if (left.again) hang_at(number + 1);
    });
  };
  hang_at(0);
}

TEST_F(SearchDesks, ADeviceThatIsLateAgainAndAgainRests) {
  search_that_hangs("mlx5_0");
  EXPECT_TRUE(returned.again);
  EXPECT_THAT(desk.resting(), IsEmpty());
  search_that_hangs("mlx5_0");
  EXPECT_FALSE(returned.again);
  EXPECT_THAT(desk.resting(),
              ElementsAre("mlx5_0 is left out for a while: it answers too late again and again"));
  EXPECT_EQ(search().size(), 5U);
  clock.advance(Milliseconds(60'000));
  EXPECT_EQ(search().size(), 6U) << "it answers in time";
  EXPECT_THAT(desk.resting(), IsEmpty());
  search_that_hangs("mlx5_0");
  EXPECT_TRUE(returned.again) << "its past is forgotten";
}

}  // namespace
}  // namespace linkhealth
