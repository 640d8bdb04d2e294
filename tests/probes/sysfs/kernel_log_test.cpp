#include "probes/sysfs/kernel_log.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/support/fake_host.h"

namespace linkhealth {
namespace {

using testing::FakeHost;

class KernelLogFeed : public ::testing::Test {
 protected:
  void SetUp() override {
    ports = {port("mlx5_0", "ens1np0", "0000:1b:00.0"), port("mlx5_1", "ens2np0", "0000:3b:00.0")};
    host.set("/sys/devices/pci0000:00/0000:00:1c.0/0000:1b:00.0/vendor", "0x15b3");
    host.link("/sys/bus/pci/devices/0000:1b:00.0",
              "/sys/devices/pci0000:00/0000:00:1c.0/0000:1b:00.0");
  }
  static InventoryPort port(const std::string& device, const std::string& netdev,
                            const std::string& pci) {
    InventoryPort made;
    made.id.device = device;
    made.id.netdev = netdev;
    made.id.pci = pci;
    made.id.port = 1;
    made.id.verbs = true;
    return made;
  }
  void log(double t_s, const std::string& text, const std::string& rest = "") {
    host.add_record(kKernelLogPath,
                    fmt::format("4,{},{:.0f},-;{}\n{}", ++sequence, t_s * 1e6, text, rest));
  }
  FeedNews receive(double now_s) { return feed->receive(host, steady_from_seconds(now_s)); }
  void start() {
    if (sequence == 0) log(0, "Linux version 6.1");
    feed.emplace(host);
    feed->set_ports(host, ports, steady_from_seconds(0));
  }

