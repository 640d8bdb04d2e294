// Links and their statistics, from messages of a real kernel.
#include "probes/rtnl_link.h"

#include <gtest/gtest.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "tests/probes/netlink_fixtures.h"
#include "tests/support/fake_host.h"

namespace linkhealth {
namespace {

using testing::captured;
using testing::FakeHost;

NetdevLink link_named(const std::string& name) {
  const auto link = parse_link(captured(name));
  EXPECT_TRUE(link);
  return link ? *link : NetdevLink();
}

TEST(RtnlLink, RequestsAreThoseThatAKernelAnswered) {
  EXPECT_EQ(build_link_get(2), captured("link_request"));
  EXPECT_EQ(build_netdev_stats_dump(), captured("statsdump_request"));
}

TEST(RtnlLink, ReadsALinkThatIsUp) {
  const NetdevLink link = link_named("up_link");
  EXPECT_EQ(link.ifindex, 2U);
  EXPECT_EQ(link.name, "so0");
  EXPECT_TRUE(link.admin_up);
  EXPECT_TRUE(link.carrier);
  EXPECT_EQ(link.operstate, "up");
  EXPECT_EQ(link.mtu_bytes, 1500U);
  EXPECT_EQ(link.carrier_up_count, 1U);
  EXPECT_EQ(link.carrier_down_count, 0U);
  EXPECT_EQ(link_named("flapped_link").carrier_down_count, 10U);
}

TEST(RtnlLink, TellsNoCarrierFromSetDown) {
  const NetdevLink down = link_named("down_link");
  EXPECT_TRUE(down.admin_up);
  EXPECT_FALSE(down.carrier);
  EXPECT_EQ(down.operstate, "down");
  const NetdevLink admin = link_named("admindown_link");
  EXPECT_FALSE(admin.admin_up);
  EXPECT_FALSE(admin.carrier);
}

TEST(RtnlLink, EveryCutIsAnError) {
  testing::expect_error_at_every_length(captured("up_link"), [](ByteView bytes) {
    const auto link = parse_link(bytes);
    return link ? 0 : link.error().errnum;
  });
}

TEST(RtnlLink, TenFlapsBetweenTwoReadingsAreTen) {
  // The port was up at both readings, and the kernel sent far fewer events.
  const auto events = link_changes("so0", "simoptics", link_named("up_link"),
                                   link_named("flapped_link"), steady_from_seconds(12));
  ASSERT_EQ(events.size(), 20U);
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].kind, i % 2 == 0 ? PortEventKind::kCarrierDown : PortEventKind::kCarrierUp);
    EXPECT_EQ(events[i].port, "so0");
    EXPECT_EQ(events[i].t, steady_from_seconds(12));
  }
}

TEST(RtnlLink, NoChangeIsNoEvent) {
  const NetdevLink link = link_named("up_link");
  EXPECT_TRUE(link_changes("so0", "simoptics", link, link, {}).empty());
}

// linux: mlx5e_update_carrier() counts one of each for any event while nothing changes, as of a
// port without a cable.
TEST(RtnlLink, WithMlx5CountsThatRiseTogetherOnALinkThatIsDownAreNoChange) {
  NetdevLink before = link_named("up_link");
  before.carrier = false;
  before.carrier_up_count = before.carrier_down_count = 0;
  NetdevLink after = before;
  after.carrier_up_count = after.carrier_down_count = 1;
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
  const auto events = link_changes("so0", "simoptics", link_named("flapped_link"),
                                   link_named("admindown_link"), {});
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.front().kind, PortEventKind::kAdminDown);
}

TEST(RtnlLink, CountsThatWentBackwardsOrAreMissingAreNoEvents) {
  const NetdevLink before = link_named("flapped_link");
  EXPECT_TRUE(link_changes("so0", "simoptics", before, link_named("up_link"), {})
                  .empty());  // registered anew
  NetdevLink unknown = before;
  unknown.carrier_up_count.reset();
  unknown.carrier_down_count.reset();
  EXPECT_TRUE(link_changes("so0", "simoptics", unknown, before, {}).empty());
}

TEST(RtnlLink, AFloodOfFlapsIsBounded) {
  const NetdevLink before = link_named("up_link");
  NetdevLink after = before;
  after.carrier_down_count = 4'000'000'000;
  after.carrier_up_count = 4'000'000'000;
  EXPECT_EQ(link_changes("so0", "simoptics", before, after, {}).size(), 2 * kMaxCarrierEvents);
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
      .take();
}

TEST(RtnlLink, EventsAreAddedChangedRemoved) {
  const auto added = parse_link_event(event(RTM_NEWLINK, AF_UNSPEC, ~0U));
  const auto changed = parse_link_event(event(RTM_NEWLINK, AF_UNSPEC, IFF_UP));
  const auto removed = parse_link_event(event(RTM_DELLINK, AF_UNSPEC, ~0U));
  ASSERT_TRUE(added && changed && removed);
  ASSERT_TRUE(*added && *changed && *removed);
  EXPECT_EQ((*added)->kind, LinkEventKind::kAdded);
  EXPECT_EQ((*changed)->kind, LinkEventKind::kChanged);
  EXPECT_EQ((*changed)->link.name, "ens1np0");
  EXPECT_TRUE((*changed)->link.carrier);
  EXPECT_EQ((*removed)->kind, LinkEventKind::kRemoved);
}

TEST(RtnlLink, WhatWentToAnotherNetworkNamespaceIsMoved) {
  const auto gone = parse_link_event(event(RTM_DELLINK, AF_UNSPEC, ~0U));
  ifinfomsg info{};
  info.ifi_index = 7;
  info.ifi_change = ~0U;
  const auto moved = parse_link_event(
      NetlinkBuilder(RTM_DELLINK, 0).header(info).put_u32(IFLA_NEW_NETNSID, 0).take());
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
  EXPECT_EQ((*parse_link_event(messages->front()))->link.ifindex, 7U);
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
                          .take();
  const auto stats = parse_netdev_stats(bytes);
  ASSERT_TRUE(stats);
  EXPECT_EQ(stats->counters.size(), 2U);
  EXPECT_EQ(stats->counters.get("netdev_tx_packets"), 6U);
}

TEST(RtnlLink, OneDamagedMessageHidesNoOtherPort) {
  FakeHost host;
  host.set_responder([](int, std::span<const std::byte>) -> Result<std::vector<Bytes>> {
    return std::vector<Bytes>{testing::cut(captured("up_link"), 60), captured("up_link")};
  });
  const auto links = read_links(host);
  ASSERT_TRUE(links);
  EXPECT_EQ(links->size(), 1U);
  EXPECT_TRUE(links->contains(2));
}

TEST(RtnlLink, TheKernelsErrorComesThrough) {
  FakeHost host;
  host.set_responder([](int, std::span<const std::byte>) -> Result<std::vector<Bytes>> {
    return Error{"gone", ENODEV};
  });
  const auto link = read_link(host, 9);
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().errnum, ENODEV);
}

}  // namespace
}  // namespace linkhealth
