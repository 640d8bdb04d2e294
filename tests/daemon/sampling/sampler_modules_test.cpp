// What the sampler makes of the module reader's rounds: module events, and reads that hang.
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "probes/netlink/netlink_message.h"
#include "tests/daemon/sampling/sampler_fixture.h"
#include "tests/probes/module/fake_module.h"
#include "tests/probes/netlink/netlink_fixtures.h"

namespace linkhealth {
namespace {

using ::testing::ElementsAre;
using testing::FakeHost;
using testing::FakeModule;
using ::testing::IsEmpty;
using testing::Nic;

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

class DaemonSamplerModules : public testing::SamplerFixture {
 protected:
  void SetUp() override {
    has_second = false;
    SamplerFixture::SetUp();
    auto host = std::make_unique<FakeHost>();
    host->set_responder(
        [cage = cage](int, std::span<const std::byte> request) { return cage->answer(request); });
    auto reader = std::make_unique<ModuleReader>(std::move(host), clock, module_timing(settings));
    modules = reader.get();
    start(std::move(reader));
  }
  void TearDown() override { cage->hang(false); }

  /// What the module's source reports now; "" when it is ok.
  [[nodiscard]] std::string module_problem() const {
    const auto port = ever.ports.find("mlx5_0/1");
    if (port == ever.ports.end() || !port->second.sources) return "";
    const auto module = port->second.sources->find(SourceId::kModule);
    return module == port->second.sources->end() ? "" : module->second.reason;
  }
  /// Time does not pass while a module is read, unless a test wants that: no read takes long by
  /// accident.
  enum class Time : std::uint8_t { kStopsForReads, kPasses };
  /// Lets time pass and polls until `done`; the limit is only for a test that has failed. `all` has
  /// what came.
  template <typename Done>
  Snapshot poll_until(Done done) {
    all = Snapshot{};
    for (int tries = 0; tries < 6'000; ++tries) {
      poll();
      if (done(all)) return all;
      pass(Time::kStopsForReads, Milliseconds(1000));
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
    std::vector<PortEventKind> kinds;
    for (const PortEvent& event : snapshot.events)
      if (event.kind == PortEventKind::kModuleInserted ||
          event.kind == PortEventKind::kModuleRemoved)
        kinds.push_back(event.kind);
    return kinds;
  }
  /// The module was exchanged: both events, each with its serial number.
  void expect_exchange(const Snapshot& seen, const std::string& from, const std::string& to) {
    EXPECT_THAT(module_events(seen),
                ElementsAre(PortEventKind::kModuleRemoved, PortEventKind::kModuleInserted));
    std::vector<std::string> texts;
    for (const PortEvent& event : seen.events) texts.push_back(event.text);
    EXPECT_THAT(texts, ::testing::IsSupersetOf({"serial " + from, "serial " + to}));
    clock.advance(settings.module_period);
    EXPECT_THAT(module_events(until_module(to)), IsEmpty()) << "once";
  }

  std::shared_ptr<Cage> cage = std::make_shared<Cage>();  // a read that hangs outlives the test
  ModuleReader* modules = nullptr;
};

TEST_F(DaemonSamplerModules, AModuleThatIsPresentAtTheStartIsNoEvent) {
  const Snapshot seen = until_module("SN000001");
  EXPECT_THAT(module_events(seen), IsEmpty());
  EXPECT_EQ(module_problem(), "");
  EXPECT_EQ(seen.ports.at("mlx5_0/1").module->temperature_c, 35.0);
}

TEST_F(DaemonSamplerModules, AnExchangedModuleIsRemovedAndInserted) {
  until_module("SN000001");
  cage->change([](FakeModule& module) { module.set_serial("SN000002"); });
  expect_exchange(until_module("SN000002"), "SN000001", "SN000002");
}

TEST_F(DaemonSamplerModules, AnExchangeWhileTheInterfaceIsCreatedAgainIsRemovedAndInserted) {
  until_module("SN000001");
  cage->change([](FakeModule& module) { module.set_serial("SN000002"); });
  set(first.netdev_dir() + "/ifindex", "77");
  clock.advance(settings.rescan_period);
  expect_exchange(until_module("SN000002"), "SN000001", "SN000002");
}

TEST_F(DaemonSamplerModules, AnExchangeBetweenTwoRunsIsRemovedAndInserted) {
  sampler->remember_modules({{first.pci + "/1", "SN000000"}});
  expect_exchange(until_module("SN000001"), "SN000000", "SN000001");
}

TEST_F(DaemonSamplerModules, TheSameOneAsInTheEarlierRunIsNoEvent) {
  sampler->remember_modules({{first.pci + "/1", "SN000001"}, {"0000:ff:00.0/1", "SN000000"}});
  EXPECT_THAT(module_events(until_module("SN000001")), IsEmpty());
}

TEST_F(DaemonSamplerModules, APulledModuleIsRemovedAndOnePutInIsInserted) {
  until_module("SN000001");
  cage->change([](FakeModule& module) { module.all_errno = ENODEV; });
  const Snapshot pulled = until_module("");
  EXPECT_THAT(module_events(pulled), ElementsAre(PortEventKind::kModuleRemoved));
  EXPECT_FALSE(pulled.ports.at("mlx5_0/1").module->present);
  EXPECT_EQ(module_problem(), "") << "an empty cage is seen, not unreadable";
  cage->change([](FakeModule& module) { module.all_errno = 0; });
  EXPECT_THAT(module_events(until_module("SN000001")), ElementsAre(PortEventKind::kModuleInserted));
}

TEST_F(DaemonSamplerModules, AModuleThatCannotBeReadIsAGapAndNoEvent) {
  until_module("SN000001");
  cage->change([](FakeModule& module) { module.all_errno = EBUSY; });
  const Snapshot seen = poll_until([this](const Snapshot&) { return !module_problem().empty(); });
  EXPECT_EQ(module_problem(), "EBUSY");
  EXPECT_THAT(module_events(seen), IsEmpty());
}

// Firmware is written into a module over the very bus that it is read by.
TEST_F(DaemonSamplerModules, AModuleInMaintenanceWithoutReadsIsNotRead) {
  until_module("SN000001");
  sampler->leave_modules({"mlx5_0/1"});
  poll_until([this](const Snapshot&) { return !module_problem().empty(); });
  std::size_t reads = 0;
  cage->change([&](FakeModule& module) { reads = module.reads.size(); });
  for (int i = 0; i < 20; ++i) {
    pass(Time::kPasses, settings.module_period);
    sampler->leave_modules({"mlx5_0/1"});
    poll();
    EXPECT_EQ(module_problem(), "not read during maintenance");
  }
  cage->change([&](FakeModule& module) {
    EXPECT_EQ(module.reads.size(), reads);
    module.set_serial("SN000001");
  });
  sampler->leave_modules({});
  until_module("SN000001");
  EXPECT_EQ(module_problem(), "") << "read as soon as it may be";
}

TEST_F(DaemonSamplerModules, AReadThatHangsLongerThanThePatienceIsReported) {
  until_module("SN000001");
  cage->hang(true);
  for (int tries = 0; tries < 6'000 && !cage->is_hanging(); ++tries)
    pass(Time::kStopsForReads, Milliseconds(100));
  ASSERT_TRUE(cage->is_hanging());
  clock.advance(modules->busy()->since + settings.read_patience - Milliseconds(1) - clock.steady());
  poll();
  EXPECT_EQ(module_problem(), "") << "patience is not over";
  clock.advance(Milliseconds(1));
  all = Snapshot{};
  poll();
  EXPECT_EQ(module_problem(), "no answer within 5 s")
      << "that a read hangs is worth a snapshot of its own";
  for (int i = 0; i < 20; ++i) {
    pass(Time::kPasses, Milliseconds(1000));
    poll();
    EXPECT_EQ(module_problem(), "no answer within 5 s");
  }
  EXPECT_THAT(module_events(all), IsEmpty());
  cage->hang(false);
  clock.advance(module_timing(settings).longest_wait);  // slow modules are left alone for a while
  until_module("SN000001");
  EXPECT_EQ(module_problem(), "");
}

/// A kernel whose driver gives `state` as the extended state of the port's link.
std::function<Result<std::vector<Bytes>>(int, std::span<const std::byte>)> driver_with_link_state(
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

TEST_F(DaemonSamplerModules, TheRemovalOfAModuleWithoutASerialNumberNamesNoOther) {
  until_module("SN000001");
  cage->change([](FakeModule& module) { module.set_serial(""); });
  poll_until([](const Snapshot& seen) { return module_events(seen).size() == 2; });
  cage->change([](FakeModule& module) { module.all_errno = ENODEV; });
  const Snapshot pulled =
      poll_until([](const Snapshot& seen) { return !module_events(seen).empty(); });
  for (const PortEvent& event : pulled.events)
    EXPECT_EQ(event.kind == PortEventKind::kModuleRemoved ? event.text : "", "");
}

// mlx5 before 6.19 answers EIO for an empty cage and writes a line into the kernel's log each time.
TEST_F(DaemonSamplerModules, AnEmptyCageIsNotReadWhileTheDriverReportsNoCable) {
  const auto state = std::make_shared<std::atomic<int>>(ETHTOOL_LINK_EXT_STATE_NO_CABLE);
  change([&](FakeHost& host) { host.set_responder(driver_with_link_state(state)); });
  cage->change([](FakeModule& module) { module.all_errno = EIO; });
  // Nothing but the searches for ports wakes the reader: an event would have it look once more.
  const auto pass_periods = [&](int periods) {
    for (int i = 0; i < periods; ++i) {
      clock.advance(settings.counters_period);
      for (int tries = 0; tries < 20; ++tries) {
        poll();
        pollfd wanted{modules->event_fd(), POLLIN, 0};
        ::poll(&wanted, 1, 1);
      }
    }
  };
  const auto is_empty = [this] {
    const auto& module = ever.ports["mlx5_0/1"].module;
    return module && !module->present;
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
