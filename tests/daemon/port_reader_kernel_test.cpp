// What a port's reader makes of the kernel's answers by netlink, with messages that a kernel gave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <rdma/rdma_netlink.h>

#include <cerrno>
#include <map>

#include "daemon/port_reader.h"
#include "probes/ethtool_link.h"
#include "tests/probes/netlink_fixtures.h"
#include "tests/probes/sysfs_tree.h"
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
  FailingHost* host = nullptr;           ///< the reader's
  Nic nic{.device = "rxe0"};             ///< ifindex 2, as in the capture
  std::map<std::string, int> refused;    ///< by the request's name in the capture
  std::map<std::string, Bytes> instead;  ///< of what the kernel answered
  std::map<std::string, int> asked;
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
    for (const auto& [ask, reply] : {std::pair("family_request", "up_family"),
                                     {"names_request", "up_names"},
                                     {"stats_request", "up_stats"},
                                     {"linkmodes_request", "up_linkmodes"},
                                     {"linkstate_request", "up_linkstate"},
                                     {"fec_request", "up_fec"},
                                     {"pause_request", "up_pause"},
                                     {"rdma_devices_request", "up_rdma_devices"},
                                     {"rdma_port_request", "down_rdma_port"}})
      if (std::ranges::equal(captured(ask), request)) {
        ++asked[ask];
        if (const auto no = refused.find(ask); no != refused.end())
          return Error{"as ordered", no->second};
        if (const auto other = instead.find(ask); other != instead.end())
          return std::vector<Bytes>{other->second};
        return std::vector<Bytes>{captured(reply)};
      }
    if (parse_genl_message(request, ETHTOOL_MSG_LINKSTATE_GET)) {
      ++asked["losses"];
      if (!losses) return Error{"reserved bit set", EINVAL};  // as the capture's kernel, 6.1
      return std::vector<Bytes>{*losses};
    }
    return Error{"not in the capture", EOPNOTSUPP};
  }
  [[nodiscard]] std::size_t reads(const std::string& file) const {
    return host->reads("*/ports/1/" + file);
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
  for (const Gap& gap : reading.gaps) gaps.push_back(gap.probe + ": " + gap.reason);
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
  EXPECT_EQ(asked["family_request"], 1) << "it does not change while the kernel runs";
  EXPECT_EQ(asked["names_request"], 1);
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

TEST_F(PortWithKernel, AKernelThatRefusesToCountLossesIsAskedOnce) {
  for (int i = 0; i < 3; ++i) {
    const Reading reading = read(10);
    EXPECT_THAT(gaps_of(reading), ::testing::IsEmpty());
    EXPECT_FALSE(has(reading, "link_ext_down_count"));
  }
  EXPECT_EQ(asked["losses"], 1);
  EXPECT_EQ(asked["linkstate_request"], 3);
}

TEST_F(PortWithKernel, ALookUpThatFailedOnceIsAGapAndNotForEver) {
  refused["family_request"] = ENOBUFS;
  const Reading failed = read(0);
  EXPECT_THAT(gaps_of(failed), ::testing::ElementsAre("ethtool: ENOBUFS"));
  EXPECT_EQ(failed.sample.link->speed_mbps, 400'000U) << "the files say so meanwhile";
  refused.clear();
  const Reading healed = read(10);
  EXPECT_THAT(gaps_of(healed), ::testing::IsEmpty());
  EXPECT_THAT(healed.gaps_ended, ::testing::Contains(Gap{failed.port, "ethtool", ""}));
  EXPECT_EQ(healed.sample.link->fec, "RS528");
}

TEST_F(PortWithKernel, NamesThatFailedOnceAreAskedForAgain) {
  refused["names_request"] = EMFILE;
  const Reading failed = read(0);
  EXPECT_THAT(gaps_of(failed), ::testing::ElementsAre("ethtool_stats: EMFILE"));
  EXPECT_FALSE(has(failed, "phy_SymbolErrorDuringCarrier"));
  refused.clear();
  EXPECT_TRUE(has(read(10), "phy_SymbolErrorDuringCarrier"));
}

TEST_F(PortWithKernel, AnOldKernelHasNoEthtoolNetlinkAndThatIsSaid) {
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
  EXPECT_EQ(asked["fec_request"], 1) << "not before ten seconds";
  read(5);
  EXPECT_EQ(asked["fec_request"], 2);
}

// In the capture the port is down; the files here say that it is up.
TEST_F(PortWithKernel, TheVerbsStateIsOneQuestion) {
  const Reading first = read(0);
  EXPECT_EQ(first.sample.link->state, "DOWN");
  EXPECT_EQ(first.sample.link->phys_state, "Polling");
  read(10);
  EXPECT_EQ(asked["rdma_devices_request"], 1);
  EXPECT_EQ(asked["rdma_port_request"], 2);
  EXPECT_EQ(reads("state") + reads("phys_state"), 0U)
      << "each is a query of its own: firmware commands on mlx5";
  EXPECT_EQ(reads("rate"), 0U) << "ethtool has said the speed";
}

TEST_F(PortWithKernel, FilesSayTheStateWhereNetlinkDoesNot) {
  refused["rdma_port_request"] = EINVAL;
  const Reading refusal = read(0);
  EXPECT_EQ(refusal.sample.link->state, "ACTIVE");
  EXPECT_EQ(refusal.sample.link->phys_state, "LinkUp");
  EXPECT_THAT(gaps_of(refusal), ::testing::IsEmpty()) << "nothing is missing";
  read(5);
  EXPECT_EQ(asked["rdma_port_request"], 1) << "not before ten seconds";
  refused.clear();
  EXPECT_EQ(read(5).sample.link->state, "DOWN");
}

// Without one, and one that a newer kernel has: neither is a link that is down.
struct PortWithOddState : PortWithKernel, ::testing::WithParamInterface<int> {};

TEST_P(PortWithOddState, IsTheFilesToSay) {
  instead["rdma_port_request"] =
      NetlinkBuilder(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET), 0)
          .put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0)
          .put_u32(RDMA_NLDEV_ATTR_PORT_INDEX, 1)
          .put_u8(RDMA_NLDEV_ATTR_PORT_STATE, 4)
          .put_u8(RDMA_NLDEV_ATTR_PORT_PHYS_STATE, static_cast<std::uint8_t>(GetParam()))
          .bytes();
  const std::string text = std::to_string(GetParam()) + ": <unknown>";
  fake.set(nic.port_dir() + "/phys_state", text + "\n");
  const Reading reading = read(0);
  EXPECT_EQ(reading.sample.link->state, "ACTIVE");
  EXPECT_EQ(reading.sample.link->phys_state, "");
  EXPECT_THAT(gaps_of(reading), ::testing::ElementsAre("link: phys_state: text \"" + text + "\""));
}

INSTANTIATE_TEST_SUITE_P(Codes, PortWithOddState, ::testing::Values(0, 9));

TEST_F(PortWithKernel, WhatTheFilesLackedIsNotMissedAnyMore) {
  refused["rdma_port_request"] = EINVAL;
  host->fail("*/ports/1/state", EINVAL);  // a port in switch mode
  EXPECT_THAT(gaps_of(read(0)), ::testing::ElementsAre("link: state: EINVAL"));
  refused.clear();
  const Reading healed = read(10);
  EXPECT_EQ(healed.sample.link->state, "DOWN");
  EXPECT_THAT(gaps_of(healed), ::testing::IsEmpty());
}

TEST_F(PortWithKernel, ADeviceThatHasGoneIsToldByItsFiles) {
  read(0);
  refused["rdma_port_request"] = EINVAL;  // of an index that no device has
  host->fail("*/ports/1/state", ENODEV);
  EXPECT_TRUE(read(10).gone);
}

}  // namespace
}  // namespace linkhealth
