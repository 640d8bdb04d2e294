// ethtool netlink: link state and modes, FEC, statistics, module reads, from messages of real
// kernels.
#include <gtest/gtest.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include <cerrno>
#include <functional>

#include "probes/ethtool_fec.h"
#include "probes/ethtool_link.h"
#include "probes/ethtool_module.h"
#include "probes/ethtool_stats.h"
#include "tests/probes/netlink_fixtures.h"
#include "tests/support/fake_host.h"

namespace linkhealth {
namespace {

using testing::captured;
using testing::FakeHost;

constexpr EthtoolFamily kFamily{0x14};  // as in the captured requests
constexpr FecLink k100gOn4{100000, 4};

/// A Host that answers every request alike.
FakeHost::Responder answer(Result<std::vector<Bytes>> with) {
  return [with](int, std::span<const std::byte>) { return with; };
}

/// An answer of the ethtool family about device 2.
NetlinkBuilder reply(std::uint8_t command, std::uint16_t header) {
  genlmsghdr head{};
  head.cmd = command;
  NetlinkBuilder builder(kFamily.id, 0);
  builder.header(head).open_nest(header).put_u32(ETHTOOL_A_HEADER_DEV_INDEX, 2).close_nest();
  return builder;
}

TEST(EthtoolFamily, IsResolved) {
  EXPECT_EQ(build_family_request("ethtool"), captured("family_request"));
  const auto id = parse_family_id(captured("up_family"));
  ASSERT_TRUE(id) << id.error().message;
  EXPECT_EQ(*id, 0x14);
}

TEST(EthtoolFamily, AbsentIsTheKernelsError) {
  FakeHost host;
  host.set_responder(answer(Error{"no such family", ENOENT}));
  EXPECT_EQ(resolve_ethtool_family(host).error().errnum, ENOENT);
}

TEST(EthtoolFamily, NoAnswerAtAllIsAnError) {
  FakeHost host;
  host.set_responder(answer(std::vector<Bytes>()));
  EXPECT_EQ(resolve_ethtool_family(host).error().errnum, EBADMSG);
}

TEST(EthtoolRequests, AreThoseThatAKernelAnswered) {
  EXPECT_EQ(build_linkstate_get(kFamily, 2, false), captured("linkstate_request"));
  EXPECT_EQ(build_linkmodes_get(kFamily, 2), captured("linkmodes_request"));
  EXPECT_EQ(build_fec_get(kFamily, 2), captured("fec_request"));
  EXPECT_EQ(build_stat_names_get(kFamily), captured("names_request"));
  EXPECT_EQ(build_stats_get(kFamily, 2), captured("stats_request"));
  EXPECT_EQ(build_pause_get(kFamily, 2), captured("pause_request"));
  EXPECT_EQ(build_module_read(kFamily, 2, {kModuleAddressA0, 0, 0, 0, 128}),
            captured("eeprom_request"));
}

TEST(EthtoolParsers, EveryCutIsAnError) {
  const EthtoolStatNames names;
  const std::vector<std::pair<std::string, std::function<int(ByteView)>>> parsers = {
      {"up_family",
       [](ByteView b) {
         const auto r = parse_family_id(b);
         return r ? 0 : r.error().errnum;
       }},
      {"down_linkstate",
       [](ByteView b) {
         const auto r = parse_linkstate(b);
         return r ? 0 : r.error().errnum;
       }},
      {"up_linkmodes",
       [](ByteView b) {
         const auto r = parse_linkmodes(b);
         return r ? 0 : r.error().errnum;
       }},
      {"up_fec",
       [](ByteView b) {
         const auto r = parse_fec(b, k100gOn4);
         return r ? 0 : r.error().errnum;
       }},
      {"up_names",
       [](ByteView b) {
         const auto r = parse_stat_names(b);
         return r ? 0 : r.error().errnum;
       }},
      {"up_stats",
       [&](ByteView b) {
         const auto r = parse_stats(b, names);
         return r ? 0 : r.error().errnum;
       }},
      {"up_pause",
       [](ByteView b) {
         const auto r = parse_pause(b);
         return r ? 0 : r.error().errnum;
       }},
      {"up_eeprom",
       [](ByteView b) {
         const auto r = parse_module_read(b);
         return r ? 0 : r.error().errnum;
       }},
  };
  for (const auto& [name, parse] : parsers) {
    SCOPED_TRACE(name);
    EXPECT_EQ(parse(captured(name)), 0);
    testing::expect_error_at_every_length(captured(name), parse);
  }
}

TEST(EthtoolLinkState, UpHasNoReason) {
  const auto state = parse_linkstate(captured("up_linkstate"));
  ASSERT_TRUE(state);
  EXPECT_EQ(state->device.ifindex, 2U);
  EXPECT_EQ(state->device.name, "so0");
  EXPECT_EQ(state->link, true);
  EXPECT_FALSE(state->down_reason);
}

TEST(EthtoolLinkState, DownNamesTheReason) {
  const auto state = parse_linkstate(captured("down_linkstate"));
  ASSERT_TRUE(state);
  EXPECT_EQ(state->link, false);
  EXPECT_EQ(state->down_reason, (DownReason{"Bad signal integrity", "Serdes ALOS"}));
}

TEST(EthtoolLinkState, AReasonIsLeftOutWhileTheLinkIsUp) {
  const auto state =
      parse_linkstate(reply(ETHTOOL_MSG_LINKSTATE_GET_REPLY, ETHTOOL_A_LINKSTATE_HEADER)
                          .put_u8(ETHTOOL_A_LINKSTATE_LINK, 1)
                          .put_u8(ETHTOOL_A_LINKSTATE_EXT_STATE, ETHTOOL_LINK_EXT_STATE_NO_CABLE)
                          .take());
  ASSERT_TRUE(state);
  EXPECT_FALSE(state->down_reason);
}

TEST(EthtoolLinkState, ReadsQualityAndTheCountOfLosses) {
  const auto state =
      parse_linkstate(reply(ETHTOOL_MSG_LINKSTATE_GET_REPLY, ETHTOOL_A_LINKSTATE_HEADER)
                          .put_u32(ETHTOOL_A_LINKSTATE_SQI, 5)
                          .put_u32(ETHTOOL_A_LINKSTATE_SQI_MAX, 7)
                          .put_u32(7, 12)  // ETHTOOL_A_LINKSTATE_EXT_DOWN_CNT
                          .take());
  ASSERT_TRUE(state);
  EXPECT_EQ(state->sqi, 5U);
  EXPECT_EQ(state->sqi_max, 7U);
  EXPECT_EQ(state->link_down_count, 12U);
  EXPECT_FALSE(state->link);
}

// The kernel counts losses into an answer only for who asks for statistics, and refuses that before
// it can.
TEST(EthtoolLinkState, AsksForTheCountOfLossesWhereTheKernelHasIt) {
  for (const bool can : {true, false}) {
    SCOPED_TRACE(can);
    FakeHost host;
    std::vector<std::uint32_t> asked;
    host.set_responder([&](int, std::span<const std::byte> request) -> Result<std::vector<Bytes>> {
      const auto message = open_genl_message(request, ETHTOOL_MSG_LINKSTATE_GET);
      asked.push_back(
          message->nested(ETHTOOL_A_LINKSTATE_HEADER).u32(ETHTOOL_A_HEADER_FLAGS).value_or(0));
      if (asked.back() != 0 && !can) return Error{"reserved bit set", EINVAL};
      auto answer = reply(ETHTOOL_MSG_LINKSTATE_GET_REPLY, ETHTOOL_A_LINKSTATE_HEADER);
      if (asked.back() == ETHTOOL_FLAG_STATS) answer.put_u32(7, 12);
      return std::vector<Bytes>{answer.take()};
    });
    bool statistics = true;
    for (int i = 0; i < 2; ++i) {
      const auto state = read_linkstate(host, kFamily, 2, statistics);
      ASSERT_TRUE(state) << state.error().message;
      EXPECT_EQ(state->link_down_count, can ? std::optional(12U) : std::nullopt);
    }
    EXPECT_EQ(asked, can ? (std::vector<std::uint32_t>{ETHTOOL_FLAG_STATS, ETHTOOL_FLAG_STATS})
                         : (std::vector<std::uint32_t>{ETHTOOL_FLAG_STATS, 0, 0}))
        << "refused once is enough";
  }
}

TEST(EthtoolLinkState, WhatIsRefusedEitherWayIsAskedForWithStatisticsAgain) {
  FakeHost host;
  host.set_responder(answer(Error{"no", EINVAL}));
  bool statistics = true;
  EXPECT_EQ(read_linkstate(host, kFamily, 2, statistics).error().errnum, EINVAL);
  EXPECT_TRUE(statistics);
}

TEST(EthtoolLinkState, WordsAreEthtools) {
  EXPECT_EQ(down_reason(ETHTOOL_LINK_EXT_STATE_AUTONEG, 6), (DownReason{"Autoneg", "No HCD"}));
  EXPECT_EQ(down_reason(ETHTOOL_LINK_EXT_STATE_AUTONEG, 4),
            (DownReason{"Autoneg", "No partner detected during force mode"}));
  EXPECT_EQ(down_reason(ETHTOOL_LINK_EXT_STATE_LINK_TRAINING_FAILURE, 4),
            (DownReason{"Link training failure", "Remote side is not ready yet"}));
  EXPECT_EQ(down_reason(ETHTOOL_LINK_EXT_STATE_LINK_LOGICAL_MISMATCH, 5),
            (DownReason{"Logical mismatch", "RS FEC is not locked"}));
  EXPECT_EQ(down_reason(ETHTOOL_LINK_EXT_STATE_NO_CABLE, 0), (DownReason{"No cable", ""}));
  EXPECT_EQ(down_reason(ETHTOOL_LINK_EXT_STATE_OVERHEAT, 0), (DownReason{"Overheat", ""}));
  EXPECT_EQ(down_reason(ETHTOOL_LINK_EXT_STATE_MODULE, 1),
            (DownReason{"Module", "CMIS module is not in ModuleReady state"}));
}

TEST(EthtoolLinkState, CodesOfNewerKernelsKeepTheirNumber) {
  EXPECT_EQ(down_reason(11, 0), (DownReason{"OTP speed violation", ""}));
  EXPECT_EQ(down_reason(12, 3), (DownReason{"BMC request", "substate 3"}));
  EXPECT_EQ(down_reason(13, 3), (DownReason{"state 13", "substate 3"}));
  EXPECT_EQ(down_reason(255, 0), (DownReason{"state 255", ""}));
  EXPECT_EQ(down_reason(ETHTOOL_LINK_EXT_STATE_NO_CABLE, 2),
            (DownReason{"No cable", "substate 2"}));
}

TEST(EthtoolLinkModes, ReadsSpeedAndLanes) {
  const auto modes = parse_linkmodes(captured("up_linkmodes"));
  ASSERT_TRUE(modes);
  EXPECT_EQ(modes->speed_mbps, 100000U);
  EXPECT_EQ(modes->lanes, 4U);
  EXPECT_EQ(modes->autoneg, true);
}

TEST(EthtoolLinkModes, UnknownIsAbsentNotANumber) {
  const auto down = parse_linkmodes(captured("down_linkmodes"));
  ASSERT_TRUE(down);
  EXPECT_FALSE(down->speed_mbps);
  EXPECT_FALSE(down->lanes);
  const auto virtio = parse_linkmodes(captured("eth0_linkmodes"));
  ASSERT_TRUE(virtio);
  EXPECT_FALSE(virtio->speed_mbps);
}

TEST(EthtoolFec, ReadsModeTotalsAndLanes) {
  const auto fec = parse_fec(captured("up_fec"), k100gOn4);
  ASSERT_TRUE(fec);
  EXPECT_EQ(fec->mode, "RS528");
  EXPECT_EQ(fec->counters.get("fec_corrected_blocks"), 100U + 101 + 102 + 103);
  EXPECT_EQ(fec->counters.get("fec_uncorrectable_blocks"), 6U);
  EXPECT_EQ(fec->counters.get("fec_corrected_bits"), 5000U);
  ASSERT_EQ(fec->lanes.size(), 4U);
  EXPECT_EQ(fec->lanes[3].corrected_blocks, 103U);
  EXPECT_EQ(fec->lanes[2].uncorrectable_blocks, 2U);
  EXPECT_FALSE(fec->lanes[0].corrected_bits);  // counted for the port as a whole only
}

TEST(EthtoolFec, NoModeWhileTheLinkIsDown) {
  const auto fec = parse_fec(captured("down_fec"), {});
  ASSERT_TRUE(fec);
  EXPECT_EQ(fec->mode, "");
  EXPECT_EQ(fec->counters.get("fec_corrected_bits"), 5000U);
}

TEST(EthtoolFec, TheCodeFollowsFromTheSpeedOfALane) {
  const auto rs = [](std::uint32_t speed, std::uint32_t lanes) {
    return fec_mode_name(ETHTOOL_LINK_MODE_FEC_RS_BIT, {speed, lanes});
  };
  EXPECT_EQ(rs(25000, 1), "RS528");
  EXPECT_EQ(rs(50000, 2), "RS528");
  EXPECT_EQ(rs(50000, 1), "RS544");
  EXPECT_EQ(rs(100000, 4), "RS528");
  EXPECT_EQ(rs(100000, 2), "RS544");
  EXPECT_EQ(rs(400000, 8), "RS544");
  EXPECT_EQ(rs(800000, 4), "RS544");
  EXPECT_EQ(rs(100000, 0), "RS");
  EXPECT_EQ(fec_mode_name(ETHTOOL_LINK_MODE_FEC_RS_BIT, {100000, std::nullopt}), "RS");
  EXPECT_EQ(fec_mode_name(ETHTOOL_LINK_MODE_FEC_NONE_BIT, {}), "Off");
  EXPECT_EQ(fec_mode_name(ETHTOOL_LINK_MODE_FEC_BASER_BIT, {}), "BaseR");
  EXPECT_EQ(fec_mode_name(ETHTOOL_LINK_MODE_FEC_LLRS_BIT, {}), "LLRS");
  EXPECT_EQ(fec_mode_name(200, {}), "");
}

TEST(EthtoolFec, TheHistogramOfNewerKernelsIsReadByNumber) {
  const auto bin = [](NetlinkBuilder& builder, std::uint32_t low,
                      std::uint32_t high) -> NetlinkBuilder& {
    return builder.open_nest(5).put_u32(2, low).put_u32(3, high);
  };
  NetlinkBuilder builder = reply(ETHTOOL_MSG_FEC_GET_REPLY, ETHTOOL_A_FEC_HEADER);
  builder.open_nest(ETHTOOL_A_FEC_STATS);
  bin(builder, 0, 0).put_u64(4, 5'000'000'000).close_nest();
  bin(builder, 1, 3).put_u32(4, 17).close_nest();  // the kernel writes small numbers in 32 bits
  bin(builder, 9, 8).put_u32(4, 1).close_nest();
  bin(builder, 4, 5).close_nest();
  const auto fec = parse_fec(builder.close_nest().take(), {});
  ASSERT_TRUE(fec);
  EXPECT_EQ(fec->counters.get("fec_hist_0to0"), 5'000'000'000U);
  EXPECT_EQ(fec->counters.get("fec_hist_1to3"), 17U);
  EXPECT_EQ(fec->counters.size(), 2U) << "a bin turned round or without a value is left out";
}

TEST(EthtoolFec, AnArrayThatIsNoArrayIsAbsent) {
  const std::array<std::byte, 12> odd{};
  const std::vector<std::byte> huge(8 * 66);
  const auto fec = parse_fec(reply(ETHTOOL_MSG_FEC_GET_REPLY, ETHTOOL_A_FEC_HEADER)
                                 .open_nest(ETHTOOL_A_FEC_STATS)
                                 .put(ETHTOOL_A_FEC_STAT_CORRECTED, odd)
                                 .put(ETHTOOL_A_FEC_STAT_UNCORR, {})
                                 .put(ETHTOOL_A_FEC_STAT_CORR_BITS, huge)
                                 .close_nest()
                                 .take(),
                             {});
  ASSERT_TRUE(fec);
  EXPECT_TRUE(fec->counters.empty());
  EXPECT_TRUE(fec->lanes.empty());
}

TEST(EthtoolStats, NamesAreTheKernels) {
  const auto names = parse_stat_names(captured("up_names"));
  const auto counters = parse_stats(captured("up_stats"), *names);
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->get("phy_SymbolErrorDuringCarrier"), 7U);
  EXPECT_EQ(counters->get("mac_FrameCheckSequenceErrors"), 11U);
  EXPECT_EQ(counters->get("ctrl_MACControlFramesReceived"), 12U);
  EXPECT_EQ(counters->size(), 3U);  // what the driver does not count is not there, and not zero
}

TEST(EthtoolStats, ADriverWithoutAnyHasNone) {
  const auto names = parse_stat_names(captured("eth0_names"));
  const auto counters = parse_stats(captured("eth0_stats"), *names);
  ASSERT_TRUE(counters);
  EXPECT_TRUE(counters->empty());
}

TEST(EthtoolStats, WithoutNamesThereAreNoNumbers) {
  const auto counters = parse_stats(captured("up_stats"), {});
  ASSERT_TRUE(counters);
  EXPECT_TRUE(counters->empty());
}

TEST(EthtoolStats, HistogramBucketsAreNamedAsEthtoolNamesThem) {
  const auto bucket = [](NetlinkBuilder& builder, std::uint16_t nest, std::uint32_t low,
                         std::uint32_t high, std::uint64_t value) {
    builder.open_nest(nest)
        .put_u32(ETHTOOL_A_STATS_GRP_HIST_BKT_LOW, low)
        .put_u32(ETHTOOL_A_STATS_GRP_HIST_BKT_HI, high)
        .put_u64(ETHTOOL_A_STATS_GRP_HIST_VAL, value)
        .close_nest();
  };
  NetlinkBuilder builder = reply(ETHTOOL_MSG_STATS_GET_REPLY, ETHTOOL_A_STATS_HEADER);
  builder.open_nest(ETHTOOL_A_STATS_GRP).put_u32(ETHTOOL_A_STATS_GRP_ID, ETHTOOL_STATS_RMON);
  bucket(builder, ETHTOOL_A_STATS_GRP_HIST_RX, 65, 127, 3);
  bucket(builder, ETHTOOL_A_STATS_GRP_HIST_TX, 1519, 0, 4);
  const auto counters = parse_stats(builder.close_nest().take(), {});
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->get("rmon_rx_etherStatsPkts65to127Octets"), 3U);
  EXPECT_EQ(counters->get("rmon_tx_etherStatsPkts1519toMaxOctets"), 4U);
}

TEST(EthtoolStats, AnAbsurdStringIndexTakesNoMemory) {
  const auto names = parse_stat_names(NetlinkBuilder(kFamily.id, 0)
                                          .header(genlmsghdr{ETHTOOL_MSG_STRSET_GET_REPLY, 1, 0})
                                          .open_nest(ETHTOOL_A_STRSET_STRINGSETS)
                                          .open_nest(ETHTOOL_A_STRINGSETS_STRINGSET)
                                          .put_u32(ETHTOOL_A_STRINGSET_ID, 17)
                                          .open_nest(ETHTOOL_A_STRINGSET_STRINGS)
                                          .open_nest(ETHTOOL_A_STRINGS_STRING)
                                          .put_u32(ETHTOOL_A_STRING_INDEX, 0xffffffff)
                                          .put_string(ETHTOOL_A_STRING_VALUE, "x")
                                          .close_nest()
                                          .close_nest()
                                          .close_nest()
                                          .close_nest()
                                          .take());
  ASSERT_TRUE(names);
  EXPECT_TRUE(names->at(17).empty());
}

TEST(EthtoolStats, ReadsPauseFrames) {
  const auto counters = parse_pause(captured("up_pause"));
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->get("pause_tx_pause_frames"), 21U);
  EXPECT_EQ(counters->get("pause_rx_pause_frames"), 22U);
  EXPECT_EQ(counters->get("pause_tx_pause_storm_events"), std::nullopt)
      << "the kernel of the capture has none";
}

TEST(EthtoolStats, ReadsPauseStorms) {
  constexpr std::uint16_t kStorms =
      4;  // as in the kernel's Documentation/netlink/specs/ethtool.yaml
  const auto counters = parse_pause(reply(ETHTOOL_MSG_PAUSE_GET_REPLY, ETHTOOL_A_PAUSE_HEADER)
                                        .open_nest(ETHTOOL_A_PAUSE_STATS)
                                        .put_u64(ETHTOOL_A_PAUSE_STAT_TX_FRAMES, 21)
                                        .put_u64(kStorms, 3)
                                        .close_nest()
                                        .take());
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->get("pause_tx_pause_frames"), 21U);
  EXPECT_EQ(counters->get("pause_tx_pause_storm_events"), 3U);
}

}  // namespace
}  // namespace linkhealth
