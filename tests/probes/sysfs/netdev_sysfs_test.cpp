#include "probes/sysfs/netdev_sysfs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/probes/sysfs/sysfs_tree.h"

namespace linkhealth {
namespace {

using testing::add_nic;
using ::testing::ElementsAre;
using testing::FailingHost;
using testing::FakeHost;
using testing::Nic;

class NetdevSysfs : public ::testing::Test {
 protected:
  NetdevSysfs() { add_nic(fake_, nic_); }
  NetdevReader reader() {
    return std::move(*NetdevReader::open(host_, take_inventory(fake_).ports.at(0)));
  }
  std::string file(const std::string& name) const { return nic_.netdev_dir() + "/" + name; }
  void put(const std::string& name, const std::string& text) { fake_.set(file(name), text + "\n"); }

  Nic nic_;
  FakeHost fake_;
  FailingHost host_{fake_};
  PortSample sample_;
  std::vector<Gap> gaps_;
};

TEST_F(NetdevSysfs, ReadsLinkAndStatistics) {
  auto port = reader();
  EXPECT_EQ(port.read_link(sample_.link, gaps_), ReadStatus::kOk);
  EXPECT_EQ(port.read_statistics(sample_, gaps_), ReadStatus::kOk);
  EXPECT_EQ(sample_.link->admin_up, true);
  EXPECT_EQ(sample_.link->carrier, true);
  EXPECT_EQ(port.read_speed_mbps(), 400000U);
  EXPECT_EQ(sample_.link->mtu_bytes, 4200U);
  EXPECT_EQ(sample_.link->carrier_up_count, 3U);
  EXPECT_EQ(sample_.link->carrier_down_count, 2U);
  EXPECT_EQ(sample_.counters->get("netdev_rx_crc_errors"), 7U);
  EXPECT_TRUE(gaps_.empty());
}

TEST_F(NetdevSysfs, AdministrativelyDownIsAValueNotAGap) {
  put("flags", "0x1002");
  put("operstate", "down");
  fake_.set_error(file("carrier"), EINVAL);
  fake_.set_error(file("speed"), EINVAL);
  auto port = reader();
  for (int cycle = 0; cycle < 3; ++cycle) {
    port.read_link(sample_.link, gaps_);
    EXPECT_EQ(sample_.link->admin_up, false);
    EXPECT_EQ(sample_.link->carrier, false);
    EXPECT_FALSE(port.read_speed_mbps());
    EXPECT_TRUE(gaps_.empty());
  }
  put("flags", "0x1003");
  put("operstate", "up");
  port.read_link(sample_.link, gaps_);
  EXPECT_EQ(sample_.link->carrier, true) << "no back-off after a value";
}

TEST_F(NetdevSysfs, FollowsTheCarrierByItsCounts) {
  auto port = reader();
  const auto read = [&] {
    sample_.link.reset();
    EXPECT_EQ(port.read_link(sample_.link, gaps_), ReadStatus::kOk);
    EXPECT_EQ(sample_.link->admin_up, true);
    return *sample_.link;
  };
  for (int cycle = 0; cycle < 3; ++cycle) EXPECT_EQ(read().carrier_up_count, 3U);
  // It goes down during a read, and is up again before the next one.
  put("carrier_down_count", "3");
  EXPECT_EQ(read().carrier_down_count, 3U);
  put("carrier_up_count", "4");
  EXPECT_EQ(read().carrier_up_count, 4U);
  EXPECT_EQ(read().carrier_up_count, 4U);
  put("carrier_down_count", "4");
  EXPECT_EQ(read().carrier, false);
  put("carrier_up_count", "5");
  const LinkSample back = read();
  EXPECT_EQ(back.carrier, true);
  EXPECT_EQ(back.carrier_up_count, 5U);
  put("flags", "0x1002");
  port.read_link(sample_.link, gaps_);
  EXPECT_EQ(sample_.link->admin_up, false);
  EXPECT_EQ(sample_.link->carrier, false);
  EXPECT_TRUE(gaps_.empty());
  EXPECT_EQ(host_.reads(file("carrier")), 0U) << "it waits for the RTNL lock";
}

TEST_F(NetdevSysfs, WithoutAnOperstateTheCarrierFileIsReadOnce) {
  put("operstate", "unknown");
  put("carrier", "0");
  auto port = reader();
  for (int cycle = 0; cycle < 100; ++cycle) {
    port.read_link(sample_.link, gaps_);
    EXPECT_EQ(sample_.link->carrier, false);
  }
  put("carrier_up_count", "4");
  port.read_link(sample_.link, gaps_);
  EXPECT_EQ(sample_.link->carrier, true);
  EXPECT_EQ(host_.reads(file("carrier")), 1U);
}

TEST_F(NetdevSysfs, WithoutCountsTheCarrierFileIsRead) {
  fake_.remove(file("carrier_up_count"));  // Linux before 4.16
  fake_.remove(file("carrier_down_count"));
  auto port = reader();
  port.read_link(sample_.link, gaps_);
  EXPECT_EQ(sample_.link->carrier, true);
  ASSERT_EQ(gaps_.size(), 1U) << "the kernel does not have them";
  EXPECT_EQ(gaps_[0].probe, "link");
  EXPECT_EQ(gaps_[0].reason, "carrier_up_count, carrier_down_count: ENOENT");
  put("carrier", "0");
  port.read_link(sample_.link, gaps_);
  EXPECT_EQ(sample_.link->carrier, false);
}

TEST(CarrierFollower, FollowsEveryChangeFromOperstate) {
  for (const bool from : {false, true})
    for (std::uint64_t gained = 0; gained < 4; ++gained)
      for (std::uint64_t lost = 0; lost < 4; ++lost) {
        if (from ? lost < gained || lost > gained + 1 : gained < lost || gained > lost + 1)
          continue;
        CarrierFollower follower;
        EXPECT_FALSE(follower.update(10, 20, std::nullopt));
        EXPECT_EQ(follower.update(10, 20, from), from);
        const bool now = (gained + lost) % 2 == 0 ? from : !from;
        EXPECT_EQ(follower.update(10 + gained, 20 + lost, from), now)
            << from << " " << gained << " " << lost;
      }
}

TEST(CarrierFollower, AnOperstateThatIsLateIsCorrected) {
  CarrierFollower follower;
  // The carrier was lost half a second ago, and operstate is still up.
  EXPECT_EQ(follower.update(3, 3, true), true);
  EXPECT_EQ(follower.update(3, 3, false), true) << "link-watch takes up to a second";
  EXPECT_EQ(follower.update(3, 3, false), true);
  EXPECT_EQ(follower.update(3, 3, false), false);
  EXPECT_EQ(follower.update(4, 3, false), true) << "the counts are ahead";
}

TEST_F(NetdevSysfs, ADownLinkHasNoSpeed) {
  put("operstate", "down");
  for (const char* none : {"-1\n", "4294967295\n", "0\n"}) {
    fake_.set(file("speed"), none);
    auto port = reader();
    PortSample sample;
    port.read_link(sample.link, gaps_);
    EXPECT_EQ(sample.link->carrier, false);
    EXPECT_FALSE(port.read_speed_mbps()) << none;
    EXPECT_TRUE(gaps_.empty()) << none;
  }
}

TEST_F(NetdevSysfs, UnreadableIsUnknownNotDown) {
  host_.fail(file("operstate"), EPERM);
  host_.replace(file("mtu"), "garbage\n");
  host_.replace(file("flags"), "\n");
  auto port = reader();
  EXPECT_EQ(port.read_link(sample_.link, gaps_), ReadStatus::kOk);
  EXPECT_FALSE(sample_.link->carrier);
  EXPECT_FALSE(sample_.link->admin_up);
  EXPECT_THAT(gaps_, ElementsAre(Gap{"mlx5_0/1", "link",
                                     "flags: empty; mtu: text \"garbage\"; operstate: EPERM"}));
  host_.fail("*/net/ens1np0/*", EIO);
  PortSample none;
  gaps_.clear();
  auto unreadable = reader();
  unreadable.read_link(none.link, gaps_);
  unreadable.read_statistics(none, gaps_);
  EXPECT_FALSE(none.link || none.counters);
  EXPECT_EQ(gaps_.size(), 2U);
}

TEST_F(NetdevSysfs, UnreadableStatisticsAreAGapOfTheirOwn) {
  host_.fail(file("statistics/rx_crc_errors"), EIO);
  auto port = reader();
  port.read_statistics(sample_, gaps_);
  EXPECT_THAT(gaps_, ElementsAre(Gap{"mlx5_0/1", "netdev_stats", "rx_crc_errors: EIO"}));
  gaps_.clear();
  fake_.refuse_list(nic_.netdev_dir() + "/statistics", EACCES);
  auto refused = reader();
  refused.read_statistics(sample_, gaps_);
  EXPECT_THAT(gaps_, ElementsAre(Gap{"mlx5_0/1", "netdev_stats", "statistics: EACCES"}));
}

TEST_F(NetdevSysfs, AnUnpluggedNetdevIsGone) {
  auto port = reader();
  port.read_link(sample_.link, gaps_);
  port.read_statistics(sample_, gaps_);
  fake_.remove(nic_.pci_dir());
  EXPECT_EQ(port.read_link(sample_.link, gaps_), ReadStatus::kGone);
  EXPECT_EQ(port.read_statistics(sample_, gaps_), ReadStatus::kGone);
  EXPECT_TRUE(gaps_.empty());
  EXPECT_EQ(NetdevReader::open(host_, InventoryPort{}).error().errnum, ENOENT) << "no netdev";
}

TEST_F(NetdevSysfs, ARenameIsFollowed) {
  auto port = reader();
  port.read_link(sample_.link, gaps_);
  fake_.rename(nic_.netdev_dir(), nic_.pci_dir() + "/net/rail0");
  fake_.set(nic_.pci_dir() + "/net/rail0/carrier_down_count", "9\n");
  EXPECT_EQ(port.read_link(sample_.link, gaps_), ReadStatus::kOk);
  EXPECT_EQ(sample_.link->carrier_down_count, 9U);
}

}  // namespace
}  // namespace linkhealth
