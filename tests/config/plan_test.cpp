#include "config/plan.h"

#include <gmock/gmock.h>

#include "config/plan_learn.h"

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
  EXPECT_EQ(first.line, 3U);
  EXPECT_EQ((*rows)[2].exempt, "spare \"slot\"");
}

TEST(Plan, WhatIsWrittenIsReadAgain) {
  auto rows = *parse_plan_csv(kCsv, "plan.csv");
  for (PlanRow& row : rows) row.line = 0;
  for (const bool yaml : {false, true}) {
    auto again =
        yaml ? parse_plan_yaml(plan_yaml(rows), "p.yaml") : parse_plan_csv(plan_csv(rows), "p.csv");
    ASSERT_TRUE(again) << again.error().message;
    for (PlanRow& row : *again) row.line = 0;
    EXPECT_EQ(*again, rows);
  }
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
  EXPECT_EQ(wrong("node,port\ngpu-1,a\ngpu-1,a\n"), "plan.csv:3: gpu-1 a stands in line 2 already");
  EXPECT_EQ(wrong("node,port\ngpu-1\n"), "plan.csv:2: \"port\" is missing");
  EXPECT_EQ(wrong("port,lanes\na,many\n"),
            "plan.csv:2: \"lanes\" must be a whole number from 1 to 64, not \"many\"");
  EXPECT_EQ(wrong("port\na,b\n"), "plan.csv:2: 2 cells, but 1 columns");
  EXPECT_EQ(wrong("port\n\"a\n"), "plan.csv:2: a quote does not end in its line");
  EXPECT_THAT(wrong(""), HasSubstr("begins with a line of column names"));
  EXPECT_EQ(wrong("port,port\n"), "plan.csv:1: a column stands twice");
  EXPECT_EQ(parse_plan_yaml("- {port: a, rak: 1}", "p.yaml").error().message,
            "p.yaml:1: unknown column \"rak\" (did you mean \"rack\"?)");
  EXPECT_THAT(parse_plan_yaml("a: b", "p.yaml").error().message, HasSubstr("a plan is a list"));
  EXPECT_THAT(load_plan_file("/nowhere/plan.csv").error().message, HasSubstr("/nowhere/plan.csv"));
}

TEST(Plan, OnlyThisNodesRowsCountAndTheConfigurationWins) {
  Config config;
  config.expected["mlx5_0/1"].peer_port = "Ethernet9/9";
  config.site["rack"] = "99";
  EXPECT_EQ(apply_plan(config, *parse_plan_csv(kCsv, "plan.csv"), "gpu-1.dc1.example"), 2U);
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

constexpr std::string_view kFabric =
    "#\n# Topology file: generated on Fri Nov 20 10:00:00 2026\n#\n"
    "vendid=0x2c9\ndevid=0xd2f0\n"
    "Switch\t41 \"S-b8599f0300aa0001\"\t\t# \"MF0;leaf-1:MQM8700/U1\" enhanced port 0 lid 1 lmc 0\n"
    "[7]\t\"H-b83fd20300120001\"[1](b83fd20300120001) \t\t# \"gpu-1 mlx5_0\" lid 4 4xHDR\n"
    "\n"
    "vendid=0x2c9\n"
    "Ca\t1 \"H-b83fd20300120001\"\t\t# \"gpu-1 mlx5_0\"\n"
    "[1](b83fd20300120001) \t\"S-b8599f0300aa0001\"[7]\t\t# lid 4 lmc 0 \"MF0;leaf-1:MQM8700/U1\" "
    "lid 1 4xHDR\n";

TEST(LearnPlan, FromIbnetdiscover) {
  const auto rows = learn_plan(kFabric, "");
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(plan_csv(*rows),
            "node,port,peer_system,peer_port\ngpu-1,mlx5_0/1,MF0;leaf-1:MQM8700/U1,7\n");
}

TEST(LearnPlan, FromLldpctl) {
  const std::string port = R"({"via":"LLDP","rid":"1","age":"0 day, 00:01:02",
      "chassis":{"leaf-1":{"id":{"type":"mac","value":"00:11:22:33:44:55"},"descr":"SONiC"}},
      "port":{"id":{"type":"local","value":"Ethernet1/1"},"descr":"to gpu-1","ttl":"120"}})";
  for (const std::string& interface :
       {"{\"ens1np0\":" + port + "}", "[{\"ens1np0\":" + port + "}]"}) {
    const auto rows = learn_plan("{\"lldp\":{\"interface\":" + interface + "}}", "gpu-1");
    ASSERT_TRUE(rows) << rows.error().message;
    EXPECT_EQ(plan_csv(*rows),
              "node,port,peer_system,peer_port\ngpu-1,ens1np0,leaf-1,Ethernet1/1\n");
  }
}

TEST(LearnPlan, WhatIsNeitherIsRefused) {
  EXPECT_FALSE(learn_plan("hello", "gpu-1"));
  EXPECT_FALSE(learn_plan("{}", "gpu-1"));
  EXPECT_FALSE(learn_plan("{\"lldp\":{\"interface\":3}}", "gpu-1"));
  EXPECT_FALSE(learn_plan("{\"lldp\":", "gpu-1"));
  EXPECT_FALSE(learn_plan("", "gpu-1"));
  EXPECT_TRUE(learn_plan("Ca\t1 \"H-1\n[1](x", "gpu-1")->empty()) << "a cut line is no link";
}

}  // namespace
}  // namespace linkhealth
