// ethtool netlink: link state and modes, FEC, statistics, module reads, from messages of real
// kernels.
#include <gtest/gtest.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include <cerrno>
#include <functional>

#include "probes/netlink/ethtool_fec.h"
#include "probes/netlink/ethtool_link.h"
#include "probes/netlink/ethtool_module.h"
#include "probes/netlink/ethtool_stats.h"
#include "tests/probes/netlink/netlink_fixtures.h"
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
  NetlinkBuilder builder = NetlinkBuilder::generic(kFamily.id, 0, command);
  builder.open_nest(header).put_u32(ETHTOOL_A_HEADER_DEV_INDEX, 2).close_nest();
  return builder;
}

TEST(EthtoolFamily, IsResolved) {
  FakeHost host;
  EXPECT_EQ(testing::request_of([](Host& to) { (void)resolve_ethtool_family(to); }),
            captured("family_request"));
  host.set_responder(answer(std::vector<Bytes>{captured("up_family")}));
  const auto family = resolve_ethtool_family(host);
  ASSERT_TRUE(family) << family.error().message;
  EXPECT_EQ(family->id, 0x14);
  host.set_responder(answer(Error{"no such family", ENOENT}));
  EXPECT_EQ(resolve_ethtool_family(host).error().errnum, ENOENT);
  host.set_responder(answer(std::vector<Bytes>()));
  EXPECT_EQ(resolve_ethtool_family(host).error().errnum, EBADMSG) << "no answer at all";
}

TEST(EthtoolRequests, AreThoseThatAKernelAnswered) {
  bool no_statistics = false;
  const std::pair<const char*, std::function<void(Host&)>> reads[] = {
      {"linkstate_request", [&](Host& to) { (void)read_linkstate(to, kFamily, 2, no_statistics); }},
      {"linkmodes_request", [](Host& to) { (void)read_linkmodes(to, kFamily, 2); }},
      {"fec_request", [](Host& to) { (void)read_fec(to, kFamily, 2, k100gOn4); }},
      {"names_request", [](Host& to) { (void)read_stat_names(to, kFamily); }},
      {"stats_request", [](Host& to) { (void)read_stats(to, kFamily, 2, {}); }},
      {"pause_request", [](Host& to) { (void)read_pause(to, kFamily, 2); }},
      {"eeprom_request", [](Host& to) {
         (void)read_module(to, kFamily, 2, {kModuleAddressA0, 0, 0, 0, 128});
       }}};
  for (const auto& [name, read] : reads)
    EXPECT_EQ(testing::request_of(read), captured(name)) << name;
}

template <typename T>
int errnum_of(const Result<T>& result) {
  return result ? 0 : result.error().errnum;
}

TEST(EthtoolParsers, EveryCutIsAnError) {
  const std::pair<const char*, std::function<int(ByteView)>> parsers[] = {
      {"up_family", [](ByteView bytes) { return errnum_of(parse_family_id(bytes)); }},
      {"down_linkstate", [](ByteView bytes) { return errnum_of(parse_linkstate(bytes)); }},
      {"up_linkmodes", [](ByteView bytes) { return errnum_of(parse_linkmodes(bytes)); }},
      {"up_fec", [](ByteView bytes) { return errnum_of(parse_fec(bytes, k100gOn4)); }},
      {"up_names", [](ByteView bytes) { return errnum_of(parse_stat_names(bytes)); }},
      {"up_stats", [](ByteView bytes) { return errnum_of(parse_stats(bytes, {})); }},
      {"up_pause", [](ByteView bytes) { return errnum_of(parse_pause(bytes)); }},
      {"up_eeprom", [](ByteView bytes) { return errnum_of(parse_module_read(bytes)); }},
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
                          .bytes());
  ASSERT_TRUE(state);
  EXPECT_FALSE(state->down_reason);
}

TEST(EthtoolLinkState, ReadsQualityAndTheCountOfLosses) {
  const auto state =
      parse_linkstate(reply(ETHTOOL_MSG_LINKSTATE_GET_REPLY, ETHTOOL_A_LINKSTATE_HEADER)
                          .put_u32(ETHTOOL_A_LINKSTATE_SQI, 5)
                          .put_u32(ETHTOOL_A_LINKSTATE_SQI_MAX, 7)
                          .put_u32(7, 12)  // ETHTOOL_A_LINKSTATE_EXT_DOWN_CNT
                          .bytes());
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
      const auto message = parse_genl_message(request, ETHTOOL_MSG_LINKSTATE_GET);
      asked.push_back(
          message->nested(ETHTOOL_A_LINKSTATE_HEADER)[ETHTOOL_A_HEADER_FLAGS].u32().value_or(0));
      if (asked.back() != 0 && !can) return Error{"reserved bit set", EINVAL};
      auto answer = reply(ETHTOOL_MSG_LINKSTATE_GET_REPLY, ETHTOOL_A_LINKSTATE_HEADER);
      if (asked.back() == ETHTOOL_FLAG_STATS) answer.put_u32(7, 12);
      return std::vector<Bytes>{answer.bytes()};
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
  const auto fec = parse_fec(builder.close_nest().bytes(), {});
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
                                 .bytes(),
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
  const auto counters = parse_stats(builder.close_nest().bytes(), {});
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->get("rmon_rx_etherStatsPkts65to127Octets"), 3U);
  EXPECT_EQ(counters->get("rmon_tx_etherStatsPkts1519toMaxOctets"), 4U);
}

TEST(EthtoolStats, AnAbsurdStringIndexTakesNoMemory) {
  const auto names =
      parse_stat_names(NetlinkBuilder::generic(kFamily.id, 0, ETHTOOL_MSG_STRSET_GET_REPLY)
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
                           .bytes());
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
                                        .bytes());
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->get("pause_tx_pause_frames"), 21U);
  EXPECT_EQ(counters->get("pause_tx_pause_storm_events"), 3U);
}

}  // namespace
}  // namespace linkhealth
