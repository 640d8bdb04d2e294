#include "daemon/api/cabling.h"

#include <gmock/gmock.h>

#include "tests/support/report_builder.h"

namespace linkhealth {
namespace {

using ::testing::HasSubstr;

PortReport cabled(int number, const std::string& planned, const std::string& seen) {
  const std::string digit = std::to_string(number);
  PortReport port =
      test::healthy_port("mlx5_" + digit, "ens" + digit + "np0", "0000:1" + digit + ":00.0");
  port.expected.peer_system = planned.empty() ? "" : "leaf-12";
  port.expected.peer_port = planned;
  port.latest.peer->port = seen;
  if (seen.empty()) port.latest.peer.reset();
  return port;
}

Report three(const std::string& a, const std::string& b, const std::string& c) {
  Report report;
  report.node = "gpu-1";
  report.ports = {cabled(0, "Ethernet1/1", a), cabled(1, "Ethernet2/1", b),
                  cabled(2, "Ethernet3/1", c)};
  return report;
}

std::string matches(const Report& report) {
  std::string text;
  for (const CablingRow& row : compare_cabling(report)) text += row.text + "; ";
  return text;
}

TEST(Cabling, EachPortIsComparedWithThePlan) {
  EXPECT_EQ(matches(three("Ethernet1/1", "Eth2/1", "swp3/1")),
            "as planned; as planned; as planned; ");
  const Report swap = three("Ethernet2/1", "Ethernet1/1", "Ethernet3/1");
  EXPECT_EQ(matches(swap), "swapped with mlx5_1/1; swapped with mlx5_0/1; as planned; ");
  EXPECT_EQ(count_wrong(compare_cabling(swap)), 2U);
  EXPECT_EQ(matches(three("Ethernet2/1", "Ethernet3/1", "Ethernet1/1")),
            "wrong: this is the cable of mlx5_1/1; wrong: this is the cable of mlx5_2/1; "
            "wrong: this is the cable of mlx5_0/1; ")
      << "three in a ring";
  Report elsewhere = three("Ethernet9/1", "", "Ethernet3/1");
  elsewhere.ports[2].expected = {};
  EXPECT_EQ(matches(elsewhere),
            "wrong: not planned on this node; neighbour unknown; not in the plan; ");
}

TEST(Cabling, ANameThatOnlyThePlanGivesIsNotSeen) {
  Report report = three("Ethernet1/1", "Ethernet2/1", "Ethernet3/1");
  report.ports[0].latest.peer->source = "plan";
  EXPECT_EQ(compare_cabling(report)[0].match, CablingMatch::kUnseen);
}

TEST(Cabling, TheTextFitsTheTerminalAndBeginsWithTheResult) {
  const Report report = three("Ethernet2/1", "Ethernet1/1", "Ethernet3/1");
  const std::string text = cabling_text(report, compare_cabling(report), {false, 80, false});
  EXPECT_THAT(text, HasSubstr("gpu-1   3 ports: 2 plugged into the wrong port\n"));
  EXPECT_THAT(
      text,
      HasSubstr("  mlx5_0/1  leaf-12 Ethernet1/1  leaf-12 Ethernet2/1  ✖ swapped with mlx5_1/1\n"));
  EXPECT_THAT(cabling_text(report, compare_cabling(report), {false, 60, true}),
              HasSubstr("\n    !! swapped with"));
  EXPECT_THAT(cabling_text(Report(), {}, {}), HasSubstr("no plan is configured"));
}

}  // namespace
}  // namespace linkhealth
