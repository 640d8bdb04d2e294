// ethtool netlink: link state and modes, FEC, statistics, module reads, from messages of real
// kernels.
#include <gtest/gtest.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include <cerrno>
#include <functional>

#include "probes/netlink/ethtool.h"
#include "tests/probes/netlink/netlink_fixtures.h"
#include "tests/support/fake_host.h"

namespace linkhealth {
namespace {

using testing::captured;
using testing::FakeHost;

constexpr EthtoolFamily kFamily{0x14};  // as in the captured requests
constexpr FecLink k100gOn4{100000, 4};

/// What `read` makes of an answer of the kernel.
template <typename Read>
auto read_from(const Result<std::vector<Bytes>>& answer, Read read) {
  FakeHost host;
  host.set_responder([&](int, ByteView) { return answer; });
  return read(host);
}
template <typename Read>
auto read_from(const Bytes& answer, Read read) {
  return read_from(Result<std::vector<Bytes>>(std::vector<Bytes>{answer}), read);
}
Result<EthtoolLinkState> linkstate(const Bytes& answer) {
  bool statistics = false;
  return read_from(answer,
                   [&](Host& host) { return read_linkstate(host, kFamily, 2, statistics); });
}
Result<EthtoolLinkModes> linkmodes(const Bytes& answer) {
  return read_from(answer, [](Host& host) { return read_linkmodes(host, kFamily, 2); });
}
Result<EthtoolFec> fec_of(const Bytes& answer, const FecLink& link = {}) {
  return read_from(answer, [&](Host& host) { return read_fec(host, kFamily, 2, link); });
}
Result<EthtoolStatNames> stat_names(const Bytes& answer) {
  return read_from(answer, [](Host& host) { return read_stat_names(host, kFamily); });
}
Result<Counters> stats(const Bytes& answer, const EthtoolStatNames& names = {}) {
  return read_from(answer, [&](Host& host) { return read_stats(host, kFamily, 2, names); });
}
Result<Counters> pause(const Bytes& answer) {
  return read_from(answer, [](Host& host) { return read_pause(host, kFamily, 2); });
}
Result<std::vector<std::uint8_t>> module_bytes(const Result<std::vector<Bytes>>& answer) {
  return read_from(answer, [](Host& host) { return read_module(host, kFamily, 2, {}); });
}
Result<std::vector<std::uint8_t>> module_bytes(const Bytes& answer) {
  return module_bytes(std::vector<Bytes>{answer});
}

/// An answer of the ethtool family about device 2.
NetlinkBuilder reply(std::uint8_t command, std::uint16_t header) {
  NetlinkBuilder builder = NetlinkBuilder::generic(kFamily.id, 0, command);
  builder.open_nest(header).put_u32(ETHTOOL_A_HEADER_DEV_INDEX, 2).close_nest();
  return builder;
}

TEST(EthtoolFamily, IsResolved) {
  EXPECT_EQ(testing::request_of([](Host& to) { (void)resolve_ethtool_family(to); }),
            captured("family_request"));
  const auto family = read_from(captured("up_family"), resolve_ethtool_family);
  ASSERT_TRUE(family) << family.error().message;
  EXPECT_EQ(family->id, 0x14);
  using Answers = Result<std::vector<Bytes>>;
  EXPECT_EQ(
      read_from(Answers(Error{"no such family", ENOENT}), resolve_ethtool_family).error().errnum,
      ENOENT);
  EXPECT_EQ(read_from(Answers(std::vector<Bytes>()), resolve_ethtool_family).error().errnum,
            EBADMSG)
      << "no answer at all";
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

TEST(EthtoolAnswers, EveryCutIsAnError) {
  const std::pair<const char*, std::function<int(const Bytes&)>> reads[] = {
      {"up_family", [](const Bytes& b) { return errnum_of(read_from(b, resolve_ethtool_family)); }},
      {"down_linkstate", [](const Bytes& b) { return errnum_of(linkstate(b)); }},
      {"up_linkmodes", [](const Bytes& b) { return errnum_of(linkmodes(b)); }},
      {"up_fec", [](const Bytes& b) { return errnum_of(fec_of(b)); }},
      {"up_names", [](const Bytes& b) { return errnum_of(stat_names(b)); }},
      {"up_stats", [](const Bytes& b) { return errnum_of(stats(b)); }},
      {"up_pause", [](const Bytes& b) { return errnum_of(pause(b)); }},
      {"up_eeprom", [](const Bytes& b) { return errnum_of(module_bytes(b)); }},
  };
  for (const auto& [name, read] : reads) {
    SCOPED_TRACE(name);
    EXPECT_EQ(read(captured(name)), 0);
    testing::expect_error_at_every_length(captured(name), [&reader = read](ByteView bytes) {
      return reader({bytes.begin(), bytes.end()});
    });
  }
}

TEST(EthtoolLinkState, OnlyADownLinkHasAReason) {
  const auto up = linkstate(captured("up_linkstate"));
  ASSERT_TRUE(up);
  EXPECT_EQ(up->link, true);
  EXPECT_FALSE(up->down_reason);
  const auto down = linkstate(captured("down_linkstate"));
  ASSERT_TRUE(down);
  EXPECT_EQ(down->link, false);
  EXPECT_EQ(down->down_reason, (DownReason{"Bad signal integrity", "Serdes ALOS"}));
  const auto contradicting =
      linkstate(reply(ETHTOOL_MSG_LINKSTATE_GET_REPLY, ETHTOOL_A_LINKSTATE_HEADER)
                    .put_u8(ETHTOOL_A_LINKSTATE_LINK, 1)
                    .put_u8(ETHTOOL_A_LINKSTATE_EXT_STATE, ETHTOOL_LINK_EXT_STATE_NO_CABLE)
                    .bytes());
  ASSERT_TRUE(contradicting);
  EXPECT_FALSE(contradicting->down_reason);
}

TEST(EthtoolLinkState, ReadsQualityAndTheLinkDownCount) {
  const auto state = linkstate(reply(ETHTOOL_MSG_LINKSTATE_GET_REPLY, ETHTOOL_A_LINKSTATE_HEADER)
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

// The kernel reports the link-down count only with ETHTOOL_FLAG_STATS, and refuses that flag before
// 6.2.
TEST(EthtoolLinkState, RequestsTheLinkDownCountWhereTheKernelHasIt) {
  for (const bool can : {true, false}) {
    SCOPED_TRACE(can);
    FakeHost host;
    std::vector<std::uint32_t> flags;
    host.set_responder([&](int, std::span<const std::byte> request) -> Result<std::vector<Bytes>> {
      const auto message = parse_genl_message(request, ETHTOOL_MSG_LINKSTATE_GET);
      flags.push_back(
          message->nested(ETHTOOL_A_LINKSTATE_HEADER)[ETHTOOL_A_HEADER_FLAGS].u32().value_or(0));
      if (flags.back() != 0 && !can) return Error{"reserved bit set", EINVAL};
      auto answer = reply(ETHTOOL_MSG_LINKSTATE_GET_REPLY, ETHTOOL_A_LINKSTATE_HEADER);
      if (flags.back() == ETHTOOL_FLAG_STATS) answer.put_u32(7, 12);
      return std::vector<Bytes>{answer.bytes()};
    });
    bool statistics = true;
    for (int i = 0; i < 2; ++i) {
      const auto state = read_linkstate(host, kFamily, 2, statistics);
      ASSERT_TRUE(state) << state.error().message;
      EXPECT_EQ(state->link_down_count, can ? std::optional(12U) : std::nullopt);
    }
    EXPECT_EQ(flags, can ? (std::vector<std::uint32_t>{ETHTOOL_FLAG_STATS, ETHTOOL_FLAG_STATS})
                         : (std::vector<std::uint32_t>{ETHTOOL_FLAG_STATS, 0, 0}))
        << "refused once is enough";
  }
}

TEST(EthtoolLinkState, ARefusalWithAndWithoutStatisticsKeepsRequestingThem) {
  bool statistics = true;
  const auto state = read_from(Result<std::vector<Bytes>>(Error{"no", EINVAL}), [&](Host& host) {
    return read_linkstate(host, kFamily, 2, statistics);
  });
  EXPECT_EQ(state.error().errnum, EINVAL);
  EXPECT_TRUE(statistics);
}

TEST(EthtoolLinkState, ReasonsAreEthtoolsWordsAndNewerCodesKeepTheirNumber) {
  struct {
    std::uint8_t state, substate;
    DownReason reason;
  } const rows[] = {
      {ETHTOOL_LINK_EXT_STATE_AUTONEG, 6, {"Autoneg", "No HCD"}},
      {ETHTOOL_LINK_EXT_STATE_AUTONEG, 4, {"Autoneg", "No partner detected during force mode"}},
      {ETHTOOL_LINK_EXT_STATE_LINK_TRAINING_FAILURE,
       4,
       {"Link training failure", "Remote side is not ready yet"}},
      {ETHTOOL_LINK_EXT_STATE_LINK_LOGICAL_MISMATCH,
       5,
       {"Logical mismatch", "RS FEC is not locked"}},
      {ETHTOOL_LINK_EXT_STATE_NO_CABLE, 0, {"No cable", ""}},
      {ETHTOOL_LINK_EXT_STATE_NO_CABLE, 2, {"No cable", "substate 2"}},
      {ETHTOOL_LINK_EXT_STATE_OVERHEAT, 0, {"Overheat", ""}},
      {ETHTOOL_LINK_EXT_STATE_MODULE, 1, {"Module", "CMIS module is not in ModuleReady state"}},
      {11, 0, {"OTP speed violation", ""}},
      {12, 3, {"BMC request", "substate 3"}},
      {13, 3, {"state 13", "substate 3"}},
      {255, 0, {"state 255", ""}}};
  for (const auto& row : rows) EXPECT_EQ(down_reason(row.state, row.substate), row.reason);
}

TEST(EthtoolLinkModes, UnknownSpeedAndLanesAreAbsent) {
  const auto modes = linkmodes(captured("up_linkmodes"));
  ASSERT_TRUE(modes);
  EXPECT_EQ(modes->speed_mbps, 100000U);
  EXPECT_EQ(modes->lanes, 4U);
  EXPECT_EQ(modes->autoneg, true);
  const auto down = linkmodes(captured("down_linkmodes"));
  ASSERT_TRUE(down);
  EXPECT_FALSE(down->speed_mbps);
  EXPECT_FALSE(down->lanes);
  const auto virtio = linkmodes(captured("eth0_linkmodes"));
  ASSERT_TRUE(virtio);
  EXPECT_FALSE(virtio->speed_mbps);
}

TEST(EthtoolFec, ReadsModeTotalsAndLanes) {
  const auto fec = fec_of(captured("up_fec"), k100gOn4);
  ASSERT_TRUE(fec);
  EXPECT_EQ(fec->mode, "RS528");
  EXPECT_EQ(fec->counters.get("fec_corrected_blocks"), 100U + 101 + 102 + 103);
  EXPECT_EQ(fec->counters.get("fec_uncorrectable_blocks"), 6U);
  EXPECT_EQ(fec->counters.get("fec_corrected_bits"), 5000U);
  ASSERT_EQ(fec->lanes.size(), 4U);
  EXPECT_EQ(fec->lanes[3].corrected_blocks, 103U);
  EXPECT_EQ(fec->lanes[2].uncorrectable_blocks, 2U);
  EXPECT_FALSE(fec->lanes[0].corrected_bits);  // counted for the port as a whole only
  const auto down = fec_of(captured("down_fec"), {});
  ASSERT_TRUE(down);
  EXPECT_EQ(down->mode, "");
  EXPECT_EQ(down->counters.get("fec_corrected_bits"), 5000U);
}

TEST(EthtoolFec, TheCodeFollowsFromTheSpeedOfALane) {
  struct {
    std::uint32_t speed_mbps, lanes;
    const char* mode;
  } const rows[] = {{25000, 1, "RS528"},  {50000, 2, "RS528"},  {50000, 1, "RS544"},
                    {100000, 4, "RS528"}, {100000, 2, "RS544"}, {400000, 8, "RS544"},
                    {800000, 4, "RS544"}, {100000, 0, "RS"}};
  for (const auto& row : rows)
    EXPECT_EQ(fec_mode_name(ETHTOOL_LINK_MODE_FEC_RS_BIT, {row.speed_mbps, row.lanes}), row.mode);
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
  const auto fec = fec_of(builder.close_nest().bytes(), {});
  ASSERT_TRUE(fec);
  EXPECT_EQ(fec->counters.get("fec_hist_0to0"), 5'000'000'000U);
  EXPECT_EQ(fec->counters.get("fec_hist_1to3"), 17U);
  EXPECT_EQ(fec->counters.size(), 2U) << "a bin turned round or without a value is left out";
}

TEST(EthtoolFec, AnArrayThatIsNoArrayIsAbsent) {
  const std::array<std::byte, 12> odd{};
  const std::vector<std::byte> huge(8 * 66);
  const auto fec = fec_of(reply(ETHTOOL_MSG_FEC_GET_REPLY, ETHTOOL_A_FEC_HEADER)
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
  const auto names = stat_names(captured("up_names"));
  const auto counters = stats(captured("up_stats"), *names);
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->get("phy_SymbolErrorDuringCarrier"), 7U);
  EXPECT_EQ(counters->get("mac_FrameCheckSequenceErrors"), 11U);
  EXPECT_EQ(counters->get("ctrl_MACControlFramesReceived"), 12U);
  EXPECT_EQ(counters->size(), 3U);  // what the driver does not count is not there, and not zero
  const auto none = stats(captured("eth0_stats"), *stat_names(captured("eth0_names")));
  const auto nameless = stats(captured("up_stats"));
  ASSERT_TRUE(none && nameless);
  EXPECT_TRUE(none->empty());
  EXPECT_TRUE(nameless->empty());
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
  const auto counters = stats(builder.close_nest().bytes(), {});
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->get("rmon_rx_etherStatsPkts65to127Octets"), 3U);
  EXPECT_EQ(counters->get("rmon_tx_etherStatsPkts1519toMaxOctets"), 4U);
}

TEST(EthtoolStats, AnAbsurdStringIndexTakesNoMemory) {
  const auto names = stat_names(NetlinkBuilder::generic(kFamily.id, 0, ETHTOOL_MSG_STRSET_GET_REPLY)
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

TEST(EthtoolStats, ReadsPauseFramesAndStorms) {
  const auto captured_counters = pause(captured("up_pause"));
  ASSERT_TRUE(captured_counters);
  EXPECT_EQ(captured_counters->get("pause_tx_pause_frames"), 21U);
  EXPECT_EQ(captured_counters->get("pause_rx_pause_frames"), 22U);
  EXPECT_EQ(captured_counters->get("pause_tx_pause_storm_events"), std::nullopt)
      << "the kernel of the capture has none";
  constexpr std::uint16_t kStorms = 4;  // linux: Documentation/netlink/specs/ethtool.yaml
  const auto newer = pause(reply(ETHTOOL_MSG_PAUSE_GET_REPLY, ETHTOOL_A_PAUSE_HEADER)
                               .open_nest(ETHTOOL_A_PAUSE_STATS)
                               .put_u64(ETHTOOL_A_PAUSE_STAT_TX_FRAMES, 21)
                               .put_u64(kStorms, 3)
                               .close_nest()
                               .bytes());
  ASSERT_TRUE(newer);
  EXPECT_EQ(newer->get("pause_tx_pause_frames"), 21U);
  EXPECT_EQ(newer->get("pause_tx_pause_storm_events"), 3U);
}

TEST(EthtoolModule, ReadsAsManyBytesAsTheDriverGives) {
  const auto whole = module_bytes(captured("up_eeprom"));
  ASSERT_TRUE(whole);
  ASSERT_EQ(whole->size(), 128U);
  EXPECT_EQ((*whole)[0], 0x11);
  EXPECT_EQ((*whole)[1], 0x08);
  EXPECT_EQ(module_bytes(captured("down_eeprom"))->size(), 20U);
  auto answer = reply(ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY, ETHTOOL_A_MODULE_EEPROM_HEADER);
  EXPECT_TRUE(module_bytes(answer.bytes())->empty());
  answer.put(ETHTOOL_A_MODULE_EEPROM_DATA, std::vector<std::byte>(129));
  EXPECT_FALSE(module_bytes(answer.bytes())) << "more than a half page";
}

/// Drivers have other errors for an empty cage, and report it in their message.
TEST(EthtoolModule, AnEmptyCageIsKnownByTheDriversMessage) {
  for (const int errnum : {ENXIO, EBUSY, EIO, EOPNOTSUPP, EINVAL, EPERM, ETIMEDOUT})
    EXPECT_EQ(module_bytes(Error{"as the lab answered", errnum}).error().errnum, errnum);
  struct {
    int errnum;
    const char* message;
    bool empty;
  } const rows[] = {
      {EINVAL, "bnxt_en: Transceiver module not inserted", true},
      {EINVAL, "bnxt_en: Transceiver module disabled due to current fault", false},
      {EINVAL, "", false},
      {EIO, "mlx5_core: Query module eeprom by page failed, read 0 bytes, err -5, status 3", true},
      {EIO, "mlx5_core: Query module eeprom by page failed, read 0 bytes, err -5, status 3\n",
       true},
      {EIO, "mlx5_core: Query module eeprom by page failed, read 0 bytes, err -5, status 9", false},
      {EIO, "mlxsw_spectrum: No module present indication", true},
      {EIO, "another driver's message, status 3", false},
  };
  for (const auto& row : rows)
    EXPECT_EQ(module_bytes(Error{"as the kernel answers", row.errnum, row.message}).error().errnum,
              row.empty ? ENODEV : row.errnum)
        << row.message;
}

/// ethtool answers ENODEV itself for a device that its driver has detached: the module may well be
/// there.
TEST(EthtoolModule, ADetachedDeviceIsNoEmptyCage) {
  for (const bool detached : {true, false}) {
    FakeHost host;
    host.set_responder(
        [detached](int, std::span<const std::byte> request) -> Result<std::vector<Bytes>> {
          const auto message = parse_netlink_message(request, sizeof(genlmsghdr));
          const bool module =
              message && message->fixed<genlmsghdr>().cmd == ETHTOOL_MSG_MODULE_EEPROM_GET;
          if (module || detached) return Error{"as the kernel answers", ENODEV};
          return std::vector<Bytes>{
              reply(ETHTOOL_MSG_LINKSTATE_GET_REPLY, ETHTOOL_A_LINKSTATE_HEADER).bytes()};
        });
    EXPECT_EQ(read_module(host, kFamily, 2, {}).error().errnum, detached ? ESHUTDOWN : ENODEV);
  }
}

}  // namespace
}  // namespace linkhealth
