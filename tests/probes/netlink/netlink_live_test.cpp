// The probes against the kernel that runs the tests.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>

#include "probes/live_host.h"
#include "probes/netlink/devlink_health.h"
#include "probes/netlink/ethtool.h"
#include "probes/netlink/rtnl_link.h"

namespace linkhealth {
namespace {

constexpr std::uint32_t kLoopback = 1;

TEST(NetlinkLive, TheLoopbackIsThere) {
  LiveHost host;
  const auto lo = read_netdev_identity(host, kLoopback);
  ASSERT_TRUE(lo) << lo.error().message;
  EXPECT_EQ(lo->name, "lo");
  EXPECT_EQ(lo->address, "00:00:00:00:00:00");
  EXPECT_EQ(read_netdev_identity(host, 2'000'000'000).error().errnum, ENODEV);
  const auto stats = read_netdev_stats(host);
  ASSERT_TRUE(stats) << stats.error().message;
  ASSERT_TRUE(stats->contains(kLoopback));
  EXPECT_TRUE(stats->at(kLoopback).get("netdev_rx_packets"));
}

TEST(NetlinkLive, EthtoolAnswersForTheLoopback) {
  LiveHost host;
  const auto family = resolve_ethtool_family(host);
  if (!family) GTEST_SKIP() << "this kernel has no ethtool netlink: " << family.error().message;
  bool statistics = true;
  const auto state = read_linkstate(host, *family, kLoopback, statistics);
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_TRUE(state->link);
  const auto names = read_stat_names(host, *family);
  if (!names) GTEST_SKIP() << "this kernel has no standard statistics: " << names.error().message;
  EXPECT_EQ(names->size(), 4U);
}

/// The lab's simulated optics have a reporter like ice's (tests/lab/simoptics/health.c).
TEST(NetlinkLive, ADevlinkReporterIsDiagnosed) {
  const std::string file = "/sys/kernel/debug/simoptics/so3/health";
  if (access(file.c_str(), W_OK) != 0) GTEST_SKIP() << "needs the lab's simulated optics";
  LiveHost host;
  HealthReporters all;
  const auto port = [&] {
    auto reporters = all.read(host);
    EXPECT_TRUE(reporters) << reporters.error().message;
    if (!reporters) return HealthReporter{};
    for (HealthReporter& reporter : *reporters)
      if (reporter.bus == "platform" && reporter.device == "simoptics.3")
        return std::move(reporter);
    ADD_FAILURE() << "no such reporter";
    return HealthReporter{};
  };
  const HealthReporter before = port();
  EXPECT_EQ(before.name, "port");
  EXPECT_EQ(before.description, "");
  std::ofstream(file) << "Module type is not supported.";
  const HealthReporter after = port();
  EXPECT_EQ(after.errors, before.errors.value_or(0) + 1);
  EXPECT_EQ(after.in_error, true);
  EXPECT_EQ(after.description, "Module type is not supported.");
  EXPECT_EQ(port().description, "");
}

}  // namespace
}  // namespace linkhealth