  FakeHost host;
  std::vector<InventoryPort> ports;
  std::optional<KernelLog> feed;
  std::uint64_t sequence = 0;
};

TEST_F(KernelLogFeed, LinesFromBeforeTheStartComeWithTheirOwnTime) {
  log(12.5,
      "mlx5_core 0000:1b:00.0: poll_health:174: device's health compromised - reached miss count.");
  start();
  const FeedNews news = receive(900);
  ASSERT_EQ(news.events.size(), 1U);
  EXPECT_EQ(news.events[0].t, steady_from_seconds(12.5));
  EXPECT_EQ(news.events[0].port, "mlx5_0/1");
  EXPECT_EQ(news.events[0].kind, PortEventKind::kKernelLog);
  EXPECT_THAT(news.events[0].text, ::testing::HasSubstr("health compromised"));
}

TEST_F(KernelLogFeed, AKernelClockThatDriftedForMonthsMovesNoLine) {
  constexpr double kNow = 8'640'000;  // a hundred days
  start();
  receive(kNow);
  for (const double off : {-130.0, 130.0}) {
    log(kNow + off, "mlx5_core 0000:1b:00.0: TX timeout detected");
    const FeedNews news = receive(kNow + 200 + off);
    ASSERT_EQ(news.events.size(), 1U) << off;
    EXPECT_EQ(news.events[0].t, steady_from_seconds(kNow + 200 + off)) << off;
  }
  log(kNow + 1000 - 130, "mlx5_core 0000:5e:00.0: TX timeout detected");
  EXPECT_TRUE(receive(kNow + 1000).events.empty()) << "a driver that is being loaded";
  ports.push_back(port("mlx5_2", "ens3np0", "0000:5e:00.0"));
  feed->set_ports(host, ports, steady_from_seconds(kNow + 1002));
  EXPECT_EQ(receive(kNow + 1002).events.size(), 1U);
}

TEST_F(KernelLogFeed, ReadsNothingBeforeThePortsAreKnown) {
  log(1, "mlx5_core 0000:1b:00.0: TX timeout detected");
  feed.emplace(host);
  EXPECT_TRUE(receive(2).events.empty());
  feed->set_ports(host, ports, steady_from_seconds(2));
  EXPECT_EQ(receive(2).events.size(), 1U);
}

TEST_F(KernelLogFeed, OtherLinesAreNeverKept) {
  start();
  log(1, "audit: user=alice secret 0000:1b:00.0 ens1np0");
  log(1,
      "mlx5_core 0000:1b:00.0: mlx5_cmd_out_err:838: ACCESS_REG(0x805) op_mod(0x1) failed, "
      "firmware error");
  host.add_record(kKernelLogPath, "30,9,1000000,-;systemd[1]: ens1np0: Link down");
  host.add_record(kKernelLogPath, "garbage");
  const FeedNews news = receive(2);
  EXPECT_TRUE(news.events.empty());
  EXPECT_TRUE(news.gaps.empty());
  EXPECT_TRUE(news.heard) << "so that a flood of them costs few wake-ups, too";
  EXPECT_FALSE(receive(3).heard);
}

TEST_F(KernelLogFeed, ANameFromAnotherNetworkNamespaceIsNotOurPort) {
  start();
  log(1, "mlx5_core 0000:3b:00.0 ens1np0: TX timeout detected");
  log(1, "mlx5_core 0000:3b:01.2 ens1np0: Link down");
  const FeedNews news = receive(2);
  ASSERT_EQ(news.events.size(), 1U) << "the second card is not watched";
  EXPECT_EQ(news.events[0].port, "mlx5_1/1");
  ports.push_back(port("rxe0", "so0", ""));
  feed->set_ports(host, ports, steady_from_seconds(3));
  log(3, "mlx5_core 0000:99:00.0 so0: TX timeout detected");
  const FeedNews soft = receive(4);
  ASSERT_EQ(soft.events.size(), 1U) << "a port without an address is known by its name";
  EXPECT_EQ(soft.events[0].port, "rxe0/1");
}

TEST_F(KernelLogFeed, NetdevAddressBridgeAndDeviceFieldNameAPort) {
  start();
  log(1, "NETDEV WATCHDOG: ens2np0 (mlx5_core): transmit queue 3 timed out");
  log(1, "mlx5_core 0000:3b:00.0: Port module event: module 0, Cable unplugged");
  log(1, "pcieport 0000:00:1c.0: pciehp: Slot(5): Link Down");
  log(1, "device's health compromised", " SUBSYSTEM=pci\n DEVICE=+pci:0000:1b:00.0\n");
  log(1, "mlx5_core 0000:99:00.0: TX timeout detected");
  const FeedNews news = receive(2);
  std::vector<PortKey> where;
  for (const PortEvent& event : news.events) where.push_back(event.port);
  EXPECT_THAT(where, ::testing::ElementsAre("mlx5_1/1", "mlx5_1/1", "mlx5_0/1", "mlx5_0/1"));
  EXPECT_THAT(news.modules, ::testing::ElementsAre("mlx5_1/1")) << "the pulled module is read";
}

TEST_F(KernelLogFeed, TheSameLineIsOneEventAMinute) {
  start();
  for (int i = 0; i < 500; ++i)
    log(100 + i * 0.1, "pcieport 0000:00:1c.0: AER: Corrected error received: 0000:1b:00.0");
  EXPECT_EQ(receive(151).events.size(), 1U);
  EXPECT_TRUE(receive(161).events.empty());
  log(162, "pcieport 0000:00:1c.0: AER: Corrected error received: 0000:1b:00.0");
  EXPECT_EQ(receive(163).events.size(), 1U);
}

TEST_F(KernelLogFeed, LinesThatWereOverwrittenAreAGapAndReadingGoesOn) {
  start();
  receive(1);
  host.fail_records(kKernelLogPath, EPIPE);
  log(2, "mlx5_core 0000:1b:00.0: TX timeout detected");
  FeedNews news = receive(2);
  ASSERT_EQ(news.gaps.size(), 1U);
  EXPECT_EQ(news.gaps[0].probe, "kernel_log");
  EXPECT_TRUE(news.more);
  EXPECT_EQ(receive(2).events.size(), 1U);
  EXPECT_TRUE(feed->gaps().empty()) << "of that time only";
}

TEST_F(KernelLogFeed, WithoutRightsThereIsOneGapWithAHint) {
  host.refuse_records(kKernelLogPath, EPERM);
  start();
  EXPECT_EQ(feed->fd(), -1);
  EXPECT_TRUE(receive(1).events.empty());
  ASSERT_EQ(feed->gaps().size(), 1U);
  EXPECT_THAT(feed->gaps()[0].reason, ::testing::HasSubstr("CAP_SYSLOG"));
}

TEST_F(KernelLogFeed, ALineFromBeforeItsPortIsFoundIsKept) {
  start();
  log(10,
      "mlx5_core 0000:5e:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 "
      "link at 0000:1a:00.0");
  log(10, "secret of 0000:5e:00.0");
  EXPECT_TRUE(receive(10).events.empty());
  ports.push_back(port("mlx5_2", "ens3np0", "0000:5e:00.0"));
  feed->set_ports(host, ports, steady_from_seconds(12));
  const FeedNews news = receive(12);
  ASSERT_EQ(news.events.size(), 1U);
  EXPECT_EQ(news.events[0].port, "mlx5_2/1");
  feed->set_ports(host, ports, steady_from_seconds(13));
  EXPECT_TRUE(receive(13).events.empty()) << "once";
}

TEST_F(KernelLogFeed, ALineOfAPortThatIsGoneIsReported) {
  start();
  feed->set_ports(host, std::span(ports).subspan(1), steady_from_seconds(5));
  log(5, "pcieport 0000:00:1c.0: pciehp: Slot(5): Card not present");
  EXPECT_EQ(receive(5).events.size(), 1U);
  // Renamed: the old name is forgotten, so the line is reported once.
  ports[0].id.device = "roce0";
  feed->set_ports(host, ports, steady_from_seconds(6));
  log(66, "mlx5_core 0000:1b:00.0: TX timeout detected");
  const FeedNews news = receive(66);
  ASSERT_EQ(news.events.size(), 1U);
  EXPECT_EQ(news.events[0].port, "roce0/1");
}

TEST_F(KernelLogFeed, AFloodIsBoundedAndAGap) {
  ports.clear();
  for (int i = 0; i < 64; ++i)
    ports.push_back(port(fmt::format("mlx5_{}", i), fmt::format("eth{}", i),
                         fmt::format("0000:{:02x}:00.0", i)));
  start();
  for (int i = 0; i < 64; ++i)
    for (const char* text : {"Link up", "Link down", "TX timeout detected", "TX is disabled",
                             "Fatal error 1 detected"})
      log(10, fmt::format("mlx5_core 0000:{:02x}:00.0 eth{}: {}", i, i, text));
  const FeedNews news = receive(11);
  EXPECT_EQ(news.events.size(), KernelLog::kMaxPerMinute);
  ASSERT_EQ(news.gaps.size(), 1U);
}

}  // namespace
}  // namespace linkhealth
