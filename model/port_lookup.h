// Ports by the names that configuration may give them.
#pragma once

#include <array>
#include <string>

#include "model/snapshot.h"

namespace linkhealth {

/// "mlx5_0/1", "ens1np0", "0000:1b:00.0/1"; and "mlx5_0" and "0000:1b:00.0" for port 1 of the
/// device. Never empty strings that match: an absent name is the key again.
inline std::array<std::string, 5> names_of(const PortId& id) {
  const std::string key = id.key();
  const auto or_key = [&](const std::string& name) { return name.empty() ? key : name; };
  return {key, id.stable_key(), or_key(id.netdev), id.port == 1 ? id.device : key,
          id.port == 1 ? or_key(id.pci) : key};
}

inline bool is_named(const PortId& id, const std::string& name) {
  for (const std::string& own : names_of(id))
    if (own == name) return true;
  return false;
}

}  // namespace linkhealth
