// What a port's reader makes of the kernel's answers by netlink, with messages that a kernel gave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include <cerrno>
#include <map>

#include "daemon/sampling/port_reader.h"
#include "probes/netlink/ethtool.h"
#include "tests/probes/netlink/netlink_fixtures.h"
#include "tests/probes/sysfs/sysfs_tree.h"
#include "tests/support/fake_host.h"

namespace linkhealth {
namespace {

using testing::captured;
using testing::FailingHost;
using testing::FakeHost;
using testing::Nic;

constexpr EthtoolFamily kFamily{0x14};  // as in the capture

struct PortWithKernel : ::testing::Test {
  FakeHost fake;
  FailingHost* host = nullptr;         ///< the reader's
  Nic nic{.device = "rxe0"};           ///< ifindex 2, as in the capture
  std::map<std::string, int> refused;  ///< by the request's name in the capture
  std::map<std::string, int> requests;
  std::optional<Bytes> losses;  ///< of a kernel that counts them into the link's state
  std::optional<PortReader> reader;
  SteadyTime now = steady_from_seconds(1000);

  PortWithKernel() {
    testing::add_nic(fake, nic);
    const InventoryPort port = take_inventory(fake).ports.at(0);
    fake.set_responder([this](int, std::span<const std::byte> request) { return answer(request); });
    auto its = std::make_unique<FailingHost>(fake);
    host = its.get();
    reader.emplace(std::move(its), port);
  }
  Result<std::vector<Bytes>> answer(std::span<const std::byte> request) {
    for (const auto& [name, reply] : {std::pair("family_request", "up_family"),
                                      {"names_request", "up_names"},
                                      {"stats_request", "up_stats"},
                                      {"linkmodes_request", "up_linkmodes"},
                                      {"linkstate_request", "up_linkstate"},
                                      {"fec_request", "up_fec"},
                                      {"pause_request", "up_pause"}})
      if (std::ranges::equal(captured(name), request)) {
        ++requests[name];
        if (const auto no = refused.find(name); no != refused.end())
          return Error{"refused", no->second};
        return std::vector<Bytes>{captured(reply)};
      }
    if (parse_genl_message(request, ETHTOOL_MSG_LINKSTATE_GET)) {
      ++requests["losses"];
      if (!losses) return Error{"reserved bit set", EINVAL};  // as the capture's kernel, 6.1
      return std::vector<Bytes>{*losses};
    }
    return Error{"not in the capture", EOPNOTSUPP};
  }
  Reading read(int after_s) {
    now += std::chrono::seconds(after_s);
    return reader->read(ReadGroup::kKernel, now);
  }
};

bool has(const Reading& reading, std::string_view counter) {
  return reading.sample.counters && reading.sample.counters->get(counter).has_value();
}
std::vector<std::string> gaps_of(const Reading& reading) {
  std::vector<std::string> gaps;
  for (const auto& [source, report] : reading.sources)
    gaps.push_back(std::string(to_string(source)) + ": " + report.reason);
  return gaps;
}

TEST_F(PortWithKernel, EverySourceReachesTheSample) {
  const Reading first = read(0);
  EXPECT_THAT(gaps_of(first), ::testing::IsEmpty());
  EXPECT_EQ(first.sample.link->speed_mbps, 100'000U);
  EXPECT_EQ(first.sample.link->fec, "RS528");
  EXPECT_FALSE(first.sample.fec_lanes.empty());
  EXPECT_TRUE(has(first, "fec_corrected_blocks"));
  EXPECT_TRUE(has(first, "phy_SymbolErrorDuringCarrier"));
  EXPECT_TRUE(has(first, "pause_rx_pause_frames"));
  read(10);
  EXPECT_EQ(requests["family_request"], 1) << "it does not change while the kernel runs";
  EXPECT_EQ(requests["names_request"], 1);
}

TEST_F(PortWithKernel, LossesAreCountedWhereTheKernelDoes) {
  genlmsghdr head{};
  head.cmd = ETHTOOL_MSG_LINKSTATE_GET_REPLY;
  losses = NetlinkBuilder(kFamily.id, 0)
               .header(head)
               .open_nest(ETHTOOL_A_LINKSTATE_HEADER)
               .put_u32(ETHTOOL_A_HEADER_DEV_INDEX, 2)
               .close_nest()
               .put_u32(7, 12)  // ETHTOOL_A_LINKSTATE_EXT_DOWN_CNT
               .bytes();
  EXPECT_EQ(read(0).sample.counters->get("link_ext_down_count"), 12U);
}

TEST_F(PortWithKernel, AKernelThatDoesNotCountLossesGetsOneRequest) {
  for (int i = 0; i < 3; ++i) {
    const Reading reading = read(10);
    EXPECT_THAT(gaps_of(reading), ::testing::IsEmpty());
    EXPECT_FALSE(has(reading, "link_ext_down_count"));
  }
  EXPECT_EQ(requests["losses"], 1);
  EXPECT_EQ(requests["linkstate_request"], 3);
}

TEST_F(PortWithKernel, ARequestThatFailedOnceIsAGapAndIsMadeAgain) {
  refused["family_request"] = ENOBUFS;
  Reading failed = read(0);
  EXPECT_THAT(gaps_of(failed), ::testing::ElementsAre("ethtool: ENOBUFS"));
  EXPECT_EQ(failed.sample.link->speed_mbps, 400'000U) << "from the files meanwhile";
  refused = {{"names_request", EMFILE}};
  failed = read(10);
  EXPECT_THAT(gaps_of(failed), ::testing::ElementsAre("ethtool_stats: EMFILE"));
  EXPECT_EQ(failed.sample.link->fec, "RS528");
  EXPECT_FALSE(has(failed, "phy_SymbolErrorDuringCarrier"));
  refused.clear();
  const Reading healed = read(10);
  EXPECT_THAT(gaps_of(healed), ::testing::IsEmpty());
  EXPECT_TRUE(has(healed, "phy_SymbolErrorDuringCarrier"));
}

TEST_F(PortWithKernel, AnOldKernelHasNoEthtoolNetlinkWhichIsAGap) {
  refused["family_request"] = ENOENT;
  EXPECT_THAT(gaps_of(read(0)),
              ::testing::ElementsAre("ethtool: EOPNOTSUPP: the kernel has no ethtool netlink"));
}

TEST_F(PortWithKernel, OneSourceThatIsRefusedHidesNoOther) {
  refused["fec_request"] = EIO;
  const Reading reading = read(0);
  EXPECT_THAT(gaps_of(reading), ::testing::ElementsAre("fec: EIO"));
  EXPECT_EQ(reading.sample.link->speed_mbps, 100'000U);
  EXPECT_TRUE(has(reading, "phy_SymbolErrorDuringCarrier"));
  read(5);
  EXPECT_EQ(requests["fec_request"], 1) << "not before ten seconds";
  read(5);
  EXPECT_EQ(requests["fec_request"], 2);
}

}  // namespace
}  // namespace linkhealth
