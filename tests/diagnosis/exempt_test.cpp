#include "diagnosis/exempt.h"

#include <gtest/gtest.h>

namespace linkhealth {
namespace {

PortHistory unused() {
  PortHistory port;
  port.latest.id.device = "mlx5_3";
  port.carrier.up = false;
  port.latest.module = ModuleSample{};
  port.latest.module->present = false;
  return port;
}

TEST(Exempt, AnUnusedPortIsExemptWithTheReason) {
  EXPECT_NE(exempt_reason(unused(), nullptr, false).find("unused"), std::string::npos);
  EXPECT_NE(exempt_reason(unused(), nullptr, true).find("not in plan"), std::string::npos);
}

TEST(Exempt, AnExpectedPortIsNot) {
  ExpectedPort expected;
  EXPECT_EQ(exempt_reason(unused(), &expected, true), "");
}

TEST(Exempt, APortThatCarriedIsNot) {
  PortHistory port = unused();
  port.carrier.was_up = true;
  EXPECT_EQ(exempt_reason(port, nullptr, true), "");
}

TEST(Exempt, APortThatCarriedInAnEarlierRunOrHasAnOpenFaultIsNot) {
  EXPECT_EQ(exempt_reason(unused(), nullptr, false, true), "");
  PortHistory port = unused();
  port.carrier.last_up_at = WallTime();
  EXPECT_EQ(exempt_reason(port, nullptr, false), "");
  port.latest.id.exempt = "lent by vfio-pci";
  EXPECT_EQ(exempt_reason(port, nullptr, false, true), "lent by vfio-pci");
}

// linux: mlx5e_update_carrier() counts one gain and one loss when a port without a cable is set up.
TEST(Exempt, CountsOfMlx5ThatAreAlikeAreNoLinkThatWas) {
  PortHistory port = unused();
  port.latest.module.reset();
  port.latest.link.emplace().carrier_up_count = 1;
  port.latest.link->carrier_down_count = 1;
  port.latest.id.driver = "bnxt_en";
  EXPECT_EQ(exempt_reason(port, nullptr, false), "") << "it had a link, and lost it";
  port.latest.id.driver = "mlx5_core";
  EXPECT_NE(exempt_reason(port, nullptr, false), "");
  port.latest.counters.emplace().set("link_down_events_phy", 0);
  EXPECT_NE(exempt_reason(port, nullptr, false), "");
  port.latest.counters->set("link_down_events_phy", 1);
  EXPECT_EQ(exempt_reason(port, nullptr, false), "") << "the PHY saw it fall";
}

TEST(Exempt, AnInfiniBandPortThatLostItsLinkBeforeTheStartIsNot) {
  PortHistory port = unused();
  port.latest.module.reset();
  port.latest.id.link_layer = "InfiniBand";
  port.latest.counters.emplace().set("link_downed", 0);
  EXPECT_NE(exempt_reason(port, nullptr, false).find("never linked"), std::string::npos);
  port.latest.counters->set("link_downed", 1);
  EXPECT_EQ(exempt_reason(port, nullptr, false), "");
}

TEST(Exempt, AVirtualFunctionIsWhereItsPhysicalOneIsHere) {
  PortHistory port;
  port.latest.id.function = "vf";
  port.carrier.up = true;
  EXPECT_EQ(exempt_reason(port, nullptr, false), "");
  EXPECT_TRUE(is_of_provider(port.latest.id));
  port.latest.id.exempt = "virtual function of 0000:1b:00.0";
  EXPECT_EQ(exempt_reason(port, nullptr, false), "virtual function of 0000:1b:00.0");
  EXPECT_FALSE(is_of_provider(port.latest.id));
}

}  // namespace
}  // namespace linkhealth
