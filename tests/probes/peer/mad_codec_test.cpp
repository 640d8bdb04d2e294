#include "probes/peer/mad_codec.h"

#include <gtest/gtest.h>
#include <infiniband/mad.h>

#include <cerrno>

#include "mad_fabric.h"

namespace linkhealth {
namespace {

using testing::FakeFabric;

constexpr int kData = 64;

Mad request(MadAttribute attribute, std::uint8_t port = 0) {
  return encode_request({attribute, port, 0x01020304, 1});
}

TEST(MadRequests, ADirectedRequestLeavesByThePortAndTakesOneHop) {
  const Mad mad = encode_request({MadAttribute::kPortInfo, 17, 0x01020304, 2});
  // IBA 14.2.1.2: base version, class, class version, method, status, hop pointer, hop count,
  // transaction, attribute.
  const std::vector<std::uint8_t> header = {1, 0x81, 1, 1, 0, 0,    0, 1, 0, 0, 0, 0,
                                            1, 2,    3, 4, 0, 0x15, 0, 0, 0, 0, 0, 17};
  EXPECT_EQ(std::vector<std::uint8_t>(mad.begin(), mad.begin() + 24), header);
  EXPECT_EQ(std::vector<std::uint8_t>(mad.begin() + 32, mad.begin() + 36),
            (std::vector<std::uint8_t>{255, 255, 255, 255}));
  EXPECT_EQ(mad[128], 0);
  EXPECT_EQ(mad[129], 2);
  const Mad own = encode_request({MadAttribute::kPortInfo, 1, 1, 0});
  EXPECT_EQ(own[7], 0) << "no hop to this node";
  EXPECT_EQ(own[129], 0);
  const Mad perf = encode_request({MadAttribute::kPortCountersExtended, 17, 9, 0});
  EXPECT_EQ(perf[1], 0x04);
  EXPECT_EQ(perf[3], 0x01);
  EXPECT_EQ(perf[17], 0x1d);
  EXPECT_EQ(perf[kData + 1], 17);
  EXPECT_EQ(perf[23], 0);
}

TEST(MadRequests, AllAreGet) {
  for (const auto attribute : {MadAttribute::kNodeInfo, MadAttribute::kNodeDescription,
                               MadAttribute::kPortInfo, MadAttribute::kPerfClassPortInfo,
                               MadAttribute::kPortCounters, MadAttribute::kPortCountersExtended})
    EXPECT_EQ(request(attribute)[3], 0x01);
}

class MadAnswers : public ::testing::Test {
 protected:
  std::vector<std::uint8_t> answer() { return *fabric_.answer(0, request_, Milliseconds{1}, 1); }
  FakeFabric fabric_;
  const Mad request_ = request(MadAttribute::kNodeInfo);
};

TEST_F(MadAnswers, OnlyTheAnswerToTheRequestIsAccepted) {
  EXPECT_TRUE(check_answer(request_, answer()).ok())
      << "the kernel's half of the transaction differs";
  EXPECT_FALSE(check_answer(request_, request_).ok()) << "our own request is not an answer";
  for (const std::size_t size : {0U, 1U, 15U, 24U, 255U, 257U, 2048U}) {
    auto bytes = answer();
    bytes.resize(size);
    EXPECT_EQ(check_answer(request_, bytes).error().errnum, EPROTO) << size;
  }
  // Version, class, method, transaction, attribute.
  for (const std::size_t at : {0U, 1U, 3U, 15U, 17U}) {
    auto bytes = answer();
    bytes[at] ^= 0x40U;
    EXPECT_EQ(check_answer(request_, bytes).error().errnum, EPROTO) << at;
  }
}

TEST_F(MadAnswers, AStatusIsTheFarEndsErrorAsText) {
  const std::pair<std::uint16_t, const char*> cases[] = {
      {0x0001, "the far end is busy (status 0x0001)"},
      {0x0002, "the far end refers to another agent (status 0x0002)"},
      {0x0004, "the far end does not know this version (status 0x0004)"},
      {0x000c, "the far end does not support the attribute (status 0x000c)"},
      {0x001c, "the far end refuses the value (status 0x001c)"},
      {0x0100, "the far end answers with an error (status 0x0100)"}};
  for (const auto& [status, words] : cases) {
    fabric_.status[0x0011] = status;
    const auto checked = check_answer(request_, answer());
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().errnum, EREMOTEIO);
    EXPECT_EQ(checked.error().message, words);
  }
}

Mad filled(std::initializer_list<std::pair<MAD_FIELDS, std::uint32_t>> fields) {
  Mad mad{};
  for (const auto& [field, value] : fields) mad_set_field(mad.data(), kData, field, value);
  return mad;
}

TEST(MadNodeInfo, ReadsTheNode) {
  Mad mad = filled({{IB_NODE_TYPE_F, 2}, {IB_NODE_NPORTS_F, 65}, {IB_NODE_LOCAL_PORT_F, 64}});
  mad_set_field64(mad.data(), kData, IB_NODE_GUID_F, 0xb83fd20300123456);
  const auto info = decode_node_info(mad);
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->type, IbNodeType::kSwitch);
  EXPECT_EQ(info->local_port, 64);
  EXPECT_EQ(format_guid(info->node_guid), "b83f:d203:0012:3456");
}

