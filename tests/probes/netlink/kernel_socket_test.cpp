#include "probes/netlink/kernel_socket.h"

#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <cerrno>
#include <cstring>

#include "probes/live_host.h"

namespace linkhealth {
namespace {

constexpr std::uint32_t kSequence = 7;
constexpr std::uint32_t kPort = 99;

Bytes message(std::uint16_t type, std::uint16_t flags, const std::string& payload,
              std::uint32_t sequence = kSequence) {
  nlmsghdr header{};
  header.nlmsg_len = static_cast<std::uint32_t>(sizeof header + payload.size());
  header.nlmsg_type = type;
  header.nlmsg_flags = flags;
  header.nlmsg_seq = sequence;
  header.nlmsg_pid = kPort;
  Bytes bytes((header.nlmsg_len + 3U) & ~3U);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, payload.data(), payload.size());
  return bytes;
}

std::string error_payload(int code, const std::string& text) {
  nlmsgerr body{};
  body.error = -code;
  body.msg.nlmsg_len = sizeof(nlmsghdr);
  std::string bytes(reinterpret_cast<const char*>(&body), sizeof body);
  nlattr attribute{static_cast<std::uint16_t>(sizeof(nlattr) + text.size() + 1), NLMSGERR_ATTR_MSG};
  bytes.append(reinterpret_cast<const char*>(&attribute), sizeof attribute);
  return bytes + text + '\0';
}

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(AnswerCollector, GathersUntilDoneOverSeveralDatagrams) {
  AnswerCollector collector(kSequence);
  ASSERT_TRUE(collector.add(message(20, NLM_F_MULTI, "one") + message(20, NLM_F_MULTI, "second")));
  EXPECT_FALSE(collector.complete());
  ASSERT_TRUE(collector.add(message(20, NLM_F_MULTI, "x") +
                            message(NLMSG_DONE, NLM_F_MULTI, std::string(4, '\0'))));
  EXPECT_TRUE(collector.complete());
  const auto answers = collector.take();
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0].size(), sizeof(nlmsghdr) + 3);
}

TEST(AnswerCollector, IgnoresLateAnswersToAnEarlierRequest) {
  AnswerCollector collector(kSequence);
  ASSERT_TRUE(collector.add(message(20, 0, "late", kSequence - 1) +
                            message(NLMSG_DONE, 0, "", kSequence - 1)));
  EXPECT_FALSE(collector.complete());
  EXPECT_TRUE(collector.take().empty());
}

TEST(AnswerCollector, ReturnsTheKernelsErrorWithItsText) {
  AnswerCollector collector(kSequence);
  const auto added = collector.add(
      message(NLMSG_ERROR, NLM_F_CAPPED | NLM_F_ACK_TLVS, error_payload(EOPNOTSUPP, "no module")));
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().errnum, EOPNOTSUPP);
  EXPECT_EQ(added.error().message, "Operation not supported (no module)");
  EXPECT_EQ(added.error().kernel_words, "no module");
  EXPECT_TRUE(collector.complete());
}

TEST(AnswerCollector, AnAckEndsARequest) {
  AnswerCollector collector(kSequence);
  ASSERT_TRUE(collector.add(message(20, 0, "answer") +
                            message(NLMSG_ERROR, NLM_F_CAPPED, error_payload(0, ""))));
  EXPECT_TRUE(collector.complete());
  EXPECT_EQ(collector.take().size(), 1U);
}

TEST(AnswerCollector, AnInterruptedDumpIsEAGAIN) {
  AnswerCollector collector(kSequence);
  const auto added = collector.add(message(20, NLM_F_MULTI | NLM_F_DUMP_INTR, "half") +
                                   message(NLMSG_DONE, 0, ""));
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().errnum, EAGAIN);
}

TEST(AnswerCollector, BadLengthsAreOneClearError) {
  auto cut = message(20, 0, "payload");
  for (const std::size_t size : {std::size_t{3}, std::size_t{17}, cut.size() - 4}) {
    AnswerCollector collector(kSequence);
    EXPECT_EQ(collector.add(std::span(cut).first(size)).error().errnum, EBADMSG) << size;
  }
  auto tiny = message(20, 0, "");
  tiny[0] = std::byte{4};  // shorter than a header: must not loop for ever
  AnswerCollector collector(kSequence);
  EXPECT_EQ(collector.add(tiny).error().errnum, EBADMSG);
  auto error = message(NLMSG_ERROR, 0, "x");
  AnswerCollector short_error(kSequence);
  EXPECT_EQ(short_error.add(error).error().errnum, EBADMSG);
}

/// RTM_GETLINK for one interface, or a dump for 0.
Bytes get_link(int ifindex) {
  struct {
    nlmsghdr header;
    ifinfomsg info;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = RTM_GETLINK;
  request.header.nlmsg_flags = ifindex == 0 ? NLM_F_REQUEST | NLM_F_DUMP : NLM_F_REQUEST;
  request.info.ifi_index = ifindex;
  const auto bytes = std::as_bytes(std::span(&request, 1));
  return {bytes.begin(), bytes.end()};
}

TEST(KernelSocket, ReadsThisKernelsLinks) {
  LiveHost host;
  for (int round = 0; round < 3; ++round) {  // the same socket serves again and again
    const auto all = host.netlink(NETLINK_ROUTE, get_link(0));
    ASSERT_TRUE(all) << all.error().message;
    EXPECT_FALSE(all->empty());
    const auto loopback = host.netlink(NETLINK_ROUTE, get_link(1));
    ASSERT_TRUE(loopback) << loopback.error().message;
    EXPECT_EQ(loopback->size(), 1U);
    const auto absent = host.netlink(NETLINK_ROUTE, get_link(0x7ffffff0));
    ASSERT_FALSE(absent);
    EXPECT_EQ(absent.error().errnum, ENODEV);
  }
}

TEST(KernelSocket, RefusesARequestOfBadLength) {
  LiveHost host;
  auto request = get_link(1);
  request.pop_back();
  EXPECT_EQ(host.netlink(NETLINK_ROUTE, request).error().errnum, EINVAL);
  EXPECT_EQ(host.netlink(NETLINK_ROUTE, {}).error().errnum, EINVAL);
  EXPECT_FALSE(host.netlink(31, get_link(1))) << "an unknown protocol";
}

TEST(KernelEvents, ReceiveNeverBlocks) {
  LiveHost host;
  const std::uint32_t groups[] = {RTNLGRP_LINK};
  auto events = host.listen(NETLINK_ROUTE, groups);
  ASSERT_TRUE(events) << events.error().message;
  EXPECT_GE((*events)->fd(), 0);
  EXPECT_TRUE((*events)->receive());
}

}  // namespace
}  // namespace linkhealth
