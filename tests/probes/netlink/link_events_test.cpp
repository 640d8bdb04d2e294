// What the kernel's link events prompt. What they say is parsed in rtnl_link.
#include "probes/netlink/link_events.h"

#include <gtest/gtest.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "probes/live_host.h"
#include "tests/probes/netlink/netlink_fixtures.h"
#include "tests/support/fake_host.h"

namespace linkhealth {
namespace {

using testing::FakeHost;

constexpr int kOurs = 7;
constexpr int kStranger = 8;
/// What the kernel says to have changed when a device is registered or removed.
constexpr unsigned kAllBits = ~0U;

Bytes event(std::uint16_t type, int ifindex, unsigned change, unsigned char family = AF_UNSPEC) {
  ifinfomsg info{};
  info.ifi_family = family;
  info.ifi_index = ifindex;
  info.ifi_flags = IFF_UP | IFF_LOWER_UP;
  info.ifi_change = change;
  return NetlinkBuilder(type, 0).header(info).put_string(IFLA_IFNAME, "ens1np0").bytes();
}

InventoryPort port_with(int ifindex) {
  InventoryPort port;
  port.ifindex = ifindex;
  return port;
}

class LinkEventsFeed : public ::testing::Test {
 protected:
  void SetUp() override {
    feed.set_ports(host, std::vector<InventoryPort>{port_with(kOurs)}, SteadyTime());
  }
  FeedNews receive() { return feed.receive(host, SteadyTime()); }
  void inject(std::uint16_t type, int ifindex, unsigned change, unsigned char family = AF_UNSPEC) {
    host.inject(NETLINK_ROUTE, event(type, ifindex, change, family));
  }
  /// `news` prompts these and nothing besides.
  static void expect(const FeedNews& news, bool look, bool search) {
    EXPECT_EQ(news.look, look);
    EXPECT_EQ(news.search, search);
    EXPECT_FALSE(news.more);
    EXPECT_TRUE(news.events.empty())
        << "the counts are the truth, the event is only the prompt to read them";
    EXPECT_TRUE(news.ports.empty());
    EXPECT_TRUE(news.removed.empty());
  }

  FakeHost host;
  LinkEvents feed{host};
};

TEST_F(LinkEventsFeed, AChangeOfOneOfOurPortsPromptsALookOnce) {
  inject(RTM_NEWLINK, kOurs, IFF_UP);
  expect(receive(), true, false);
  expect(receive(), false, false);
}

TEST_F(LinkEventsFeed, AChangeOfAStrangerPromptsNothing) {
  inject(RTM_NEWLINK, kStranger, IFF_UP);
  expect(receive(), false, false);
}

TEST_F(LinkEventsFeed, AStrangerThatComesOrGoesPromptsASearchAndNoLook) {
  inject(RTM_NEWLINK, kStranger, kAllBits);
  expect(receive(), false, true);
  inject(RTM_DELLINK, kStranger, kAllBits);
  expect(receive(), false, true);
}

TEST_F(LinkEventsFeed, APortOfOursThatGoesPromptsBoth) {
  inject(RTM_DELLINK, kOurs, kAllBits);
  expect(receive(), true, true);
}

TEST_F(LinkEventsFeed, APortThatGoesToAnotherNamespaceIsToldAsMoved) {
  ifinfomsg info{};
  info.ifi_index = kOurs;
  info.ifi_change = kAllBits;
  host.inject(NETLINK_ROUTE,
              NetlinkBuilder(RTM_DELLINK, 0).header(info).put_u32(IFLA_NEW_NETNSID, 0).bytes());
  const FeedNews news = receive();
  EXPECT_TRUE(news.search);
  EXPECT_EQ(news.moved, std::set<std::uint32_t>{kOurs});
}

TEST_F(LinkEventsFeed, ABridgeThatLosesAPortHasRemovedNothing) {
  inject(RTM_DELLINK, kOurs, kAllBits, AF_BRIDGE);
  expect(receive(), false, false);
}

TEST_F(LinkEventsFeed, WhatIsOursIsWhatTheLastSearchFound) {
  feed.set_ports(host, std::vector<InventoryPort>{port_with(kStranger)}, SteadyTime());
  inject(RTM_NEWLINK, kOurs, IFF_UP);
  expect(receive(), false, false);
  inject(RTM_NEWLINK, kStranger, IFF_UP);
  expect(receive(), true, false);
}

TEST_F(LinkEventsFeed, LostEventsPromptALookASearchAndAnotherReceive) {
  inject(RTM_NEWLINK, kStranger, IFF_UP);
  host.inject_error(NETLINK_ROUTE, ENOBUFS);
  const FeedNews lost = receive();
  EXPECT_TRUE(lost.look);
  EXPECT_TRUE(lost.search);
  EXPECT_TRUE(lost.more) << "what came behind those that were lost waits";
  expect(receive(), false, false);
}

TEST_F(LinkEventsFeed, ADamagedMessageHidesNoOther) {
  host.inject(NETLINK_ROUTE, testing::cut(event(RTM_NEWLINK, kOurs, IFF_UP), 20));
  host.inject(NETLINK_ROUTE, {});
  expect(receive(), false, false);
  host.inject(NETLINK_ROUTE, testing::cut(event(RTM_NEWLINK, kOurs, IFF_UP), 20));
  inject(RTM_NEWLINK, kOurs, IFF_UP);
  inject(RTM_DELLINK, kStranger, kAllBits);
  expect(receive(), true, true);
}

TEST_F(LinkEventsFeed, AnEventWakesWhoWaits) {
  pollfd waits{feed.fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&waits, 1, 0), 0);
  inject(RTM_NEWLINK, kOurs, IFF_UP);
  EXPECT_EQ(::poll(&waits, 1, 0), 1);
  receive();
  EXPECT_EQ(::poll(&waits, 1, 0), 0);
}

TEST_F(LinkEventsFeed, AFeedThatIsOpenHasNoGap) { EXPECT_TRUE(feed.gaps().empty()); }

TEST(LinkEvents, WhoMayNotListenHasAGapAndTellsNothing) {
  FakeHost host;
  host.refuse_listeners(EPERM);
  LinkEvents feed(host);
  EXPECT_EQ(feed.fd(), -1);
  ASSERT_EQ(feed.gaps().size(), 1U);
  EXPECT_EQ(feed.gaps().front().port, "");
  EXPECT_EQ(feed.gaps().front().probe, feed.name());
  EXPECT_EQ(feed.gaps().front().reason, "netlink listen: Operation not permitted");
  const FeedNews news = feed.receive(host, SteadyTime());
  EXPECT_FALSE(news.look || news.search || news.more);
}

TEST(LinkEvents, ACopiedTreeHasNoFeedAndNoGap) {
  FakeHost host;
  host.refuse_listeners(EOPNOTSUPP);
  const LinkEvents feed(host);
  EXPECT_EQ(feed.fd(), -1);
  EXPECT_TRUE(feed.gaps().empty());
}

TEST(LinkEventsLive, TheKernelLetsUsListen) {
  LiveHost host;
  LinkEvents feed(host);
  EXPECT_GE(feed.fd(), 0);
  EXPECT_TRUE(feed.gaps().empty());
  feed.receive(host, SteadyTime());  // whatever comes: nothing that fails
}

}  // namespace
}  // namespace linkhealth
