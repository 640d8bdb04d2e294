// ethtool netlink: one read of a transceiver module's memory. The read can take seconds and holds
// the kernel's RTNL lock meanwhile: only the module reader's own thread calls it.
#pragma once

#include <cstdint>
#include <vector>

#include "probes/module/image.h"
#include "probes/netlink/ethtool_family.h"

namespace linkhealth {

/// The bytes that came: often fewer than requested, even none. Never more than a half page.
Result<std::vector<std::uint8_t>> parse_module_read(ByteView message);
/// ETHTOOL_MSG_MODULE_EEPROM_GET (net/ethtool/eeprom.c). REQUIRES: is_valid(page).
/// Errors by errnum: ENODEV or ENXIO no module, ESHUTDOWN the device is detached or gone,
/// EOPNOTSUPP no module interface, EINVAL no such page, EIO, EBUSY, ETIMEDOUT bus trouble, EPERM
/// without CAP_NET_ADMIN.
Result<std::vector<std::uint8_t>> read_module(Host& host, EthtoolFamily family,
                                              std::uint32_t ifindex, const ModulePageRequest& page);

}  // namespace linkhealth
