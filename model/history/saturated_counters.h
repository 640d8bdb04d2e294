// Texts about saturated counters.
#pragma once

#include <algorithm>
#include <span>
#include <string>

#include "model/counters.h"
#include "model/snapshot.h"

namespace linkhealth {

/// How to clear them. Without a device and a port, perfquery(8) uses the node's first active port.
/// On RoCE no agent answers it (docs/hardware.md). It resets port_xmit_wait only if the agent
/// reports that it supports it (rdma-core: infiniband-diags/perfquery.c); mlx5's does not.
inline std::string how_to_clear(const PortId& id, std::span<const CounterId> saturated) {
  if (id.link_layer != "InfiniBand")
    return "a reset of the device may clear it (perfquery can on InfiniBand only)";
  const auto is_wait = [](CounterId counter) {
    return known_counters()[counter].name == "port_xmit_wait";
  };
  const std::string command = "perfquery -R -C " + id.device + " -P " + std::to_string(id.port);
  if (std::ranges::none_of(saturated, is_wait)) return command + " clears it";
  const std::string wait =
      "port_xmit_wait only if the port's agent offers that, else a reset of the device does";
  return std::ranges::all_of(saturated, is_wait) ? command + " clears " + wait
                                                 : command + " clears it, " + wait;
}

/// The reason of the gap in a port's counters. REQUIRES: at least one is saturated.
inline std::string format_saturated(const PortId& id, std::span<const CounterId> saturated) {
  std::string words;
  for (const CounterId counter : saturated)
    words += (words.empty() ? "" : ", ") + std::string(known_counters()[counter].name);
  if (saturated.size() > 1) words += ": each";
  return words + std::string(kCountsNoFurther) + " (" + how_to_clear(id, saturated) + ")";
}

}  // namespace linkhealth