TEST(MadNodeInfo, ImpossibleValuesAreAnError) {
  EXPECT_FALSE(decode_node_info(Mad{}).ok());
  // Port 0 is the switch itself: no cable ends there.
  for (const std::uint32_t port : {0U, 41U, 255U}) {
    Mad mad = filled({{IB_NODE_TYPE_F, 2}, {IB_NODE_NPORTS_F, 40}, {IB_NODE_LOCAL_PORT_F, port}});
    mad_set_field64(mad.data(), kData, IB_NODE_GUID_F, 1);
    EXPECT_EQ(decode_node_info(mad).error().errnum, EPROTO) << port;
  }
  Mad ones;
  ones.fill(0xff);
  EXPECT_FALSE(decode_node_info(ones).ok());
}

TEST(MadNodeDescription, IsCutAtItsEndAndMadeSafe) {
  Mad mad{};
  EXPECT_EQ(decode_node_description(mad), "");
  const std::string text = "gpu-0417 mlx5_0\x1b[31m\xff ";
  std::copy(text.begin(), text.end(), mad.begin() + kData);
  EXPECT_EQ(decode_node_description(mad), "gpu-0417 mlx5_0?[31m?");
  mad.fill('x');
  EXPECT_EQ(decode_node_description(mad), std::string(64, 'x'));
}

TEST(MadNodeDescription, ContainsTheSystemsName) {
  EXPECT_EQ(system_name("MF0;leaf-12:MQM9700/U1"), "leaf-12");
  EXPECT_EQ(system_name("gpu-0417 mlx5_0"), "gpu-0417 mlx5_0");
  EXPECT_EQ(system_name("leaf-12"), "leaf-12");
  EXPECT_EQ(system_name("Quantum Mellanox Technologies"), "");
  for (const char* odd : {"MF0;", "MF0;:", "MF0;leaf", "MF0:a;b"}) EXPECT_EQ(system_name(odd), odd);
  EXPECT_EQ(system_name(""), "");
}

