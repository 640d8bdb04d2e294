// Queries of an inventory, and NICs that several tests use.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "probes/sysfs/inventory.h"
#include "tests/probes/sysfs/sysfs_tree.h"

namespace linkhealth::testing {

inline constexpr const char* kRoute =
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
    "eno1\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
    "ens1np0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n";

inline Nic plain_nic(const std::string& netdev = "eno1") {
  return {.device = "", .netdev = netdev, .pci = "0000:02:00.0", .driver = "tg3", .ifindex = 5};
}
inline Nic second_nic() {
  return {.device = "mlx5_1", .netdev = "ens2np0", .pci = "0000:3b:00.0", .ifindex = 3};
}

inline std::vector<std::string> keys(const Inventory& inventory) {
  std::vector<std::string> all;
  for (const auto& port : inventory.ports) all.push_back(port.id.key());
  return all;
}

inline const InventoryPort& port(const Inventory& inventory, const std::string& key) {
  for (const auto& entry : inventory.ports)
    if (entry.id.key() == key) return entry;
  ADD_FAILURE() << "no port " << key;
  static const InventoryPort none;
  return none;
}

}  // namespace linkhealth::testing
