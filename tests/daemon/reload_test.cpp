// SIGHUP: what is taken over, what waits for a restart, and that a bad file changes nothing.
#include "daemon/reload.h"

#include <gmock/gmock.h>

#include <fstream>

#include "daemon/daemon.h"
#include "tests/diagnosis/feed.h"
#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Reload : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    std::ofstream(temp_.file(name)) << text;
  }
  Result<Config> read(const std::string& text, const std::string& node = "gpu-1") {
    write("linkhealth.yaml", text);
    DaemonOptions options;
    options.config_file = temp_.file("linkhealth.yaml");
    return complete_config(options, node);
  }
  test::TempDirectory temp_;
};

TEST_F(Reload, ThePlanIsPartOfTheConfiguration) {
  write("plan.csv",
        "node,port,peer_system,peer_port,rack\ngpu-1,ens1np0,leaf-1,Ethernet1/"
        "1,12\ngpu-2,x,y,z,13\n");
  const auto config = read("plan: " + temp_.file("plan.csv") + "\n");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->planned.size(), 1U);
  EXPECT_EQ(config->planned.at("ens1np0").peer_system, "leaf-1");
  EXPECT_EQ(config->site.at("rack"), "12");
}

TEST_F(Reload, AMistakeNamesFileAndLine) {
  EXPECT_THAT(read("dry_rnu: true\n").error().message,
              HasSubstr("linkhealth.yaml:1: unknown key \"dry_rnu\""));
  write("plan.csv", "node,port,peer_sytem\n");
  EXPECT_THAT(
      read("plan: " + temp_.file("plan.csv") + "\n").error().message,
      HasSubstr("plan.csv:1: unknown column \"peer_sytem\" (did you mean \"peer_system\"?)"));
  EXPECT_THAT(read("plan: /nowhere/plan.csv\n").error().message, HasSubstr("/nowhere/plan.csv"));
}

TEST_F(Reload, EachKeyThatNeedsARestartIsNamed) {
  const auto now = read("");
  EXPECT_THAT(config_changes(*now, *read("")), IsEmpty());
  const auto keys = [&](const std::string& text, bool restart) {
    std::vector<std::string> found;
    for (const ConfigChange& change : config_changes(*now, *read(text)))
      if (change.restart == restart) found.push_back(change.key);
    return found;
  };
  const std::string at_once =
      "dry_run: true\nsite: {rack: 9}\nledger: {quiet_s: 10}\nlog_level: debug\nmaintenance_dir: "
      "\"\"\n";
  EXPECT_THAT(keys(at_once, true), IsEmpty());
  EXPECT_THAT(keys(at_once, false), ElementsAre("dry_run", "ledger.quiet_s", "log_level",
                                                "maintenance_dir", "site.rack"));
  const std::string later =
      "listen: none\nstate_dir: /x\nsampling: {link_period_s: 2, kernel_log: off}\npeers: "
      "{import_dir: /y}\n"
      "web_config_file: /w\n"
      "textfile: {path: /t.prom}\ndatabase: {max_mb: 5}\nnode: other\nsocket: /s\nrecord: /r\n";
  EXPECT_THAT(keys(later, false), IsEmpty());
  EXPECT_THAT(keys(later, true),
              ElementsAre("database.max_mb", "listen", "node", "peers.import_dir", "record",
                          "sampling.kernel_log", "sampling.link_period_s", "socket", "state_dir",
                          "textfile.path", "web_config_file"));
  EXPECT_THAT(
      describe_reload(config_changes(*now, *read(later)), config_changes(*now, *read(later))),
      HasSubstr("nothing changed; database.max_mb, listen, "));
}

TEST_F(Reload, ChangesAreDescribed) {
  const auto from = read("ports: {a/1: {speed_mbps: 400000}, b/1: {rail: 1}, c/1: {rail: 2}}\n");
  const auto to = read(
      "ports: {a/1: {speed_mbps: 200000}, d/1: {rail: 1}, c/1: {exempt: not cabled}}\n"
      "ledger: {quiet_s: 10}\nlisten: none\n");
  const auto changes = config_changes(*from, *to);
  EXPECT_EQ(
      describe_reload(changes, changes),
      "ledger.quiet_s 300 -> 10, a/1 has changed expectations, b/1 is no longer expected, c/1 "
      "is excluded, "
      "d/1 is expected; listen needs a restart");
  EXPECT_EQ(describe_reload({}, {}), "nothing changed");
}

/// The feed's port is mlx5_0/1, with the interface ens1np0.
ExpectedConfig config_of_feeds_port(const Config& config) {
  const Snapshot snapshot = Feed().tick();
  return expected_for(config, "mlx5_0/1", snapshot.ports.at("mlx5_0/1").id);
}

