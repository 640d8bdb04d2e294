// The builder and the strict reader: lengths that lie, padding, nests.
#include "probes/netlink_message.h"

#include <gtest/gtest.h>
#include <linux/netlink.h>

#include <array>
#include <cerrno>

#include "tests/probes/netlink_fixtures.h"

namespace linkhealth {
namespace {

using testing::captured;
using testing::cut;
using testing::from_hex;

struct FixedHeader {
  std::uint32_t first = 0x11111111;
  std::uint8_t second = 0x22;
  std::uint8_t pad[3] = {};
};

Bytes example() {
  return NetlinkBuilder(77, NLM_F_DUMP)
      .header(FixedHeader{})
      .put_u8(1, 0xab)
      .put_u32(2, 0xdeadbeef)
      .put_u64(3, 0x0123456789abcdef)
      .put_string(4, "eth0")
      .open_nest(5)
      .put_u32(1, 7)
      .open_nest(2)
      .put_flag(9)
      .close_nest()
      .close_nest()
      .take();
}

TEST(NetlinkMessage, ReadsWhatTheBuilderWrote) {
  const Bytes bytes = example();
  const auto message = open_netlink_message(bytes, sizeof(FixedHeader));
  ASSERT_TRUE(message) << message.error().message;
  EXPECT_EQ(message->type, 77);
  EXPECT_EQ(message->flags, NLM_F_DUMP | NLM_F_REQUEST);
  EXPECT_EQ(message->fixed<FixedHeader>().first, 0x11111111U);
  EXPECT_EQ(message->attributes.u8(1), 0xab);
  EXPECT_EQ(message->attributes.u32(2), 0xdeadbeefU);
  EXPECT_EQ(message->attributes.u64(3), 0x0123456789abcdefU);
  EXPECT_EQ(message->attributes.text(4), "eth0");
  const NetlinkAttributes nest = message->attributes.nested(5);
  EXPECT_EQ(nest.u32(1), 7U);
  EXPECT_TRUE(nest.nested(2).find(9));
}

TEST(NetlinkMessage, BuildsTheBytesThatTheKernelAccepts) {
  EXPECT_EQ(NetlinkBuilder(0x0401, NLM_F_ACK).put_u32(1, 5).take(),
            from_hex("18000000010405000000000000000000"
                     "0800010005000000"));
}

TEST(NetlinkMessage, ANumberOfAnotherWidthIsNotGuessed) {
  const Bytes bytes = example();
  const auto message = open_netlink_message(bytes, sizeof(FixedHeader));
  ASSERT_TRUE(message);
  EXPECT_FALSE(message->attributes.u8(2));
  EXPECT_FALSE(message->attributes.u64(2));
  EXPECT_FALSE(message->attributes.u32(3));
  EXPECT_FALSE(message->attributes.u32(99));
  EXPECT_EQ(message->attributes.text(99), "");
}

TEST(NetlinkMessage, EveryCutIsAnError) {
  testing::expect_error_at_every_length(example(), [](ByteView bytes) {
    const auto message = open_netlink_message(bytes, sizeof(FixedHeader));
    return message ? 0 : message.error().errnum;
  });
}

TEST(NetlinkMessage, AttributesThatOverrunTheMessageAreAnError) {
  // The message's length fits, that of its attribute does not: 0xffff, 3 and 0 bytes long.
  for (const char* length : {"ffff", "0300", "0000", "0900"}) {
    const Bytes bytes = from_hex(
        std::string("180000000104050000000000000000000800010005000000").replace(32, 4, length));
    const auto message = open_netlink_message(bytes, 0);
    ASSERT_FALSE(message) << length;
    EXPECT_EQ(message.error().errnum, EBADMSG);
  }
}

TEST(NetlinkMessage, AMessageLengthThatLiesIsAnError) {
  for (const char* length : {"00000000", "0f000000", "19000000", "ffffffff"}) {
    const Bytes bytes = from_hex(
        std::string("180000000104050000000000000000000800010005000000").replace(0, 8, length));
    EXPECT_FALSE(open_netlink_message(bytes, 0)) << length;
  }
}

TEST(NetlinkMessage, ABrokenNestIsEmptyAndHidesNothingElse) {
  const std::array<std::byte, 8> overrun = {std::byte{0xff}, std::byte{0x7f}, std::byte{1}};
  const Bytes bytes = NetlinkBuilder(77, 0).put(5, overrun).put_u32(6, 1).take();
  const auto message = open_netlink_message(bytes, 0);
  ASSERT_TRUE(message);
  EXPECT_TRUE(message->attributes.nested(5).broken());
  EXPECT_EQ(message->attributes.nested(5).begin(), message->attributes.nested(5).end());
  EXPECT_EQ(message->attributes.u32(6), 1U);
}

TEST(NetlinkMessage, TheLastAttributeMayComeWithoutPadding) {
  const Bytes padded = NetlinkBuilder(77, 0).put_u8(1, 9).take();
  Bytes bytes = cut(padded, padded.size() - 3);
  bytes[0] = static_cast<std::byte>(bytes.size());
  const auto message = open_netlink_message(bytes, 0);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->attributes.u8(1), 9);
}

TEST(NetlinkMessage, BytesBehindTheMessageAreIgnored) {
  Bytes bytes = example();
  bytes.resize(bytes.size() + 5, std::byte{0xff});
  EXPECT_TRUE(open_netlink_message(bytes, sizeof(FixedHeader)));
}

TEST(NetlinkMessage, TextWithoutAnEndIsTheWholePayload) {
  const std::array<std::byte, 2> letters = {std::byte{'a'}, std::byte{'b'}};
  const Bytes bytes = NetlinkBuilder(77, 0).put(1, letters).take();
  EXPECT_EQ(open_netlink_message(bytes, 0)->attributes.text(1), "ab");
}

TEST(NetlinkMessage, AnAnswerToAnotherCommandIsAnError) {
  const Bytes bytes = captured("up_linkstate");
  EXPECT_TRUE(open_genl_message(bytes, 6));
  EXPECT_FALSE(open_genl_message(bytes, 7));
}

TEST(NetlinkMessage, AnErrorMessageIsNoAnswer) {
  const Bytes bytes = NetlinkBuilder(NLMSG_ERROR, 0).header(nlmsgerr{-EIO, {}}).take();
  EXPECT_FALSE(open_genl_message(bytes, 0));
}

}  // namespace
}  // namespace linkhealth
