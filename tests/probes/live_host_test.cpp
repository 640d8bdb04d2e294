#include "probes/live_host.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "tests/support/fake_host.h"

namespace linkhealth {
namespace {

namespace fs = std::filesystem;
using testing::FailingHost;
using testing::FakeHost;

/// A small tree that stands for /sys, and a secret file next to it.
class LiveHostTree : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "linkhealth-sysroot-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    top_ = name;
    sys_ = top_ / "sys";
    put(sys_ / "devices/pci0/net/eth0/speed", "400000\n");
    put(top_ / "secret", "outside\n");
    fs::create_directories(sys_ / "class/net");
    fs::create_symlink("../../devices/pci0/net/eth0", sys_ / "class/net/eth0");
  }
  void TearDown() override { fs::remove_all(top_); }

  static void put(const fs::path& path, const std::string& content) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << content;
  }

  fs::path top_, sys_;
};

TEST_F(LiveHostTree, ReadsThroughSymlinksBelowTheRoot) {
  for (const fs::path& root : {sys_, top_, sys_ / ""}) {
    LiveHost host(root);
    const auto content = host.read_file("/sys/class/net/eth0/speed");
    ASSERT_TRUE(content) << content.error().message;
    EXPECT_EQ(*content, "400000\n");
    EXPECT_EQ(*host.resolve("/sys/class/net/eth0"), "/sys/devices/pci0/net/eth0");
    EXPECT_THAT(*host.list_dir("/sys/class/net"), ::testing::ElementsAre("eth0"));
  }
}

TEST_F(LiveHostTree, LinksInTheMiddleAndAtTheEndAreFollowed) {
  fs::create_directories(sys_ / "devices/pci0/0000:01:00.0/net/eth1/queues");
  put(sys_ / "devices/pci0/0000:01:00.0/vendor", "0x15b3\n");
  fs::create_symlink("../..", sys_ / "devices/pci0/0000:01:00.0/net/eth1/device");
  fs::create_symlink("../../devices/pci0/0000:01:00.0/net/eth1", sys_ / "class/net/eth1");
  LiveHost host(sys_);
  const std::string function = "/sys/devices/pci0/0000:01:00.0";
  EXPECT_EQ(*host.resolve("/sys/class/net/eth1/device"), function);
  EXPECT_EQ(*host.resolve("/sys/class/net/eth1/device/net/eth1/device/net"), function + "/net");
  EXPECT_EQ(*host.resolve("/sys/class/net/eth1/queues/../device/vendor"), function + "/vendor");
  EXPECT_EQ(*host.resolve("/sys/class/net/eth1/../eth1"), "/sys/devices/pci0/0000:01:00.0/net/eth1")
      << "\"..\" of a link is that of where it leads";
  EXPECT_EQ(*host.read_file("/sys/class/net/eth1/device/vendor"), "0x15b3\n");
  EXPECT_THAT(*host.list_dir("/sys/class/net/eth1/device/net"), ::testing::ElementsAre("eth1"));
  EXPECT_EQ(host.resolve("/sys/class/net/eth1/device/physfn").error().errnum, ENOENT);
  EXPECT_EQ(host.resolve("/sys/class/net/eth1/device/vendor/x").error().errnum, ENOTDIR);
  fs::create_symlink("/sys/devices/pci0/net/eth0", sys_ / "class/net/absolute");
  EXPECT_EQ(*host.read_file("/sys/class/net/absolute/speed"), "400000\n") << "from the root";
  fs::create_symlink("b", sys_ / "a");
  fs::create_symlink("a", sys_ / "b");
  EXPECT_EQ(host.read_file("/sys/a").error().errnum, ELOOP);
}

TEST_F(LiveHostTree, AccessTimesOfACopyDoNotChange) {
  const fs::path file = sys_ / "devices/pci0/net/eth0/speed";
  const std::array<timespec, 2> long_ago{{{1'000'000'000, 0}, {1'000'000'000, 0}}};
  ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), long_ago.data(), 0), 0);
  LiveHost host(sys_);
  EXPECT_TRUE(host.read_file("/sys/devices/pci0/net/eth0/speed"));
  EXPECT_TRUE(host.read_file("/sys/class/net/eth0/speed"));
  EXPECT_TRUE(host.list_dir("/sys/devices/pci0/net/eth0"));
  struct stat status {};
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_atim.tv_sec, 1'000'000'000);
}

