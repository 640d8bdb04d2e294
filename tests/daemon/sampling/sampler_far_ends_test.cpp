// What the sampler makes of the far ends: samples, gaps and other people's readings of this end's
// module.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>

#include "daemon/sampling/sampler.h"
#include "probes/netlink/netlink_message.h"
#include "tests/daemon/sampling/merged_snapshot.h"
#include "tests/probes/netlink/netlink_fixtures.h"
#include "tests/probes/sysfs/sysfs_tree.h"
#include "tests/support/manual_clock.h"
#include "tests/support/shared_host.h"

namespace linkhealth {
namespace {

using testing::add_nic;
using testing::FakeHost;
using testing::LockedHost;
using testing::ManualClock;
using testing::Nic;
using testing::SharedHost;

/// What a test makes a source say; shared with the source's thread.
struct Script {
  std::mutex mutex;
  std::vector<PeerReading> readings;
  std::map<std::string, std::vector<PortKey>> asked;  ///< by source, the ports of its last round
  void say(std::vector<PeerReading> now) {
    const std::lock_guard lock(mutex);
    readings = std::move(now);
  }
};

class ToldFarEnd final : public PeerProbe {
 public:
  ToldFarEnd(std::string name, std::shared_ptr<Script> script)
      : name_(std::move(name)), script_(std::move(script)) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  std::vector<PeerReading> read(std::span<const InventoryPort> ports, SteadyTime now) override {
    due_ = now + Milliseconds(10'000);
    const std::lock_guard lock(script_->mutex);
    std::vector<PortKey>& asked = script_->asked[name_];
    asked.clear();
    for (const InventoryPort& port : ports) asked.push_back(port.id.key());
    return script_->readings;
  }
  [[nodiscard]] SteadyTime next_due(SteadyTime /*now*/) const override { return due_; }

 private:
  std::string name_;
  std::shared_ptr<Script> script_;
  SteadyTime due_;
};

class DaemonFarEnds : public ::testing::Test {
 protected:
  void SetUp() override {
    nic.device = "mlx5_0";
    shared->change([&](FakeHost& host) { add_nic(host, nic); });
  }
  void start(const std::string& probe, std::unique_ptr<ModuleReader> modules = nullptr) {
    sampler = std::make_unique<Sampler>([this] { return std::make_unique<LockedHost>(shared); },
                                        std::move(modules), clock, settings, RecordingHeader{});
    std::vector<std::unique_ptr<PeerProbe>> probes;
    probes.push_back(std::make_unique<ToldFarEnd>(probe, script));
    sampler->watch_far_ends(
        std::make_unique<FarEnds>(std::move(probes), clock, FarEndTiming{}, plan));
  }
  /// The import says now that this end's module is `serial`.
  void import_module(const std::string& serial) {
    PeerReading said = reading();
    said.module.emplace();
    said.module->serial = serial;
    script->say({said});
  }
  [[nodiscard]] PeerReading reading() const {
    PeerReading said;
    said.port = "mlx5_0/1";
    said.read_at = clock.steady();
    said.answered = true;
    return said;
  }
  /// Polls until everything has answered.
  void settle() {
    for (bool settled = false; !settled;) {
      settled = sampler->settled();
      if (const auto snapshot = sampler->poll()) take(*snapshot);
      if (settled) break;
      std::vector<pollfd> wanted;
      for (const int fd : sampler->wake_fds()) wanted.push_back({fd, POLLIN, 0});
      ::poll(wanted.data(), wanted.size(), 1'000);
    }
  }
  /// The source is asked again; polls until `came` holds, at most a minute.
  template <typename Came>
  void next_round(Came came) {
    rounds_seen = module_read = false;
    clock.advance(settings.rescan_period);  // a search makes each source look at the clock
    constexpr int kMostPolls = 600;
    for (int polls = 0; polls < kMostPolls; ++polls) {
      if (const auto snapshot = sampler->poll()) take(*snapshot);
      if (came()) return;
      std::vector<pollfd> wanted;
      for (const int fd : sampler->wake_fds()) wanted.push_back({fd, POLLIN, 0});
      ::poll(wanted.data(), wanted.size(), 100);
    }
    FAIL() << "it did not come";
  }
  void next_round() {
    next_round([this] { return rounds_seen; });
  }
  /// A module reader whose ethtool fails as `module_errnum` says; ENODEV is a good answer: the cage
  /// is empty.
  [[nodiscard]] std::unique_ptr<ModuleReader> module_reader() const {
    auto host = std::make_unique<FakeHost>();
    host->set_responder([errnum = module_errnum](int, std::span<const std::byte> request) {
      if (parse_genl_message(request, ETHTOOL_MSG_MODULE_EEPROM_GET).ok())
        return Result<std::vector<Bytes>>(Error{"no module", errnum->load()});
      return Result<std::vector<Bytes>>(std::vector<Bytes>{testing::captured("up_family")});
    });
    ModuleTiming timing = module_timing(settings);
    timing.absent_period = timing.period;  // looked at in each round, as next_round() wants it
    return std::make_unique<ModuleReader>(std::move(host), clock, timing);
  }
  /// What sources give a reason for now: "import: …".
  [[nodiscard]] std::vector<std::string> gaps() const {
    std::vector<std::string> words;
    for (const Gap& gap : testing::all_gaps(ever)) words.push_back(gap.probe + ": " + gap.reason);
    return words;
  }
  [[nodiscard]] bool has_gap(const std::string& text) const {
    const auto all = gaps();
    return std::ranges::find(all, text) != all.end();
  }
  void take(const Snapshot& snapshot) {
    if (const auto at = snapshot.ports.find("mlx5_0/1"); at != snapshot.ports.end()) {
      rounds_seen = rounds_seen || at->second.peer.has_value() || at->second.module.has_value();
      if (at->second.peer) peer = at->second.peer;
      if (at->second.module) module = at->second.module;
      module_read = module_read || at->second.module.has_value();
    }
    for (const PortEvent& event : snapshot.events)
      if (event.kind == PortEventKind::kModuleRemoved ||
          event.kind == PortEventKind::kModuleInserted)
        module_events.push_back(event.kind);
    testing::merge_snapshot(snapshot, ever);
  }

  std::shared_ptr<SharedHost> shared = std::make_shared<SharedHost>();
  ManualClock clock;
  SamplerSettings settings = [] {
    SamplerSettings often;
    often.rescan_period = Milliseconds(60'000);
    return often;
  }();
  Nic nic;
  std::shared_ptr<Script> script = std::make_shared<Script>();
  std::shared_ptr<std::atomic<int>> module_errnum = std::make_shared<std::atomic<int>>(ENODEV);
  std::map<PortKey, ExpectedPort> plan;
  std::unique_ptr<Sampler> sampler;
  std::optional<PeerSample> peer;
  std::optional<ModuleSample> module;
  Snapshot ever;
  std::vector<PortEventKind> module_events;
  bool rounds_seen = false;
  bool module_read = false;  ///< in this round. A read that is out when the time goes on has taken
                             ///< that long, and rests
};

TEST_F(DaemonFarEnds, TheFarEndStandsInTheSnapshot) {
  PeerReading said = reading();
  said.peer.emplace();
  said.peer->source = "lldp";
  said.peer->system = "leaf-12";
  script->say({said});
  start("peer_lldp");
  settle();
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->system, "leaf-12");
  EXPECT_EQ(peer->age_s, 0.0);
}

// Each leaves out what it does not ask about; an import that names an exempt port is no mistake.
TEST_F(DaemonFarEnds, EveryProbeIsToldOfExemptPorts) {
  std::vector<std::unique_ptr<PeerProbe>> probes;
  for (const char* name : {"peer_mad", "import"})
    probes.push_back(std::make_unique<ToldFarEnd>(name, script));
  FarEnds far_ends(std::move(probes), clock, {}, {});
  std::vector<InventoryPort> ports(2);
  ports[0].id.device = "mlx5_0";
  ports[1].id.device = "mlx5_1";
  ports[1].exempt_reason = "manages the machine's NVSwitches";
  far_ends.set_ports(ports);
  for (const int fd : far_ends.wake_fds()) {
    pollfd wanted{fd, POLLIN, 0};
    ASSERT_EQ(::poll(&wanted, 1, 10'000), 1);
  }
  const std::lock_guard lock(script->mutex);
  for (const char* name : {"peer_mad", "import"})
    EXPECT_EQ(script->asked[name], (std::vector<PortKey>{"mlx5_0/1", "mlx5_1/1"})) << name;
}

TEST_F(DaemonFarEnds, ThePlanNamesItWhereNobodyElseDoes) {
  plan["mlx5_0/1"].peer_system = "leaf-7";
  start("peer_lldp");
  settle();
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->source, "plan");
  EXPECT_EQ(peer->system, "leaf-7");
}

TEST_F(DaemonFarEnds, AReloadGivesThePlanAnotherName) {
  plan["mlx5_0/1"].peer_system = "leaf-7";
  start("peer_lldp");
  settle();
  ASSERT_TRUE(peer);
  plan["mlx5_0/1"].peer_system = "leaf-8";
  sampler->expect(plan, plan);
  EXPECT_EQ(sampler->header().expected.at("mlx5_0/1").peer_system, "leaf-8")
      << "recordings begin with what is in force";
  next_round([this] { return peer->system == "leaf-8"; });
}

TEST_F(DaemonFarEnds, ASourceThatCannotBeReadAtAllIsTheNodes) {
  PeerReading said;
  said.gaps.push_back({"", "peer_lldp", "no socket"});
  script->say({said});
  start("peer_lldp");
  settle();
  EXPECT_EQ(ever.sources->at(SourceId::kPeerLldp).reason, "no socket");
}

TEST_F(DaemonFarEnds, AnImportedModuleIsTakenWhereEthtoolGivesNone) {
  PeerReading said = reading();
  said.module.emplace();
  said.module->serial = "MT2301X00001";
  script->say({said});
  start("import");
  settle();
  ASSERT_TRUE(module);
  EXPECT_EQ(module->serial, "MT2301X00001");
}

// On an InfiniBand port an import is the only way to a module.
TEST_F(DaemonFarEnds, AnImportedModuleThatIsExchangedIsAnEvent) {
  using enum PortEventKind;
  import_module("S1");
  start("import");
  settle();
  ASSERT_TRUE(module);
  EXPECT_THAT(module_events, ::testing::IsEmpty()) << "the first that is known";
  const auto next_module = [&](const std::string& serial, bool present = true) {
    module_events.clear();
    module = {};
    PeerReading said = reading();
    said.module.emplace();
    said.module->serial = serial;
    said.module->present = present;
    script->say({said});
    next_round([this] { return module.has_value(); });
  };
  next_module("S2");
  EXPECT_THAT(module_events, ::testing::ElementsAre(kModuleRemoved, kModuleInserted));
  next_module("", false);
  EXPECT_THAT(module_events, ::testing::ElementsAre(kModuleRemoved));
  next_module("S2");
  EXPECT_THAT(module_events, ::testing::ElementsAre(kModuleInserted))
      << "the same one, put in again";
}

TEST_F(DaemonFarEnds, AnImportedModuleThatWasExchangedBetweenTwoRunsIsAnEvent) {
  import_module("S1");
  start("import");
  sampler->remember_modules({{nic.pci + "/1", "S0"}});
  settle();
  EXPECT_THAT(module_events, ::testing::ElementsAre(PortEventKind::kModuleRemoved,
                                                    PortEventKind::kModuleInserted));
}

TEST_F(DaemonFarEnds, AnImportedModuleFromBeforeTheLinkChangedIsNotTaken) {
  start("import");
  settle();
  PeerReading said = reading();
  said.module.emplace();
  said.module->serial = "OLD";
  clock.advance(settings.link_period);
  shared->change([&](FakeHost& host) {
    host.set(nic.netdev_dir() + "/carrier", "0\n");
    host.set(nic.netdev_dir() + "/carrier_down_count", "3\n");
  });
  ASSERT_TRUE(sampler->poll());
  PeerReading with_peer = said;  // so that the test sees when the round has come
  with_peer.peer.emplace();
  with_peer.peer->source = "telemetry";
  with_peer.peer->system = "leaf-12";
  script->say({with_peer});
  next_round();
  ASSERT_TRUE(peer);
  EXPECT_FALSE(module);
  const std::string refused =
      "import: its module was read before the link's last change: the next reading of it counts";
  EXPECT_TRUE(has_gap(refused)) << "it is not dropped without a word";
  with_peer.module->serial = "NEW";
  with_peer.module_read_at = clock.steady();
  script->say({with_peer});
  next_round();
  ASSERT_TRUE(module);
  EXPECT_EQ(module->serial, "NEW");
  EXPECT_FALSE(has_gap(refused));
}

TEST_F(DaemonFarEnds, AnImportedModuleIsIgnoredWhereEthtoolReadsIt) {
  start("import", module_reader());
  settle();
  ASSERT_TRUE(module);
  EXPECT_FALSE(module->present);
  PeerReading said = reading();
  said.module.emplace();
  said.module->serial = "MT2301X00001";
  script->say({said});
  next_round([this] {
    return has_gap("import: its module is read through ethtool: the imported one is ignored");
  });
  EXPECT_EQ(module->serial, "") << "ethtool's reading stands";
}

TEST_F(DaemonFarEnds, AnImportedModuleThatEndsIsAGap) {
  PeerReading said = reading();
  said.module.emplace();
  said.valid_until = clock.steady() + Milliseconds(20'000);
  script->say({said});
  start("import");
  settle();
  ASSERT_TRUE(module);
  script->say({});
  next_round();
  EXPECT_THAT(gaps(), ::testing::IsSupersetOf(
                          {"import: the imported reading is past its time of validity",
                           "module: the imported reading has ended, and ethtool gives none"}));
}

TEST_F(DaemonFarEnds, AnImportOfBeforeHidesNoLaterFailureOfEthtool) {
  *module_errnum = EIO;
  import_module("MT2301X00001");
  start("import", module_reader());
  settle();
  ASSERT_TRUE(module);
  *module_errnum = ENODEV;
  next_round([this] { return !module->present; });
  *module_errnum = EIO;
  next_round([this] { return has_gap("module: EIO"); });
}

TEST_F(DaemonFarEnds, AnImportThatEndsIsNoGapWhereEthtoolReadsAgain) {
  *module_errnum = EIO;
  import_module("MT2301X00001");
  start("import", module_reader());
  settle();
  ASSERT_TRUE(module);
  *module_errnum = ENODEV;
  next_round([this] { return !module->present; });
  PeerReading with_peer = reading();  // so that the test sees when the round has come
  with_peer.peer.emplace();
  with_peer.peer->system = "leaf-12";
  script->say({with_peer});
  next_round([this] { return peer.has_value(); });
  EXPECT_FALSE(has_gap("module: the imported reading has ended, and ethtool gives none"));
}

TEST_F(DaemonFarEnds, AnImportedModuleIsTakenWhenEthtoolKeepsFailing) {
  start("import", module_reader());
  settle();
  ASSERT_TRUE(module);
  import_module("MT2301X00001");
  next_round([this] {
    return module_read &&
           has_gap("import: its module is read through ethtool: the imported one is ignored");
  });
  *module_errnum = EIO;
  for (int round = 0; round < 20 && module->serial.empty(); ++round) {
    import_module("MT2301X" + std::to_string(round));
    next_round([this] { return has_gap("module: EIO") || !module->serial.empty(); });
    settle();
  }
  EXPECT_THAT(module->serial, ::testing::StartsWith("MT2301X"));
  EXPECT_FALSE(has_gap("import: its module is read through ethtool: the imported one is ignored"));
}

}  // namespace
}  // namespace linkhealth
