// The module reader's thread: starts reads, blocks no other thread, survives a read that hangs.
#include "probes/module/module_reader.h"

#include <gtest/gtest.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <poll.h>

#include <atomic>
#include <cerrno>
#include <future>

#include "probes/netlink/netlink_message.h"
#include "tests/probes/netlink/netlink_fixtures.h"
#include "tests/support/fake_host.h"

namespace linkhealth {
namespace {

using testing::captured;
using testing::FakeHost;

class ManualClock final : public Clock {
 public:
  [[nodiscard]] SteadyTime steady() const override { return SteadyTime(Milliseconds(now_ms_)); }
  [[nodiscard]] WallTime wall() const override { return WallTime(Milliseconds(now_ms_)); }
  void advance(Milliseconds by) { now_ms_ += by.count(); }

 private:
  std::atomic<std::int64_t> now_ms_{1'000'000};
};

bool is_module_read(std::span<const std::byte> request) {
  return parse_genl_message(request, ETHTOOL_MSG_MODULE_EEPROM_GET).ok();
}

/// Waits for the event descriptor; the limit is only for a test that has failed.
bool wait_readable(int fd) {
  pollfd poll_fd{fd, POLLIN, 0};
  return poll(&poll_fd, 1, 30'000) == 1;
}

bool is_readable(int fd) {
  pollfd poll_fd{fd, POLLIN, 0};
  return poll(&poll_fd, 1, 0) == 1;
}

std::unique_ptr<FakeHost> host_that(std::function<Result<std::vector<Bytes>>()> on_read) {
  auto host = std::make_unique<FakeHost>();
  host->set_responder(
      [on_read](int, std::span<const std::byte> request) -> Result<std::vector<Bytes>> {
        if (is_module_read(request)) return on_read();
        return std::vector<Bytes>{captured("up_family")};
      });
  return host;
}

TEST(ModuleReader, AFinishedRoundMakesTheDescriptorReadable) {
  ManualClock clock;
  ModuleReader reader(host_that([]() -> Result<std::vector<Bytes>> {
                        return Error{"empty cage", ENODEV};
                      }),
                      clock, {});
  EXPECT_FALSE(is_readable(reader.event_fd()));
  reader.set_ports({{"mlx5_0/1", 2}});
  ASSERT_TRUE(wait_readable(reader.event_fd()));
  const auto rounds = reader.collect_rounds();
  ASSERT_EQ(rounds.size(), 1U);
  ASSERT_TRUE(rounds.front().sample);
  EXPECT_FALSE(rounds.front().sample->present);
  EXPECT_FALSE(is_readable(reader.event_fd()));
  EXPECT_FALSE(reader.busy());
}

TEST(ModuleReader, ARequestWakesIt) {
  ManualClock clock;
  ModuleReader reader(host_that([]() -> Result<std::vector<Bytes>> {
                        return Error{"none", EOPNOTSUPP};
                      }),
                      clock, {});
  reader.set_ports({{"mlx5_0/1", 2}});
  ASSERT_TRUE(wait_readable(reader.event_fd()));
  EXPECT_TRUE(reader.collect_rounds().front().gap);
  clock.advance(Milliseconds{5000});
  reader.request("mlx5_0/1");
  ASSERT_TRUE(wait_readable(reader.event_fd()));
  EXPECT_TRUE(reader.collect_rounds().front().gap);
}

TEST(ModuleReader, AKernelWithoutEthtoolNetlinkHasNoModuleInterface) {
  ManualClock clock;
  auto host = std::make_unique<FakeHost>();
  host->set_responder([](int, std::span<const std::byte>) -> Result<std::vector<Bytes>> {
    return Error{"no family", ENOENT};
  });
  ModuleReader reader(std::move(host), clock, {});
  reader.set_ports({{"eth0", 2}});
  ASSERT_TRUE(wait_readable(reader.event_fd()));
  EXPECT_EQ(reader.collect_rounds().front().gap->reason,
            "EOPNOTSUPP: the driver has no module interface");
}

TEST(ModuleReader, AReadThatHangsIsNamedAndBlocksNoOtherThread) {
  ManualClock clock;
  auto entered = std::make_shared<std::promise<void>>();
  auto release = std::make_shared<std::promise<void>>();
  auto left = std::make_shared<std::promise<void>>();
  const std::shared_future<void> released = release->get_future().share();
  {
    ModuleReader reader(host_that([entered, released, left]() -> Result<std::vector<Bytes>> {
                          entered->set_value();
                          released.wait();
                          left->set_value();
                          return Error{"too late", EIO};
                        }),
                        clock, {});
    reader.set_ports({{"mlx5_0/1", 2}});
    entered->get_future().wait();
    const SteadyTime begun = clock.steady();
    clock.advance(Milliseconds{12'900});
    ASSERT_TRUE(reader.busy());
    EXPECT_EQ(reader.busy()->port, "mlx5_0/1");
    EXPECT_EQ(reader.busy()->since, begun);
    EXPECT_TRUE(reader.collect_rounds().empty());
    reader.set_ports({});
  }  // ends though the read has not
  release->set_value();
  left->get_future().wait();
}

TEST(ModuleReader, StopsAtOnceWhenIdle) {
  ManualClock clock;
  ModuleReader idle(std::make_unique<FakeHost>(), clock, {});
  ModuleReader never_used(std::make_unique<FakeHost>(), clock, {});
  idle.set_ports({});
  EXPECT_TRUE(idle.collect_rounds().empty());
}

}  // namespace
}  // namespace linkhealth
