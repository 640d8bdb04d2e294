// What the kernel's link events and device events prompt.
#include "probes/netlink/kernel_events.h"

#include <gmock/gmock.h>
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

using namespace std::string_literals;
using testing::FakeHost;

constexpr int kOurs = 7, kOther = 8;
/// The change mask of a device that is registered or removed.
constexpr unsigned kAllBits = ~0U;

Bytes link_event(std::uint16_t type, int ifindex, unsigned change,
                 unsigned char family = AF_UNSPEC) {
  ifinfomsg info{};
  info.ifi_family = family;
  info.ifi_index = ifindex;
  info.ifi_flags = IFF_UP | IFF_LOWER_UP;
  info.ifi_change = change;
  return NetlinkBuilder(type, 0).header(info).put_string(IFLA_IFNAME, "ens1np0").bytes();
}

class LinkEventsFeed : public ::testing::Test {
 protected:
  void SetUp() override { set_port(kOurs); }
  void set_port(int ifindex) {
    InventoryPort port;
    port.ifindex = ifindex;
    feed.set_ports(host, std::vector<InventoryPort>{port}, SteadyTime());
  }
  FeedNews receive() { return feed.receive(host, SteadyTime()); }
  void inject(const Bytes& event) { host.inject(NETLINK_ROUTE, event); }
  /// The next news prompts these and nothing else.
  void expect(bool look, bool search, const char* why = "") {
    const FeedNews news = receive();
    EXPECT_EQ(news.look, look) << why;
    EXPECT_EQ(news.search, search) << why;
    EXPECT_FALSE(news.more) << why;
    EXPECT_TRUE(news.events.empty()) << "the carrier counts decide, not the event";
    EXPECT_TRUE(news.ports.empty() && news.removed.empty());
  }

  FakeHost host;
  LinkEvents feed{host};
};

TEST_F(LinkEventsFeed, EachEventPromptsWhatItMayHaveChanged) {
  struct {
    const char* what;
    Bytes event;
    bool look, search;
  } const rows[] = {
      {"change of our port", link_event(RTM_NEWLINK, kOurs, IFF_UP), true, false},
      {"change of another device", link_event(RTM_NEWLINK, kOther, IFF_UP), false, false},
      {"another device appears", link_event(RTM_NEWLINK, kOther, kAllBits), false, true},
      {"another device disappears", link_event(RTM_DELLINK, kOther, kAllBits), false, true},
      {"our port disappears", link_event(RTM_DELLINK, kOurs, kAllBits), true, true},
      {"our port leaves a bridge", link_event(RTM_DELLINK, kOurs, kAllBits, AF_BRIDGE), false,
       false},
      {"another message", link_event(RTM_NEWADDR, kOurs, kAllBits), false, false},
      {"a cut message", testing::cut(link_event(RTM_NEWLINK, kOurs, IFF_UP), 20), false, false},
      {"an empty message", {}, false, false}};
  for (const auto& row : rows) {
    inject(row.event);
    expect(row.look, row.search, row.what);
    expect(false, false, "once");
  }
  for (const auto& row : rows) inject(row.event);
  expect(true, true, "a damaged message hides no other");
}

TEST_F(LinkEventsFeed, APortThatGoesToAnotherNetworkNamespaceIsReportedAsMoved) {
  ifinfomsg info{};
  info.ifi_index = kOurs;
  info.ifi_change = kAllBits;
  inject(NetlinkBuilder(RTM_DELLINK, 0).header(info).put_u32(IFLA_NEW_NETNSID, 0).bytes());
  const FeedNews news = receive();
  EXPECT_TRUE(news.search);
  EXPECT_EQ(news.moved, std::set<std::uint32_t>{kOurs});
}

TEST_F(LinkEventsFeed, OurPortsAreThoseOfTheLastSearch) {
  set_port(kOther);
  inject(link_event(RTM_NEWLINK, kOurs, IFF_UP));
  expect(false, false);
  inject(link_event(RTM_NEWLINK, kOther, IFF_UP));
  expect(true, false);
}

TEST_F(LinkEventsFeed, LostEventsPromptALookASearchAndAnotherReceive) {
  inject(link_event(RTM_NEWLINK, kOther, IFF_UP));
  host.inject_error(NETLINK_ROUTE, ENOBUFS);
  const FeedNews lost = receive();
  EXPECT_TRUE(lost.look && lost.search);
  EXPECT_TRUE(lost.more) << "later events wait behind those that were lost";
  expect(false, false);
}

