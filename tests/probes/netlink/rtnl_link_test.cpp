// Links and their statistics, from messages of a real kernel.
#include "probes/netlink/rtnl_link.h"

#include <gtest/gtest.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include <cerrno>

#include "tests/probes/netlink/netlink_fixtures.h"
#include "tests/support/fake_host.h"

namespace linkhealth {
namespace {

using testing::captured;
using testing::FakeHost;

TEST(RtnlLink, RequestsAreThoseThatAKernelAnswered) {
  EXPECT_EQ(testing::request_of([](Host& to) { (void)read_netdev_identity(to, 2); }),
            captured("link_request"));
  EXPECT_EQ(testing::request_of([](Host& to) { (void)read_netdev_stats(to); }),
            captured("statsdump_request"));
}

Result<NetdevIdentity> identity_from(Result<std::vector<Bytes>> answers) {
  FakeHost host;
  host.set_responder([&](int, ByteView) { return answers; });
  return read_netdev_identity(host, 2);
}

TEST(RtnlLink, ReadsTheIdentityOfANetdev) {
  const auto netdev = identity_from(std::vector<Bytes>{captured("up_link")});
  ASSERT_TRUE(netdev) << netdev.error().message;
  EXPECT_EQ(netdev->name, "so0");
  EXPECT_EQ(netdev->address, "02:73:6f:00:00:00");
  EXPECT_EQ(identity_from(Error{"gone", ENODEV}).error().errnum, ENODEV);
  testing::expect_error_at_every_length(captured("up_link"), [](ByteView bytes) {
    const auto cut = identity_from(std::vector<Bytes>{{bytes.begin(), bytes.end()}});
    return cut ? 0 : cut.error().errnum;
  });
}

LinkSample link_with(bool admin_up, bool carrier, std::uint64_t ups, std::uint64_t downs) {
  LinkSample link;
  link.admin_up = admin_up;
  link.carrier = carrier;
  link.carrier_up_count = ups;
  link.carrier_down_count = downs;
  return link;
}
const LinkSample kUp = link_with(true, true, 1, 0);
const LinkSample kFlapped = link_with(true, true, 11, 10);

TEST(RtnlLink, TenFlapsBetweenTwoReadingsAreTenLosses) {
  // The port was up at both readings, and the kernel sent far fewer events.
  const auto events = link_changes("so0", "simoptics", kUp, kFlapped, steady_from_seconds(12));
  ASSERT_EQ(events.size(), 20U);
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].kind, i % 2 == 0 ? PortEventKind::kCarrierDown : PortEventKind::kCarrierUp);
    EXPECT_EQ(events[i].port, "so0");
    EXPECT_EQ(events[i].t, steady_from_seconds(12));
  }
}

TEST(RtnlLink, NoChangeIsNoEvent) {
  EXPECT_TRUE(link_changes("so0", "simoptics", kUp, kUp, {}).empty());
}

// linux: mlx5e_update_carrier() counts one of each for any event while nothing changes, as of a
// port without a cable.
TEST(RtnlLink, Mlx5CountsThatRiseTogetherOnADownLinkAreNoChange) {
  LinkSample before = link_with(true, false, 0, 0);
  LinkSample after = link_with(true, false, 1, 1);
  EXPECT_TRUE(link_changes("eth0", "mlx5_core", before, after, {}).empty());
  EXPECT_EQ(link_changes("eth0", "bnxt_en", before, after, {}).size(), 2U)
      << "it came up and went down";
  before.admin_up = false;
  const auto set_up = link_changes("eth0", "mlx5_core", before, after, {});
  ASSERT_EQ(set_up.size(), 1U);
  EXPECT_EQ(set_up[0].kind, PortEventKind::kAdminUp);
  before.carrier = after.carrier = before.admin_up = true;
  EXPECT_EQ(link_changes("eth0", "mlx5_core", before, after, {}).size(), 2U)
      << "it went down and came back";
}

TEST(RtnlLink, AdministrativelyDownIsAnEventOfItsOwn) {
  const auto events =
      link_changes("so0", "simoptics", kFlapped, link_with(false, false, 11, 11), {});
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.front().kind, PortEventKind::kAdminDown);
}

TEST(RtnlLink, CountsThatWentBackwardsOrAreMissingGiveNoEvents) {
  EXPECT_TRUE(link_changes("so0", "simoptics", kFlapped, kUp, {}).empty()) << "registered again";
  LinkSample unknown = kFlapped;
  unknown.carrier_up_count.reset();
  unknown.carrier_down_count.reset();
  EXPECT_TRUE(link_changes("so0", "simoptics", unknown, kFlapped, {}).empty());
}

TEST(RtnlLink, AFloodOfFlapsIsBounded) {
  const LinkSample after = link_with(true, true, 4'000'000'000, 4'000'000'000);
  EXPECT_EQ(link_changes("so0", "simoptics", kUp, after, {}).size(), 2 * kMaxCarrierEvents);
}

TEST(RtnlLink, ReadsStatisticsOfAllDevicesByTheirNames) {
  const Bytes stats = captured("flapped_statsdump");
  const std::uint64_t two[] = {5, 6};  // of an older kernel
  const Bytes fewer = NetlinkBuilder(RTM_NEWSTATS, 0)
                          .header(if_stats_msg{0, 0, 0, 3, 1})
                          .put(IFLA_STATS_LINK_64, std::as_bytes(std::span(two)))
                          .bytes();
  FakeHost host;
  host.set_responder([&](int, ByteView) -> Result<std::vector<Bytes>> {
    return std::vector<Bytes>{testing::cut(stats, 60), stats, fewer};
  });
  const auto all = read_netdev_stats(host);
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 2U) << "a damaged message hides no other device";
  const Counters& counters = all->at(2);
  EXPECT_EQ(counters.get("netdev_rx_packets"), 11U);
  EXPECT_EQ(counters.get("netdev_tx_packets"), 13U);
  EXPECT_EQ(counters.get("netdev_rx_bytes"), 966U);
  EXPECT_EQ(counters.get("netdev_rx_otherhost_dropped"), 0U);
  EXPECT_EQ(all->at(3).size(), 2U);
  EXPECT_EQ(all->at(3).get("netdev_tx_packets"), 6U);
}

}  // namespace
}  // namespace linkhealth
