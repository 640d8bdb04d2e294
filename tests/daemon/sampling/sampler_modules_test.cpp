// What the sampler makes of what the module reader finds: events of the cage, and the name of a
// read that hangs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <poll.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "daemon/sampling/sampler.h"
#include "probes/netlink/netlink_message.h"
#include "tests/probes/module/fake_module.h"
#include "tests/probes/netlink/netlink_fixtures.h"
#include "tests/probes/sysfs/sysfs_tree.h"
#include "tests/support/manual_clock.h"
#include "tests/support/shared_host.h"

namespace linkhealth {
namespace {

using testing::add_nic;
using testing::FakeHost;
using testing::FakeModule;
using testing::LockedHost;
using testing::ManualClock;
using testing::Nic;
using testing::SharedHost;

/// The cage of one port: a module that a test exchanges, pulls or makes hang, and its answers as
/// netlink has them.
class Cage {
 public:
  template <typename Change>
  void change(Change apply) {
    const std::lock_guard lock(mutex_);
    apply(module_);
  }
  void hang(bool hangs) {
    const std::lock_guard lock(mutex_);
    hangs_ = hangs;
    changed_.notify_all();
  }
  /// Whether the reader is in a read that hangs.
  bool is_hanging() {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }
  Result<std::vector<Bytes>> answer(std::span<const std::byte> request) {
    const auto asked = parse_genl_message(request, ETHTOOL_MSG_MODULE_EEPROM_GET);
    if (!asked) return std::vector<Bytes>{testing::captured("up_family")};
    std::unique_lock lock(mutex_);
    waiting_ = hangs_;
    changed_.wait(lock, [this] { return !hangs_; });
    waiting_ = false;
    const auto u8 = [&](std::uint16_t type) { return (*asked)[type].u8().value_or(0); };
    const auto u32 = [&](std::uint16_t type) {
      return static_cast<std::uint8_t>((*asked)[type].u32().value_or(0));
    };
    const auto bytes =
        module_.read({u8(ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS), u8(ETHTOOL_A_MODULE_EEPROM_BANK),
                      u8(ETHTOOL_A_MODULE_EEPROM_PAGE), u32(ETHTOOL_A_MODULE_EEPROM_OFFSET),
                      u32(ETHTOOL_A_MODULE_EEPROM_LENGTH)});
    if (!bytes) return bytes.error();
    const genlmsghdr head{ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY, 1, 0};
    return std::vector<Bytes>{
        NetlinkBuilder(0x14, 0)
            .header(head)
            .put(ETHTOOL_A_MODULE_EEPROM_DATA, std::as_bytes(std::span(*bytes)))
            .bytes()};
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  FakeModule module_;
  bool hangs_ = false;
  bool waiting_ = false;
};

class DaemonSamplerModules : public ::testing::Test {
 protected:
  void SetUp() override {
    nic.device = "mlx5_0";
    shared->change([&](FakeHost& host) { add_nic(host, nic); });
    auto host = std::make_unique<FakeHost>();
    host->set_responder(
        [cage = cage](int, std::span<const std::byte> request) { return cage->answer(request); });
    auto reader = std::make_unique<ModuleReader>(std::move(host), clock, module_timing(settings));
    modules = reader.get();
    sampler = std::make_unique<Sampler>([this] { return std::make_unique<LockedHost>(shared); },
                                        std::move(reader), clock, settings, RecordingHeader{});
  }
  void TearDown() override { cage->hang(false); }