TEST_F(Reload, EntriesUnderSeveralNamesOfAPortAreJoined) {
  for (const char* text :
       {"ports: {mlx5_0: {speed_mbps: 800000}, ens1np0: {peer: {system: leaf, port: Eth1}}}\n",
        "ports: {ens1np0: {speed_mbps: 800000}, mlx5_0/1: {peer: {system: leaf, port: Eth1}}}\n"}) {
    const ExpectedConfig config = config_of_feeds_port(*read(text));
    ASSERT_TRUE(config.expected) << text;
    EXPECT_EQ(config.expected->speed_mbps, 800000U) << text;
    EXPECT_EQ(config.expected->peer_system, "leaf") << text;
    EXPECT_EQ(config.contradiction, "") << text;
  }
}

TEST_F(Reload, TheConfigurationWinsOverThePlanUnderAnyName) {
  write("plan.csv", "port,speed_mbps,rail,peer_system,peer_port\nmlx5_0/1,800000,7,leaf-1,Eth1\n");
  const std::string plan = "plan: " + temp_.file("plan.csv") + "\n";
  const ExpectedConfig config = config_of_feeds_port(
      *read(plan + "ports: {mlx5_0: {speed_mbps: 400000}, ens1np0: {peer: {port: Eth9}}}\n"));
  ASSERT_TRUE(config.expected);
  EXPECT_EQ(config.expected->speed_mbps, 400000U);
  EXPECT_EQ(config.expected->rail, "7") << "from the plan";
  EXPECT_EQ(config.expected->peer_system, "");
  EXPECT_EQ(config.expected->peer_port, "Eth9");
  EXPECT_EQ(config.contradiction, "") << "the operator corrects the plan";

  write("plan.csv", "port,exempt\nmlx5_0/1,not cabled\n");
  EXPECT_EQ(config_of_feeds_port(*read(plan)).exempt, "not cabled");
  const ExpectedConfig cabled =
      config_of_feeds_port(*read(plan + "ports: {ens1np0: {speed_mbps: 400000}}\n"));
  EXPECT_EQ(cabled.exempt, "");
  EXPECT_EQ(cabled.expected->speed_mbps, 400000U);
  EXPECT_EQ(cabled.contradiction, "");
}

TEST_F(Reload, TwoEntriesThatDoNotAgreeAreAContradiction) {
  EXPECT_EQ(config_of_feeds_port(
                *read("ports: {mlx5_0: {speed_mbps: 800000}, ens1np0: {speed_mbps: 400000}}\n"))
                .contradiction,
            "configuration: ens1np0 and mlx5_0 are the same port but disagree: ens1np0 is used");
  EXPECT_EQ(config_of_feeds_port(
                *read("ports: {mlx5_0: {exempt: spare}, ens1np0: {speed_mbps: 400000}}\n"))
                .contradiction,
            "configuration: mlx5_0 and ens1np0 are the same port but disagree: mlx5_0 is used");
  write("plan.csv", "port,rail\nmlx5_0,1\nmlx5_0/1,2\n");
  EXPECT_EQ(config_of_feeds_port(*read("plan: " + temp_.file("plan.csv") + "\n")).contradiction,
            "plan: mlx5_0/1 and mlx5_0 are the same port but disagree: mlx5_0/1 is used");
}

/// A node of one port under a configuration, and its events.
struct ConfiguredNode {
  explicit ConfiguredNode(const Config& config) : engine(engine_settings(config, "gpu-1", {})) {}
  void run(double seconds) {
    for (const double end = feed.t + seconds; feed.t < end;) {
      const Engine::Step step = engine.step(feed.tick());
      report = step.report;
      events.insert(events.end(), step.events.begin(), step.events.end());
      remarks.insert(remarks.end(), step.remarks.begin(), step.remarks.end());
    }
  }
  /// The cable is pulled after three minutes; runs for `seconds` more.
  void run_and_pull(double seconds) {
    run(180);
    feed.pull(feed.t + 1);
    feed.receive_mw(0);
    run(seconds);
  }
  void reload(const Config& config) { engine.reconfigure(engine_settings(config, "gpu-1", {})); }
  [[nodiscard]] const PortReport& port() const { return report->ports.at(0); }

  Feed feed;
  Engine engine;
  std::shared_ptr<const Report> report;
  std::vector<FaultEvent> events;
  std::vector<std::string> remarks;
};

TEST_F(Reload, AContradictionIsANoteOfThePortAndIsLoggedOnce) {
  const std::string text = "ports: {mlx5_0: {speed_mbps: 800000}, ens1np0: {speed_mbps: 400000}}\n";
  const std::string contradiction =
      "configuration: ens1np0 and mlx5_0 are the same port but disagree";
  ConfiguredNode node(*read(text));
  node.run(60);
  EXPECT_THAT(node.port().note, HasSubstr(contradiction));
  EXPECT_EQ(node.port().expected.speed_mbps, 400000U);
  EXPECT_THAT(node.remarks, ElementsAre(HasSubstr("mlx5_0/1: " + contradiction)));
  node.reload(*read(text));
  node.run(60);
  EXPECT_EQ(node.remarks.size(), 1U) << "the same configuration has no events";
  node.reload(*read("ports: {mlx5_0: {speed_mbps: 400000}}\n"));
  node.run(60);
  EXPECT_EQ(node.port().note, "");
}

