#include "tests/support/fake_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>

namespace linkhealth {
namespace {

using ::testing::ElementsAre;
using testing::FailingHost;
using testing::FakeHost;

std::string read_kept(HostFile& file) {
  std::array<char, 64> buffer{};
  const auto size = file.read(buffer);
  return size ? std::string(buffer.data(), *size) : "errno " + std::to_string(size.error().errnum);
}

TEST(FakeHost, FollowsLinks) {
  FakeHost host;
  host.set("/sys/devices/x/net/eth0/mtu", "1500\n");
  host.link("/sys/class/net/eth0", "../../devices/x/net/eth0");
  EXPECT_EQ(*host.read_file("/sys/class/net/eth0/mtu"), "1500\n");
  EXPECT_EQ(*host.resolve("/sys/class/net/eth0"), "/sys/devices/x/net/eth0");
  EXPECT_THAT(*host.list_dir("/sys/class/net"), ElementsAre("eth0"));
  EXPECT_EQ(host.read_file("/sys/class/net/eth1/mtu").error().errnum, ENOENT);
}

TEST(FakeHost, AnOpenFileOfARemovedDeviceStaysDead) {
  FakeHost host;
  host.set("/sys/d/a", "1");
  auto file = host.open_file("/sys/d/a");
  host.set("/sys/d/a", "2");
  EXPECT_EQ(read_kept(**file), "2");
  host.remove("/sys/d");
  host.set("/sys/d/a", "3");
  EXPECT_EQ(read_kept(**file), "errno " + std::to_string(ENODEV));
  EXPECT_EQ(*host.read_file("/sys/d/a"), "3");
}

TEST(FakeHost, AnOpenFileFollowsARename) {
  FakeHost host;
  host.set("/sys/d/a", "1");
  auto file = host.open_file("/sys/d/a");
  host.rename("/sys/d", "/sys/e");
  EXPECT_EQ(read_kept(**file), "1");
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
  auto file = host.open_file("/sys/a");
  host.fail("/sys/*", EINVAL, 1);
  EXPECT_EQ(read_kept(**file), "errno " + std::to_string(EINVAL));
  EXPECT_EQ(read_kept(**file), "12345");
  host.truncate("*", 2);
  EXPECT_EQ(*host.read_file("/sys/a"), "12");
  host.replace("/sys/a", "N/A (no PMA)\n");
  EXPECT_EQ(read_kept(**file), "N/A (no PMA)\n");
  EXPECT_EQ(host.reads("/sys/a"), 4U);
  host.heal();
  EXPECT_EQ(read_kept(**file), "12345");
}

}  // namespace
}  // namespace linkhealth