  void take(Snapshot& all) {
    if (auto snapshot = sampler->poll()) {
      all.events.insert(all.events.end(), snapshot->events.begin(), snapshot->events.end());
      const auto port = snapshot->ports.find("mlx5_0/1");
      if (port == snapshot->ports.end()) return;
      if (port->second.module) all.ports["mlx5_0/1"].module = port->second.module;
      if (!port->second.sources) return;
      const auto module = port->second.sources->find(SourceId::kModule);
      module_problem = module == port->second.sources->end() ? "" : module->second.reason;
    }
  }
  /// Time does not pass while a module is read, unless a test wants that: no read takes long by
  /// accident.
  enum class Time : std::uint8_t { kStopsForReads, kPasses };
  /// Lets time pass and polls until `done`; the limit is only for a test that has failed.
  template <typename Done>
  Snapshot poll_until(Done done, Time time = Time::kStopsForReads) {
    Snapshot all;
    for (int tries = 0; tries < 6'000; ++tries) {
      take(all);
      if (done(all)) return all;
      pass(time, Milliseconds(1000));
    }
    ADD_FAILURE() << "it never came";
    return all;
  }
  void pass(Time time, Milliseconds step) {
    if (time == Time::kPasses || !modules->busy()) {
      clock.advance(step);
      modules->request("mlx5_0/1");  // wakes the reader: the clock that it sleeps by is not ours
    }
    pollfd wanted{modules->event_fd(), POLLIN, 0};
    ::poll(&wanted, 1, 5);
  }
  Snapshot until_module(const std::string& serial) {
    return poll_until([&](const Snapshot& seen) {
      const auto port = seen.ports.find("mlx5_0/1");
      return port != seen.ports.end() && port->second.module &&
             port->second.module->serial == serial;
    });
  }
  static std::vector<PortEventKind> module_events(const Snapshot& snapshot) {
    std::vector<PortEventKind> all;
    for (const PortEvent& event : snapshot.events)
      if (event.kind == PortEventKind::kModuleInserted ||
          event.kind == PortEventKind::kModuleRemoved) {
        EXPECT_EQ(event.port, "mlx5_0/1");
        all.push_back(event.kind);
      }
    return all;
  }
  std::shared_ptr<SharedHost> shared = std::make_shared<SharedHost>();
  std::shared_ptr<Cage> cage = std::make_shared<Cage>();  // a read that hangs outlives the test
  ManualClock clock;
  SamplerSettings settings;
  Nic nic;
  ModuleReader* modules = nullptr;
  std::string module_problem;  ///< what the module's source says now
  std::unique_ptr<Sampler> sampler;
};

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(DaemonSamplerModules, AModuleThatIsThereFromTheStartIsReadAndIsNoEvent) {
  const Snapshot seen = until_module("SN000001");
  EXPECT_THAT(module_events(seen), IsEmpty());
  EXPECT_EQ(module_problem, "");
  EXPECT_EQ(seen.ports.at("mlx5_0/1").module->temperature_c, 35.0);
}

TEST_F(DaemonSamplerModules, AnExchangedModuleIsRemovedAndInserted) {
  until_module("SN000001");
  cage->change([](FakeModule& module) { module.set_serial("SN000002"); });
  const Snapshot exchanged = until_module("SN000002");
  ASSERT_THAT(module_events(exchanged),
              ElementsAre(PortEventKind::kModuleRemoved, PortEventKind::kModuleInserted));
  std::vector<std::string> words;
  for (const PortEvent& event : exchanged.events) words.push_back(event.text);
  EXPECT_THAT(words, ::testing::IsSupersetOf({"serial SN000001", "serial SN000002"}));
  clock.advance(settings.module_period);
  EXPECT_THAT(module_events(until_module("SN000002")), IsEmpty()) << "said once";
}

TEST_F(DaemonSamplerModules,
       OneThatWasExchangedWhileItsInterfaceBecameAnotherIsRemovedAndInserted) {
  until_module("SN000001");
  cage->change([](FakeModule& module) { module.set_serial("SN000002"); });
  shared->change([&](FakeHost& host) { host.set(nic.netdev_dir() + "/ifindex", "77\n"); });
  clock.advance(settings.rescan_period);
  EXPECT_THAT(module_events(until_module("SN000002")),
              ElementsAre(PortEventKind::kModuleRemoved, PortEventKind::kModuleInserted));
}

TEST_F(DaemonSamplerModules, OneThatWasExchangedBetweenTwoRunsIsRemovedAndInserted) {
  sampler->remember_modules({{nic.pci + "/1", "SN000000"}});
  const Snapshot seen = until_module("SN000001");
  ASSERT_THAT(module_events(seen),
              ElementsAre(PortEventKind::kModuleRemoved, PortEventKind::kModuleInserted));
  std::vector<std::string> words;
  for (const PortEvent& event : seen.events) words.push_back(event.text);
  EXPECT_THAT(words, ::testing::IsSupersetOf({"serial SN000000", "serial SN000001"}));
  clock.advance(settings.module_period);
  EXPECT_THAT(module_events(until_module("SN000001")), IsEmpty()) << "said once";
}

TEST_F(DaemonSamplerModules, TheSameOneAsInTheEarlierRunIsNoEvent) {
  sampler->remember_modules({{nic.pci + "/1", "SN000001"}, {"0000:ff:00.0/1", "SN000000"}});
  EXPECT_THAT(module_events(until_module("SN000001")), IsEmpty());
}

TEST_F(DaemonSamplerModules, APulledModuleIsRemovedAndOnePutInIsInserted) {
  until_module("SN000001");
  cage->change([](FakeModule& module) { module.all_errno = ENODEV; });
  const Snapshot pulled = until_module("");
  EXPECT_THAT(module_events(pulled), ElementsAre(PortEventKind::kModuleRemoved));
  EXPECT_FALSE(pulled.ports.at("mlx5_0/1").module->present);
  EXPECT_EQ(module_problem, "") << "an empty cage is seen, not unreadable";
  cage->change([](FakeModule& module) { module.all_errno = 0; });
  EXPECT_THAT(module_events(until_module("SN000001")), ElementsAre(PortEventKind::kModuleInserted));
}

TEST_F(DaemonSamplerModules, AModuleThatCannotBeReadIsAGapAndNoEvent) {
  until_module("SN000001");
  cage->change([](FakeModule& module) { module.all_errno = EBUSY; });
  const Snapshot seen = poll_until([this](const Snapshot&) { return !module_problem.empty(); });
  EXPECT_EQ(module_problem, "EBUSY");
  EXPECT_THAT(module_events(seen), IsEmpty());
}

// Firmware is written into a module over the very bus that it is read by.
TEST_F(DaemonSamplerModules, AModuleThatIsToBeLeftAloneIsNotRead) {
  until_module("SN000001");
  sampler->leave_modules({"mlx5_0/1"});
  poll_until([this](const Snapshot&) { return !module_problem.empty(); });
  std::size_t reads = 0;
  cage->change([&](FakeModule& module) { reads = module.reads.size(); });
  for (int i = 0; i < 20; ++i) {
    pass(Time::kPasses, settings.module_period);
    sampler->leave_modules({"mlx5_0/1"});
    Snapshot more;
    take(more);
    EXPECT_EQ(module_problem, "not read during maintenance");
  }
  cage->change([&](FakeModule& module) {
    EXPECT_EQ(module.reads.size(), reads);
    module.set_serial("SN000001");
  });
  sampler->leave_modules({});
  until_module("SN000001");
  EXPECT_EQ(module_problem, "") << "read as soon as it may be";
}

TEST_F(DaemonSamplerModules, AReadThatHangsLongerThanThePatienceIsNamedWhileItDoes) {
  until_module("SN000001");
  cage->hang(true);
  for (int tries = 0; tries < 6'000 && !cage->is_hanging(); ++tries)
    pass(Time::kStopsForReads, Milliseconds(100));
  ASSERT_TRUE(cage->is_hanging());
  clock.advance(modules->busy()->since + settings.read_patience - Milliseconds(1) - clock.steady());
  Snapshot early;
  take(early);
  EXPECT_EQ(module_problem, "") << "patience is not over";
  clock.advance(Milliseconds(1));
  Snapshot named;
  take(named);
  EXPECT_EQ(module_problem, "no answer within 5 s")
      << "that a read hangs is worth a snapshot of its own";
  for (int i = 0; i < 20; ++i) {
    pass(Time::kPasses, Milliseconds(1000));
    take(named);
    EXPECT_EQ(module_problem, "no answer within 5 s");
  }
  EXPECT_THAT(module_events(named), IsEmpty());
  cage->hang(false);
  clock.advance(module_timing(settings).longest_wait);  // slow modules are left alone for a while
  until_module("SN000001");
  EXPECT_EQ(module_problem, "");
}

/// A kernel whose driver says of the port's link, in a word of its own, what `state` is now.
std::function<Result<std::vector<Bytes>>(int, std::span<const std::byte>)> driver_that_says(
    std::shared_ptr<std::atomic<int>> state) {
  return [state = std::move(state)](
             int protocol, std::span<const std::byte> request) -> Result<std::vector<Bytes>> {
    if (protocol != NETLINK_GENERIC) return Error{"not here", EOPNOTSUPP};
    const auto head = parse_genl_message(request, CTRL_CMD_GETFAMILY);
    if (head) return std::vector<Bytes>{testing::captured("up_family")};
    if (!parse_genl_message(request, ETHTOOL_MSG_LINKSTATE_GET))
      return Error{"not here", EOPNOTSUPP};
    NetlinkBuilder answer(0x14, 0);
    answer.header(genlmsghdr{ETHTOOL_MSG_LINKSTATE_GET_REPLY, 1, 0})
        .open_nest(ETHTOOL_A_LINKSTATE_HEADER)
        .put_u32(ETHTOOL_A_HEADER_DEV_INDEX, 2)
        .close_nest()
        .put_u8(ETHTOOL_A_LINKSTATE_LINK, 0);
    if (*state >= 0)
      answer.put_u8(ETHTOOL_A_LINKSTATE_EXT_STATE, static_cast<std::uint8_t>(state->load()));
    return std::vector<Bytes>{answer.bytes()};
  };
}

TEST_F(DaemonSamplerModules, TheRemovalOfOneWithoutASerialNumberNamesNoOther) {
  until_module("SN000001");
  cage->change([](FakeModule& module) { module.set_serial(""); });
  poll_until([](const Snapshot& all) { return module_events(all).size() == 2; });
  cage->change([](FakeModule& module) { module.all_errno = ENODEV; });
  const Snapshot pulled =
      poll_until([](const Snapshot& all) { return !module_events(all).empty(); });
  for (const PortEvent& event : pulled.events)
    EXPECT_EQ(event.kind == PortEventKind::kModuleRemoved ? event.text : "", "");
}

// mlx5 before 6.19 answers EIO for an empty cage and writes a line into the kernel's log each time.
TEST_F(DaemonSamplerModules, AnEmptyCageIsLeftAloneWhileTheDriverSaysThatNoCableIsIn) {
  const auto state = std::make_shared<std::atomic<int>>(ETHTOOL_LINK_EXT_STATE_NO_CABLE);
  shared->change([&](FakeHost& host) { host.set_responder(driver_that_says(state)); });
  cage->change([](FakeModule& module) { module.all_errno = EIO; });
  Snapshot seen;
  // Nothing but the searches for ports wakes the reader: an event would have it look once more.
  const auto pass_periods = [&](int periods) {
    for (int i = 0; i < periods; ++i) {
      clock.advance(settings.counters_period);
      for (int tries = 0; tries < 20; ++tries) {
        take(seen);
        pollfd wanted{modules->event_fd(), POLLIN, 0};
        ::poll(&wanted, 1, 1);
      }
    }
  };
  const auto is_empty = [&seen] {
    return seen.ports.contains("mlx5_0/1") && !seen.ports["mlx5_0/1"].module->present;
  };
  for (int i = 0; i < 1000 && !is_empty(); ++i) pass_periods(1);
  ASSERT_TRUE(is_empty());
  std::size_t looks = 0;
  cage->change([&](FakeModule& module) { looks = module.reads.size(); });
  pass_periods(60);
  cage->change([&](FakeModule& module) {
    EXPECT_EQ(module.reads.size(), looks) << "ten minutes";
    module.all_errno = 0;
  });
  *state = ETHTOOL_LINK_EXT_STATE_AUTONEG;
  EXPECT_THAT(module_events(until_module("SN000001")), ElementsAre(PortEventKind::kModuleInserted));
}

}  // namespace
}  // namespace linkhealth
