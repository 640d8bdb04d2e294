// Light of both modules against its baseline.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/model/history/one_port.h"

namespace linkhealth {
namespace {

struct Optical : OnePort {
  Optical() { feed.period_s = 60; }
  [[nodiscard]] const LaneSeries& lane() const { return port().own.rx_dbm[0]; }
  void read_far(const char* far_serial, double far_rx_mw) {
    read([&](PortSample& sample) {
      ModuleSample& module = sample.peer.emplace().module.emplace();
      module.serial = far_serial;
      module.lanes.resize(4);
      for (ModuleLane& lane : module.lanes) lane.rx_power_mw = far_rx_mw;
    });
  }
};

TEST(Dbm, NoLightHasNoLogarithm) {
  EXPECT_EQ(to_dbm(0), kDarkDbm);
  EXPECT_NEAR(to_dbm(1), 0, 1e-9);
}

TEST(ModuleHistory, AFaultDoesNotBecomeItsOwnBaseline) {
  Optical port;
  port.run(20);
  port.feed.receive_mw(0.2);
  port.run(200);
  EXPECT_NEAR(port.lane().below_baseline().value(), 6.02, 0.05);
}

TEST(ModuleHistory, ANewModuleClearsTheBaselinesOfBothEnds) {
  Optical port;
  for (int i = 0; i < 20; ++i) port.read_far("F1", 0.9);
  ASSERT_TRUE(port.lane().below_baseline());
  ASSERT_TRUE(port.port().far.rx_dbm[0].below_baseline());
  port.feed.module.serial = "B2";
  port.read_far("F1", 0.5);
  EXPECT_FALSE(port.lane().below_baseline());
  EXPECT_FALSE(port.port().far.rx_dbm[0].below_baseline()) << "it receives another laser now";
  for (int i = 0; i < 20; ++i) port.read_far("F1", 0.5);
  ASSERT_TRUE(port.lane().below_baseline());
  port.read_far("F2", 0.5);
  EXPECT_FALSE(port.lane().below_baseline());
}

TEST(ModuleHistory, AnInsertedModuleWithoutASerialHasNoBaseline) {
  Optical port;
  port.feed.module.serial = "";
  port.run(10);
  ASSERT_TRUE(port.lane().baseline.ready());
  port.feed.event(PortEventKind::kModuleRemoved, port.feed.t + 1);
  port.feed.event(PortEventKind::kModuleInserted, port.feed.t + 40);
  port.feed.receive_mw(0.4);
  port.run(1);
  EXPECT_FALSE(port.lane().baseline.ready());
}

TEST(ModuleHistory, ReadingsOfTheDarkTimeAreForgottenWhenTheLinkIsBack) {
  Optical port;
  port.run(20);
  port.feed.pull(port.feed.t + 1);
  port.feed.receive_mw(0);
  port.run(5);
  port.feed.plug(port.feed.t + 1);
  port.feed.receive_mw(0.8);
  port.run(1);
  EXPECT_NEAR(port.lane().below_baseline().value(), 0, 0.01);
}

TEST(ModuleHistory, AFewDarkPagesOfALinkThatIsUpAreIgnored) {
  Optical port;
  port.run(20);
  const double usual = port.lane().now().value();
  port.feed.receive_mw(0);
  port.run(2);
  EXPECT_NEAR(port.lane().now().value(), usual, 0.1);
  port.run(4);
  EXPECT_LT(port.lane().now().value(), -30) << "it lasts: the meter is dead, and that is reported";
}

TEST(ModuleHistory, ACarrierRefutesAnEmptyCage) {
  Optical port;
  port.run(3);
  port.feed.event(PortEventKind::kModuleRemoved, port.feed.t + 1);
  port.feed.pull(port.feed.t + 1.2);
  port.feed.module_readable = false;  // not due again for minutes
  port.run(1);
  ASSERT_TRUE(port.port().latest.module);
  EXPECT_FALSE(port.port().latest.module->present);
  port.feed.plug(port.feed.t + 1);
  port.run(1);
  EXPECT_FALSE(port.port().latest.module)
      << "what is in the cage is not known, but it is not empty";
}

/// The baseline of the error ratio after a module with this rate of corrected bits was swapped.
double normal_after_swap(double bits_per_s_before) {
  OnePort port;
  port.run(60);
  port.feed.bits_per_s = bits_per_s_before;
  port.run(60);
  port.feed.pull(port.feed.t + 1);
  port.run(6);
  port.feed.module.serial = "B2";
  port.feed.bits_per_s = 4e6;
  port.feed.plug(port.feed.t + 1);
  port.run(30);
  return std::pow(10.0, port.port().counters.ber_log10.lower_quartile().value());
}

TEST(ModuleHistory, ASwapThatDidNotHelpIsNotTheNewBaseline) {
  EXPECT_LT(normal_after_swap(4e6), 2e-8) << "what the link was before it had errors";
  EXPECT_GT(normal_after_swap(4000), 5e-6)
      << "a healthy link may have another baseline with another module";
}

}  // namespace
}  // namespace linkhealth
