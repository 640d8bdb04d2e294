#include "config/plan.h"

#include <gmock/gmock.h>

namespace linkhealth {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kCsv =
    "# the back-end network\n"
    "node,port,peer_system,peer_port,speed_mbps,rail,peer_rack,peer_u,cable,exempt,rack,u\r\n"
    "gpu-1,mlx5_0/1,leaf-1,Ethernet1/1,400000,1,14,40,\"C-17, 30 m\",,12,17\n"
    "\n"
    "gpu-1,ens2np0,leaf-2,Ethernet1/1,400000\n"
    "gpu-2,mlx5_0/1,,,,,,,,\"spare \"\"slot\"\"\"\n";

TEST(Plan, CsvIsRead) {
  const auto rows = parse_plan_csv(kCsv, "plan.csv");
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 3U);
  const PlanRow& first = (*rows)[0];
  EXPECT_EQ(first.node, "gpu-1");
  EXPECT_EQ(first.expected.peer_port, "Ethernet1/1");
  EXPECT_EQ(first.expected.speed_mbps, 400000U);
  EXPECT_EQ(first.expected.cable, "C-17, 30 m");
  EXPECT_EQ(first.expected.peer_rack, "14");
  EXPECT_EQ(first.site.at("u"), "17");
  EXPECT_EQ((*rows)[2].exempt, "spare \"slot\"");
}

TEST(Plan, Yaml) {
  const auto rows = parse_plan_yaml(
      "- {node: gpu-1, port: mlx5_0/1, peer_system: leaf-1, lanes: 4}\n- port: mlx5_1/1\n", "p");
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ((*rows)[0].expected.lanes, 4U);
  EXPECT_EQ((*rows)[1].node, "");
  EXPECT_TRUE(parse_plan_yaml("", "p")->empty());
}

TEST(Plan, MistakesNameTheLine) {
  const auto wrong = [](std::string_view text) {
    return parse_plan_csv(text, "plan.csv").error().message;
  };
  EXPECT_EQ(wrong("node,prot\n"), "plan.csv:1: unknown column \"prot\" (did you mean \"port\"?)");
  EXPECT_EQ(wrong("node,port\ngpu-1,a\ngpu-1,a\n"), "plan.csv:3: gpu-1 a is already in line 2");
  EXPECT_EQ(wrong("node,port\ngpu-1\n"), "plan.csv:2: \"port\" is missing");
  EXPECT_EQ(wrong("port,lanes\na,many\n"),
            "plan.csv:2: \"lanes\" must be a whole number from 1 to 64, not \"many\"");
  EXPECT_EQ(wrong("port\na,b\n"), "plan.csv:2: 2 cells, but 1 columns");
  EXPECT_EQ(wrong("port\n\"a\n"), "plan.csv:2: a quote does not end in its line");
  EXPECT_THAT(wrong(""), HasSubstr("begins with a line of column names"));
  EXPECT_EQ(wrong("port,port\n"), "plan.csv:1: duplicate column");
  EXPECT_EQ(parse_plan_yaml("- {port: a, rak: 1}", "p.yaml").error().message,
            "p.yaml:1: unknown column \"rak\" (did you mean \"rack\"?)");
  EXPECT_THAT(parse_plan_yaml("a: b", "p.yaml").error().message, HasSubstr("a plan is a list"));
  EXPECT_THAT(load_plan_file("/nowhere/plan.csv").error().message, HasSubstr("/nowhere/plan.csv"));
}

TEST(Plan, AYamlPlanOfManyLinksIsRead) {
  std::string text;
  for (int i = 0; i < 10'000; ++i)
    text += "- {node: n" + std::to_string(i) +
            ", port: mlx5_0/1, peer_system: leaf-1, peer_port: Eth1, rail: a}\n";
  ASSERT_LT(text.size(), kMaxPlanBytes);
  const auto rows = parse_plan_yaml(text, "p.yaml");
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(rows->size(), 10'000U);
  EXPECT_EQ(rows->back().node, "n9999");
  EXPECT_EQ(parse_plan_yaml(text + "- {prot: a}\n", "p.yaml").error().message,
            "p.yaml:10001: unknown column \"prot\" (did you mean \"port\"?)");
}

TEST(Plan, OnlyThisNodesRowsCountAndTheConfigurationWins) {
  Config config;
  config.expected["mlx5_0/1"].peer_port = "Ethernet9/9";
  config.site["rack"] = "99";
  apply_plan(config, *parse_plan_csv(kCsv, "plan.csv"), "gpu-1.dc1.example");
  auto asked = with_plan(config);
  EXPECT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked["mlx5_0/1"].peer_port, "Ethernet9/9");
  EXPECT_EQ(asked["mlx5_0/1"].peer_system, "")
      << "half of a peer is not mixed with half of another";
  EXPECT_EQ(asked["mlx5_0/1"].speed_mbps, 400000U);
  EXPECT_EQ(asked["mlx5_0/1"].rail, "1");
  EXPECT_EQ(config.site["rack"], "99");
  EXPECT_EQ(config.site["u"], "17");
  EXPECT_TRUE(config.exempt.empty());
  Config other;
  apply_plan(other, *parse_plan_csv(kCsv, "plan.csv"), "gpu-2");
  EXPECT_EQ(other.planned_exempt["mlx5_0/1"], "spare \"slot\"");
}

}  // namespace
}  // namespace linkhealth
