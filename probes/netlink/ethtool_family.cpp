#include "probes/netlink/ethtool_family.h"

#include <linux/ethtool_netlink.h>

namespace linkhealth {

Result<EthtoolFamily> resolve_ethtool_family(Host& host) {
  const auto id = resolve_family(host, ETHTOOL_GENL_NAME);
  if (!id) return id.error();
  return EthtoolFamily{*id};
}

NetlinkBuilder ethtool_request(EthtoolFamily family, std::uint8_t command, std::uint16_t header,
                               std::uint32_t ifindex, std::uint32_t flags) {
  auto request = NetlinkBuilder::generic(family.id, NLM_F_ACK, command, ETHTOOL_GENL_VERSION);
  request.open_nest(header).put_u32(ETHTOOL_A_HEADER_DEV_INDEX, ifindex);
  if (flags != 0) request.put_u32(ETHTOOL_A_HEADER_FLAGS, flags);
  request.close_nest();
  return request;
}

}  // namespace linkhealth
