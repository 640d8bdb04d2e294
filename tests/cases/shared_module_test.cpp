// What the ports of one module share.
#include "tests/cases/rails.h"

namespace linkhealth::cases {
namespace {

TEST(OneModule, BothHalvesThatFallAreOneMatterAndOneHalfIsItsOwn) {
  for (const Fell& fallen : {Fell{2, 3}, Fell{3}}) {
    Rails node(4);
    node.feed.module_readable = true;
    node.leaf = {"leaf-1", "leaf-2", "leaf-3", "leaf-4"};
    node.more = [&](std::size_t i, PortSample& port) {
      if (!port.module) return;
      port.module->serial = "M" + std::to_string(i / 2);
      if (node.fallen.contains(i))
        for (const std::size_t lane : {i % 2 * 2, i % 2 * 2 + 1})
          port.module->lanes[lane].rx_power_mw = 0.0001;
    };
    node.run(3600);
    node.fall(fallen);
    EXPECT_EQ(node.opened(), 1U);
    const FaultReport& fault = node.fault("mlx5_3/1");
    EXPECT_EQ(fault.ports.size(), fallen.size() == 2 ? 2U : 0U);
    EXPECT_EQ(contains(fault.summary, "of one module"), fallen.size() == 2) << fault.summary;
    EXPECT_TRUE(node.port("mlx5_0/1")->faults.empty());
  }
}

/// Ports 0 and 1 use the lower and the upper half of one module's eight lanes, 2 and 3 of
/// another's.
struct Halves : Rails {
  explicit Halves(double period_s = 10) : Rails(4, period_s) {
    feed.module_readable = true;
    leaf = {"leaf-1", "leaf-2", "leaf-3", "leaf-4"};
    more = [this](std::size_t i, PortSample& port) {
      if (!port.module) return;
      port.module->serial = "M" + std::to_string(i / 2);
      port.module->lanes.resize(8, port.module->lanes.front());
      for (const std::size_t half : {i / 2 * 2, i / 2 * 2 + 1})
        for (std::size_t lane = half % 2 * 4; lane < half % 2 * 4 + 4; ++lane)
          if (dark.contains(half)) port.module->lanes[lane].rx_power_mw = 0.0001;
      if (!read_now) port.module.reset();
    };
  }
  Fell dark;
  bool read_now = true;
};

TEST(OneModule, OfWhichAHalfIsDarkHasNoDirtyLanes) {
  for (const double period_s : {10.0, 60.0}) {
    Halves node(period_s);
    node.run(3600);
    node.dark = {3};
    node.fall({3});
    EXPECT_NE(node.fault("mlx5_3/1").fault, "dirty_connector") << period_s;
    EXPECT_TRUE(contains(node.fault("mlx5_3/1").summary, "no light received"))
        << node.fault("mlx5_3/1").summary;
    EXPECT_TRUE(node.port("mlx5_2/1")->faults.empty());
  }
}

TEST(OneModule, OfWhichSomeLanesOfAHalfAreDarkMayBeDirty) {
  Halves node;
  const auto halves = node.more;
  node.more = [&](std::size_t i, PortSample& port) {
    halves(i, port);
    if (port.module && i / 2 == 1 && node.fallen.contains(3))
      port.module->lanes[6].rx_power_mw = 0.0001;
  };
  node.run(3600);
  node.fall({3});
  EXPECT_TRUE(contains(node.fault("mlx5_3/1").summary, "some lanes receive no light"))
      << node.fault("mlx5_3/1").summary;
}

TEST(OneModule, ThatWasReadBeforeItsOtherHalfCameBackAccusesNoLane) {
  Halves node;
  node.run(3600);
  node.dark = {3};
  node.fall({3}, 30);
  node.dark = {};
  node.read_now = false;
  node.fall({}, 600);  // the link is back, its lanes are read later
  for (const FaultEvent& event : node.events) EXPECT_EQ(event.port, "mlx5_3/1");
  EXPECT_TRUE(node.port("mlx5_2/1")->faults.empty());
}

TEST(OneModule, IsJudgedByReadingsThatAllCameAfterItsOtherHalfCameBack) {
  Halves node(60);
  const auto halves = node.more;
  std::size_t steps = 0;
  node.more = [&](std::size_t i, PortSample& port) {
    if (i == 0) node.read_now = steps++ % 3 == 0;
    const bool off = node.fallen.contains(3);
    if (i == 3 && off) {
      port.link->admin_up = false;
      port.link->phys_state = "Disabled";
    }
    halves(i, port);
    // A port that is disabled does not transmit: its half of the lanes is dark.
    if (port.module && i / 2 == 1 && off)
      for (std::size_t lane = 4; lane < 8; ++lane) port.module->lanes[lane].tx_power_mw = 0.0001;
  };
  node.run(3600);
  node.fall({3}, 1800);
  node.fall({}, 1800);
  for (const FaultEvent& event : node.events)
    EXPECT_NE(event.port, "mlx5_2/1") << event.fault.summary;
  EXPECT_TRUE(node.port("mlx5_2/1")->faults.empty());
}

TEST(OneModule, StaysOneWhileAPortOfItCannotBeRead) {
  Halves node(60);
  const auto halves = node.more;
  bool unread = false;
  node.more = [&](std::size_t i, PortSample& port) {
    halves(i, port);
    // The lanes of one half send less from the start, as another module's might.
    if (port.module && i / 2 == 1)
      for (std::size_t lane = 4; lane < 8; ++lane) *port.module->lanes[lane].tx_power_mw *= 0.4;
    if (unread && i == 3) port.module.reset();
  };
  node.run(7200);
  unread = true;
  node.run(1800);
  EXPECT_EQ(node.opened(), 0U) << node.events.front().fault.summary;
}

TEST(OneModule, ThatIsSwappedIsGivenTimeToTrain) {
  struct Case {
    double down_s;
    std::size_t opened;
  };
  for (const Case& one : {Case{90, 0}, Case{1200, 1}}) {
    Rails node(4);
    node.feed.module_readable = true;
    bool is_other = false;
    node.more = [&](std::size_t i, PortSample& port) {
      if (!port.module) return;
      port.module->serial = "M" + std::to_string(i);
      if (i == 3 && is_other) port.module->serial = "OTHER";
    };
    node.run(3600);
    node.fall({3}, 20);
    is_other = true;
    node.fall({3}, one.down_s - 20);
    node.fall({}, one.opened > 0 ? 0 : 1800);
    EXPECT_EQ(node.opened(), one.opened) << one.down_s;
  }
}

TEST(OneModule, WhoseLanesCannotBeToldApartIsAMatterOfAllItsPorts) {
  for (const double lost : {0.25, 0.0}) {
    Halves node;
    const auto halves = node.more;
    bool weak = false;
    node.more = [&](std::size_t i, PortSample& port) {
      halves(i, port);
      if (weak && port.module && i / 2 == 1) *port.module->lanes[6].tx_power_mw *= lost;
    };
    node.run(7200);
    weak = true;
    node.run(3600);
    EXPECT_EQ(node.opened(), 1U) << lost;
    const FaultReport& fault = node.fault("mlx5_2/1");
    EXPECT_EQ(fault.ports, (std::vector<PortKey>{"mlx5_2/1", "mlx5_3/1"})) << fault.summary;
    EXPECT_EQ(node.fault("mlx5_3/1").id, fault.id);
    EXPECT_TRUE(contains(fault.summary, "with 2 links: which link's lanes")) << fault.summary;
    EXPECT_TRUE(node.port("mlx5_0/1")->faults.empty());
    weak = false;
    node.run(90000);
    EXPECT_TRUE(node.port("mlx5_3/1")->faults.empty());
    EXPECT_EQ(node.opened(), 1U) << lost;
  }
}

TEST(OneModule, ThatIsHotWithFourPortsIsNotTheRoom) {
  Rails node(8);
  node.feed.module_readable = true;
  double rise_c = 0;
  node.more = [&](std::size_t i, PortSample& port) {
    if (!port.module) return;
    port.module->serial = "M" + std::to_string(i / 4);
    if (i < 4) *port.module->temperature_c += rise_c;
  };
  node.run(7200);
  rise_c = 28;
  node.run(1800);
  const FaultReport& fault = node.fault("mlx5_0/1");
  EXPECT_EQ(fault.fault, "module_overheated");
  EXPECT_EQ(fault.ports.size(), 4U);
  EXPECT_FALSE(contains(fault.summary, "room")) << fault.summary;
  EXPECT_EQ(node.opened(), 1U);
  EXPECT_EQ(node.fault("mlx5_3/1").id, fault.id);
  EXPECT_NE(node.port("mlx5_3/1")->health, Health::kHealthy);
}

}  // namespace
}  // namespace linkhealth::cases
