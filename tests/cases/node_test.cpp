// The node: cards, PCIe, virtual functions, drivers whose counters are few or unknown.
#include <gmock/gmock.h>

#include "tests/cases/cases.h"

namespace linkhealth::cases {
namespace {

using ::testing::HasSubstr;

std::string fault_of(const nlohmann::json& port) {
  return port["faults"].empty() ? "" : port["faults"][0]["fault"].get<std::string>();
}

TEST(CaseNode, ALinkOfAVirtualFunctionThatIsDownIsTold) {
  const Tree tree("azure-nd-ib-virtual-functions");
  const auto report = tree.report();
  const auto down = port_of(report, "mlx5_ib5/1");
  EXPECT_EQ(down["health"], "down");
  for (const char* port : {"mlx5_ib0/1", "mlx5_ib4/1", "mlx5_ib7/1", "mlx5_an0/1"})
    EXPECT_EQ(port_of(report, port)["health"], "healthy") << port;
  EXPECT_THAT(down["note"].get<std::string>(), HasSubstr("provider"));
  EXPECT_THAT(tree.once("status").text, HasSubstr("of 130 sources"));
}

TEST(CaseNode, ACardWithItsDriverAndWithoutAPortIsNamed) {
  const Tree tree("hca-torn-down-driver-bound");
  const auto report = tree.report();
  for (const auto& port : report["ports"]) EXPECT_EQ(port["health"], "healthy") << port["port"];
  for (const char* command : {"status", "doctor"}) {
    const std::string text =
        run_linkhealth(command + std::string(command == std::string("status") ? " --once" : "") +
                       " --sysroot " + tree.root().string())
            .text;
    EXPECT_THAT(text, HasSubstr("0000:65:01.0 is on the PCI bus with the driver mlx5_core"))
        << command;
  }
}

TEST(CaseNode, TheBridgeThatHoldsTheCardBackIsNamedAndASlowerSlotIsNoFault) {
  const Tree tree("pcie-bottleneck-above-the-switch");
  const auto report = tree.report();
  const auto slow = port_of(report, "mlx5_3/1");
  EXPECT_EQ(fault_of(slow), "pcie_degraded");
  EXPECT_THAT(slow["faults"][0]["summary"].get<std::string>(), HasSubstr("bridge 0000:59:01.0"));
  EXPECT_EQ(port_of(report, "mlx5_0/1")["health"], "healthy");
  EXPECT_EQ(port_of(report, "mlx5_4/1")["health"], "healthy") << "Gen 5 card, Gen 4 root port";
}

TEST(CaseNode, ADriverWithoutPortCountersIsNotUnknown) {
  const Tree tree("amd-pollara-ionic");
  const auto report = tree.report();
  EXPECT_EQ(port_of(report, "rocep35s0/1")["health"], "healthy");
  EXPECT_EQ(port_of(report, "rocep99s0/1")["health"], "healthy");
  EXPECT_EQ(port_of(report, "rocep163s0/1")["health"], "exempt") << "it never had a link";
  const std::string text = report.dump();
  EXPECT_FALSE(contains(text, "directory is empty")) << "no endless gap";
}

TEST(CaseNode, OmniPathsOwnPhysicalStateIsALinkThatIsDown) {
  const Tree tree("omnipath-hfi1");
  const auto report = tree.report();
  EXPECT_EQ(port_of(report, "hfi1_0/1")["health"], "healthy");
  const auto down = port_of(report, "hfi1_1/1");
  EXPECT_EQ(down["health"], "down");
  EXPECT_EQ(down["now"]["link"]["phys_state"], "Offline");
  EXPECT_EQ(down["now"]["link"]["carrier"], false);
}

TEST(CaseNode, IonicsCountersTellOfCongestion) {
  const auto replayed = replay(fixture("ionic-rdma-counters-congestion") / "recording.jsonl.gz");
  EXPECT_EQ(replayed.opened("rocep35s0/1").size(), 1U);
  ASSERT_FALSE(replayed.port("rocep35s0/1").faults.empty());
  EXPECT_EQ(replayed.port("rocep35s0/1").faults[0].fault, "congestion");
  EXPECT_EQ(replayed.port("rocep99s0/1").health, Health::kHealthy);
}

}  // namespace
}  // namespace linkhealth::cases
