// A counter that stands at the end of its width, and what makes it count again.
#pragma once

#include <span>
#include <string>

#include "model/counters.h"
#include "model/snapshot.h"

namespace linkhealth {

/// perfquery(8) without a device and a port takes the first active one of the node. On RoCE there is no agent that
/// answers it at all (docs/hardware.md).
inline std::string how_to_clear(const PortId& id) {
  if (id.link_layer == "InfiniBand")
    return "perfquery -R -C " + id.device + " -P " + std::to_string(id.port) + " clears it";
  return "a reset of the device may clear it (perfquery can on InfiniBand only)";
}

/// The reason of the gap in a port's counters. REQUIRES: at least one is full.
inline std::string full_words(const PortId& id, std::span<const CounterId> full) {
  std::string words;
  for (const CounterId counter : full)
    words += (words.empty() ? "" : ", ") + std::string(known_counters()[counter].name);
  if (full.size() > 1) words += ": each";
  return words + std::string(kCountsNoFurther) + " (" + how_to_clear(id) + ")";
}

}  // namespace linkhealth
