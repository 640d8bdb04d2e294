// Lanes of a module that are not this port's, and lanes that were.
#include <gtest/gtest.h>

#include "tests/daemon/engine/node_story.h"

namespace linkhealth {
namespace {

/// Two ports of a twin-port cage read one module of four lanes; the fibre of the other port's lanes
/// goes dark.
TEST(SharedModule, ALaneThatIsDarkIsNotTheOtherPortsFault) {
  Node node(2);
  node.change = [&](std::size_t i, PortSample& port) {
    if (port.module) port.module->serial = "TWIN";
    if (i == 1 && node.feed.t > 1000 && port.link) {
      port.link->carrier = false;
      port.link->carrier_down_count = *port.link->carrier_down_count + 1;
    }
  };
  node.run(995);
  EXPECT_TRUE(node.port("mlx5_0/1")->figures.worst_rx_power_dbm) << "all lanes have light";
  for (const std::size_t lane : {2, 3}) node.feed.module.lanes[lane].rx_power_mw = 0.0001;
  node.run(2000);
  EXPECT_TRUE(node.port("mlx5_0/1")->faults.empty()) << node.port("mlx5_0/1")->faults[0].summary;
  EXPECT_EQ(node.port("mlx5_0/1")->health, Health::kHealthy);
  EXPECT_FALSE(node.port("mlx5_0/1")->figures.worst_rx_power_dbm)
      << "a dark lane is not of a port that carries";
  ASSERT_EQ(node.port("mlx5_1/1")->faults.size(), 1U)
      << "the port that is down still sees its lanes";
}

/// A 100G-BiDi module has four places for lanes and light on two.
TEST(DarkLanes, ThoseThatNeverHadLightAreNotOfTheLink) {
  Node node(1);
  for (const std::size_t lane : {2, 3}) {
    ModuleLane& dark = node.feed.module.lanes[lane];
    dark.rx_power_mw = dark.tx_power_mw = dark.tx_bias_ma = 0;
  }
  node.run(1200);
  EXPECT_EQ(node.port("mlx5_0/1")->health, Health::kHealthy);
  EXPECT_TRUE(node.port("mlx5_0/1")->faults.empty()) << node.port("mlx5_0/1")->faults[0].summary;
  EXPECT_GT(node.port("mlx5_0/1")->figures.worst_rx_power_dbm.value_or(-99), -5);
}

TEST(DarkLanes, OneThatHadLightIsJudged) {
  Node node(1);
  node.run(1200);
  node.feed.module.lanes[3].rx_power_mw = 0;
  node.run(600);
  ASSERT_EQ(node.port("mlx5_0/1")->faults.size(), 1U);
  EXPECT_EQ(node.port("mlx5_0/1")->figures.worst_rx_lane, 4U);
}

}  // namespace
}  // namespace linkhealth
