// The generic netlink family "ethtool": its number, and what all its requests begin with.
// Layout: include/uapi/linux/ethtool_netlink.h, Documentation/networking/ethtool-netlink.rst.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "probes/host.h"
#include "probes/netlink_message.h"

namespace linkhealth {

/// The family's message type. Fixed while the kernel runs: ask once.
struct EthtoolFamily {
  std::uint16_t id = 0;
};

Bytes build_family_request(std::string_view family);
Result<std::uint16_t> parse_family_id(ByteView message);
/// ENOENT: the kernel has no ethtool netlink (before 5.6, or built without it).
Result<EthtoolFamily> resolve_ethtool_family(Host& host);

/// Opens a request of `command` for one device with its header nest (`header` is the command's
/// *_HEADER attribute). Never for all: a dump ends at the first device whose driver fails, so that
/// one bad port would hide the others.
NetlinkBuilder ethtool_request(EthtoolFamily family, std::uint8_t command, std::uint16_t header,
                               std::uint32_t ifindex, std::uint32_t flags = 0);

/// The device that an answer speaks of.
struct EthtoolDevice {
  std::uint32_t ifindex = 0;
  std::string name;
};
Result<EthtoolDevice> ethtool_device(const NetlinkAttributes& answer, std::uint16_t header);

/// One request for one device, and its one answer.
Result<Bytes> ask_ethtool(Host& host, const Bytes& request);

}  // namespace linkhealth
