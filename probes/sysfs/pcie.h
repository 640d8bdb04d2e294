// The PCIe link of a NIC and its error totals:
// /sys/bus/pci/devices/ADDR/{current,max}_link_{speed,width} and aer_dev_* (linux:
// drivers/pci/pci-sysfs.c, drivers/pci/pcie/aer.c).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/snapshot.h"
#include "probes/host.h"
#include "probes/sysfs/inventory.h"

namespace linkhealth {

/// Fills sample.pcie. The maxima are what both ends of the PCIe link support: a card in a slower
/// slot is not degraded. If a card has its own switch, the link of that switch counts; among the
/// links above, up to the root port, the one that limits it (PcieSample::above). A gap (probe
/// "pcie") if a link speed or width cannot be read; AER totals are absent if the platform does not
/// show them. Does nothing for a port without a PCI function.
void read_pcie(Host& host, const InventoryPort& port, PortSample& sample, std::vector<Gap>& gaps);

/// The directory of the function whose PCIe link is the slot's; `dir` is that of the NIC's
/// function. BlueField and ConnectX-8 contain a switch: the link between their function and that
/// switch is inside the card, and the switch's upstream port has the slot's link. A switch on the
/// board is another vendor's.
std::string edge_of_card(Host& host, const std::string& dir);
/// "32.0 GT/s PCIe" -> 32; "2.5 GT/s" -> 2.5. nullopt for "Unknown" and anything else.
std::optional<double> parse_link_speed(std::string_view text);
/// "16" -> 16. nullopt for 0 (not trained), 255 (the function does not answer) and anything else.
std::optional<std::uint32_t> parse_link_width(std::string_view text);
/// hwmon's millidegrees: "51300" -> 51.3. nullopt outside -100 to 250 degrees Celsius.
std::optional<double> parse_millidegrees(std::string_view text);
/// The value of the line that begins with TOTAL_ERR.
std::optional<std::uint64_t> parse_aer_total(std::string_view text);

}  // namespace linkhealth
