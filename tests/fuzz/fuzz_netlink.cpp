// Any bytes as the answer to any netlink request: the parsers neither overrun nor take much memory,
// and what they make of a message does not reach behind its end.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "probes/netlink/devlink_health.h"
#include "probes/netlink/ethtool_driver_stats.h"
#include "probes/netlink/ethtool_fec.h"
#include "probes/netlink/ethtool_link.h"
#include "probes/netlink/ethtool_module.h"
#include "probes/netlink/ethtool_stats.h"
#include "probes/netlink/netlink_message.h"
#include "probes/netlink/rtnl_link.h"

namespace {

using namespace linkhealth;

/// Reads every attribute's payload, and what could be nests in it.
void walk(const NetlinkAttributes& attributes, int depth) {
  for (const NetlinkAttribute& attribute : attributes) {
    volatile std::size_t used = attribute.text().size() + attribute.u64().value_or(0);
    static_cast<void>(used);
    if (depth > 0) walk(NetlinkAttributes(attribute.payload), depth - 1);
  }
}

void parse_all(ByteView bytes) {
  if (const auto message = parse_netlink_message(bytes, 4)) walk(message->attributes, 4);
  EthtoolStatNames names;
  if (const auto parsed = parse_stat_names(bytes)) names = *parsed;
  for (std::uint32_t set = 0; set < 32; ++set) names[set].resize(32, "name");
  static_cast<void>(parse_netdev_identity(bytes));
  static_cast<void>(parse_link_event(bytes));
  static_cast<void>(parse_netdev_stats(bytes));
  static_cast<void>(parse_family_id(bytes));
  static_cast<void>(parse_linkstate(bytes));
  static_cast<void>(parse_health_reporter(bytes));
  static_cast<void>(parse_health_diagnosis(bytes));
  static_cast<void>(parse_statistics_count(bytes));
  static_cast<void>(parse_statistic_names(bytes));
  static_cast<void>(parse_statistic_values(bytes));
  static_cast<void>(parse_linkmodes(bytes));
  static_cast<void>(parse_fec(bytes, {100000, 4}));
  static_cast<void>(parse_stats(bytes, names));
  static_cast<void>(parse_pause(bytes));
  static_cast<void>(parse_module_read(bytes));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The first input byte chooses whether the message's own length is put right: otherwise almost
  // nothing gets past it.
  if (size == 0) return 0;
  const auto copy = std::make_unique<std::byte[]>(size - 1);
  for (std::size_t i = 1; i < size; ++i) copy[i - 1] = static_cast<std::byte>(data[i]);
  if (data[0] % 2 == 0 && size - 1 >= 4) {
    for (unsigned i = 0; i < 4; ++i) copy[i] = static_cast<std::byte>((size - 1) >> (8 * i));
  }
  parse_all({copy.get(), size - 1});
  return 0;
}
