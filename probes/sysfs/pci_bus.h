// What the PCI bus shows of network cards that have no port: cards without a driver, and cards that
// are gone. /sys/bus/pci/devices/ADDR/{class,driver,current_link_width,max_link_width}; linux:
// drivers/pci/pci-sysfs.c.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/host.h"

namespace linkhealth {

/// A network controller's function, one that is no virtual function.
struct PciCard {
  std::string address;  ///< "0000:1b:00.0"
  std::string driver;   ///< "" when none is bound
  std::optional<std::uint32_t> width, max_width;
  bool operator==(const PciCard&) const = default;
};

/// By address. nullopt: the bus can't be listed.
std::optional<std::vector<PciCard>> network_cards(Host& host);
/// "on the PCI bus without a driver, 8 of 16 lanes"; "not on the PCI bus"; "" when nobody knows.
std::string pci_words(const std::optional<std::vector<PciCard>>& cards, const std::string& address);

}  // namespace linkhealth
