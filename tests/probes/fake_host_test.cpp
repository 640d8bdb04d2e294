#include "tests/support/fake_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace linkhealth {
namespace {

using ::testing::ElementsAre;
using testing::FailingHost;
using testing::FakeHost;

TEST(FakeHost, FollowsLinks) {
  FakeHost host;
  host.set("/sys/devices/x/net/eth0/mtu", "1500\n");
  host.link("/sys/class/net/eth0", "../../devices/x/net/eth0");
  EXPECT_EQ(*host.read_file("/sys/class/net/eth0/mtu"), "1500\n");
  EXPECT_EQ(*host.resolve("/sys/class/net/eth0"), "/sys/devices/x/net/eth0");
  EXPECT_THAT(*host.list_dir("/sys/class/net"), ElementsAre("eth0"));
  EXPECT_EQ(host.read_file("/sys/class/net/eth1/mtu").error().errnum, ENOENT);
}

TEST(FakeHost, AnOpenDirectoryOfARemovedDeviceStaysDead) {
  FakeHost host;
  host.set("/sys/d/a", "1");
  auto dir = host.open_dir("/sys/d");
  host.set("/sys/d/a", "2");
  EXPECT_EQ(*(*dir)->read_file("a"), "2");
  host.remove("/sys/d");
  host.set("/sys/d/a", "3");
  EXPECT_EQ((*dir)->read_file("a").error().errnum, ENOENT);
  EXPECT_EQ(*host.read_file("/sys/d/a"), "3");
}

TEST(FakeHost, AnOpenDirectoryFollowsARename) {
  FakeHost host;
  host.set("/sys/d/a", "1");
  auto dir = host.open_dir("/sys/d");
  host.rename("/sys/d", "/sys/e");
  EXPECT_EQ(*(*dir)->read_file("a"), "1");
  EXPECT_FALSE(host.read_file("/sys/d/a"));
}

TEST(FakeHost, EventsComeOnceAndErrorsToo) {
  FakeHost host;
  auto events = host.listen(0, {});
  host.inject(0, Bytes(3));
  host.inject_error(0, ENOBUFS);
  EXPECT_EQ((*events)->receive().error().errnum, ENOBUFS);
  EXPECT_EQ((*events)->receive()->size(), 1U);
  EXPECT_TRUE((*events)->receive()->empty());
}

TEST(FailingHost, FailsByPatternAndCounts) {
  FakeHost fake;
  fake.set("/sys/a", "12345");
  FailingHost host(fake);
  auto dir = host.open_dir("/sys");
  host.fail("/sys/*", EINVAL, 1);
  EXPECT_EQ((*dir)->read_file("a").error().errnum, EINVAL);
  EXPECT_EQ(*(*dir)->read_file("a"), "12345");
  host.replace("/sys/a", "N/A (no PMA)\n");
  EXPECT_EQ(*(*dir)->read_file("a"), "N/A (no PMA)\n");
  EXPECT_EQ(host.reads("/sys/a"), 3U);
  host.heal();
  EXPECT_EQ(*(*dir)->read_file("a"), "12345");
}

}  // namespace
}  // namespace linkhealth
