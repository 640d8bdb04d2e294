#include "probes/devlink_health.h"

#include <gtest/gtest.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <cerrno>
#include <cstring>

#include "tests/support/fake_host.h"

namespace linkhealth {
namespace {

using testing::FakeHost;

Bytes reporter(const std::string& bus, const std::string& device, const std::string& name, std::uint8_t state) {
  genlmsghdr head{};
  head.cmd = DEVLINK_CMD_HEALTH_REPORTER_GET;
  return NetlinkBuilder(0x15, NLM_F_MULTI)
      .header(head)
      .put_string(DEVLINK_ATTR_BUS_NAME, bus)
      .put_string(DEVLINK_ATTR_DEV_NAME, device)
      .open_nest(DEVLINK_ATTR_HEALTH_REPORTER)
      .put_string(DEVLINK_ATTR_HEALTH_REPORTER_NAME, name)
      .put_u8(DEVLINK_ATTR_HEALTH_REPORTER_STATE, state)
      .put_u64(DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, 3)
      .put_u64(DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT, 2)
      .close_nest()
      .take();
}

TEST(DevlinkHealth, AReporterIsRead) {
  const auto read = parse_health_reporter(reporter("pci", "0000:1b:00.0", "fw_fatal", 1));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->pci, "0000:1b:00.0");
  EXPECT_EQ(read->name, "fw_fatal");
  EXPECT_EQ(read->in_error, true);
  EXPECT_EQ(read->errors, 3U);
  EXPECT_EQ(read->recoveries, 2U);
}

TEST(DevlinkHealth, AStateThatThisProgramDoesNotKnowIsNotKnown) {
  EXPECT_EQ(parse_health_reporter(reporter("pci", "0000:1b:00.0", "fw_fatal", 0))->in_error, false);
  EXPECT_FALSE(parse_health_reporter(reporter("pci", "0000:1b:00.0", "fw_fatal", 9))->in_error);
}

TEST(DevlinkHealth, WhatAReporterMeansIsItsDriversMatter) {
  EXPECT_EQ(readings_until_fatal("mlx5_core", "fw_fatal"), 1U);
  EXPECT_EQ(readings_until_fatal("mlx5_core", "fw"), 0U) << "any syndrome, also a warm sensor";
  EXPECT_EQ(readings_until_fatal("mlx5_core", "tx"), 0U) << "a queue, recovers";
  EXPECT_EQ(readings_until_fatal("bnxt_en", "fw"), 2U) << "once: a reset that mends it";
  EXPECT_EQ(readings_until_fatal("bnxt_en", "hw"), 0U) << "writes to its flash";
  EXPECT_EQ(readings_until_fatal("ice", "port"), 0U);
  EXPECT_EQ(readings_until_fatal("", "fw_fatal"), 0U);
}

TEST(DevlinkHealth, ADeviceOfAnotherBusHasNoPciAddress) {
  EXPECT_EQ(parse_health_reporter(reporter("auxiliary", "mlx5_core.sf.4", "tx", 0))->pci, "");
}

TEST(DevlinkHealth, EveryCutIsAnErrorOrNothingOfIt) {
  const Bytes whole = reporter("pci", "0000:1b:00.0", "fw", 0);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse_health_reporter(std::span(whole).first(size))) << size;
}

TEST(DevlinkHealth, AllReportersInOneDump) {
  FakeHost host;
  host.set_responder([](int protocol, std::span<const std::byte> request) -> Result<std::vector<Bytes>> {
    EXPECT_EQ(protocol, NETLINK_GENERIC);
    nlmsghdr head;
    std::memcpy(&head, request.data(), sizeof(head));
    if (head.nlmsg_type == GENL_ID_CTRL) {
      genlmsghdr genl{};
      genl.cmd = CTRL_CMD_NEWFAMILY;
      const std::uint16_t id = 0x15;
      return std::vector<Bytes>{NetlinkBuilder(GENL_ID_CTRL, 0)
                                    .header(genl)
                                    .put(CTRL_ATTR_FAMILY_ID, std::as_bytes(std::span(&id, 1)))
                                    .take()};
    }
    EXPECT_EQ(head.nlmsg_type, 0x15);
    EXPECT_TRUE(head.nlmsg_flags & NLM_F_DUMP);
    return std::vector<Bytes>{reporter("pci", "0000:1b:00.0", "fw", 0), Bytes(7),
                              reporter("pci", "0000:1c:00.0", "tx", 0)};
  });
  const auto reporters = read_health_reporters(host);
  ASSERT_TRUE(reporters) << reporters.error().message;
  ASSERT_EQ(reporters->size(), 2U) << "the damaged answer is left out";
  EXPECT_EQ((*reporters)[1].pci, "0000:1c:00.0");
}

TEST(DevlinkHealth, AKernelWithoutDevlinkSaysSo) {
  FakeHost host;
  host.set_responder([](int, std::span<const std::byte>) -> Result<std::vector<Bytes>> {
    return Error{"no such family", ENOENT};
  });
  EXPECT_EQ(read_health_reporters(host).error().errnum, ENOENT);
}

}  // namespace
}  // namespace linkhealth
