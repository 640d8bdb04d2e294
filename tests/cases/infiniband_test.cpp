#include "tests/cases/cases.h"

namespace linkhealth::cases {
namespace {

TEST(CaseInfiniBand, ADisabledPortIsSetDownAndTheOthersAreHealthy) {
  const Tree tree("connectx3-vpi-two-ports");
  const auto report = tree.report();
  EXPECT_EQ(port_of(report, "mlx4_0/1")["faults"][0]["fault"], "admin_down");
  EXPECT_EQ(port_of(report, "mlx4_0/2")["health"], "healthy");
  EXPECT_EQ(port_of(report, "mlx4_1/1")["health"], "healthy");
  EXPECT_EQ(port_of(report, "mlx4_1/2")["health"], "exempt");
}

}  // namespace
}  // namespace linkhealth::cases
