// ethtool netlink: one read of a module's memory, and what drivers answer instead of bytes.
#include <gtest/gtest.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include <cerrno>

#include "probes/netlink/ethtool_module.h"
#include "tests/probes/netlink/netlink_fixtures.h"
#include "tests/support/fake_host.h"

namespace linkhealth {
namespace {

using testing::captured;
using testing::FakeHost;

constexpr EthtoolFamily kFamily{0x14};  // as in the captured requests

/// An answer of the ethtool family.
NetlinkBuilder reply(std::uint8_t command, std::uint16_t header) {
  NetlinkBuilder builder = NetlinkBuilder::generic(kFamily.id, 0, command);
  builder.open_nest(header).put_u32(ETHTOOL_A_HEADER_DEV_INDEX, 2).close_nest();
  return builder;
}

/// What is answered when a read of a module fails so, on a device that is otherwise well.
Error failed_read(const Error& error) {
  FakeHost host;
  host.set_responder(
      [&error](int, std::span<const std::byte>) -> Result<std::vector<Bytes>> { return error; });
  return read_module(host, kFamily, 2, {}).error();
}

TEST(EthtoolModule, ReadsAHalfPage) {
  const auto bytes = parse_module_read(captured("up_eeprom"));
  ASSERT_TRUE(bytes);
  ASSERT_EQ(bytes->size(), 128U);
  EXPECT_EQ((*bytes)[0], 0x11);
  EXPECT_EQ((*bytes)[1], 0x08);
}

TEST(EthtoolModule, AShortReadIsAsLongAsItIs) {
  const auto bytes = parse_module_read(captured("down_eeprom"));
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->size(), 20U);
}

TEST(EthtoolModule, NoDataIsNoBytesAndTooMuchIsAnError) {
  EXPECT_TRUE(
      parse_module_read(
          reply(ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY, ETHTOOL_A_MODULE_EEPROM_HEADER).bytes())
          ->empty());
  const std::vector<std::byte> too_much(129);
  EXPECT_FALSE(
      parse_module_read(reply(ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY, ETHTOOL_A_MODULE_EEPROM_HEADER)
                            .put(ETHTOOL_A_MODULE_EEPROM_DATA, too_much)
                            .bytes()));
}

TEST(EthtoolModule, TheKernelsErrorsComeThrough) {
  for (const int errnum : {ENXIO, EBUSY, EIO, EOPNOTSUPP, EINVAL, EPERM, ETIMEDOUT})
    EXPECT_EQ(failed_read({"as the lab answered", errnum}).errnum, errnum);
}

/// Drivers have other errors for an empty cage, and say it in words.
TEST(EthtoolModule, AnEmptyCageIsKnownByTheDriversWords) {
  struct {
    int errnum;
    const char* words;
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
      {EIO, "another driver's words, status 3", false},
  };
  for (const auto& row : rows)
    EXPECT_EQ(failed_read({"as the kernel answers", row.errnum, row.words}).errnum,
              row.empty ? ENODEV : row.errnum)
        << row.words;
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
