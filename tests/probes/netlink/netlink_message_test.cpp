// The builder and the strict reader: wrong lengths, padding, nests.
#include "probes/netlink/netlink_message.h"

#include <gtest/gtest.h>
#include <linux/netlink.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "tests/probes/netlink/netlink_fixtures.h"

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
      .bytes();
}

TEST(NetlinkMessage, ReadsTheBuildersMessage) {
  const Bytes bytes = example();
  const auto message = parse_netlink_message(bytes, sizeof(FixedHeader));
  ASSERT_TRUE(message) << message.error().message;
  EXPECT_EQ(message->type, 77);
  EXPECT_EQ(message->fixed<FixedHeader>().first, 0x11111111U);
  EXPECT_EQ(message->attributes[1].u8(), 0xab);
  EXPECT_EQ(message->attributes[2].u32(), 0xdeadbeefU);
  EXPECT_EQ(message->attributes[3].u64(), 0x0123456789abcdefU);
  EXPECT_EQ(message->attributes[4].text(), "eth0");
  const NetlinkAttributes nest = message->attributes.nested(5);
  EXPECT_EQ(nest[1].u32(), 7U);
  EXPECT_TRUE(nest.nested(2).contains(9));
}

TEST(NetlinkMessage, BuildsTheKernelsLayout) {
  EXPECT_EQ(NetlinkBuilder(0x0401, NLM_F_ACK).put_u32(1, 5).bytes(),
            from_hex("18000000010405000000000000000000"
                     "0800010005000000"));
}

TEST(NetlinkMessage, ANumberOfAnotherWidthIsNotGuessed) {
  const Bytes bytes = example();
  const auto message = parse_netlink_message(bytes, sizeof(FixedHeader));
  ASSERT_TRUE(message);
  EXPECT_FALSE(message->attributes[2].u8());
  EXPECT_FALSE(message->attributes[2].u64());
  EXPECT_FALSE(message->attributes[3].u32());
  EXPECT_FALSE(message->attributes[99].u32());
  EXPECT_EQ(message->attributes[99].text(), "");
}

TEST(NetlinkMessage, EveryCutIsAnError) {
  testing::expect_error_at_every_length(example(), [](ByteView bytes) {
    const auto message = parse_netlink_message(bytes, sizeof(FixedHeader));
    return message ? 0 : message.error().errnum;
  });
  Bytes bytes = example();
  bytes.resize(bytes.size() + 5, std::byte{0xff});
  EXPECT_TRUE(parse_netlink_message(bytes, sizeof(FixedHeader))) << "bytes behind it are ignored";
}

TEST(NetlinkMessage, WrongLengthsAreAnError) {
  // A message with one attribute of eight bytes: its own length at 0, the attribute's at 32.
  const std::string whole = "180000000104050000000000000000000800010005000000";
  for (const auto& [at, length] : {std::pair(0, "00000000"),
                                   {0, "0f000000"},
                                   {0, "19000000"},
                                   {0, "ffffffff"},
                                   {32, "ffff"},
                                   {32, "0300"},
                                   {32, "0000"},
                                   {32, "0900"}}) {
    std::string text = whole;
    text.replace(static_cast<std::size_t>(at), std::strlen(length), length);
    const Bytes bytes = from_hex(text);
    const auto message = parse_netlink_message(bytes, 0);
    ASSERT_FALSE(message) << at << " " << length;
    EXPECT_EQ(message.error().errnum, EBADMSG);
  }
}

TEST(NetlinkMessage, ABrokenNestIsEmptyAndHidesNothingElse) {
  const std::array<std::byte, 8> overrun = {std::byte{0xff}, std::byte{0x7f}, std::byte{1}};
  const Bytes bytes = NetlinkBuilder(77, 0).put(5, overrun).put_u32(6, 1).bytes();
  const auto message = parse_netlink_message(bytes, 0);
  ASSERT_TRUE(message);
  EXPECT_TRUE(message->attributes.nested(5).broken());
  EXPECT_EQ(message->attributes.nested(5).begin(), message->attributes.nested(5).end());
  EXPECT_EQ(message->attributes[6].u32(), 1U);
}

TEST(NetlinkMessage, TheLastAttributeMayComeWithoutPadding) {
  const Bytes padded = NetlinkBuilder(77, 0).put_u8(1, 9).bytes();
  Bytes bytes = cut(padded, padded.size() - 3);
  bytes[0] = static_cast<std::byte>(bytes.size());
  const auto message = parse_netlink_message(bytes, 0);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->attributes[1].u8(), 9);
  const std::array<std::byte, 2> letters = {std::byte{'a'}, std::byte{'b'}};
  const Bytes text = NetlinkBuilder(77, 0).put(1, letters).bytes();
  EXPECT_EQ(parse_netlink_message(text, 0)->attributes[1].text(), "ab") << "without a zero byte";
}

TEST(NetlinkMessage, AnAnswerToAnotherCommandIsAnError) {
  const Bytes bytes = captured("up_linkstate");
  EXPECT_TRUE(parse_genl_message(bytes, 6));
  EXPECT_FALSE(parse_genl_message(bytes, 7));
  const Bytes error = NetlinkBuilder(NLMSG_ERROR, 0).header(nlmsgerr{-EIO, {}}).bytes();
  EXPECT_FALSE(parse_genl_message(error, 0));
}

}  // namespace
}  // namespace linkhealth