TEST_F(LiveHostTree, LinksNeverEscapeTheRoot) {
  fs::create_symlink(top_ / "secret", sys_ / "class/absolute");
  fs::create_symlink("../../secret", sys_ / "class/dots");
  fs::create_symlink("/sys/../../secret", sys_ / "class/both");
  LiveHost host(sys_);
  for (const char* path : {"/sys/class/absolute", "/sys/class/dots", "/sys/class/both",
                           "/sys/../secret", "/sys/class/net/eth0/../../../../../secret"})
    EXPECT_EQ(host.read_file(path).error().errnum, ENOENT) << path;
  fs::create_symlink(top_ / "secret", sys_ / "devices/pci0/net/eth0/link");
  EXPECT_EQ((*host.open_dir("/sys/class/net/eth0"))->read_file("link").error().errnum, ENOENT);
}

TEST_F(LiveHostTree, HasNoProcAndNoKernel) {
  LiveHost host(sys_);
  EXPECT_EQ(host.read_file("/proc/uptime").error().errnum, ENOENT);
  EXPECT_EQ(host.read_file("/etc/hostname").error().errnum, ENOENT);
  EXPECT_EQ(host.netlink(NETLINK_ROUTE, {}).error().errnum, EOPNOTSUPP);
  EXPECT_EQ(host.listen(NETLINK_ROUTE, {}).error().errnum, EOPNOTSUPP);
  EXPECT_EQ(host.netlink(NETLINK_ROUTE, {}).error().message, "not in a copied /sys tree");
}

TEST_F(LiveHostTree, OnlyRegularFilesAreRead) {
  ASSERT_EQ(mkfifo((sys_ / "fifo").c_str(), 0600), 0);
  LiveHost host(sys_);
  EXPECT_EQ(host.read_file("/sys/fifo").error().errnum, EINVAL);
  EXPECT_EQ((*host.open_dir("/sys"))->read_file("fifo").error().errnum, EINVAL);
  EXPECT_EQ(host.read_file("/sys/class").error().errnum, EISDIR);
  EXPECT_EQ(host.list_dir("/sys/devices/pci0/net/eth0/speed").error().errnum, ENOTDIR);
}

TEST_F(LiveHostTree, AFileIsBounded) {
  put(sys_ / "full", std::string(64 * 1024, 'x'));
  put(sys_ / "over", std::string(64 * 1024 + 1, 'x'));
  put(sys_ / "empty", "");
  LiveHost host(sys_);
  EXPECT_EQ(host.read_file("/sys/full")->size(), 64U * 1024);
  EXPECT_EQ(host.read_file("/sys/over").error().errnum, EFBIG);
  EXPECT_EQ(*host.read_file("/sys/empty"), "");
}

TEST_F(LiveHostTree, AnOpenDirectoryReadsPresentFilesAndDiesWithTheDevice) {
  for (const std::string& root : {std::string(sys_), std::string()}) {
    LiveHost host(root);
    const fs::path file = sys_ / "devices/pci0/net/eth0/speed";
    put(file, "400000\n");
    auto dir = host.open_dir(root.empty() ? file.parent_path().string()
                                          : std::string("/sys/class/net/eth0"));
    ASSERT_TRUE(dir);
    EXPECT_EQ(*(*dir)->read_file("speed"), "400000\n");
    put(file, "-1\n");
    EXPECT_EQ(*(*dir)->read_file("speed"), "-1\n");
    EXPECT_EQ((*dir)->read_file("mtu").error().errnum, ENOENT);
    fs::remove_all(file.parent_path());
    if (root.empty()) put(file, "200000\n");  // another device of the same name
    EXPECT_EQ((*dir)->read_file("speed").error().errnum, ENOENT);
  }
}

TEST(LiveHost, ReadsThisMachine) {
  LiveHost host;
  EXPECT_TRUE(host.read_file("/proc/uptime"));
  EXPECT_EQ(host.read_file("/sys/class/net/no-such-device/mtu").error().errnum, ENOENT);
  EXPECT_TRUE(host.list_dir("/sys/class"));
  EXPECT_EQ(*host.resolve("/sys/class/../class"), "/sys/class");
  EXPECT_EQ(LiveHost("/no/such/directory").list_dir("/sys/class/net").error().errnum, ENOENT);
}

// --- the Hosts of other tests

TEST(LiveHost, TheKernelLogIsThatWhichTheUnitHasOpened) {
  const OwnedFd given(open("/dev/kmsg", O_RDONLY | O_CLOEXEC));
  if (!given) GTEST_SKIP() << "no right to open /dev/kmsg";
  const OwnedFd before(dup(STDIN_FILENO));
  dup2(given.get(), STDIN_FILENO);
  LiveHost host;
  const auto records = host.open_records("/dev/kmsg");
  dup2(before.get(), STDIN_FILENO);
  ASSERT_TRUE(records) << records.error().message;
  EXPECT_NE(fcntl(given.get(), F_GETFL) & O_NONBLOCK, 0) << "another opening of the device";
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