TEST(MadPortInfo, UsesTheKernelsWords) {
  const IbPortInfo info = decode_port_info(filled({{IB_PORT_STATE_F, 4},
                                                   {IB_PORT_PHYS_STATE_F, 5},
                                                   {IB_PORT_LID_F, 0xbfff},
                                                   {IB_PORT_LINK_WIDTH_ACTIVE_F, 2},
                                                   {IB_PORT_LINK_SPEED_ACTIVE_F, 4},
                                                   {IB_PORT_LINK_SPEED_EXT_ACTIVE_F, 8},
                                                   {IB_PORT_NEIGHBOR_MTU_F, 5}}));
  EXPECT_TRUE(info.link_up);
  EXPECT_TRUE(info.forwards);
  EXPECT_EQ(info.lid, 0xbfff);
  EXPECT_EQ(info.link.state, "ACTIVE");
  EXPECT_EQ(info.link.phys_state, "LinkUp");
  EXPECT_EQ(info.link.speed_mbps, 400'000U);
  EXPECT_EQ(info.link.lanes, 4U);
  EXPECT_EQ(info.link.mtu_bytes, 4096U);
  EXPECT_EQ(info.link.carrier, true);
  EXPECT_EQ(info.link.admin_up, true);
}

TEST(MadPortInfo, EveryWidthAndSpeedOfTheKernelsRateFile) {
  for (const auto& [code, lanes] : {std::pair(1U, 1U), {2U, 4U}, {4U, 8U}, {8U, 12U}, {16U, 2U}})
    EXPECT_EQ(
        decode_port_info(filled({{IB_PORT_PHYS_STATE_F, 5}, {IB_PORT_LINK_WIDTH_ACTIVE_F, code}}))
            .link.lanes,
        lanes);
  struct {
    MAD_FIELDS field;
    std::uint32_t code;
    std::optional<std::uint32_t> speed_mbps;
  } const rows[] = {{IB_PORT_LINK_SPEED_ACTIVE_F, 0, std::nullopt},
                    {IB_PORT_LINK_SPEED_ACTIVE_F, 1, 2'500},
                    {IB_PORT_LINK_SPEED_ACTIVE_F, 2, 5'000},
                    {IB_PORT_LINK_SPEED_ACTIVE_F, 4, 10'000},
                    {IB_PORT_LINK_SPEED_EXT_ACTIVE_F, 1, 14'000},
                    {IB_PORT_LINK_SPEED_EXT_ACTIVE_F, 2, 25'000},
                    {IB_PORT_LINK_SPEED_EXT_ACTIVE_F, 3, std::nullopt},
                    {IB_PORT_LINK_SPEED_EXT_ACTIVE_F, 4, 50'000},
                    {IB_PORT_LINK_SPEED_EXT_ACTIVE_F, 8, 100'000}};
  for (const auto& row : rows)
    EXPECT_EQ(decode_port_info(filled({{IB_PORT_PHYS_STATE_F, 5},
                                       {IB_PORT_LINK_WIDTH_ACTIVE_F, 1},
                                       {row.field, row.code}}))
                  .link.speed_mbps,
              row.speed_mbps);
}

TEST(MadPortInfo, SpeedsFromXdrOnHaveAFieldOfTheirOwn) {
  // Active: three bits, supported: two, enabled: three.
  constexpr std::size_t kSpeeds2 = IB_SMP_DATA_OFFS + 56;
  Mad answer = filled({{IB_PORT_PHYS_STATE_F, 5},
                       {IB_PORT_LINK_WIDTH_ACTIVE_F, 2},
                       {IB_PORT_LINK_SPEED_ACTIVE_F, 4}});
  const auto speed_mbps = [&](std::uint8_t speeds2) {
    answer.at(kSpeeds2) = speeds2;
    return decode_port_info(answer).link.speed_mbps;
  };
  EXPECT_EQ(speed_mbps(0b001'01'001), 800'000U) << "XDR, as the kernel's rate file has it";
  EXPECT_EQ(speed_mbps(0b010'11'011), std::nullopt) << "a speed after XDR is not 10 Gb/s a lane";
  EXPECT_EQ(speed_mbps(0b000'01'001), 40'000U) << "able to, but not in use";
}

TEST(MadPortInfo, ADownPortHasNoSpeedAndReservedCodesNoText) {
  const IbPortInfo down = decode_port_info(filled({{IB_PORT_STATE_F, 1},
                                                   {IB_PORT_PHYS_STATE_F, 3},
                                                   {IB_PORT_LINK_WIDTH_ACTIVE_F, 2},
                                                   {IB_PORT_LINK_SPEED_ACTIVE_F, 1},
                                                   {IB_PORT_NEIGHBOR_MTU_F, 5}}));
  EXPECT_EQ(down.link.state, "DOWN");
  EXPECT_EQ(down.link.phys_state, "Disabled");
  EXPECT_EQ(down.link.admin_up, false);
  EXPECT_EQ(down.link.speed_mbps, std::nullopt);
  EXPECT_EQ(down.link.mtu_bytes, std::nullopt);
  const IbPortInfo odd =
      decode_port_info(filled({{IB_PORT_STATE_F, 9}, {IB_PORT_PHYS_STATE_F, 15}}));
  EXPECT_EQ(odd.link.state, "");
  EXPECT_EQ(odd.link.phys_state, "");
  EXPECT_FALSE(odd.forwards);
  EXPECT_EQ(decode_port_info(Mad{}).link.carrier, std::nullopt);
  const IbPortInfo recovering =
      decode_port_info(filled({{IB_PORT_STATE_F, 4}, {IB_PORT_PHYS_STATE_F, 6}}));
  EXPECT_EQ(recovering.link.phys_state, "LinkErrorRecovery");
  EXPECT_TRUE(recovering.link_up);
  EXPECT_EQ(recovering.link.carrier, true);
}

TEST(MadCounters, FullCountersKeepTheirWidths) {
  Mad mad;
  mad.fill(0xff);
  const auto counters = decode_port_counters(mad, 0xff, {false, false, false, true});
  ASSERT_TRUE(counters.ok());
  EXPECT_EQ(counters->get("symbol_error"), 0xffffU);
  EXPECT_EQ(counters->get("link_error_recovery"), 0xffU);
  EXPECT_EQ(counters->get("link_downed"), 0xffU);
  EXPECT_EQ(counters->get("local_link_integrity_errors"), 0xfU);
  EXPECT_EQ(counters->get("excessive_buffer_overrun_errors"), 0xfU);
  EXPECT_EQ(counters->get("VL15_dropped"), 0xffffU);
  EXPECT_EQ(counters->get("port_xmit_wait"), 0xffffffffU);
  EXPECT_EQ(counters->get("port_xmit_data"), std::nullopt);
  EXPECT_EQ(counters->size(), 13U);
  const auto extended = decode_port_counters_extended(mad, 0xff, {true, false, true, true});
  ASSERT_TRUE(extended.ok());
  EXPECT_TRUE(counters->other().empty() && extended->other().empty()) << "sysfs has these names";
}

TEST(MadCounters, WhatTheAgentDoesNotOfferIsAbsent) {
  Mad mad{};
  EXPECT_EQ(decode_port_counters(mad, 0, {})->get("port_xmit_wait"), std::nullopt);
  EXPECT_EQ(decode_port_counters_extended(mad, 0, {false, true, false, false})->size(), 4U);
  EXPECT_EQ(decode_port_counters_extended(mad, 0, {true, false, false, false})->size(), 8U);
  EXPECT_EQ(decode_port_counters_extended(mad, 0, {true, false, true, false})->size(), 21U);
}

TEST(MadCounters, AnotherPortsAreRefused) {
  const Mad mad = filled({{IB_PC_PORT_SELECT_F, 18}});
  EXPECT_EQ(decode_port_counters(mad, 17, {}).error().message,
            "the answer is about port 18, not 17");
  EXPECT_EQ(decode_port_counters_extended(mad, 17, {}).error().errnum, EPROTO);
}

TEST(MadCapabilities, AreTheBitsOfBothMasks) {
  const auto offered = [](std::uint32_t mask, std::uint32_t mask2) {
    return decode_perf_capabilities(filled({{IB_CPI_CAPMASK_F, mask}, {IB_CPI_CAPMASK2_F, mask2}}));
  };
  EXPECT_TRUE(offered(0x0200, 0).extended);
  EXPECT_TRUE(offered(0x0400, 0).extended_plain);
  EXPECT_TRUE(offered(0x1000, 0).xmit_wait);
  EXPECT_TRUE(offered(0, 2).extended_errors);
  EXPECT_FALSE(offered(0x1900, 0xfd).has_extended());
}

}  // namespace
}  // namespace linkhealth
