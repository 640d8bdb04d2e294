// What the sampler makes of the far ends: samples, gaps and imported readings of this end's module.
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include <atomic>
#include <cerrno>
#include <mutex>

#include "probes/netlink/netlink_message.h"
#include "tests/daemon/sampling/sampler_fixture.h"
#include "tests/probes/netlink/netlink_fixtures.h"

namespace linkhealth {
namespace {

using testing::FakeHost;

/// The readings of a source; shared with its thread.
struct Script {
  std::mutex mutex;
  std::vector<PeerReading> readings;
  std::map<std::string, std::vector<PortKey>> ports;  ///< by source, those of its last round
  void set(std::vector<PeerReading> now) {
    const std::lock_guard lock(mutex);
    readings = std::move(now);
  }
};

class ScriptedFarEnd final : public PeerProbe {
 public:
  ScriptedFarEnd(std::string name, std::shared_ptr<Script> script)
      : name_(std::move(name)), script_(std::move(script)) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  std::vector<PeerReading> read(std::span<const InventoryPort> ports, SteadyTime now) override {
    due_ = now + Milliseconds(10'000);
    const std::lock_guard lock(script_->mutex);
    script_->ports[name_].clear();
    for (const InventoryPort& port : ports) script_->ports[name_].push_back(port.id.key());
    return script_->readings;
  }
  [[nodiscard]] SteadyTime next_due(SteadyTime /*now*/) const override { return due_; }

 private:
  std::string name_;
  std::shared_ptr<Script> script_;
  SteadyTime due_;
};

class DaemonFarEnds : public testing::SamplerFixture {
 protected:
  void SetUp() override {
    has_second = false;
    settings.rescan_period = Milliseconds(60'000);
    SamplerFixture::SetUp();
  }
  void start_with(const std::string& probe, std::unique_ptr<ModuleReader> modules = nullptr) {
    start(std::move(modules));
    std::vector<std::unique_ptr<PeerProbe>> probes;
    probes.push_back(std::make_unique<ScriptedFarEnd>(probe, script));
    sampler->watch_far_ends(
        std::make_unique<FarEnds>(std::move(probes), clock, FarEndTiming{}, plan));
  }
  [[nodiscard]] PeerReading reading() const {
    PeerReading made;
    made.port = "mlx5_0/1";
    made.read_at = clock.steady();
    made.answered = true;
    return made;
  }
  [[nodiscard]] PeerReading reading_of_module(const std::string& serial) const {
    PeerReading made = reading();
    made.module.emplace();
    made.module->serial = serial;
    return made;
  }
  /// From now on the import has this module at this end.
  void import_module(const std::string& serial) { script->set({reading_of_module(serial)}); }
  std::optional<PeerSample>& peer() { return ever.ports["mlx5_0/1"].peer; }
  std::optional<ModuleSample>& module() { return ever.ports["mlx5_0/1"].module; }
  /// Whether the module was read in this round. A read that is out when the clock moves has taken
  /// that long, and the reader pauses.
  bool module_read() { return all.ports["mlx5_0/1"].module.has_value(); }
  /// Polls in a new round of the source until `came` holds, at most a minute.
  template <typename Came>
  void next_round(Came came) {
    all = Snapshot{};
    clock.advance(settings.rescan_period);
    constexpr int kMostPolls = 600;
    for (int polls = 0; polls < kMostPolls; ++polls) {
      poll();
      if (came()) return;
      wait(100);
      // A module read that was out when the clock moved counts as slow, and the reader pauses.
      if (polls % 50 == 49) clock.advance(settings.rescan_period);
    }
    FAIL() << "it did not come";
  }
  void next_round() {
    next_round([this] { return module_read() || all.ports["mlx5_0/1"].peer; });
  }
  /// A module reader whose ethtool fails with `module_errnum`; ENODEV is a good answer: the cage is
  /// empty.
  [[nodiscard]] std::unique_ptr<ModuleReader> module_reader() const {
    auto host = std::make_unique<FakeHost>();
    host->set_responder([errnum = module_errnum](int, std::span<const std::byte> request) {
      if (parse_genl_message(request, ETHTOOL_MSG_MODULE_EEPROM_GET).ok())
        return Result<std::vector<Bytes>>(Error{"no module", errnum->load()});
      return Result<std::vector<Bytes>>(std::vector<Bytes>{testing::captured("up_family")});
    });
    ModuleTiming timing = module_timing(settings);
    timing.absent_period = timing.period;  // an empty cage is read in each round
    return std::make_unique<ModuleReader>(std::move(host), clock, timing);
  }
  [[nodiscard]] std::vector<PortEventKind> module_events() const {
    std::vector<PortEventKind> kinds;
    for (const PortEvent& event : all.events)
      if (event.kind == PortEventKind::kModuleRemoved ||
          event.kind == PortEventKind::kModuleInserted)
        kinds.push_back(event.kind);
    return kinds;
  }

  std::shared_ptr<Script> script = std::make_shared<Script>();
  std::shared_ptr<std::atomic<int>> module_errnum = std::make_shared<std::atomic<int>>(ENODEV);
  std::map<PortKey, ExpectedPort> plan;
};

constexpr const char* kIgnored = "its module is read through ethtool: the imported one is ignored";

TEST_F(DaemonFarEnds, TheFarEndIsInTheSnapshot) {
  PeerReading neighbour = reading();
  neighbour.peer.emplace();
  neighbour.peer->source = "lldp";
  neighbour.peer->system = "leaf-12";
  script->set({neighbour});
  start_with("peer_lldp");
  settle();
  ASSERT_TRUE(peer());
  EXPECT_EQ(peer()->system, "leaf-12");
  EXPECT_EQ(peer()->age_s, 0.0);
}

// MAD and LLDP skip them; an import that names an exempt port is no mistake.
TEST_F(DaemonFarEnds, EveryProbeGetsExemptPortsToo) {
  std::vector<std::unique_ptr<PeerProbe>> probes;
  for (const char* name : {"peer_mad", "import"})
    probes.push_back(std::make_unique<ScriptedFarEnd>(name, script));
  FarEnds far_ends(std::move(probes), clock, {}, {});
  std::vector<InventoryPort> ports(2);
  ports[0].id.device = "mlx5_0";
  ports[1].id.device = "mlx5_1";
  ports[1].exempt_reason = "manages the machine's NVSwitches";
  far_ends.set_ports(ports);
  far_ends.poll();
  for (const int fd : far_ends.wake_fds()) {
    pollfd wanted{fd, POLLIN, 0};
    ASSERT_EQ(::poll(&wanted, 1, 10'000), 1);
  }
  const std::lock_guard lock(script->mutex);
  for (const char* name : {"peer_mad", "import"})
    EXPECT_EQ(script->ports[name], (std::vector<PortKey>{"mlx5_0/1", "mlx5_1/1"})) << name;
}

TEST_F(DaemonFarEnds, ThePlanNamesItWhereNoSourceDoes) {
  plan["mlx5_0/1"].peer_system = "leaf-7";
  start_with("peer_lldp");
  settle();
  ASSERT_TRUE(peer());
  EXPECT_EQ(peer()->source, "plan");
  EXPECT_EQ(peer()->system, "leaf-7");
}

TEST_F(DaemonFarEnds, AReloadGivesThePlanAnotherName) {
  plan["mlx5_0/1"].peer_system = "leaf-7";
  start_with("peer_lldp");
  settle();
  ASSERT_TRUE(peer());
  plan["mlx5_0/1"].peer_system = "leaf-8";
  sampler->expect(plan, plan);
  EXPECT_EQ(sampler->header().expected.at("mlx5_0/1").peer_system, "leaf-8")
      << "recordings begin with what is in force";
  next_round([this] { return peer()->system == "leaf-8"; });
}

TEST_F(DaemonFarEnds, ASourceThatCannotBeReadAtAllIsTheNodes) {
  PeerReading of_node;
  of_node.gaps.push_back({"", "peer_lldp", "no socket"});
  script->set({of_node});
  start_with("peer_lldp");
  settle();
  EXPECT_EQ(ever.sources->at(SourceId::kPeerLldp).reason, "no socket");
}

TEST_F(DaemonFarEnds, AnImportedModuleIsTakenWhereEthtoolGivesNone) {
  import_module("MT2301X00001");
  start_with("import");
  settle();
  ASSERT_TRUE(module());
  EXPECT_EQ(module()->serial, "MT2301X00001");
}

// On an InfiniBand port an import is the only way to a module.
TEST_F(DaemonFarEnds, AnImportedModuleThatIsExchangedIsAnEvent) {
  using enum PortEventKind;
  import_module("S1");
  start_with("import");
  settle();
  ASSERT_TRUE(module());
  EXPECT_THAT(module_events(), ::testing::IsEmpty()) << "the first that is known";
  const auto next_module = [&](const std::string& serial, bool present = true) {
    PeerReading next = reading_of_module(serial);
    next.module->present = present;
    script->set({next});
    next_round([this] { return module_read(); });
  };
  next_module("S2");
  EXPECT_THAT(module_events(), ::testing::ElementsAre(kModuleRemoved, kModuleInserted));
  next_module("", false);
  EXPECT_THAT(module_events(), ::testing::ElementsAre(kModuleRemoved));
  next_module("S2");
  EXPECT_THAT(module_events(), ::testing::ElementsAre(kModuleInserted))
      << "the same one, put in again";
}

TEST_F(DaemonFarEnds, AnImportedModuleThatWasExchangedBetweenTwoRunsIsAnEvent) {
  import_module("S1");
  start_with("import");
  sampler->remember_modules({{first.pci + "/1", "S0"}});
  settle();
  EXPECT_THAT(module_events(), ::testing::ElementsAre(PortEventKind::kModuleRemoved,
                                                      PortEventKind::kModuleInserted));
}

TEST_F(DaemonFarEnds, AnImportedModuleFromBeforeTheLinkChangedIsNotTaken) {
  start_with("import");
  settle();
  PeerReading imported = reading_of_module("OLD");
  clock.advance(settings.link_period);
  set(first.netdev_dir() + "/carrier", "0");
  set(first.netdev_dir() + "/carrier_down_count", "3");
  ASSERT_TRUE(sampler->poll());
  imported.peer.emplace();  // shows that the round has come
  imported.peer->source = "telemetry";
  imported.peer->system = "leaf-12";
  script->set({imported});
  next_round();
  ASSERT_TRUE(peer());
  EXPECT_FALSE(module());
  const std::string refused =
      "its module was read before the last link change: waiting for the next reading";
  EXPECT_TRUE(has_gap("mlx5_0/1", "import", refused));
  imported.module->serial = "NEW";
  imported.module_read_at = clock.steady();
  script->set({imported});
  next_round();
  ASSERT_TRUE(module());
  EXPECT_EQ(module()->serial, "NEW");
  EXPECT_FALSE(has_gap("mlx5_0/1", "import", refused));
}

TEST_F(DaemonFarEnds, AnImportedModuleIsIgnoredWhereEthtoolReadsIt) {
  start_with("import", module_reader());
  settle();
  ASSERT_TRUE(module());
  EXPECT_FALSE(module()->present);
  import_module("MT2301X00001");
  next_round([this] { return has_gap("mlx5_0/1", "import", kIgnored); });
  EXPECT_EQ(module()->serial, "") << "ethtool's reading stands";
}

TEST_F(DaemonFarEnds, AnImportedModuleThatEndsIsAGap) {
  PeerReading imported = reading_of_module("");
  imported.valid_until = clock.steady() + Milliseconds(20'000);
  script->set({imported});
  start_with("import");
  settle();
  ASSERT_TRUE(module());
  script->set({});
  next_round();
  EXPECT_THAT(gaps(),
              ::testing::IsSupersetOf(
                  {"mlx5_0/1 import: the imported reading is past its time of validity",
                   "mlx5_0/1 module: the imported reading has ended, and ethtool reports none"}));
}

TEST_F(DaemonFarEnds, AnEarlierImportHidesNoLaterFailureOfEthtool) {
  *module_errnum = EIO;
  import_module("MT2301X00001");
  start_with("import", module_reader());
  settle();
  ASSERT_TRUE(module());
  *module_errnum = ENODEV;
  next_round([this] { return !module()->present; });
  *module_errnum = EIO;
  next_round([this] { return has_gap("mlx5_0/1", "module", "EIO"); });
}

TEST_F(DaemonFarEnds, AnImportThatEndsIsNoGapWhereEthtoolReadsAgain) {
  *module_errnum = EIO;
  import_module("MT2301X00001");
  start_with("import", module_reader());
  settle();
  ASSERT_TRUE(module());
  *module_errnum = ENODEV;
  next_round([this] { return !module()->present; });
  PeerReading with_peer = reading();  // so that the test sees when the round has come
  with_peer.peer.emplace();
  with_peer.peer->system = "leaf-12";
  script->set({with_peer});
  next_round([this] { return peer().has_value(); });
  EXPECT_FALSE(
      has_gap("mlx5_0/1", "module", "the imported reading has ended, and ethtool reports none"));
}

TEST_F(DaemonFarEnds, AnImportedModuleIsTakenWhenEthtoolKeepsFailing) {
  start_with("import", module_reader());
  settle();
  ASSERT_TRUE(module());
  import_module("MT2301X00001");
  next_round([this] { return module_read() && has_gap("mlx5_0/1", "import", kIgnored); });
  *module_errnum = EIO;
  for (int round = 0; round < 20 && module()->serial.empty(); ++round) {
    import_module("MT2301X" + std::to_string(round));
    next_round(
        [this] { return has_gap("mlx5_0/1", "module", "EIO") || !module()->serial.empty(); });
    settle();
  }
  EXPECT_THAT(module()->serial, ::testing::StartsWith("MT2301X"));
  EXPECT_FALSE(has_gap("mlx5_0/1", "import", kIgnored));
}

}  // namespace
}  // namespace linkhealth
