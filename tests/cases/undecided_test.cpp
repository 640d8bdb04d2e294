// A link that is down without a word about why: what cannot be told apart is said so.
#include "tests/cases/cases.h"

namespace linkhealth::cases {
namespace {

TEST(CaseUndecided, OnePortFallsAlone) {
  const Replayed seen = replay(fixture("control-one-ib-port-falls/recording.jsonl.gz"));
  const auto& ports = seen.report->ports;
  ASSERT_EQ(std::ranges::count_if(ports, [](const PortReport& p) { return !p.faults.empty(); }), 1);
  const auto port = std::ranges::find_if(ports, [](const auto& p) { return !p.faults.empty(); });
  const FaultReport& fault = port->faults.front();
  EXPECT_LT(fault.confidence, 0.8) << fault.summary;
  EXPECT_TRUE(fault.undecided.has_value()) << fault.summary;
}

}  // namespace
}  // namespace linkhealth::cases
