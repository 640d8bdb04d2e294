// Links and their statistics, from messages of a real kernel.
#include "probes/netlink/rtnl_link.h"

#include <gtest/gtest.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
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

TEST(RtnlLink, ReadsTheIdentityOfANetdev) {
  const auto netdev = parse_netdev_identity(captured("up_link"));
  ASSERT_TRUE(netdev) << netdev.error().message;
  EXPECT_EQ(netdev->name, "so0");
  EXPECT_EQ(netdev->address, "02:73:6f:00:00:00");
}

TEST(RtnlLink, EveryCutIsAnError) {
  testing::expect_error_at_every_length(captured("up_link"), [](ByteView bytes) {
    const auto netdev = parse_netdev_identity(bytes);
    return netdev ? 0 : netdev.error().errnum;
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

TEST(RtnlLink, TenFlapsBetweenTwoReadingsAreTen) {
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
TEST(RtnlLink, WithMlx5CountsThatRiseTogetherOnALinkThatIsDownAreNoChange) {
  LinkSample before = link_with(true, false, 0, 0);
  LinkSample after = link_with(true, false, 1, 1);
  EXPECT_TRUE(link_changes("eth0", "mlx5_core", before, after, {}).empty());
  EXPECT_EQ(link_changes("eth0", "bnxt_en", before, after, {}).size(), 2U) << "it came up and fell";
  before.admin_up = false;
  const auto set_up = link_changes("eth0", "mlx5_core", before, after, {});
  ASSERT_EQ(set_up.size(), 1U);
  EXPECT_EQ(set_up[0].kind, PortEventKind::kAdminUp);
  before.carrier = after.carrier = before.admin_up = true;
  EXPECT_EQ(link_changes("eth0", "mlx5_core", before, after, {}).size(), 2U)
      << "it fell and came back";
}

TEST(RtnlLink, SetDownIsAnEventOfItsOwn) {
  const auto events =
      link_changes("so0", "simoptics", kFlapped, link_with(false, false, 11, 11), {});
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.front().kind, PortEventKind::kAdminDown);
}

TEST(RtnlLink, CountsThatWentBackwardsOrAreMissingAreNoEvents) {
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

Bytes event(std::uint16_t type, unsigned char family, unsigned change) {
  ifinfomsg info{};
  info.ifi_family = family;
  info.ifi_index = 7;
  info.ifi_flags = IFF_UP | IFF_LOWER_UP;
  info.ifi_change = change;
  return NetlinkBuilder(type, 0)
      .header(info)
      .put_string(IFLA_IFNAME, "ens1np0")
      .put_u32(IFLA_MTU, 9000)
      .bytes();
}

TEST(RtnlLink, EventsAreAddedChangedRemoved) {
  const auto added = parse_link_event(event(RTM_NEWLINK, AF_UNSPEC, ~0U));
  const auto changed = parse_link_event(event(RTM_NEWLINK, AF_UNSPEC, IFF_UP));
  const auto removed = parse_link_event(event(RTM_DELLINK, AF_UNSPEC, ~0U));
  ASSERT_TRUE(added && changed && removed);
  ASSERT_TRUE(*added && *changed && *removed);
  EXPECT_EQ((*added)->kind, LinkEventKind::kAdded);
  EXPECT_EQ((*changed)->kind, LinkEventKind::kChanged);
  EXPECT_EQ((*changed)->ifindex, 7U);
  EXPECT_EQ((*removed)->kind, LinkEventKind::kRemoved);
}

TEST(RtnlLink, WhatWentToAnotherNetworkNamespaceIsMoved) {
  const auto gone = parse_link_event(event(RTM_DELLINK, AF_UNSPEC, ~0U));
  ifinfomsg info{};
  info.ifi_index = 7;
  info.ifi_change = ~0U;
  const auto moved = parse_link_event(
      NetlinkBuilder(RTM_DELLINK, 0).header(info).put_u32(IFLA_NEW_NETNSID, 0).bytes());
  ASSERT_TRUE(gone && *gone && moved && *moved);
  EXPECT_FALSE((*gone)->moved);
  EXPECT_TRUE((*moved)->moved);
  EXPECT_EQ((*moved)->kind, LinkEventKind::kRemoved);
}

TEST(RtnlLink, APortThatLeavesABridgeIsNotRemoved) {
  const auto bridge = parse_link_event(event(RTM_DELLINK, AF_BRIDGE, ~0U));
  ASSERT_TRUE(bridge);
  EXPECT_FALSE(bridge->has_value());
}

TEST(RtnlLink, ListensToTheEventsOfLinks) {
  FakeHost host;
  const auto events = listen_to_links(host);
  ASSERT_TRUE(events);
  host.inject(NETLINK_ROUTE, event(RTM_NEWLINK, AF_UNSPEC, IFF_UP));
  const auto messages = (*events)->receive();
  ASSERT_TRUE(messages);
  ASSERT_EQ(messages->size(), 1U);
  EXPECT_EQ((*parse_link_event(messages->front()))->ifindex, 7U);
}

TEST(RtnlLink, AnotherMessageIsNoEvent) {
  EXPECT_FALSE(parse_link_event(event(RTM_NEWADDR, AF_UNSPEC, 0)));
}

TEST(RtnlLink, ReadsStatisticsByTheirNames) {
  const auto stats = parse_netdev_stats(captured("flapped_statsdump"));
  ASSERT_TRUE(stats) << stats.error().message;
  EXPECT_EQ(stats->ifindex, 2U);
  EXPECT_EQ(stats->counters.get("netdev_rx_packets"), 11U);
  EXPECT_EQ(stats->counters.get("netdev_tx_packets"), 13U);
  EXPECT_EQ(stats->counters.get("netdev_rx_bytes"), 966U);
  EXPECT_EQ(stats->counters.get("netdev_rx_otherhost_dropped"), 0U);
}

TEST(RtnlLink, StatisticsOfAnOlderKernelAreFewer) {
  const std::uint64_t two[] = {5, 6};
  const Bytes bytes = NetlinkBuilder(RTM_NEWSTATS, 0)
                          .header(if_stats_msg{0, 0, 0, 3, 1})
                          .put(IFLA_STATS_LINK_64, std::as_bytes(std::span(two)))
                          .bytes();
  const auto stats = parse_netdev_stats(bytes);
  ASSERT_TRUE(stats);
  EXPECT_EQ(stats->counters.size(), 2U);
  EXPECT_EQ(stats->counters.get("netdev_tx_packets"), 6U);
}

TEST(RtnlLink, OneDamagedMessageHidesNoOtherPort) {
  FakeHost host;
  host.set_responder([](int, std::span<const std::byte>) -> Result<std::vector<Bytes>> {
    const Bytes stats = captured("flapped_statsdump");
    return std::vector<Bytes>{testing::cut(stats, 60), stats};
  });
  const auto all = read_netdev_stats(host);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 1U);
  EXPECT_TRUE(all->contains(2));
}

TEST(RtnlLink, TheKernelsErrorComesThrough) {
  FakeHost host;
  host.set_responder([](int, std::span<const std::byte>) -> Result<std::vector<Bytes>> {
    return Error{"gone", ENODEV};
  });
  const auto link = read_netdev_identity(host, 9);
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().errnum, ENODEV);
}

}  // namespace
}  // namespace linkhealth