TEST_F(Reload, APortThatIsNewlyExpectedAndAbsentBecomesAFinding) {
  ConfiguredNode node(*read("ports: {mlx5_0/1: {rail: 1}}\n"));
  node.run(600);
  EXPECT_THAT(node.events, IsEmpty());
  node.reload(*read("ports: {mlx5_0/1: {rail: 1}, \"0000:3b:00.0\": {rail: 2}}\n"));
  node.run(600);
  ASSERT_EQ(node.events.size(), 1U);
  EXPECT_EQ(node.events[0].port, "0000:3b:00.0");
  EXPECT_THAT(node.events[0].fault.summary, HasSubstr("never found"));
  EXPECT_EQ(node.report->ports.size(), 2U);
  node.reload(*read("ports: {mlx5_0/1: {rail: 1}, \"0000:3b:00.0\": {rail: 2}}\n"));
  node.run(60);
  EXPECT_EQ(node.events.size(), 1U) << "the same configuration has no events";
}

TEST_F(Reload, APortThatIsNoLongerExpectedIsGoneAndItsFaultCloses) {
  for (const char* text :
       {"ports: {mlx5_0/1: {rail: 1}}\n", "",
        "ports: {mlx5_0/1: {rail: 1}, mlx5_9/1: {exempt: not built in yet}}\n"}) {
    ConfiguredNode node(*read("ports: {mlx5_0/1: {rail: 1}, mlx5_9/1: {rail: 2}}\n"));
    node.run(600);
    ASSERT_EQ(node.events.size(), 1U);
    node.reload(*read(text));
    node.run(2);
    ASSERT_EQ(node.events.size(), 2U) << text;
    EXPECT_EQ(node.events[1].kind, FaultEventKind::kClosed);
    EXPECT_EQ(node.events[1].fault.id, node.events[0].fault.id);
    EXPECT_EQ(node.events[1].fault.summary, "the configuration no longer expects this port");
    EXPECT_EQ(node.report->ports.size(), 1U);
    EXPECT_THAT(node.engine.ledger_state().faults, IsEmpty());
    node.reload(*read("ports: {mlx5_0/1: {rail: 1}, mlx5_9/1: {rail: 2}}\n"));
    node.run(600);
    ASSERT_EQ(node.events.size(), 3U) << "expected again: missed again";
    EXPECT_EQ(node.events[2].kind, FaultEventKind::kOpened);
  }
}

TEST_F(Reload, AFaultOfAPortThatBecomesExemptCloses) {
  ConfiguredNode node(*read(""));
  node.run_and_pull(60);
  ASSERT_EQ(node.events.size(), 1U);
  node.reload(*read("ports: {mlx5_0: {exempt: moved to another rack}}\n"));
  node.run(2);
  ASSERT_EQ(node.events.size(), 2U);
  EXPECT_EQ(node.events[1].kind, FaultEventKind::kClosed);
  EXPECT_EQ(node.events[1].fault.summary, "excluded by the configuration: moved to another rack");
  EXPECT_THAT(node.engine.ledger_state().faults, IsEmpty());
  EXPECT_THAT(node.engine.ledger_state().repeats, IsEmpty()) << "no repair, no repeated fault";
}

TEST_F(Reload, TheEngineKeepsItsFaultsAndTakesSiteExpectationsAndExemptions) {
  ConfiguredNode node(*read("site: {rack: 9}\nports: {mlx5_0/1: {rail: 3}}\n"));
  node.run_and_pull(60);
  ASSERT_EQ(node.port().faults.size(), 1U);
  ASSERT_FALSE(node.events.empty());
  EXPECT_EQ(node.events[0].site->at("rack"), "9");
  EXPECT_EQ(node.events[0].rail, "3");
  const std::string id = node.port().faults[0].id;
  node.reload(*read(
      "site: {rack: 8}\ndry_run: true\nports: {ens1np0: {rail: 4, peer: {system: leaf-1}}}\n"));
  node.run(1);
  ASSERT_EQ(node.port().faults.size(), 1U);
  EXPECT_EQ(node.port().faults[0].id, id);
  EXPECT_EQ(node.report->site->at("rack"), "8");
  EXPECT_EQ(node.report->dry_run, true);
  EXPECT_EQ(node.port().expected.rail, "4") << "by the name of its interface";
  node.reload(*read("ports: {mlx5_0: {exempt: not cabled}}\n"));
  node.run(1);
  EXPECT_EQ(node.port().exempt, "not cabled");
  EXPECT_FALSE(node.report->site.has_value());
}

TEST_F(Reload, TheEngineTakesSettings) {
  ConfiguredNode node(*read(""));
  node.run(180);
  node.reload(*read("ledger: {down_hold_s: 3600}\n"));
  node.feed.pull(node.feed.t + 1);
  node.feed.receive_mw(0);
  node.run(60);
  EXPECT_THAT(node.events, IsEmpty()) << "a link that is down is not judged for an hour now";
}

}  // namespace
}  // namespace linkhealth
