// A RoCE port whose interface is in another network namespace: its verbs states are those of the
// interface.
#include "tests/daemon/sampling/odd_node.h"

namespace linkhealth {
namespace {

using namespace testing;

class PodPort : public OddNode {
 protected:
  void interface_goes() {
    change([this](FakeHost& host) {
      host.remove("/sys/class/net/" + first.netdev);
      host.remove(first.netdev_dir());
    });
  }
  void verbs(const char* state, const char* phys_state) {
    change([&](FakeHost& host) {
      host.set(first.port_dir() + "/state", std::string(state) + "\n");
      host.set(first.port_dir() + "/phys_state", std::string(phys_state) + "\n");
    });
  }
  void next_period(Milliseconds period) {
    clock.advance(period);
    settle();
  }
  const LinkSample& link() const { return *all.ports.at("mlx5_0/1").link; }
};

TEST_F(PodPort, HasACarrierAndItsFallIsOneEvent) {
  interface_goes();
  start();
  settle();
  EXPECT_EQ(link().carrier, true);
  EXPECT_EQ(link().speed_mbps, 400'000U);
  EXPECT_TRUE(has_gap("mlx5_0/1", "netdev_stats", "ens1np0 is not in this network namespace"));
  verbs("1: DOWN", "3: Disabled");
  next_period(settings.counters_period);
  EXPECT_EQ(link().carrier, false);
  EXPECT_EQ(count(PortEventKind::kCarrierDown), 1U);
  next_period(settings.counters_period);
  EXPECT_EQ(count(PortEventKind::kCarrierDown), 0U);
  verbs("4: ACTIVE", "5: LinkUp");
  next_period(settings.counters_period);
  EXPECT_EQ(link().carrier, true);
  EXPECT_EQ(count(PortEventKind::kCarrierUp), 1U);
}

/// The truth about an interface that is here is what the interface says.
TEST_F(PodPort, WhileItsInterfaceIsHereVerbsDoesNotSayTheCarrier) {
  start();
  settle();
  verbs("1: DOWN", "3: Disabled");
  next_period(settings.counters_period);
  EXPECT_EQ(link().phys_state, "Disabled");
  EXPECT_EQ(link().carrier, true);
  EXPECT_EQ(count(PortEventKind::kCarrierDown), 0U);
}

TEST_F(PodPort, AnInterfaceThatGoesTakesNoLinkAlong) {
  start();
  settle();
  EXPECT_EQ(link().carrier, true);
  interface_goes();
  next_period(settings.rescan_period);
  EXPECT_EQ(link().carrier, true);
  EXPECT_EQ(count(PortEventKind::kCarrierDown), 0U);
}

}  // namespace
}  // namespace linkhealth
