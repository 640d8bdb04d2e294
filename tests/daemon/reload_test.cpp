// SIGHUP: what is taken over, what waits for a restart, and that a bad file changes nothing.
#include "daemon/reload.h"

#include <gmock/gmock.h>

#include <fstream>

#include "daemon/daemon.h"
#include "tests/diagnosis/feed.h"
#include "tests/support/temp_directory.h"

namespace linkhealth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Reload : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) { std::ofstream(temp_.file(name)) << text; }
  Result<Config> read(const std::string& text, const std::string& node = "gpu-1") {
    write("linkhealth.yaml", text);
    DaemonOptions options;
    options.config_file = temp_.file("linkhealth.yaml");
    return complete_config(options, node);
  }
  test::TempDirectory temp_;
};

TEST_F(Reload, ThePlanIsPartOfTheConfiguration) {
  write("plan.csv", "node,port,peer_system,peer_port,rack\ngpu-1,ens1np0,leaf-1,Ethernet1/1,12\ngpu-2,x,y,z,13\n");
  const auto config = read("plan: " + temp_.file("plan.csv") + "\n");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->expected.size(), 1U);
  EXPECT_EQ(config->expected.at("ens1np0").peer_system, "leaf-1");
  EXPECT_EQ(config->site.at("rack"), "12");
}

TEST_F(Reload, AMistakeNamesFileAndLine) {
  EXPECT_THAT(read("dry_rnu: true\n").error().message, HasSubstr("linkhealth.yaml:1: unknown key \"dry_rnu\""));
  write("plan.csv", "node,port,peer_sytem\n");
  EXPECT_THAT(read("plan: " + temp_.file("plan.csv") + "\n").error().message,
              HasSubstr("plan.csv:1: unknown column \"peer_sytem\" (did you mean \"peer_system\"?)"));
  EXPECT_THAT(read("plan: /nowhere/plan.csv\n").error().message, HasSubstr("/nowhere/plan.csv"));
}

TEST_F(Reload, WhatNeedsARestartIsNamed) {
  const auto now = read("");
  EXPECT_THAT(needs_restart(*now, *read("")), IsEmpty());
  EXPECT_THAT(needs_restart(*now, *read("dry_run: true\nsite: {rack: 9}\nledger: {quiet_s: 10}\n")), IsEmpty());
  EXPECT_THAT(needs_restart(*now, *read("listen: none\nstate_dir: /x\nsampling: {link_period_s: 2}\n"
                                        "peers: {import_dir: /y}\n")),
              ElementsAre("listen", "state_dir", "sampling", "peers"));
}

TEST_F(Reload, TheEngineTakesItOverWithoutForgetting) {
  Engine engine(engine_settings(*read(""), "gpu-1", {}));
  Feed feed;
  for (int i = 0; i < 180; ++i) engine.step(feed.tick());
  feed.pull(feed.t + 1);
  feed.receive_mw(0);
  std::shared_ptr<const Report> report;
  for (int i = 0; i < 12; ++i) report = engine.step(feed.tick()).report;
  ASSERT_EQ(report->ports.at(0).faults.size(), 1U);
  const std::string id = report->ports.at(0).faults[0].id;
  engine.reconfigure(engine_settings(
      *read("site: {rack: 9}\ndry_run: true\nports: {ens1np0: {rail: 3, peer: {system: leaf-1}}}\n"), "gpu-1", {}));
  report = engine.step(feed.tick()).report;
  ASSERT_EQ(report->ports.at(0).faults.size(), 1U);
  EXPECT_EQ(report->ports.at(0).faults[0].id, id);
  EXPECT_EQ(report->site->at("rack"), "9");
  EXPECT_EQ(report->dry_run, true);
  EXPECT_EQ(report->ports.at(0).expected.rail, "3") << "by the name of its interface";
  engine.reconfigure(engine_settings(*read("ports: {mlx5_0: {exempt: not cabled}}\n"), "gpu-1", {}));
  report = engine.step(feed.tick()).report;
  EXPECT_EQ(report->ports.at(0).exempt, "not cabled");
  EXPECT_FALSE(report->site.has_value());
}

TEST_F(Reload, EventsCarryThePlace) {
  Engine engine(engine_settings(*read("site: {rack: 9}\nports: {mlx5_0/1: {rail: 3}}\n"), "gpu-1", {}));
  Feed feed;
  for (int i = 0; i < 180; ++i) engine.step(feed.tick());
  feed.pull(feed.t + 1);
  feed.receive_mw(0);
  std::vector<FaultEvent> events;
  for (int i = 0; i < 12; ++i)
    for (FaultEvent& event : engine.step(feed.tick()).events) events.push_back(event);
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events[0].site->at("rack"), "9");
  EXPECT_EQ(events[0].rail, "3");
}

TEST_F(Reload, KnobsAreTakenInPlace) {
  Engine engine(engine_settings(*read(""), "gpu-1", {}));
  Feed feed;
  for (int i = 0; i < 180; ++i) engine.step(feed.tick());
  engine.reconfigure(engine_settings(*read("ledger: {down_hold_s: 3600}\n"), "gpu-1", {}));
  feed.pull(feed.t + 1);
  feed.receive_mw(0);
  std::size_t events = 0;
  for (int i = 0; i < 60; ++i) events += engine.step(feed.tick()).events.size();
  EXPECT_EQ(events, 0U) << "a link that is down is not judged for an hour now";
}

}  // namespace
}  // namespace linkhealth