TEST_F(LinkEventsFeed, AnEventMakesTheDescriptorReadable) {
  pollfd waits{feed.fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&waits, 1, 0), 0);
  inject(link_event(RTM_NEWLINK, kOurs, IFF_UP));
  EXPECT_EQ(::poll(&waits, 1, 0), 1);
  receive();
  EXPECT_EQ(::poll(&waits, 1, 0), 0);
  EXPECT_TRUE(feed.gaps().empty());
}

TEST(LinkEvents, WithoutPermissionThereIsAGapAndInACopiedTreeThereIsNone) {
  for (const int errnum : {EPERM, EOPNOTSUPP}) {
    FakeHost host;
    host.refuse_listeners(errnum);
    LinkEvents feed(host);
    EXPECT_EQ(feed.fd(), -1);
    const std::vector<Gap> gap = {{"", "link_events", "netlink listen: Operation not permitted"}};
    EXPECT_EQ(feed.gaps(), errnum == EPERM ? gap : std::vector<Gap>());
    const FeedNews news = feed.receive(host, SteadyTime());
    EXPECT_FALSE(news.look || news.search || news.more);
  }
}

Bytes bytes_of(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}
Bytes device_event(const std::string& action, const std::string& subsystem,
                   const std::string& path) {
  return bytes_of(action + "@" + path + "\0ACTION="s + action + "\0DEVPATH="s + path +
                  "\0SUBSYSTEM="s + subsystem + "\0SEQNUM=4711\0"s);
}

TEST(DeviceEvent, IsParsed) {
  const auto parsed = parse_uevent(
      device_event("add", "infiniband", "/devices/pci0000:00/0000:1b:00.0/infiniband/mlx5_0"));
  ASSERT_TRUE(parsed && *parsed);
  EXPECT_EQ((*parsed)->action, "add");
  EXPECT_EQ((*parsed)->name, "mlx5_0");
  EXPECT_EQ((*parsed)->number, 4711U);
}

TEST(DeviceEvent, DamageIsRefused) {
  for (const std::string& text : {""s, "add"s, "add@/x"s, "add@/x\0"s, "libudev\0\xfe\xed\xca\xfe"s,
                                  "add@/x\0ACTION=add\0DEVPATH=/x\0"s,
                                  "add@/x\0ACTION=add\0DEVPATH=/x\0SUBSYSTEM=net"s, "\0\0\0\0"s})
    EXPECT_FALSE(parse_uevent(bytes_of(text))) << text;
}

class DeviceEventsFeed : public ::testing::Test {
 protected:
  FeedNews receive() { return feed.receive(host, SteadyTime()); }
  void inject(const Bytes& event) { host.inject(NETLINK_KOBJECT_UEVENT, event); }
  FakeHost host;
  DeviceEvents feed{host};
};

TEST_F(DeviceEventsFeed, ADeviceThatAppearsDisappearsOrIsRenamedPromptsASearch) {
  for (const char* action : {"add", "remove", "move"}) {
    inject(device_event(action, "infiniband", "/devices/virtual/infiniband/rxe0"));
    EXPECT_TRUE(receive().search) << action;
  }
  EXPECT_FALSE(receive().search) << "once";
  inject(device_event("add", "block", "/devices/virtual/block/loop0"));
  inject(device_event("change", "net", "/devices/virtual/net/so0"));
  inject(bytes_of("libudev"));
  EXPECT_FALSE(receive().search) << "no port is concerned";
  host.inject_error(NETLINK_KOBJECT_UEVENT, ENOBUFS);
  EXPECT_TRUE(receive().search) << "events were lost";
}

TEST_F(DeviceEventsFeed, ARemovedDeviceIsNamedWithTheNumberOfItsEvent) {
  inject(device_event("remove", "infiniband", "/devices/x/infiniband/mlx5_0"));
  inject(device_event("add", "infiniband", "/devices/x/infiniband/mlx5_0"));
  EXPECT_THAT(receive().removed, ::testing::ElementsAre(std::pair("mlx5_0", 4711U)));
  EXPECT_TRUE(receive().removed.empty());
  EXPECT_EQ(latest_device_event(host), 0U);
  host.set("/sys/kernel/uevent_seqnum", "4711\n");
  EXPECT_EQ(latest_device_event(host), 4711U);
}

template <typename Feed>
class KernelEventsLive : public ::testing::Test {};
using Feeds = ::testing::Types<LinkEvents, DeviceEvents>;
TYPED_TEST_SUITE(KernelEventsLive, Feeds);

TYPED_TEST(KernelEventsLive, TheKernelAcceptsTheSubscription) {
  LiveHost host;
  TypeParam feed(host);
  EXPECT_GE(feed.fd(), 0);
  EXPECT_TRUE(feed.gaps().empty());
  feed.receive(host, SteadyTime());  // any events: no failure
}

}  // namespace
}  // namespace linkhealth
