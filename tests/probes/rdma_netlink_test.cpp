// RDMA netlink, from messages of a real kernel with rxe0.
#include "probes/rdma_netlink.h"

#include <gtest/gtest.h>
#include <rdma/rdma_netlink.h>

#include <cerrno>

#include "tests/probes/netlink_fixtures.h"
#include "tests/support/fake_host.h"

namespace linkhealth {
namespace {

using testing::captured;
using testing::FakeHost;

TEST(RdmaNetlink, RequestsAreThoseThatAKernelAnswered) {
  EXPECT_EQ(build_rdma_devices_dump(), captured("rdma_devices_request"));
  EXPECT_EQ(build_rdma_port_get(0, 1), captured("rdma_port_request"));
  EXPECT_EQ(build_rdma_counters_get(0, 1), captured("rdma_counters_request"));
}

TEST(RdmaNetlink, ReadsADevice) {
  const auto device = parse_rdma_device(captured("up_rdma_devices"));
  ASSERT_TRUE(device) << device.error().message;
  EXPECT_EQ(device->index, 0U);
  EXPECT_EQ(device->name, "rxe0");
}

TEST(RdmaNetlink, ReadsTheStateOfAPort) {
  const auto up = parse_rdma_port(captured("up_rdma_port"));
  ASSERT_TRUE(up);
  EXPECT_EQ(up->state, "ACTIVE");
  EXPECT_EQ(up->phys_state, "LinkUp");
  const auto down = parse_rdma_port(captured("down_rdma_port"));
  EXPECT_EQ(down->state, "DOWN");
  EXPECT_EQ(down->phys_state, "Polling");
  EXPECT_EQ(parse_rdma_port(captured("admindown_rdma_port"))->phys_state, "Disabled");
}

TEST(RdmaNetlink, AStateOfANewerKernelHasNoWord) {
  const auto port =
      parse_rdma_port(NetlinkBuilder(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_PORT_GET), 0)
                          .put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0)
                          .put_u32(RDMA_NLDEV_ATTR_PORT_INDEX, 1)
                          .put_u8(RDMA_NLDEV_ATTR_PORT_STATE, 9)
                          .bytes());
  ASSERT_TRUE(port);
  EXPECT_EQ(port->state, "");
  EXPECT_EQ(port->phys_state, "");
}

TEST(RdmaNetlink, ReadsAllCountersOfAPort) {
  const auto counters = parse_rdma_counters(captured("down_rdma_counters"));
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->size(), 15U);  // what `rdma statistic show` printed
  EXPECT_EQ(counters->get("sent_pkts"), 0U);
  EXPECT_GT(counters->get("link_downed").value_or(0),
            parse_rdma_counters(captured("up_rdma_counters"))->get("link_downed"));
  EXPECT_FALSE(counters->get("symbol_error"));
}

TEST(RdmaNetlink, EveryCutIsAnError) {
  testing::expect_error_at_every_length(captured("up_rdma_counters"), [](ByteView bytes) {
    const auto counters = parse_rdma_counters(bytes);
    return counters ? 0 : counters.error().errnum;
  });
  testing::expect_error_at_every_length(captured("up_rdma_port"), [](ByteView bytes) {
    const auto port = parse_rdma_port(bytes);
    return port ? 0 : port.error().errnum;
  });
  testing::expect_error_at_every_length(captured("up_rdma_devices"), [](ByteView bytes) {
    const auto device = parse_rdma_device(bytes);
    return device ? 0 : device.error().errnum;
  });
}

TEST(RdmaNetlink, RefusalsComeThroughSoThatFilesCanBeRead) {
  for (const int errnum : {EINVAL, EOPNOTSUPP, EPROTONOSUPPORT}) {
    FakeHost host;
    host.set_responder([errnum](int, std::span<const std::byte>) -> Result<std::vector<Bytes>> {
      return Error{"refused", errnum};
    });
    EXPECT_EQ(read_rdma_counters(host, 0, 1).error().errnum, errnum);
    EXPECT_EQ(read_rdma_devices(host).error().errnum, errnum);
  }
}

TEST(RdmaNetlink, AnAnswerToAnotherRequestIsAnError) {
  EXPECT_FALSE(parse_rdma_counters(captured("up_rdma_port")));
  EXPECT_FALSE(parse_rdma_port(captured("up_rdma_counters")));
  EXPECT_FALSE(parse_rdma_port(captured("up_rdma_devices")));  // the same message type
}

}  // namespace
}  // namespace linkhealth
