#include "probes/ethtool_module.h"

#include <linux/ethtool_netlink.h>

#include <cerrno>
#include <string_view>

#include "base/text.h"
#include "probes/ethtool_link.h"

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

Bytes build_module_read(EthtoolFamily family, std::uint32_t ifindex,
                        const ModulePageRequest& page) {
  return ethtool_request(family, ETHTOOL_MSG_MODULE_EEPROM_GET, ETHTOOL_A_MODULE_EEPROM_HEADER,
                         ifindex)
      .put_u32(ETHTOOL_A_MODULE_EEPROM_OFFSET, page.offset)
      .put_u32(ETHTOOL_A_MODULE_EEPROM_LENGTH, page.length)
      .put_u8(ETHTOOL_A_MODULE_EEPROM_PAGE, page.page)
      .put_u8(ETHTOOL_A_MODULE_EEPROM_BANK, page.bank)
      .put_u8(ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS, page.i2c_address)
      .take();
}

Result<std::vector<std::uint8_t>> parse_module_read(ByteView message) {
  const auto answer = open_genl_message(message, ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY);
  if (!answer) return answer.error();
  const auto data = answer->find(ETHTOOL_A_MODULE_EEPROM_DATA);
  if (!data)
    return std::vector<std::uint8_t>();  // a driver that read nothing and called it success
  if (data->payload.size() > kHalfPageBytes)
    return bad_message("more module bytes than a half page");
  const auto* first = reinterpret_cast<const std::uint8_t*>(data->payload.data());
  return std::vector<std::uint8_t>(first, first + data->payload.size());
}

Result<std::vector<std::uint8_t>> read_module(Host& host, EthtoolFamily family,
                                              std::uint32_t ifindex,
                                              const ModulePageRequest& page) {
  const auto answer = ask_ethtool(host, build_module_read(family, ifindex, page));
  if (answer) return parse_module_read(*answer);
  // No module; or no device: ethtool itself refuses one that its driver has detached, as in error
  // recovery (linux: net/ethtool/netlink.c ethnl_ops_begin()).
  if (answer.error().errnum == ENODEV)
    if (const auto state = ask_ethtool(host, build_linkstate_get(family, ifindex, false));
        !state && state.error().errnum == ENODEV)
      return Error{"the driver has detached its network device", ESHUTDOWN};
  Error error = answer.error();
  if (says_empty_cage(trim(error.kernel_words))) error.errnum = ENODEV;
  return error;
}

}  // namespace linkhealth
