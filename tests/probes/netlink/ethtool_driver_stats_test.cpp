#include "probes/netlink/ethtool_driver_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "probes/live_host.h"
#include "tests/probes/netlink/fake_driver.h"
#include "tests/support/fake_host.h"

namespace linkhealth {
namespace {

using ::testing::ElementsAre;
using testing::FakeDriver;
using testing::FakeHost;

class EthtoolDriverStats : public ::testing::Test {
 protected:
  EthtoolDriverStats() {
    host_.set_ethtool(
        [this](const std::string& netdev, std::span<std::byte> command) -> Result<bool> {
          if (netdev != "eth0") return Error{"no such device", ENODEV};
          return driver_(command);
        });
  }
  FakeHost host_;
  FakeDriver driver_{{{"rx0_packets", 7},
                      {"link_down_events_phy", 3},
                      {"rx_corrected_bits_phy", 198},
                      {"rx_err_lane_0_phy", 6},
                      {"rx_err_lane_1_phy", 2},
                      {"rx_err_lane_2_phy", 190},
                      {"rx_err_lane_3_phy", 0}}};
  DriverStatisticsReader reader_;
};

TEST_F(EthtoolDriverStats, ReadsWhatTheCounterTableKnows) {
  const auto read = reader_.read(host_, "eth0");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->counters.get("link_down_events_phy"), 3U);
  EXPECT_EQ(read->counters.get("rx_corrected_bits_phy"), 198U);
  EXPECT_FALSE(read->counters.get("rx0_packets"))
      << "thousands of queues' statistics are left where they are";
  EXPECT_THAT(read->lane_corrected_bits, ElementsAre(6, 2, 190, 0));
  EXPECT_EQ(read->counters.size(), 6U);
}

TEST_F(EthtoolDriverStats, ReadsNamesOnceAndAgainWhenTheirNumberChanges) {
  ASSERT_TRUE(reader_.read(host_, "eth0"));
  ASSERT_TRUE(reader_.read(host_, "eth0"));
  EXPECT_EQ(driver_.name_reads, 1);
  driver_.statistics.insert(driver_.statistics.begin(), {"rx1_packets", 9});
  const auto read = reader_.read(host_, "eth0");
  ASSERT_TRUE(read);
  EXPECT_EQ(driver_.name_reads, 2);
  EXPECT_EQ(read->counters.get("link_down_events_phy"), 3U) << "found at its new place";
}

TEST_F(EthtoolDriverStats, ANumberThatChangesBetweenTwoRequestsGivesNoReading) {
  ASSERT_TRUE(reader_.read(host_, "eth0"));
  driver_.appear_after_count = 1;
  const auto torn = reader_.read(host_, "eth0");
  ASSERT_FALSE(torn) << "values under wrong names are worse than none";
  EXPECT_EQ(torn.error().errnum, EAGAIN);
  const auto next = reader_.read(host_, "eth0");
  ASSERT_TRUE(next);
  EXPECT_EQ(next->counters.get("link_down_events_phy"), 3U);
}

TEST_F(EthtoolDriverStats, ADriverWithoutKnownCountersIsNotReadForValues) {
  driver_.statistics = {{"peer_ifindex", 4}};
  const auto read = reader_.read(host_, "eth0");
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->counters.empty());
  EXPECT_EQ(driver_.value_reads, 0);
}

TEST_F(EthtoolDriverStats, FailuresKeepTheirErrno) {
  EXPECT_EQ(reader_.read(host_, "gone0").error().errnum, ENODEV);
  driver_.statistics.clear();
  EXPECT_EQ(reader_.read(host_, "eth0").error().errnum, EOPNOTSUPP);
  FakeHost bare;
  EXPECT_EQ(reader_.read(bare, "eth0").error().errnum, EOPNOTSUPP);
}

// The real ioctl, on the loopback device that every Linux has: it has no statistics.
TEST(EthtoolDriverStatsLive, TheLoopbackHasNone) {
  LiveHost host;
  DriverStatisticsReader reader;
  EXPECT_EQ(reader.read(host, "lo").error().errnum, EOPNOTSUPP);
  EXPECT_EQ(reader.read(host, "no-such-dev0").error().errnum, ENODEV);
  EXPECT_EQ(reader.read(host, "a-name-too-long-for-a-netdev").error().errnum, ENODEV);
}

// The kernel writes past the end of what it is given: EFAULT, and no byte of ours is touched.
TEST(EthtoolDriverStatsLive, TheKernelCannotWriteBeyondTheCommand) {
  LiveHost host;
  const std::uint32_t get_link = ETHTOOL_GLINK;  // answers with 8 bytes
  Bytes whole(8);
  std::memcpy(whole.data(), &get_link, sizeof(get_link));
  if (!host.ethtool("lo", whole)) GTEST_SKIP() << "this kernel's loopback has no ethtool";
  Bytes command(4);
  std::memcpy(command.data(), &get_link, sizeof(get_link));
  const Bytes before = command;
  EXPECT_EQ(host.ethtool("lo", command).error().errnum, EFAULT);
  EXPECT_EQ(command, before);
  EXPECT_EQ(LiveHost("/nonexistent").ethtool("lo", command).error().errnum, EOPNOTSUPP)
      << "a copied tree has no ioctl";
}

}  // namespace
}  // namespace linkhealth
