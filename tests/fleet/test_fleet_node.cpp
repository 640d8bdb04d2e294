#include "tests/fleet/fleet_node.h"

#include <gmock/gmock.h>

namespace linkhealth::sim {
namespace {

using ::testing::HasSubstr;

constexpr WallTime kBegan{std::chrono::seconds(1'795'176'000)};

std::string after(FleetNode& node, int steps) {
  for (int i = 0; i < steps; ++i) node.step(kBegan + std::chrono::seconds(15 * i));
  return node.reports().current()->metrics({});
}

std::ptrdiff_t series_of(const std::string& text) {
  std::ptrdiff_t lines = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    lines += text[at] == '#' ? 0 : 1;
  return lines;
}

/// docs/metrics.md: 120 series a node of 8 links. What is wrong or can't be read adds to it.
TEST(FleetNode, AGoodNodeOf8LinksKeepsToTheBudget) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    FleetNode node({.number = seed, .seed = seed, .ports = 8, .fault = "", .began = kBegan});
    const std::string text = after(node, 5);
    EXPECT_THAT(text, HasSubstr("linkhealth_port_info{device="));
    EXPECT_LE(series_of(text), 120) << "seed " << seed;
    EXPECT_EQ(node.reports().current()->report->ports.size(), 8U) << "seed " << seed;
  }
}

TEST(FleetNode, AFaultIsFoundAndTheTimeIsTheCallers) {
  FleetNode node({.number = 1, .seed = 3, .ports = 4, .fault = "unplugged", .began = kBegan});
  std::string text;
  for (int i = 0; i < 800 && text.find("fault=\"unplugged\"") == std::string::npos; ++i)
    text = after(node, 1);
  EXPECT_THAT(text, HasSubstr("fault=\"unplugged\""));
  EXPECT_THAT(text, HasSubstr("linkhealth_last_sample_timestamp_seconds 1795176000"));
}

TEST(FleetNode, TheOffendersRepairsAreCounted) {
  FleetNode node(
      {.number = 1, .seed = 3, .ports = 2, .fault = "", .offender = true, .began = kBegan});
  EXPECT_THAT(after(node, 40),
              HasSubstr(R"(linkhealth_repairs_total{action="fibre_reseated",outcome="held"} 40)"));
}

}  // namespace
}  // namespace linkhealth::sim
