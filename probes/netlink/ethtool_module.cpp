#include "probes/netlink/ethtool_module.h"

#include <linux/ethtool_netlink.h>

#include <cerrno>
#include <string_view>

#include "base/text.h"
#include "probes/netlink/ethtool_link.h"

namespace linkhealth {
namespace {
constexpr std::size_t kHalfPageBytes = 128;

/// Drivers' messages for an empty cage whose errno is another one (linux: bnxt_ethtool.c
/// bnxt_get_module_status(), mlxsw/core_env.c, and mlx5 en_ethtool.c since 6.19 with the status of
/// the register MCIA: 3, not connected).
bool says_empty_cage(std::string_view words) {
  return words.ends_with("module not inserted") ||
         words.ends_with("No module present indication") ||
         (words.find("Query module eeprom") != std::string_view::npos &&
          words.ends_with(", status 3"));
}

}  // namespace

Result<std::vector<std::uint8_t>> parse_module_read(ByteView message) {
  const auto answer = parse_genl_message(message, ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY);
  if (!answer) return answer.error();
  // Without data: the driver read nothing and reported success.
  const ByteView data = (*answer)[ETHTOOL_A_MODULE_EEPROM_DATA].payload;
  if (data.size() > kHalfPageBytes) return bad_message("more module bytes than a half page");
  const auto* first = reinterpret_cast<const std::uint8_t*>(data.data());
  return std::vector<std::uint8_t>(first, first + data.size());
}

Result<std::vector<std::uint8_t>> read_module(Host& host, EthtoolFamily family,
                                              std::uint32_t ifindex,
                                              const ModulePageRequest& page) {
  auto request = ethtool_request(family, ETHTOOL_MSG_MODULE_EEPROM_GET,
                                 ETHTOOL_A_MODULE_EEPROM_HEADER, ifindex);
  request.put_u32(ETHTOOL_A_MODULE_EEPROM_OFFSET, page.offset)
      .put_u32(ETHTOOL_A_MODULE_EEPROM_LENGTH, page.length)
      .put_u8(ETHTOOL_A_MODULE_EEPROM_PAGE, page.page)
      .put_u8(ETHTOOL_A_MODULE_EEPROM_BANK, page.bank)
      .put_u8(ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS, page.i2c_address);
  auto bytes = request_ethtool(host, request, &parse_module_read);
  if (bytes || bytes.error().errnum == EBADMSG) return bytes;
  // No module; or no device: ethtool itself refuses one that its driver has detached, as in error
  // recovery (linux: net/ethtool/netlink.c ethnl_ops_begin()).
  Error error = bytes.error();
  bool statistics = false;
  if (error.errnum == ENODEV)
    if (const auto state = read_linkstate(host, family, ifindex, statistics);
        !state && state.error().errnum == ENODEV)
      return Error{"the driver has detached its network device", ESHUTDOWN};
  if (says_empty_cage(trim(error.kernel_words))) error.errnum = ENODEV;
  return error;
}

}  // namespace linkhealth
