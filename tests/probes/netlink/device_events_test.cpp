#include "probes/netlink/device_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>

#include <cerrno>
#include <string>

#include "probes/live_host.h"
#include "tests/support/fake_host.h"

namespace linkhealth {
namespace {

using namespace std::string_literals;
using testing::FakeHost;

Bytes bytes_of(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}
Bytes event(const std::string& action, const std::string& subsystem, const std::string& path) {
  return bytes_of(action + "@" + path + "\0ACTION="s + action + "\0DEVPATH="s + path +
                  "\0SUBSYSTEM="s + subsystem + "\0SEQNUM=4711\0"s);
}

TEST(DeviceEvent, IsParsed) {
  const auto parsed = parse_uevent(
      event("add", "infiniband", "/devices/pci0000:00/0000:1b:00.0/infiniband/mlx5_0"));
  ASSERT_TRUE(parsed && *parsed);
  EXPECT_EQ((*parsed)->action, "add");
  EXPECT_EQ((*parsed)->subsystem, "infiniband");
  EXPECT_EQ((*parsed)->name, "mlx5_0");
  EXPECT_EQ((*parsed)->number, 4711U);
}

TEST(DeviceEvent, OfAnotherSubsystemIsNone) {
  const auto parsed = parse_uevent(event("add", "block", "/devices/virtual/block/loop0"));
  ASSERT_TRUE(parsed);
  EXPECT_FALSE(*parsed);
}

TEST(DeviceEvent, WhatIsDamagedIsRefused) {
  for (const std::string& text : {""s, "add"s, "add@/x"s, "add@/x\0"s, "libudev\0\xfe\xed\xca\xfe"s,
                                  "add@/x\0ACTION=add\0DEVPATH=/x\0"s,
                                  "add@/x\0ACTION=add\0DEVPATH=/x\0SUBSYSTEM=net"s, "\0\0\0\0"s})
    EXPECT_FALSE(parse_uevent(bytes_of(text))) << text;
}

class DeviceEventsFeed : public ::testing::Test {
 protected:
  FeedNews receive() { return feed.receive(host, SteadyTime()); }
  void inject(const std::string& action, const std::string& subsystem, const std::string& path) {
    host.inject(NETLINK_KOBJECT_UEVENT, event(action, subsystem, path));
  }
  FakeHost host;
  DeviceEvents feed{host};
};

TEST_F(DeviceEventsFeed, ADeviceThatComesGoesOrIsRenamedPromptsASearch) {
  for (const char* action : {"add", "remove", "move"}) {
    inject(action, "infiniband", "/devices/virtual/infiniband/rxe0");
    EXPECT_TRUE(receive().search) << action;
  }
  EXPECT_FALSE(receive().search) << "once";
}

TEST_F(DeviceEventsFeed, WhatConcernsNoPortPromptsNothing) {
  inject("add", "block", "/devices/virtual/block/loop0");
  inject("change", "net", "/devices/virtual/net/so0");
  host.inject(NETLINK_KOBJECT_UEVENT, bytes_of("libudev"));
  EXPECT_FALSE(receive().search);
}

TEST_F(DeviceEventsFeed, WhatWasRemovedIsNamedWithTheNumberOfTheEvent) {
  inject("remove", "infiniband", "/devices/x/infiniband/mlx5_0");
  inject("add", "infiniband", "/devices/x/infiniband/mlx5_0");
  EXPECT_THAT(receive().removed, ::testing::ElementsAre(std::pair("mlx5_0", 4711U)));
  EXPECT_TRUE(receive().removed.empty());
}

TEST_F(DeviceEventsFeed, TheKernelSaysTheLatestNumber) {
  EXPECT_EQ(latest_device_event(host), 0U);
  host.set("/sys/kernel/uevent_seqnum", "4711\n");
  EXPECT_EQ(latest_device_event(host), 4711U);
}

TEST_F(DeviceEventsFeed, LostEventsPromptASearch) {
  host.inject_error(NETLINK_KOBJECT_UEVENT, ENOBUFS);
  EXPECT_TRUE(receive().search);
}

TEST(DeviceEventsLive, TheKernelLetsUsListen) {
  LiveHost host;
  DeviceEvents feed(host);
  EXPECT_GE(feed.fd(), 0);
  EXPECT_TRUE(feed.gaps().empty());
  feed.receive(host, SteadyTime());  // whatever comes: nothing that fails
}

}  // namespace
}  // namespace linkhealth
