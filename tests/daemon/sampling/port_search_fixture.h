// Searches for ports one after the other, without a machine.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/sampling/port_search.h"

namespace linkhealth {

inline InventoryPort searched_port(const std::string& device, const std::string& pci,
                                   const std::string& netdev, int ifindex) {
  InventoryPort made;
  made.id.device = device.empty() ? netdev : device;
  made.id.verbs = !device.empty();
  made.id.netdev = netdev;
  made.id.pci = pci;
  made.ifindex = ifindex;
  if (ifindex != 0) made.sysfs_netdev_dir = "/sys/class/net/" + netdev;
  return made;
}

class DaemonPortSearch : public ::testing::Test {
 protected:
  PortsFound find(std::vector<InventoryPort> ports, std::vector<Gap> gaps = {},
                  bool incomplete = false) {
    Inventory found;
    found.ports = std::move(ports);
    found.gaps = std::move(gaps);
    found.incomplete = incomplete;
    found.cards = cards;
    PortsFound result = search.compare(std::move(found), std::move(known), now);
    known = std::move(result.ports);
    return result;
  }
  static std::string words(const PortsFound& result) {
    std::string text;
    for (const PortEvent& event : result.events)
      text += std::string(to_string(event.kind)) + " " + event.port + ";";
    return text;
  }
  static bool says(const PortsFound& in, const std::string& at, const std::string& part) {
    return std::ranges::any_of(in.gaps, [&](const Gap& gap) {
      return gap.port == at && gap.reason.find(part) != std::string::npos;
    });
  }

  SteadyTime now{Milliseconds(1000)};
  PortSearch search;
  std::optional<std::vector<PciCard>> cards;
  std::map<PortKey, SampledPort> known;
  const InventoryPort one = searched_port("mlx5_0", "0000:1b:00.0", "ens1", 2);
  const InventoryPort two = searched_port("mlx5_1", "0000:1c:00.0", "ens2", 3);
};

}  // namespace linkhealth
