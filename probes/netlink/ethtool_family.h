// The generic netlink family "ethtool": its number, and requests about one device.
// Layout: include/uapi/linux/ethtool_netlink.h, Documentation/networking/ethtool-netlink.rst.
#pragma once

#include <cstdint>

#include <linux/netlink.h>

#include "base/result.h"
#include "probes/host.h"
#include "probes/netlink/netlink_message.h"

namespace linkhealth {

/// The family's message type. Fixed while the kernel runs: resolve it once.
struct EthtoolFamily {
  std::uint16_t id = 0;
};

/// ENOENT: the kernel has no ethtool netlink (before 5.6, or built without it).
Result<EthtoolFamily> resolve_ethtool_family(Host& host);

/// Opens a request of `command` for one device with its header nest (`header` is the command's
/// *_HEADER attribute). Never for all: a dump ends at the first device whose driver fails, so that
/// one bad port would hide the others.
NetlinkBuilder ethtool_request(EthtoolFamily family, std::uint8_t command, std::uint16_t header,
                               std::uint32_t ifindex, std::uint32_t flags = 0);

/// Sends a request, and gives its one answer to `parse`.
template <typename Parse>
auto request_ethtool(Host& host, const NetlinkBuilder& request, Parse parse)
    -> decltype(parse(Bytes())) {
  const auto answer = request_one(host, NETLINK_GENERIC, request.bytes());
  if (!answer) return answer.error();
  return parse(*answer);
}

}  // namespace linkhealth
